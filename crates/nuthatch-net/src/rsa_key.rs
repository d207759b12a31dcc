//! The RSA key with which a client without TLS sends its password for `caching_sha2_password`, and the same towards a server.
//!
//! Source: "Caching_sha2_password information"; the padding is OAEP with SHA-1, the password is closed by NUL and XORed
//! with the nonce before it is encrypted.

use std::sync::OnceLock;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};
use nuthatch_wire::Nonce;

const PUBLIC_KEY: &str = "PUBLIC KEY";

/// The process's key, made when the first client needs it.
static KEY: OnceLock<Option<RsaKey>> = OnceLock::new();

/// A key pair.
pub(crate) struct RsaKey {
    private: OaepPrivateDecryptingKey,
    public_pem: Vec<u8>,
}

impl RsaKey {
    /// The process's key. Cost: some hundred milliseconds once, then nothing. `None` when no key can be made.
    pub(crate) fn own() -> Option<&'static Self> {
        KEY.get_or_init(Self::generate).as_ref()
    }

    fn generate() -> Option<Self> {
        let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).ok()?;
        let der: PublicKeyX509Der<'_> = private.public_key().as_der().ok()?;
        let public_pem = pem::encode(&pem::Pem::new(PUBLIC_KEY, der.as_ref())).into_bytes();
        Some(Self { private: OaepPrivateDecryptingKey::new(private).ok()?, public_pem })
    }

    /// The public half, as it goes over the wire.
    pub(crate) fn public_pem(&self) -> &[u8] {
        &self.public_pem
    }

    /// The password that a client encrypted.
    pub(crate) fn decrypt(&self, ciphertext: &[u8], nonce: &Nonce) -> Option<Vec<u8>> {
        let mut room = vec![0; self.private.min_output_size()];
        let plain = self.private.decrypt(&OAEP_SHA1_MGF1SHA1, ciphertext, &mut room, None).ok()?;
        let mut password = masked(plain, nonce);
        (password.pop() == Some(0)).then_some(password)
    }
}

/// `password` as a server with that public key wants it.
pub(crate) fn encrypt_for(public_pem: &[u8], password: &[u8], nonce: &Nonce) -> Option<Vec<u8>> {
    let section = pem::parse(public_pem).ok().filter(|section| section.tag() == PUBLIC_KEY)?;
    let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(section.contents()).ok()?).ok()?;
    let plain = masked(&[password, &[0]].concat(), nonce);
    let mut room = vec![0; key.ciphertext_size()];
    let ciphertext = key.encrypt(&OAEP_SHA1_MGF1SHA1, &plain, &mut room, None).ok()?;
    Some(ciphertext.to_vec())
}

fn masked(bytes: &[u8], nonce: &Nonce) -> Vec<u8> {
    bytes.iter().zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_for_the_key_comes_back_and_nothing_else_does() {
        let key = RsaKey::own().unwrap();
        let nonce = *b"abcdefghijklmnopqrst";
        let long = "p".repeat(100);
        for password in ["", "secret", "with \0 inside", &long] {
            let ciphertext = encrypt_for(key.public_pem(), password.as_bytes(), &nonce).unwrap();
            assert_eq!(key.decrypt(&ciphertext, &nonce).as_deref(), Some(password.as_bytes()));
            assert_ne!(
                key.decrypt(&ciphertext, b"bbcdefghijklmnopqrst").as_deref(),
                Some(password.as_bytes())
            );
        }
        assert_eq!(key.decrypt(b"short", &nonce), None);
        assert_eq!(key.decrypt(&[7; 256], &nonce), None);
        assert_eq!(encrypt_for(b"no key", b"x", &nonce), None);
    }
}
