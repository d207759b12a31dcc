//! A pattern of a rule: a regular expression on bytes that matches anywhere in the text, as PCRE would.
//!
//! The linear-time engine takes what it can. Look-around, back-references and the like go to a backtracking engine,
//! whose search is bounded: a search that does not end within its bound counts as no match.
//! Where the engines read a pattern otherwise than PCRE does, it is put right here: `$` also matches before a last
//! newline, `\<` and `\>` are plain characters.

use std::borrow::Cow;

use regex::bytes;

/// Steps back that one search may take: some milliseconds, for which a worker serves nobody else.
const BACKTRACKS_MAX: usize = 100_000;

/// A compiled pattern.
pub(super) struct Pattern {
    engine: Engine,
    /// The pattern has a `$`, which may stand before a last newline.
    has_dollar: bool,
}

enum Engine {
    Linear(bytes::Regex),
    Backtracking(fancy_regex::Regex),
}

/// What the regex engine has against a pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl Pattern {
    /// Compiles `text`. Letters are compared byte by byte, so `caseless` folds ASCII letters only.
    pub(super) fn compile(text: &str, caseless: bool) -> Result<Self, PatternError> {
        let has_dollar = text.contains('$');
        let text = plain_angles(text);
        Ok(Self { engine: Engine::compile(&text, caseless)?, has_dollar })
    }

    /// Whether the pattern occurs in `text`.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        if self.engine.is_match(text) {
            return true;
        }
        match text.strip_suffix(b"\n") {
            Some(line) if self.has_dollar => self.engine.is_match(line),
            _ => false,
        }
    }
}

impl Engine {
    fn compile(text: &str, caseless: bool) -> Result<Self, PatternError> {
        let linear =
            |unicode| bytes::RegexBuilder::new(text).case_insensitive(caseless).unicode(unicode).build();
        // A class such as `\p{L}` or `[é]` needs characters instead of bytes.
        if let Ok(regex) = linear(false).or_else(|_| linear(true)) {
            return Ok(Self::Linear(regex));
        }
        fancy_regex::RegexBuilder::new(text)
            .case_insensitive(caseless)
            .bytes_mode(fancy_regex::BytesMode::Ascii)
            .backtrack_limit(BACKTRACKS_MAX)
            .build()
            .map(Self::Backtracking)
            .map_err(|error| PatternError(one_line(&error.to_string())))
    }

    fn is_match(&self, text: &[u8]) -> bool {
        match self {
            Self::Linear(regex) => regex.is_match(text),
            Self::Backtracking(regex) => regex.is_match(text).unwrap_or(false),
        }
    }
}

/// `\<` and `\>` without their backslash: the engines would take them for edges of words.
fn plain_angles(text: &str) -> Cow<'_, str> {
    if !text.contains("\\<") && !text.contains("\\>") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, chars.clone().next()) {
            ('\\', Some('<' | '>')) => {}
            ('\\', Some(escaped)) => {
                plain.extend([char, escaped]);
                chars.next();
            }
            _ => plain.push(char),
        }
    }
    Cow::Owned(plain)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_where_pcre_does() {
        for (pattern, text, caseless, engine_match) in [
            // Anywhere, unless anchored.
            ("FROM t", &b"SELECT a FROM t WHERE b"[..], false, true),
            ("^FROM t", b"SELECT a FROM t", false, false),
            ("^SELECT", b"select 1", true, true),
            ("^SELECT", b"select 1", false, false),
            ("(?i)^SELECT", b"select 1", false, true),
            // `.` stops at a newline, (?s) takes it along.
            ("a.b", b"a\nb", false, false),
            ("(?s)a.b", b"a\nb", false, true),
            // `$` stands at the end and before a last newline, not before two.
            ("UPDATE$", b"SELECT 1 FOR UPDATE", false, true),
            ("UPDATE$", b"SELECT 1 FOR UPDATE\n", false, true),
            ("UPDATE$", b"SELECT 1 FOR UPDATE\n\n", false, false),
            ("UPDATE\\z", b"SELECT 1 FOR UPDATE\n", false, false),
            ("^a$", b"a\nb", false, false),
            ("(?m)^a$", b"a\nb", false, true),
            // Bytes that are no UTF-8, and letters beyond ASCII.
            ("a.b", b"a\xffb", false, true),
            ("caf\u{e9}", "un café".as_bytes(), false, true),
            ("[\u{e9}\u{e8}]", "café".as_bytes(), false, true),
            // Words and escapes.
            ("\\bid\\b", b"WHERE id=1", false, true),
            ("\\bid\\b", b"WHERE idx=1", false, false),
            ("a \\< 5 AND b \\> 6", b"a < 5 AND b > 6", false, true),
            ("a\\\\<", b"a\\<", false, true),
            ("\\`t\\`\\.\\'x\\'\\/\\-", b"`t`.'x'/-", false, true),
            // What only the backtracking engine takes.
            ("^SELECT (?!.*FOR UPDATE)", b"SELECT a FROM t", false, true),
            ("^SELECT (?!.*FOR UPDATE)", b"SELECT a FROM t FOR UPDATE", false, false),
            ("(\\w+) \\1", b"the the", false, true),
            ("(\\w+) \\1$", b"the the\n", false, true),
            ("(?<=x)y", b"\xff xy", false, true),
        ] {
            let compiled = Pattern::compile(pattern, caseless).expect(pattern);
            let shown = String::from_utf8_lossy(text);
            assert_eq!(compiled.is_match(text), engine_match, "{pattern} on {shown:?}");
        }
    }

    #[test]
    fn endless_search_counts_as_no_match() {
        let text = [&[b'a'; 40][..], b"c"].concat();
        let compiled =
            Pattern::compile("^(?:(a|aa)+\\1?)+b", false).expect("a pattern with a back-reference");
        let Engine::Backtracking(regex) = &compiled.engine else { panic!("the linear engine took it") };
        assert!(regex.is_match(&text[..]).is_err(), "the search must reach its bound");
        assert!(!compiled.is_match(&text));
    }

    #[test]
    fn what_no_engine_takes_is_an_error_on_one_line() {
        for pattern in ["(", "[z-a]", "(?<n", "\\"] {
            let error = Pattern::compile(pattern, true).err().expect(pattern);
            assert!(!error.to_string().contains('\n') && !error.to_string().is_empty(), "{pattern}: {error}");
        }
    }
}
