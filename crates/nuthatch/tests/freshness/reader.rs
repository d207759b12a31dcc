//! A session that reads: single statements and transactions, whatever is being written.

use crate::connection::Form;
use crate::history::Snapshot;
use crate::question::{Kind, Question};
use crate::report::Tally;
use crate::run::Primary;
use crate::session::{Isolation, Session, Setback};

/// Of a hundred turns, those that are transactions.
const TRANSACTIONS_PERCENT: usize = 8;

/// Reads of a transaction: at least, and how many more at most.
const READS_MIN: usize = 2;
const READS_MORE: usize = 5;

/// How a transaction is opened.
#[derive(Debug, Clone, Copy)]
enum Opening {
    Begin,
    ReadOnly,
    /// Reads before anything was read.
    ConsistentSnapshot,
    /// As Python's drivers do it; nothing is said.
    AutocommitOff,
}

#[derive(Debug)]
pub(crate) struct Reader<'a> {
    session: Session<'a>,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(session: Session<'a>) -> Self {
        Self { session }
    }

    /// Reads until the run is over.
    pub(crate) fn run(mut self) -> Tally {
        let pause_ms_max = self.session.run.place.crowd.pause_ms_max;
        while !self.session.run.is_over() {
            if pause_ms_max > 0 {
                self.session.pause(pause_ms_max);
            }
            if self.session.happens(TRANSACTIONS_PERCENT) {
                self.transaction();
            } else {
                self.single();
            }
        }
        self.session.tally
    }

    fn single(&mut self) {
        let (question, form) = self.question();
        self.session.read(&question, form);
    }

    fn transaction(&mut self) {
        let opening = *self.session.random.pick(&[
            Opening::Begin,
            Opening::ReadOnly,
            Opening::ConsistentSnapshot,
            Opening::AutocommitOff,
        ]);
        let Ok(snapshot) = self.open(opening) else { return };
        let is_whole = match self.session.isolation {
            Isolation::RepeatableRead => self.repeatable_reads(snapshot),
            Isolation::ReadCommitted => self.committed_reads(),
        };
        self.close(opening, is_whole.is_some()).unwrap_or_default();
    }

    /// The snapshot, if this has taken one.
    fn open(&mut self, opening: Opening) -> Result<Option<Snapshot>, Setback> {
        let begin = self.session.begin();
        self.session.must(match opening {
            Opening::Begin => "BEGIN",
            Opening::ReadOnly => "START TRANSACTION READ ONLY",
            Opening::ConsistentSnapshot => "START TRANSACTION WITH CONSISTENT SNAPSHOT",
            Opening::AutocommitOff => "SET autocommit = 0",
        })?;
        let end = self.session.run.now();
        if self.session.happens(20) {
            // Opens no snapshot.
            self.session.must("SELECT 1")?;
        }
        Ok(matches!(opening, Opening::ConsistentSnapshot).then(|| Snapshot::between(begin, end)))
    }

    /// All at the moment of the snapshot. If there is none yet, it is taken by the first read, but perhaps not before one that reads what
    /// transactions hold.
    fn repeatable_reads(&mut self, mut snapshot: Option<Snapshot>) -> Option<()> {
        let mut first_begin = None;
        for _ in 0..self.reads() {
            let (question, form) = self.question();
            if matches!(question.kind, Kind::Side | Kind::Told) {
                // Whether an older snapshot sees a truncated table as it was, empty or as an error is the server's choice, and so whether it
                // is told of definitions as they were (MySQL) or are now (MariaDB).
                continue;
            }
            let answer = self.session.ask(&question, form)?;
            let begin = *first_begin.get_or_insert(answer.begin);
            if snapshot.is_none() && question.kind.is_of_now() {
                self.session.check(&question, form, &answer, None);
                continue;
            }
            let snapshot = snapshot.get_or_insert_with(|| Snapshot::between(begin, answer.end));
            self.session.check(&question, form, &answer, Some(snapshot));
        }
        Some(())
    }

    /// Each at a moment of its own.
    fn committed_reads(&mut self) -> Option<()> {
        for _ in 0..self.reads() {
            let (question, form) = self.question();
            let answer = self.session.ask(&question, form)?;
            self.session.check(&question, form, &answer, None);
        }
        Some(())
    }

    fn close(&mut self, opening: Opening, is_whole: bool) -> Result<(), Setback> {
        let commits = is_whole && self.session.happens(70);
        self.session.must(if commits { "COMMIT" } else { "ROLLBACK" })?;
        match opening {
            Opening::AutocommitOff => self.session.must("SET autocommit = 1"),
            _ => Ok(()),
        }
    }

    fn reads(&mut self) -> usize {
        READS_MIN + self.session.random.below(READS_MORE + 1)
    }

    fn question(&mut self) -> (Question, Form) {
        let aim = self.session.run.aim();
        let has_legacy = self.session.run.place.primary == Primary::Stays;
        loop {
            let question = Question::draw(&mut self.session.random, aim);
            if has_legacy || question.kind != Kind::Legacy {
                return (question, self.session.form());
            }
        }
    }
}
