//! What leaves the cache, and what does not.

use std::thread;

use nuthatch_cache::{Cache, Fill, Key, Limits, Protocol};

const LIMITS: Limits = Limits { bytes: 4 << 20, entry_bytes_max: 64 << 10 };
/// What one of these entries is charged, about.
const ENTRY_BYTES: u64 = 440;
const CAPACITY: u64 = LIMITS.bytes / ENTRY_BYTES;

#[test]
fn hot_set_survives_a_scan_of_ten_times_the_capacity() {
    let cache = Cache::new(LIMITS);
    let hot = || (0..CAPACITY / 2).map(|id| format!("hot {id}"));
    let is_there = |statement: &String| cache.get(&key(statement)).is_some();
    for _round in 0..3 {
        for statement in hot() {
            if !is_there(&statement) {
                cache.insert(&entry(&statement, u64::MAX)).unwrap();
            }
        }
    }
    for id in 0..10 * CAPACITY {
        let _refused = cache.insert(&entry(&format!("scan {id}"), u64::MAX));
    }
    let kept = hot().filter(is_there).count() as u64;
    let scanned = (0..10 * CAPACITY).filter(|id| is_there(&format!("scan {id}"))).count() as u64;
    assert!(kept * 100 >= CAPACITY / 2 * 95, "{kept} of {} hot entries were kept", CAPACITY / 2);
    assert!(scanned > CAPACITY / 4, "the rest of the room is used: {scanned}");
    let usage = cache.usage();
    assert_eq!(usage.refused, usage.not_admitted);
    assert!(usage.evicted + usage.not_admitted > 9 * CAPACITY);
}

#[test]
fn entry_that_comes_back_is_kept_longer_than_a_scan() {
    let cache = Cache::new(LIMITS);
    for id in 0..2 * CAPACITY {
        let _refused = cache.insert(&entry(&format!("scan {id}"), u64::MAX));
    }
    let gone: Vec<String> = (0..2 * CAPACITY)
        .rev()
        .map(|id| format!("scan {id}"))
        .filter(|s| cache.get(&key(s)).is_none())
        .take(50)
        .collect();
    for statement in &gone {
        cache.insert(&entry(statement, u64::MAX)).unwrap();
    }
    for id in 0..CAPACITY / 2 {
        let _refused = cache.insert(&entry(&format!("second scan {id}"), u64::MAX));
    }
    let kept = gone.iter().filter(|statement| cache.get(&key(statement)).is_some()).count();
    assert!(kept > 40, "{kept} of {} were kept", gone.len());
}

#[test]
fn entry_in_use_outlives_its_eviction() {
    let cache = Cache::new(LIMITS);
    cache.insert(&entry("held", 7)).unwrap();
    let held = cache.get(&key("held")).unwrap();
    cache.flush();
    assert!(cache.get(&key("held")).is_none());
    assert_eq!((held.all_packets(), held.expires_ms()), (vec![7u8; 190], 7));
}

#[test]
fn sweep_removes_what_is_due_and_nothing_else_within_its_budget() {
    let cache = Cache::new(LIMITS);
    for id in 0..4000 {
        cache.insert(&entry(&format!("{id}"), 100 + id % 2)).unwrap();
    }
    assert_eq!(cache.expire(99, usize::MAX).expired, 0);
    let (mut examined, mut calls) = (0, 0);
    loop {
        let sweep = cache.expire(100, 100);
        assert!(sweep.examined <= 100, "{sweep:?}");
        examined += sweep.examined;
        calls += 1;
        if sweep.lap_ended {
            break;
        }
    }
    assert_eq!(examined, 4000, "each entry is looked at once in a lap");
    assert!(calls >= 40, "{calls}");
    let usage = cache.usage();
    assert_eq!((usage.entries, usage.expired), (2000, 2000));
    for id in 0..4000 {
        assert_eq!(cache.get(&key(&format!("{id}"))).is_some(), id % 2 == 1, "{id}");
    }
}

#[test]
fn sweep_goes_on_beside_fills_and_look_ups() {
    let cache = Cache::new(LIMITS);
    thread::scope(|scope| {
        for writer in 0..2u64 {
            let cache = &cache;
            scope.spawn(move || {
                for id in 0..20_000u64 {
                    let statement = format!("{writer} {}", id % 3000);
                    cache.insert(&entry(&statement, id)).unwrap();
                    if let Some(found) = cache.get(&key(&statement)) {
                        assert_eq!((found.rows(), found.expires_ms()), (id % 1000, id));
                    }
                }
            });
        }
        for now_ms in 0..2_000 {
            assert!(cache.expire(now_ms * 10, 500).examined <= 500);
        }
    });
    cache.expire(u64::MAX - 1, usize::MAX);
    while !cache.expire(u64::MAX - 1, usize::MAX).lap_ended {}
    assert_eq!(cache.usage().entries, 0);
}

fn key(statement: &str) -> Key<'_> {
    Key::new(b"app", b"shop", 0, Protocol::Text, statement.as_bytes())
}

/// Its number of rows tells when it was filled, as its packets do not.
fn entry(statement: &str, expires_ms: u64) -> Fill<'_, u64> {
    Fill { rows: expires_ms % 1000, expires_ms, ..Fill::new(key(statement), b"", &[7; 190], 0) }
}
