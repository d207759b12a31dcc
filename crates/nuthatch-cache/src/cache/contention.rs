//! Which cache lines a hit writes and reads, by the addresses of what it touches: how many of them workers share that ask for different keys.
//!
//! A simulation without threads: each of N workers asks for keys of its own, and the lines are counted that another one writes too. A line
//! that two of them write, or that one writes and another reads, moves between their cores; all others stay where they are.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::fill::Fill;
use crate::key::Protocol;

const LINE_BYTES: usize = 64;
const KEYS_PER_WORKER: usize = 200;

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum What {
    /// The word that counts who reads in a shard, and what else is looked up in there.
    Shard,
    /// Counts of an entry's owners and hits.
    Counts,
    /// The word that tells how much a place is used: written once in a moment.
    Place,
    /// What entries have in common.
    Kind,
    /// What all look-ups read of the cache.
    Cache,
}

/// The lines of a hit of that key.
#[derive(Default)]
struct Touched {
    written: Vec<(What, usize)>,
    read: Vec<(What, usize)>,
}

fn line_of<V: ?Sized>(value: &V) -> usize {
    std::ptr::from_ref(value).cast::<u8>().addr() / LINE_BYTES
}

fn lines_of<V>(value: &V) -> impl Iterator<Item = usize> {
    let first = std::ptr::from_ref(value).addr();
    first / LINE_BYTES..=(first + size_of::<V>() - 1) / LINE_BYTES
}

fn touched(cache: &Cache<u64>, key: &Key<'_>) -> Touched {
    let tag = Tag::of(key.hash());
    let line = &cache.shards[shard_of(tag, cache.mask.load(Ordering::Relaxed))];
    let shard = line.0.read();
    let entry = shard.peek(tag, |entry| entry.answers(key)).expect("all are kept");
    let place = shard.place_of(tag, |entry| entry.answers(key)).expect("all are kept");
    let mut touched = Touched::default();
    touched.written.extend(lines_of(line).map(|line| (What::Shard, line)));
    touched.written.extend(entry.counted_at().map(|at| (What::Counts, at / LINE_BYTES)));
    touched.written.push((What::Place, place / LINE_BYTES));
    touched.read.push((What::Place, place / LINE_BYTES));
    touched.read.extend(entry.kind().read_at().map(|at| (What::Kind, at / LINE_BYTES)));
    touched.read.extend([line_of(&cache.shards), line_of(&cache.mask)].map(|line| (What::Cache, line)));
    touched.read.push((What::Cache, cache.choice.read_at() / LINE_BYTES));
    touched
}

fn statement(worker: usize, number: usize) -> String {
    format!("SELECT c FROM sbtest1 WHERE id={}", worker * KEYS_PER_WORKER + number)
}

fn filled(workers: usize) -> Cache<u64> {
    let cache = Cache::new(Limits { bytes: 1 << 30, entry_bytes_max: 4 << 20 });
    for worker in 0..workers {
        for number in 0..KEYS_PER_WORKER {
            let statement = statement(worker, number);
            cache.insert(&Fill::new(key(&statement), &[1; 60], &[2; 140], 7)).expect("there is room");
        }
    }
    cache
}

fn key(statement: &str) -> Key<'_> {
    Key::new(b"app", b"sbtest", 0, Protocol::Text, statement.as_bytes())
}

/// Of which kinds of lines how many are written by a worker, and written or read by another.
fn shared_lines(workers: usize) -> HashMap<What, usize> {
    let cache = filled(workers);
    let (mut writers, mut users) = (HashMap::new(), HashMap::new());
    for worker in 0..workers {
        for number in 0..KEYS_PER_WORKER {
            let statement = statement(worker, number);
            let touched = touched(&cache, &key(&statement));
            for line in touched.written {
                writers.entry(line).or_insert_with(HashSet::new).insert(worker);
                users.entry(line.1).or_insert_with(HashSet::new).insert(worker);
            }
            for (_, line) in touched.read {
                users.entry(line).or_insert_with(HashSet::new).insert(worker);
            }
        }
    }
    let mut shared = HashMap::new();
    for ((what, line), _) in writers {
        *shared.entry(what).or_insert(0) += usize::from(users[&line].len() > 1);
    }
    shared
}

#[test]
fn hits_of_different_keys_share_no_line_that_they_write_but_shards_and_neighbours() {
    for workers in [1, 2, 4, 8] {
        let shared = shared_lines(workers);
        let of = |what| shared.get(&what).copied().unwrap_or(0);
        let all = [What::Shard, What::Counts, What::Place, What::Kind, What::Cache].map(of);
        println!("{workers} workers, {} keys: {all:?}", workers * KEYS_PER_WORKER);
        assert_eq!((of(What::Kind), of(What::Cache)), (0, 0), "they are read only");
        assert!(of(What::Shard) <= 2 * SHARDS_MAX, "{all:?}");
        // An entry's counts stand on one line with the end of the one before it; a place with three others.
        assert!(workers > 1 || all == [0; 5], "{all:?}");
    }
}

#[test]
fn fills_write_no_line_that_hits_read_of_a_kind_or_the_cache() {
    let cache = filled(1);
    let statement = statement(0, 0);
    let read: HashSet<usize> = touched(&cache, &key(&statement)).read.iter().map(|(_, line)| *line).collect();
    let entry = cache.peek(&key(&statement)).expect("it is kept");
    for written in [
        entry.kind().counted_at() / LINE_BYTES,
        line_of(&cache.counters),
        line_of(&cache.partition),
        line_of(&cache.pace),
        line_of(&cache.cursor),
        line_of(cache.choice.ruling()),
    ] {
        assert!(!read.contains(&written));
    }
}
