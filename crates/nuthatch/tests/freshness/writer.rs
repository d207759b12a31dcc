//! A session that writes to its own estate: single statements and transactions, some of which are rolled back, whole or in part.

use crate::estate::{Estate, Write};
use crate::history::{Fault, Snapshot, Wrong};
use crate::question::{Kind, Question};
use crate::register::{Contents, changes};
use crate::report::Tally;
use crate::run::Primary;
use crate::session::{Answer, Isolation, Session, Setback};
use crate::stock;

/// Of a hundred turns, those that are transactions.
const TRANSACTIONS_PERCENT: usize = 50;

/// Statements of a transaction at most.
const STATEMENTS_MAX: usize = 3;

/// Longest pause between two looks whether to write.
const PAUSE_MS_MAX: usize = 20;

/// How a transaction ends.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Commit,
    /// The same, implied by the next BEGIN.
    BeginAgain,
    /// The same, implied by the change of mode.
    AutocommitOn,
    Rollback,
}

#[derive(Debug)]
pub(crate) struct Writer<'a, E> {
    session: Session<'a>,
    /// Somebody else, who looks just before a write and as soon as it is acknowledged.
    witness: Session<'a>,
    estate: E,
    /// What is there for all to see.
    committed: Contents,
    /// Whether the transaction at hand has come to a table.
    is_under_way: bool,
    /// Its snapshot, once it has read.
    snapshot: Option<Snapshot>,
}

impl<'a, E: Estate> Writer<'a, E> {
    pub(crate) fn new(session: Session<'a>, witness: Session<'a>, estate: E) -> Self {
        let committed = estate.contents();
        Self { session, witness, estate, committed, is_under_way: false, snapshot: None }
    }

    /// Writes until the run is over.
    pub(crate) fn run(mut self) -> Tally {
        while !self.session.run.is_over() {
            self.session.pause(PAUSE_MS_MAX);
            if self.session.run.is_write_due() {
                self.turn();
            }
        }
        if self.session.run.place.primary == Primary::MayDie {
            stock::check(&mut self.session, &self.committed);
        }
        self.session.tally.add(&self.witness.tally);
        self.session.tally
    }

    /// Writes once. What the witness is told just before may be in a cache when it asks again.
    fn turn(&mut self) {
        let question = self.estate.question(&mut self.session.random);
        let form = self.session.form();
        self.witness.read(&question, form);
        self.session.pause_before_write();
        let before = self.estate.clone();
        let has_committed =
            if self.session.happens(TRANSACTIONS_PERCENT) { self.transaction() } else { self.single() };
        self.witness.read(&question, form);
        if has_committed.is_none() {
            self.estate.roll_back(before);
        }
        self.snapshot = None;
        self.look().unwrap_or_default();
    }

    /// One statement that commits by itself. `None` if it did not.
    fn single(&mut self) -> Option<()> {
        let write = self.next_write();
        self.committing(|writer| writer.send(&write))
    }

    /// `None` if it was rolled back.
    fn transaction(&mut self) -> Option<()> {
        let ending = *self.session.random.pick(&[
            Ending::Commit,
            Ending::Commit,
            Ending::BeginAgain,
            Ending::AutocommitOn,
            Ending::Rollback,
        ]);
        (self.is_under_way, self.snapshot) = (false, None);
        let is_by_mode = matches!(ending, Ending::AutocommitOn);
        self.session.must(if is_by_mode { "SET autocommit = 0" } else { "BEGIN" }).ok()?;
        let outcome = self.statements().and_then(|()| self.end(ending));
        // What is open on a connection that is lost is rolled back.
        if outcome.is_none() && self.session.must("ROLLBACK").is_ok() {
            self.session.tally.wrote("rollback");
        }
        if is_by_mode {
            self.session.must("SET autocommit = 1").unwrap_or_default();
        }
        outcome
    }

    fn statements(&mut self) -> Option<()> {
        for _ in 0..=self.session.random.below(STATEMENTS_MAX) {
            if self.session.happens(15) {
                self.detour()?;
            }
            let write = self.next_write();
            self.send(&write).ok()?;
            match self.session.random.below(4) {
                0 | 1 => self.look()?,
                2 => self.look_elsewhere()?,
                _ => {}
            }
        }
        Some(())
    }

    /// Writes that go back to a savepoint.
    fn detour(&mut self) -> Option<()> {
        let (before, was_under_way) = (self.estate.clone(), self.is_under_way);
        self.session.must("SAVEPOINT detour").ok()?;
        let write = self.next_write();
        self.send(&write).ok()?;
        self.look()?;
        self.session.must("ROLLBACK TO SAVEPOINT detour").ok()?;
        self.session.tally.wrote("rollback to a savepoint");
        self.estate.roll_back(before);
        if !was_under_way {
            // Measured on both servers: with nothing before the savepoint, all that the storage engine has of the transaction
            // ends, its snapshot too.
            self.snapshot = None;
        }
        self.look()
    }

    fn end(&mut self, ending: Ending) -> Option<()> {
        let sql = match ending {
            Ending::Commit => "COMMIT",
            Ending::BeginAgain => "BEGIN",
            Ending::AutocommitOn => "SET autocommit = 1",
            Ending::Rollback => return None,
        };
        self.committing(|writer| writer.session.timed(sql))?;
        self.session.tally.wrote("commit");
        if matches!(ending, Ending::BeginAgain) {
            self.session.must("COMMIT").unwrap_or_default();
        }
        Some(())
    }

    /// Does what commits the estate as it is, and tells the history before and after. `None` if it is not committed.
    fn committing(&mut self, commit: impl FnOnce(&mut Self) -> Result<(), Setback>) -> Option<()> {
        let after = self.estate.contents();
        let owner = self.estate.owner();
        let (run, changes) = (self.session.run, changes(&self.committed, &after));
        run.commits(owner);
        let sent = run.now();
        run.history.send(owner, &changes, sent);
        let is_done = match commit(self) {
            Ok(()) => true,
            Err(Setback::Refused) => false,
            Err(Setback::Doubt) => stock::is_done(&mut self.session, &self.committed, &after),
        };
        if !is_done {
            self.session.retract(owner);
            return None;
        }
        run.history.acknowledge(owner, run.now());
        self.session.comes_to(sent);
        self.committed = after;
        Some(())
    }

    fn next_write(&mut self) -> Write {
        let version = self.session.run.next_version();
        self.estate.write(&mut self.session.random, version)
    }

    fn send(&mut self, write: &Write) -> Result<(), Setback> {
        self.is_under_way = true;
        let form = self.session.form();
        let reply = self.session.attempt(&write.statement, form)?;
        if let Some(expected) = write.insert_id {
            self.check_key(write, reply.insert_id, expected);
            self.session.run.arrives(expected);
        }
        self.session.run.count_write();
        self.session.tally.wrote(write.what);
        Ok(())
    }

    /// Another key than the next one says that the table is not as its owner has left it.
    fn check_key(&self, write: &Write, key: u64, expected: i64) {
        if i64::try_from(key) != Ok(expected) {
            let account = format!("{} is given {key} in place of {expected}", write.statement.text());
            self.session.tell(&Fault { wrong: Wrong::Lost, account });
        }
    }

    /// Reads something of its own, which must be as it has left it.
    fn look(&mut self) -> Option<()> {
        let question = self.estate.question(&mut self.session.random);
        let form = self.session.form();
        let answer = self.session.ask(&question, form)?;
        self.take_snapshot(&answer);
        let (owner, own) = (self.estate.owner(), self.estate.contents());
        self.session.check_own(&question, form, &answer, owner, &own);
        Some(())
    }

    /// Reads in a transaction that has written, but what is others'.
    fn look_elsewhere(&mut self) -> Option<()> {
        let group = self.session.run.aim().group;
        let own = self.estate.owner().group();
        if own == Some(group) || own == Some(group + 1) {
            return Some(());
        }
        let kind = *self.session.random.pick(&Kind::OF_GROUPS);
        let question = Question::of_group(kind, group, &mut self.session.random);
        let form = self.session.form();
        let answer = self.session.ask(&question, form)?;
        self.take_snapshot(&answer);
        let snapshot = match self.session.isolation {
            Isolation::RepeatableRead => self.snapshot.as_mut(),
            Isolation::ReadCommitted => None,
        };
        self.session.check(&question, form, &answer, snapshot);
        Some(())
    }

    /// The transaction's first read takes it.
    fn take_snapshot(&mut self, answer: &Answer) {
        self.is_under_way = true;
        self.snapshot.get_or_insert_with(|| Snapshot::between(answer.begin, answer.end));
    }
}
