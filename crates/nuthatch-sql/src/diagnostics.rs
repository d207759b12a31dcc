//! Questions for the warnings and errors of the statement before, as far as a session can answer them: `SHOW WARNINGS`,
//! `SHOW ERRORS`, `SHOW COUNT(*) WARNINGS`, `SELECT @@warning_count`.

use std::borrow::Cow;

use crate::classify::cursor::Cursor;
use crate::classify::is_ambiguous;
use crate::question::alias;
use crate::token::{Lexing, TokenKind};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticsQuestion<'q> {
    /// For the list itself.
    List {
        /// Warnings and notes are left out.
        errors_only: bool,
        /// Rows that are left out at the beginning.
        skip: u64,
        /// Rows at most.
        count: u64,
    },
    /// For numbers, each under its column's name.
    Counts(Vec<(DiagnosticsCount, Cow<'q, [u8]>)>),
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticsCount {
    /// All: errors, warnings, notes.
    Warnings,
    /// Errors.
    Errors,
}

/// The question that the whole of `query` is, if it is one.
#[must_use]
pub fn diagnostics_question(query: &[u8], lexing: Lexing) -> Option<DiagnosticsQuestion<'_>> {
    let mut cursor = Cursor::new(query, lexing);
    let question = if cursor.take_word(b"SHOW") {
        show(&mut cursor)?
    } else if cursor.take_word(b"SELECT") {
        DiagnosticsQuestion::Counts(select(&mut cursor)?)
    } else {
        return None;
    };
    (cursor.ends_statement() && !is_ambiguous(query, lexing)).then_some(question)
}

fn show<'q>(cursor: &mut Cursor<'q>) -> Option<DiagnosticsQuestion<'q>> {
    if cursor.take_word(b"COUNT") {
        let is_star = cursor.take_symbol(b'(') && cursor.take_symbol(b'*') && cursor.take_symbol(b')');
        let counted = is_star.then(|| counted(cursor)).flatten()?;
        let name: &'static [u8] = match counted {
            DiagnosticsCount::Warnings => b"@@session.warning_count",
            DiagnosticsCount::Errors => b"@@session.error_count",
        };
        return Some(DiagnosticsQuestion::Counts(vec![(counted, Cow::Borrowed(name))]));
    }
    let errors_only = counted(cursor)? == DiagnosticsCount::Errors;
    let (skip, count) = limit(cursor)?;
    Some(DiagnosticsQuestion::List { errors_only, skip, count })
}

fn counted(cursor: &mut Cursor<'_>) -> Option<DiagnosticsCount> {
    if cursor.take_word(b"WARNINGS") {
        Some(DiagnosticsCount::Warnings)
    } else if cursor.take_word(b"ERRORS") {
        Some(DiagnosticsCount::Errors)
    } else {
        None
    }
}

/// `LIMIT count`, `LIMIT skip, count`, `LIMIT count OFFSET skip`, or nothing.
fn limit(cursor: &mut Cursor<'_>) -> Option<(u64, u64)> {
    if !cursor.take_word(b"LIMIT") {
        return Some((0, u64::MAX));
    }
    let first = number(cursor)?;
    if cursor.take_symbol(b',') {
        return Some((first, number(cursor)?));
    }
    if cursor.take_word(b"OFFSET") {
        return Some((number(cursor)?, first));
    }
    Some((0, first))
}

fn number(cursor: &mut Cursor<'_>) -> Option<u64> {
    std::str::from_utf8(cursor.bump()?.text).ok()?.parse().ok()
}

fn select<'q>(cursor: &mut Cursor<'q>) -> Option<Vec<(DiagnosticsCount, Cow<'q, [u8]>)>> {
    let mut counts = Vec::new();
    loop {
        let variable = cursor.bump().filter(|token| token.kind == TokenKind::SystemVariable)?;
        let counted = variable_counts(variable.text)?;
        let name = alias(cursor)?.map_or(Cow::Borrowed(variable.text), |alias| alias.text());
        counts.push((counted, name));
        if !cursor.take_symbol(b',') {
            return Some(counts);
        }
    }
}

fn variable_counts(text: &[u8]) -> Option<DiagnosticsCount> {
    let name = text.to_ascii_lowercase();
    let name = name.strip_prefix(b"@@")?;
    let scopes = [&b"session."[..], b"local."];
    let bare = scopes.iter().find_map(|scope| name.strip_prefix(*scope)).unwrap_or(name);
    match bare {
        b"warning_count" => Some(DiagnosticsCount::Warnings),
        b"error_count" => Some(DiagnosticsCount::Errors),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::ServerFlavor;

    fn shown(query: &str) -> String {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        match diagnostics_question(query.as_bytes(), lexing) {
            None => "-".to_owned(),
            Some(DiagnosticsQuestion::List { errors_only, skip, count }) => {
                format!("{} {skip} {}", if errors_only { "errors" } else { "all" }, count.min(99))
            }
            Some(DiagnosticsQuestion::Counts(counts)) => counts
                .iter()
                .map(|(counted, name)| format!("{counted:?} {}", String::from_utf8_lossy(name)))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    #[test]
    fn questions_are_read_whole_and_nothing_else_is_one() {
        for (query, expected) in [
            ("SHOW WARNINGS", "all 0 99"),
            ("show /* a */ errors;", "errors 0 99"),
            ("SHOW WARNINGS LIMIT 3", "all 0 3"),
            ("SHOW WARNINGS LIMIT 1, 3", "all 1 3"),
            ("SHOW ERRORS LIMIT 3 OFFSET 1", "errors 1 3"),
            ("SHOW COUNT(*) WARNINGS", "Warnings @@session.warning_count"),
            ("SHOW COUNT(*) ERRORS", "Errors @@session.error_count"),
            ("SELECT @@warning_count", "Warnings @@warning_count"),
            (
                "SELECT @@Session.Error_Count AS n, @@local.warning_count",
                "Errors n, Warnings @@local.warning_count",
            ),
            ("SELECT @@global.warning_count", "-"),
            ("SELECT @@warning_count + 1", "-"),
            ("SELECT @@warning_count FROM t", "-"),
            ("SELECT @@warning_count, @@sql_mode", "-"),
            ("SHOW WARNINGS LIMIT a", "-"),
            ("SHOW WARNINGS LIMIT -1", "-"),
            ("SHOW WARNINGS; SELECT 1", "-"),
            ("SHOW WARNINGS /*! LIMIT 1 */", "-"),
            ("SHOW COUNT(1) WARNINGS", "-"),
            ("SHOW TABLES", "-"),
            ("GET DIAGNOSTICS @n = NUMBER", "-"),
        ] {
            assert_eq!(shown(query), expected, "{query}");
        }
    }

    #[test]
    fn text_that_a_server_may_cut_otherwise_is_no_question() {
        let gbk = Lexing {
            ansi_quotes: false,
            no_backslash_escapes: false,
            ascii_in_characters: true,
            server: ServerFlavor::MariaDb(101_119),
        };
        assert!(diagnostics_question(b"SELECT @@warning_count AS 'w'", gbk).is_some());
        assert!(diagnostics_question(b"SELECT @@warning_count AS '\xC4\\'", gbk).is_none());
    }
}
