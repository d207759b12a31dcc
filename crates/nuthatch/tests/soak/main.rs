//! The soak: full load for as long as wanted, and nothing of the proxy grows, and no limit is crossed.
//!
//! Sessions read answers of random sizes, write, define tables anew and vanish in the middle of answers, while an operator purges the cache and
//! changes its size (`scene` and what stands below it). Limits are set so low that they are reached. Ten times a second it is noted what the
//! kernel and the proxy say of memory, files, threads and all that has a limit (`sample`); `verdict` judges that, **start there**.
//!
//! Whether answers are right is not looked at here, but in `freshness`, `equivalence` and `soundness`. A run of CI is too short to tell growth
//! from a cache that fills: `make soak` runs for half an hour.

#[path = "../e2e"]
#[expect(dead_code, unused_imports, reason = "the tests end to end use all of it")]
mod e2e {
    pub(crate) mod client;
    pub(crate) mod deadline;
    pub(crate) mod proxy;
    pub(crate) mod servers;
    pub(crate) mod stage;
}
#[path = "../e2e/twins/random.rs"]
mod random;

mod sample;

mod verdict;

mod chance;
mod schema;

mod scene;

mod definer;
mod operator;
mod passer;
mod reader;
mod writer;

mod ground;

mod report;
mod run;

use std::time::Duration;

use e2e::{client, deadline, proxy, servers, stage};

use nuthatch_lab::Kind;
use run::{Plan, play};
use verdict::Growth;

/// Of the run in CI.
const SEED: u64 = 1;
const LASTS: Duration = Duration::from_secs(10);

/// Of the long form, unless it is told.
const LASTS_LONG: Duration = Duration::from_mins(30);

/// From which on a sixth of a run is longer than the cache takes to fill.
const JUDGED_FROM: Duration = Duration::from_mins(4);

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn tell(line: &str) {
    println!("{line}");
}

fn assert_no_finding(plan: &Plan) {
    let report = play(plan);
    tell(&report.to_string());
    assert!(report.findings.is_empty(), "findings of seed {}, printed above", plan.seed);
}

#[test]
fn no_limit_is_crossed_under_load_and_nothing_is_left_behind_it() {
    assert_no_finding(&Plan { kind: Kind::MariaDb, seed: SEED, lasts: LASTS, growth: Growth::TooShort });
}

#[test]
#[ignore = "takes as long as it is told: make soak"]
fn nothing_grows_for_as_long_as_wanted() {
    let number = |name: &str| argument(name).map(|text| text.parse::<u64>().expect("a number"));
    let lasts = number("SECONDS").map_or(LASTS_LONG, Duration::from_secs);
    assert_no_finding(&Plan {
        kind: servers::kind_named(argument("SERVER").as_deref()),
        seed: number("SEED").unwrap_or(SEED),
        lasts,
        growth: if lasts < JUDGED_FROM { Growth::TooShort } else { Growth::Judged },
    });
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_SOAK_{name}")).ok().filter(|text| !text.is_empty())
}
