//! Soundness against the server: wherever a write changes what a statement is answered, the cache forgets the answer.
//!
//! Random pairs of a read and a write (`author`, **start there**: odd literals and conditions, joins, views, triggers, cascades, DDL)
//! are tried in two ways. Through the proxy with everything cached: after the write its answer must be the server's (`through`). And
//! at the server alone: where the answer differs, a clock of the read must have been moved by the write, by their footprints
//! (`at_server`). What is forgotten although nothing differs is counted: that is the precision.
//!
//! A round of pairs repeats by its printed seed. One pair is over before the next begins: races are the freshness checker's.

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

mod schema;

mod author;
mod statement;

mod answer;

mod at_server;
mod ground;
mod through;

mod report;
mod rounds;

mod two_days;

mod collations;

use std::time::Duration;

use e2e::{client, deadline, proxy, servers, stage};
use nuthatch_lab::Kind;
use nuthatch_sql::{ReadFootprint, ReadRows, RowKeys, WriteFootprint, WrittenRows};
use parking_lot::Mutex;

use at_server::{AtServer, Distortion};
use report::Report;
use rounds::{End, run};
use through::{Caching, ThroughProxy};

/// How long each of the tests of every run goes on.
const SHORT: Duration = Duration::from_secs(12);

/// Within which a fault must be found.
const FOUND_WITHIN: Duration = Duration::from_secs(60);

/// Each takes all of the machine.
static ALONE: Mutex<()> = Mutex::new(());

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn assert_sound(report: &Report) {
    println!("{report}");
    assert!(report.differences.is_empty(), "differences, printed above");
}

fn assert_telling(report: &Report) {
    assert!(report.telling() > 5 && report.kept() > 5, "so few pairs are no test: {report}");
}

#[test]
fn answers_through_the_proxy_after_a_write_are_those_of_the_server() {
    let _alone = ALONE.lock();
    let mut trial = ThroughProxy::new(Kind::MariaDb, Caching::Exact);
    let report = run(&mut trial, 1, End::After(SHORT));
    assert_sound(&report);
    assert_telling(&report);
}

#[test]
fn answers_after_a_write_are_those_of_the_server_where_the_binlog_is_followed() {
    let _alone = ALONE.lock();
    for server in [Kind::MariaDb, Kind::MySql] {
        let mut trial = ThroughProxy::new(server, Caching::Followed);
        let report = run(&mut trial, 1, End::After(SHORT));
        assert_sound(&report);
        assert!(report.kept() > 5, "so few pairs are no test: {report}");
    }
}

#[test]
fn clock_has_moved_wherever_an_answer_differs() {
    let _alone = ALONE.lock();
    let mut trial = AtServer::new(Kind::MariaDb, Distortion::default());
    let report = run(&mut trial, 1, End::After(SHORT));
    assert_sound(&report);
    assert_telling(&report);
}

/// From here on: both can fail.
#[test]
fn entries_that_outlive_writes_are_found() {
    let _alone = ALONE.lock();
    let mut trial = ThroughProxy::new(Kind::MariaDb, Caching::Ttl);
    let report = run(&mut trial, 1, End::Difference(FOUND_WITHIN));
    assert!(!report.differences.is_empty(), "{report}");
}

#[test]
fn reads_that_take_every_row_for_found_are_found() {
    let takes_all_for_found = |footprint: &mut ReadFootprint, rows: &mut u64| {
        for table in &mut footprint.tables {
            if let ReadRows::Keys { keys, rows_tell_if_found } = &mut table.rows {
                (*rows, *rows_tell_if_found) = (keys.len() as u64, true);
            }
        }
    };
    assert_found(Distortion { read: Some(takes_all_for_found), ..Distortion::default() });
}

#[test]
fn writes_that_are_said_to_touch_no_row_are_found() {
    let touches_nothing = |footprint: &mut WriteFootprint| {
        if let WriteFootprint::Tables(tables) = footprint {
            tables.iter_mut().for_each(|write| write.rows = WrittenRows::Keys(RowKeys::new()));
        }
    };
    assert_found(Distortion { write: Some(touches_nothing), ..Distortion::default() });
}

fn assert_found(distortion: Distortion) {
    let _alone = ALONE.lock();
    let mut trial = AtServer::new(Kind::MariaDb, distortion);
    let report = run(&mut trial, 1, End::Difference(FOUND_WITHIN));
    assert!(!report.differences.is_empty(), "{report}");
}

#[test]
#[ignore = "takes as long as it is told: make soundness"]
fn as_many_pairs_as_wanted_are_sound_through_the_proxy() {
    let _alone = ALONE.lock();
    let (seed, end) = wanted();
    assert_sound(&run(&mut ThroughProxy::new(wanted_server(), Caching::Exact), seed, end));
}

#[test]
#[ignore = "takes as long as it is told: make soundness FOLLOW=bounded"]
fn as_many_pairs_as_wanted_are_sound_where_the_binlog_is_followed() {
    let _alone = ALONE.lock();
    let (seed, end) = wanted();
    assert_sound(&run(&mut ThroughProxy::new(wanted_server(), Caching::Followed), seed, end));
}

#[test]
#[ignore = "takes as long as it is told: make soundness"]
fn as_many_pairs_as_wanted_are_sound_at_the_server() {
    let _alone = ALONE.lock();
    let (seed, end) = wanted();
    assert_sound(&run(&mut AtServer::new(wanted_server(), Distortion::default()), seed, end));
}

/// The first seed, and how many pairs.
fn wanted() -> (u64, End) {
    let number = |name, otherwise| argument(name).map_or(otherwise, |text| text.parse().expect("a number"));
    (number("SEED", 1), End::Pairs(number("PAIRS", 100_000)))
}

fn wanted_server() -> Kind {
    servers::kind_named(argument("SERVER").as_deref())
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_SOUNDNESS_{name}")).ok().filter(|text| !text.is_empty())
}
