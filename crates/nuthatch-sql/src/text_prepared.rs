//! `PREPARE`, `EXECUTE` and `DEALLOCATE PREPARE`: the statements by which text prepares text.

use crate::classify::cursor::Cursor;
use crate::statement::Name;
use crate::token::literal::unescaped;
use crate::token::{Lexing, Token, TokenKind};

/// What such a statement asks for. Names are as written; servers compare them in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPrepared {
    /// `PREPARE name FROM …`.
    Prepare {
        /// The statement's name.
        name: Vec<u8>,
        /// What is prepared, if it stands there as one string.
        statement: Option<Vec<u8>>,
    },
    /// `EXECUTE name [USING …]`, the values being user variables and literals.
    Execute {
        /// The statement's name.
        name: Vec<u8>,
    },
    /// `DEALLOCATE PREPARE name`, `DROP PREPARE name`.
    Deallocate {
        /// The statement's name.
        name: Vec<u8>,
    },
}

/// What `query` asks for, if the whole of it is one of these statements and nothing in it but names, variables and literals.
/// A name with other letters than those of ASCII is not understood: servers fold them by their own tables.
#[must_use]
pub fn text_prepared(query: &[u8], lexing: Lexing) -> Option<TextPrepared> {
    let mut cursor = Cursor::new(query, lexing);
    let asked = if cursor.take_word(b"PREPARE") {
        let name = name(&mut cursor)?;
        if !cursor.take_word(b"FROM") {
            return None;
        }
        if cursor.at_end() {
            return None;
        }
        let source = cursor.bump()?;
        let is_alone = source.kind == TokenKind::String && cursor.at_end();
        let statement = is_alone.then(|| unescaped(source.text, lexing)).flatten();
        while !cursor.at_end() {
            cursor.advance();
        }
        TextPrepared::Prepare { name, statement }
    } else if cursor.take_word(b"EXECUTE") {
        let name = name(&mut cursor)?;
        if cursor.take_word(b"USING") {
            loop {
                value(&mut cursor)?;
                if !cursor.take_symbol(b',') {
                    break;
                }
            }
        }
        TextPrepared::Execute { name }
    } else if cursor.take_words(&[b"DEALLOCATE", b"PREPARE"]) || cursor.take_words(&[b"DROP", b"PREPARE"]) {
        TextPrepared::Deallocate { name: name(&mut cursor)? }
    } else {
        return None;
    };
    cursor.ends_statement().then_some(asked)
}

fn name(cursor: &mut Cursor<'_>) -> Option<Vec<u8>> {
    let token = cursor.bump().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))?;
    let name = Name(token.text).text().into_owned();
    let is_immediate = token.kind == TokenKind::Word && name.eq_ignore_ascii_case(b"immediate");
    (name.is_ascii() && !is_immediate).then_some(name)
}

fn value(cursor: &mut Cursor<'_>) -> Option<()> {
    while cursor.take_symbol(b'-') {}
    let is_plain = |token: &Token<'_>| {
        matches!(token.kind, TokenKind::UserVariable | TokenKind::Number | TokenKind::String)
            || (token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(b"NULL"))
    };
    cursor.bump().filter(is_plain).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    const LEXING: Lexing = Lexing::of(ServerFlavor::MariaDb(101_119));

    fn shown(query: &str, lexing: Lexing) -> String {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match text_prepared(query.as_bytes(), lexing) {
            None => "-".to_owned(),
            Some(TextPrepared::Prepare { name, statement: None }) => format!("prepare {}", text(name)),
            Some(TextPrepared::Prepare { name, statement: Some(statement) }) => {
                format!("prepare {}: {}", text(name), text(statement))
            }
            Some(TextPrepared::Execute { name }) => format!("execute {}", text(name)),
            Some(TextPrepared::Deallocate { name }) => format!("deallocate {}", text(name)),
        }
    }

    #[test]
    fn names_and_texts_are_read_as_servers_read_them() {
        for (query, expected) in [
            ("PREPARE s FROM 'SELECT ?'", "prepare s: SELECT ?"),
            ("/* x */ prepare `S t` from \"SELECT 'a''b'\";", "prepare S t: SELECT 'a''b'"),
            (
                "PREPARE s FROM 'SELECT ''a'', \\'b\\', \"\\%\\_\\x\"'",
                "prepare s: SELECT 'a', 'b', \"\\%\\_x\"",
            ),
            ("PREPARE s FROM @text", "prepare s"),
            ("PREPARE s FROM CONCAT('SELECT', ' 1')", "prepare s"),
            ("PREPARE s FROM 'SELECT 1' 'x'", "prepare s"),
            ("PREPARE s", "-"),
            ("PREPARE \u{e9} FROM 'SELECT 1'", "-"),
            ("EXECUTE S", "execute S"),
            ("EXECUTE s USING @a, @`b`, 5, -1, 'x', NULL -- y", "execute s"),
            ("EXECUTE s USING LAST_INSERT_ID()", "-"),
            ("EXECUTE s USING @a + 1", "-"),
            ("EXECUTE s USING", "-"),
            ("EXECUTE s; SELECT 1", "-"),
            ("EXECUTE IMMEDIATE 'SELECT 1'", "-"),
            ("EXECUTE /*! s */", "-"),
            ("DEALLOCATE PREPARE s", "deallocate s"),
            ("drop prepare `S`;", "deallocate S"),
            ("DROP TABLE s", "-"),
            ("SELECT 1", "-"),
        ] {
            assert_eq!(shown(query, LEXING), expected, "{query}");
        }
        let plain = Lexing { no_backslash_escapes: true, ..LEXING };
        assert_eq!(shown("PREPARE s FROM 'a\\nb'", plain), "prepare s: a\\nb");
    }
}
