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

use std::time::Duration;

use e2e::{client, deadline, proxy, servers};

use chapter::{Plan, play};
use nuthatch_lab::{Kind, SemiSync};
use parking_lot::Mutex;
use proxy::Setup;
use verdict::{Finding, Wrong};

/// Of every run in CI.
const SEED: u64 = 16;
const OTHER_SEED: u64 = 3;
const LASTS: Duration = Duration::from_secs(40);

/// How long one run of the long form goes on before the next begins, with servers of its own.
const CHAPTER: Duration = Duration::from_secs(150);

/// Each takes all of the machine.
static ALONE: Mutex<()> = Mutex::new(());

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn tell(line: &str) {
    println!("{line}");
}

fn short(semi_sync: SemiSync, seed: u64) -> Plan {
    Plan {
        kind: Kind::MariaDb,
        semi_sync,
        seed,
        lasts: LASTS,
        writers: 8,
        readers: 8,
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
    assert_no_finding(short(SemiSync::AfterSync, SEED));
}

#[test]
fn what_is_lost_is_told_where_commits_do_not_wait() {
    let _alone = ALONE.lock();
    assert_no_finding(short(SemiSync::Off, OTHER_SEED));
}

/// The verdict can fail: the exact cache, whose clocks stand still. Only a debug build can be told to.
#[cfg(debug_assertions)]
#[test]
fn exact_cache_without_clocks_is_found_out() {
    let _alone = ALONE.lock();
    let plan = Plan { lasts: Duration::from_secs(3), has_faults: false, ..short(SemiSync::Off, SEED) };
    let report = play(plan, Setup::default().flags(["--fault-stopped-clocks"]));
    let is_stale = |finding: &Finding| finding.wrong == Wrong::Stale;
    assert!(report.findings.iter().any(is_stale), "nothing was found");
}

#[test]
#[ignore = "takes as long as it is told: make chaos"]
fn as_many_faults_as_wanted_leave_nothing_wrong() {
    let _alone = ALONE.lock();
    let number = |name: &str| argument(name).map(|text| text.parse::<u64>().expect("a number"));
    let seconds = Duration::from_secs(number("SECONDS").unwrap_or(60));
    let kind = servers::kind_named(argument("SERVER").as_deref());
    let mut seed = number("SEED").unwrap_or(SEED);
    let (mut left, mut faults) = (seconds, 0);
    while !left.is_zero() {
        let lasts = left.min(CHAPTER);
        let semi_sync = if seed.is_multiple_of(2) { SemiSync::AfterSync } else { SemiSync::Off };
        faults += assert_no_finding(Plan {
            kind,
            semi_sync,
            seed,
            lasts,
            writers: 32,
            readers: 32,
            has_faults: true,
            tells_log: argument("LOG").is_some(),
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
