//! First pass of the digest: comments go, literals become `?`, any run of white space becomes one space.
//!
//! Back quotes mean nothing here, as in ProxySQL: a number in a back-quoted name is replaced too. The content of an
//! executable comment (`/*! … */`) is read as text. A `-- ` or `#` comment that no newline ends loses its mark and keeps
//! its text, which is what ProxySQL 2.7.2 does (its issue 4918).

use super::DigestOptions;

/// Appends the stripped text of `query` to `out`.
pub(super) fn strip(query: &[u8], options: &DigestOptions, out: &mut Vec<u8>) {
    let mut rest = query;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                push_space(out);
                tail
            }
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => word(rest, options, out),
            b'\'' | b'"' => {
                out.push(b'?');
                after_string(tail, byte)
            }
            b'/' | b'-' | b'#' | b'*' => after_comment(rest, options, out).unwrap_or_else(|| {
                out.push(byte);
                tail
            }),
            _ => {
                out.push(byte);
                tail
            }
        };
    }
}

fn push_space(out: &mut Vec<u8>) {
    if out.last().is_some_and(|&last| last != b' ') {
        out.push(b' ');
    }
}

/// Copies or replaces the word or number at the start of `rest`; gives what follows it.
fn word<'a>(rest: &'a [u8], options: &DigestOptions, out: &mut Vec<u8>) -> &'a [u8] {
    if rest.first().is_some_and(u8::is_ascii_digit)
        && let Some(after) = after_number(rest)
    {
        out.push(b'?');
        return after;
    }
    let len = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
    let (word, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
    if options.replace_null && word.eq_ignore_ascii_case(b"NULL") && !matches!(out.last(), Some(b'`' | b'.'))
    {
        out.push(b'?');
    } else if options.no_digits {
        push_without_digits(word, out);
    } else {
        out.extend_from_slice(word);
    }
    after
}

fn push_without_digits(word: &[u8], out: &mut Vec<u8>) {
    for chunk in word.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        if chunk.first().is_some_and(u8::is_ascii_digit) {
            out.push(b'?');
        } else {
            out.extend_from_slice(chunk);
        }
    }
}

/// What follows the number at the start of `rest`; none if it is a name that begins with a digit.
fn after_number(rest: &[u8]) -> Option<&[u8]> {
    if let Some((b'0', [b'x' | b'X', hex @ ..])) = rest.split_first() {
        return after_digits(hex, u8::is_ascii_hexdigit);
    }
    if let Some((b'0', [b'b', bits @ ..])) = rest.split_first() {
        return after_digits(bits, |bit| matches!(bit, b'0' | b'1'));
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

fn skip(rest: &[u8], is_skipped: impl Fn(&u8) -> bool) -> &[u8] {
    let len = rest.iter().position(|byte| !is_skipped(byte)).unwrap_or(rest.len());
    rest.get(len..).unwrap_or_default()
}

fn ends_word(rest: &[u8]) -> bool {
    !rest.first().is_some_and(|&byte| is_word(byte))
}

fn is_word(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..)
}

/// What follows the string whose opening `quote` is already taken: all of it, if the string is not closed.
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

/// What follows the comment that `rest` begins with, or the mark of one whose text stays; none if it begins with none.
fn after_comment<'a>(rest: &'a [u8], options: &DigestOptions, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    match rest {
        [b'/', b'*', b'!', text @ ..] => {
            push_space(out);
            Some(skip(text, u8::is_ascii_digit))
        }
        [b'/', b'*', text @ ..] => Some(after_block_comment(rest, text, options, out)),
        // The end of an executable comment: no statement has these two bytes elsewhere outside a string.
        [b'*', b'/', after @ ..] => {
            push_space(out);
            Some(after)
        }
        [b'#', text @ ..] => Some(after_line_comment(text, out)),
        [b'-', b'-', text @ ..] if text.first().is_none_or(u8::is_ascii_whitespace) => {
            Some(after_line_comment(text, out))
        }
        _ => None,
    }
}

fn after_block_comment<'a>(
    rest: &'a [u8],
    text: &'a [u8],
    options: &DigestOptions,
    out: &mut Vec<u8>,
) -> &'a [u8] {
    push_space(out);
    let len = text.windows(2).position(|pair| pair == b"*/").map_or(text.len(), |end| end + 2);
    let (comment, after) = rest.split_at_checked(len + 2).unwrap_or((rest, &[]));
    if options.keep_comment {
        out.extend_from_slice(comment);
        push_space(out);
    }
    after
}

fn after_line_comment<'a>(text: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    push_space(out);
    text.iter().position(|&byte| byte == b'\n').and_then(|end| text.get(end + 1..)).unwrap_or(text)
}
