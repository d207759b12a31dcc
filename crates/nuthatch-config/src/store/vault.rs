//! Secrets as they stand outside of memory: sealed by AES-256-GCM under one key.
//!
//! A sealed value is a text: `$nuthatch$1$`, then as hexadecimal digits the nonce (12 bytes, random for each value), what was
//! encrypted, and the tag (16). Encrypted is the value behind one byte that says whether it was a text or a blob. The tag also
//! covers which column the value stands in, so that a password cannot be passed off as a variable that is shown.
//!
//! What is a secret, and where sealing happens, is decided in `sealing`; where the key comes from, in `key_file`.

mod key_file;

use std::fmt::{self, Write};

use aws_lc_rs::{
    aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey},
    rand,
};
use rusqlite::types::{Value, ValueRef};

pub(super) use self::key_file::{KeyFile, KeyFileError};

/// What every sealed value begins with. The number moves with the form.
const PREFIX: &str = "$nuthatch$1$";

const KEY_LEN: usize = 32;

const TEXT: u8 = b't';
const BLOB: u8 = b'b';

/// The key, ready for use. `Debug` shows nothing of it.
pub(super) struct Vault(RandomizedNonceKey);

/// Why a value could not be sealed or opened. Nothing of the value is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum VaultError {
    #[error("the system has no random bytes")]
    NoRandomness,
    #[error("it was sealed with another key, or is damaged")]
    Lost,
}

impl fmt::Debug for Vault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Vault(..)")
    }
}

impl Vault {
    fn new(key: &[u8; KEY_LEN]) -> Self {
        Self(RandomizedNonceKey::new(&AES_256_GCM, key).expect("the key has the algorithm's length"))
    }

    /// One whose key is gone with it, for layers without a disk.
    pub(super) fn for_this_run() -> Result<Self, VaultError> {
        Ok(Self::new(&random_key()?))
    }

    /// The sealed form of a value of `column`. A number counts as its text; NULL must not come.
    pub(super) fn seal(&self, column: &str, value: ValueRef<'_>) -> Result<String, VaultError> {
        let (form, bytes) = match value {
            ValueRef::Blob(bytes) => (BLOB, bytes.to_vec()),
            other => (TEXT, bytes_of(other)),
        };
        let mut room = [&[form], bytes.as_slice()].concat();
        let sealed = self.0.seal_in_place_append_tag(Aad::from(column.as_bytes()), &mut room);
        let nonce = sealed.map_err(|_unspecified| VaultError::NoRandomness)?;
        let mut text = String::with_capacity(PREFIX.len() + 2 * (NONCE_LEN + room.len()));
        text.push_str(PREFIX);
        for byte in nonce.as_ref().iter().chain(&room) {
            write!(text, "{byte:02x}").expect("a String takes what is written");
        }
        Ok(text)
    }

    /// What was sealed.
    pub(super) fn open(&self, column: &str, sealed: &[u8]) -> Result<Value, VaultError> {
        let mut bytes = parse(sealed).ok_or(VaultError::Lost)?;
        let (nonce, room) = bytes.split_first_chunk_mut::<NONCE_LEN>().ok_or(VaultError::Lost)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::from(column.as_bytes()), room);
        match opened.map_err(|_unspecified| VaultError::Lost)? {
            [TEXT, text @ ..] => {
                String::from_utf8(text.to_vec()).map(Value::Text).map_err(|_not_utf8| VaultError::Lost)
            }
            [BLOB, bytes @ ..] => Ok(Value::Blob(bytes.to_vec())),
            _ => Err(VaultError::Lost),
        }
    }
}

/// Whether the value has the form of a sealed one, whatever the key.
pub(super) fn is_sealed(value: &[u8]) -> bool {
    value.starts_with(PREFIX.as_bytes())
}

/// A value's bytes; a number's text.
pub(super) fn bytes_of(value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Null => Vec::new(),
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => number.to_string().into_bytes(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
    }
}

fn random_key() -> Result<[u8; KEY_LEN], VaultError> {
    let mut key = [0; KEY_LEN];
    rand::fill(&mut key).map_err(|_unspecified| VaultError::NoRandomness)?;
    Ok(key)
}

/// Nonce, ciphertext and tag.
fn parse(sealed: &[u8]) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(sealed.strip_prefix(PREFIX.as_bytes())?).ok()?;
    let is_whole = digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok());
    is_whole.then(|| bytes.collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_as_it_was_and_nowhere_else() {
        let (vault, other) = (Vault::new(&[7; KEY_LEN]), Vault::new(&[8; KEY_LEN]));
        for value in
            [ValueRef::Text(b"hunter2"), ValueRef::Text("wört".as_bytes()), ValueRef::Blob(b"\xff\0")]
        {
            let sealed = vault.seal("t.c", value).unwrap();
            assert!(is_sealed(sealed.as_bytes()) && !sealed.contains("hunter2"));
            assert_ne!(vault.seal("t.c", value).unwrap(), sealed, "a nonce is never used twice");
            assert_eq!(vault.open("t.c", sealed.as_bytes()), Ok(Value::try_from(value).unwrap()));
            assert_eq!(vault.open("t.other", sealed.as_bytes()), Err(VaultError::Lost));
            assert_eq!(other.open("t.c", sealed.as_bytes()), Err(VaultError::Lost));
        }
        assert_eq!(format!("{vault:?}"), "Vault(..)");
    }

    #[test]
    fn what_is_cut_or_changed_never_opens() {
        let vault = Vault::new(&[7; KEY_LEN]);
        let sealed = vault.seal("t.c", ValueRef::Text(b"hunter2")).unwrap();
        for end in 0..sealed.len() {
            assert_eq!(vault.open("t.c", &sealed.as_bytes()[..end]), Err(VaultError::Lost), "{end}");
        }
        for place in PREFIX.len()..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
            assert_eq!(vault.open("t.c", &bytes), Err(VaultError::Lost), "{place}");
        }
        assert_eq!(vault.open("t.c", "$nuthatch$1$ää".as_bytes()), Err(VaultError::Lost));
    }
}
