//! MariaDB's `client_ed25519`: a signature over the nonce, with a key made of the password.
//!
//! Source: MariaDB's "Authentication Plugin - ed25519". The key is Ed25519's, but for its seed, which is the password
//! itself, of any length.

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Digest, Sha512, Signature, VerifyingKey};

/// The plugin's name.
pub(crate) const ED25519_PLUGIN: &[u8] = b"client_ed25519";

/// Bytes of its nonce.
pub(crate) const ED25519_NONCE_LEN: usize = 32;

/// The answer to `nonce` of who knows `password`.
pub(crate) fn sign(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let key = key_of(password);
    raw_sign::<Sha512>(&key, nonce, &VerifyingKey::from(&key)).to_bytes().to_vec()
}

/// Whether `answer` to `nonce` is of who knows `password`.
pub(crate) fn is_signed(password: &[u8], nonce: &[u8], answer: &[u8]) -> bool {
    let Ok(signature) = Signature::from_slice(answer) else { return false };
    VerifyingKey::from(&key_of(password)).verify_strict(nonce, &signature).is_ok()
}

fn key_of(password: &[u8]) -> ExpandedSecretKey {
    ExpandedSecretKey::from_bytes(&Sha512::digest(password).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_password_signs_and_a_wrong_one_does_not() {
        let nonce = [7; ED25519_NONCE_LEN];
        let answer = sign(b"secret", &nonce);
        assert_eq!(answer.len(), 64);
        assert!(is_signed(b"secret", &nonce, &answer));
        assert!(!is_signed(b"Secret", &nonce, &answer));
        assert!(!is_signed(b"secret", &[8; ED25519_NONCE_LEN], &answer));
        assert!(!is_signed(b"secret", &nonce, b""));
    }
}
