//! Which part of look-ups hits, on made loads, beside what four other policies would reach: LRU, SIEVE, S3-FIFO and W-TinyLFU of the same number of
//! entries. Ours is the cache itself, with its shards, trials and bytes; the others are exact, in one piece, and count entries.
//!
//! Prints a table in Markdown, which `bench/victims.md` keeps. Arguments: `SEED`, `SCALE` (1 for capacities of 2,000 to 50,000), a part of a name.

#![expect(
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a table is its output, and its numbers are small"
)]

mod policies;
mod scans;
mod traces;

use std::env;

use nuthatch_cache::{Cache, Fill, Key, Limits, Protocol, Rule};

use policies::{Lru, Policy, S3Fifo, Sieve, TinyLfu};
use traces::Trace;

/// Where the questions of a scan begin.
const FURTHEST: u64 = 1 << 52;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse::<f64>().ok());
    let (seed, scale) = (number(0).unwrap_or(1.0) as u64, number(1).unwrap_or(1.0));
    let wanted = arguments.get(2).cloned().unwrap_or_default();
    println!(
        "| load | LRU | SIEVE | S3-FIFO | W-TinyLFU | Nuthatch | beside the best | rules 0, 1, 2 in force |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|---|");
    let (mut worst, mut behind) = (0f64, 0);
    for trace in traces::all(seed, scale).iter().filter(|trace| trace.name.contains(&wanted)) {
        let difference = row(trace);
        worst = worst.min(difference);
        behind += usize::from(difference < -2.0);
    }
    println!("\nWorst: {worst:.2}; {behind} loads by more than 2 points behind the best.\n");
    if wanted.is_empty() || wanted == "scan" {
        scans::table(scale);
    }
}

fn row(trace: &Trace) -> f64 {
    let mut ours = Ours::new(trace.capacity);
    let capacity = ours.capacity;
    let questions = (trace.questions)(capacity as u64);
    let ratio = |policy: &mut dyn Policy| {
        let hits = questions.iter().filter(|question| policy.ask(**question)).count();
        hits as f64 * 100.0 / questions.len() as f64
    };
    let others = [
        ratio(&mut Lru::new(capacity)),
        ratio(&mut Sieve::new(capacity)),
        ratio(&mut S3Fifo::new(capacity)),
        ratio(&mut TinyLfu::new(capacity)),
    ];
    let own = ratio(&mut ours);
    let difference = own - others.iter().copied().fold(0.0, f64::max);
    print!("| {}, {capacity} |", trace.name);
    others.iter().for_each(|ratio| print!(" {ratio:.2} |"));
    println!(" {own:.2} | {difference:+.2} | {} |", ours.told());
    difference
}

/// The cache, asked for numbers.
struct Ours {
    cache: Cache<u64>,
    capacity: usize,
    ruled: [u64; 3],
    switches: u64,
    rule: Rule,
}

impl Ours {
    /// One that holds about so many.
    fn new(capacity: usize) -> Self {
        /// What one of these entries takes.
        const ENTRY_BYTES: u64 = 320;
        let limits = Limits { bytes: capacity as u64 * ENTRY_BYTES, entry_bytes_max: 8 << 10 };
        let probe = Self {
            cache: Cache::new(limits),
            capacity: 0,
            ruled: [0; 3],
            switches: 0,
            rule: Rule::default(),
        };
        (0..20 * capacity as u64).for_each(|question| probe.fill(FURTHEST / 8 + question));
        let capacity = usize::try_from(probe.cache.usage().entries).expect("few");
        Self { cache: Cache::new(limits), capacity, ..probe }
    }

    fn fill(&self, question: u64) {
        let statement = statement(question);
        let _refused = self.cache.insert(&Fill::new(key(&statement), b"", &[0; 190], 0));
    }

    fn told(&self) -> String {
        let all = self.ruled.iter().sum::<u64>().max(1);
        let of = |place: usize| self.ruled[place] * 100 / all;
        format!("{}, {}, {} %; {} changes", of(0), of(1), of(2), self.switches)
    }
}

impl Policy for Ours {
    fn ask(&mut self, question: u64) -> bool {
        let is_hit = self.cache.get(&key(&statement(question))).is_some();
        if !is_hit {
            self.fill(question);
        }
        let rule = self.cache.rule();
        self.switches += u64::from(rule != self.rule);
        self.rule = rule;
        self.ruled[usize::from(rule.number())] += 1;
        is_hit
    }
}

fn statement(question: u64) -> [u8; 32] {
    let mut statement = *b"SELECT c FROM t WHERE k=\0\0\0\0\0\0\0\0";
    statement[24..].copy_from_slice(&question.to_le_bytes());
    statement
}

fn key(statement: &[u8]) -> Key<'_> {
    Key::new(b"app", b"shop", 0, Protocol::Text, statement)
}
