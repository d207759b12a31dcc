//! Who writes scripts: pieces by theme, templates whose blanks, `{tm}`, are filled by chance.
//!
//! A script asks few questions again and again, from all sessions, so that an answer that one session had under a state of its own would
//! be served to others. No session ever waits for another: where one has a transaction open, others write one statement each.

mod code;
pub(crate) mod globals;
mod hints;
mod questions;
mod snapshots;
mod states;

use nuthatch_lab::Kind;

use crate::random::Random;
use crate::step::{Manner, SLOTS, Slot, Step};

/// What a round is about. All of them ask questions, and have sessions come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Theme {
    /// SET GLOBAL and SET PERSIST through the proxy.
    Globals,
    /// The same past it.
    Past,
    /// State that stored code sets, where statements fail, or come several at once, or do not look like a call.
    Code,
    /// Values of unlike types, and a clock that jumps.
    Types,
    /// Transactions whose first reads may open no snapshot.
    Snapshots,
    /// Variables for one statement: `SET_VAR`, on MariaDB `SET STATEMENT`.
    Hints,
    /// SQL modes that add to the grammar.
    Modes,
}

impl Theme {
    /// In turn; code twice, as there is so much of it.
    pub(crate) const ALL: [Self; 8] = [
        Self::Globals,
        Self::Code,
        Self::Types,
        Self::Snapshots,
        Self::Code,
        Self::Hints,
        Self::Modes,
        Self::Past,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Globals => "globals",
            Self::Past => "past",
            Self::Code => "code",
            Self::Types => "types",
            Self::Snapshots => "snapshots",
            Self::Hints => "hints",
            Self::Modes => "modes",
        }
    }
}

/// A round's content.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// Code, and views over it.
    pub(crate) definitions: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

/// Pieces of a script; one is one to ten steps.
const PIECES: usize = 45;

/// Questions of a round.
const QUESTIONS: usize = 7;

/// Times that the servers' clocks jump to, in this order.
const TIMES: [&str; 9] = [
    "2026-03-28 23:59:59",
    "2026-03-29 00:00:01",
    "2026-03-29 01:59:59",
    "2026-03-29 03:00:00",
    "2026-03-30 00:00:00",
    "2026-10-25 02:30:00",
    "2026-10-26 00:00:01",
    "2026-12-31 23:59:59",
    "2027-01-01 00:00:00",
];

/// The script that a seed gives for a theme.
pub(crate) fn script(seed: u64, kind: Kind, theme: Theme) -> Script {
    let random = Random::new(seed);
    let mut author = Author { random, kind, theme, questions: Vec::new(), time: 0, steps: Vec::new() };
    let definitions = author.definitions();
    author.questions = (0..QUESTIONS).map(|_| author.question()).collect();
    (0..SLOTS).for_each(|slot| author.open(slot));
    (0..PIECES).for_each(|_| author.piece());
    Script { definitions, steps: author.steps }
}

pub(super) struct Author {
    random: Random,
    kind: Kind,
    theme: Theme,
    questions: Vec<String>,
    /// Which of the times is next.
    time: usize,
    steps: Vec<Step>,
}

/// On which servers a piece is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum On {
    Both,
    MariaDb,
    MySql,
}

impl Author {
    fn piece(&mut self) {
        match self.random.below(100) {
            0..35 => self.ask(),
            35..45 => self.come_and_go(),
            45..50 => self.write(),
            50..54 => self.state(),
            54..57 => self.fail(),
            57..60 => self.jump(),
            _ => self.of_the_theme(),
        }
    }

    fn of_the_theme(&mut self) {
        match self.theme {
            Theme::Globals => self.global(),
            Theme::Past => self.global_past(),
            Theme::Code => self.run_code(),
            Theme::Types => self.jump_between_questions(),
            Theme::Snapshots => self.transaction(),
            Theme::Hints => self.hinted(),
            Theme::Modes => self.mode(),
        }
    }

    /// One question, by some sessions.
    fn ask(&mut self) {
        let question = self.random.pick(&self.questions).clone();
        for _ in 0..=self.random.below(3) {
            self.someone(&question);
        }
    }

    /// Any session says it, in either form.
    fn someone(&mut self, sql: &str) {
        let slot = self.random.below(SLOTS);
        self.says(slot, sql);
    }

    fn says(&mut self, slot: Slot, sql: &str) {
        let is_prepared = self.random.below(5) == 0 && !sql.contains(';');
        let step = if is_prepared { Step::Prepared } else { Step::Query };
        self.steps.push(step(slot, sql.to_owned()));
    }

    fn open(&mut self, slot: Slot) {
        let manner = Manner { deprecates_eof: self.random.below(2) == 0, is_told: self.random.below(3) == 0 };
        self.steps.push(Step::Open(slot, manner));
    }

    /// Somebody leaves, somebody comes and asks.
    fn come_and_go(&mut self) {
        let slot = self.random.below(SLOTS);
        if self.random.below(2) == 0 {
            self.steps.push(Step::Leave(slot));
        }
        self.open(slot);
        let question = self.random.pick(&self.questions).clone();
        self.says(slot, &question);
        self.ask();
    }

    fn write(&mut self) {
        if self.knows(On::MariaDb) && self.random.below(6) == 0 {
            let sql = self.fill("UPDATE old SET n = {n} WHERE id = {id}");
            self.someone(&sql);
        }
        let sql = self.any(&[
            "UPDATE t SET n = {n}, s = '{n}' WHERE id = {id}",
            "UPDATE t SET tm = '{n}:30:00' WHERE id = {id}",
            "UPDATE t SET dt = '2026-03-2{n} 23:59:59', ts = '2026-03-2{n} 12:00:00' WHERE id = {id}",
            "UPDATE kept SET n = {n} WHERE id = {id}",
            "INSERT INTO kept VALUES ({n}0, 1) ON DUPLICATE KEY UPDATE n = {n}",
        ]);
        self.someone(&sql);
    }

    /// What the server refuses, at different points of its work.
    fn fail(&mut self) {
        let sql = self.any(&[
            "INSERT INTO kept VALUES (1, 1)",
            "INSERT INTO kept VALUES ({n}1, 'word')",
            "INSERT INTO kept VALUES ({n}2, 1), (1, 1)",
            "UPDATE kept SET n = 'word' WHERE id = 1",
            "UPDATE kept SET n = n / 0",
            "SELECT nowhere FROM t",
            "SELECT (SELECT id FROM t)",
            "SELECT 1; SELECT nowhere; SELECT 2",
            "SELECT id, n FROM kept; INSERT INTO kept VALUES (1, 1)",
            "SELECT 1 FROM t WHERE id = (SELECT id FROM kept)",
            "SIGNAL SQLSTATE '45000'",
        ]);
        self.someone(&sql);
    }

    fn jump(&mut self) {
        if let Some(time) = TIMES.get(self.time) {
            self.time += 1;
            self.steps.push(Step::Clock((*time).to_owned()));
        }
    }

    /// A question before and behind a jump.
    fn jump_between_questions(&mut self) {
        let question = self.random.pick(&self.questions).clone();
        self.someone(&question);
        self.someone(&question);
        if self.random.below(3) == 0 {
            self.jump();
        }
        self.someone(&question);
    }

    fn knows(&self, on: On) -> bool {
        match on {
            On::Both => true,
            On::MariaDb => self.kind == Kind::MariaDb,
            On::MySql => self.kind == Kind::MySql,
        }
    }

    /// One that this server understands.
    fn one_of(&mut self, templates: &[(On, &'static str)]) -> String {
        let known: Vec<&str> =
            templates.iter().filter(|(on, _)| self.knows(*on)).map(|(_, text)| *text).collect();
        self.any(&known)
    }

    fn any(&mut self, templates: &[&str]) -> String {
        let template = (*self.random.pick(templates)).to_owned();
        self.fill(&template)
    }

    /// The template with its blanks filled, from left to right.
    fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let (blank, after) = behind.split_once('}').expect("a blank has an end");
            text += before;
            text += &self.blank(blank);
            rest = after;
        }
        text + rest
    }

    fn blank(&mut self, blank: &str) -> String {
        match blank {
            "n" => (1 + self.random.below(9)).to_string(),
            "id" => (1 + self.random.below(4)).to_string(),
            "i" => self.random.below(3).to_string(),
            "q" => self.random.pick(&self.questions).clone(),
            "state" => self.state_text(),
            _ => {
                let templates = questions::of_blank(blank);
                self.any(templates)
            }
        }
    }
}
