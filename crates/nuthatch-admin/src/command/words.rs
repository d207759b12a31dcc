//! A cursor over a statement's words, for the grammar of what SQLite does not understand.

use super::split::{Stretch, first_stretch};

/// What is left of a statement. White space and comments between words do not count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn new(statement: &'a str) -> Self {
        Self { rest: skip_space(statement) }
    }

    /// The text that is left, from the next word on, as it was typed.
    pub(super) fn rest(self) -> &'a str {
        self.rest.trim_end()
    }

    /// Whether nothing is left.
    pub(super) fn is_end(self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the given words, separated by one space in `words`, if they come next, whatever their case.
    pub(super) fn take(&mut self, words: &str) -> bool {
        let mut ahead = *self;
        for wanted in words.split(' ') {
            match ahead.take_any() {
                Some(found) if found.eq_ignore_ascii_case(wanted) => {}
                _ => return false,
            }
        }
        *self = ahead;
        true
    }

    /// Takes the given words if they come next and nothing follows.
    pub(super) fn take_all(&mut self, words: &str) -> bool {
        let mut ahead = *self;
        if ahead.take(words) && ahead.is_end() {
            *self = ahead;
            return true;
        }
        false
    }

    /// Takes whatever comes next: a word, a quoted text with its quotes, or one mark.
    pub(super) fn take_any(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (_, len) = first_stretch(self.rest);
        let len = len.max(self.rest.chars().next().map_or(0, char::len_utf8));
        let (found, rest) = self.rest.split_at(len);
        self.rest = skip_space(rest);
        Some(found)
    }

    /// Takes a name, quoted or not, without its quotes.
    pub(super) fn take_name(&mut self) -> Option<String> {
        let mut ahead = *self;
        let name = unquote(ahead.take_any()?);
        *self = ahead;
        (!name.is_empty()).then_some(name)
    }

    /// Takes a text literal, without its quotes.
    pub(super) fn take_literal(&mut self) -> Option<String> {
        let mut ahead = *self;
        let literal = ahead.take_any().filter(|found| found.starts_with(['\'', '"']))?;
        *self = ahead;
        Some(unquote(literal))
    }

    /// Takes a possibly qualified name: `table`, `schema.table`, each part quoted or not.
    pub(super) fn take_qualified(&mut self) -> Option<(Option<String>, String)> {
        let first = self.take_name_parts()?;
        if !self.take(".") {
            return Some(first);
        }
        let table = self.take_name()?;
        Some((Some(first.1), table))
    }

    fn take_name_parts(&mut self) -> Option<(Option<String>, String)> {
        let is_quoted = self.rest.starts_with(['\'', '"', '`']);
        let name = self.take_name()?;
        match name.split_once('.') {
            Some((schema, table)) if !is_quoted => Some((Some(schema.to_owned()), table.to_owned())),
            _ => Some((None, name)),
        }
    }
}

/// The text without its quotes, doubled quotes inside made single; unquoted text stays as it is.
pub(super) fn unquote(text: &str) -> String {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"' | '`')) else {
        return text.to_owned();
    };
    let inner = text[1..].strip_suffix(quote).unwrap_or(&text[1..]);
    inner.replace(&format!("{quote}{quote}"), &quote.to_string())
}

fn skip_space(text: &str) -> &str {
    let mut rest = text;
    while !rest.is_empty() {
        let (stretch, len) = first_stretch(rest);
        if !matches!(stretch, Stretch::Space | Stretch::Comment) {
            break;
        }
        rest = &rest[len..];
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_in_any_case_and_spacing() {
        let mut words = Words::new("load \t mysql\n/* x */ Query RULES to runtime");
        assert!(words.take("LOAD") && words.take("MYSQL QUERY RULES"));
        assert!(!words.take("FROM"));
        assert!(words.take_all("TO RUNTIME") && words.is_end());
    }

    #[test]
    fn names_lose_their_quotes_and_split_at_the_dot() {
        for (text, schema, table) in [
            ("t", None, "t"),
            ("stats.t x", Some("stats"), "t"),
            ("`stats`.`t`", Some("stats"), "t"),
            ("`stats`.t", Some("stats"), "t"),
            ("`a.b`", None, "a.b"),
            ("'it''s'", None, "it's"),
        ] {
            let found = Words::new(text).take_qualified();
            assert_eq!(found, Some((schema.map(str::to_owned), table.to_owned())), "{text}");
        }
    }
}
