//! The loads: what is asked for, one question after the other. Of a seed they are always the same.

use std::collections::BTreeMap;
use std::rc::Rc;

/// What is asked for, given how many entries fit.
type Questions = Box<dyn Fn(u64) -> Vec<u64>>;

pub(crate) struct Trace {
    pub(crate) name: String,
    /// About how many entries are to fit.
    pub(crate) capacity: usize,
    pub(crate) questions: Questions,
}

/// Xorshift with a multiplication (Vigna).
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| {
            random.next();
        });
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 3
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 8) as f64 / (1u64 << 53) as f64
    }
}

/// Numbers from 0 on, the nth as often as `1/n^exponent`.
pub(crate) struct Zipf(Vec<f64>);

impl Zipf {
    pub(crate) fn new(count: usize, exponent: f64) -> Rc<Self> {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=count)
            .map(|number| {
                sum += 1.0 / (number as f64).powf(exponent);
                sum
            })
            .collect();
        Rc::new(Self(sums.into_iter().map(|part| part / sum).collect()))
    }

    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        let unit = random.unit();
        self.0.partition_point(|part| *part < unit) as u64
    }
}

/// Where questions begin that are none of the others.
const ELSEWHERE: u64 = 10_000_000;
const FURTHER: u64 = 100_000_000_000;

struct Traces {
    all: Vec<Trace>,
    seed: u64,
    /// How many questions each has.
    length: u64,
    capacity: usize,
}

/// All of them.
pub(crate) fn all(seed: u64, scale: f64) -> Vec<Trace> {
    let unit = (1000.0 * scale) as usize;
    let mut traces = Traces {
        all: Vec::new(),
        seed,
        length: (1_500_000.0 * scale.clamp(0.5, 4.0)) as u64,
        capacity: 5 * unit,
    };
    traces.add_steady(unit);
    traces.add_loops();
    traces.add_changing(unit);
    traces.add_hot_sets();
    traces.add_mixed(unit);
    traces.all
}

impl Traces {
    fn add(&mut self, name: &str, questions: impl Fn(u64, Random, u64) -> Vec<u64> + 'static) {
        self.add_of(name, self.capacity, questions);
    }

    fn add_of(
        &mut self,
        name: &str,
        capacity: usize,
        questions: impl Fn(u64, Random, u64) -> Vec<u64> + 'static,
    ) {
        self.seed += 1000;
        let (random, length) = (Random::new(self.seed), self.length);
        self.all.push(Trace {
            name: name.to_owned(),
            capacity,
            questions: Box::new(move |capacity| questions(capacity, random.clone(), length)),
        });
    }

    fn add_steady(&mut self, unit: usize) {
        for exponent in [0.7, 0.9, 1.0, 1.1] {
            let zipf = Zipf::new(100 * unit, exponent);
            for capacity in [2 * unit, 10 * unit] {
                let zipf = Rc::clone(&zipf);
                self.add_of(&format!("Zipf {exponent}"), capacity, move |_, mut random, length| {
                    (0..length).map(|_| zipf.draw(&mut random)).collect()
                });
            }
        }
        let zipf = Zipf::new(500 * unit, 0.8);
        self.add_of("Zipf 0.8 of ten times as many", 50 * unit, move |_, mut random, length| {
            (0..length).map(|_| zipf.draw(&mut random)).collect()
        });
        for (name, others) in [("half asked once", 1), ("three quarters asked once", 3)] {
            let zipf = Zipf::new(100 * unit, 0.9);
            self.add(&format!("Zipf 0.9, {name}"), move |_, mut random, length| {
                let one = |at: u64| {
                    if random.next() % (1 + others) == 0 { zipf.draw(&mut random) } else { FURTHER + at }
                };
                (0..length).map(one).collect()
            });
        }
        self.add("reuse at distances of all sizes", |_, mut random, length| {
            let (mut questions, mut newest) = (Vec::new(), 0);
            while (questions.len() as u64) < length {
                let distance = 2f64.powf(random.unit() * 17.0) as usize;
                let is_new = random.unit() < 0.15 || distance >= questions.len();
                newest += u64::from(is_new);
                questions.push(if is_new { newest } else { questions[questions.len() - 1 - distance] });
            }
            questions
        });
    }

    fn add_loops(&mut self) {
        for part in [95u64, 103, 110, 150, 200, 400, 800] {
            let name = format!("a loop over {} of the capacity", part as f64 / 100.0);
            self.add(&name, move |capacity, _, _| {
                (0..100 * capacity).map(|at| at % (capacity * part / 100)).collect()
            });
        }
    }

    fn add_changing(&mut self, unit: usize) {
        let zipf = Zipf::new(100 * unit, 1.0);
        for turns in [4, 10, 20, 60] {
            let zipf = Rc::clone(&zipf);
            let name = format!("Zipf 1, all others after {turns} capacities");
            self.add(&name, move |capacity, mut random, length| {
                (0..length).map(|at| zipf.draw(&mut random) + at / (turns * capacity) * FURTHER).collect()
            });
        }
        for (exponent, pace, capacity) in [(0.9, 20, 5), (1.0, 4, 5), (0.9, 5, 50)] {
            let zipf = Zipf::new(100 * unit, exponent);
            let name = format!("Zipf {exponent} that drifts by 1/{pace}");
            self.add_of(&name, capacity * unit, move |_, mut random, length| {
                (0..length).map(|at| zipf.draw(&mut random) + at / pace).collect()
            });
        }
        let zipf = Zipf::new(20 * unit, 0.8);
        self.add("the newest are asked for most", move |capacity, mut random, length| {
            (0..length).map(|at| at / 3 + 6 * capacity - zipf.draw(&mut random)).collect()
        });
        self.add(
            "each is asked for up to six times, soon, and never again",
            |capacity, mut random, length| {
                let (mut questions, mut due, mut newest, mut now) = (Vec::new(), BTreeMap::new(), 0, 0u64);
                while (questions.len() as u64) < length {
                    now += 1;
                    if let Some(entry) = due.first_entry().filter(|entry| *entry.key() <= now) {
                        questions.push(entry.remove());
                        continue;
                    }
                    newest += 1;
                    questions.push(newest);
                    for _ in 0..random.next() % 6 {
                        let mut at = now + 1 + random.next() % (capacity * 3 / 10);
                        while due.contains_key(&at) {
                            at += 1;
                        }
                        due.insert(at, newest);
                    }
                }
                questions
            },
        );
    }

    fn add_hot_sets(&mut self) {
        self.add("a hot set of 0.8, a fifth asked once", |capacity, mut random, length| {
            let mut one = |at| {
                if random.next() % 10 < 8 { random.next() % (capacity * 4 / 5) } else { FURTHER + at }
            };
            (0..length).map(&mut one).collect()
        });
        self.add("the same, another set after 20 capacities", |capacity, mut random, length| {
            let mut one = |at: u64| {
                let set = at / (20 * capacity) * ELSEWHERE;
                if random.next() % 10 < 8 { random.next() % (capacity * 4 / 5) + set } else { FURTHER + at }
            };
            (0..length).map(&mut one).collect()
        });
        self.add(
            "a hot set of 0.8, a scan of ten capacities after each 20",
            |capacity, mut random, length| {
                let one = |at: u64| match at % (30 * capacity) / (20 * capacity) {
                    0 => random.next() % (capacity * 4 / 5),
                    _ => FURTHER + at,
                };
                (0..length).map(one).collect()
            },
        );
        self.add(
            "each twice, half a capacity apart, beside a hot set of 0.4",
            |capacity, mut random, length| {
                let one = |at: u64| match at % 3 {
                    0 => random.next() % (capacity * 2 / 5),
                    1 => ELSEWHERE + at / 3,
                    _ => (ELSEWHERE + at / 3).saturating_sub(capacity / 6),
                };
                (0..length).map(one).collect()
            },
        );
    }

    fn add_mixed(&mut self, unit: usize) {
        let zipf = Zipf::new(100 * unit, 0.9);
        let scanned = Rc::clone(&zipf);
        self.add("Zipf 0.9, a scan of ten capacities after each 50", move |capacity, mut random, length| {
            let one = |at: u64| match at % (60 * capacity) / (50 * capacity) {
                0 => scanned.draw(&mut random),
                _ => FURTHER + at,
            };
            (0..length).map(one).collect()
        });
        let looped = Rc::clone(&zipf);
        self.add("Zipf 0.9 and a loop over 1.5", move |capacity, mut random, length| {
            let one = |at: u64| {
                if random.next() % 2 == 0 {
                    looped.draw(&mut random)
                } else {
                    FURTHER + at % (capacity * 3 / 2)
                }
            };
            (0..length).map(one).collect()
        });
        let one = Zipf::new(100 * unit, 1.0);
        let other = Rc::clone(&one);
        self.add("Zipf 1 and loops over 0.5 and 3", move |capacity, mut random, length| {
            let (mut short, mut long) = (0, 0);
            let question = |_| match random.next() % 4 {
                0 => {
                    short += 1;
                    ELSEWHERE + short % (capacity / 2)
                }
                1 => {
                    long += 1;
                    2 * ELSEWHERE + long % (3 * capacity)
                }
                _ => one.draw(&mut random),
            };
            (0..length).map(question).collect()
        });
        self.add("drift and a loop over 2 in turn", move |capacity, mut random, length| {
            let question = |at: u64| match at / (30 * capacity) % 2 {
                0 => other.draw(&mut random) + at / 4,
                _ => FURTHER + at % (2 * capacity),
            };
            (0..length).map(question).collect()
        });
        self.add("Zipf 0.9 and its drift in turn", move |capacity, mut random, length| {
            let question = |at: u64| match at / (20 * capacity) % 2 {
                0 => zipf.draw(&mut random),
                _ => FURTHER + zipf.draw(&mut random) + at / 5,
            };
            (0..length).map(question).collect()
        });
    }
}
