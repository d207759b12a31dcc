//! The digest text: within its bounds under any options, and a function of nothing but statement and options.
//!
//! Input: four lengths and the flags, then the statement.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_sql::{DigestOptions, digest, digest_text};

fuzz_target!(|input: &[u8]| {
    let [digest_len, query_len, grouping, groups, flags, query @ ..] = input else { return };
    let has = |bit: u8| flags & 1 << bit != 0;
    let options = DigestOptions {
        max_digest_length: length(*digest_len),
        max_query_length: length(*query_len),
        grouping_limit: length(*grouping),
        groups_grouping_limit: length(*groups),
        lowercase: has(0),
        replace_null: has(1),
        no_digits: has(2),
        keep_comment: has(3),
    };
    let text = text(query, &options, b"");
    assert!(text.len() <= options.max_digest_length);
    let looked_at = &query[..query.len().min(options.max_query_length)];
    assert_eq!(self::text(looked_at, &options, b"what was here before"), text);
    assert!(options.keep_comment || text.len() <= looked_at.len());
    assert!(!options.lowercase || !text.iter().any(u8::is_ascii_uppercase));

    let text = self::text(query, &DigestOptions::default(), b"");
    assert!(text.len() <= query.len().min(2048));
    assert_eq!(digest(&text).to_string().len(), 18);
});

/// Small numbers, larger ones, and the largest.
fn length(byte: u8) -> usize {
    match byte {
        0..128 => usize::from(byte),
        255 => usize::MAX,
        _ => usize::from(byte - 127) * 50,
    }
}

fn text(query: &[u8], options: &DigestOptions, before: &[u8]) -> Vec<u8> {
    let mut out = before.to_vec();
    digest_text(query, options, &mut out);
    out
}
