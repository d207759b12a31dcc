//! A random script: pieces of text, and commands that are no text.

use std::iter;

use nuthatch_lab::Kind;

use crate::client::{Cursor, Types, Value};

use super::pieces::{BEHIND_HITS, FREE, On, PINNING, PREPARED};
use super::random::Random;
use super::step::Step;
use super::twin::{Cache, Manner, Place, SLOTS};

/// Pieces of a script.
const PIECES: usize = 60;

const WORDS: [&str; 6] = ["a", "word", "\u{e9}t\u{e9}", "", "x ; y", "100%"];

/// Whether a script may hold a connection to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    Free,
    Pinning,
}

/// A session's part in a round.
#[derive(Debug, Clone)]
pub(super) struct Script {
    pub(super) profile: Profile,
    pub(super) manner: Manner,
    pub(super) steps: Vec<Step>,
}

/// The script that this generator gives for a place.
pub(super) fn script(mut random: Random, profile: Profile, place: &Place) -> Script {
    let manner = Manner { collation: *random.pick(&[45, 45, 33, 8]), deprecates_eof: random.below(3) > 0 };
    let mut writer = Writer { random, profile, kind: place.kind, cache: place.cache, steps: Vec::new() };
    for _ in 0..PIECES {
        writer.piece();
    }
    Script { profile, manner, steps: writer.steps }
}

/// Whether a piece takes with it what a cache holds, for all sessions: definitions, and code that is not looked into. Often that would
/// leave nothing to be hit.
fn empties_it(texts: &[&str]) -> bool {
    const WORDS: [&str; 9] =
        ["CREATE ", "DROP ", "ALTER ", "TRUNCATE ", "CALL ", "EXECUTE", " f(", " fs(", " fe("];
    texts.iter().any(|text| WORDS.iter().any(|word| text.contains(word)))
}

struct Writer {
    random: Random,
    profile: Profile,
    kind: Kind,
    cache: Cache,
    steps: Vec<Step>,
}

impl Writer {
    fn piece(&mut self) {
        match self.random.below(100) {
            0..14 => self.prepare(),
            14..24 => self.execute(),
            24..28 => self.handle_statement(),
            28..31 => self.command(),
            31.. if self.cache == Cache::Exact && self.random.below(4) > 0 => self.text(BEHIND_HITS),
            31..60 if self.profile == Profile::Pinning => self.text(PINNING),
            _ => self.text(FREE),
        }
    }

    fn knows(&self, on: On) -> bool {
        match on {
            On::Both => true,
            On::MariaDb => self.kind == Kind::MariaDb,
            On::MySql => self.kind == Kind::MySql,
        }
    }

    fn text(&mut self, pieces: &[(On, &[&str])]) {
        let (on, texts) = *self.random.pick(pieces);
        if !self.knows(on) || (self.cache == Cache::Exact && empties_it(texts) && self.random.below(8) > 0) {
            return;
        }
        let [n, m, k] = [9, 9, 3].map(|limit| (1 + self.random.below(limit)).to_string());
        let word = *self.random.pick(&WORDS);
        let fill = |text: &&str| {
            Step::query(text.replace("{n}", &n).replace("{m}", &m).replace("{k}", &k).replace("{w}", word))
        };
        for step in texts.iter().map(fill) {
            self.step(step);
        }
    }

    /// Before a cache, what it may hold is asked again: that is a hit, if it does.
    fn step(&mut self, step: Step) {
        let times =
            if self.cache == Cache::Exact && step.may_be_cached() { 1 + self.random.below(3) } else { 0 };
        self.steps.extend(iter::repeat_n(step, 1 + times));
    }

    fn slot(&mut self) -> usize {
        self.random.below(SLOTS)
    }

    fn prepare(&mut self) {
        let (on, sql) = *self.random.pick(PREPARED);
        if self.knows(on) {
            let slot = self.slot();
            self.steps.push(Step::Prepare(slot, sql.into()));
            let values = self.values();
            self.step(Step::Execute(slot, values, Types::Sent, Cursor::None));
        }
    }

    fn execute(&mut self) {
        let (slot, values) = (self.slot(), self.values());
        if self.random.below(4) == 0 {
            // Where it is text: compared with a number MariaDB itself has now these rows, now those.
            self.steps.push(Step::Prepare(slot, "SELECT CONCAT(LEFT(?, 9), '!')".into()));
            self.steps.push(Step::LongData(slot, "long ".into()));
            self.steps.push(Step::LongData(slot, "data".into()));
            let values = [vec![Value::Long], values].concat();
            self.steps.push(Step::Execute(slot, values, Types::Sent, Cursor::None));
            if self.kind == Kind::MySql {
                // With a number behind it, MySQL 9.7 by itself never answers.
                self.steps.push(Step::Close(slot));
            }
            return;
        }
        self.step(Step::Execute(slot, values, Types::Sent, Cursor::None));
    }

    fn handle_statement(&mut self) {
        let slot = self.slot();
        match self.random.below(4) {
            0 => self.steps.push(Step::Close(slot)),
            1 => self.steps.push(Step::ResetStatement(slot)),
            _ => {
                let values = self.values();
                self.steps.push(Step::Execute(slot, values, Types::Sent, Cursor::ReadOnly));
                self.steps.push(Step::Fetch(slot, 1));
                self.steps.push(Step::Fetch(slot, 9));
                self.steps.push(Step::ResetStatement(slot));
                if self.kind == Kind::MySql {
                    // The next execution may never be answered, or unreadably: by MySQL 9.7 itself.
                    self.steps.push(Step::Close(slot));
                }
            }
        }
    }

    fn command(&mut self) {
        let step = match self.random.below(8) {
            0 => Step::ResetConnection,
            1 => Step::ChangeUser,
            2 => Step::Ping,
            3 => Step::InitDb("no_such_schema".into()),
            4 => Step::InitDb("mysql".into()),
            _ => Step::InitDb("{s}".into()),
        };
        let leaves = matches!(&step, Step::InitDb(schema) if schema == "mysql");
        self.steps.push(step);
        if leaves {
            self.steps.push(Step::query("SELECT DATABASE()"));
            self.steps.push(Step::query("USE {s}"));
        }
    }

    /// On MySQL of one type: there a statement goes by the types of its first execution, which may be another session's.
    fn values(&mut self) -> Vec<Value> {
        let kinds = if self.kind == Kind::MySql { 3 } else { 6 };
        let mut value = || match 5 - self.random.below(kinds) {
            0 => Value::Null,
            1 => Value::Text(b"word".to_vec()),
            2 => Value::Text(b"2".to_vec()),
            _ => Value::Int(i64::try_from(self.random.below(5)).expect("small")),
        };
        vec![value(), value()]
    }
}
