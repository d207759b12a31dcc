//! Equivalence: every answer of the proxy, from its cache or not, is what a connection of the client's own is answered.
//!
//! Two servers are kept in step, a proxy with the exact cache before one of them. Each session of a script is a client of the proxy and
//! a connection to the other server that logged in at the same moment; both say the same, and every answer is compared: rows, columns
//! with their types, counts, ids, warnings, errors word by word. Scripts (`author`, **start there**) change what answers rest on besides
//! tables: global defaults, what stored code sets, the clock (libfaketime has both servers' stand still until it jumps), types that are
//! converted, snapshots, hints, SQL modes. A round is a script with a proxy of its own: it repeats by its printed seed, and is
//! shrunk to the steps that show the difference. One statement is over before the next begins: races are the freshness checker's.
//!
//! Left out, as known to differ or another test's: whether a transaction is open (`e2e/twins`), the plan that EXPLAIN shows,
//! `FOUND_ROWS()` and `LAST_INSERT_ID()` (`e2e/session`).
//!
//! What each theme finds, and the first seed that finds it (`SERVER=… SEED=… ANSWERS=1 THEME=…`) in the tree as it stood before any of it was
//! mended. There all six were found within 42 s with MariaDB 10.11 and 26 s with MySQL 9.7, on a machine with ten times as much to do as it can:
//!
//! | theme | finds | MariaDB | MySQL |
//! |---|---|---|---|
//! | globals | answers of connections with other defaults than the session's, changed through the proxy | 8 | 8 |
//! | past | the same, changed past it | 7 | 7 |
//! | code | state that stored code has left on a pooled connection | 1 | 12 |
//! | types | TIME that became a DATE or DATETIME of another day | 2 | 2 |
//! | snapshots | snapshots that open before the server would open one | 3 | 3 |
//! | hints | `SET_VAR` of what reads the session's own | (none there) | 29 |
//! | modes | what `sql_mode=ORACLE` adds to the grammar | 46 | (none there) |

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
#[path = "../e2e/twins/shrink.rs"]
mod shrink;
#[path = "../e2e/twins/visible.rs"]
#[expect(dead_code, reason = "the twins use all of it")]
mod visible;

mod author;
mod schema;
mod step;

mod clock;
mod ground;

mod round;
mod side;

mod report;

use std::time::Duration;

use e2e::{client, deadline, proxy, servers, stage};
use nuthatch_lab::Kind;

use author::Theme;
use deadline::Stopwatch;
use ground::Ground;
use report::Report;

/// How long each of the tests of every run goes on.
const SHORT: Duration = Duration::from_secs(25);

/// Differences after which a run ends: shrinking one takes long.
const REPORTS_MAX: u64 = 8;

/// Answers of which a run without any hits would be no test.
const HITS_PERCENT_MIN: u64 = 5;

/// How differences are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// Each is shrunk; a run ends with the eighth.
    Shrunk,
    /// As found; a run goes on.
    Counted,
}

/// Rounds of seeds from `first` on, each of the next theme, until so much is done.
#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn run(
    kind: Kind,
    first: u64,
    themes: &[Theme],
    telling: Telling,
    is_done: impl Fn(&Report) -> bool,
) -> Report {
    let ground = Ground::new(kind);
    let watch = Stopwatch::start();
    let mut report = Report::default();
    for seed in first.. {
        let theme = themes[usize::try_from(seed).expect("a seed") % themes.len()];
        let script = author::script(seed, kind, theme);
        let outcome = round::run(&ground, &script.definitions, &script.steps);
        report.add(theme, &outcome, watch.elapsed());
        if let Some(difference) = &outcome.difference {
            let told = match telling {
                Telling::Shrunk => round::told(&ground, &script, difference),
                Telling::Counted => {
                    round::shown(&[], &script.steps[difference.last()..=difference.last()], difference)
                }
            };
            println!("DIFFERENCE in the round of seed {seed}, theme {}{told}", theme.name());
            println!(
                "  again: make equivalence SERVER={} SEED={seed} ANSWERS=1 THEME={}",
                server_name(kind),
                theme.name()
            );
        }
        if seed % 50 == 0 {
            println!("seed {seed}: {} answers, {} differences", report.answers(), report.differences());
        }
        if is_done(&report) || (telling == Telling::Shrunk && report.differences() >= REPORTS_MAX) {
            break;
        }
    }
    println!("{report}");
    report
}

fn server_name(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "mariadb",
        Kind::MySql => "mysql",
    }
}

fn assert_equivalent(report: &Report) {
    assert_eq!(report.differences(), 0, "differences, printed above");
}

fn assert_same_for_a_while(kind: Kind) {
    let watch = Stopwatch::start();
    let report = run(kind, 1, &Theme::ALL, Telling::Shrunk, |_| watch.elapsed() > SHORT);
    assert_equivalent(&report);
    let percent = report.hits() * 100 / report.answers().max(1);
    assert!(report.answers() > 1_000 && percent >= HITS_PERCENT_MIN, "that is no test:\n{report}");
}

#[test]
fn every_answer_is_a_fresh_connections_with_mariadb() {
    assert_same_for_a_while(Kind::MariaDb);
}

#[test]
fn every_answer_is_a_fresh_connections_with_mysql() {
    assert_same_for_a_while(Kind::MySql);
}

#[test]
#[ignore = "takes as long as it is told: make equivalence"]
fn as_many_answers_as_wanted_are_a_fresh_connections() {
    let number = |name, otherwise| argument(name).map_or(otherwise, |text| text.parse().expect("a number"));
    let (seed, answers) = (number("SEED", 1), number("ANSWERS", 100_000));
    let kind = servers::kind_named(argument("SERVER").as_deref());
    let telling = if argument("COUNT").is_some() { Telling::Counted } else { Telling::Shrunk };
    let report = run(kind, seed, &themes(), telling, |report| report.answers() >= answers);
    assert_equivalent(&report);
}

/// All, or the one that is wanted.
fn themes() -> Vec<Theme> {
    let wanted = argument("THEME");
    let themes = Theme::ALL.into_iter();
    let themes: Vec<Theme> =
        themes.filter(|theme| wanted.as_deref().is_none_or(|wanted| wanted == theme.name())).collect();
    assert!(!themes.is_empty(), "{wanted:?} is no theme");
    themes
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_EQUIVALENCE_{name}")).ok().filter(|text| !text.is_empty())
}
