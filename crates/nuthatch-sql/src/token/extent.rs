//! How far a token reaches, by its first bytes. Each function looks at the bytes once, from the front.

#[inline]
pub(crate) fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !belongs(byte)).unwrap_or(bytes.len())
}

#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d)
}

#[inline]
pub(crate) fn begins_word(byte: u8) -> bool {
    is_word(byte) && !byte.is_ascii_digit()
}

/// The byte may stand in a keyword or a name without quotes.
#[inline]
pub(crate) fn is_word(byte: u8) -> bool {
    WORD_BYTES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// By byte: a look-up is cheaper than five comparisons, and most bytes of a statement are asked.
const WORD_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut left: &mut [bool] = &mut table;
    let mut byte = 0_u8;
    while let [entry, rest @ ..] = left {
        *entry = matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..);
        left = rest;
        byte = byte.wrapping_add(1);
    }
    table
};

/// The length of the exponent that `rest` begins with, or 0.
pub(crate) fn exponent_len(rest: &[u8]) -> usize {
    let (mark, digits) = match rest {
        [b'e' | b'E', b'+' | b'-', digits @ ..] => (2, digits),
        [b'e' | b'E', digits @ ..] => (1, digits),
        _ => return 0,
    };
    match run(digits, |byte| byte.is_ascii_digit()) {
        0 => 0,
        len => mark + len,
    }
}

/// The length of the quoted text that `rest` begins with, quotes included.
pub(crate) fn quoted_len(rest: &[u8], quote: u8, has_escapes: bool) -> Option<usize> {
    let mut len = 1;
    loop {
        let inner = rest.get(len..)?;
        len += inner.iter().position(|&byte| byte == quote || (has_escapes && byte == b'\\'))?;
        match rest.get(len..)? {
            [b'\\', _, ..] if has_escapes && quote != b'\\' => len += 2,
            [first, second, ..] if *first == quote && first == second => len += 2,
            [first, ..] if *first == quote => return Some(len + 1),
            _ => return None,
        }
    }
}

/// `--` begins a comment only before white space, a control byte or the end.
pub(crate) fn begins_line_comment(rest: &[u8]) -> bool {
    matches!(rest, [b'-', b'-', after @ ..] if after.first().is_none_or(|byte| *byte <= b' ' || *byte == 0x7f))
}

pub(crate) fn line_len(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1)
}

/// The length of the comment that `rest` begins with; comments in it are skipped `nesting` levels deep.
pub(crate) fn comment_len(rest: &[u8], nesting: u32) -> Option<usize> {
    let mut len = 2;
    loop {
        match rest.get(len..)? {
            [b'*', b'/', ..] => return Some(len + 2),
            inner @ [b'/', b'*', ..] if nesting > 0 => len += comment_len(inner, nesting - 1)?,
            [] => return None,
            _ => len += 1,
        }
    }
}
