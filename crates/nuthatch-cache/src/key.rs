//! What was asked: user, schema, session environment, protocol and statement bytes.
//!
//! A [`Key`] borrows its parts and is hashed once, when it is made. Equal parts give equal hashes within one process;
//! a hash is never stored outside of it. The hash finds a place in the index and proves nothing: entries compare the parts.
//! A session asks thousands of times under the same two names: their hashes are the session's to keep.

use std::fmt;

use rapidhash::v3::{DEFAULT_RAPID_SECRETS, rapidhash_v3_inline, rapidhash_v3_nano_inline};

use crate::mix::mix;

/// Odd constants from the fractional part of the golden ratio and of the square root of three: any odd numbers with
/// as many ones as zeros would do.
const MIX_USER: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_SCHEMA: u64 = 0xBB67_AE85_84CA_A73B;

/// The row format that the answer has: the same statement has other bytes in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// `COM_QUERY`: values as text.
    Text,
    /// `COM_STMT_EXECUTE`: binary rows; the statement bytes then include the bound parameters.
    Binary,
}

/// The hash of a user's or schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameHash(u64);

impl NameHash {
    /// That of `name`. Cost: some 25 instructions for a short one.
    #[inline]
    pub fn of(name: &[u8]) -> Self {
        Self(rapidhash_v3_nano_inline::<true, false>(name, &DEFAULT_RAPID_SECRETS))
    }
}

/// A user's or schema's name, with its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    bytes: &'a [u8],
    hash: NameHash,
}

impl<'a> Name<'a> {
    /// The name whose hash is not known yet.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, hash: NameHash::of(bytes) }
    }

    /// The name whose hash is known. Under another one than its own no entry is found.
    #[inline]
    pub fn hashed(bytes: &'a [u8], hash: NameHash) -> Self {
        debug_assert_eq!(hash, NameHash::of(bytes), "a name has one hash");
        Self { bytes, hash }
    }
}

/// A question, borrowed from where its parts stand.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    pub(crate) user: &'a [u8],
    pub(crate) schema: &'a [u8],
    pub(crate) statement: &'a [u8],
    pub(crate) environment: u32,
    pub(crate) protocol: Protocol,
    hash: u64,
}

impl<'a> Key<'a> {
    /// The key of `statement` as `user` asks it in `schema`.
    ///
    /// `environment` is the number under which the caller interned everything else that can change the answer's bytes
    /// (character sets, SQL mode, time zone, capabilities).
    ///
    /// Cost: one hash over the statement, two short ones; no allocation.
    #[inline]
    pub fn new(
        user: &'a [u8],
        schema: &'a [u8],
        environment: u32,
        protocol: Protocol,
        statement: &'a [u8],
    ) -> Self {
        Self::named(Name::new(user), Name::new(schema), environment, protocol, statement)
    }

    /// The same of names whose hashes are known. Cost: one hash over the statement.
    #[inline]
    pub fn named(
        user: Name<'a>,
        schema: Name<'a>,
        environment: u32,
        protocol: Protocol,
        statement: &'a [u8],
    ) -> Self {
        let hash = hash_parts(user.hash, schema.hash, environment, protocol, statement);
        Self { user: user.bytes, schema: schema.bytes, statement, environment, protocol, hash }
    }

    /// The same question under another hash, for whoever brings a hash of their own (tests make collisions so).
    /// Look-ups find an entry only under the hash that it was filled with.
    pub fn with_hash(self, hash: u64) -> Self {
        Self { hash, ..self }
    }

    /// The hash of all parts. It differs between versions of this program: do not store it.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

/// Says how long the parts are, not what they are: a statement can hold anybody's secrets.
impl fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("hash", &self.hash)
            .field("environment", &self.environment)
            .field("protocol", &self.protocol)
            .field("statement_bytes", &self.statement.len())
            .finish_non_exhaustive()
    }
}

/// Of any bytes, with no parts. It differs between versions of this program.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    rapidhash_v3_inline::<true, false, false>(bytes, &DEFAULT_RAPID_SECRETS)
}

#[inline]
fn hash_parts(
    user: NameHash,
    schema: NameHash,
    environment: u32,
    protocol: Protocol,
    statement: &[u8],
) -> u64 {
    let statement = rapidhash_v3_inline::<true, false, false>(statement, &DEFAULT_RAPID_SECRETS);
    let session = mix(user.0 ^ MIX_USER, schema.0.rotate_left(32) ^ MIX_SCHEMA);
    let number = u64::from(environment) << 1 | u64::from(protocol == Protocol::Binary);
    mix(statement ^ MIX_SCHEMA, session.wrapping_add(number) ^ MIX_USER)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts<'a> = (&'a [u8], &'a [u8], u32, Protocol, &'a [u8]);

    const BASE: Parts<'_> = (b"app", b"shop", 3, Protocol::Text, b"SELECT 1");

    fn hash((user, schema, environment, protocol, statement): Parts<'_>) -> u64 {
        Key::new(user, schema, environment, protocol, statement).hash()
    }

    #[test]
    fn every_part_changes_the_hash() {
        let others: [Parts<'_>; 6] = [
            (b"apq", b"shop", 3, Protocol::Text, b"SELECT 1"),
            (b"app", b"shoq", 3, Protocol::Text, b"SELECT 1"),
            (b"app", b"shop", 4, Protocol::Text, b"SELECT 1"),
            (b"app", b"shop", 3, Protocol::Binary, b"SELECT 1"),
            (b"app", b"shop", 3, Protocol::Text, b"SELECT 2"),
            (b"shop", b"app", 3, Protocol::Text, b"SELECT 1"),
        ];
        for other in others {
            assert_ne!(hash(BASE), hash(other), "{other:?}");
        }
        assert_eq!(hash(BASE), hash(BASE));
    }

    #[test]
    fn bytes_do_not_move_between_parts() {
        assert_ne!(
            hash((b"ab", b"c", 0, Protocol::Text, b"d")),
            hash((b"a", b"bc", 0, Protocol::Text, b"d"))
        );
        assert_ne!(
            hash((b"a", b"b", 0, Protocol::Text, b"cd")),
            hash((b"a", b"bc", 0, Protocol::Text, b"d"))
        );
    }

    #[test]
    fn hashes_of_neighbours_spread_over_low_middle_and_high_bits() {
        let hashes: Vec<u64> = (0..4096)
            .map(|id| hash((b"app", b"shop", 0, Protocol::Text, format!("SELECT {id}").as_bytes())))
            .collect();
        for shift in [0, 32, 57] {
            let mut buckets = [0u32; 64];
            for hash in &hashes {
                buckets[usize::try_from(hash >> shift & 63).unwrap()] += 1;
            }
            assert!(buckets.iter().all(|count| (24..=110).contains(count)), "{shift}: {buckets:?}");
        }
    }

    #[test]
    fn debug_does_not_show_the_statement() {
        let shown = format!("{:?}", Key::new(b"app", b"shop", 0, Protocol::Text, b"SELECT 'hunter2'"));
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
