//! Cutting the text of a packet into statements, at the semicolons that are not inside a literal or a comment.

/// A stretch of SQL text, as a lexer that knows quotes and comments sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    /// White space.
    Space,
    /// A comment: `-- …`, `# …` or `/* … */`.
    Comment,
    /// A quoted literal or name, quotes included.
    Quoted,
    /// Letters, digits, `_`, `$`, `@`, and `.` or `-` between such.
    Word,
    /// Any one other character.
    Mark,
}

/// The kind and the length in bytes of what stands at the start of `text`, which is not empty.
///
/// Quotes are SQLite's: doubled inside, no backslash. A literal or comment without an end reaches to the text's end.
pub(super) fn first_stretch(text: &str) -> (Stretch, usize) {
    let bytes = text.as_bytes();
    match bytes[0] {
        b if b.is_ascii_whitespace() => (Stretch::Space, prefix(bytes, |b| b.is_ascii_whitespace())),
        b'#' => (Stretch::Comment, prefix(bytes, |b| b != b'\n')),
        b'-' if bytes.starts_with(b"--") => (Stretch::Comment, prefix(bytes, |b| b != b'\n')),
        b'/' if bytes.starts_with(b"/*") => {
            (Stretch::Comment, text[2..].find("*/").map_or(text.len(), |end| end + 4))
        }
        quote @ (b'\'' | b'"' | b'`') => (Stretch::Quoted, quoted(bytes, quote)),
        b if is_word(b) => (Stretch::Word, word(bytes)),
        _ => (Stretch::Mark, 1),
    }
}

/// Each statement of `text` without its semicolon, comments at its two ends removed; empty ones are left out, but for a
/// statement that is only comments: it is there as the empty text, since clients expect an answer to it.
pub(crate) fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        let (stretch, len) = first_stretch(&text[at..]);
        if stretch == Stretch::Mark && text.as_bytes()[at] == b';' {
            found.extend(bare(&text[start..at]));
            start = at + len;
        }
        at += len;
    }
    found.extend(bare(&text[start..]));
    found
}

fn bare(statement: &str) -> Option<&str> {
    let statement = statement.trim();
    if statement.is_empty() {
        return None;
    }
    let (mut start, mut end, mut at) = (statement.len(), 0, 0);
    while at < statement.len() {
        let (stretch, len) = first_stretch(&statement[at..]);
        if !matches!(stretch, Stretch::Space | Stretch::Comment) {
            start = start.min(at);
            end = at + len;
        }
        at += len;
    }
    Some(if end == 0 { "" } else { &statement[start..end] })
}

fn prefix(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !belongs(b)).unwrap_or(bytes.len())
}

fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    bytes.len()
}

fn word(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        let joins = matches!(bytes[at], b'.' | b'-') && is_word(bytes[at - 1]);
        let joined = joins && bytes.get(at + 1).is_some_and(|&b| is_word(b));
        if !is_word(bytes[at]) && !joined {
            break;
        }
        at += 1;
    }
    at
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'@') || !b.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_cut_at_live_semicolons_only() {
        for (text, expected) in [
            ("SELECT 1", vec!["SELECT 1"]),
            ("SELECT 1;", vec!["SELECT 1"]),
            (" SELECT 1 ; SELECT 2 ;; ", vec!["SELECT 1", "SELECT 2"]),
            ("INSERT INTO t VALUES ('a;b','it''s;')", vec!["INSERT INTO t VALUES ('a;b','it''s;')"]),
            (r"SELECT '^a\';SELECT 2", vec![r"SELECT '^a\'", "SELECT 2"]),
            ("SELECT \"a;\" , `b;`; SELECT 3", vec!["SELECT \"a;\" , `b;`", "SELECT 3"]),
            ("/* a; b */ SELECT 1 -- x;\n; # y;\nSELECT 2", vec!["SELECT 1", "SELECT 2"]),
            ("/*!40101 SET NAMES utf8 */;", vec![""]),
            ("", vec![]),
            (" ; ", vec![]),
            ("SELECT 'open;", vec!["SELECT 'open;"]),
            ("SELECT 'é;ü'; SELECT é", vec!["SELECT 'é;ü'", "SELECT é"]),
            ("SELECT 5-1;", vec!["SELECT 5-1"]),
        ] {
            assert_eq!(statements(text), expected, "{text}");
        }
    }

    #[test]
    fn words_keep_hyphens_and_dots_that_join() {
        for (text, expected) in [
            ("mysql-max_connections=1", "mysql-max_connections"),
            ("stats.stats_mysql_global ", "stats.stats_mysql_global"),
            ("@@mysql-x,", "@@mysql-x"),
            ("a--b", "a"),
            ("a- b", "a"),
        ] {
            assert_eq!(first_stretch(text), (Stretch::Word, expected.len()), "{text}");
        }
    }
}
