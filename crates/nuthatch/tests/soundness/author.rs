//! Who writes pairs of statements: templates whose blanks, `{k}`, are filled by chance.
//!
//! The two statements of a pair are mostly about the same table and the same key, else hardly a write would change what is read.

mod condition;
mod definition;
mod read;
mod value;
mod write;

use nuthatch_lab::Kind;

use crate::random::Random;
use crate::schema::{ARRIVAL, CHILDREN, RELATIVES, SCHEMA, TABLES, TYPED};
use crate::statement::{Form, Statement};

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Autocommit,
    Commit,
    Rollback,
}

/// A read, and what is written before it is asked again.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) read: Statement,
    /// What prepares the write in its session, and the write.
    pub(crate) writes: Vec<Statement>,
    pub(crate) ending: Ending,
}

impl Pair {
    /// The kind of the write.
    pub(crate) fn write_kind(&self) -> &'static str {
        self.writes.last().expect("a pair writes").kind
    }

    pub(crate) fn defines(&self) -> bool {
        self.write_kind() == definition::KIND
    }

    /// Whether the write may commit by itself, or be taken for a change of definitions.
    pub(crate) fn goes_beyond_rows(&self) -> bool {
        self.defines() || self.write_kind() == write::OTHER
    }
}

/// What writes may be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// Of statements whose meaning no earlier one has changed.
    Plain,
    Any,
}

pub(crate) struct Author {
    random: Random,
    server: Kind,
    sessions: Sessions,
    table: &'static str,
    key: i64,
    /// The key that the server will give next.
    given_next: i64,
    /// What columns of the table at hand may be written behind.
    qualifier: String,
    /// Conditions inside of conditions.
    depth: u32,
}

/// What may be between two words.
const SPACES: [&str; 8] =
    ["/**/", "\n", "\t", " /* AND */ ", " -- OR\n", " # ) OR 1\n", " /*!99999 OR */ ", " /*!50600 */ "];

/// One space in so many is another.
const ODD_SPACES: usize = 80;

impl Author {
    pub(crate) fn new(random: Random, server: Kind, sessions: Sessions) -> Self {
        let qualifier = String::new();
        Self { random, server, sessions, table: TABLES[0], key: 1, given_next: 128, qualifier, depth: 0 }
    }

    /// Another pair.
    pub(crate) fn pair(&mut self) -> Pair {
        self.table = self.any_table();
        self.key = self.any_key();
        let (read, writes) = match self.random.below(40) {
            0 => (self.read_of_definitions(), vec![self.definition()]),
            1 => (self.read_of_definitions(), self.write()),
            2..5 => {
                self.table = self.random.pick::<&'static str>(&CHILDREN);
                (self.read(), self.write_to_parents())
            }
            _ => (self.read(), self.write()),
        };
        let ending = match self.random.below(20) {
            0..15 => Ending::Autocommit,
            15..18 => Ending::Commit,
            _ => Ending::Rollback,
        };
        let mut pair = Pair { read, writes, ending };
        // What MySQL has prepared keeps the types of its parameters when a column's is changed: it answers otherwise than if it was prepared anew.
        while self.server == Kind::MySql && pair.defines() && pair.read.is_prepared() {
            pair.read = self.read();
        }
        pair
    }

    /// Takes note of a key that the server gave.
    pub(crate) fn saw_given(&mut self, key: u64) {
        if let Ok(key @ 1..=1_000_000) = i64::try_from(key) {
            self.given_next = key + 1;
        }
    }

    fn any_table(&mut self) -> &'static str {
        // Rows of keys are told apart in the first ones.
        let among: &[&'static str] = match self.random.below(8) {
            0 => &TABLES[TABLES.len() - TYPED.len()..],
            1..5 => &TABLES[..8],
            _ => &TABLES,
        };
        self.random.pick::<&'static str>(among)
    }

    /// Mostly the pair's, or one that changes with it.
    fn some_table(&mut self) -> &'static str {
        let relative =
            RELATIVES.iter().find(|(table, _)| *table == self.table).map(|(_, relative)| *relative);
        match (self.random.below(6), relative) {
            (0, _) => self.any_table(),
            (1..3, Some(relative)) => relative,
            _ => self.table,
        }
    }

    fn statement(&mut self, kind: &'static str, templates: &[&str]) -> Statement {
        let template = *self.random.pick(templates);
        let marked = self.fill(template);
        let marked = self.disturb(&marked);
        let form = if self.random.below(4) == 0 { Form::Prepared } else { Form::Text };
        Statement::new(kind, &marked, form)
    }

    /// The template with its blanks filled, from left to right.
    fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let (blank, after) = behind.split_once('}').expect("a blank has an end");
            text += before;
            text += &self.blank(blank);
            rest = after;
        }
        text + rest
    }

    fn blank(&mut self, blank: &str) -> String {
        match blank {
            "t" => self.table_with_alias(),
            "u" => {
                let table = self.some_table();
                self.mention(table)
            }
            "q" => self.qualifier.clone(),
            "id" => self.key_column(),
            "k" => self.value(),
            "m" => self.random.below(9).to_string(),
            "where" => self.condition(),
            "list" => self.select_list(),
            "tail" => self.select_tail(),
            "rest" => self.order_and_limit(),
            "set" => self.assignments(),
            "option" => (*self.random.pick(&["", "", "", "", "IGNORE ", "LOW_PRIORITY "])).to_owned(),
            // An escape of ODBC, whose braces are its own.
            "oj" => format!("{{OJ {}}}", self.fill("{u} AS a LEFT OUTER JOIN {u} AS b ON a.id = b.id")),
            _ => panic!("{blank} is no blank"),
        }
    }

    /// The pair's table, mostly, and what its columns may stand behind from here on.
    fn table_with_alias(&mut self) -> String {
        let table = self.some_table();
        let mention = self.mention(table);
        let alias = *self.random.pick(&["", "", "", "", " AS a", " a", " AS `a`", " AS n"]);
        let name = table.strip_prefix("elsewhere.").unwrap_or(table);
        let named = alias.trim_start_matches(" AS").trim_matches([' ', '`']);
        self.qualifier = if named.is_empty() { name } else { named }.to_owned();
        mention + alias
    }

    /// A table's name as it may be written.
    fn mention(&mut self, table: &str) -> String {
        match (table.split_once('.'), self.random.below(8)) {
            (Some((schema, table)), 0..4) => format!("`{schema}`.{table}"),
            (Some(_), _) => table.to_owned(),
            (None, 0) => format!("{SCHEMA}.{table}"),
            (None, 1) => format!("`{SCHEMA}`.`{table}`"),
            (None, 2) => format!("`{table}`"),
            (None, 3) => format!("{SCHEMA} . {table}"),
            (None, _) => table.to_owned(),
        }
    }

    /// The key's column as it may be written; now and then another.
    fn key_column(&mut self) -> String {
        let column = *self.random.pick(&["id", "id", "id", "id", "id", "id", "`id`", "ID", "n", "g"]);
        match self.random.below(8) {
            0 => format!("{}.{column}", self.qualifier),
            1 => format!("`{}` . {column}", self.qualifier),
            _ => column.to_owned(),
        }
    }

    /// Puts something else in the place of some spaces.
    fn disturb(&mut self, text: &str) -> String {
        let mut words = text.split(' ');
        let mut disturbed = words.next().unwrap_or_default().to_owned();
        for word in words {
            let is_odd = self.random.below(ODD_SPACES) == 0;
            disturbed += if is_odd { *self.random.pick(&SPACES) } else { " " };
            disturbed += word;
        }
        disturbed
    }

    fn is_about_arrivals(&self) -> bool {
        self.table == ARRIVAL
    }
}

#[test]
fn seed_gives_the_same_pairs_each_time() {
    let pairs = |seed| {
        let mut author = Author::new(Random::new(seed), Kind::MariaDb, Sessions::Any);
        (0..50).map(|_| format!("{:?}", author.pair())).collect::<Vec<_>>()
    };
    assert_eq!(pairs(7), pairs(7));
    assert_ne!(pairs(7), pairs(8));
}
