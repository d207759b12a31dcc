//! What statements read and write, over one catalogue: the files in `footprints/`, one statement a line.
//!
//! A line is `statement => footprint`; one that begins with `%` sets what the session has, for all lines up to the next such:
//! `% schema depot`, `% schema none`, `% lexing mysql ansi_quotes`, `% parameters 7 -3 other`; `%` alone is the usual: schema
//! `shop`, MariaDB, no parameters. Footprints are written like this:
//!
//! | notation | stands for |
//! |---|---|
//! | `-` | no table |
//! | `orders depot.stock` | any row of these tables (`shop` is left out) |
//! | `orders[7,8]`, `orders[7]!` | rows with these keys; `!`: the number of rows tells if all were found |
//! | `orders[1..9]` | rows with keys of this range |
//! | `orders[given]`, `orders[new]` | a new row whose key the server tells; new rows |
//! | `legacy~` | not undone by a ROLLBACK |
//! | `everything` | a write of anything |
//! | `define orders lines as shop.x` | a change of definitions of these tables, `shop.x` to be looked at among others |
//! | `definitions` | which tables, columns and the like there are |
//! | `! unknown x`, … | not exact, and why |

use std::fmt::Write;

use nuthatch_sql::{
    Cascades, Catalogue, Class, ColumnSet, ComparedColumn, ComparedColumns, Equality, FoldedName, Holds,
    Lexing, NotExact, Parameter, PrimaryKey, ReadFootprint, ReadRows, RowKey, ServerFlavor, SideEffects,
    Table, TableId, Unsuitable, WriteFootprint, WrittenRows, classify, read_footprint, write_footprint,
};

mod footprints {
    pub(super) mod catalogue;
    pub(super) mod random;
    pub(super) mod templates;
}

use footprints::catalogue::Shop;

/// What the session of a statement has.
struct Session {
    schema: Vec<u8>,
    lexing: Lexing,
    parameters: Vec<Parameter>,
}

impl Default for Session {
    fn default() -> Self {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        Self { schema: b"shop".to_vec(), lexing, parameters: Vec::new() }
    }
}

impl Session {
    fn set(&mut self, directive: &str) {
        let mut words = directive.split_whitespace();
        match words.next() {
            None => *self = Self::default(),
            Some("schema") => {
                let name = words.next().filter(|name| *name != "none").unwrap_or_default();
                self.schema = name.into();
            }
            Some("lexing") => words.for_each(|word| match word {
                "mysql" => self.lexing.server = ServerFlavor::MySql(80_036),
                "ansi_quotes" => self.lexing.ansi_quotes = true,
                "no_backslash_escapes" => self.lexing.no_backslash_escapes = true,
                "gbk" => self.lexing.ascii_in_characters = true,
                other => panic!("no lexing is called {other}"),
            }),
            Some("parameters") => self.parameters = words.map(parameter).collect(),
            Some(other) => panic!("nothing of a session is called {other}"),
        }
    }

    fn read(&self, shop: &Shop, text: &[u8]) -> Result<ReadFootprint, NotExact> {
        read_footprint(
            text,
            Class::of(&classify(text, self.lexing)),
            self.lexing,
            &self.schema,
            &shop.catalogue,
            &self.parameters,
        )
    }

    fn write(&self, shop: &Shop, text: &[u8]) -> WriteFootprint {
        write_footprint(
            text,
            Class::of(&classify(text, self.lexing)),
            self.lexing,
            &self.schema,
            &shop.catalogue,
            &self.parameters,
        )
    }
}

fn parameter(word: &str) -> Parameter {
    match (word.parse(), word.parse()) {
        _ if word == "time" => Parameter::Time,
        _ if word == "date" => Parameter::Date,
        _ if word.starts_with('\'') => Parameter::of_string(word.trim_matches('\'').as_bytes()),
        (Ok(value), _) => Parameter::Unsigned(value),
        (_, Ok(value)) => Parameter::Negative(value),
        _ => Parameter::Other,
    }
}

/// Compares each line with what `shown` makes of it, and says how many there are.
fn check(file: &str, shown: impl Fn(&Session, &[u8], &str) -> String) -> usize {
    let mut session = Session::default();
    let (mut count, mut wrong) = (0, String::new());
    for line in file.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(directive) = line.strip_prefix('%') {
            session.set(directive);
            continue;
        }
        let (text, expected) = line.rsplit_once(" => ").expect("statement => footprint");
        let actual = shown(&session, text.as_bytes(), expected);
        if actual != expected {
            writeln!(wrong, "{text}\n  expected {expected}\n  actual   {actual}")
                .expect("a String takes all");
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    count
}

#[test]
fn reads_depend_on_what_the_file_says() {
    let shop = Shop::new();
    let count = check(include_str!("footprints/reads.txt"), |session, text, _| {
        session.read(&shop, text).map_or_else(|reason| shown_reason(&reason), |read| shown_read(&shop, &read))
    });
    assert!(count >= 200, "{count}");
}

#[test]
fn reads_look_at_what_the_file_says() {
    let shop = Shop::new();
    let count =
        check(include_str!("footprints/columns.txt"), |session, text, _| match session.read(&shop, text) {
            Ok(read) => {
                let read = read.with_columns(text, session.lexing, &session.schema, &shop.catalogue);
                let shown: Vec<_> = read.tables.iter().map(|table| shown_columns(&shop, table)).collect();
                shown.join(" ")
            }
            Err(reason) => shown_reason(&reason),
        });
    assert!(count >= 30, "{count}");
}

fn shown_columns(shop: &Shop, read: &nuthatch_sql::TableRead) -> String {
    let name = shop.name(read.table);
    if read.looked_at == ColumnSet::ALL {
        return format!("{name} all");
    }
    let is_looked_at = |place| read.looked_at.meets(ColumnSet::NONE.with(place));
    let columns = ["id", "slug", "kind", "author"].into_iter().enumerate();
    let columns = columns.filter(|(place, _)| is_looked_at(*place)).map(|(_, column)| column);
    std::iter::once(name).chain(columns).collect::<Vec<_>>().join(" ")
}

#[test]
fn writes_change_what_the_file_says() {
    let shop = Shop::new();
    let count = check(include_str!("footprints/writes.txt"), |session, text, expected| {
        shown_write(&shop, &session.write(&shop, text), expected)
    });
    assert!(count >= 150, "{count}");
}

#[test]
#[should_panic(expected = "actual   orders")]
fn the_comparison_notices_a_wrong_line() {
    let shop = Shop::new();
    check("SELECT 1 FROM orders => users", |session, text, _| {
        session.read(&shop, text).map_or_else(|reason| shown_reason(&reason), |read| shown_read(&shop, &read))
    });
}

fn shown_reason(reason: &NotExact) -> String {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match reason {
        NotExact::UnknownTable(name) => format!("! unknown {}", text(name)),
        NotExact::Unsuitable(name, reason) => format!("! unsuitable {} {reason:?}", text(name)),
        NotExact::NoSchema => "! no schema".to_owned(),
        NotExact::NameNotAscii => "! not ascii".to_owned(),
        NotExact::StoredFunction(name) => format!("! stored {}", text(name)),
        NotExact::MoreThanDefinitions => "! more than definitions".to_owned(),
        NotExact::Today => "! today".to_owned(),
        NotExact::NotUnderstood => "! not understood".to_owned(),
    }
}

/// In the order of their numbers.
fn shown_read(shop: &Shop, read: &ReadFootprint) -> String {
    let one = |table: &nuthatch_sql::TableRead| {
        let rows = match &table.rows {
            ReadRows::Any => String::new(),
            ReadRows::Keys { keys, rows_tell_if_found } => {
                format!("[{}]{}", shown_keys(keys), if *rows_tell_if_found { "!" } else { "" })
            }
            ReadRows::Equal(Equality { columns, hashes }) => {
                let names = match shop.name(table.table) {
                    "bookings" => ["id", "day", "at", "price", "state"],
                    _ => ["id", "slug", "kind", "author", ""],
                };
                let names: Vec<_> = columns.iter().map(|place| names[usize::from(*place)]).collect();
                // One more for rows that hold what has no normal form.
                format!("{{{} {}}}", names.join(" "), hashes.len() - 1)
            }
            ReadRows::Range { from, to } => format!("[{}..{}]", shown_key(*from), shown_key(*to)),
        };
        format!("{}{rows}", shop.name(table.table))
    };
    let definitions = read.definitions.map(|_| "definitions".to_owned());
    listed(read.tables.iter().map(one).chain(definitions))
}

fn shown_write(shop: &Shop, write: &WriteFootprint, expected: &str) -> String {
    let tables = match write {
        WriteFootprint::Everything => return "everything".to_owned(),
        WriteFootprint::Definition { tables, named } => {
            return shown_definition(shop, tables, named, expected);
        }
        WriteFootprint::Tables(tables) => tables,
    };
    listed(tables.iter().map(|write| {
        let rows = match &write.rows {
            WrittenRows::Any => String::new(),
            WrittenRows::Keys(keys) => format!("[{}]", shown_keys(keys)),
            WrittenRows::Given => "[given]".to_owned(),
            WrittenRows::New => "[new]".to_owned(),
        };
        let undone = if write.is_transactional { "" } else { "~" };
        format!("{}{rows}{undone}", shop.name(write.table))
    }))
}

/// Of the names, those that are expected.
fn shown_definition(shop: &Shop, tables: &[TableId], named: &[FoldedName], expected: &str) -> String {
    let names = expected.split_once(" as ").map_or("", |(_, names)| names);
    let is_named = |name: &&str| {
        named.iter().any(|(schema, table)| [schema, &b"."[..], table].concat() == name.as_bytes())
    };
    let tables = listed(tables.iter().map(|&table| shop.name(table).to_owned()));
    format!("define {tables} as {}", listed(names.split(' ').filter(is_named).map(str::to_owned)))
}

fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

fn shown_keys(keys: &[RowKey]) -> String {
    keys.iter().map(|&key| shown_key(key)).collect::<Vec<_>>().join(",")
}

/// Those of the upper half are negative in all tables but `users`, where none of them is expected.
fn shown_key(key: RowKey) -> String {
    key.0.cast_signed().to_string()
}
