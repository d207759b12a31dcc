//! Which temporary tables a statement makes or drops.

use crate::classify::cursor::Cursor;
use crate::token::Lexing;

/// A table's name, without quotes, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableName {
    /// Its schema, if it is named; else it is the session's.
    pub schema: Option<Vec<u8>>,
    /// The table.
    pub name: Vec<u8>,
}

/// What becomes of temporary tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemporaryTables {
    /// `CREATE [OR REPLACE] TEMPORARY TABLE`.
    Made(TableName),
    /// `DROP [TEMPORARY] TABLE`: the temporary ones of these names, if there are any.
    Dropped(Vec<TableName>),
}

/// What `query` does with temporary tables, if it is one statement that makes or drops some and is understood as far as their
/// names go.
#[must_use]
pub fn temporary_tables(query: &[u8], lexing: Lexing) -> Option<TemporaryTables> {
    let mut cursor = Cursor::new(query, lexing);
    if cursor.take_word(b"CREATE") {
        cursor.take_words(&[b"OR", b"REPLACE"]);
        if !cursor.take_words(&[b"TEMPORARY", b"TABLE"]) {
            return None;
        }
        cursor.take_words(&[b"IF", b"NOT", b"EXISTS"]);
        return Some(TemporaryTables::Made(table(&mut cursor)?));
    }
    if !cursor.take_word(b"DROP") {
        return None;
    }
    cursor.take_word(b"TEMPORARY");
    if !(cursor.take_word(b"TABLE") || cursor.take_word(b"TABLES")) {
        return None;
    }
    cursor.take_words(&[b"IF", b"EXISTS"]);
    let mut tables = vec![table(&mut cursor)?];
    while cursor.take_symbol(b',') {
        tables.push(table(&mut cursor)?);
    }
    let _option = cursor.take_word(b"RESTRICT") || cursor.take_word(b"CASCADE");
    cursor.ends_statement().then_some(TemporaryTables::Dropped(tables))
}

/// A name, or one with its schema.
pub(crate) fn table(cursor: &mut Cursor<'_>) -> Option<TableName> {
    let first = cursor.take_name()?;
    if cursor.take_symbol(b'.') {
        return Some(TableName { schema: Some(first), name: cursor.take_name()? });
    }
    Some(TableName { schema: None, name: first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    fn shown(query: &str) -> String {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        let one = |table: &TableName| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            format!("{}.{}", table.schema.as_deref().map(text).unwrap_or_default(), text(&table.name))
        };
        match temporary_tables(query.as_bytes(), lexing) {
            None => "-".to_owned(),
            Some(TemporaryTables::Made(table)) => format!("made {}", one(&table)),
            Some(TemporaryTables::Dropped(tables)) => {
                format!("dropped {}", tables.iter().map(one).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn names_are_read_and_nothing_else_is_understood() {
        for (query, expected) in [
            ("CREATE TEMPORARY TABLE t (a INT)", "made .t"),
            ("create or replace temporary table if not exists `a b`.`c``d` LIKE t", "made a b.c`d"),
            ("CREATE TABLE t (a INT)", "-"),
            ("CREATE TEMPORARY SEQUENCE s", "-"),
            ("DROP TEMPORARY TABLE IF EXISTS a, b.c, `d` CASCADE; -- x", "dropped .a b.c .d"),
            ("drop tables t", "dropped .t"),
            ("DROP TABLE t WAIT 5", "-"),
            ("DROP TABLE t; SELECT 1", "-"),
            ("DROP VIEW v", "-"),
            ("SELECT 1", "-"),
        ] {
            assert_eq!(shown(query), expected, "{query}");
        }
    }
}
