//! What `mysql_users.password` may hold: nothing, clear text, a native hash, or something for a later plugin.
//!
//! The row in SQLite keeps what the admin typed; this is only how the data plane understands it.

use std::fmt;

use crate::secret::Secret;

/// A user's password as the data plane can use it. `Debug` shows the kind only.
#[derive(Clone, PartialEq, Eq)]
pub enum Password {
    /// No password: NULL or the empty string.
    Empty,
    /// Clear text: can be checked for clients and sent to backends under any plugin.
    Clear(Secret),
    /// `*` and 40 hexadecimal digits: SHA1(SHA1(password)), as `mysql_native_password` stores it.
    NativeHash([u8; 20]),
    /// `$A$005$`, salt and digest, as `caching_sha2_password` stores it.
    Sha2Hash(Box<[u8]>),
    /// Stored, but of no use: bytes that are not UTF-8.
    Other,
}

/// Bytes of `caching_sha2_password`'s stored form: `$A$005$`, 20 of salt, 43 of digest.
const SHA2_HASH_LEN: usize = 70;

impl Password {
    /// Understands the bytes of the column. Every input has a meaning; there is no error.
    pub fn parse(column: &[u8]) -> Self {
        if column.is_empty() {
            return Self::Empty;
        }
        if let Some(hash) = parse_native_hash(column) {
            return Self::NativeHash(hash);
        }
        if column.starts_with(b"$A$") && column.len() == SHA2_HASH_LEN {
            return Self::Sha2Hash(column.into());
        }
        std::str::from_utf8(column).map_or(Self::Other, |text| Self::Clear(Secret::new(text)))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Empty => "Empty",
            Self::Clear(_) => "Clear(..)",
            Self::NativeHash(_) => "NativeHash(..)",
            Self::Sha2Hash(_) => "Sha2Hash(..)",
            Self::Other => "Other",
        })
    }
}

fn parse_native_hash(column: &[u8]) -> Option<[u8; 20]> {
    let digits = column.strip_prefix(b"*").filter(|digits| digits.len() == 40)?;
    let mut hash = [0; 20];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
    }
    Some(hash)
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_is_understood_by_its_form() {
        let hash = Password::NativeHash([
            0x2a, 0x03, 0x28, 0x43, 0x5e, 0x0a, 0x1f, 0x3b, 0x5c, 0x7d, 0x9e, 0xff, 0, 1, 2, 3, 4, 5, 6, 7,
        ]);
        for (column, expected) in [
            (&b""[..], Password::Empty),
            (b"secret", Password::Clear(Secret::new("secret"))),
            (b"*2A0328435E0A1F3B5C7D9EFF0001020304050607", hash.clone()),
            (b"*2a0328435e0a1f3b5c7d9eff0001020304050607", hash),
            (b"*2A0328", Password::Clear(Secret::new("*2A0328"))),
            (
                b"*2A0328435E0A1F3B5C7D9EFF000102030405060G",
                Password::Clear(Secret::new("*2A0328435E0A1F3B5C7D9EFF000102030405060G")),
            ),
            (b"$A$005$abc", Password::Clear(Secret::new("$A$005$abc"))),
            (
                b"$A$005$12345678901234567890abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq",
                Password::Sha2Hash(
                    (*b"$A$005$12345678901234567890abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq").into(),
                ),
            ),
            (b"\xff\xfe", Password::Other),
        ] {
            assert_eq!(Password::parse(column), expected, "{}", String::from_utf8_lossy(column));
        }
    }

    #[test]
    fn debug_shows_no_password() {
        for column in [&b"hunter2"[..], b"*2A0328435E0A1F3B5C7D9EFF0001020304050607"] {
            let shown = format!("{:?}", Password::parse(column));
            assert!(!shown.contains("hunter2") && !shown.contains("2A"), "{shown}");
        }
    }
}
