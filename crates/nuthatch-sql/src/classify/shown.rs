//! SHOW of what changes only when a definition or a privilege does: schemas, tables, columns.
//!
//! Not among them, for each tells of rows too: SHOW CREATE TABLE (the next number of AUTO_INCREMENT), SHOW INDEX (cardinalities),
//! SHOW TABLE STATUS. What may stand in LIKE and WHERE is an allow-list: texts, and the columns of the answer.

use super::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::{Token, TokenKind};
use crate::words::is_one_of;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown<'q> {
    /// Which schemas there are.
    Schemas,
    /// Which tables a schema has; none: the default schema.
    Tables(Option<Name<'q>>),
    /// Which columns a table has.
    Columns {
        /// Its schema; none: the default schema.
        schema: Option<Name<'q>>,
        /// Its name.
        table: Name<'q>,
    },
}

/// What may be asked of a shown column, in lower case.
#[rustfmt::skip]
const COLUMNS: [&[u8]; 11] = [
    b"field", b"type", b"collation", b"null", b"key", b"default", b"extra", b"privileges", b"comment", b"table_type",
    b"database",
];

const KEYWORDS: [&[u8]; 5] = [b"and", b"or", b"not", b"like", b"in"];

/// What a SHOW shows, read to the end of the statement, from behind that word on; none if that is not certain, or something else.
pub(crate) fn shown<'q>(mut cursor: Cursor<'q>) -> Option<Shown<'q>> {
    let is_full = cursor.take_word(b"FULL");
    let shown = match cursor.bump().filter(|token| token.kind == TokenKind::Word)?.text {
        word if is_one_of(word, &[b"databases", b"schemas"]) && !is_full => Shown::Schemas,
        word if is_one_of(word, &[b"tables"]) => Shown::Tables(take_of(&mut cursor)?),
        word if is_one_of(word, &[b"columns", b"fields"]) => columns(&mut cursor)?,
        _ => return None,
    };
    take_choice(&mut cursor)?;
    (cursor.at_end() && !cursor.has_executable).then_some(shown)
}

fn columns<'q>(cursor: &mut Cursor<'q>) -> Option<Shown<'q>> {
    let first = take_of(cursor)??;
    let (schema, table) = match cursor.take_symbol(b'.') {
        true => (Some(first), take_name(cursor)?),
        false => (take_of(cursor)?, first),
    };
    Some(Shown::Columns { schema, table })
}

/// Takes `FROM name` or `IN name`, if that comes next.
fn take_of<'q>(cursor: &mut Cursor<'q>) -> Option<Option<Name<'q>>> {
    let is_said = cursor.take_word(b"FROM") || cursor.take_word(b"IN");
    if is_said { take_name(cursor).map(Some) } else { Some(None) }
}

/// A word may be a keyword that the server takes for no name: it answers with an error then.
fn take_name<'q>(cursor: &mut Cursor<'q>) -> Option<Name<'q>> {
    let token = cursor.bump().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))?;
    Some(Name(token.text))
}

/// Takes `LIKE 'text'` or WHERE with what may stand in it.
fn take_choice(cursor: &mut Cursor<'_>) -> Option<()> {
    if cursor.take_word(b"LIKE") {
        return cursor.bump().filter(|token| token.kind == TokenKind::String).map(|_| ());
    }
    if cursor.take_word(b"WHERE") {
        while !cursor.at_end() {
            let token = cursor.bump()?;
            (is_harmless(token) && (is_word(token, b"IN") || !is_called(token, cursor))).then_some(())?;
        }
    }
    Some(())
}

fn is_called(token: Token<'_>, behind: &Cursor<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted) && behind.peek_symbol(b'(')
}

fn is_harmless(token: Token<'_>) -> bool {
    match token.kind {
        TokenKind::String | TokenKind::Number => true,
        TokenKind::Symbol(symbol) => b"=<>!(),".contains(&symbol),
        TokenKind::Word if is_one_of(token.text, &KEYWORDS) => true,
        TokenKind::Word | TokenKind::Quoted => {
            let name = Name(token.text).text();
            let is_list = name.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"tables_in_"));
            is_list || is_one_of(&name, &COLUMNS)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{Lexing, ServerFlavor};

    #[test]
    fn what_is_shown_is_read_to_its_end() {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        for (text, expected) in [
            ("SHOW DATABASES", "schemas"),
            ("show schemas like 'a%'", "schemas"),
            ("SHOW FULL DATABASES", "-"),
            ("SHOW TABLES", "tables"),
            ("SHOW FULL TABLES", "tables"),
            ("SHOW TABLES FROM `a b`", "tables a b"),
            ("SHOW TABLES IN s LIKE 'wp\\_%'", "tables s"),
            ("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'", "tables"),
            ("SHOW TABLES FROM s WHERE Tables_in_s IN ('a', \"b\") AND `Table_type` <> 'VIEW'", "tables s"),
            ("SHOW TABLES WHERE f(1)", "-"),
            ("SHOW TABLES WHERE Table_type = CURRENT_USER", "-"),
            ("SHOW TABLES WHERE Table_type = (SELECT 1)", "-"),
            ("SHOW TABLES WHERE Table_type = @a", "-"),
            ("SHOW TABLES LIKE ?", "-"),
            ("SHOW TABLES LIKE 'a' LIKE 'b'", "-"),
            ("SHOW TABLES /*!50000 FROM s */", "-"),
            ("SHOW TABLE STATUS", "-"),
            ("SHOW COLUMNS FROM t", "columns t"),
            ("SHOW FULL COLUMNS FROM `wp_posts`", "columns wp_posts"),
            ("SHOW FIELDS IN t FROM s LIKE 'a'", "columns s.t"),
            ("SHOW COLUMNS FROM s.t WHERE Field = 'a' OR `Key` != ''", "columns s.t"),
            ("SHOW COLUMNS FROM s.t FROM r", "-"),
            ("SHOW COLUMNS FROM s.", "-"),
            ("SHOW COLUMNS", "-"),
            ("SHOW COLUMNS FROM t LIMIT 1", "-"),
            ("SHOW EXTENDED COLUMNS FROM t", "-"),
            ("SHOW INDEX FROM t", "-"),
            ("SHOW CREATE TABLE t", "-"),
        ] {
            let text_of = |name: Name<'_>| String::from_utf8_lossy(&name.text()).into_owned();
            let found = match shown(Cursor::behind_first_word(text.as_bytes(), lexing)) {
                None => "-".to_owned(),
                Some(Shown::Schemas) => "schemas".to_owned(),
                Some(Shown::Tables(None)) => "tables".to_owned(),
                Some(Shown::Tables(Some(schema))) => format!("tables {}", text_of(schema)),
                Some(Shown::Columns { schema: None, table }) => format!("columns {}", text_of(table)),
                Some(Shown::Columns { schema: Some(schema), table }) => {
                    format!("columns {}.{}", text_of(schema), text_of(table))
                }
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
