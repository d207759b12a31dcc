//! The cache against a naive model: a map that forgets nothing.
//!
//! The cache may forget at any time; it may never give back anything but what was last put in for exactly that key.
//! Keys are few and their hashes fewer, so that they collide all the time.

use std::collections::HashMap;

use nuthatch_cache::{Cache, Fill, Judgement, Key, Limits, Protocol};
use proptest::prelude::*;

const KEYS: usize = 24;
const TTL_MS: u64 = 50;

#[derive(Debug, Clone)]
enum Step {
    Insert { key: usize, packets: usize },
    InsertTooLarge { key: usize },
    Get { key: usize },
    Remove { key: usize },
    RemoveExpired { key: usize },
    Invalidate { key: usize },
    InvalidateReplaced { key: usize },
    Renew { key: usize },
    Expire { budget: usize },
    Defragment,
    Flush,
    SetLimits { bytes: u64, entry_bytes_max: u64 },
    Wait { ms: u64 },
}

/// What was last put in, and when it ends.
#[derive(Debug, Clone, PartialEq)]
struct Last {
    packets: Vec<u8>,
    expires_ms: u64,
}

/// What is run side by side.
struct Pair {
    cache: Cache<u64>,
    model: HashMap<usize, Last>,
    hashes: u64,
    now_ms: u64,
    epoch: u64,
    fills: u8,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

    #[test]
    fn get_gives_only_what_was_last_inserted_for_that_key(
        steps in prop::collection::vec(step(), 1..200),
        hashes in prop::sample::select(vec![1u64, 3, 8, u64::MAX]),
    ) {
        let mut pair = Pair::new(hashes);
        for step in steps {
            pair.run(step)?;
        }
    }
}

#[test]
fn nothing_is_forgotten_without_need() {
    let mut pair = Pair::new(u64::MAX);
    for key in 0..KEYS {
        pair.insert(key, 100);
    }
    for key in 0..KEYS {
        let found = pair.cache.get(&pair.key(key)).expect("all fit");
        assert_eq!(found.all_packets(), pair.model[&key].packets);
    }
}

#[test]
fn keys_of_one_hash_do_not_stand_for_one_another() {
    let cache = Cache::new(Limits { bytes: 1 << 20, entry_bytes_max: 1 << 16 });
    let key = |statement| Key::new(b"app", b"shop", 0, Protocol::Text, statement).with_hash(42);
    let packets = |statement| cache.get(&key(statement)).map(|entry| entry.all_packets());
    cache.insert(&fill(key(b"first"), b"1", 0, TTL_MS)).unwrap();
    assert_eq!(packets(b"second"), None);
    cache.insert(&fill(key(b"second"), b"2", 0, TTL_MS)).unwrap();
    assert_eq!((packets(b"first"), packets(b"second")), (Some(b"1".to_vec()), Some(b"2".to_vec())));
    assert!(cache.remove(&key(b"first")) && !cache.remove(&key(b"first")));
    assert!(!cache.remove_expired(&key(b"first"), TTL_MS) && packets(b"second").is_some());
    let usage = cache.usage();
    assert_eq!((usage.entries, usage.replaced, usage.evicted), (1, 0, 0));
}

impl Pair {
    fn new(hashes: u64) -> Self {
        let cache = Cache::new(Limits { bytes: 64 << 10, entry_bytes_max: 4 << 10 });
        Self { cache, model: HashMap::new(), hashes, now_ms: 1_000, epoch: 0, fills: 0 }
    }

    fn run(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Insert { key, packets } => self.insert(key, packets),
            Step::InsertTooLarge { key } => {
                let packets = vec![0; 1 << 20];
                prop_assert!(self.cache.insert(&fill(self.key(key), &packets, 0, u64::MAX)).is_err());
            }
            Step::Get { key } => self.check(key)?,
            Step::Remove { key } => {
                self.cache.remove(&self.key(key));
                self.model.remove(&key);
                prop_assert!(self.cache.get(&self.key(key)).is_none());
            }
            Step::RemoveExpired { key } => {
                let was_removed = self.cache.remove_expired(&self.key(key), self.now_ms);
                let was_due = self.model.get(&key).is_some_and(|last| last.expires_ms <= self.now_ms);
                prop_assert!(was_due || !was_removed);
            }
            Step::Invalidate { key } => {
                if let Some(found) = self.cache.get(&self.key(key)) {
                    prop_assert!(self.cache.remove_invalidated(&self.key(key), &found));
                    prop_assert!(!self.cache.remove_invalidated(&self.key(key), &found));
                    self.model.remove(&key);
                }
            }
            Step::InvalidateReplaced { key } => {
                if let Some(found) = self.cache.get(&self.key(key)) {
                    self.cache.flush();
                    self.model.clear();
                    self.insert(key, 100);
                    prop_assert!(!self.cache.remove_invalidated(&self.key(key), &found));
                }
            }
            Step::Renew { key } => self.renew(key),
            Step::Expire { budget } => {
                let sweep = self.cache.expire(self.now_ms, budget);
                // Those of one hash are looked at together.
                prop_assert!(sweep.examined < budget + KEYS);
            }
            Step::Defragment => self.cache.defragment(10),
            Step::Flush => {
                let entries = self.cache.usage().entries;
                prop_assert_eq!(self.cache.flush(), entries);
                self.model.clear();
                prop_assert_eq!(self.cache.usage().bytes, 0);
            }
            Step::SetLimits { bytes, entry_bytes_max } => {
                self.cache.set_limits(Limits { bytes, entry_bytes_max });
            }
            Step::Wait { ms } => self.now_ms += ms,
        }
        let usage = self.cache.usage();
        prop_assert!(usage.bytes <= usage.limit_bytes, "{:?}", usage);
        prop_assert_eq!(
            usage.sets,
            usage.entries + usage.replaced + usage.evicted + usage.expired + usage.invalidated + usage.purged
        );
        Ok(())
    }

    fn check(&self, key: usize) -> Result<(), TestCaseError> {
        let Some(found) = self.cache.get(&self.key(key)) else { return Ok(()) };
        let last = self.model.get(&key);
        let given = Last { packets: found.all_packets(), expires_ms: found.expires_ms() };
        prop_assert_eq!(Some(&given), last);
        let is_due = self.now_ms >= given.expires_ms;
        prop_assert_eq!(found.judge(self.now_ms, 0) == Judgement::Expired, is_due);
        Ok(())
    }

    /// What is refused leaves the older answer in place, as its caller is told.
    fn insert(&mut self, key: usize, packets: usize) {
        self.fills = self.fills.wrapping_add(1);
        let mut packets = vec![self.fills; packets];
        let head_bytes = packets.len() / 3;
        packets[..head_bytes].fill(self.fills % 2);
        let expires_ms = self.now_ms + TTL_MS;
        if self.cache.insert(&fill(self.key(key), &packets, self.epoch, expires_ms)).is_ok() {
            self.model.insert(key, Last { packets, expires_ms });
        }
    }

    fn renew(&mut self, key: usize) {
        let Some(found) = self.cache.get(&self.key(key)) else { return };
        self.epoch += 1;
        let expires_ms = found.expires_ms() + 1;
        let Some(renewed) = found.renewed(self.epoch, expires_ms, 9) else { return };
        let renewed = Fill { key: self.key(key), ..renewed };
        if self.cache.insert(&renewed).is_ok() {
            self.model.get_mut(&key).expect("it was found").expires_ms = expires_ms;
        }
    }

    /// Keys that differ in each of their parts, on a few hashes.
    fn key(&self, key: usize) -> Key<'static> {
        const PARTS: [&[u8]; 4] = [b"", b"a", b"aa", b"ab"];
        let protocol = if key >= 12 { Protocol::Binary } else { Protocol::Text };
        let key_of = Key::new(PARTS[key % 4], PARTS[key / 4 % 3], 0, protocol, b"aaa");
        key_of.with_hash(key_of.hash() % self.hashes)
    }
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS;
    prop_oneof![
        8 => (key(), 0..3000usize).prop_map(|(key, packets)| Step::Insert { key, packets }),
        1 => key().prop_map(|key| Step::InsertTooLarge { key }),
        8 => key().prop_map(|key| Step::Get { key }),
        2 => key().prop_map(|key| Step::Remove { key }),
        2 => key().prop_map(|key| Step::RemoveExpired { key }),
        2 => key().prop_map(|key| Step::Invalidate { key }),
        1 => key().prop_map(|key| Step::InvalidateReplaced { key }),
        2 => key().prop_map(|key| Step::Renew { key }),
        2 => (0..40usize).prop_map(|budget| Step::Expire { budget }),
        1 => Just(Step::Defragment),
        1 => Just(Step::Flush),
        1 => limits(),
        4 => (0..40u64).prop_map(|ms| Step::Wait { ms }),
    ]
}

/// From nothing over one tight shard to many.
fn limits() -> impl Strategy<Value = Step> {
    let bytes = prop::sample::select(vec![0u64, 700, 3 << 10, 20 << 10, 64 << 10, 1 << 20]);
    let entry_bytes_max = prop::sample::select(vec![0u64, 300, 4 << 10, 64 << 10]);
    (bytes, entry_bytes_max).prop_map(|(bytes, entry_bytes_max)| Step::SetLimits { bytes, entry_bytes_max })
}

/// What it begins with is one of few, so that some are kept for several answers.
fn fill<'a>(key: Key<'a>, packets: &'a [u8], epoch: u64, expires_ms: u64) -> Fill<'a, u64> {
    let (head, rest) = packets.split_at(packets.len() / 3);
    Fill { expires_ms, epoch, ..Fill::new(key, head, rest, 0) }
}
