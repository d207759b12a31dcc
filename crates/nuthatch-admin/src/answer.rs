//! What a statement is answered with, before it becomes packets.

use nuthatch_wire::{Column, ColumnType};
use rusqlite::types::Value;

/// The answer to a statement that was not refused. It may hold passwords that an operator typed: it has no `Debug`.
#[derive(Clone, PartialEq)]
pub(crate) enum Answer {
    Done(Done),
    Rows(Rows),
}

/// An answer without rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Done {
    pub(crate) affected_rows: u64,
    /// The row that an INSERT into a table with automatic ids made, 0 for none.
    pub(crate) insert_id: u64,
    /// What SHOW WARNINGS lists afterwards.
    pub(crate) warnings: Vec<String>,
}

/// A whole result set.
#[derive(Clone, PartialEq)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Answer {
    /// An answer that only says that it was done.
    pub(crate) fn done() -> Self {
        Self::Done(Done::default())
    }

    /// Steps and what came of them.
    pub(crate) fn findings(findings: Vec<(&'static str, String)>) -> Self {
        let row = |(step, finding): (&'static str, String)| {
            vec![Value::Text(step.to_owned()), Value::Text(finding)]
        };
        let rows = findings.into_iter().map(row).collect();
        Self::Rows(Rows { columns: vec![Column::text("step"), Column::text("finding")], rows })
    }

    /// Two columns of text.
    pub(crate) fn pairs(columns: [&str; 2], pairs: Vec<(String, String)>) -> Self {
        let rows = pairs.into_iter().map(|(one, other)| vec![Value::Text(one), Value::Text(other)]).collect();
        Self::Rows(Rows { columns: columns.map(Column::text).into(), rows })
    }

    /// Verbs, and what each does.
    pub(crate) fn verbs(verbs: Vec<(String, &'static str)>) -> Self {
        let row = |(verb, what): (String, &str)| vec![Value::Text(verb), Value::Text(what.to_owned())];
        let rows = verbs.into_iter().map(row).collect();
        Self::Rows(Rows { columns: vec![Column::text("Verb"), Column::text("What it does")], rows })
    }

    /// One column of text.
    pub(crate) fn texts(column: &str, texts: impl IntoIterator<Item = String>) -> Self {
        let rows = texts.into_iter().map(|text| vec![Value::Text(text)]).collect();
        Self::Rows(Rows { columns: vec![Column::text(column)], rows })
    }
}

/// The type of a column on the wire: that of its values, and where it has none, that of its declaration.
pub(crate) fn column_type<'v>(values: impl Iterator<Item = &'v Value>, declared: Option<&str>) -> ColumnType {
    let mut found = None;
    for value in values {
        found = match (value, found) {
            (Value::Null, _) => found,
            (Value::Integer(_), None | Some(ColumnType::MYSQL_TYPE_LONGLONG)) => {
                Some(ColumnType::MYSQL_TYPE_LONGLONG)
            }
            (
                Value::Integer(_) | Value::Real(_),
                None | Some(ColumnType::MYSQL_TYPE_LONGLONG | ColumnType::MYSQL_TYPE_DOUBLE),
            ) => Some(ColumnType::MYSQL_TYPE_DOUBLE),
            _ => return ColumnType::MYSQL_TYPE_VAR_STRING,
        };
    }
    found.unwrap_or_else(|| match declared {
        Some(declared) if declared.to_ascii_uppercase().contains("INT") => ColumnType::MYSQL_TYPE_LONGLONG,
        _ => ColumnType::MYSQL_TYPE_VAR_STRING,
    })
}

/// The value as the text protocol carries it; `None` is NULL.
pub(crate) fn text_of(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string().into_bytes()),
        Value::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(format!("{number:.1}").into_bytes())
        }
        Value::Real(number) => Some(number.to_string().into_bytes()),
        Value::Text(text) => Some(text.clone().into_bytes()),
        Value::Blob(bytes) => Some(bytes.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_type_of_all_its_values() {
        let (int, real, text) = (Value::Integer(1), Value::Real(0.5), Value::Text("a".to_owned()));
        for (values, declared, expected) in [
            (vec![&int, &Value::Null], Some("VARCHAR"), ColumnType::MYSQL_TYPE_LONGLONG),
            (vec![&int, &real], None, ColumnType::MYSQL_TYPE_DOUBLE),
            (vec![&real, &int], None, ColumnType::MYSQL_TYPE_DOUBLE),
            (vec![&int, &text], Some("INT"), ColumnType::MYSQL_TYPE_VAR_STRING),
            (vec![&text], None, ColumnType::MYSQL_TYPE_VAR_STRING),
            (vec![], Some("INT UNSIGNED"), ColumnType::MYSQL_TYPE_LONGLONG),
            (vec![&Value::Null], Some("VARCHAR"), ColumnType::MYSQL_TYPE_VAR_STRING),
            (vec![], None, ColumnType::MYSQL_TYPE_VAR_STRING),
        ] {
            assert_eq!(column_type(values.iter().copied(), declared), expected, "{values:?} {declared:?}");
        }
    }
}
