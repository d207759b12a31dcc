//! The clocks step by step, against a plain log of who raised and moved what, and a server of a few tables.
//!
//! Schedules of single loads are `clocks::interleaving`'s; here a step is a whole call, and there are thousands of mixes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nuthatch_cache::{
    BLOCK_KEYS, Cache, Clock, ClockOptions, Clocks, Entry, Fill, Key, Limits, Marks, Protocol, Sequence,
    Standing,
};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestError, TestRunner};

const TABLES: u32 = 3;
const KEYS: u64 = 5;
/// Two of the keys' blocks: keys are this far apart.
const KEY_STEP: u64 = BLOCK_KEYS / 2;
/// Few stripes, so that rows share them.
const OPTIONS: ClockOptions = ClockOptions { tables_max: TABLES, row_stripes: 8, block_stripes: 4 };

#[derive(Debug, Clone, Copy)]
enum Write {
    Update {
        table: u32,
        key: u64,
    },
    Delete {
        table: u32,
        key: u64,
    },
    /// The server gives the key, and says which.
    Insert {
        table: u32,
    },
    /// It does not say which.
    InsertUnlearned {
        table: u32,
    },
    UpdateAll {
        table: u32,
    },
    /// Nobody knows what it may write: it updates all.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Query {
    Row { table: u32, key: u64 },
    Range { table: u32, block: u64 },
    All { table: u32 },
}

#[derive(Debug, Clone)]
enum Step {
    Raise(Write),
    /// The server does it.
    Commit(Index),
    /// Its client is told.
    Settle(Index),
    Release(Index),
    Ask(Query),
    /// The answer arrives.
    Store(Index),
    Serve(Query),
}

/// A write between its raise and its settlement.
struct InFlight {
    write: Write,
    marks: Marks,
    is_committed: bool,
    learned: Vec<Clock>,
}

/// An answer on its way, or kept.
#[derive(Debug, Clone)]
struct Answer {
    query: Query,
    bytes: Vec<u8>,
    clocks: Vec<Clock>,
    since: Sequence,
    /// How long the log was.
    noted: usize,
}

#[derive(Default)]
struct Log {
    /// Which clocks each settled write has moved, in order.
    moved: Vec<Vec<Clock>>,
    pending: Vec<Clock>,
}

struct World {
    clocks: Arc<Clocks>,
    cache: Cache<usize>,
    /// Each table's rows: a version of each.
    tables: Vec<BTreeMap<u64, u64>>,
    commits: u64,
    in_flight: Vec<InFlight>,
    asked: Vec<Answer>,
    stored: Vec<Answer>,
    log: Log,
    dependence: Dependence,
}

/// What entries name: all that they depend on, or what a checker that works must find missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dependence {
    Whole,
    WithoutAbsent,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn standing_is_what_the_log_of_writes_says_and_what_holds_is_right(steps in steps()) {
        World::new(Dependence::Whole).run_all(steps)?;
    }
}

#[test]
fn entry_that_does_not_depend_on_rows_to_appear_is_found() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) };
    let mut runner = TestRunner::new(config);
    let found = runner.run(&steps(), |steps| World::new(Dependence::WithoutAbsent).run_all(steps));
    assert!(matches!(found, Err(TestError::Fail(..))), "{found:?}");
}

impl World {
    fn new(dependence: Dependence) -> Self {
        let rows = || (0..KEYS).step_by(2).map(|key| (key * KEY_STEP, 0)).collect();
        Self {
            clocks: Arc::new(Clocks::new(OPTIONS)),
            cache: Cache::new(Limits { bytes: 1 << 20, entry_bytes_max: 1 << 12 }),
            tables: (0..TABLES).map(|_| rows()).collect(),
            commits: 0,
            in_flight: Vec::new(),
            asked: Vec::new(),
            stored: Vec::new(),
            log: Log::default(),
            dependence,
        }
    }

    fn run_all(mut self, steps: Vec<Step>) -> Result<(), TestCaseError> {
        steps.into_iter().try_for_each(|step| self.run(step))
    }

    fn run(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Raise(write) => self.raise(write),
            Step::Commit(which) => self.commit(which),
            Step::Settle(which) => self.settle(which),
            Step::Release(which) => self.release(which),
            Step::Ask(query) => self.ask(query),
            Step::Store(which) => self.store(which)?,
            Step::Serve(query) => self.serve(query)?,
        }
        prop_assert_eq!(self.clocks.pending(), self.in_flight.len() as u64);
        prop_assert_eq!(self.clocks.moves(), self.log.moved.len() as u64);
        Ok(())
    }

    fn raise(&mut self, write: Write) {
        let marks = self.clocks.raise(self.raises(write));
        self.log.pending.extend(marks.clocks());
        self.in_flight.push(InFlight { write, marks, is_committed: false, learned: Vec::new() });
    }

    fn raises(&self, write: Write) -> Vec<Clock> {
        let clocks = &self.clocks;
        let any = |table| wide(clocks.any(table));
        match write {
            Write::Update { table, key } | Write::Delete { table, key } => {
                vec![clocks.block(table, key / BLOCK_KEYS), clocks.row(table, key), any(table)]
            }
            Write::Insert { table } | Write::InsertUnlearned { table } => {
                vec![any(table), wide(clocks.absent(table))]
            }
            Write::UpdateAll { table } => vec![any(table), wide(clocks.broad(table))],
            Write::Unknown => vec![clocks.everything()],
        }
    }

    fn commit(&mut self, which: Index) {
        let waiting = self.in_flight.iter_mut().filter(|flight| !flight.is_committed);
        let mut waiting: Vec<_> = waiting.collect();
        if waiting.is_empty() {
            return;
        }
        let flight = waiting.swap_remove(which.index(waiting.len()));
        flight.is_committed = true;
        self.commits += 1;
        let version = self.commits;
        let update_all = |rows: &mut BTreeMap<u64, u64>| rows.values_mut().for_each(|row| *row = version);
        match flight.write {
            Write::Update { table, key } => {
                self.tables[table as usize].entry(key).and_modify(|row| *row = version);
            }
            Write::Delete { table, key } => {
                self.tables[table as usize].remove(&key);
            }
            Write::Insert { table } | Write::InsertUnlearned { table } => {
                let rows = &mut self.tables[table as usize];
                let free = (0..KEYS).map(|key| key * KEY_STEP).find(|key| !rows.contains_key(key));
                if let Some(key) = free {
                    rows.insert(key, version);
                    let any = wide(self.clocks.any(table));
                    let block = self.clocks.block(table, key / BLOCK_KEYS);
                    flight.learned = vec![any, self.clocks.row(table, key), block];
                }
            }
            Write::UpdateAll { table } => update_all(&mut self.tables[table as usize]),
            Write::Unknown => self.tables.iter_mut().for_each(update_all),
        }
    }

    fn settle(&mut self, which: Index) {
        let Some(flight) = self.land(which, true) else { return };
        let is_learned = matches!(flight.write, Write::Insert { .. }) && !flight.learned.is_empty();
        if is_learned {
            flight.marks.settle_only(&flight.learned);
            self.log.moved.push(flight.learned);
        } else {
            self.log.moved.push(flight.marks.clocks().to_vec());
            flight.marks.settle();
        }
    }

    fn release(&mut self, which: Index) {
        if let Some(flight) = self.land(which, false) {
            flight.marks.release();
        }
    }

    /// Takes a write out of the air; its clocks are not pending for the log any more.
    fn land(&mut self, which: Index, is_committed: bool) -> Option<InFlight> {
        let matching = |(_, flight): &(usize, &InFlight)| flight.is_committed == is_committed;
        let matching: Vec<_> = self.in_flight.iter().enumerate().filter(matching).map(|(at, _)| at).collect();
        if matching.is_empty() {
            return None;
        }
        let flight = self.in_flight.swap_remove(*which.get(&matching));
        for clock in flight.marks.clocks() {
            let held = self.log.pending.iter().position(|held| held == clock);
            self.log.pending.swap_remove(held.expect("it was raised"));
        }
        Some(flight)
    }

    fn ask(&mut self, query: Query) {
        let (since, noted) = (self.clocks.now(), self.log.moved.len());
        let answer = self.answer(query);
        let mut clocks = self.dependencies(query, answer.len());
        if self.dependence == Dependence::WithoutAbsent {
            clocks.retain(|clock| !(0..TABLES).any(|table| wide(self.clocks.absent(table)) == *clock));
        }
        clocks.push(self.clocks.everything());
        self.asked.push(Answer { query, bytes: encode(&answer), clocks, since, noted });
    }

    fn answer(&self, query: Query) -> Vec<(u64, u64)> {
        let (table, asks): (u32, Box<dyn Fn(u64) -> bool>) = match query {
            Query::Row { table, key } => (table, Box::new(move |row| row == key)),
            Query::Range { table, block } => (table, Box::new(move |row| row / BLOCK_KEYS == block)),
            Query::All { table } => (table, Box::new(|_| true)),
        };
        let rows = self.tables[table as usize].iter();
        rows.filter(|(key, _)| asks(**key)).map(|(key, version)| (*key, *version)).collect()
    }

    fn dependencies(&self, query: Query, rows: usize) -> Vec<Clock> {
        let clocks = &self.clocks;
        let broad = |table| wide(clocks.broad(table));
        let absent = |table| wide(clocks.absent(table));
        match query {
            Query::Row { table, key } if rows > 0 => vec![clocks.row(table, key), broad(table)],
            Query::Row { table, key } => vec![clocks.row(table, key), broad(table), absent(table)],
            Query::Range { table, block } => vec![absent(table), clocks.block(table, block), broad(table)],
            Query::All { table } => vec![wide(clocks.any(table))],
        }
    }

    fn store(&mut self, which: Index) -> Result<(), TestCaseError> {
        if self.asked.is_empty() {
            return Ok(());
        }
        let answer = self.asked.swap_remove(which.index(self.asked.len()));
        let standing = self.clocks.standing(answer.clocks.iter().copied(), answer.since);
        prop_assert_eq!(standing, self.log.standing(&answer));
        if standing == Standing::Holds {
            let statement = format!("{:?}", answer.query);
            self.cache.insert(&fill(&statement, &answer, self.stored.len())).expect("it fits");
            self.stored.push(answer);
        }
        Ok(())
    }

    fn serve(&mut self, query: Query) -> Result<(), TestCaseError> {
        let statement = format!("{query:?}");
        let Some(entry) = self.cache.get(&key(&statement)) else { return Ok(()) };
        let standing = self.clocks.standing(entry.clocks(), entry.since());
        prop_assert_eq!(standing, self.log.standing(&self.stored[*entry.plan()]));
        match standing {
            Standing::Holds => {
                prop_assert_eq!(entry.all_packets(), encode(&self.answer(query)), "{:?}", query);
            }
            Standing::Pending => {}
            Standing::Moved => self.invalidate(&statement, &entry)?,
        }
        Ok(())
    }

    fn invalidate(&self, statement: &str, entry: &Entry<usize>) -> Result<(), TestCaseError> {
        prop_assert!(self.cache.remove_invalidated(&key(statement), entry));
        prop_assert!(self.cache.get(&key(statement)).is_none());
        Ok(())
    }
}

impl Log {
    fn standing(&self, answer: &Answer) -> Standing {
        let moved: BTreeSet<_> = self.moved[answer.noted..].iter().flatten().collect();
        if answer.clocks.iter().any(|clock| moved.contains(clock)) {
            Standing::Moved
        } else if answer.clocks.iter().any(|clock| self.pending.contains(clock)) {
            Standing::Pending
        } else {
            Standing::Holds
        }
    }
}

fn wide(clock: Option<Clock>) -> Clock {
    clock.expect("every table has clocks")
}

fn encode(rows: &[(u64, u64)]) -> Vec<u8> {
    rows.iter().flat_map(|(key, version)| [key.to_le_bytes(), version.to_le_bytes()]).flatten().collect()
}

fn key(statement: &str) -> Key<'_> {
    Key::new(b"app", b"shop", 0, Protocol::Text, statement.as_bytes())
}

fn fill<'a>(statement: &'a str, answer: &'a Answer, number: usize) -> Fill<'a, usize> {
    Fill {
        clocks: &answer.clocks,
        since: answer.since,
        ..Fill::new(key(statement), b"", &answer.bytes, number)
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..120)
}

fn step() -> impl Strategy<Value = Step> {
    let which = any::<Index>;
    prop_oneof![
        3 => write().prop_map(Step::Raise),
        3 => which().prop_map(Step::Commit),
        3 => which().prop_map(Step::Settle),
        1 => which().prop_map(Step::Release),
        4 => query().prop_map(Step::Ask),
        4 => which().prop_map(Step::Store),
        6 => query().prop_map(Step::Serve),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let table = || 0..TABLES;
    prop_oneof![
        4 => (table(), row()).prop_map(|(table, key)| Write::Update { table, key }),
        2 => (table(), row()).prop_map(|(table, key)| Write::Delete { table, key }),
        3 => table().prop_map(|table| Write::Insert { table }),
        1 => table().prop_map(|table| Write::InsertUnlearned { table }),
        1 => table().prop_map(|table| Write::UpdateAll { table }),
        1 => Just(Write::Unknown),
    ]
}

fn query() -> impl Strategy<Value = Query> {
    let table = || 0..TABLES;
    prop_oneof![
        3 => (table(), row()).prop_map(|(table, key)| Query::Row { table, key }),
        1 => (table(), 0..3u64).prop_map(|(table, block)| Query::Range { table, block }),
        1 => table().prop_map(|table| Query::All { table }),
    ]
}

fn row() -> impl Strategy<Value = u64> {
    (0..KEYS).prop_map(|key| key * KEY_STEP)
}
