//! Columns that are computed when they are read.

use std::borrow::Cow;

use nuthatch_sql::{Lexing, ServerFlavor, classify, may_rest_on_today};

use crate::definitions::ColumnDefinition;

/// Whether the column's value is a function of its row and the session's environment. Stored columns are: they change only
/// by writes. `times` are the columns of type TIME that the table has, folded.
pub(crate) fn is_immutable(column: &ColumnDefinition, times: &[&[u8]], server: ServerFlavor) -> bool {
    !column.is(b"VIRTUAL GENERATED") || is_pure(&text(&column.generated_by, server), times, server)
}

/// Whether the expression, as a query of its own, may be cached until a table changes.
fn is_pure(expression: &[u8], times: &[&[u8]], server: ServerFlavor) -> bool {
    let query = [b"SELECT ", expression].concat();
    let statement = classify(&query, canonical(server));
    !expression.is_empty()
        && statement.cache.is_ok()
        && statement.volatile.is_none()
        && !may_rest_on_today(&query, canonical(server), times)
}

/// How texts are to be read that a server has written anew: it uses back quotes and backslashes, whatever `sql_mode` was.
pub(crate) fn canonical(server: ServerFlavor) -> Lexing {
    Lexing::of(server)
}

/// The expression. MySQL 8 and later show it as the inside of a string: `concat(_utf8mb4\'it\\\'s\')`.
fn text(shown: &[u8], server: ServerFlavor) -> Cow<'_, [u8]> {
    match server {
        ServerFlavor::MySql(80_000..) => Cow::Owned(unescaped(shown)),
        _ => Cow::Borrowed(shown),
    }
}

fn unescaped(shown: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(shown.len());
    let mut bytes = shown.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => text.extend(bytes.next()),
            _ => text.push(byte),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_computed_at_each_read_must_be_pure() {
        let (mariadb, mysql) = (ServerFlavor::MariaDb(101_119), ServerFlavor::MySql(90_704));
        for (server, extra, expression, expected) in [
            (mariadb, "VIRTUAL GENERATED", r"concat(`a`,'it\'s','a\\b')", true),
            (mysql, "VIRTUAL GENERATED", r"concat(`a`,_utf8mb4\'it\\\'s\',_utf8mb4\'a\\\\b\')", true),
            (mysql, "VIRTUAL GENERATED INVISIBLE", r"json_extract(`a`,_utf8mb4\'$.x\')", true),
            (ServerFlavor::MySql(50_744), "VIRTUAL GENERATED", r"concat(`a`,'it\'s')", true),
            (mariadb, "VIRTUAL GENERATED, INVISIBLE", "`id`", true),
            (mariadb, "VIRTUAL GENERATED", "current_timestamp()", false),
            (mariadb, "VIRTUAL GENERATED", "user()", false),
            (mariadb, "VIRTUAL GENERATED", "`f`(`id`)", false),
            (mariadb, "VIRTUAL GENERATED", "@@x", false),
            (mariadb, "VIRTUAL GENERATED", "", false),
            (mariadb, "VIRTUAL GENERATED", "hour(`begins`)", true),
            (mariadb, "VIRTUAL GENERATED", "timestamp(`begins`)", false),
            (mysql, "VIRTUAL GENERATED", "cast(`begins` as datetime)", false),
            (mysql, "VIRTUAL GENERATED", "cast(cast(`a` as time) as datetime)", false),
            (mariadb, "STORED GENERATED", "`f`(`id`)", true),
            (mysql, "DEFAULT_GENERATED", "", true),
            (mysql, "auto_increment", "", true),
        ] {
            let empty = Vec::new;
            let column = ColumnDefinition {
                table: crate::definitions::TableRef { schema: empty(), name: empty() },
                name: empty(),
                ordinal: empty(),
                data_type: empty(),
                column_type: empty(),
                extra: extra.as_bytes().to_vec(),
                generated_by: expression.as_bytes().to_vec(),
            };
            assert_eq!(is_immutable(&column, &[b"begins"], server), expected, "{extra} {expression}");
        }
    }
}
