//! `caching_sha2_password`: scramble and check of the fast path, and the stored hash.
//!
//! The client proves that it knows `SHA256(password)`; the server needs `SHA256(SHA256(password))` for that, which it has
//! only once it has seen the password (*caching*). The stored form, `$A$005$` with salt and digest, can only be compared with
//! the password itself (*full authentication*).
//!
//! Source: "Caching SHA-2 Pluggable Authentication" and "Caching_sha2_password" of MySQL's protocol documentation;
//! the stored form is `crypt_genhash_impl` (SHA-crypt by Ulrich Drepper, with a salt of 20 bytes).

use sha2::{Digest, Sha256};

use crate::Nonce;

/// The plugin's name.
pub const SHA2_PASSWORD_PLUGIN: &[u8] = b"caching_sha2_password";

/// Bytes of a SHA-256.
pub const SHA256_LEN: usize = 32;

/// `SHA256(password)`: as good as the password where this plugin is used. Never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sha2Stage1([u8; SHA256_LEN]);

impl std::fmt::Debug for Sha2Stage1 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sha2Stage1(…)")
    }
}

impl Sha2Stage1 {
    /// That of `password`.
    #[must_use]
    pub fn of(password: &[u8]) -> Self {
        Self(Sha256::digest(password).into())
    }

    /// `SHA256(SHA256(password))`: what the fast path is checked against.
    #[must_use]
    pub fn double(&self) -> [u8; SHA256_LEN] {
        Sha256::digest(self.0).into()
    }

    /// The answer to `nonce` on the fast path.
    #[must_use]
    pub fn answer(&self, nonce: &Nonce) -> [u8; SHA256_LEN] {
        xor(self.0, mask(&self.double(), nonce))
    }

    /// What the client knows, if `answer` to `nonce` proves that it knows the password behind `double`.
    #[must_use]
    pub fn proven(nonce: &Nonce, double: &[u8; SHA256_LEN], answer: &[u8]) -> Option<Self> {
        let answer: [u8; SHA256_LEN] = answer.try_into().ok()?;
        let stage1 = Self(xor(answer, mask(double, nonce)));
        (stage1.double() == *double).then_some(stage1)
    }
}

/// `SHA256(SHA256(SHA256(password)), nonce)`.
fn mask(double: &[u8; SHA256_LEN], nonce: &Nonce) -> [u8; SHA256_LEN] {
    Sha256::new().chain_update(double).chain_update(nonce).finalize().into()
}

fn xor(mut a: [u8; SHA256_LEN], b: [u8; SHA256_LEN]) -> [u8; SHA256_LEN] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
    a
}

/// A stored hash, `$A$005$` + 20 bytes of salt + 43 characters. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Sha2Hash {
    rounds: u32,
    salt: [u8; SALT_LEN],
    digest: [u8; ENCODED_LEN],
}

const SALT_LEN: usize = 20;
const ENCODED_LEN: usize = 43;

impl std::fmt::Debug for Sha2Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sha2Hash(…)")
    }
}

impl Sha2Hash {
    /// Reads the stored form, as `mysql.user.authentication_string` has it. The salt may hold any byte but NUL and `$`.
    #[must_use]
    pub fn parse(stored: &[u8]) -> Option<Self> {
        let rest = stored.strip_prefix(b"$A$")?;
        let (thousands, rest) = rest.split_at_checked(3)?;
        let rest = rest.strip_prefix(b"$")?;
        let (salt, digest) = rest.split_at_checked(SALT_LEN)?;
        // MySQL writes the thousands of rounds in hexadecimal. What reads them here would also take a sign.
        let is_hexadecimal = thousands.iter().all(u8::is_ascii_hexdigit);
        let thousands = u32::from_str_radix(std::str::from_utf8(thousands).ok()?, 16).ok()?;
        let is_sane = (1..=100).contains(&thousands) && digest.iter().all(|byte| ALPHABET.contains(byte));
        (is_hexadecimal && is_sane).then_some(Self {
            rounds: thousands * 1000,
            salt: salt.try_into().ok()?,
            digest: digest.try_into().ok()?,
        })
    }

    /// Whether it is that of `password`. Cost: some milliseconds, on purpose.
    #[must_use]
    pub fn is_of(&self, password: &[u8]) -> bool {
        let found = encode(&sha_crypt(password, &self.salt, self.rounds));
        // No early end: how much of it is right must not show in the time.
        found.iter().zip(self.digest).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }
}

/// SHA-crypt's digest with SHA-256, of `rounds` rounds.
///
/// Source: "Unix crypt using SHA-256 and SHA-512", Ulrich Drepper, steps 1 to 21.
fn sha_crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; SHA256_LEN] {
    let alternate = Sha256::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = Sha256::new().chain_update(password).chain_update(salt);
    first.update(repeated(&alternate, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        if bits & 1 == 1 {
            first.update(alternate);
        } else {
            first.update(password);
        }
        bits >>= 1;
    }
    let mut digest: [u8; SHA256_LEN] = first.finalize().into();

    let mut of_password = Sha256::new();
    (0..password.len()).for_each(|_| of_password.update(password));
    let password_bytes = repeated(&of_password.finalize(), password.len());
    let mut of_salt = Sha256::new();
    let salt_rounds = 16 + usize::from(digest.first().copied().unwrap_or_default());
    (0..salt_rounds).for_each(|_| of_salt.update(salt));
    let salt_bytes = repeated(&of_salt.finalize(), salt.len());

    for round in 0..rounds {
        let mut next = Sha256::new();
        if round % 2 == 1 {
            next.update(&password_bytes);
        } else {
            next.update(digest);
        }
        if round % 3 != 0 {
            next.update(&salt_bytes);
        }
        if round % 7 != 0 {
            next.update(&password_bytes);
        }
        if round % 2 == 1 {
            next.update(digest);
        } else {
            next.update(&password_bytes);
        }
        digest = next.finalize().into();
    }
    digest
}

/// `bytes` again and again, cut to `len`.
fn repeated(bytes: &[u8], len: usize) -> Vec<u8> {
    bytes.iter().copied().cycle().take(len).collect()
}

/// SHA-crypt's own order and alphabet.
const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn encode(digest: &[u8; SHA256_LEN]) -> [u8; ENCODED_LEN] {
    let at = |place: usize| u32::from(digest.get(place).copied().unwrap_or_default());
    let mut out = [0; ENCODED_LEN];
    let mut places = out.iter_mut();
    let mut put = |mut word: u32, characters: usize| {
        for place in places.by_ref().take(characters) {
            *place = ALPHABET.get((word & 63) as usize).copied().unwrap_or_default();
            word >>= 6;
        }
    };
    let (mut a, mut b, mut c) = (0, 10, 20);
    for _ in 0..10 {
        put(at(a) << 16 | at(b) << 8 | at(c), 4);
        (a, b, c) = (c + 1, a + 1, b + 1);
    }
    put(at(31) << 8 | at(30), 3);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: Nonce = *b"abcdefghijklmnopqrst";

    #[test]
    fn the_right_answer_proves_and_a_wrong_one_does_not() {
        let stage1 = Sha2Stage1::of(b"secret");
        let answer = stage1.answer(&NONCE);
        assert_eq!(Sha2Stage1::proven(&NONCE, &stage1.double(), &answer), Some(stage1));
        let other = Sha2Stage1::of(b"Secret").answer(&NONCE);
        for wrong in [&other[..], &answer[..31], b""] {
            assert_eq!(Sha2Stage1::proven(&NONCE, &stage1.double(), wrong), None);
        }
        assert_eq!(Sha2Stage1::proven(b"bbcdefghijklmnopqrst", &stage1.double(), &answer), None);
    }

    #[test]
    fn sha_crypt_gives_what_glibc_gives() {
        // glibc's crypt(3), by way of Python's module; salts of other lengths than MySQL's.
        for (salt, rounds, password, expected) in [
            ("saltstring", 5000, "Hello world!", "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
            ("saltstringsaltst", 10000, "Hello world!", "3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"),
            (
                "x",
                1400,
                "a very much longer text to encrypt.  This one even stretches over more than one line.",
                "JsLThNSzIQMw0Cq.JZyMQmivIXPF3GfS8TQ/2LF6mTD",
            ),
            ("sixteen.bytes.ok", 5000, "", "OjhHNFG1qHxOLVNpon5DIj2apu9W7RGfh7idN.Q7IK2"),
            ("abc", 5000, "pppppppppppppppppppppppppppppppp", "9HV3deLAbpUrNjr/zvV3KrnTdm7GzGjQDogYrLoGJY8"),
        ] {
            let found = encode(&sha_crypt(password.as_bytes(), salt.as_bytes(), rounds));
            assert_eq!(String::from_utf8_lossy(&found), expected, "{password}");
        }
    }

    #[test]
    fn stored_hash_is_that_of_its_password_only() {
        let salt = b"\x01\x7fab%cdefghijklmnopq";
        let digest = encode(&sha_crypt(b"secret", salt, 5000));
        let stored = [b"$A$005$".as_slice(), salt, &digest].concat();
        let hash = Sha2Hash::parse(&stored).unwrap();
        assert!(hash.is_of(b"secret") && !hash.is_of(b"secreu") && !hash.is_of(b""));
        for cut in 0..stored.len() {
            assert_eq!(Sha2Hash::parse(&stored[..cut]), None, "{cut}");
        }
        let signed = [b"$A$+05$".as_slice(), salt, &digest].concat();
        assert_eq!(Sha2Hash::parse(&signed), None);
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!("{:?} {:?}", Sha2Stage1::of(b"x"), Sha2Hash::parse(b"$A$005$"));
        assert_eq!(shown, "Sha2Stage1(…) None");
    }
}
