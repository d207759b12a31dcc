//! A client's answers to a nonce, and the stored hash of `caching_sha2_password`.
//!
//! No answer proves anything here but the right one, which no fuzzer guesses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_wire::{Nonce, Sha2Hash, Sha2Stage1, double_sha1, verify};

const NONCE: Nonce = *b"abcdefghijklmnopqrst";
const PREFIX_LEN: usize = "$A$005$".len();
const STORED_LEN: usize = PREFIX_LEN + 20 + 43;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(verify(&NONCE, &double_sha1(b"secret"), bytes), None);
    assert_eq!(Sha2Stage1::proven(&NONCE, &Sha2Stage1::of(b"secret").double(), bytes), None);
    if Sha2Hash::parse(bytes).is_some() {
        assert_eq!(bytes.len(), STORED_LEN);
        assert!(bytes.starts_with(b"$A$") && bytes[3..6].iter().all(u8::is_ascii_hexdigit));
        for other in [&bytes[..STORED_LEN - 1], &[bytes, b"."].concat()] {
            assert_eq!(Sha2Hash::parse(other), None);
        }
    }
});
