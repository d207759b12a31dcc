//! Random sessions, each beside its twin: the same script straight at the server. Nothing that a client can see may differ:
//! rows, columns with their types, counts, ids, warnings, the flags of transaction and autocommit, errors word by word.
//!
//! With the cache on, SELECTs are repeated, so that what comes behind a hit is compared as well.
//!
//! Six sessions run at once on a pool of two connections, plus one for each that may pin one. A printed seed repeats a round; a
//! script that shows a difference is shrunk to the statements that it takes. `make differential` runs as many statements as wanted, on
//! MySQL too.
//!
//! What the proxy is known to answer otherwise is left out of the pieces or not compared:
//!
//! - `FOUND_ROWS()` and `ROW_COUNT()` inside a larger statement (`docs/sessions-and-pins.md`), and on MySQL `FOUND_ROWS()` alone,
//!   which a server warns of;
//! - numbers of prepared statements in errors;
//! - on MySQL, `SET CHARACTER SET` behind COM_RESET_CONNECTION, which forgets the schema's collation there (as seldom; not left out);
//! - whether a transaction is open, behind an error, which does not tell ([`visible::differ_in_doubt`]);
//! - on MySQL, parameters of another type than the statement's first execution had: it converts them, and the first may have
//!   been another session's;
//! - the type of a user variable without a value, which is that of a value before.

mod generator;
mod pieces;
pub(crate) mod random;
mod round;
mod shrink;
mod step;
mod twin;
mod visible;

use std::time::Duration;

use nuthatch_lab::{Kind, Options, ScratchLab};

use crate::client::{Client, Value};
use crate::deadline::Stopwatch;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage;

use twin::{Cache, Place};

/// How long each of the tests of every run goes on.
const SHORT: Duration = Duration::from_secs(20);

/// Of a hundred look-ups in a cache, the hits that a run must come to.
const HITS_PERCENT_MIN: u64 = 20;

/// Differences after which a run ends: shrinking one takes long.
const REPORTS_MAX: usize = 8;

/// A server of its own, whose connections nobody else counts, and a proxy before it.
struct Ground {
    proxy: Proxy,
    place: Place,
    _lab: ScratchLab,
    /// Where the twins go that the proxy must not see: what they define would be a change behind its back.
    _apart: Option<ScratchLab>,
}

impl Ground {
    fn new(kind: Kind, cache: Cache, setup: Setup) -> Self {
        let lab = up(kind);
        let apart = (cache == Cache::Exact).then(|| up(kind));
        let login = servers::account(&lab);
        let setup = stage::before(setup, &lab).user(stage::user_row(&login, ""));
        let setup = setup.variable("mysql-query_cache_type", u8::from(cache == Cache::Exact));
        let proxy = Proxy::start(&setup);
        let place = Place::new(&lab, apart.as_ref().unwrap_or(&lab), kind, cache, &proxy);
        Self { proxy, place, _lab: lab, _apart: apart }
    }

    /// Rounds of seeds from `first` on, until so much is done; every difference is printed.
    #[expect(clippy::print_stdout, reason = "a long run shows how far it is")]
    fn run(&self, first: u64, is_done: impl Fn(usize) -> bool) -> (usize, Vec<String>) {
        let mut limit = round::limit(&self.proxy);
        let (mut statements, mut reports) = (0, Vec::new());
        for seed in first.. {
            let outcome = round::run(&mut limit, &self.place, seed);
            statements += outcome.statements;
            for difference in &outcome.differences {
                println!("DIFFERENCE {difference}");
            }
            reports.extend(outcome.differences);
            if seed % 20 == 0 {
                println!("seed {seed}: {statements} statements, {} differences", reports.len());
            }
            if is_done(statements) || reports.len() >= REPORTS_MAX {
                break;
            }
        }
        println!("{statements} statements from seed {first} on, {} differences", reports.len());
        (statements, reports)
    }

    /// Of the look-ups of a run, the hundredths that were hits.
    fn hits_percent(&self) -> u64 {
        let mut operator = self.proxy.operator();
        let mut counter = |name| stage::figure(&mut operator, name);
        counter("Query_Cache_count_GET_OK") * 100 / counter("Query_Cache_count_GET").max(1)
    }

    /// A run of a cache that must have answered its share.
    #[expect(clippy::print_stdout, reason = "the share is what a long run shows")]
    fn run_with_hits(&self, first: u64, is_done: impl Fn(usize) -> bool) -> (usize, Vec<String>) {
        let outcome = self.run(first, is_done);
        let percent = self.hits_percent();
        println!("{percent} % of the look-ups were hits");
        assert!(percent >= HITS_PERCENT_MIN, "{percent} % hits are no test of what comes behind one");
        outcome
    }
}

fn up(kind: Kind) -> ScratchLab {
    let options = Options {
        installation: servers::installation(kind),
        replicas: 0,
        buffer_pool_mib: 64,
        extra: quick(kind),
        ..Options::default()
    };
    ScratchLab::up(&options).expect("a server comes up")
}

/// What a server that makes tables all the time is spared.
fn quick(kind: Kind) -> Vec<String> {
    match kind {
        Kind::MariaDb => vec!["innodb_flush_log_at_trx_commit=0".into()],
        Kind::MySql => vec!["innodb_flush_log_at_trx_commit=0".into(), "innodb_doublewrite=OFF".into()],
    }
}

#[test]
fn random_scripts_on_two_connections_are_given_what_the_server_gives() {
    let ground = Ground::new(Kind::MariaDb, Cache::Off, Setup::default());
    assert_same(ground.run(1, is_over(SHORT)));
}

#[test]
fn statements_behind_hits_are_given_what_the_server_gives() {
    let ground = Ground::new(Kind::MariaDb, Cache::Exact, Setup::default());
    assert_same(ground.run_with_hits(1, is_over(SHORT)));
}

#[test]
fn statements_behind_hits_are_given_what_mysql_gives() {
    let ground = Ground::new(Kind::MySql, Cache::Exact, Setup::default());
    assert_same(ground.run_with_hits(1, is_over(SHORT)));
}

fn is_over(time: Duration) -> impl Fn(usize) -> bool {
    let watch = Stopwatch::start();
    move |_| watch.elapsed() > time
}

fn assert_same((statements, differences): (usize, Vec<String>)) {
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(statements > 500, "{statements} statements are no test");
}

#[test]
#[ignore = "takes as long as it is told: make differential"]
fn as_many_statements_as_wanted_are_given_what_the_server_gives() {
    let (seed, is_done) = wanted();
    let ground = Ground::new(wanted_server(), Cache::Off, Setup::default());
    assert_none(&ground.run(seed, is_done).1);
}

#[test]
#[ignore = "takes as long as it is told: make differential"]
fn as_many_statements_as_wanted_behind_hits_are_given_what_the_server_gives() {
    let (seed, is_done) = wanted();
    let ground = Ground::new(wanted_server(), Cache::Exact, Setup::default());
    assert_none(&ground.run_with_hits(seed, is_done).1);
}

/// The first seed, and when enough is done.
fn wanted() -> (u64, impl Fn(usize) -> bool) {
    let number = |name, otherwise| argument(name).map_or(otherwise, |text| text.parse().expect("a number"));
    let wanted = number("STATEMENTS", 100_000);
    (number("SEED", 1), move |statements| statements as u64 >= wanted)
}

fn assert_none(differences: &[String]) {
    assert!(differences.is_empty(), "{} differences, printed above", differences.len());
}

/// A rule that swallows a SET makes the proxy lie; the checker must see it, and name the two statements that it takes.
#[test]
fn a_lie_is_seen_and_shrunk_to_the_statements_that_it_takes() {
    let rule = "rule_id=1, match_pattern='^INSERT INTO x1', OK_msg='', apply=1";
    let ground = Ground::new(Kind::MariaDb, Cache::Off, Setup::default().rule(rule));
    let script = generator::script(random::Random::new(7), generator::Profile::Free, &ground.place);
    let lie = ["DROP TABLE IF EXISTS x1", "CREATE TABLE x1 (a INT)", "INSERT INTO x1 SELECT 5"];
    let mut steps = script.steps[..20].to_vec();
    steps.extend(lie.map(step::Step::query));
    steps.extend(script.steps[20..30].iter().cloned());
    steps.push(step::Step::query("SELECT a FROM x1"));
    let twin = twin::Twin::new(&ground.place, 900);
    let differs = |steps: &[step::Step]| twin.run(steps, script.manner).1.is_some();
    assert!(differs(&steps));
    let minimal = shrink::shrink(&steps, 500, differs);
    let minimal: Vec<String> = minimal.iter().map(step::Step::to_string).collect();
    assert_eq!(minimal, ["\"INSERT INTO x1 SELECT 5\""], "the answer to it has another count");
}

/// MySQL converts every value to the type that the statement's first execution had.
#[test]
#[ignore = "it is about MySQL: make differential SERVER=mysql"]
fn parameters_never_have_the_types_of_another_session() {
    let ground = Ground::new(wanted_server(), Cache::Off, Setup::default());
    round::limit(&ground.proxy)(1);
    let session = || Client::connect(&ground.place.proxy, &ground.place.login).expect("the proxy takes it");
    let mut sessions = [session(), session(), session()];
    let statements = sessions.each_mut().map(|client| client.prepare("SELECT ?").expect("it is prepared"));
    let word = || [Value::Text(b"word".to_vec())];
    let number = |client: &mut Client, statement| client.execute(statement, &[Value::Int(5)]);
    assert_eq!(number(&mut sessions[0], &statements[0]).expect("it runs").value(), "5");
    assert_eq!(sessions[1].execute(&statements[1], &word()).expect("it runs").value(), "word");
    assert_eq!(number(&mut sessions[2], &statements[2]).expect("it runs").value(), "5");
    assert_eq!(sessions[1].execute(&statements[1], &word()).expect("it runs").value(), "word");

    for (client, value) in sessions.iter_mut().zip(["5", "'word'", "5"]) {
        client.ok("PREPARE s FROM 'SELECT ?'");
        client.ok(format!("SET @v = {value}"));
        assert_eq!(client.value("EXECUTE s USING @v"), value.trim_matches('\''));
    }
}

fn wanted_server() -> Kind {
    servers::kind_named(argument("SERVER").as_deref())
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_DIFFERENTIAL_{name}")).ok().filter(|text| !text.is_empty())
}
