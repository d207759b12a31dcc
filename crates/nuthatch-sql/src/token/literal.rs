//! What a literal stands for, and how to write it.

use super::Lexing;

/// What a string in quotes stands for; none where a backslash may be a part of a character.
pub(crate) fn unescaped(quoted: &[u8], lexing: Lexing) -> Option<Vec<u8>> {
    let (quote, rest) = quoted.split_first()?;
    let (_, inside) = rest.split_last()?;
    if inside.contains(&b'\\') && lexing.ascii_in_characters {
        return None;
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if !lexing.no_backslash_escapes => match bytes.next()? {
                b'0' => out.push(0),
                b'b' => out.push(8),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b't' => out.push(b'\t'),
                b'Z' => out.push(26),
                // These keep their backslash, for LIKE.
                wildcard @ (b'%' | b'_') => out.extend([b'\\', wildcard]),
                other => out.push(other),
            },
            byte if byte == *quote => {
                bytes.next();
                out.push(byte);
            }
            byte => out.push(byte),
        }
    }
    Some(out)
}

/// Appends `text` as a string that stands for it under `lexing`.
pub(crate) fn write_string(text: &[u8], lexing: Lexing, out: &mut Vec<u8>) {
    out.push(b'\'');
    for &byte in text {
        if byte == b'\'' || (byte == b'\\' && !lexing.no_backslash_escapes) {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(b'\'');
}
