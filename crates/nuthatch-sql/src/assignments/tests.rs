//! A table of SET statements as drivers, frameworks and tools send them, and what each assigns.

use proptest::prelude::*;

use super::{
    Assignment, Assignments, Reads, Role, ServerScope, Text, UserVariable, Value, assignments, render,
};
use crate::classify::classify;
use crate::statement::Kind;
use crate::token::arbitrary::lexing_of;
use crate::token::{Lexing, ServerFlavor};
use crate::variable::SystemVariable;

mod drivers;
mod forms;

const MARIADB: Lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
const MYSQL: Lexing = Lexing { server: ServerFlavor::MySql(90_704), ..MARIADB };

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::Number(text) => text.to_string(),
        Value::Word(text) => format!("w:{text}"),
        Value::Text(text) => format!("'{}'", shown(text.bytes())),
        Value::Default => "DEFAULT".to_owned(),
        Value::System { reads: Reads::Either, variable } => format!("@@{}", variable.name()),
        Value::System { reads: Reads::Session, variable } => format!("@@session.{}", variable.name()),
        Value::System { reads: Reads::Global, variable } => format!("@@global.{}", variable.name()),
        Value::User(variable) => format!("@{}", variable.name()),
        Value::Expression { source, is_repeatable: false } => format!("<{}>", shown(source)),
        Value::Expression { source, is_repeatable: true } => format!("same<{}>", shown(source)),
    }
}

fn describe_one(assignment: &Assignment) -> String {
    let charset = |name: &Option<Box<str>>| name.as_deref().unwrap_or("DEFAULT").to_owned();
    match assignment {
        Assignment::Session { variable, value } => format!("{}={}", variable.name(), describe_value(value)),
        Assignment::NextTransaction { variable, value } => {
            format!("next {}={}", variable.name(), describe_value(value))
        }
        Assignment::Server { scope, variable, value } => {
            format!("{scope:?} {}={}", variable.name(), describe_value(value))
        }
        Assignment::User { variable, value } => format!("@{}={}", variable.name(), describe_value(value)),
        Assignment::Names { charset: name, collation: None } => format!("names {}", charset(name)),
        Assignment::Names { charset: name, collation } => {
            format!("names {}/{}", charset(name), charset(collation))
        }
        Assignment::CharacterSet(name) => format!("charset {}", charset(name)),
    }
}

fn describe_list(list: &[Assignment]) -> String {
    list.iter().map(describe_one).collect::<Vec<_>>().join("; ")
}

fn describe(query: &str, lexing: Lexing) -> String {
    match assignments(query.as_bytes(), lexing) {
        None => "-".to_owned(),
        Some(Assignments::List(list)) => describe_list(&list),
        Some(Assignments::ForStatement { list, start }) => {
            format!("{} for {}", describe_list(&list), query.get(start..).unwrap_or("nothing"))
        }
        Some(Assignments::Role(Role::Named(roles))) => format!("role {}", shown(&roles)),
        Some(Assignments::Role(role)) => format!("role {role:?}"),
        Some(apart) => format!("{apart:?}"),
    }
}

/// One statement a line, with what it assigns.
#[track_caller]
fn check_all(lexing: Lexing, table: &str) -> usize {
    let mut wrong = Vec::new();
    let lines: Vec<&str> = table.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for line in &lines {
        let (query, expected) = line.rsplit_once("=>").expect("statement => description");
        let (query, expected) = (query.trim(), expected.trim());
        let found = describe(query, lexing);
        if found != expected {
            wrong.push(format!("{query}\n  expected {expected}\n     found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    lines.len()
}

#[test]
#[should_panic(expected = "2 wrong")]
fn the_table_notices_wrong_rows() {
    check_all(MYSQL, "SET a = 1 => a=1\nSET a = 1 => a=2\nSET GLOBAL a = 1, b = 2 => Global a=1; b=2");
}

#[track_caller]
fn list_of(query: &str, lexing: Lexing) -> Vec<Assignment> {
    let list = assignments(query.as_bytes(), lexing).and_then(|found| match found {
        Assignments::List(list) => Some(list),
        _ => None,
    });
    list.expect("a list")
}

/// Rendered for a server and lexing, and read again there, it is the same list.
#[track_caller]
fn check_rendered(list: &[Assignment], lexing: Lexing, expected: Option<&str>) {
    assert_eq!(render(list, lexing).map(|text| shown(&text)).as_deref(), expected, "{}", describe_list(list));
}

#[test]
fn a_list_is_written_for_the_server_and_lexing_that_will_read_it() {
    let plain = Lexing { no_backslash_escapes: true, ..MARIADB };
    let ansi = Lexing { ansi_quotes: true, ..MARIADB };
    let two_bytes = Lexing { ascii_in_characters: true, ..MARIADB };
    for (query, lexing, expected) in [
        ("SET SQL_MODE=\"ANSI\"", ansi, Some("SET @@session.sql_mode = 'ANSI'")),
        ("SET @a='x\\\\y', @b=\"it's\"", plain, Some("SET @`a` = 'x\\y', @`b` = 'it''s'")),
        ("SET @a='x\\\\y'", MYSQL, Some("SET @`a` = 'x\\\\y'")),
        ("SET @A=@@tx_isolation", MYSQL, Some("SET @`a` = @@transaction_isolation")),
        ("SET tx_isolation=3", MYSQL, Some("SET @@session.transaction_isolation = 3")),
        ("SET tx_isolation=3", MARIADB, Some("SET @@session.tx_isolation = 3")),
        ("SET TRANSACTION READ ONLY", MYSQL, Some("SET @@transaction_read_only = 1")),
        ("SET GLOBAL a=ON, b=-1", MYSQL, Some("SET @@global.a = ON, @@global.b = -1")),
        ("SET @a=CONCAT('a', 1)", MYSQL, Some("SET @`a` = CONCAT('a', 1)")),
        ("SET @a=CONCAT('a', @b)", MYSQL, None),
        ("SET @a=CONCAT('a', \"b\")", MYSQL, None),
        (
            "SET NAMES utf8mb4 COLLATE utf8mb4_bin, CHARACTER SET DEFAULT, @@autocommit=DEFAULT",
            MYSQL,
            Some(
                "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin', CHARACTER SET DEFAULT, @@session.autocommit = DEFAULT",
            ),
        ),
        ("SET @a='\u{e9}'", two_bytes, Some("SET @`a` = '\u{e9}'")),
        ("SET @a='\u{e9}\\\\'", two_bytes, None),
    ] {
        check_rendered(&list_of(query, MARIADB), lexing, expected);
    }
    check_rendered(&[], MYSQL, None);
    // What no statement could have held is not written.
    let forged = Value::Word("1; DROP TABLE t".into());
    let variable = SystemVariable::known("sql_mode");
    check_rendered(&[Assignment::Session { variable, value: forged }], MYSQL, None);
}

fn server() -> impl Strategy<Value = ServerFlavor> {
    prop_oneof![Just(MARIADB.server), Just(ServerFlavor::MariaDb(110_806)), Just(MYSQL.server)]
}

fn variable() -> impl Strategy<Value = SystemVariable> {
    prop_oneof![
        Just(SystemVariable::known("sql_mode")),
        Just(SystemVariable::known("transaction_isolation")),
        "[a-z_$]{1,9}".prop_map(|name| SystemVariable::named(name.as_bytes(), MYSQL.server).expect("a name")),
    ]
}

fn user_variable() -> impl Strategy<Value = UserVariable> {
    "[ -\\[\\]-~]{0,8}[!-\\[\\]-~]"
        .prop_map(|name| UserVariable::named(name.as_bytes()).expect("a sure name"))
}

fn value() -> impl Strategy<Value = Value> {
    let reads = prop_oneof![Just(Reads::Either), Just(Reads::Session), Just(Reads::Global)];
    prop_oneof![
        "-?[0-9]{1,5}(\\.[0-9]{1,3})?(e-?[0-9])?".prop_map(|text| Value::Number(text.into())),
        any::<Vec<u8>>().prop_map(|bytes| Value::Text(Text::new(&bytes))),
        "[a-z'\"\\\\`;#é]{0,6}".prop_map(|text| Value::Text(Text::new(text.as_bytes()))),
        "ON|OFF|utf8mb4|STRICT_ALL_TABLES".prop_map(|text| Value::Word(text.into())),
        Just(Value::Default),
        (reads, variable()).prop_map(|(reads, variable)| Value::System { reads, variable }),
        user_variable().prop_map(Value::User),
        "CONCAT\\('[a-z]', [0-9]\\)( \\+ 1)?"
            .prop_map(|source| Value::Expression { source: source.into_bytes().into(), is_repeatable: true }),
    ]
}

fn assignment() -> impl Strategy<Value = Assignment> {
    let scope =
        prop_oneof![Just(ServerScope::Global), Just(ServerScope::Persist), Just(ServerScope::PersistOnly)];
    let name = || proptest::option::of("[a-z0-9_]{1,8}".prop_map(String::into_boxed_str));
    prop_oneof![
        (variable(), value()).prop_map(|(variable, value)| Assignment::Session { variable, value }),
        value().prop_map(|value| Assignment::NextTransaction {
            variable: SystemVariable::known("transaction_read_only"),
            value,
        }),
        (scope, variable(), value()).prop_map(|(scope, variable, value)| Assignment::Server {
            scope,
            variable,
            value
        }),
        (user_variable(), value()).prop_map(|(variable, value)| Assignment::User { variable, value }),
        (name(), name()).prop_map(|(charset, collation)| Assignment::Names { charset, collation }),
        name().prop_map(Assignment::CharacterSet),
    ]
}

proptest! {
    #[test]
    fn what_is_rendered_is_read_again_as_the_same(
        list in proptest::collection::vec(assignment(), 1..6),
        lexing in lexing_of(server()),
    ) {
        let text = render(&list, lexing);
        if let Some(text) = &text {
            prop_assert_eq!(assignments(text, lexing), Some(Assignments::List(list)));
        } else {
            // Only a character set of two bytes keeps one of these from being written.
            prop_assert!(lexing.ascii_in_characters, "{}", describe_list(&list));
        }
    }

    #[test]
    fn any_bytes_are_read(query in any::<Vec<u8>>(), lexing in lexing_of(server())) {
        drop(assignments(&query, lexing));
        drop(assignments(&[b"SET ", query.as_slice()].concat(), lexing));
    }

    #[test]
    fn whatever_is_understood_is_understood_again_when_it_is_rendered(
        rest in "(a|@b|@@session\\.|@@|GLOBAL |SESSION |NAMES |ROLE |TRANSACTION |COLLATE |READ ONLY|=|:=|,|;|'x'|\"y\"|`z`|1|-|\\.|\\(|\\)|CONCAT\\(|f\\(|/\\*!|/\\*|\\*/|-- |#|DEFAULT| |\n|'|\\\\){0,14}",
        lexing in lexing_of(server()),
    ) {
        let query = format!("SET {rest}");
        let Some(Assignments::List(list)) = assignments(query.as_bytes(), lexing) else { return Ok(()) };
        let statement = classify(query.as_bytes(), lexing);
        prop_assert!(statement.kind == Kind::Set && !statement.effects.runs_unseen_code);
        if let Some(text) = render(&list, lexing) {
            prop_assert_eq!(assignments(&text, lexing), Some(Assignments::List(list)));
        }
    }

    #[test]
    fn a_second_statement_is_never_taken_for_a_part_of_the_first(value in "[0-9]{1,3}|'[a-z]{0,3}'", second in "[a-z@]{1,9}") {
        let query = format!("SET a = {value}; {second}");
        prop_assert_eq!(assignments(query.as_bytes(), MYSQL), None);
    }
}

#[test]
fn long_runs_of_anything_need_no_stack() {
    for piece in ["(", ")", ",", "a=1,", "@a=", "/*!", "'", "@@a.", "-", "CONCAT(", "NAMES x,"] {
        drop(assignments(format!("SET a = {}", piece.repeat(100_000)).as_bytes(), MARIADB));
        drop(assignments(format!("SET {}", piece.repeat(100_000)).as_bytes(), MARIADB));
    }
}
