//! Interleavings of the clocks' steps, as a seeded scheduler chooses them.
//!
//! Writers and readers are threads that do what sessions do, against a server that is one atomic set of writes. Each load
//! and each change of a clock is a step of its own, and so is the moment at which a write becomes visible. The checker
//! knows three complaints: an answer without a write that was acknowledged before its reader began; an answer without a
//! write that another reader had been shown by then; and, when all is over, an entry that would still be served and is
//! not what the server says. That it can complain is shown by leaving out each rule in turn.

mod query;
mod rule;
mod stream;
mod world;
mod write;

use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner, thread};

use query::Query::{self, Both, Count, Named, Range, Row1, Row2};
use rule::Rule;
use stream::Follow;
use world::{Coverage, World};
use write::Write::{self, *};

const SEED: u64 = 0x6e75_7468;
/// Schedules of each scenario that must all be right, from each of two schedulers.
const SCHEDULES: usize = 200;
/// Schedules within which a missing rule must be found; the slowest takes about a thousand.
const SCHEDULES_TO_FIND: usize = 4_000;
/// How many times a schedule goes against the priorities of its threads.
const PCT_DEPTH: usize = 4;

/// For each reader the queries that it asks one after the other.
type Readers = &'static [&'static [Query]];

/// Who does what at the same time.
#[derive(Debug, Clone, Copy)]
struct Scenario {
    /// A thread each.
    writes: &'static [Write],
    /// A thread each.
    readers: Readers,
    /// A thread each, which asks in a transaction with a snapshot.
    snapshots: &'static [Query],
    /// A thread each, which waits for what another asks, and then is served or asks.
    together: Readers,
    /// A thread each, which asks a replica.
    at_replica: &'static [Query],
    /// What the cache holds from the start.
    seeds: &'static [Query],
    left_out: Option<Rule>,
    /// What is promised of writes past the proxy, if anything.
    follow: Option<Follow>,
}

/// Nobody does anything.
const NOTHING: Scenario = Scenario {
    writes: &[],
    readers: &[],
    snapshots: &[],
    together: &[],
    at_replica: &[],
    seeds: &[],
    left_out: None,
    follow: None,
};

/// What is written at the same time where the binlog is followed.
const FOLLOWED: [&[Write]; 5] = [
    &[PastUpdate1, PastInsert2],
    &[PastUpdate1, Update1],
    &[PastBroad, InsertServerKey],
    &[Named1, PastInsert2],
    &[Update1, PastUnlearnt1],
];

#[test]
fn reads_beside_writes_of_one_row_and_of_unknown_rows_are_right() {
    check(&[Update1, Broad]);
}

#[test]
fn reads_beside_a_transaction_of_two_rows_are_right() {
    check(&[Transaction, Update1]);
}

#[test]
fn server_given_key_moves_its_row_while_absent_is_held() {
    check(&[Update1, InsertServerKey]);
}

#[test]
fn insert_whose_key_is_never_learned_moves_absent() {
    check(&[InsertUnlearned, Update1]);
}

#[test]
fn row_may_be_deleted_and_inserted_again() {
    check(&[InsertKnown, Delete2, InsertAgain]);
}

#[test]
fn rolled_back_write_leaves_entries_right_beside_one_that_commits() {
    check(&[RolledBack, InsertServerKey]);
}

#[test]
fn lost_write_is_held_until_it_can_happen_no_more() {
    check(&[Lost, InsertServerKey]);
}

#[test]
fn writes_past_the_proxy_are_followed_exactly() {
    for writes in FOLLOWED {
        check_followed(writes, Some(Follow::Exact));
    }
}

#[test]
fn writes_past_the_proxy_are_followed_within_the_bound() {
    for writes in FOLLOWED {
        check_followed(writes, Some(Follow::Bounded));
    }
}

#[test]
fn snapshots_are_given_what_they_show_within_the_bound() {
    let coverage = Arc::new(Coverage::default());
    for writes in FOLLOWED {
        for query in [Row1, Row2, Range, Count, Both, Named] {
            for seeds in [&[][..], &[Row1, Row2, Range, Count, Both, Named]] {
                let (readers, snapshots): (Readers, &[Query]) = match query {
                    Row1 => (&[&[Row1, Row1]], &[Row1, Row1]),
                    Row2 => (&[&[Row2, Row2]], &[Row2, Row2]),
                    Range => (&[&[Range, Range]], &[Range, Range]),
                    Count => (&[&[Count, Count]], &[Count, Count]),
                    Both => (&[&[Both, Both]], &[Both, Both]),
                    Named => (&[&[Named, Named]], &[Named, Named]),
                };
                let follow = Some(Follow::Bounded);
                Scenario { writes, readers, snapshots, seeds, follow, ..NOTHING }.run(&coverage);
            }
        }
    }
    assert!(coverage.served_to_snapshots.load(Relaxed) > SCHEDULES as u64, "{coverage:?}");
}

#[test]
fn what_replicas_answer_is_served_as_if_their_primary_had() {
    let coverage = Arc::new(Coverage::default());
    for follow in [Follow::Bounded, Follow::Exact] {
        for writes in FOLLOWED {
            for query in [Row1, Row2, Range, Count, Both, Named] {
                let (readers, asked): (Readers, &[Query]) = match query {
                    Row1 => (&[&[Row1, Row1], &[Row1]], &[Row1]),
                    Row2 => (&[&[Row2, Row2], &[Row2]], &[Row2]),
                    Range => (&[&[Range, Range], &[Range]], &[Range]),
                    Count => (&[&[Count, Count], &[Count]], &[Count]),
                    Both => (&[&[Both, Both], &[Both]], &[Both]),
                    Named => (&[&[Named, Named], &[Named]], &[Named]),
                };
                let (at_replica, follow) = (asked, Some(follow));
                let alone = Scenario { writes, readers, at_replica, follow, ..NOTHING };
                alone.run(&coverage);
                Scenario { snapshots: asked, readers: &readers[..1], ..alone }.run(&coverage);
            }
        }
    }
    assert!(coverage.served_of_replica.load(Relaxed) > SCHEDULES as u64, "{coverage:?}");
}

#[test]
fn who_waits_for_what_another_asks_is_given_what_holds() {
    let coverage = Arc::new(Coverage::default());
    let past: [&[Write]; 2] = [&[PastUpdate1, PastInsert2], &[PastUpdate1, Update1]];
    let own: [&[Write]; 2] = [&[Update1, Broad], &[InsertServerKey, Lost]];
    let past = past.map(|writes| (writes, Some(Follow::Exact)));
    for (writes, follow) in own.map(|writes| (writes, None)).into_iter().chain(past) {
        for query in [Row1, Range, Count] {
            let (readers, together): (Readers, Readers) = match query {
                Row1 => (&[&[Row1]], &[&[Row1, Row1], &[Row1]]),
                Range => (&[&[Range]], &[&[Range, Range], &[Range]]),
                _ => (&[&[Count]], &[&[Count, Count], &[Count]]),
            };
            Scenario { writes, readers, together, follow, ..NOTHING }.run(&coverage);
        }
    }
    assert!(coverage.served.load(Relaxed) > SCHEDULES as u64, "{coverage:?}");
}

#[test]
fn rule_of_those_who_wait_left_out_is_found() {
    let together = |writes| Scenario {
        together: &[&[Row1]],
        ..without(Rule::LookUpPastWaiting, writes, &[&[Row1]], &[])
    };
    check_left_out(&[
        together(&[Update1]),
        Scenario { follow: Some(Follow::Exact), ..together(&[PastUpdate1]) },
    ]);
}

#[test]
fn each_rule_of_replicas_left_out_is_found() {
    let of_replica = |rule, follow, readers| Scenario {
        follow: Some(follow),
        at_replica: &[Row1],
        ..without(rule, &[PastUpdate1], readers, &[])
    };
    check_left_out(&[
        of_replica(Rule::NoteBeforeProvingReplica, Follow::Bounded, &[&[Row1]]),
        of_replica(Rule::CarryPastReplica, Follow::Exact, &[&[Row1], &[Row1]]),
    ]);
}

#[test]
fn each_rule_of_snapshots_left_out_is_found() {
    let snapshot = |rule, writes, readers, seeds| Scenario {
        follow: Some(Follow::Bounded),
        snapshots: &[Row1],
        ..without(rule, writes, readers, seeds)
    };
    check_left_out(&[
        snapshot(Rule::CarryPastSnapshot, &[PastUpdate1], &[], &[Row1]),
        snapshot(Rule::CarryPastAnswer, &[PastUpdate1], &[&[Row1]], &[]),
        snapshot(Rule::LookAtCarriedFirst, &[PastUpdate1], &[], &[Row1]),
        snapshot(Rule::ProveVisible, &[PastUpdate1], &[&[Row1, Row1]], &[]),
        Scenario {
            snapshots: &[Named],
            ..snapshot(Rule::DependOnAnyBeforeAnswer, &[PastUnlearnt1], &[&[Named, Named]], &[])
        },
    ]);
}

#[test]
fn each_rule_of_the_follower_left_out_is_found() {
    let exactly = |rule, writes, readers, seeds| Scenario {
        follow: Some(Follow::Exact),
        ..without(rule, writes, readers, seeds)
    };
    let bounded = |rule, writes, readers, seeds| Scenario {
        follow: Some(Follow::Bounded),
        ..without(rule, writes, readers, seeds)
    };
    let table = [
        exactly(Rule::RaiseBeforeAcknowledging, &[PastUpdate1], &[&[Row1]], &[Row1]),
        exactly(Rule::WaitBeforeVisible, &[PastUpdate1], &[&[Count], &[Row1]], &[Row1]),
        exactly(Rule::ProveVisible, &[PastUpdate1], &[&[Row1, Row1]], &[]),
        exactly(Rule::HoldLease, &[PastUpdate1], &[&[Row1]], &[Row1]),
        exactly(Rule::LookAtLeaseLast, &[PastUpdate1], &[&[Row1]], &[Row1]),
        exactly(Rule::NoteBeforeSending, &[PastUpdate1], &[&[Row1], &[Row1, Row1]], &[]),
        exactly(Rule::RefusePending, &[PastUpdate1], &[&[Row1], &[Count]], &[Row1]),
        bounded(Rule::ProveVisible, &[PastUpdate1], &[&[Row1, Row1]], &[]),
        bounded(Rule::NoteBeforeAskingForEnd, &[PastUpdate1], &[&[Row1, Row1, Row1]], &[Row1]),
        bounded(Rule::CarryToTheEnd, &[PastUpdate1], &[&[Row1]], &[Row1]),
        bounded(Rule::HoldPastAnswer, &[Named1], &[&[Row1]], &[Row1]),
        bounded(Rule::HoldPastAnswer, &[Update1], &[&[Named]], &[Named]),
        bounded(Rule::AskForEndPastAnswer, &[Named1], &[&[Row1]], &[Row1]),
        bounded(Rule::MoveWhatIsLate, &[Named1], &[&[Row1]], &[Row1]),
        bounded(Rule::DependOnValued, &[Update1], &[&[Named]], &[Named]),
        exactly(Rule::SettleUnlearntFirst, &[PastUnlearnt1], &[&[Named]], &[]),
        bounded(Rule::SettleUnlearntFirst, &[PastUnlearnt1], &[&[Named]], &[]),
    ];
    check_left_out(&table);
}

#[test]
fn each_rule_left_out_is_found() {
    let table = [
        without(Rule::RaiseBeforeSending, &[Update1], &[&[Row1], &[Count]], &[Row1]),
        without(Rule::RaiseBeforeSending, &[InsertServerKey], &[&[Range], &[Count]], &[Range]),
        without(Rule::NoteBeforeSending, &[Update1], &[&[Row1], &[Row1, Row1]], &[]),
        without(Rule::NoteBeforeSending, &[InsertServerKey], &[&[Count], &[Count, Count]], &[]),
        without(Rule::LoadWideFirst, &[InsertServerKey], &[&[Row2], &[Count]], &[Row2]),
        without(Rule::LoadWideFirst, &[InsertServerKey], &[&[Range], &[Count]], &[Range]),
        without(Rule::MoveNarrowBeforeLoweringWide, &[InsertServerKey], &[&[Row2], &[Count]], &[Row2]),
        without(Rule::DependOnAbsent, &[InsertUnlearned], &[&[Row2], &[Row2]], &[Row2]),
        without(Rule::MoveByMaximum, &[Update1, Broad], &[&[Count], &[Count]], &[]),
        without(Rule::DrawAfterAcknowledgement, &[Update1], &[&[Row1, Row1], &[Row1]], &[]),
        without(Rule::HoldUntilKnown, &[Lost], &[&[Row1, Row1]], &[]),
        without(Rule::RefusePending, &[Update1], &[&[Row1], &[Count]], &[Row1]),
    ];
    check_left_out(&table);
}

/// Each is right whole, and found without its rule.
fn check_left_out(scenarios: &[Scenario]) {
    for scenario in scenarios {
        let whole = Scenario { left_out: None, ..*scenario };
        assert_eq!(whole.complaint(), None, "{whole:?}");
    }
    let missed: Vec<_> = scenarios.iter().filter(|scenario| scenario.complaint().is_none()).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

fn without(rule: Rule, writes: &'static [Write], readers: Readers, seeds: &'static [Query]) -> Scenario {
    Scenario { writes, readers, seeds, left_out: Some(rule), ..NOTHING }
}

/// Runs the writes beside all kinds of readers.
fn check(writes: &'static [Write]) {
    check_followed(writes, None);
}

/// The same while the binlog is followed.
fn check_followed(writes: &'static [Write], follow: Option<Follow>) {
    let same: [Readers; 6] = [
        &[&[Named, Named], &[Named]],
        &[&[Row1, Row1], &[Row1]],
        &[&[Row2, Row2], &[Row2]],
        &[&[Range, Range], &[Range]],
        &[&[Count, Count], &[Count]],
        &[&[Both, Both], &[Both]],
    ];
    let mixed: [Readers; 7] = [
        &[&[Row1, Named], &[Named]],
        &[&[Count, Row2], &[Row2]],
        &[&[Row2, Range], &[Range]],
        &[&[Range, Row1], &[Row1]],
        &[&[Row1, Count], &[Count]],
        &[&[Count, Range], &[Range]],
        &[&[Row2, Both], &[Both]],
    ];
    let coverage = Arc::new(Coverage::default());
    for readers in same.into_iter().chain(mixed) {
        for seeds in [&[][..], &[Row1, Row2, Range, Count, Both, Named]] {
            Scenario { writes, readers, seeds, follow, ..NOTHING }.run(&coverage);
        }
    }
    let Coverage { served, stored, refused, invalidated, .. } = &*coverage;
    for seen in [served, stored, refused, invalidated] {
        assert!(seen.load(Relaxed) > SCHEDULES as u64, "{coverage:?}");
    }
}

impl Scenario {
    /// Runs it in many schedules; panics at the first complaint and prints the schedule.
    fn run(self, coverage: &Arc<Coverage>) {
        let run_once = |coverage: Arc<Coverage>| move || self.run_once(&coverage);
        let config = config(FailurePersistence::Print);
        let random = RandomScheduler::new_from_seed(SEED, SCHEDULES);
        Runner::new(random, config.clone()).run(run_once(coverage.clone()));
        let by_priority = PctScheduler::new_from_seed(SEED, PCT_DEPTH, SCHEDULES);
        Runner::new(by_priority, config).run(run_once(coverage.clone()));
    }

    /// What the checker has to say, if it finds anything.
    fn complaint(self) -> Option<String> {
        let run = move || {
            let run_once = |coverage: Coverage| move || self.run_once(&coverage);
            let by_priority = PctScheduler::new_from_seed(SEED, PCT_DEPTH, SCHEDULES_TO_FIND);
            Runner::new(by_priority, config(FailurePersistence::None)).run(run_once(Coverage::default()));
            if self.follow.is_some() {
                // Threads that wait for each other lose their priorities.
                let random = RandomScheduler::new_from_seed(SEED, SCHEDULES_TO_FIND);
                Runner::new(random, config(FailurePersistence::None)).run(run_once(Coverage::default()));
            }
        };
        let panic = catch_unwind(run).err()?;
        Some(panic.downcast_ref::<String>().expect("complaints are formatted").clone())
    }

    fn run_once(self, coverage: &Coverage) {
        let world = Arc::new(World::new(self.writes, self.seeds, self.left_out, self.follow));
        let writers: Vec<_> = (0..self.writes.len())
            .map(|number| {
                let world = world.clone();
                thread::spawn(move || world.write(number))
            })
            .collect();
        let readers: Vec<_> = self
            .readers
            .iter()
            .map(|queries| {
                let world = world.clone();
                thread::spawn(move || queries.iter().for_each(|query| world.read(*query)))
            })
            .collect();
        let snapshots = self.snapshots.iter().map(|query| {
            let world = world.clone();
            thread::spawn(move || world.read_in_snapshot(*query))
        });
        let snapshots: Vec<_> = snapshots.collect();
        let together = self.together.iter().map(|queries| {
            let world = world.clone();
            thread::spawn(move || queries.iter().for_each(|query| world.read_together(*query)))
        });
        let together: Vec<_> = together.collect();
        let at_replica = self.at_replica.iter().map(|query| {
            let world = world.clone();
            thread::spawn(move || world.read_at_replica(*query))
        });
        let at_replica: Vec<_> = at_replica.collect();
        let of_follower: [fn(&World); 3] = [World::carry, World::prove, World::find_horizon];
        let of_replica: [fn(&World); 2] = [World::apply, World::prove_replica];
        let of_follower = of_follower.into_iter().filter(|_| self.follow.is_some());
        let of_replica = of_replica.into_iter().filter(|_| !self.at_replica.is_empty());
        let steps = of_follower.chain(of_replica).map(|step| {
            let world = world.clone();
            thread::spawn(move || step(&world))
        });
        let steps: Vec<_> = steps.collect();
        let sessions = writers.into_iter().chain(readers).chain(together).chain(snapshots).chain(at_replica);
        for session in sessions.chain(steps) {
            session.join().expect("its complaint has ended the schedule");
        }
        world.check_end();
        coverage.add(&world.coverage);
    }
}

fn config(failure_persistence: FailurePersistence) -> Config {
    let mut config = Config::new();
    config.failure_persistence = failure_persistence;
    config.stack_size = 256 << 10;
    config
}
