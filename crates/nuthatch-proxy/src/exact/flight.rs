//! One statement between its sending and the last packet of its answer: its clocks are pending.

use std::sync::Arc;

use nuthatch_cache::{Clock, ClockList, Clocks, Marks};
use nuthatch_wire::{AnswerEnd, Ending, StatusFlags};

use crate::exact::catalogue_store::Change;
use crate::exact::clocks_of::is_told_later;
use crate::exact::intent::{Commits, Intent};
use crate::exact::turn::Turn;
use crate::exact::{Catalogues, Followed, Lost, Touched};

/// What has written more clocks moves them all: who looks for each of them among all must not take long.
const TOLD_MAX: usize = 64;

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
    /// The same while nothing is cached as exact.
    Unwatched(Box<Unwatched>),
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
    /// As it was, with this written in it besides; `is_undone`: all of it would be undone with it.
    Open { written: ClockList, is_undone: bool },
    /// Nothing that was written before is open any more; this may be.
    Fresh(ClockList),
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
    intent: Intent,
    /// In which it was looked at, and how many changes of definitions had begun then.
    turn: Arc<Turn>,
    changes_begun: u64,
    /// What the transaction had written before.
    touched: ClockList,
    inside: Inside,
    marks: Option<Marks>,
    /// Its change of definitions.
    change: Option<Change>,
    lost: Lost,
    after: After,
}

/// What is to be known of a write that nobody watches.
#[derive(Debug)]
pub(crate) struct Unwatched {
    /// In which nothing was watched.
    turn: Arc<Turn>,
    commits: Commits,
    inside: Inside,
    /// It may write anything, or nothing.
    writes: bool,
    /// It may write, or commit what the transaction has written.
    may_move: bool,
    is_heard: bool,
    lost: Lost,
    after: After,
}

/// Which clocks move behind an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// What no transaction undoes.
    Durable,
    /// What the statement wrote.
    Written,
    /// That, and what the transaction had written before.
    All,
    /// The transaction has ended before, by an error that undid it. Should it have been otherwise, this is soon enough.
    Ended,
}

/// What becomes of the transaction behind an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transaction {
    AsBefore,
    /// It is open, with what was written.
    Open,
    /// Another is, with what was written.
    Another,
    Over,
}

impl Flight {
    /// Makes pending what the statement may change, which is to be sent now.
    pub(crate) fn start(
        intent: Intent,
        catalogues: &Catalogues,
        touched: &Touched,
        inside: Inside,
        lost: Lost,
    ) -> Self {
        let touched = with_values(&lost.exact.clocks, touched.list());
        let mut held = match (inside, intent.commits) {
            (Inside::Surely, Commits::No) => ClockList::from_slice(&intent.durable),
            _ => ClockList::from_slice(&intent.held),
        };
        if intent.may_commit() {
            held.extend_from_slice(&touched);
        }
        let marks = Some(lost.exact.clocks.raise(held));
        let begin = |changed| lost.exact.catalogues.begin_change(changed, intent.makes, catalogues);
        let change = intent.changed.clone().map(begin);
        let (turn, changes_begun) = (Arc::clone(&catalogues.turn), catalogues.changes_begun);
        let after = After::AsBefore;
        Self::Writing(Box::new(UnderWay {
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

    /// While nobody wants anything cached as exact, `catalogues` [being of then](crate::exact::Exact::looks_away): no clock is pending for it. Should
    /// somebody begin to while it is in flight, all clocks are, until it has landed. It does not [maybe](Commits::Maybe) commit.
    pub(crate) fn start_unwatched(
        commits: Commits,
        writes: bool,
        catalogues: &Catalogues,
        touched: &Touched,
        inside: Inside,
        lost: Lost,
    ) -> Self {
        let may_move = writes || commits == Commits::Surely && !touched.is_empty();
        let (turn, after) = (Arc::clone(&catalogues.turn), After::AsBefore);
        Self::Unwatched(Box::new(Unwatched {
            turn,
            commits,
            inside,
            writes,
            may_move,
            is_heard: false,
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
            Self::Unwatched(unwatched) => unwatched.hear(end),
        }
    }

    /// Whether all that it may write in a transaction would be undone with that, as far as is known.
    pub(crate) fn is_undone_with_transaction(&self) -> bool {
        match self {
            Self::Harmless | Self::Reading { .. } => true,
            Self::Writing(under_way) => under_way.intent.durable.is_empty(),
            Self::Unwatched(unwatched) => !unwatched.writes,
        }
    }

    /// What became of the transaction; to be asked once, after [`Self::hear`].
    pub(crate) fn land(mut self) -> After {
        match &mut self {
            Self::Writing(under_way) => std::mem::take(&mut under_way.after),
            Self::Unwatched(unwatched) => std::mem::take(&mut unwatched.after),
            Self::Harmless => After::default(),
            Self::Reading { by, is_open } => After::Read(is_open.then_some(by.changes_begun)),
        }
    }
}

impl UnderWay {
    fn hear(&mut self, end: &AnswerEnd) {
        let Some(marks) = self.marks.take() else { return };
        self.tell_server();
        let exact = &self.lost.exact;
        let told = self.intent.told(end.ok.affected_rows, end.ok.insert_id, &exact.clocks);
        let written = told.as_deref().unwrap_or(&self.intent.held);
        let is_open = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
        let (moved, transaction) = outcome(end.ending, is_open, self.intent.commits, self.inside);
        let after = match transaction {
            Transaction::AsBefore => After::AsBefore,
            Transaction::Open => {
                After::Open { written: self.uncommitted(written), is_undone: self.intent.durable.is_empty() }
            }
            Transaction::Another => After::Fresh(self.uncommitted(written)),
            Transaction::Over => After::Fresh(ClockList::new()),
        };
        let with_touched =
            |these: &[Clock]| -> ClockList { these.iter().chain(&self.touched).copied().collect() };
        let is_held = self.inside != Inside::Surely;
        if moved == Moved::Ended {
            let besides = if is_held { &[] } else { written };
            if !(besides.is_empty() && self.touched.is_empty()) {
                exact.clocks.raise(with_touched(besides)).settle();
            }
        }
        let change = self.change.take();
        match moved {
            _ if change.is_some() => exact.catalogues.finish(marks, change),
            Moved::All if !self.touched.is_empty() => self.settle(marks, &with_touched(written), end.ending),
            Moved::All | Moved::Written => self.settle(marks, written, end.ending),
            Moved::Ended if is_held => self.settle(marks, written, end.ending),
            Moved::Ended | Moved::Durable => settle(marks, &self.intent.durable),
        }
        self.after = after;
    }

    /// What is known to be written has moved. What is not known stays pending until its event tells it, where the binlog is followed.
    fn settle(&self, marks: Marks, written: &[Clock], ending: Ending) {
        let Some(teller) = self.teller(written, ending) else { return settle(marks, written) };
        let clocks = &self.lost.exact.clocks;
        let is_later = |clock: Clock| is_told_later(clocks, written, clock);
        let now: ClockList = written.iter().copied().filter(|clock| !is_later(*clock)).collect();
        teller.hold(marks.settle_but(&now, is_later));
    }

    /// Whose binlog will tell what was written, all of it: what is in it before the answer is there.
    fn teller(&self, written: &[Clock], ending: Ending) -> Option<Arc<Followed>> {
        if !self.lost.exact.clocks.do_values_matter() {
            return None;
        }
        let server = self.lost.server();
        let teller = self.lost.exact.follows.of_server(&server.host, server.port)?;
        let is_told = !matches!(ending, Ending::Err(_))
            && matches!(self.intent.commits, Commits::No | Commits::Surely)
            // What knows no transactions may come into the binlog with the transaction that it was written in.
            && self.intent.durable.is_empty()
            && self.lost.exact.binlogs.have_all()
            && written.len() <= TOLD_MAX
            && written.iter().any(|clock| self.lost.exact.clocks.is_open(*clock));
        is_told.then_some(teller)
    }

    /// What it may have changed of the server besides rows.
    fn tell_server(&self) {
        if self.intent.changes_privileges {
            self.lost.exact.hostgroups.note_privileges();
        }
        if self.intent.changes_defaults {
            self.lost.server().change_defaults(None);
        }
    }

    /// What a transaction whose end is still to come has written by the statement. Where a definition was changed since it was looked
    /// at, it may have written more than was known then.
    fn uncommitted(&self, written: &[Clock]) -> ClockList {
        let exact = &self.lost.exact;
        match !written.is_empty() && exact.catalogues.has_left_behind(self.changes_begun) {
            true => ClockList::from_slice(&[exact.clocks.everything()]),
            false => ClockList::from_slice(written),
        }
    }
}

impl Unwatched {
    fn hear(&mut self, end: &AnswerEnd) {
        self.is_heard = true;
        let is_open = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
        let (_moved, transaction) = outcome(end.ending, is_open, self.commits, self.inside);
        self.after = match transaction {
            Transaction::AsBefore => After::AsBefore,
            Transaction::Open => After::Open { written: self.written(), is_undone: !self.writes },
            Transaction::Another => After::Fresh(self.written()),
            Transaction::Over => After::Fresh(ClockList::new()),
        };
    }

    fn written(&self) -> ClockList {
        let all = self.lost.exact.clocks.everything();
        if self.writes { ClockList::from_slice(&[all]) } else { ClockList::new() }
    }
}

/// Not heard of, it is watched from here on.
impl Drop for Unwatched {
    fn drop(&mut self) {
        if self.is_heard || !self.may_move {
            return;
        }
        let clocks = &self.lost.exact.clocks;
        let marks = clocks.raise(vec![clocks.everything()]);
        self.lost.settle_when_gone(marks, None, Arc::clone(&self.turn), &Intent::nothing(self.commits));
    }
}

/// What moves, and what becomes of the transaction, behind an answer with that ending and status.
fn outcome(ending: Ending, is_open: bool, commits: Commits, inside: Inside) -> (Moved, Transaction) {
    match (ending, commits) {
        (Ending::Err(_), Commits::RollsBack) => (Moved::Durable, Transaction::Open),
        // An error of a COMMIT, or of what commits before it runs, counts as committed, and as not: the transaction may be open.
        (Ending::Err(_), Commits::Surely | Commits::Maybe) => (Moved::All, Transaction::Open),
        (Ending::Err(_), Commits::No) if inside != Inside::No => (Moved::Durable, Transaction::Open),
        (Ending::Err(_), Commits::No) => (Moved::Written, Transaction::AsBefore),
        (_, Commits::RollsBack) => (Moved::Durable, Transaction::Over),
        (_, Commits::Surely) if is_open => (Moved::All, Transaction::Another),
        (_, Commits::Maybe) if is_open => (Moved::All, Transaction::Open),
        (_, Commits::No) if is_open => (Moved::Durable, Transaction::Open),
        (_, Commits::Surely | Commits::Maybe) => (Moved::All, Transaction::Over),
        (_, Commits::No) => (Moved::Ended, Transaction::Over),
    }
}

/// The same with what a transaction has written before that mattered.
fn with_values(clocks: &Clocks, mut touched: ClockList) -> ClockList {
    if touched.is_empty() || !clocks.do_values_matter() {
        return touched;
    }
    let tables: ClockList =
        touched.iter().filter_map(|clock| clocks.valued(clocks.table_of(*clock)?)).collect();
    touched.extend(tables);
    touched
}

fn settle(marks: Marks, moved: &[Clock]) {
    if moved.is_empty() { marks.release() } else { marks.settle_only(moved) }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let Some(marks) = self.marks.take() else { return };
        self.lost.settle_when_gone(marks, self.change.take(), Arc::clone(&self.turn), &self.intent);
    }
}
