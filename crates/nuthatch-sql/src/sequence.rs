//! The sequences of MariaDB that a statement advances, and those that it asks for the last value: a server keeps that by connection.

use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::{Lexing, Token, TokenKind};

/// See the module's doc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequences {
    /// Those that it advances.
    pub advanced: Vec<SequenceName>,
    /// Those that it asks for the last value, and has not advanced before.
    pub asked: Vec<SequenceName>,
}

/// The name of a sequence, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceName {
    /// None if the statement does not say: the one in use.
    pub schema: Option<Vec<u8>>,
    /// None if it cannot be told.
    pub name: Option<Vec<u8>>,
}

/// The sequences in `text`; none if it has none. Cost: one pass over the tokens where one of these words stands in it.
#[must_use]
pub fn sequences(text: &[u8], lexing: Lexing) -> Option<Sequences> {
    let mut cursor = Cursor::at_statement(text, lexing);
    let (mut found, mut path) = (Sequences::default(), Vec::<Token<'_>>::new());
    while let Some(token) = cursor.bump() {
        let use_of = |word: &[&[u8]; 2]| word.iter().position(|word| is_word(token, word));
        if let Some(at) = use_of(&[b"NEXTVAL", b"LASTVAL"]).filter(|_| cursor.take_symbol(b'(')) {
            let name = name(&mut cursor);
            found.add(at == 0, name);
        } else if let Some(at) = use_of(&[b"NEXT", b"PREVIOUS"]).filter(|_| cursor.take_word(b"VALUE")) {
            if cursor.take_word(b"FOR") {
                let name = name(&mut cursor);
                found.add(at == 0, name);
            }
        } else if is_name(token) {
            path.push(token);
            if cursor.take_symbol(b'.') {
                continue;
            }
            let last = unquoted(token);
            let at = [&b"nextval"[..], b"currval"].iter().position(|word| last == **word);
            if let (Some(at), Some((_, [before @ .., name]))) = (at, path.split_last()) {
                let schema = before.last().map(|schema| unquoted(*schema));
                found.add(at == 0, SequenceName { schema, name: Some(unquoted(*name)) });
            }
        }
        path.clear();
    }
    (found != Sequences::default()).then_some(found)
}

impl Sequences {
    fn add(&mut self, advances: bool, name: SequenceName) {
        if advances {
            self.advanced.push(name);
        } else if name.name.is_none() || !self.advanced.contains(&name) {
            self.asked.push(name);
        }
    }
}

fn name(cursor: &mut Cursor<'_>) -> SequenceName {
    let mut take = || cursor.bump().filter(|token| is_name(*token)).map(unquoted);
    let Some(first) = take() else { return SequenceName { schema: None, name: None } };
    match cursor.take_symbol(b'.') {
        true => SequenceName {
            schema: Some(first),
            name: cursor.bump().filter(|token| is_name(*token)).map(unquoted),
        },
        false => SequenceName { schema: None, name: Some(first) },
    }
}

fn is_name(token: Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
}

fn unquoted(token: Token<'_>) -> Vec<u8> {
    Name(token.text).text().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    fn told(names: &[SequenceName]) -> String {
        let text = |name: &Option<Vec<u8>>| {
            name.as_ref().map_or_else(|| "?".to_owned(), |name| String::from_utf8_lossy(name).into_owned())
        };
        let names = names.iter().map(|name| format!("{}.{}", text(&name.schema), text(&name.name)));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn uses_are_found_in_each_form() {
        for (query, advanced, asked) in [
            ("SELECT 1, next, value FROM t", "", ""),
            ("SELECT NEXTVAL(s)", "?.s", ""),
            ("SELECT nextval(`D`.`S`), LASTVAL(d.s)", "d.s", ""),
            ("SELECT LASTVAL(s), NEXTVAL(s)", "?.s", "?.s"),
            ("INSERT INTO t VALUES (NEXT VALUE FOR s, PREVIOUS VALUE FOR d.s)", "?.s", "d.s"),
            ("SELECT s.nextval, d.s.CURRVAL FROM dual", "?.s", "d.s"),
            ("SELECT LASTVAL(1)", "", "?.?"),
        ] {
            let found =
                sequences(query.as_bytes(), Lexing::of(ServerFlavor::MariaDb(101_119))).unwrap_or_default();
            assert_eq!(
                (told(&found.advanced), told(&found.asked)),
                (advanced.to_owned(), asked.to_owned()),
                "{query}"
            );
        }
    }
}
