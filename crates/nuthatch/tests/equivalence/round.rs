//! A script on both sides, statement by statement, up to the first answer that differs.

use std::fmt::Write as _;

use crate::author::Script;
use crate::client::{Client, Failure};
use crate::ground::{Ground, Stage};
use crate::shrink::shrink;
use crate::side::{self, Form};
use crate::step::{Manner, SLOTS, Slot, Step};

/// Runs that shrinking a script may take.
const SHRINK_RUNS: usize = 150;

/// Runs of the whole script after which a difference counts as one of chance: which connection is free first may depend on the time.
const TRIES: usize = 3;

/// How a session logs in whose own login a shorter script left out.
const USUAL: Manner = Manner { deprecates_eof: true, is_told: false };

/// What a script came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Answers that were compared.
    pub(crate) answers: u64,
    /// Of these, errors.
    pub(crate) errors: u64,
    /// Of these, from the cache.
    pub(crate) hits: u64,
    pub(crate) difference: Option<Difference>,
}

/// An answer that differs.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    place: usize,
    direct: Vec<String>,
    proxied: Vec<String>,
}

impl Difference {
    /// Of which step.
    pub(crate) fn last(&self) -> usize {
        self.place
    }
}

/// A session on both sides.
struct Pair {
    direct: Client,
    proxied: Client,
}

struct Sessions<'a> {
    ground: &'a Ground,
    stage: Stage,
    pairs: [Option<Pair>; SLOTS],
    marks: u32,
}

/// Runs the steps from the beginning of a round.
pub(crate) fn run(ground: &Ground, definitions: &[String], steps: &[Step]) -> Outcome {
    let stage = ground.begin(definitions);
    let mut sessions = Sessions { ground, stage, pairs: Default::default(), marks: 0 };
    let mut outcome = Outcome::default();
    for (place, step) in steps.iter().enumerate() {
        let (direct, proxied) = sessions.take(step);
        outcome.answers += direct.len() as u64;
        outcome.errors += direct.iter().filter(|answer| answer.starts_with("error")).count() as u64;
        if direct != proxied {
            let [mut direct, mut proxied] = [direct, proxied];
            sessions.add_warnings(step, &mut direct, &mut proxied);
            outcome.difference = Some(Difference { place, direct, proxied });
            break;
        }
    }
    outcome.hits = sessions.stage.hits();
    outcome
}

impl Sessions<'_> {
    /// What the step is answered on both sides: directly first.
    fn take(&mut self, step: &Step) -> (Vec<String>, Vec<String>) {
        match step {
            Step::Open(slot, manner) => {
                self.pairs[*slot] = None;
                return self.open(*slot, *manner);
            }
            Step::Leave(slot) => self.pairs[*slot] = None,
            Step::Query(slot, sql) => return self.ask(*slot, sql, Form::Text),
            Step::Prepared(slot, sql) => return self.ask(*slot, sql, Form::Prepared),
            Step::Past(sql) => self.go_past(sql),
            Step::Clock(time) => self.ground.clock.set(time),
        }
        Default::default()
    }

    fn open(&mut self, slot: Slot, manner: Manner) -> (Vec<String>, Vec<String>) {
        let [direct, proxied] = [&self.stage.direct, &self.stage.proxied].map(|place| place.connect(manner));
        match (direct, proxied) {
            (Ok(direct), Ok(proxied)) => {
                self.pairs[slot] = Some(Pair { direct, proxied });
                Default::default()
            }
            (direct, proxied) => (vec![login(&direct)], vec![login(&proxied)]),
        }
    }

    fn ask(&mut self, slot: Slot, sql: &str, form: Form) -> (Vec<String>, Vec<String>) {
        if self.pairs[slot].is_none() {
            drop(self.open(slot, USUAL));
        }
        let Some(pair) = &mut self.pairs[slot] else { return Default::default() };
        let direct = side::answers(&mut pair.direct, sql, form);
        let proxied = side::answers(&mut pair.proxied, sql, form);
        if side::is_over(&direct) {
            self.pairs[slot] = None;
        }
        if side::may_be_refused(sql, &proxied) {
            // To one of them it was a statement, which the next may ask of.
            self.pairs[slot] = None;
            return (direct.clone(), direct);
        }
        (direct, proxied)
    }

    /// What a difference may come from.
    fn add_warnings(&mut self, step: &Step, direct: &mut Vec<String>, proxied: &mut Vec<String>) {
        let (Step::Query(slot, _) | Step::Prepared(slot, _)) = step else { return };
        let Some(pair) = &mut self.pairs[*slot] else { return };
        for (client, told) in [(&mut pair.direct, direct), (&mut pair.proxied, proxied)] {
            let warnings = client.query("SHOW WARNINGS").map(|answer| answer.table()).unwrap_or_default();
            told.extend(warnings.iter().map(|row| format!("warning: {}", row.join(" "))));
        }
    }

    /// Returns when the proxy has looked at its server again, which it does for a table that it sees made.
    fn go_past(&mut self, sql: &str) {
        self.ground.on_both(|client| drop(client.query_whole(sql).expect("the connection holds")));
        self.marks += 1;
        let mark = format!("CREATE TABLE fresh.extra_mark{} (id INT)", self.marks);
        for place in [&self.stage.direct, &self.stage.proxied] {
            place.connect(USUAL).expect("the login is taken").ok(&mark);
        }
        self.stage.await_look();
    }
}

/// What a login came to, as it is compared.
fn login(outcome: &Result<Client, Failure>) -> String {
    outcome.as_ref().map_or_else(|failure| format!("error at login: {failure:?}"), |_| "let in".to_owned())
}

/// The difference with the fewest steps that show it, as text.
pub(crate) fn told(ground: &Ground, script: &Script, difference: &Difference) -> String {
    let seen = &script.steps[..=difference.place];
    let last = seen.last().expect("a step");
    let differs = |definitions: &[String], steps: &[Step]| {
        let again = run(ground, definitions, steps).difference;
        again.filter(|again| steps.get(again.place) == Some(last))
    };
    if (0..TRIES).all(|_| differs(&script.definitions, seen).is_none()) {
        return format!(", not seen again in {TRIES} runs:{}", shown(&script.definitions, seen, difference));
    }
    let steps = shrink(seen, SHRINK_RUNS, |steps| differs(&script.definitions, steps).is_some());
    let definitions = shrink(&script.definitions, SHRINK_RUNS, |kept| differs(kept, &steps).is_some());
    let least = differs(&definitions, &steps).unwrap_or_else(|| difference.clone());
    shown(&definitions, &steps, &least)
}

/// The difference as it was found.
pub(crate) fn shown(definitions: &[String], steps: &[Step], difference: &Difference) -> String {
    let mut text = String::new();
    let lines =
        definitions.iter().map(|sql| format!("defined: {sql}")).chain(steps.iter().map(ToString::to_string));
    lines.for_each(|line| write!(text, "\n    {line}").expect("a string"));
    let Difference { direct, proxied, .. } = difference;
    let has_same_columns = direct.len() == proxied.len()
        && direct.iter().zip(proxied).all(|(one, other)| split(one).0 == split(other).0);
    let told = |answers: &[String]| -> Vec<String> {
        let told = answers.iter().map(|answer| if has_same_columns { split(answer).1 } else { answer });
        told.map(str::to_owned).collect()
    };
    let (direct, proxied) = (told(direct).join("\n           "), told(proxied).join("\n           "));
    write!(text, "\n  direct:  {direct}\n  proxied: {proxied}").expect("a string");
    text
}

/// An answer's columns, and its rows and what stands behind them.
fn split(answer: &str) -> (&str, &str) {
    answer.find("rows=").map_or(("", answer), |at| answer.split_at(at))
}
