//! One client of a run: its connection, its chance, what it counts, and how its reads are checked.

use std::thread::sleep;
use std::time::Duration;

use crate::connection::{Connection, Failure, Form, Refusal, Reply, Statement};
use crate::history::{Fault, Reads, Snapshot, Time, Wrong};
use crate::late::Late;
use crate::question::Question;
use crate::random::Random;
use crate::register::{Contents, Owner, Register, Sight, held};
use crate::report::Tally;
use crate::run::{Pace, Primary, Run};

/// Errors that are nobody's fault. A session rolls back and goes on.
const HARMLESS: [u16; 5] = [
    1020, // ER_CHECKREAD: MariaDB's innodb_snapshot_isolation
    1205, // ER_LOCK_WAIT_TIMEOUT
    1213, // ER_LOCK_DEADLOCK
    1412, // ER_TABLE_DEF_CHANGED: DDL behind a snapshot
    1615, // ER_NEED_REPREPARE
];

/// What clients are told while a primary is dead, or died under their statement: lost, no server in time, cut. A session connects anew.
const OF_A_DEAD_PRIMARY: [u16; 3] = [2013, 9001, 9004];

/// The same where sessions know nothing of a proxy, of a server that ends as it was told to: ER_SERVER_SHUTDOWN, ER_QUERY_INTERRUPTED, ER_CONNECTION_KILLED.
const OF_A_SHUTDOWN: [u16; 3] = [1053, 1317, 1927];

/// ER_UNKNOWN_SYSTEM_VARIABLE: who logs in at a proxy that has seen no server since it was started is taken for a client of MySQL, and has the name
/// of the isolation level as that has it.
const OF_AN_UNSEEN_SERVER: u16 = 1193;

/// What a session is told that a switchover could not wait for any longer, because of a pin: "Connection was closed for a switchover of its
/// server, which could not wait for stored_code any longer".
const ENDED_BY_SWITCHOVER: u16 = 1927;

/// The pins of sessions that read a view which was made anew while nobody knew what code the servers have, such as just behind a failover.
const PINS_OF_VIEWS: [&str; 2] = ["stored_code", "unseen_code"];

/// What only an owner is told whose writes are gone: there is already what it is to add, or there is not what it is to drop.
const OF_LOST_WRITES: [u16; 3] = [
    1060, // ER_DUP_FIELDNAME
    1062, // ER_DUP_ENTRY
    1091, // ER_CANT_DROP_FIELD_OR_KEY
];

/// After which an answer counts as one that never comes: behind a dead primary statements wait for the next one.
const PATIENCE: Duration = Duration::from_secs(90);

/// Between two tries to connect anew.
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

/// Why a statement has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setback {
    /// It was refused for a harmless reason: nothing of it is done.
    Refused,
    /// Whether it is done is not known, and the session has another connection.
    Doubt,
}

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
    connection: Connection,
    pub(crate) isolation: Isolation,
    pub(crate) random: Random,
    pub(crate) tally: Tally,
    name: String,
    is_past: bool,
    /// The moment before which it is shown nothing any more, by what it has seen and written.
    come_to: Time,
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
        let isolation =
            if number.is_multiple_of(2) { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        let is_past = role == "writer" && run.place.past.is_some_and(|past| past.is_of(number));
        let connection =
            connect(run, isolation, is_past).unwrap_or_else(|failure| panic!("{role} {number}: {failure}"));
        let name = format!("{role} {number} ({isolation:?})");
        let seed = name.bytes().fold(1, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        Self {
            run,
            connection,
            isolation,
            random: Random::new(seed),
            tally: Tally::default(),
            name,
            is_past,
            come_to: Time::ZERO,
        }
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

    /// Between what a witness is shown and the write, where writers write by themselves.
    pub(crate) fn pause_before_write(&mut self) {
        if let Pace::ByItself { pause_ms_max } = self.run.place.crowd.pace {
            self.pause(pause_ms_max);
        }
    }

    /// Runs a statement. Panics where it has no answer for another reason than those of a [`Setback`], which are counted.
    pub(crate) fn attempt(&mut self, statement: &Statement, form: Form) -> Result<Reply, Setback> {
        let failure = match self.connection.run(statement, form) {
            Ok(reply) => return Ok(reply),
            Err(failure) => failure,
        };
        match &failure {
            Failure::Refused(refusal) if HARMLESS.contains(&refusal.code) => {
                self.tally.was_refused(refusal.code);
                Err(Setback::Refused)
            }
            Failure::Refused(refusal) if self.has_lost_writes(refusal) => {
                self.tell(&Fault { wrong: Wrong::Lost, account: format!("{}: {refusal}", statement.text()) });
                Err(Setback::Refused)
            }
            Failure::Refused(refusal) if self.is_ended_for_a_view(refusal) => {
                self.tally.was_broken(&failure);
                self.connect_anew();
                Err(Setback::Doubt)
            }
            failure if self.may_fail(failure) => {
                self.tally.was_broken(failure);
                self.run.note_break(format!("{}: {}: {failure}", self.name, statement.text()));
                self.connect_anew();
                Err(Setback::Doubt)
            }
            failure => panic!("{}: {}: {failure}", self.name, statement.text()),
        }
    }

    fn has_lost_writes(&self, refusal: &Refusal) -> bool {
        self.run.place.primary == Primary::MayDie && OF_LOST_WRITES.contains(&refusal.code)
    }

    fn is_ended_for_a_view(&self, refusal: &Refusal) -> bool {
        self.run.place.primary == Primary::MayDie
            && refusal.code == ENDED_BY_SWITCHOVER
            && PINS_OF_VIEWS.iter().any(|pin| refusal.to_string().contains(pin))
    }

    fn may_fail(&self, failure: &Failure) -> bool {
        let is_told = match failure {
            Failure::Refused(refusal) => {
                let of_ends = OF_A_SHUTDOWN.contains(&refusal.code) || refusal.code == OF_AN_UNSEEN_SERVER;
                OF_A_DEAD_PRIMARY.contains(&refusal.code) || self.run.place.past.is_some() && of_ends
            }
            Failure::Gone(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        };
        self.run.place.primary == Primary::MayDie && is_told
    }

    fn connect_anew(&mut self) {
        let since = self.run.now();
        loop {
            match connect(self.run, self.isolation, self.is_past) {
                Ok(connection) => return self.connection = connection,
                Err(failure) => {
                    assert!(self.run.now() - since < PATIENCE, "{}: {failure}", self.name);
                    sleep(RECONNECT_PAUSE);
                }
            }
        }
    }

    /// Runs a statement that has no rows. Panics if it is refused.
    pub(crate) fn must(&mut self, sql: &'static str) -> Result<(), Setback> {
        let outcome = self.command(sql);
        assert_ne!(outcome, Err(Setback::Refused), "{}: {sql}", self.name);
        outcome
    }

    /// Runs a statement that has no rows.
    pub(crate) fn command(&mut self, sql: &'static str) -> Result<(), Setback> {
        self.attempt(&Statement::new(sql, []), Form::Text).map(drop)
    }

    /// The same of a commit, whose time is noted if it goes past the proxy.
    pub(crate) fn timed(&mut self, sql: &'static str) -> Result<(), Setback> {
        let sent = self.run.now();
        self.command(sql)?;
        if self.is_past {
            self.run.waited(sent);
        }
        Ok(())
    }

    /// From when on a statement that is sent now may show things as they were.
    pub(crate) fn begin(&self) -> Time {
        match self.run.place.reads {
            Reads::Current => self.run.now(),
            Reads::OfSession => self.come_to,
            Reads::Within(bound) => self.run.now().saturating_sub(bound),
        }
    }

    /// It has written or seen what was not there before that.
    pub(crate) fn comes_to(&mut self, time: Time) {
        self.come_to = self.come_to.max(time);
    }

    /// Asks. `None` if there is no answer.
    pub(crate) fn ask(&mut self, question: &Question, form: Form) -> Option<Answer> {
        let begin = self.begin();
        let outcome = self.attempt(&question.statement, form);
        let end = self.run.now();
        let reply = outcome.ok()?;
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
    pub(crate) fn check(
        &mut self,
        question: &Question,
        form: Form,
        answer: &Answer,
        of: Option<&mut Snapshot>,
    ) {
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
        let own = |begin| Snapshot::between(begin, answer.end);
        let (mut definitions, mut own_rows) = (own(answer.begin), own(answer.begin));
        let is_alone = of.is_none();
        let snapshot = of.unwrap_or(&mut own_rows);
        let history = &self.run.history;
        let explain = |definitions: &mut Snapshot, rows_of: &mut Snapshot| {
            history
                .explain(definitions, &of_now, answer.end)
                .and_then(|()| history.explain(rows_of, &rows, answer.end))
        };
        match (explain(&mut definitions, snapshot), self.run.place.bound_at_times) {
            (Ok(()), _) => self.comes_to(definitions.earliest().max(snapshot.earliest())),
            (Err(fault), None) => self.report(question, form, answer, &fault),
            (Err(fault), Some(bound)) => {
                let begin = answer.begin.saturating_sub(bound);
                let is_within_bound = is_alone && explain(&mut own(begin), &mut own(begin)).is_ok();
                let account = self.account(question, form, answer, &fault);
                let (begin, end, wrong) = (answer.begin, answer.end, fault.wrong);
                self.run.late(Late { begin, end, is_within_bound, wrong, account });
            }
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
        // A range may reach into the next group.
        let of_its_own = sights.iter().filter(|sight| sight.register.owner() == owner);
        let other: Vec<String> = of_its_own
            .filter(|sight| held(own, sight.register) != sight.content)
            .map(|sight| format!("{sight}, and its own write is {:?}", held(own, sight.register)))
            .collect();
        if !other.is_empty() {
            let fault = Fault { wrong: Wrong::NotItsOwnWrite, account: other.join("; ") };
            self.report(question, form, answer, &fault);
        }
    }

    /// What its owner has sent last was not done: nobody may have seen it.
    pub(crate) fn retract(&self, owner: Owner) {
        if let Err(fault) = self.run.history.retract(owner) {
            self.tell(&fault);
        }
    }

    /// A violation that is none of a read.
    pub(crate) fn tell(&self, fault: &Fault) {
        self.run.violation(fault.wrong, || {
            let now = self.run.now().as_secs_f64();
            format!("{:?}: {} at {now:.6} s\n    {}", fault.wrong, self.name, fault.account)
        });
    }

    fn report(&self, question: &Question, form: Form, answer: &Answer, fault: &Fault) {
        self.run.violation(fault.wrong, || self.account(question, form, answer, fault));
    }

    fn account(&self, question: &Question, form: Form, answer: &Answer, fault: &Fault) -> String {
        format!(
            "{:?}: {} from {:.6} s to {:.6} s, {form:?} {}\n    {}",
            fault.wrong,
            self.name,
            answer.begin.as_secs_f64(),
            answer.end.as_secs_f64(),
            question.statement.text(),
            fault.account,
        )
    }
}

/// Logged in, at the level that is asked for.
fn connect(run: &Run, isolation: Isolation, is_past: bool) -> Result<Connection, Failure> {
    let place = &run.place;
    let address = if is_past { &place.server } else { &place.address };
    let mut connection = Connection::open(address, &place.login, PATIENCE)?;
    let level = place.level.unwrap_or(isolation.level());
    connection.run(&Statement::new(level, []), Form::Text)?;
    Ok(connection)
}
