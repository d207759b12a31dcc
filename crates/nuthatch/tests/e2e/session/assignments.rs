//! The list of session variables against real servers, past any proxy: no variable is missing, a value that is said to be
//! carried is the same on another connection, and a variable that is said to stand alone changes no other. And what the
//! parser of SET takes for granted.
//!
//! Each variable is set to something other than its default where the server takes any of a few guesses. Of MariaDB that
//! is this system's; others are asked by `make test-servers`.

use std::collections::BTreeMap;

use nuthatch_lab::{Kind, ScratchLab};
use nuthatch_sql::{
    Assignment, Carry, Lexing, ServerFlavor, SystemVariable, Text, UserVariable, Value, known_aliases, render,
};

use crate::client::Client;
use crate::servers;

/// Change by themselves, or with each connection or statement.
const RESTLESS: [&str; 7] = [
    "timestamp",
    "rand_seed1",
    "rand_seed2",
    "pseudo_thread_id",
    "statement_id",
    "last_gtid",
    "warning_count",
];

/// The first row of the last of some statements, or what the server said against one of them.
type Row = Result<Vec<String>, String>;
type Ask<'a> = Box<dyn Fn(&[String]) -> Row + 'a>;

/// A server, asked on a new connection each time.
struct Asked<'a> {
    flavor: ServerFlavor,
    answer: Ask<'a>,
}

impl<'a> Asked<'a> {
    fn with_our_client(lab: &'a ScratchLab) -> Self {
        let answer = |statements: &[String]| {
            let mut client: Client = servers::primary(lab);
            let mut row = Vec::new();
            for statement in statements {
                let answer = client.query(statement).map_err(|failure| format!("{failure:?}"))?;
                row = answer.table().into_iter().next().unwrap_or_default();
            }
            Ok(row)
        };
        Self { flavor: flavor(lab), answer: Box::new(answer) }
    }

    /// With the server's own client, which knows every way to log in.
    fn with_its_client(lab: &'a ScratchLab) -> Self {
        let answer = |statements: &[String]| {
            let rows = lab.primary().query(&statements.join(";\n")).map_err(|error| error.to_string())?;
            Ok(rows.rows.into_iter().next().unwrap_or_default())
        };
        Self { flavor: flavor(lab), answer: Box::new(answer) }
    }

    fn ask(&self, statements: &[String]) -> Row {
        (self.answer)(statements)
    }

    /// Every session variable that the server has.
    fn names(&self) -> Vec<String> {
        let from = match self.flavor {
            ServerFlavor::MariaDb(_) => "information_schema.system_variables",
            ServerFlavor::MySql(_) => "performance_schema.variables_metadata",
        };
        let ask = format!(
            "SELECT LOWER(GROUP_CONCAT(variable_name)) FROM {from} WHERE variable_scope LIKE 'SESSION%'"
        );
        let row = self.ask(&["SET group_concat_max_len = 1000000".to_owned(), ask]).expect("a list");
        row.first().expect("a list").split(',').map(str::to_owned).collect()
    }

    /// What all of `names` are after `statements`.
    fn values(&self, names: &[String], statements: &[String]) -> Result<BTreeMap<String, String>, String> {
        let columns: Vec<String> = names.iter().map(|name| format!("@@session.{name}")).collect();
        let ask = format!("SELECT {}", columns.join(", "));
        let row = self.ask(&[statements, &[ask]].concat())?;
        Ok(names.iter().cloned().zip(row).collect())
    }
}

fn flavor(lab: &ScratchLab) -> ServerFlavor {
    let version = lab.primary().version().to_owned();
    let mut parts = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let mut part = || parts.next().unwrap_or_default();
    let number = part() * 10_000 + part() * 100 + part();
    if number >= 100_000 { ServerFlavor::MariaDb(number) } else { ServerFlavor::MySql(number) }
}

fn lexing(server: ServerFlavor) -> Lexing {
    Lexing::of(server)
}

/// The literal that a server shows.
fn literal(shown: &str) -> Value {
    match shown {
        "NULL" => Value::Word("NULL".into()),
        _ if shown.parse::<f64>().is_ok() => Value::Number(shown.into()),
        _ => Value::Text(Text::new(shown.as_bytes())),
    }
}

fn set(server: ServerFlavor, variable: &SystemVariable, value: Value) -> String {
    let list = [Assignment::Session { variable: variable.clone(), value }];
    String::from_utf8(render(&list, lexing(server)).expect("it is written")).expect("ASCII")
}

/// What a variable that is `shown` may be instead.
fn guesses(shown: &str) -> Vec<Value> {
    let words = [
        "latin1",
        "latin1_bin",
        "READ-COMMITTED",
        "MyISAM",
        "de_DE",
        "+01:00",
        "COPY",
        "mrr=off",
        "MINIMAL",
        "STATEMENT",
        "BLANK",
        "OFF",
        "ON",
        "NO",
        "JSON",
        "EVENTUAL",
        "BEFORE",
        "RSU",
        "rows",
        "high",
        "KEEP",
        "nulls_equal",
        "aes-256-ecb",
        "NEVER",
        "TRADITIONAL",
        "PARTIAL_JSON",
        "ALL",
        "",
    ];
    let number = |number: f64| Value::Number(format!("{number:.0}").into());
    let numbers = shown.parse::<f64>().map(|shown| vec![1.0 - shown, shown / 2.0, shown + 1.0, 100.0]);
    let numbers = numbers.unwrap_or_default().into_iter().filter(|guess| *guess >= 0.0).map(number);
    numbers.chain(words.iter().map(|word| Value::Text(Text::new(word.as_bytes())))).collect()
}

/// Sets the variable to something else; all values afterwards, or none if the server takes no guess.
fn changed(
    asked: &Asked<'_>,
    name: &str,
    names: &[String],
    before: &BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    let variable = SystemVariable::named(name.as_bytes(), asked.flavor)?;
    guesses(before.get(name)?).into_iter().find_map(|guess| {
        let after = asked.values(names, &[set(asked.flavor, &variable, guess)]).ok()?;
        (after.get(name) != before.get(name)).then_some(after)
    })
}

/// How many variables were carried, and how many of these with another value than the default.
#[derive(Debug, Default, PartialEq, Eq)]
struct Carried {
    all: usize,
    changed: usize,
}

fn check(asked: &Asked<'_>) -> Carried {
    let names = asked.names();
    let before = asked.values(&names, &[]).expect("every session variable is shown");
    let (mut wrong, mut carried) = (Vec::new(), Carried::default());
    for name in &names {
        let variable = SystemVariable::named(name.as_bytes(), asked.flavor).expect("a name");
        if !variable.is_known() {
            wrong.push(format!("{name} is not in the list"));
            continue;
        }
        // Those that pin are left alone: some reach the server itself (`max_relay_log_size`). The other is a socket's
        // option, which a Unix socket does not have.
        let can_be_set = !matches!(variable.carry(), Carry::Pins | Carry::ReadOnly) && name != "tcp_nodelay";
        let after = can_be_set.then(|| changed(asked, name, &names, &before)).flatten();
        if let Some(after) = &after {
            wrong.extend(others_changed(asked, &variable, &before, after));
        }
        let shown = after.as_ref().unwrap_or(&before).get(name).cloned().unwrap_or_default();
        if !can_be_set || !variable.carry().allows(&literal(&shown)) {
            continue;
        }
        carried.all += 1;
        carried.changed += usize::from(after.is_some());
        let statements = [set(asked.flavor, &variable, literal(&shown)), format!("SELECT @@session.{name}")];
        match asked.ask(&statements) {
            Ok(row) if row == [shown.clone()] => {}
            other => wrong.push(format!("{name} was {shown}, and is {other:?} after {}", statements[0])),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    carried
}

/// Which other variables differ, unless the list says that there may be some.
fn others_changed(
    asked: &Asked<'_>,
    variable: &SystemVariable,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Option<String> {
    let is_same = |name: &str| {
        SystemVariable::named(name.as_bytes(), asked.flavor).is_some_and(|other| other == *variable)
    };
    let others: Vec<&str> = before
        .iter()
        .filter(|(name, value)| after.get(*name) != Some(value))
        .map(|(name, _)| name.as_str())
        .filter(|name| !RESTLESS.contains(name) && !is_same(name))
        .collect();
    let stands_alone =
        matches!(variable.carry(), Carry::Value | Carry::Only(_) | Carry::Parts | Carry::SqlMode);
    (stands_alone && !others.is_empty()).then(|| format!("{} changes {others:?}", variable.name()))
}

/// An alias that the server has is set, and the variable follows.
fn check_aliases(asked: &Asked<'_>) {
    let names = asked.names();
    let before = asked.values(&names, &[]).expect("every session variable is shown");
    for (alias, variable) in known_aliases(asked.flavor) {
        let name = variable.name_on(asked.flavor);
        if alias == name || !names.iter().any(|known| known == alias) {
            continue;
        }
        let follows = guesses(&before[alias]).into_iter().find_map(|guess| {
            let to = String::from_utf8_lossy(guess.literal()?).into_owned();
            let to = if matches!(guess, Value::Number(_)) { to } else { format!("'{to}'") };
            let ask = format!("SELECT @@session.{alias}, @@session.{name}");
            let row = asked.ask(&[format!("SET SESSION {alias} = {to}"), ask]).ok()?;
            (row[0] != before[alias]).then(|| row[0] == row[1] && row[1] != before[name])
        });
        assert_eq!(follows, Some(true), "{alias} is {name}");
    }
}

/// What the parser takes for granted. The globals that are set have their defaults anyway.
fn check_facts(asked: &Asked<'_>) {
    let isolation = SystemVariable::named(b"tx_isolation", asked.flavor).expect("a name");
    let isolation = isolation.name_on(asked.flavor);
    let mut facts = vec![
        (
            "SET GLOBAL max_sort_length=DEFAULT, lock_wait_timeout=DEFAULT",
            "@@session.lock_wait_timeout",
            "77",
        ),
        ("SET GLOBAL max_sort_length=DEFAULT, @u=1, lock_wait_timeout=DEFAULT", "@@lock_wait_timeout", "77"),
        (
            "SET GLOBAL max_sort_length=DEFAULT, @@session.max_sort_length=5, lock_wait_timeout=DEFAULT",
            "@@session.lock_wait_timeout",
            "77",
        ),
        ("SET @@global.max_sort_length=DEFAULT, lock_wait_timeout=78", "@@session.lock_wait_timeout", "78"),
        ("SET GLOBAL max_sort_length=DEFAULT, @@lock_wait_timeout=78", "@@session.lock_wait_timeout", "78"),
        (
            "SET GLOBAL max_sort_length=DEFAULT, SESSION sql_notes=0, lock_wait_timeout=78",
            "@@lock_wait_timeout",
            "78",
        ),
        ("SET lock_wait_timeout=78, NAMES latin1", "@@character_set_client", "latin1"),
        ("SET @a=88, lock_wait_timeout=@a", "@@lock_wait_timeout", "99"),
        ("SET lock_wait_timeout=88, @a=@@lock_wait_timeout", "@a", "77"),
        ("SET @a=88, @b=@a, @c=@a + 1", "CONCAT(@a, ' ', @b, ' ', @c)", "88 99 100"),
        ("SET lock_wait_timeout=88, max_sort_length=@@lock_wait_timeout + 1923", "@@max_sort_length", "2000"),
        ("SET optimizer_switch='index_merge=off'", "@@optimizer_switch LIKE '%mrr=off%'", "1"),
        ("SET @`A`=5", "@a", "5"),
    ]
    .into_iter()
    .map(|(statement, ask, expected)| (statement.to_owned(), ask.to_owned(), expected))
    .collect::<Vec<_>>();
    let ask = format!("@@session.{isolation}");
    facts.push((format!("SET @@{isolation}='SERIALIZABLE'"), ask.clone(), "REPEATABLE-READ"));
    facts.push((format!("SET {isolation}='SERIALIZABLE'"), ask, "SERIALIZABLE"));
    let first = "SET lock_wait_timeout=77, @a=99, optimizer_switch='mrr=off'".to_owned();
    for (statement, ask, expected) in facts {
        let row = asked.ask(&[first.clone(), statement.clone(), format!("SELECT {ask}")]);
        assert_eq!(row.as_deref(), Ok(&[expected.to_owned()][..]), "{ask} after {statement}");
    }
}

/// A whole list in one statement, under each SQL mode that says how strings are read.
fn check_rendered(asked: &Asked<'_>) {
    let text = "it's \\ a \"b\" `c` \\' %_ \u{e9}";
    let user = |name: &str, value| {
        let variable = UserVariable::named(name.as_bytes()).expect("a sure name");
        Assignment::User { variable, value }
    };
    let list = [
        Assignment::Names { charset: Some("utf8mb4".into()), collation: Some("utf8mb4_bin".into()) },
        user("a", Value::Text(Text::new(text.as_bytes()))),
        user("b `c`", Value::Number("-1.50".into())),
        Assignment::Session {
            variable: SystemVariable::named(b"tx_isolation", asked.flavor).expect("a name"),
            value: Value::Text(Text::new(b"SERIALIZABLE")),
        },
    ];
    for mode in ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"] {
        let lexing = Lexing {
            ansi_quotes: mode.contains("ANSI_QUOTES"),
            no_backslash_escapes: mode.contains("NO_BACKSLASH"),
            ..lexing(asked.flavor)
        };
        let statement = String::from_utf8(render(&list, lexing).expect("it is written")).expect("UTF-8");
        let first = format!("SET sql_mode = '{mode}'");
        let ask = "SELECT HEX(@a), @`b ``c```, @@collation_connection";
        let row = asked.ask(&[first, statement, ask.to_owned()]).expect("the server takes it");
        let hex: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(row, [hex.as_str(), "-1.50", "utf8mb4_bin"], "under {mode:?}");
    }
}

fn check_all(asked: &Asked<'_>) {
    let carried = check(asked);
    assert!(carried.all > 100 && carried.changed > 80, "too little was looked at: {carried:?}");
    check_aliases(asked);
    check_facts(asked);
    check_rendered(asked);
}

#[test]
fn variables_of_this_systems_mariadb_are_what_the_list_says() {
    check_all(&Asked::with_our_client(servers::shared()));
}

#[test]
#[ignore = "needs MySQL, which no package of Debian's stable release has"]
fn variables_of_mysql_are_what_the_list_says() {
    check_all(&Asked::with_its_client(&servers::beside(Kind::MySql, "NUTHATCH_MYSQL_ROOT")));
}

#[test]
#[ignore = "needs a MariaDB unpacked beside the system's"]
fn variables_of_another_mariadb_are_what_the_list_says() {
    check_all(&Asked::with_its_client(&servers::beside(Kind::MariaDb, "NUTHATCH_MARIADB_ROOT")));
}
