//! What a scan of ten capacities costs those who were used, while nobody asks for them.

use crate::policies::{Lru, Policy, S3Fifo, Sieve, TinyLfu};
use crate::traces::{Random, Zipf};
use crate::{FURTHEST, Ours};

/// What was asked for before the scan.
const LOADS: [&str; 6] = [
    "a hot set of 0.8",
    "a hot set of 0.8, after a drift",
    "the same, a tenth asked once",
    "Zipf 1, after a drift",
    "Zipf 1",
    "Zipf 1, all others after 10 capacities",
];

pub(crate) fn table(scale: f64) {
    println!("| before the scan | capacity | LRU | SIEVE | S3-FIFO | W-TinyLFU | Nuthatch |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for capacity in [2000.0, 5000.0, 20_000.0].map(|capacity: f64| (capacity * scale) as usize) {
        for (number, load) in LOADS.iter().enumerate() {
            let ours = Ours::new(capacity);
            let capacity = ours.capacity;
            let zipf = Zipf::new(20 * capacity, 1.0);
            let policies: [Box<dyn Policy>; 5] = [
                Box::new(Lru::new(capacity)),
                Box::new(Sieve::new(capacity)),
                Box::new(S3Fifo::new(capacity)),
                Box::new(TinyLfu::new(capacity)),
                Box::new(ours),
            ];
            print!("| {load} | {capacity} |");
            for mut policy in policies {
                let (before, after) = cost(&mut *policy, number, capacity as u64, &zipf);
                print!(" {before:.1} → {after:.1} |");
            }
            println!();
        }
    }
}

/// Which part of questions hits in the two capacities before and behind.
fn cost(policy: &mut dyn Policy, load: usize, capacity: u64, zipf: &Zipf) -> (f64, f64) {
    let mut random = Random::new(7);
    if (1..=3).contains(&load) {
        for at in 0..60 * capacity {
            policy.ask(FURTHEST / 2 + zipf.draw(&mut random) + at / 4);
        }
    }
    let mut once = FURTHEST / 4;
    let mut ask = |policy: &mut dyn Policy, at: u64| {
        if load == 2 && random.next().is_multiple_of(10) {
            once += 1;
            policy.ask(once);
        }
        let question = match load {
            0..=2 => random.next() % (capacity * 4 / 5),
            5 => zipf.draw(&mut random) + at / (10 * capacity) * 10_000_000,
            _ => zipf.draw(&mut random),
        };
        policy.ask(question)
    };
    let mut hits = |policy: &mut dyn Policy, from: u64, to: u64| {
        let hits = (from * capacity..to * capacity).filter(|at| ask(policy, *at)).count();
        hits as f64 * 100.0 / ((to - from) * capacity) as f64
    };
    hits(policy, 0, 36);
    let before = hits(policy, 36, 38);
    (0..10 * capacity).for_each(|at| {
        policy.ask(FURTHEST + at);
    });
    (before, hits(policy, 38, 40))
}
