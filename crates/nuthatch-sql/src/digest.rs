//! The digest of a statement: its text without literals, and the hash of that text, both as ProxySQL 2.7 gives them.
//!
//! Bit-identical on every statement whose digest ProxySQL is known to give (`tests/digest_vectors.rs`), so rules and
//! statistics written for ProxySQL keep their meaning. It loses information (it is cut, it takes `"x"` for a string under
//! every SQL mode, it folds lists), so it serves rules and statistics only, never correctness.
//!
//! One walk over the statement takes comments and literals out (`strip`) and writes without needless spaces and signs
//! (`spacing`); a second pass, only where there are enough literals, folds lists in place (`grouping`). Cost: about 2 ns a
//! byte; no allocation when the output buffer is large enough.

mod grouping;
mod options;
mod spacing;
mod strip;

use std::fmt;

use crate::spooky;

pub use options::DigestOptions;

/// A statement's digest: SpookyHash V2 of its digest text. Prints as `0x` and 16 upper-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u64);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016X}", self.0)
    }
}

/// Leaves in `out` the digest text of `query`, at most `options.max_digest_length` bytes; what was in `out` is gone.
///
/// Cost: no allocation when `out` can hold as many bytes as the statement has.
pub fn digest_text(query: &[u8], options: &DigestOptions, out: &mut Vec<u8>) {
    out.clear();
    let looked_at = query.get(..options.max_query_length).unwrap_or(query);
    let literals = strip::strip(looked_at, options, out);
    grouping::fold(out, literals, options);
    trim_end(out);
    out.truncate(options.max_digest_length);
    if options.lowercase {
        out.make_ascii_lowercase();
    }
}

/// The digest of a digest text.
#[must_use]
pub fn digest(text: &[u8]) -> Digest {
    Digest(spooky::hash64(text, 0))
}

/// Takes the spaces and semicolons off the end.
fn trim_end(text: &mut Vec<u8>) {
    let kept = text.iter().rposition(|byte| !matches!(byte, b' ' | b';')).map_or(0, |last| last + 1);
    text.truncate(kept);
}

#[cfg(test)]
mod tests;
