//! The shape of a statement: its text without the values of plain literals, by which what was found out of one statement
//! can be known of the next.
//!
//! Statements of one shape have the same class and, as long as nothing is cut, the same digest text: they differ only in the
//! digits of numbers that stand alone and in the characters of strings in single quotes without escapes. All else is kept
//! byte by byte, spaces and comments' absence included. Where it takes a lexer to tell a literal (comments, backslashes,
//! characters whose second byte looks like ASCII), a statement has no shape, and must be looked at as a whole.
//!
//! Cost: about a nanosecond a byte; no allocation when the output buffer is large enough.

use crate::Lexing;

/// Stand for literals; no statement with a shape has such bytes of its own.
pub(crate) const NUMBER: u8 = 0x01;
pub(crate) const STRING: u8 = 0x02;

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// White space, operators, parentheses.
    Plain,
    /// Part of a word, of a variable's name or of a number with a point.
    Word,
    Digit,
    SingleQuote,
    /// A quote around what is kept.
    OtherQuote,
    /// A comment, if the next byte is the second of this pair.
    Pair(u8),
    /// Nothing with a shape.
    Refused,
}

impl Class {
    const fn of(byte: u8) -> Self {
        match byte {
            b'\t' | b'\n' | b'\r' => Self::Plain,
            0..b' ' | b'#' | b'\\' | 0x7F => Self::Refused,
            b'0'..=b'9' => Self::Digit,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'@' | b'.' | b':' | 0x80.. => Self::Word,
            b'\'' => Self::SingleQuote,
            b'"' | b'`' => Self::OtherQuote,
            b'/' => Self::Pair(b'*'),
            b'*' => Self::Pair(b'/'),
            b'-' => Self::Pair(b'-'),
            _ => Self::Plain,
        }
    }

    /// Whether it is kept whatever stands before and behind it.
    const fn is_kept(self) -> bool {
        matches!(self, Self::Plain | Self::Word)
    }

    /// Whether a literal can end before the first byte of `after`.
    fn ends_literal(after: &[u8]) -> bool {
        after.first().is_none_or(|&next| matches!(class_of(next), Self::Plain | Self::Pair(_)))
    }
}

/// [`Class::of`] each byte.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0_u8;
    loop {
        #[expect(clippy::indexing_slicing, reason = "a byte is below 256, and this runs while compiling")]
        {
            classes[byte as usize] = Class::of(byte);
        }
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

fn class_of(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Refused)
}

/// Leaves the shape of `statement` in `out`; `false` when it has none. What was in `out` is gone.
///
/// Statements that are read differently, by another `lexing`, must not be compared by their shapes.
pub fn shape(statement: &[u8], lexing: Lexing, out: &mut Vec<u8>) -> bool {
    out.clear();
    out.reserve(statement.len());
    !lexing.ascii_in_characters && write(statement, out).is_some()
}

fn write(statement: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // What is kept goes out in runs.
    let (mut run, mut at) = (0, 0);
    // Whether what is before `at` goes on with digits and may be the beginning of a string.
    let mut is_in_word = false;
    loop {
        let rest = statement.get(at..)?;
        let kept = rest.iter().position(|byte| !class_of(*byte).is_kept()).unwrap_or(rest.len());
        if let Some(last) = rest.get(..kept).and_then(<[u8]>::last) {
            is_in_word = class_of(*last) == Class::Word;
            at += kept;
        }
        let Some(&byte) = statement.get(at) else { break };
        match class_of(byte) {
            Class::Plain | Class::Word => at += 1,
            Class::Digit => {
                let end = at + digits_len(statement.get(at..)?);
                if !is_in_word && Class::ends_literal(statement.get(end..)?) {
                    out.extend_from_slice(statement.get(run..at)?);
                    out.push(NUMBER);
                    run = end;
                } else {
                    is_in_word = true;
                }
                at = end;
            }
            // The word is part of the string.
            Class::SingleQuote if is_in_word => return None,
            Class::SingleQuote => {
                let end = end_of_quoted(statement, at)?;
                // A quote or word right behind it may belong to it.
                if !Class::ends_literal(statement.get(end..)?) {
                    return None;
                }
                out.extend_from_slice(statement.get(run..at)?);
                out.push(STRING);
                (at, run) = (end, end);
            }
            Class::OtherQuote => {
                at = end_of_quoted(statement, at)?;
                is_in_word = true;
            }
            Class::Pair(second) if statement.get(at + 1) == Some(&second) => return None,
            Class::Pair(_) => {
                at += 1;
                is_in_word = false;
            }
            Class::Refused => return None,
        }
    }
    out.extend_from_slice(statement.get(run..)?);
    Some(())
}

/// How many digits `rest` begins with.
pub(crate) fn digits_len(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Behind the quote that closes the one at `at`; `None` when there is none, or an escape before it.
pub(crate) fn end_of_quoted(statement: &[u8], at: usize) -> Option<usize> {
    let (quote, rest) = statement.get(at..)?.split_first()?;
    let inside = rest.iter().position(|byte| byte == quote || *byte == b'\\')?;
    (rest.get(inside) == Some(quote)).then_some(at + 1 + inside + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::{DigestOptions, ServerFlavor, classify, digest_text};

    const LEXING: Lexing = Lexing::of(ServerFlavor::MariaDb(101_100));

    fn shape_of(statement: &str) -> Option<String> {
        let mut out = Vec::new();
        let has_one = shape(statement.as_bytes(), LEXING, &mut out);
        let shown = |byte: u8| match byte {
            NUMBER => '?',
            STRING => '$',
            byte => char::from(byte),
        };
        has_one.then(|| out.into_iter().map(shown).collect())
    }

    #[test]
    fn plain_literals_are_taken_out_and_nothing_else() {
        for (statement, expected) in [
            ("SELECT c FROM t1 WHERE id=42", "SELECT c FROM t1 WHERE id=?"),
            ("select 1 ,'a b' , -7", "select ? ,$ , -?"),
            ("SELECT a.1, 1.5, .5, 5., 1e3, 0x1f, t2.c3", "SELECT a.1, 1.5, .5, 5., 1e3, 0x1f, t2.c3"),
            ("SELECT `7`, \"7\", @7, @@v7, :7, a7", "SELECT `7`, \"7\", @7, @@v7, :7, a7"),
            ("SELECT '', ';', '\"', '`'", "SELECT $, $, $, $"),
            ("SELECT 7/8, 7*8, 7-8", "SELECT ?/?, ?*?, ?-?"),
        ] {
            assert_eq!(shape_of(statement).as_deref(), Some(expected), "{statement}");
        }
    }

    #[test]
    fn what_takes_a_lexer_has_no_shape() {
        for statement in [
            "SELECT 1 -- it's",
            "SELECT 1--1",
            "SELECT 1 # it's",
            "SELECT /*! 1 */",
            "SELECT '\\''",
            "SELECT 'it''s'",
            "SELECT _utf8'a'",
            "SELECT x'00'",
            "SELECT 'a'x",
            "SELECT 'a",
            "SELECT `a",
            "SELECT \"a\\\"",
            "SELECT \u{1}",
            "SELECT \\N",
        ] {
            assert_eq!(shape_of(statement), None, "{statement}");
        }
        let gbk = Lexing { ascii_in_characters: true, ..LEXING };
        assert!(!shape(b"SELECT 1", gbk, &mut Vec::new()));
    }

    /// Another statement of the same shape.
    fn with_other_literals(statement: &[u8], mut number: impl FnMut() -> String, string: &str) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(shape(statement, LEXING, &mut out));
        let mut other = Vec::new();
        for byte in out {
            match byte {
                NUMBER => other.extend_from_slice(number().as_bytes()),
                STRING => other.extend_from_slice(format!("'{string}'").as_bytes()),
                byte => other.push(byte),
            }
        }
        other
    }

    /// What is remembered of a statement that reads or writes rows, and no more.
    fn remembered(statement: &[u8]) -> (String, Vec<u8>) {
        let found = classify(statement, LEXING);
        let mut text = Vec::new();
        digest_text(statement, &DigestOptions::default(), &mut text);
        (format!("{:?} {:?} {:?}", found.kind, found.cache, found.effects), text)
    }

    /// The digest's vectors that have a shape.
    static VECTORS: LazyLock<Vec<String>> = LazyLock::new(|| {
        include_str!("../tests/vectors/digests.jsonl")
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a JSON object"))
            .filter_map(|row| row.get("query")?.as_str().map(str::to_owned))
            .filter(|query| shape_of(query).is_some())
            .collect()
    });

    #[test]
    fn many_real_statements_have_a_shape() {
        assert!(VECTORS.len() > 300, "{}", VECTORS.len());
    }

    /// Checks the statement beside one of the same shape, with these literals.
    fn check_of_one_shape(statement: &[u8], numbers: &[String], string: &str) -> Result<(), TestCaseError> {
        let mut numbers = numbers.iter().cycle().cloned();
        let other = with_other_literals(statement, || numbers.next().unwrap_or_default(), string);
        let mut shapes = (Vec::new(), Vec::new());
        prop_assert!(shape(statement, LEXING, &mut shapes.0) && shape(&other, LEXING, &mut shapes.1));
        prop_assert_eq!(shapes.0, shapes.1);
        if matches!(
            classify(statement, LEXING).kind,
            crate::Kind::Select
                | crate::Kind::Insert
                | crate::Kind::Update
                | crate::Kind::Delete
                | crate::Kind::Replace
        ) {
            prop_assert_eq!(remembered(statement), remembered(&other), "{}", String::from_utf8_lossy(&other));
        }
        Ok(())
    }

    /// Literals that the property below once found.
    #[test]
    fn characters_of_four_bytes_and_controls_change_no_class_and_no_digest() {
        for statement in VECTORS.iter() {
            check_of_one_shape(statement.as_bytes(), &["0".to_owned()], "(\u{1}Aa(\u{10000}a\u{10000} ")
                .expect("one class, one digest");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        #[test]
        fn statements_of_one_shape_are_of_one_class_and_digest(
            vector in any::<prop::sample::Index>(),
            numbers in prop::collection::vec("[0-9]{1,20}", 1..5),
            string in "[^'\\\\\u{0}]{0,40}",
        ) {
            check_of_one_shape(vector.get(&VECTORS).as_bytes(), &numbers, &string)?;
        }

        #[test]
        fn any_bytes_have_a_shape_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut out = Vec::new();
            if shape(&bytes, LEXING, &mut out) {
                prop_assert!(out.len() <= bytes.len());
            }
        }
    }
}
