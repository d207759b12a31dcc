//! Chaos: servers, the network and the proxy itself fail while sessions write and read, and every answer is held against what was promised.
//!
//! A run draws faults from a seed (`fault`), one after the other, before a primary and two replicas (`ground`); sessions note what
//! they did and were told (`history`), and `verdict` judges that, **start there**. After each fault all must be well again: one server takes
//! writes, the others follow it, and nothing is left of what was done about it.
//!
//! A failure prints the seed and the last faults. `make chaos SEED=… SECONDS=…` repeats them, at other moments.

#[path = "../e2e"]
#[expect(dead_code, unused_imports, reason = "the tests end to end use all of it")]
mod e2e {
    pub(crate) mod client;
    pub(crate) mod deadline;
    pub(crate) mod proxy;
    pub(crate) mod servers;
}
#[path = "../e2e/twins/random.rs"]
mod random;

mod history;

mod verdict;

mod fault;
mod session;

mod ground;

mod chapter;

mod full_disk;

mod own_mounts;

use std::time::Duration;

use e2e::{client, deadline, proxy, servers};

use chapter::{Plan, play};
use nuthatch_lab::{Kind, SemiSync};
use own_mounts::{Disks, in_own_mounts};
use parking_lot::Mutex;
use proxy::Setup;

/// Of every run in CI.
const SEED: u64 = 16;
const OTHER_SEED: u64 = 3;
const LASTS: Duration = Duration::from_secs(40);

/// How long one run of the long form goes on before the next begins, with servers of its own.
const CHAPTER: Duration = Duration::from_secs(150);

/// What a session of the long form pauses at most between two statements: what comes of a fault is to be waited for, not a processor.
const PAUSE_MS_MAX: usize = 120;

/// Each takes all of the machine.
static ALONE: Mutex<()> = Mutex::new(());

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn tell(line: &str) {
    println!("{line}");
}

fn short(disks: Disks, semi_sync: SemiSync, seed: u64) -> Plan {
    Plan {
        kind: Kind::MariaDb,
        semi_sync,
        disks,
        seed,
        lasts: LASTS,
        writers: 8,
        readers: 8,
        pause_ms_max: 8,
        has_faults: true,
        tells_log: false,
    }
}

fn assert_no_finding(plan: Plan) -> usize {
    let report = play(plan, Setup::default());
    assert!(report.findings.is_empty(), "findings of seed {}, printed above", plan.seed);
    report.faults
}

#[test]
fn what_is_acknowledged_stays_where_commits_wait_for_replicas() {
    let _alone = ALONE.lock();
    in_own_mounts("what_is_acknowledged_stays_where_commits_wait_for_replicas", |disks| {
        assert_no_finding(short(disks, SemiSync::AfterSync, SEED));
    });
}

#[test]
fn what_is_lost_is_told_where_commits_do_not_wait() {
    let _alone = ALONE.lock();
    in_own_mounts("what_is_lost_is_told_where_commits_do_not_wait", |disks| {
        assert_no_finding(short(disks, SemiSync::Off, OTHER_SEED));
    });
}

/// The verdict can fail: the exact cache, whose clocks stand still. Only a debug build can be told to.
#[cfg(debug_assertions)]
#[test]
fn exact_cache_without_clocks_is_found_out() {
    let _alone = ALONE.lock();
    let plan = short(Disks::Shared, SemiSync::Off, SEED);
    let plan = Plan { lasts: Duration::from_secs(3), has_faults: false, ..plan };
    let report = play(plan, Setup::default().flags(["--fault-stopped-clocks"]));
    let is_stale = |finding: &verdict::Finding| finding.wrong == verdict::Wrong::Stale;
    assert!(report.findings.iter().any(is_stale), "nothing was found");
}

#[test]
fn full_disk_has_writes_wait() {
    let _alone = ALONE.lock();
    in_own_mounts("full_disk_has_writes_wait", |disks| match disks {
        Disks::Own => [Kind::MariaDb, Kind::MySql].into_iter().for_each(full_disk::has_writes_wait),
        Disks::Shared => {}
    });
}

#[test]
#[ignore = "takes as long as it is told: make chaos"]
fn as_many_faults_as_wanted_leave_nothing_wrong() {
    let _alone = ALONE.lock();
    in_own_mounts("as_many_faults_as_wanted_leave_nothing_wrong", as_many_as_wanted);
}

fn as_many_as_wanted(disks: Disks) {
    let number = |name: &str| argument(name).map(|text| text.parse::<u64>().expect("a number"));
    let mut left = Duration::from_secs(number("SECONDS").unwrap_or(60));
    let kind = servers::kind_named(argument("SERVER").as_deref());
    let pause_ms_max = number("PAUSE_MS").map_or(PAUSE_MS_MAX, |ms| usize::try_from(ms).expect("a few"));
    let (mut seed, mut faults) = (number("SEED").unwrap_or(SEED), 0);
    while !left.is_zero() {
        let lasts = left.min(CHAPTER);
        let semi_sync = if seed.is_multiple_of(2) { SemiSync::AfterSync } else { SemiSync::Off };
        faults += assert_no_finding(Plan {
            kind,
            lasts,
            writers: 32,
            readers: 32,
            pause_ms_max,
            tells_log: argument("LOG").is_some(),
            ..short(disks, semi_sync, seed)
        });
        left -= lasts;
        seed += 1;
    }
    tell(&format!("{faults} faults without a finding"));
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_CHAOS_{name}")).ok().filter(|text| !text.is_empty())
}
