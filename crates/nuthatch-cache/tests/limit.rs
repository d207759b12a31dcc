//! The limit is a limit: what the cache says it holds, at every moment that anyone looks.

use std::collections::HashMap;
use std::thread::{self, ScopedJoinHandle};

use nuthatch_cache::{Cache, Fill, Key, Limits, Protocol, Refusal};

const MIB: u64 = 1 << 20;
const LIMITS: Limits = Limits { bytes: 64 * MIB, entry_bytes_max: 2 * MIB };

#[test]
fn accounted_bytes_stay_within_the_limit_at_every_sample() {
    let sizes: [fn(u64) -> usize; 3] = [|_| 200, |_| 8 << 10, |random| 100 + (random % MIB) as usize];
    let cache = Cache::new(LIMITS);
    for size in sizes {
        let samples = fill_and_sample(&cache, size);
        let usage = cache.usage();
        assert!(samples > 20, "only {samples} samples");
        assert!(usage.bytes > 55 * MIB, "the cache is full at the end: {usage:?}");
        assert!(usage.evicted + usage.not_admitted > 0 || size(0) == 200, "{usage:?}");
    }
}

#[test]
fn lowered_limit_is_in_force_when_the_call_returns() {
    let cache = Cache::new(LIMITS);
    fill(&cache, 0, 64 * MIB, |_| 4096);
    let counts = |limits: Limits| {
        let before = cache.usage();
        cache.set_limits(limits);
        let after = cache.usage();
        assert!(after.bytes <= limits.bytes, "{limits:?} {after:?}");
        assert_eq!(after.limit_bytes, limits.bytes);
        assert_eq!(before.entries - after.entries, after.evicted - before.evicted, "{limits:?}");
        after.entries
    };
    let full = cache.usage().entries;
    let raised = counts(Limits { bytes: 128 * MIB, entry_bytes_max: 2 * MIB });
    assert_eq!(raised, full, "a higher limit costs no entry");
    let halved = counts(Limits { bytes: 32 * MIB, entry_bytes_max: 2 * MIB });
    assert!(halved > full * 4 / 10, "half the room holds about half the entries: {halved} of {full}");
    let one_shard = counts(Limits { bytes: 16 * MIB, entry_bytes_max: 8 * MIB });
    assert!(one_shard > halved * 4 / 10, "fewer shards hold as much: {one_shard} of {halved}");
    assert_eq!(counts(Limits { bytes: 16 * MIB, entry_bytes_max: 4096 }), 0, "too large entries have to go");
}

#[test]
fn entries_are_found_after_every_change_of_limits() {
    let cache = Cache::new(LIMITS);
    for id in 0..1000u64 {
        cache.insert(&entry(&id.to_string(), &id.to_le_bytes())).unwrap();
    }
    for (bytes, entry_bytes_max) in [(64, 32), (128, 1), (8, 2), (64, 1)] {
        cache.set_limits(Limits { bytes: bytes * MIB, entry_bytes_max: entry_bytes_max * MIB });
        for id in 0..1000u64 {
            let found = cache.get(&key(&id.to_string())).expect("all fit under each of these limits");
            assert_eq!(found.all_packets(), id.to_le_bytes());
        }
    }
}

#[test]
fn limit_of_zero_keeps_nothing() {
    let cache = Cache::new(LIMITS);
    cache.insert(&entry("a", b"answer")).unwrap();
    cache.set_limits(Limits { bytes: 0, entry_bytes_max: MIB });
    assert_eq!((cache.usage().entries, cache.usage().bytes), (0, 0));
    assert!(cache.get(&key("a")).is_none());
    assert_eq!(cache.insert(&entry("a", b"answer")), Err(Refusal::Off));
    assert_eq!(cache.usage().refused, 1);
    cache.set_limits(LIMITS);
    cache.insert(&entry("a", b"answer")).unwrap();
    assert_eq!(cache.get(&key("a")).unwrap().all_packets(), b"answer");
}

#[test]
fn largest_allowed_entry_is_kept_even_in_a_full_cache() {
    let tables = [(16, 1), (16, 4), (16, 64), (7, 3)];
    for (bytes, entry_bytes_max) in tables {
        let cache = Cache::new(Limits { bytes: bytes * MIB, entry_bytes_max: entry_bytes_max * MIB });
        fill(&cache, 0, bytes * MIB, |_| 200);
        let largest = vec![0; usize::try_from(cache.entry_bytes_max() - (16 << 10)).unwrap()];
        for id in 0..8 {
            let statement = format!("large {id}");
            let fill = Fill { cost_us: Some(5_000_000), ..entry(&statement, &largest) };
            let kept = (0..64).find(|_| cache.insert(&fill).is_ok());
            assert!(kept.is_some(), "{bytes} {entry_bytes_max} {id}: {:?}", cache.insert(&fill));
            assert!(cache.get(&key(&statement)).is_some(), "{bytes} {entry_bytes_max} {id}");
        }
        let over = vec![0; usize::try_from(cache.entry_bytes_max()).unwrap()];
        let refused = cache.insert(&entry("over", &over));
        assert!(matches!(refused, Err(Refusal::TooLarge { .. })), "{refused:?}");
        assert_eq!(cache.usage().refused, cache.usage().not_admitted + 1);
    }
}

#[test]
fn short_answer_is_charged_at_most_75_bytes_beyond_its_own() {
    let cache = Cache::new(Limits { bytes: 64 * MIB, entry_bytes_max: MIB });
    for id in 0..200_000 {
        let statement = format!("SELECT c FROM sbtest1 WHERE id={id:06}");
        let key = Key::new(b"app", b"sbtest", 0, Protocol::Text, statement.as_bytes());
        let _refused = cache.insert(&Fill { key, head: &[7; 60], ..entry("", &[0; 131]) });
    }
    let usage = cache.usage();
    let (own, charged) = (37 + 60 + 131, usage.bytes / usage.entries);
    assert!((own..own + 75).contains(&charged), "{charged} bytes an entry: {usage:?}");
    assert!(usage.kinds == 2 && usage.kinds_bytes < 1 << 10, "with the head, and without: {usage:?}");
}

#[test]
fn flush_purges_all_and_gives_the_index_back() {
    let cache = Cache::new(LIMITS);
    fill(&cache, 0, 8 * MIB, |_| 200);
    let entries = cache.usage().entries;
    assert!(entries > 10_000 && cache.usage().index_bytes > 0);
    assert_eq!(cache.flush(), entries);
    let usage = cache.usage();
    assert_eq!((usage.entries, usage.bytes, usage.index_bytes, usage.purged), (0, 0, 0, entries));
}

#[test]
fn limits_may_change_while_others_fill_and_look_up() {
    let cache = Cache::new(LIMITS);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let cache = &cache;
                scope.spawn(move || fill_and_look_up(cache, writer))
            })
            .collect();
        let mut round = 0u64;
        while !writers.iter().all(ScopedJoinHandle::is_finished) {
            let entry_bytes_max = (1 << (round % 7)) << 16;
            cache.set_limits(Limits { bytes: (round % 5) * MIB, entry_bytes_max });
            cache.defragment(100);
            let usage = cache.usage();
            assert!(usage.bytes <= usage.limit_bytes, "{usage:?}");
            round += 1;
        }
        assert!(round > 10, "only {round} changes");
    });
}

/// Fills keys that no other writer fills; what a look-up gives is what the last fill put there.
fn fill_and_look_up(cache: &Cache<u64>, writer: u64) {
    let mut last = HashMap::new();
    for version in 0..30_000u64 {
        let statement = format!("{writer} {}", version % 2500);
        if let Some(found) = cache.get(&key(&statement)) {
            assert_eq!(Some(&found.all_packets()), last.get(&statement));
        }
        let packets = version.to_le_bytes();
        if cache.insert(&entry(&statement, &packets)).is_ok() {
            last.insert(statement, packets.to_vec());
        }
    }
}

/// Fills from three threads and samples beside them; returns how often it did.
fn fill_and_sample(cache: &Cache<u64>, size: fn(u64) -> usize) -> u64 {
    thread::scope(|scope| {
        let writers: Vec<_> =
            (0..3).map(|writer| scope.spawn(move || fill(cache, writer, 30 * MIB, size))).collect();
        let mut samples = 0;
        while !writers.iter().all(ScopedJoinHandle::is_finished) {
            let usage = cache.usage();
            assert!(usage.bytes <= usage.limit_bytes, "{usage:?}");
            samples += 1;
        }
        samples
    })
}

fn fill(cache: &Cache<u64>, writer: u64, bytes: u64, size: impl Fn(u64) -> usize) {
    let answer = vec![0; 2 << 20];
    let (mut random, mut put) = (writer + 1, 0);
    while put < bytes {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let packets = &answer[..size(random >> 33)];
        put += 200 + packets.len() as u64;
        let kept = cache.insert(&entry(&format!("{random:x}"), packets));
        assert!(matches!(kept, Ok(_) | Err(Refusal::NotAdmitted)), "{kept:?}");
    }
}

fn key(statement: &str) -> Key<'_> {
    Key::new(b"app", b"shop", 0, Protocol::Text, statement.as_bytes())
}

fn entry<'a>(statement: &'a str, packets: &'a [u8]) -> Fill<'a, u64> {
    Fill::new(key(statement), b"", packets, 0)
}
