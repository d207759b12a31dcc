//! The walk over the statement: comments go, literals become `?`, any run of white space becomes one space.
//!
//! Back quotes mean nothing here, as in ProxySQL: a number in a back-quoted name is replaced too. The content of an
//! executable comment (`/*! … */`) is read as text. A `-- ` or `#` comment that no newline ends loses its mark and keeps
//! its text, which is what ProxySQL 2.7.2 does (its issue 4918).

use super::options::DigestOptions;
use super::spacing::Tight;
use crate::token::extent::is_word;

/// Appends the stripped, tightened text of `query` to `out`; gives the number of `?` in it.
pub(super) fn strip(query: &[u8], options: &DigestOptions, out: &mut Vec<u8>) -> usize {
    let mut walk = Walk { query, start: 0, options, tight: Tight::new(query, out) };
    while let Some(&byte) = query.get(walk.start) {
        walk.step(byte);
    }
    walk.tight.finish()
}

struct Walk<'a> {
    query: &'a [u8],
    start: usize,
    options: &'a DigestOptions,
    tight: Tight<'a>,
}

impl<'a> Walk<'a> {
    #[inline]
    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                self.tight.space(self.start);
                self.start += 1;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => self.word(byte),
            b'0'..=b'9' => self.number(byte),
            b'\'' | b'"' => {
                self.tight.literal();
                self.go_on_with(after_string(self.rest(1), byte));
            }
            b'/' | b'-' | b'#' | b'*' if self.comment() => {}
            _ => {
                self.tight.symbol(byte, self.start);
                self.start += 1;
            }
        }
    }

    fn rest(&self, skipped: usize) -> &'a [u8] {
        self.query.get(self.start + skipped..).unwrap_or_default()
    }

    fn go_on_with(&mut self, rest: &[u8]) {
        self.start = self.query.len() - rest.len();
    }

    fn number(&mut self, first: u8) {
        match after_number(self.rest(0)) {
            Some(after) => {
                self.tight.literal();
                self.go_on_with(after);
            }
            None => self.word(first),
        }
    }

    #[inline]
    fn word(&mut self, first: u8) {
        let rest = self.rest(0);
        let len = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
        if self.options.replace_null && self.is_null(len) {
            self.tight.literal();
        } else if self.options.no_digits {
            self.word_without_digits(len);
        } else {
            let end = self.start + len;
            let last = self.query.get(end - 1).copied().unwrap_or(first);
            self.tight.word(self.start..end, first, last);
        }
        self.start += len;
    }

    fn is_null(&self, len: usize) -> bool {
        let word = self.rest(0).get(..len).unwrap_or_default();
        let before = self.start.checked_sub(1).and_then(|before| self.query.get(before));
        word.eq_ignore_ascii_case(b"NULL") && !matches!(before, Some(b'`' | b'.'))
    }

    fn word_without_digits(&mut self, len: usize) {
        let mut start = self.start;
        let word = self.rest(0).get(..len).unwrap_or_default();
        for part in word.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
            if let (Some(&first), Some(&last)) = (part.first(), part.last()) {
                if first.is_ascii_digit() {
                    self.tight.literal();
                } else {
                    self.tight.word(start..start + part.len(), first, last);
                }
            }
            start += part.len();
        }
    }

    /// Takes the comment that begins here, or the mark of one whose text stays; false if none begins here.
    fn comment(&mut self) -> bool {
        let rest = self.rest(0);
        let after = match rest {
            [b'/', b'*', b'!', text @ ..] => skip(text, u8::is_ascii_digit),
            [b'/', b'*', text @ ..] => return self.block_comment(text),
            // The end of an executable comment: no statement has these two bytes elsewhere outside a string.
            [b'*', b'/', after @ ..] => after,
            [b'#', text @ ..] => after_line(text),
            [b'-', b'-', text @ ..] if text.first().is_none_or(u8::is_ascii_whitespace) => after_line(text),
            _ => return false,
        };
        self.tight.space(self.start);
        self.go_on_with(after);
        true
    }

    fn block_comment(&mut self, text: &[u8]) -> bool {
        self.tight.space(self.start);
        let len = text.windows(2).position(|pair| pair == b"*/").map_or(text.len(), |end| end + 2);
        let end = self.start + 2 + len;
        if self.options.keep_comment {
            self.tight.comment(self.start..end);
        }
        self.start = end;
        true
    }
}

/// What follows the line, or its text if no newline ends it.
fn after_line(text: &[u8]) -> &[u8] {
    text.iter().position(|&byte| byte == b'\n').and_then(|end| text.get(end + 1..)).unwrap_or(text)
}

/// What follows the number at the start of `rest`; none if it is a name that begins with a digit.
fn after_number(rest: &[u8]) -> Option<&[u8]> {
    if let [b'0', mark @ (b'x' | b'X' | b'b'), digits @ ..] = rest {
        return if *mark == b'b' {
            after_digits(digits, |bit| matches!(bit, b'0' | b'1'))
        } else {
            after_digits(digits, u8::is_ascii_hexdigit)
        };
    }
    let integer = skip(rest, u8::is_ascii_digit);
    let fraction = integer.strip_prefix(b".").map(|after| skip(after, u8::is_ascii_digit));
    fraction.and_then(after_exponent).or_else(|| after_exponent(integer))
}

/// What follows the optional exponent of a number; none if the number goes on as a word.
fn after_exponent(rest: &[u8]) -> Option<&[u8]> {
    if ends_word(rest) {
        return Some(rest);
    }
    match rest {
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => {
            after_digits(digits, u8::is_ascii_digit)
        }
        _ => None,
    }
}

/// What follows one or more digits that end the word.
fn after_digits(rest: &[u8], is_digit: impl Fn(&u8) -> bool) -> Option<&[u8]> {
    let after = skip(rest, is_digit);
    (after.len() < rest.len() && ends_word(after)).then_some(after)
}

#[inline]
fn skip(rest: &[u8], is_skipped: impl Fn(&u8) -> bool) -> &[u8] {
    let len = rest.iter().position(|byte| !is_skipped(byte)).unwrap_or(rest.len());
    rest.get(len..).unwrap_or_default()
}

fn ends_word(rest: &[u8]) -> bool {
    !rest.first().is_some_and(|&byte| is_word(byte))
}

/// What follows the string whose opening `quote` is already taken: nothing, if the string is not closed.
fn after_string(mut rest: &[u8], quote: u8) -> &[u8] {
    loop {
        rest = skip(rest, |&byte| byte != quote && byte != b'\\');
        rest = match rest {
            [b'\\', _, after @ ..] => after,
            [first, second, after @ ..] if first == second => after,
            [_, after @ ..] => return after,
            [] => return rest,
        };
    }
}
