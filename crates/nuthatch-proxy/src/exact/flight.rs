//! One statement between its sending and the last packet of its answer: its clocks are pending.

use std::sync::Arc;

use nuthatch_cache::{Clock, Marks};
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::exact::catalogue_store::Change;
use crate::exact::intent::{Commits, Intent};
use crate::exact::turn::Turn;
use crate::exact::{Catalogues, Exact, Lost, Touched};

/// A statement in flight. Dropped without [`Self::hear`], its outcome is unknown.
#[derive(Debug, Default)]
pub(crate) enum Flight {
    /// It writes nothing that anybody knows of, and nothing is cached as exact.
    #[default]
    Harmless,
    /// It seems to write nothing, by this picture. `is_open`: it has been answered in a transaction.
    Reading { by: Arc<Catalogues>, is_open: bool },
    /// It may write, or commit.
    Writing(Box<UnderWay>),
}

/// Whether a statement runs in a transaction that was open before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// It does not.
    No,
    /// It may: an error may have ended it, or one begins with it as the session does not commit by itself.
    Maybe,
    /// The server has said so behind the statement before. What it writes is nobody else's until the transaction commits: a lost connection
    /// undoes it.
    Surely,
}

/// What became of the transaction.
#[derive(Debug, Default)]
pub(crate) enum After {
    /// As it was, with this written in it besides.
    Open(Vec<Clock>),
    /// Nothing that was written before is open any more; this may be.
    Fresh(Vec<Clock>),
    /// Nothing that is known was written; it was read in a transaction that is open, by a picture before which so many changes of definitions
    /// had begun, or in none.
    Read(Option<u64>),
    /// The statement wrote and ended nothing.
    #[default]
    AsBefore,
}

/// What is to be known of it when its answer is here.
#[derive(Debug)]
pub(crate) struct UnderWay {
    exact: Arc<Exact>,
    intent: Intent,
    /// In which it was looked at, and how many changes of definitions had begun then.
    turn: Arc<Turn>,
    changes_begun: u64,
    /// What the transaction had written before.
    touched: Vec<Clock>,
    inside: Inside,
    marks: Option<Marks>,
    /// Its change of definitions.
    change: Option<Change>,
    lost: Option<Lost>,
    after: After,
}

impl Flight {
    /// Makes pending what the statement may change, which is to be sent now.
    pub(crate) fn start(
        intent: Intent,
        catalogues: &Catalogues,
        touched: &Touched,
        inside: Inside,
        lost: Lost,
        exact: &Arc<Exact>,
    ) -> Self {
        let touched: Vec<_> = touched.iter().collect();
        let mut held = match (inside, intent.commits) {
            (Inside::Surely, Commits::No) => intent.durable.clone(),
            _ => intent.held.clone(),
        };
        if intent.may_commit() {
            held.extend_from_slice(&touched);
        }
        let marks = exact.clocks.raise(held);
        let begin = |changed| exact.catalogues.begin_change(changed, intent.makes, catalogues);
        let change = intent.changed.clone().map(begin);
        let (turn, changes_begun) = (Arc::clone(&catalogues.turn), catalogues.changes_begun);
        let (marks, lost, after) = (Some(marks), Some(lost), After::AsBefore);
        let exact = Arc::clone(exact);
        Self::Writing(Box::new(UnderWay {
            exact,
            intent,
            turn,
            changes_begun,
            touched,
            inside,
            marks,
            change,
            lost,
            after,
        }))
    }

    /// Takes note of the last packet, before the client gets it: what is committed has moved its clocks when this returns.
    pub(crate) fn hear(&mut self, end: &AnswerEnd) {
        match self {
            Self::Harmless => {}
            Self::Reading { is_open, .. } => {
                let is_told = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
                *is_open = is_told || matches!(end.ending, Ending::Err(_));
            }
            Self::Writing(under_way) => under_way.hear(end),
        }
    }

    /// What became of the transaction; to be asked once, after [`Self::hear`].
    pub(crate) fn land(mut self) -> After {
        match &mut self {
            Self::Writing(under_way) => std::mem::take(&mut under_way.after),
            Self::Harmless => After::default(),
            Self::Reading { by, is_open } => After::Read(is_open.then_some(by.changes_begun)),
        }
    }
}

impl UnderWay {
    fn hear(&mut self, end: &AnswerEnd) {
        let Some(marks) = self.marks.take() else { return };
        if self.intent.changes_privileges {
            self.exact.hostgroups.note_privileges();
        }
        if let Some(lost) = self.lost.as_ref().filter(|_| self.intent.changes_defaults) {
            lost.server().change_defaults(None);
        }
        let clocks = &self.exact.clocks;
        let is_open = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
        let durable = || self.intent.durable.clone();
        let written = self.intent.written(end.ok.affected_rows, end.ok.insert_id, clocks);
        let touched_too = || written.iter().chain(&self.touched).copied().collect::<Vec<_>>();
        let still_open = || After::Open(self.uncommitted(&written));
        let (moved, after) = match (end.ending, self.intent.commits) {
            (Ending::Err(_), Commits::RollsBack) => (durable(), still_open()),
            // An error of a COMMIT, or of what commits before it runs, counts as committed, and as not: the transaction may be open.
            (Ending::Err(_), Commits::Surely | Commits::Maybe) => (touched_too(), still_open()),
            (Ending::Err(_), Commits::No) if self.inside != Inside::No => (durable(), still_open()),
            (Ending::Err(_), Commits::No) => (written, After::AsBefore),
            (_, Commits::RollsBack) => (durable(), After::Fresh(Vec::new())),
            (_, Commits::Surely) if is_open => (touched_too(), After::Fresh(self.uncommitted(&written))),
            (_, Commits::Maybe) if is_open => (touched_too(), still_open()),
            (_, Commits::No) if is_open => (durable(), still_open()),
            (_, Commits::Surely | Commits::Maybe) => (touched_too(), After::Fresh(Vec::new())),
            (_, Commits::No) => {
                // The transaction has ended before, by an error that undid it. Should it have been otherwise, this is soon enough.
                let mut ended = self.touched.clone();
                let is_held = self.inside != Inside::Surely;
                if !is_held {
                    ended.extend_from_slice(&written);
                }
                if !ended.is_empty() {
                    clocks.raise(ended).settle();
                }
                (if is_held { written } else { durable() }, After::Fresh(Vec::new()))
            }
        };
        self.after = after;
        match self.change.take() {
            None if moved.is_empty() => marks.release(),
            None => marks.settle_only(&moved),
            change => self.exact.catalogues.finish(marks, change),
        }
    }

    /// What a transaction whose end is still to come has written by the statement. Where a definition was changed since it was looked
    /// at, it may have written more than was known then.
    fn uncommitted(&self, written: &[Clock]) -> Vec<Clock> {
        match !written.is_empty() && self.exact.catalogues.has_left_behind(self.changes_begun) {
            true => vec![self.exact.clocks.everything()],
            false => written.to_vec(),
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let (Some(marks), Some(lost)) = (self.marks.take(), self.lost.take()) else { return };
        lost.settle_when_gone(marks, self.change.take(), Arc::clone(&self.turn), &self.intent);
    }
}
