//! What a hit costs: key, look-up, judgement, the standing of its clocks, and letting the entry go.
//!
//! Prints nanoseconds of processor time per operation, the best of several rounds, for few entries (all in the processor's caches) and
//! for a million in random order (each pointer followed is a miss to memory). A fill and a write's
//! marks are printed beside it.

use std::fs;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_cache::{
    BLOCK_KEYS, Cache, ClockOptions, Clocks, Fill, Judgement, Key, Limits, Protocol, Standing,
};

const ROUNDS: usize = 7;
const LIMITS: Limits = Limits { bytes: 2 << 30, entry_bytes_max: 2 << 20 };

fn main() {
    miss("one dependent read from 512 MiB at random", 64 << 20, 2_000_000);
    look_ups("hit, 1,000 entries", 1_000, 2_000_000);
    look_ups("hit, 1,000,000 entries", 1_000_000, 2_000_000);
    judgements("three clocks of one row", 1, 2_000_000);
    judgements("three clocks of one of 100,000 rows", 100_000, 2_000_000);
    writes("a write of one row: three clocks raised and settled", 500_000);
    fills("fill, 190 B", 190, 200_000);
    fills("fill, 8 KiB", 8 << 10, 50_000);
    fills("fill, 1 MiB", 1 << 20, 1_000);
}

fn look_ups(name: &str, entries: u64, count: u64) {
    let cache = Cache::new(LIMITS);
    let mut statement = Statement::new();
    for id in 0..entries {
        cache.insert(&fill(statement.of(id), &[0; 190])).expect("it fits");
    }
    let order = shuffled(entries, count);
    let keys = best(|| {
        for id in &order {
            black_box(key(statement.of(*id)).hash());
        }
    });
    report(&format!("{name}: making the key alone"), keys, count);
    let hits = best(|| {
        for id in &order {
            let entry = cache.get(&key(statement.of(*id))).expect("all are kept");
            assert!(entry.judge(black_box(1_000), 0) == Judgement::Fresh);
        }
    });
    report(&format!("{name}: look-up and judgement"), hits.saturating_sub(keys), count);
    report(&format!("{name}: both"), hits, count);
}

/// What an exact hit pays on top: its clocks loaded.
fn judgements(name: &str, rows: u64, count: u64) {
    let clocks = Clocks::new(ClockOptions::default());
    let broad = clocks.broad(1).expect("table 1 has clocks");
    let dependencies: Vec<_> =
        (0..rows).map(|row| [clocks.everything(), broad, clocks.row(1, row)]).collect();
    let order = shuffled(rows, count);
    let (since, at) = (clocks.now(), |row: u64| usize::try_from(row).expect("an index of a vector"));
    let taken = best(|| {
        for row in &order {
            let standing = clocks.standing(dependencies[at(*row)], black_box(since));
            assert!(standing == Standing::Holds);
        }
    });
    report(name, taken, count);
}

fn writes(name: &str, count: u64) {
    let clocks = Arc::new(Clocks::new(ClockOptions::default()));
    let any = clocks.any(1).expect("table 1 has clocks");
    let taken = best(|| {
        for row in 0..count {
            clocks.raise(vec![any, clocks.row(1, row), clocks.block(1, row / BLOCK_KEYS)]).settle();
        }
    });
    report(name, taken, count);
}

/// What one pointer followed costs on this machine now: the unit of the look-up among a million.
fn miss(name: &str, words: usize, count: u64) {
    let chain: Vec<u64> = shuffled(words as u64, words as u64);
    let mut at = 0;
    let taken = best(|| {
        for step in 0..count {
            at = usize::try_from((chain[at] + step) % words as u64).expect("an index of a vector");
        }
    });
    black_box(at);
    report(name, taken, count);
}

fn fills(name: &str, bytes: usize, count: u64) {
    let cache = Cache::new(LIMITS);
    let answer = vec![0; bytes];
    let mut statement = Statement::new();
    let taken = best(|| {
        for id in 0..count {
            cache.insert(&fill(statement.of(id), &answer)).expect("it fits");
        }
    });
    report(name, taken, count);
}

fn report(name: &str, taken: Duration, count: u64) {
    let nanoseconds = taken.as_nanos() as f64 / count as f64;
    #[expect(clippy::print_stdout, reason = "a benchmark's output")]
    {
        println!("{name:<55} {nanoseconds:>10.1} ns");
    }
}

/// The processor time of the best round: what the others took longer is the machine's other work.
fn best(mut run: impl FnMut()) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let start = processor_time();
        run();
        processor_time() - start
    });
    rounds.min().expect("there are rounds")
}

/// How long this thread has been on a processor.
fn processor_time() -> Duration {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let nanoseconds = schedstat.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.expect("schedstat begins with nanoseconds"))
}

fn shuffled(entries: u64, count: u64) -> Vec<u64> {
    let mut random = 1u64;
    let next = |_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % entries
    };
    (0..count).map(next).collect()
}

/// One buffer for all statements: a real one has just been read from its socket, so it is in the processor's cache.
struct Statement([u8; 38]);

impl Statement {
    fn new() -> Self {
        Self(*b"SELECT c FROM sbtest1 WHERE id=0000000")
    }

    fn of(&mut self, id: u64) -> &[u8] {
        let mut rest = id;
        for digit in self.0[31..].iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).expect("a digit");
            rest /= 10;
        }
        &self.0
    }
}

fn key(statement: &[u8]) -> Key<'_> {
    Key::new(b"app", b"sbtest", 0, Protocol::Text, statement)
}

fn fill<'a>(statement: &'a [u8], packets: &'a [u8]) -> Fill<'a, usize> {
    Fill::new(key(statement), b"", packets, 0)
}
