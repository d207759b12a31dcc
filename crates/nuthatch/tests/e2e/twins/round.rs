//! Sessions at once, each beside its twin, on a pool of two connections and one more for each session that may pin one.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::proxy::Proxy;

use super::generator::{Profile, Script, script};
use super::random::Random;
use super::shrink::shrink;
use super::step::Step;
use super::twin::{Difference, Manner, Place, Twin};

/// At once.
const SESSIONS: usize = 6;

/// Of them, those that may pin a connection, at most.
const PINNING_MAX: usize = 2;

/// Connections that all other sessions share.
const SHARED: usize = 2;

/// How often a script that failed once is run to see whether it fails again.
const TRIES: usize = 6;

/// Scripts that shrinking may run, alone and among others.
const SHRINK_RUNS: usize = 300;
const SHRINK_RUNS_AMONG: usize = 80;

/// Steps that are shown before it is known which it takes.
const UNSHRUNK_SHOWN: usize = 6;

/// What a round showed.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) statements: usize,
    /// Reports of what differed.
    pub(super) differences: Vec<String>,
}

/// The scripts of a round.
pub(super) fn scripts(seed: u64, place: &Place) -> Vec<Script> {
    let mut random = Random::new(seed);
    let pinning = random.below(PINNING_MAX + 1);
    (0..SESSIONS)
        .map(|session| {
            let profile = if session < pinning { Profile::Pinning } else { Profile::Free };
            script(random.fork(), profile, place)
        })
        .collect()
}

/// Runs a round, and shrinks what differs.
pub(super) fn run(limit: &mut impl FnMut(usize), place: &Place, seed: u64) -> Outcome {
    let scripts = scripts(seed, place);
    let pinning = scripts.iter().filter(|script| script.profile == Profile::Pinning).count();
    limit(SHARED + pinning);
    let results: Vec<_> = thread::scope(|scope| {
        let sessions: Vec<_> = scripts
            .iter()
            .enumerate()
            .map(|(number, script)| {
                scope.spawn(move || Twin::new(place, number).run(&script.steps, script.manner))
            })
            .collect();
        sessions.into_iter().map(|session| session.join().expect("a session")).collect()
    });
    let statements = results.iter().map(|(statements, _)| statements).sum();
    let differences = results
        .iter()
        .zip(&scripts)
        .enumerate()
        .filter_map(|(number, ((_, difference), _))| Some((number, difference.as_ref()?)))
        .map(|(number, difference)| report(place, seed, &scripts, number, difference))
        .collect();
    Outcome { statements, differences }
}

/// What differed, in the shortest script that still shows it.
#[expect(clippy::print_stdout, reason = "shrinking takes long")]
fn report(place: &Place, seed: u64, scripts: &[Script], number: usize, difference: &Difference) -> String {
    let manner = scripts[number].manner;
    let seen = &scripts[number].steps[..=difference.place];
    let mut unshrunk = String::new();
    show(&mut unshrunk, &seen[seen.len().saturating_sub(UNSHRUNK_SHOWN)..], difference);
    println!(
        "seed {seed}, session {number}, step {} differs, and is shrunk now:{unshrunk}",
        difference.place
    );
    let mut text = format!("seed {seed}, session {number}, {manner:?}: ");
    // A shorter script may differ for another reason: the statement that shows it must be the same.
    let is_same = |steps: &[Step], found: Option<Difference>| {
        let shown = |steps: &[Step], place: usize| steps.get(place).map(Step::to_string);
        found.is_some_and(|found| shown(steps, found.place) == shown(seen, difference.place))
    };
    let alone = is_same(seen, again(place, number, seen, manner));
    let minimal = if alone {
        text.push_str("also alone.");
        shrink(seen, SHRINK_RUNS, |steps| is_same(steps, again(place, number, steps, manner)))
    } else {
        let among = |steps: &[Step]| is_same(steps, among_others(place, scripts, number, steps));
        if !among(seen) {
            write!(text, "not seen again in {TRIES} runs.").expect("a string");
            show(&mut text, seen, difference);
            return text;
        }
        text.push_str("among others.");
        shrink(seen, SHRINK_RUNS_AMONG, among)
    };
    let last = if alone {
        again(place, number, &minimal, manner)
    } else {
        among_others(place, scripts, number, &minimal)
    };
    show(&mut text, &minimal, last.as_ref().unwrap_or(difference));
    text
}

fn show(text: &mut String, steps: &[Step], difference: &Difference) {
    for step in steps {
        write!(text, "\n    {step},").expect("a string");
    }
    let (direct, proxied) =
        (difference.direct.join("\n            "), difference.proxied.join("\n            "));
    write!(text, "\n  direct:   {direct}\n  proxied:  {proxied}").expect("a string");
}

/// The script alone.
fn again(place: &Place, number: usize, steps: &[Step], manner: Manner) -> Option<Difference> {
    Twin::new(place, number).run(steps, manner).1
}

/// The script while the others of its round run again and again: as often as it may take.
fn among_others(place: &Place, scripts: &[Script], number: usize, steps: &[Step]) -> Option<Difference> {
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        for (other, script) in scripts.iter().enumerate().filter(|(other, _)| *other != number) {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let over = || is_over.load(Ordering::Relaxed);
                    Twin::new(place, other).disturb(&script.steps, script.manner, over);
                }
            });
        }
        let found = (0..TRIES).find_map(|_| again(place, number, steps, scripts[number].manner));
        is_over.store(true, Ordering::Relaxed);
        found
    })
}

/// Sets the limit of the proxy's only server.
pub(super) fn limit(proxy: &Proxy) -> impl FnMut(usize) {
    let mut in_force = 0;
    move |connections| {
        if connections != in_force {
            let mut operator = proxy.operator();
            operator.ok(format!("UPDATE mysql_servers SET max_connections = {connections}"));
            operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
            in_force = connections;
        }
    }
}
