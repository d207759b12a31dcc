//! Digest text and digest against what ProxySQL 2.7.2 gave for 800 statements, and SpookyHash against its vectors.

use nuthatch_sql::{DigestOptions, digest, digest_text, spooky};

struct Vector {
    query: String,
    digest_text: String,
    digest: String,
}

fn vectors() -> Vec<Vector> {
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().expect("a string field").to_owned();
    include_str!("vectors/digests.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object a line"))
        .map(|row: serde_json::Value| Vector {
            query: field(&row, "query"),
            digest_text: field(&row, "digest_text"),
            digest: field(&row, "digest"),
        })
        .collect()
}

/// A sentence for each vector that `text_of` does not meet.
fn mismatches(text_of: impl Fn(&[u8]) -> Vec<u8>) -> Vec<String> {
    let mut found = Vec::new();
    for (number, vector) in vectors().iter().enumerate() {
        let text = text_of(vector.query.as_bytes());
        let printed = digest(&text).to_string();
        if text != vector.digest_text.as_bytes() || printed != vector.digest {
            found.push(format!(
                "vector {number}\n  query    {}\n  expected {} {}\n  actual   {printed} {}",
                vector.query,
                vector.digest,
                vector.digest_text,
                String::from_utf8_lossy(&text),
            ));
        }
    }
    found
}

#[test]
fn every_statement_has_proxysqls_digest_text_and_digest() {
    let found = mismatches(|query| {
        let mut text = Vec::new();
        digest_text(query, &DigestOptions::default(), &mut text);
        text
    });
    assert!(found.is_empty(), "{} of {} differ, first:\n{}", found.len(), vectors().len(), found[0]);
    assert_eq!(vectors().len(), 800);
}

#[test]
fn the_comparison_notices_a_wrong_text() {
    assert_eq!(mismatches(|_| b"SELECT ?".to_vec()).len(), 779);
}

#[test]
fn spooky_hash_meets_every_vector() {
    let mut bytes = Bytes { state: 12345 };
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let mut lines = 0;
    for line in include_str!("vectors/spooky.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [len, seed, h64, h1, h2, h32] = fields[..] else { panic!("six fields: {line}") };
        let (len, seed): (usize, u64) = (len.parse().unwrap(), seed.parse().unwrap());
        while messages.len() <= len {
            messages.push(bytes.by_ref().take(messages.len()).collect());
        }
        let message = &messages[len];
        let (first, second) = spooky::hash128(message, seed, seed);
        let low = spooky::hash32(message, u32::try_from(seed & 0xffff_ffff).unwrap());
        assert_eq!(format!("{:016x}", spooky::hash64(message, seed)), h64, "hash64 of {len} bytes");
        assert_eq!(
            (format!("{first:016x}"), format!("{second:016x}")),
            (h1.into(), h2.into()),
            "{len} bytes"
        );
        assert_eq!(format!("{low:08x}"), h32, "hash32 of {len} bytes, seed {seed}");
        lines += 1;
    }
    assert!(lines > 100);
}

/// The bytes of which the messages of `spooky.txt` are made.
struct Bytes {
    state: u32,
}

impl Iterator for Bytes {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.state = self.state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        Some(self.state.to_le_bytes()[2])
    }
}
