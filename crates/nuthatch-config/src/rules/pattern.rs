//! A pattern of a rule: a regular expression on bytes that matches anywhere in the text.
//!
//! The linear-time engine takes what it can. Look-around, back-references and the like go to a backtracking engine,
//! whose search is bounded: a search that would not end counts as no match.

use regex::bytes;

/// A compiled pattern.
pub(super) enum Pattern {
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
        let linear =
            |unicode| bytes::RegexBuilder::new(text).case_insensitive(caseless).unicode(unicode).build();
        // A class such as `\p{L}` or `[é]` needs characters instead of bytes.
        if let Ok(regex) = linear(false).or_else(|_| linear(true)) {
            return Ok(Self::Linear(regex));
        }
        fancy_regex::RegexBuilder::new(text)
            .case_insensitive(caseless)
            .bytes_mode(fancy_regex::BytesMode::Ascii)
            .build()
            .map(Self::Backtracking)
            .map_err(|error| PatternError(one_line(&error.to_string())))
    }

    /// Whether the pattern occurs in `text`.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        match self {
            Self::Linear(regex) => regex.is_match(text),
            Self::Backtracking(regex) => regex.is_match(text).unwrap_or(false),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
