//! A session that writes to its own estate: single statements and transactions, some of which are rolled back, whole or in part.

use crate::estate::{Estate, Write};
use crate::history::Snapshot;
use crate::question::{Kind, Question};
use crate::register::{Contents, changes};
use crate::report::Tally;
use crate::session::{Answer, Isolation, Session};

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
        self.session.tally.add(&self.witness.tally);
        self.session.tally
    }

    /// Writes once. What the witness is told just before may be in a cache when it asks again.
    fn turn(&mut self) {
        let question = self.estate.question(&mut self.session.random);
        let form = self.session.form();
        self.witness.read(&question, form);
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
        self.session.connection.must(if is_by_mode { "SET autocommit = 0" } else { "BEGIN" });
        let outcome = self.statements().and_then(|()| self.end(ending));
        if outcome.is_none() {
            self.session.connection.must("ROLLBACK");
            self.session.tally.wrote("rollback");
        }
        if is_by_mode {
            self.session.connection.must("SET autocommit = 1");
        }
        outcome
    }

    fn statements(&mut self) -> Option<()> {
        for _ in 0..=self.session.random.below(STATEMENTS_MAX) {
            if self.session.happens(15) {
                self.detour()?;
            }
            let write = self.next_write();
            self.send(&write)?;
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
        self.session.connection.must("SAVEPOINT detour");
        let write = self.next_write();
        self.send(&write)?;
        self.look()?;
        self.session.connection.must("ROLLBACK TO SAVEPOINT detour");
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
        self.committing(|writer| writer.session.try_command(sql))?;
        self.session.tally.wrote("commit");
        if matches!(ending, Ending::BeginAgain) {
            self.session.connection.must("COMMIT");
        }
        Some(())
    }

    /// Does what commits the estate as it is, and tells the history before and after.
    fn committing(&mut self, commit: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let after = self.estate.contents();
        let owner = self.estate.owner();
        let (run, changes) = (self.session.run, changes(&self.committed, &after));
        run.commits(owner);
        run.history.send(owner, &changes, run.now());
        if commit(self).is_none() {
            run.history.retract(owner);
            return None;
        }
        run.history.acknowledge(owner, run.now());
        self.committed = after;
        Some(())
    }

    fn next_write(&mut self) -> Write {
        let version = self.session.run.next_version();
        self.estate.write(&mut self.session.random, version)
    }

    fn send(&mut self, write: &Write) -> Option<()> {
        self.is_under_way = true;
        let form = self.session.form();
        let outcome = self.session.connection.run(&write.statement, form);
        let reply = self.session.forgive(&write.statement, outcome)?;
        if let Some(expected) = write.insert_id {
            assert_eq!(i64::try_from(reply.insert_id), Ok(expected), "{}", write.statement.text());
            self.session.run.arrives(expected);
        }
        self.session.run.count_write();
        self.session.tally.wrote(write.what);
        Some(())
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
