//! A statement as it is sent: as text, or prepared with the values that it marks as such.

use std::fmt;

use nuthatch_sql::Parameter;

use crate::answer::Told;
use crate::client::{Client, Failure, Value};

/// Between these stands a value that may be a parameter: a number, or text behind a `'`, or nothing for NULL.
pub(crate) const VALUE_BEGINS: char = '\u{1}';
pub(crate) const VALUE_ENDS: char = '\u{2}';

/// How a statement travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// COM_QUERY with the values in the text.
    Text,
    /// COM_STMT_PREPARE, COM_STMT_EXECUTE.
    Prepared,
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// Of which kind, for the report.
    pub(crate) kind: &'static str,
    /// With `?` for each of its values, if it is prepared.
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
    form: Form,
}

impl Statement {
    /// From a text with marked values.
    pub(crate) fn new(kind: &'static str, marked: &str, form: Form) -> Self {
        let mut pieces = marked.split(VALUE_BEGINS);
        let mut sql = pieces.next().unwrap_or_default().to_owned();
        let mut values = Vec::new();
        for piece in pieces {
            let (value, behind) = piece.split_once(VALUE_ENDS).expect("a value has an end");
            match form {
                Form::Text => sql += &literal(value),
                Form::Prepared => {
                    sql.push('?');
                    values.push(parameter(value));
                }
            }
            sql += behind;
        }
        Self { kind, sql, values, form }
    }

    pub(crate) fn text(kind: &'static str, sql: &str) -> Self {
        Self::new(kind, sql, Form::Text)
    }

    pub(crate) fn is_prepared(&self) -> bool {
        self.form == Form::Prepared
    }

    /// Its values, as footprints are told of them.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let known = |value: &Value| match value {
            Value::Int(number) => {
                u64::try_from(*number).map_or(Parameter::Negative(*number), Parameter::Unsigned)
            }
            Value::Time(_) => Parameter::Time,
            Value::Null | Value::Text(_) | Value::Long => Parameter::Other,
        };
        self.values.iter().map(known).collect()
    }

    /// Runs it. The connection must hold.
    pub(crate) fn run(&self, client: &mut Client) -> Told {
        match self.form {
            Form::Text => Told::all(client.query_whole(&self.sql).expect("the connection holds")),
            Form::Prepared => match client.prepare(&self.sql) {
                Ok(statement) => {
                    // The text may hold a `?` in a string or comment only, and the server is the judge of that.
                    let wanted = usize::from(statement.parameters);
                    assert_eq!(wanted, self.values.len(), "{self}");
                    let told = client.execute_all(&statement, &self.values);
                    client.close(&statement);
                    told.map_or_else(refused, |answers| Told::all(answers.into_iter().map(Ok).collect()))
                }
                Err(failure) => refused(failure),
            },
        }
    }
}

fn refused(failure: Failure) -> Told {
    Told::all(vec![Err(failure.server())])
}

/// As a literal: the text's quote is doubled at its other end.
fn literal(value: &str) -> String {
    match value.strip_prefix('\'') {
        Some(_) => format!("{value}'"),
        None if value.is_empty() => "NULL".to_owned(),
        None => value.to_owned(),
    }
}

fn parameter(value: &str) -> Value {
    match value.strip_prefix('\'') {
        Some(text) => Value::Text(text.as_bytes().to_vec()),
        None if value.is_empty() => Value::Null,
        None => Value::Int(value.parse().expect("a number")),
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.sql)?;
        for value in &self.values {
            match value {
                Value::Int(number) => write!(f, " {number}")?,
                Value::Text(text) => write!(f, " '{}'", text.escape_ascii())?,
                Value::Time([hours, minutes, seconds]) => write!(f, " {hours}:{minutes}:{seconds}")?,
                Value::Null | Value::Long => write!(f, " NULL")?,
            }
        }
        Ok(())
    }
}

#[test]
fn values_stand_in_the_text_or_beside_it() {
    let marked = "SELECT \u{1}7\u{2}, \u{1}'x\u{2} + \u{1}\u{2}";
    assert_eq!(Statement::text("read", marked).to_string(), r#""SELECT 7, 'x' + NULL""#);
    let prepared = Statement::new("read", marked, Form::Prepared);
    assert_eq!(prepared.to_string(), r#""SELECT ?, ? + ?" 7 'x' NULL"#);
    assert_eq!(prepared.parameters(), [Parameter::Unsigned(7), Parameter::Other, Parameter::Other]);
}
