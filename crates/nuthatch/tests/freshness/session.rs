//! One client of a run: its connection, its chance, what it counts, and how its reads are checked.

use std::thread::sleep;
use std::time::Duration;

use crate::connection::{Connection, Form, Refusal, Statement};
use crate::history::{Fault, Snapshot, Time, Wrong};
use crate::question::Question;
use crate::random::Random;
use crate::register::{Content, Contents, Owner, Register, Sight};
use crate::report::Tally;
use crate::run::Run;

/// Errors that are nobody's fault. A session rolls back and goes on.
const HARMLESS: [u16; 5] = [
    1020, // ER_CHECKREAD: MariaDB's innodb_snapshot_isolation
    1205, // ER_LOCK_WAIT_TIMEOUT
    1213, // ER_LOCK_DEADLOCK
    1412, // ER_TABLE_DEF_CHANGED: DDL behind a snapshot
    1615, // ER_NEED_REPREPARE
];

/// How a transaction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    RepeatableRead,
    ReadCommitted,
}

impl Isolation {
    const fn level(self) -> &'static str {
        match self {
            Self::RepeatableRead => "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            Self::ReadCommitted => "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        }
    }
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) run: &'a Run,
    pub(crate) connection: Connection,
    pub(crate) isolation: Isolation,
    pub(crate) random: Random,
    pub(crate) tally: Tally,
    name: String,
}

/// What a question was answered, and when.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) begin: Time,
    pub(crate) end: Time,
    /// `None` if it answers another question.
    sights: Option<Vec<Sight>>,
}

impl<'a> Session<'a> {
    /// Logged in. Every second one has the isolation level READ COMMITTED.
    pub(crate) fn new(run: &'a Run, role: &str, number: usize) -> Self {
        let mut connection = Connection::open(&run.place.address, &run.place.login);
        let isolation =
            if number.is_multiple_of(2) { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        connection.must(run.place.level.unwrap_or(isolation.level()));
        let name = format!("{role} {number} ({isolation:?})");
        let seed = name.bytes().fold(1, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        Self { run, connection, isolation, random: Random::new(seed), tally: Tally::default(), name }
    }

    pub(crate) fn form(&mut self) -> Form {
        *self.random.pick(&[Form::Text, Form::Prepared])
    }

    /// Whether a chance of `percent` in a hundred comes true.
    pub(crate) fn happens(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    /// Sleeps so many milliseconds at most.
    pub(crate) fn pause(&mut self, ms_max: usize) {
        sleep(Duration::from_millis(1 + self.random.below(ms_max) as u64));
    }

    /// Runs a statement. `None` if it was refused for a harmless reason, which is counted.
    pub(crate) fn try_command(&mut self, sql: &'static str) -> Option<()> {
        let statement = Statement::new(sql, []);
        let outcome = self.connection.run(&statement, Form::Text);
        self.forgive(&statement, outcome).map(drop)
    }

    /// What came, unless it is a harmless refusal, which is counted. Panics on any other.
    pub(crate) fn forgive<T>(&mut self, statement: &Statement, outcome: Result<T, Refusal>) -> Option<T> {
        match outcome {
            Ok(reply) => Some(reply),
            Err(refusal) if HARMLESS.contains(&refusal.code) => {
                self.tally.was_refused(refusal.code);
                None
            }
            Err(refusal) => panic!("{}: {}: {refusal}", self.name, statement.text()),
        }
    }

    /// Asks. `None` if it was refused for a harmless reason.
    pub(crate) fn ask(&mut self, question: &Question, form: Form) -> Option<Answer> {
        let begin = self.run.now();
        let outcome = self.connection.run(&question.statement, form);
        let end = self.run.now();
        let reply = self.forgive(&question.statement, outcome)?;
        self.run.count_read();
        self.tally.read(question.kind);
        Some(Answer { begin, end, sights: question.sights(&reply) })
    }

    /// Asks and checks, at a moment of the statement's own.
    pub(crate) fn read(&mut self, question: &Question, form: Form) {
        if let Some(answer) = self.ask(question, form) {
            self.check(question, form, &answer, None);
        }
    }

    /// Whether the history explains the answer: its rows by the transaction's snapshot, or by one of the statement's own.
    pub(crate) fn check(&self, question: &Question, form: Form, answer: &Answer, of: Option<&mut Snapshot>) {
        let Some(sights) = &answer.sights else {
            return self.report(question, form, answer, &Fault::of_another_question());
        };
        let (mut rows, mut of_now) = (Vec::new(), Vec::new());
        for &sight in sights {
            if sight.register.is_of_now() { of_now.push(sight) } else { rows.push(sight) }
        }
        if form == Form::Prepared {
            // Measured on both servers, if seldom: for a while they execute prepared statements with the text that a view had before.
            of_now.retain(|sight| sight.register != Register::Glance);
        }
        // A statement's definitions are those of its beginning, its rows those of a moment behind.
        let own = || Snapshot::between(answer.begin, answer.end);
        let history = &self.run.history;
        let outcome = history
            .explain(&mut own(), &of_now, answer.end)
            .and_then(|()| history.explain(of.unwrap_or(&mut own()), &rows, answer.end));
        if let Err(fault) = outcome {
            self.report(question, form, answer, &fault);
        }
    }

    /// Whether a writer is shown what it has written itself.
    pub(crate) fn check_own(
        &mut self,
        question: &Question,
        form: Form,
        answer: &Answer,
        owner: Owner,
        own: &Contents,
    ) {
        self.tally.own_reads += 1;
        let Some(sights) = &answer.sights else {
            return self.report(question, form, answer, &Fault::of_another_question());
        };
        let held = |register: Register| -> Content { own.get(&register).copied().flatten() };
        // A range may reach into the next group.
        let of_its_own = sights.iter().filter(|sight| sight.register.owner() == owner);
        let other: Vec<String> = of_its_own
            .filter(|sight| held(sight.register) != sight.content)
            .map(|sight| format!("{sight}, and its own write is {:?}", held(sight.register)))
            .collect();
        if !other.is_empty() {
            let fault = Fault { wrong: Wrong::NotItsOwnWrite, account: other.join("; ") };
            self.report(question, form, answer, &fault);
        }
    }

    fn report(&self, question: &Question, form: Form, answer: &Answer, fault: &Fault) {
        self.run.violation(fault.wrong, || {
            format!(
                "{:?}: {} from {:.6} s to {:.6} s, {form:?} {}\n    {}",
                fault.wrong,
                self.name,
                answer.begin.as_secs_f64(),
                answer.end.as_secs_f64(),
                question.statement.text(),
                fault.account,
            )
        });
    }
}
