//! Every byte: the connection between proxy and server is cut behind each byte that goes to the server or comes from it, under scripted
//! sessions ([`scripts`], **start there**).
//!
//! A relay of the test's own counts bytes and cuts ([`relay`]). Each statement gets its answer or one error, which is held against what
//! the server has done: a write leaves a mark there ([`player`]). A read outside a transaction of which nothing had come is answered all
//! the same. Behind an error the session goes on in its state, or is closed if it had something on the lost connection; behind an answer it is
//! closed where the proxy had still to ask for what the session must know (an id, a setting that the server worked out). Nobody is shown
//! an exact answer afterwards that lacks what is there.
//!
//! A case is a script, a way, a byte, whether the pool was empty and whether the proxy sees a reset; a finding names it.

#[path = "../e2e"]
#[expect(dead_code, reason = "the tests end to end use all of it")]
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

mod relay;

mod player;
mod scripts;

mod ground;

use e2e::{client, deadline, proxy, servers, stage};

use ground::{Case, Ground};
use nuthatch_lab::Kind;
use player::Fault;
use proxy::Setup;
use random::Random;
use relay::{Direction, Trap};
use scripts::{SCRIPTS, Script, huge};

/// Cuts of every run, and the seed that they are chosen by.
const CUTS: usize = 500;
const CUTS_OF_TRANSACTIONS: usize = 150;
const SEED: u64 = 14;

/// Of a script with more bytes one in several is cut, where all are.
const PLACES_MAX: usize = 6000;

/// Within so many cuts a checker must find what is wrong.
const FOUND_WITHIN: usize = 400;

/// The bytes that a script has pass each way, with pools that are empty or not.
struct Measured {
    script: Script,
    is_cold: bool,
    direction: Direction,
    bytes: usize,
}

/// Plays each script without a cut.
fn measure(ground: &mut Ground, scripts: &[Script]) -> Vec<Measured> {
    let mut all = Vec::new();
    for script in scripts {
        for is_cold in [true, false] {
            let outcome = ground.play(&Case { script: *script, trap: None, is_cold, fault: Fault::None });
            assert_eq!((outcome.errors, &outcome.violations), (0, &Vec::new()), "{}", script.0);
            let (to_server, to_proxy) = outcome.passed;
            for (direction, bytes) in [(Direction::ToServer, to_server), (Direction::ToProxy, to_proxy)] {
                all.push(Measured { script: *script, is_cold, direction, bytes });
            }
        }
    }
    all
}

fn case_of(measured: &Measured, bytes: usize, fault: Fault) -> Case {
    let trap = Trap { direction: measured.direction, bytes, resets: bytes.is_multiple_of(2) };
    Case { script: measured.script, trap: Some(trap), is_cold: measured.is_cold, fault }
}

/// Plays so many cuts by chance, or all. Returns what was found, each with its case.
fn cut(ground: &mut Ground, scripts: &[Script], seed: u64, cuts: Option<usize>, fault: Fault) -> Vec<String> {
    let measured = measure(ground, scripts);
    let byte = argument("BYTE").map(|text| text.parse().expect("a number"));
    let cases: Vec<Case> = match (byte, cuts) {
        (Some(byte), cuts) => {
            let times = 0..cuts.unwrap_or(1);
            times.flat_map(|_| measured.iter().map(|measured| case_of(measured, byte, fault))).collect()
        }
        (None, Some(cuts)) => {
            let mut random = Random::new(seed);
            let mut by_chance = || {
                let measured = random.pick(&measured);
                case_of(measured, 1 + random.below(measured.bytes), fault)
            };
            (0..cuts).map(|_| by_chance()).collect()
        }
        (None, None) => measured
            .iter()
            .flat_map(|measured| {
                let step = measured.bytes.div_ceil(PLACES_MAX).max(1);
                (1..=measured.bytes).step_by(step).map(|bytes| case_of(measured, bytes, fault))
            })
            .collect(),
    };
    let (mut found, mut reached, mut errors, mut ended) = (Vec::new(), 0, 0, 0);
    for case in &cases {
        let outcome = ground.play(case);
        reached += usize::from(outcome.was_cut);
        errors += outcome.errors;
        ended += usize::from(outcome.was_ended);
        let (name, _) = case.script;
        for violation in &outcome.violations {
            let trap = case.trap.expect("it is cut");
            let finding = format!("'{name}' {trap:?} cold={}: {violation}", case.is_cold);
            // What comes behind it may end the run.
            tell(&finding);
            found.push(finding);
        }
        if !found.is_empty() && fault != Fault::None {
            break;
        }
    }
    tell(&format!(
        "seed {seed}: {} cases, {reached} cut, {errors} errors told, {ended} sessions ended behind an answer, {} findings",
        cases.len(),
        found.len()
    ));
    let (lost, again) = ground.replays();
    tell(&format!("{lost} transactions lost that were written down, {again} done again"));
    found
}

#[expect(clippy::print_stdout, reason = "the outcome is what a run is for")]
fn tell(line: &str) {
    println!("{line}");
}

#[test]
fn connection_that_is_cut_at_any_byte_leaves_nothing_wrong() {
    let mut ground = Ground::new(Kind::MariaDb, Setup::default());
    let found = cut(&mut ground, &SCRIPTS, SEED, Some(CUTS), Fault::None);
    assert!(found.is_empty(), "findings, printed above");
}

#[test]
fn transaction_that_is_cut_at_any_byte_is_done_again_and_leaves_nothing_wrong() {
    let mut ground = Ground::new(Kind::MariaDb, replaying());
    let scripts: Vec<_> =
        SCRIPTS.into_iter().filter(|(name, _)| ["transaction", "exact cache"].contains(name)).collect();
    let found = cut(&mut ground, &scripts, SEED, Some(CUTS_OF_TRANSACTIONS), Fault::None);
    assert!(found.is_empty(), "findings, printed above");
    let (lost, again) = ground.replays();
    assert!(again > 0 && again * 2 > lost, "only {again} of {lost} were done again");
}

fn replaying() -> Setup {
    Setup::default().variable("mysql-transaction_replay", true)
}

/// From here on: the checker can fail.
#[test]
fn write_that_is_sent_again_is_found() {
    let mut ground = Ground::new(Kind::MariaDb, Setup::default());
    let found = cut(&mut ground, &SCRIPTS[..2], SEED, Some(FOUND_WITHIN), Fault::SendsAgain);
    assert!(found.iter().any(|finding| finding.contains("expected Once")), "{found:?}");
}

#[test]
#[ignore = "takes as long as it is told: make every-byte"]
fn as_many_cuts_as_wanted_leave_nothing_wrong() {
    let seed = argument("SEED").map_or(SEED, |text| text.parse().expect("a number"));
    let cuts = argument("CUTS").map(|text| text.parse().expect("a number"));
    let replays = argument("REPLAY").is_some();
    let setup = match replays {
        true => replaying(),
        false => Setup::default(),
    };
    let mut ground = Ground::new(servers::kind_named(argument("SERVER").as_deref()), setup);
    let named = argument("SCRIPT");
    let scripts: Vec<_> = SCRIPTS
        .into_iter()
        .chain([("huge packets", huge as fn(&mut player::Player) -> player::Flow)])
        .filter(|(name, _)| named.as_ref().map_or(*name != "huge packets", |named| named == name))
        .collect();
    let found = cut(&mut ground, &scripts, seed, cuts, Fault::None);
    assert!(found.is_empty(), "findings, printed above");
}

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn argument(name: &str) -> Option<String> {
    std::env::var(format!("NUTHATCH_EVERY_BYTE_{name}")).ok().filter(|text| !text.is_empty())
}
