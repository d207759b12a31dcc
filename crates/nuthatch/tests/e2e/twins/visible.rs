//! What a client can see of an answer, as text to be compared: all but what names the connection or the twin.

use std::io;

use nuthatch_wire::Reader;

use crate::client::{Answer, Prepared, ServerError};

/// A result set's definition, rows and end, or an OK packet, or an error.
pub(super) fn answers(whole: io::Result<Vec<Result<Answer, ServerError>>>) -> Vec<String> {
    match whole {
        Ok(answers) => answers.into_iter().map(|answer| one(answer, true)).collect(),
        Err(error) => vec![gone(&error)],
    }
}

/// The same of rows that a cursor gave, whose columns were defined before.
pub(super) fn one(answer: Result<Answer, ServerError>, with_columns: bool) -> String {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            return format!("error {} ({}) {}", error.code, error.state, numberless(&error.message));
        }
    };
    let columns: Vec<String> =
        answer.definitions.iter().filter(|_| with_columns).map(|packet| column(packet)).collect();
    let lists_errors = answer.columns == ["Level", "Code", "Message"];
    let rows = if answer.columns.is_empty() && answer.rows.is_empty() {
        String::new()
    } else {
        let rows = format!("rows={:?} ", answer.table());
        if lists_errors { numberless(&rows) } else { rows }
    };
    format!(
        "{}{rows}affected={} id={} warnings={} autocommit={} transaction={} {}",
        if columns.is_empty() { String::new() } else { format!("columns={columns:?} ") },
        answer.affected_rows,
        answer.insert_id,
        answer.warnings,
        answer.autocommit(),
        answer.in_transaction(),
        answer.message,
    )
}

/// Whether all that differs is that the proxy tells of a transaction where there is none. Behind an error it may: no ERR packet
/// tells, and without autocommit, or where code ran out of sight, one may have begun.
pub(super) fn differ_in_doubt(direct: &[String], proxied: &[String]) -> bool {
    let doubtful: Vec<String> =
        direct.iter().map(|text| text.replace("transaction=false", "transaction=true")).collect();
    doubtful == proxied
}

/// What a command other than a statement is answered. Its OK packet has the warnings of the statement before it on MySQL.
pub(super) fn command(answer: Answer) -> String {
    one(Ok(Answer { warnings: 0, ..answer }), true)
}

pub(super) fn prepared(statement: &Prepared) -> String {
    format!("prepared, parameters={} columns={}", statement.parameters, statement.columns)
}

/// How the text of a lost connection begins.
pub(super) const GONE: &str = "the connection is gone";

/// What breaks the protocol.
pub(super) const UNREADABLE: &str = "the connection is gone: unreadable";

pub(super) fn gone(error: &io::Error) -> String {
    format!("{GONE}: {}", error.kind())
}

/// Names, type, collation, length, flags and decimals.
fn column(packet: &[u8]) -> String {
    let mut reader = Reader::new(packet);
    let mut text = || String::from_utf8_lossy(reader.lenenc_bytes().expect("a column's text")).into_owned();
    let [_, schema, table, original_table, name, original_name] = std::array::from_fn(|_| text());
    reader.u8().expect("length of the numbers");
    let (collation, length) = (reader.u16().expect("collation"), reader.u32().expect("length"));
    let (kind, flags) = (reader.u8().expect("type"), reader.u16().expect("flags"));
    let decimals = reader.u8().expect("decimals");
    if name.starts_with('@') && !name.starts_with("@@") {
        // The type of a variable without value is that of the value before, whoever's that was.
        return name;
    }
    format!(
        "{name} of {schema}.{table}({original_table}.{original_name}) \
         type={kind} collation={collation} length={length} flags={flags:x} decimals={decimals}"
    )
}

/// Without the number of a prepared statement: `(7)`.
fn numberless(message: &str) -> String {
    let mut rest = message;
    let mut clean = String::new();
    while let Some((before, behind)) = rest.split_once('(') {
        clean.push_str(before);
        clean.push('(');
        rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
        if !rest.starts_with(')') {
            rest = behind;
        }
    }
    clean + rest
}

#[test]
fn only_numbers_in_parentheses_are_left_out() {
    assert_eq!(numberless("handler (12) given to (x1) f(2"), "handler () given to (x1) f(2");
}
