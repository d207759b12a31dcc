//! The freshness checker: whether any read is ever older than it may be.
//!
//! 32 writers and 64 readers work at once on rows, ranges, a view and definitions that are being written, so that about one
//! statement in fifty writes. Each writer has a witness, who reads just before a write and as soon as it is acknowledged. Every answer
//! is held against the history of what was committed (`history`, **start there**): none is older than what was acknowledged before it
//! began, none is older than what anybody was shown before, none shows half a transaction or what was rolled back, and a REPEATABLE
//! READ transaction stays at one moment. Writers are shown their own writes.
//!
//! The lives of connections are out of its sight: one that breaks fails the test. But on a primary with two replicas that changes
//! meanwhile (`ground/pair`) one may break where the primary was killed; a writer that is not told what became of its write looks then,
//! at the server (`stock`).

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
#[expect(dead_code, reason = "the twins use all of it")]
mod random;

mod register;

mod history;
mod late;

mod estate;
mod question;
mod schema;

mod connection;
mod session;
mod stock;

mod definer;
mod reader;
mod writer;

mod report;
mod run;

mod harm;
mod outcome;

mod ground;

use std::time::Duration;

use parking_lot::Mutex;

use e2e::{client, deadline, proxy, servers, stage};

use ground::{Follow, Ground, Harmed};
use history::{Reads, Wrong};
use nuthatch_lab::Kind;
use outcome::Outcome;
use proxy::Setup;
use report::Report;
use run::{End, Past};

/// How long the tests of every run go on.
const THROUGH_THE_PROXY: Duration = Duration::from_secs(20);
const WHILE_THE_PRIMARY_CHANGES: Duration = Duration::from_secs(8);
const AT_THE_SERVER: Duration = Duration::from_secs(6);

const PAST_THE_PROXY: Duration = Duration::from_secs(8);

/// The faults of every run: a short partition, a SIGSTOP of the proxy that the server does not wait out, connections that are reset.
const FAULTS: (u64, usize) = (5597, 3);
const FAULTS_WITHIN: Duration = Duration::from_secs(4);

/// What `bounded` promises.
const BOUND: Duration = Duration::from_millis(100);

/// Of a hundred point reads, those that must come from the cache; fewer in a short run, which begins with an empty one.
const HITS_PERCENT: f64 = 50.0;
const HITS_PERCENT_SHORT: f64 = 30.0;

/// The same where it is forgotten again and again.
const HITS_PERCENT_HARMED: f64 = 5.0;

/// Of the faults.
const SEED: u64 = 15;

/// Within which a stale cache must be found out.
const FOUND_WITHIN: Duration = Duration::from_secs(10);

/// The same of what is stale for as long as a commit takes; it is found in seconds, on a machine that does nothing else.
const UNPROVEN_FOUND_WITHIN: Duration = Duration::from_secs(60);

/// The same of what a failover loses.
const LOST_WITHIN: Duration = Duration::from_secs(20);

/// Each takes all of the machine.
static ALONE: Mutex<()> = Mutex::new(());

/// What makes the proxy cache, exactly, all that it may.
fn exact() -> Setup {
    Setup::default().variable("mysql-query_cache_type", 1)
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn assert_fresh(report: &Report) {
    println!("{report}");
    assert!(report.violations.counts.is_empty(), "violations, printed above");
    assert!(report.unchecked().is_empty(), "nothing was checked of {:?}", report.unchecked());
}

fn assert_found(wrong: Wrong, report: &Report) {
    assert!(report.violations.counts.contains_key(&wrong), "{report}");
}

/// A cache that is hardly asked proves nothing.
fn assert_hits(report: &Report, percent: f64) {
    let hits = report.hits_percent(question::Kind::Point);
    assert!(hits > percent, "only {hits:.1} % of the point reads were hits");
}

#[test]
fn no_read_through_the_proxy_is_stale() {
    no_read_is_stale_before(Kind::MariaDb);
}

#[test]
fn no_read_through_the_proxy_before_mysql_is_stale() {
    no_read_is_stale_before(Kind::MySql);
}

fn no_read_is_stale_before(server: Kind) {
    let _alone = ALONE.lock();
    let ground = Ground::new(server, exact());
    let report = ground.run_through_the_proxy(End::After(THROUGH_THE_PROXY));
    assert_fresh(&report);
    assert_hits(&report, HITS_PERCENT_SHORT);
}

/// Writers past the proxy, which is the server's semi-synchronous replica.
#[test]
fn no_read_is_older_than_what_was_acknowledged_past_the_proxy() {
    no_read_is_stale_past(Kind::MariaDb, Follow::Exact, Past::All, End::After(PAST_THE_PROXY));
}

#[test]
fn no_read_is_older_than_what_mysql_acknowledged_past_the_proxy() {
    no_read_is_stale_past(Kind::MySql, Follow::Exact, Past::EverySecond, End::After(PAST_THE_PROXY));
}

/// Writers past the proxy, which is an ordinary replica.
#[test]
fn no_read_is_older_than_the_bound() {
    no_read_is_stale_past(
        Kind::MariaDb,
        Follow::Bounded(BOUND),
        Past::EverySecond,
        End::After(PAST_THE_PROXY),
    );
}

#[test]
fn no_read_before_mysql_is_older_than_the_bound() {
    no_read_is_stale_past(Kind::MySql, Follow::Bounded(BOUND), Past::All, End::After(PAST_THE_PROXY));
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn no_read_is_stale_past(server: Kind, mode: Follow, past: Past, end: End) {
    let _alone = ALONE.lock();
    let ground = Ground::followed(server, mode, past, exact());
    let report = ground.run_through_the_proxy(end);
    println!("{}", ground.told());
    assert_fresh(&report);
    assert_hits(&report, HITS_PERCENT_SHORT);
}

/// Answers of a replica are stored, while writers go past the proxy.
#[test]
fn no_session_is_shown_by_replica_or_cache_what_was_before_what_it_has_seen() {
    no_read_of_replicas_goes_back_past(Kind::MariaDb, Past::EverySecond, End::After(PAST_THE_PROXY));
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn no_read_of_replicas_goes_back_past(server: Kind, past: Past, end: End) {
    let _alone = ALONE.lock();
    let ground = Ground::followed_with_a_replica(server, past, exact());
    let report = ground.run_through_the_proxy(end);
    println!("{}\n{report}\n{} reads were answered by the replica", ground.told(), ground.by_replica());
    assert!(report.violations.counts.is_empty(), "violations, printed above");
    assert!(ground.by_replica() > 0, "the replica was asked nothing");
}

/// Server, proxy and network fail, one fault after the other.
#[test]
fn no_read_is_stale_whatever_befalls_the_follower() {
    no_read_is_stale_while_all_fails(Kind::MariaDb, Follow::Exact);
}

#[test]
fn no_read_is_stale_whatever_befalls_the_follower_of_mysql() {
    no_read_is_stale_while_all_fails(Kind::MySql, Follow::Exact);
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn no_read_is_stale_while_all_fails(server: Kind, mode: Follow) {
    let _alone = ALONE.lock();
    let (seed, faults) = FAULTS;
    let outcome = Harmed::new(server, mode, seed, exact()).run(faults, FAULTS_WITHIN);
    println!("{outcome}");
    assert_eq!(outcome.violations(), 0, "violations, printed above");
    assert!(outcome.report().reads() > 0);
}

fn mode_named(word: &str) -> Follow {
    match word {
        "exact" => Follow::Exact,
        "bounded" => Follow::Bounded(BOUND),
        other => panic!("FOLLOW is exact or bounded, not {other}"),
    }
}

/// Switchovers, and failovers of primaries that are killed: nothing that was acknowledged or shown is gone, nothing stale is shown.
#[test]
fn no_read_is_stale_while_the_primary_changes() {
    no_read_is_stale_while_the_primary_changes_of(Kind::MariaDb, Reads::Current, WHILE_THE_PRIMARY_CHANGES);
}

#[test]
fn no_read_is_stale_while_the_primary_of_mysql_changes() {
    no_read_is_stale_while_the_primary_changes_of(Kind::MySql, Reads::Current, WHILE_THE_PRIMARY_CHANGES);
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn no_read_is_stale_while_the_primary_changes_of(server: Kind, reads: Reads, time: Duration) {
    let _alone = ALONE.lock();
    let setup = match reads {
        Reads::Current | Reads::Within(_) => exact(),
        Reads::OfSession => exact().variable("mysql-read_write_split", 1),
    };
    let (report, changes) = ground::run_while_the_primary_changes(server, setup, reads, time);
    println!("{report}\n{changes}");
    assert!(report.violations.counts.is_empty(), "violations, printed above");
    assert_eq!(report.unchecked(), [question::Kind::Legacy], "all else is checked");
    assert!(changes.switchovers > 0 && changes.failovers > 0, "{changes}");
    assert!(changes.broken_by_switchovers.is_empty(), "no client sees an error of a switchover: {changes}");
    if reads == Reads::Current {
        // Sessions of replicas are not served what is older than they have seen.
        assert_hits(&report, HITS_PERCENT_SHORT);
    }
}

/// What the checker calls a violation, a server never does.
#[test]
fn no_read_at_the_server_is_stale() {
    let _alone = ALONE.lock();
    let ground = Ground::new(Kind::MariaDb, Setup::default());
    assert_fresh(&ground.run_at_the_server(End::After(AT_THE_SERVER)));
}

/// From here on: the checker can fail.
#[test]
fn ttl_cache_is_found_stale_within_seconds() {
    let _alone = ALONE.lock();
    let rule = "rule_id=1, match_digest='^SELECT', cache_ttl=5000, apply=1";
    let ground = Ground::new(Kind::MariaDb, Setup::default().rule(rule));
    let report = ground.run_through_the_proxy(End::Once(Wrong::Stale, FOUND_WITHIN));
    assert_found(Wrong::Stale, &report);
}

/// The exact cache itself, whose clocks stand still. Only a debug build can be told to.
#[cfg(debug_assertions)]
#[test]
fn exact_cache_without_clocks_is_found_stale_within_seconds() {
    let _alone = ALONE.lock();
    let setup = exact().flags(["--fault-stopped-clocks"]);
    let ground = Ground::new(Kind::MariaDb, setup);
    let report = ground.run_through_the_proxy(End::Once(Wrong::Stale, FOUND_WITHIN));
    assert_found(Wrong::Stale, &report);
}

/// The same before a replica, where a session is held against what it has seen itself.
#[cfg(debug_assertions)]
#[test]
fn answers_of_replicas_without_clocks_are_found_within_seconds() {
    let _alone = ALONE.lock();
    let setup = exact().flags(["--fault-stopped-clocks"]);
    let ground = Ground::followed_with_a_replica(Kind::MariaDb, Past::All, setup);
    let report = ground.run_through_the_proxy(End::Once(Wrong::Stale, FOUND_WITHIN));
    assert_found(Wrong::Stale, &report);
}

/// What stands in the binlog is not shown yet: without the proof that it is, the row as it was is stored behind its event.
#[cfg(debug_assertions)]
#[test]
fn events_that_count_as_shown_are_found_within_seconds() {
    let _alone = ALONE.lock();
    let setup = exact().flags(["--fault-unproven-events"]);
    let ground = Ground::followed(Kind::MariaDb, Follow::Exact, Past::All, setup);
    let report = ground.run_through_the_proxy(End::Once(Wrong::Stale, UNPROVEN_FOUND_WITHIN));
    assert_found(Wrong::Stale, &report);
}

/// Commits that wait for no replica, before a failover.
#[test]
fn writes_that_a_failover_loses_are_found_within_seconds() {
    let _alone = ALONE.lock();
    let report =
        ground::run_while_writes_are_lost(Kind::MariaDb, exact(), End::Once(Wrong::Lost, LOST_WITHIN));
    assert_found(Wrong::Stale, &report);
    assert_found(Wrong::Lost, &report);
}

#[test]
fn dirty_reads_are_found_within_seconds() {
    let _alone = ALONE.lock();
    let ground = Ground::new(Kind::MariaDb, Setup::default());
    let level = "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED";
    let report = ground.run_at_level(level, End::Once(Wrong::NeverCommitted, FOUND_WITHIN));
    assert_found(Wrong::NeverCommitted, &report);
}

#[test]
fn snapshots_that_move_are_found_within_seconds() {
    let _alone = ALONE.lock();
    let ground = Ground::new(Kind::MariaDb, Setup::default());
    let level = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
    let report = ground.run_at_level(level, End::Once(Wrong::BehindItsSnapshot, FOUND_WITHIN));
    assert_found(Wrong::BehindItsSnapshot, &report);
}

#[test]
#[ignore = "takes as long as it is told: make freshness"]
fn no_read_is_stale_for_as_long_as_wanted() {
    let seconds = argument("SECONDS").map_or(60, |text| text.parse().expect("a number"));
    let time = Duration::from_secs(seconds);
    let end = End::After(time);
    let server = servers::kind_named(argument("SERVER").as_deref());
    if argument("SWITCHES").is_some() {
        let reads = if argument("SPLIT").is_some() { Reads::OfSession } else { Reads::Current };
        return no_read_is_stale_while_the_primary_changes_of(server, reads, time);
    }
    if let Some(mode) = argument("FOLLOW") {
        let past = if argument("HALF").is_some() { Past::EverySecond } else { Past::All };
        if argument("SPLIT").is_some() {
            return no_read_of_replicas_goes_back_past(server, past, end);
        }
        return no_read_is_stale_past(server, mode_named(&mode), past, end);
    }
    let _alone = ALONE.lock();
    let ground = Ground::new(server, exact());
    let is_direct = argument("DIRECT").is_some();
    if is_direct {
        return assert_fresh(&ground.run_at_the_server(end));
    }
    let report = ground.run_through_the_proxy(end);
    assert_fresh(&report);
    assert_hits(&report, HITS_PERCENT);
}

#[test]
#[ignore = "takes as long as it is told: make chaos-follow"]
fn no_read_is_stale_whatever_befalls_the_follower_for_as_long_as_wanted() {
    let _alone = ALONE.lock();
    let number = |name: &str| argument(name).map(|text| text.parse::<u64>().expect("a number"));
    let server = servers::kind_named(argument("SERVER").as_deref());
    let mode = mode_named(argument("FOLLOW").as_deref().unwrap_or("exact"));
    let faults = usize::try_from(number("FAULTS").unwrap_or(100)).expect("a number of faults");
    let seconds = Duration::from_secs(number("SECONDS").unwrap_or(3600));
    let flags = argument("FLAGS").unwrap_or_default();
    let setup = exact().flags(flags.split_whitespace());
    let harmed = Harmed::new(server, mode, number("SEED").unwrap_or(SEED), setup);
    assert_unharmed(&harmed.run(faults, seconds));
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn assert_unharmed(outcome: &Outcome) {
    println!("{outcome}");
    assert_eq!(outcome.violations(), 0, "violations, printed above");
    assert_hits(outcome.report(), HITS_PERCENT_HARMED);
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_FRESHNESS_{name}")).ok().filter(|text| !text.is_empty())
}
