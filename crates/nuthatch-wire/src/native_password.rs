//! `mysql_native_password`: the scramble, its check, and the half of a password that a login reveals.
//!
//! Source: "Native Authentication". Client: `SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password)))`.

use sha1::{Digest, Sha1};

use crate::Nonce;

/// `SHA1(SHA1(password))`: what `*HEX40` in a password column stands for. Enough to check a login.
pub type DoubleSha1 = [u8; 20];

/// `SHA1(password)`: enough to log in to a server in the user's name. A secret like the password itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stage1(pub [u8; 20]);

impl std::fmt::Debug for Stage1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stage1(…)")
    }
}

impl Stage1 {
    /// The half of `password`.
    #[must_use]
    pub fn of(password: &[u8]) -> Self {
        Self(Sha1::digest(password).into())
    }

    /// Whether this is the half of the password that is stored as `double`.
    #[must_use]
    pub fn is_of(&self, double: &DoubleSha1) -> bool {
        DoubleSha1::from(Sha1::digest(self.0)) == *double
    }
}

/// What a password column would hold for `password`.
#[must_use]
pub fn double_sha1(password: &[u8]) -> DoubleSha1 {
    Sha1::digest(Stage1::of(password).0).into()
}

/// The login answer for a clear `password`; empty for an empty password.
#[must_use]
pub fn scramble(nonce: &Nonce, password: &[u8]) -> Vec<u8> {
    if password.is_empty() { Vec::new() } else { scramble_stage1(nonce, Stage1::of(password)).to_vec() }
}

/// The login answer for a password of which only the half is known.
#[must_use]
pub fn scramble_stage1(nonce: &Nonce, stage1: Stage1) -> [u8; 20] {
    xor(stage1.0, mask(nonce, &Sha1::digest(stage1.0).into()))
}

/// Checks a client's `answer`; when it is right, returns the half of the password that it reveals.
#[must_use]
pub fn verify(nonce: &Nonce, wanted: &DoubleSha1, answer: &[u8]) -> Option<Stage1> {
    let answer: [u8; 20] = answer.try_into().ok()?;
    let stage1 = xor(answer, mask(nonce, wanted));
    let found: DoubleSha1 = Sha1::digest(stage1).into();
    (found == *wanted).then_some(Stage1(stage1))
}

fn mask(nonce: &Nonce, double: &DoubleSha1) -> [u8; 20] {
    Sha1::new().chain_update(nonce).chain_update(double).finalize().into()
}

fn xor(mut a: [u8; 20], b: [u8; 20]) -> [u8; 20] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: Nonce = *b"01234567890123456789";

    #[test]
    fn the_right_password_is_accepted_and_yields_its_half() {
        let answer = scramble(&NONCE, b"secret");
        assert_eq!(verify(&NONCE, &double_sha1(b"secret"), &answer), Some(Stage1::of(b"secret")));
        assert_eq!(scramble_stage1(&NONCE, Stage1::of(b"secret")).to_vec(), answer);
    }

    #[test]
    fn a_wrong_password_or_a_cut_answer_is_refused() {
        let answer = scramble(&NONCE, b"secret");
        assert_eq!(verify(&NONCE, &double_sha1(b"other"), &answer), None);
        assert_eq!(verify(&NONCE, &double_sha1(b"secret"), &answer[1..]), None);
        assert_eq!(verify(&NONCE, &double_sha1(b"secret"), b""), None);
    }

    #[test]
    fn the_stored_form_is_the_server_s() {
        // MariaDB [(none)]> SELECT PASSWORD('secret');
        let hex: String = double_sha1(b"secret").iter().map(|b| format!("{b:02X}")).collect();
        assert_eq!(hex, "14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
    }

    #[test]
    fn debug_hides_the_half_of_a_password() {
        assert_eq!(format!("{:?}", Stage1::of(b"secret")), "Stage1(…)");
    }
}
