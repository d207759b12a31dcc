//! What is carried and not proven to be shown, and what the server says that it shows.

use std::collections::VecDeque;

use nuthatch_proxy::{Carried, boottime_ns};
use nuthatch_source::follow::{Place, Shown};

use crate::following::ends::Ends;
use crate::following::transaction::Name;
use crate::following::xa::OwnedXid;

/// MariaDB says nothing of the last transaction of a file before one of the next is committed. When it has run for so long, and for the time
/// for which it waits for its replicas, it is.
const ROTATION_PATIENCE_NS: u64 = 60_000_000_000;

/// Of the place at which the stream begins it is not known whether the last transaction ends there, or one before may still wait. When it
/// has run for so long, and for that time, none does.
const BEGINNING_PATIENCE_NS: u64 = 2_000_000_000;

/// Between two answers a server counts as having run for so long at most: one that stands still (SIGSTOP, a paused machine) commits nothing.
const BETWEEN_ANSWERS_NS_MAX: u64 = 50_000_000;

/// By what it is known that the server shows something.
#[derive(Debug)]
pub(super) enum Proof {
    Name(Name),
    /// When it shows all up to there; not known yet where that is.
    UpTo(Option<Place>),
    /// The same of what was written before the stream began.
    Begun(Option<Place>),
    /// When none of these is prepared any more, or at that moment.
    Finished(Vec<OwnedXid>, u64),
}

struct Waiting {
    proof: Proof,
    since_ns: u64,
    /// For how long the server had run then.
    since_run: Run,
    carried: Carried,
}

/// For how long the server is known to have run, by its answers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    ns: u64,
}

impl Run {
    /// It has answered, so long behind its answer before.
    const fn note_answer(&mut self, since_last_ns: u64) {
        self.ns +=
            if since_last_ns < BETWEEN_ANSWERS_NS_MAX { since_last_ns } else { BETWEEN_ANSWERS_NS_MAX };
    }

    /// Whether that was so long ago.
    const fn has_gone_on(self, since: Self, ns: u64) -> bool {
        self.ns >= since.ns.saturating_add(ns)
    }
}

/// See the module's doc.
pub(super) struct Unproven {
    waiting: VecDeque<Waiting>,
    ends: Ends,
    /// What the server said last that it shows.
    shown: Option<Shown>,
    run: Run,
    /// When the server answered last.
    answered_ns: u64,
    /// For how long the server waits for its replicas.
    timeout_ns: u64,
}

impl Unproven {
    pub(super) fn new(timeout_ns: u64) -> Self {
        Self {
            waiting: VecDeque::new(),
            ends: Ends::default(),
            shown: None,
            run: Run::default(),
            answered_ns: boottime_ns(),
            timeout_ns,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Up to which generation all of it shows what is learnt; none if nothing waits.
    pub(super) fn learnt(&self) -> Option<u64> {
        self.waiting.iter().map(|one| one.carried.learnt()).min()
    }

    /// Holds it until that is proven.
    pub(super) fn hold(&mut self, carried: Carried, proof: Proof) {
        let (since_ns, since_run) = (boottime_ns(), self.run);
        self.waiting.push_back(Waiting { proof, since_ns, since_run, carried });
    }

    /// What came last changes its definitions from now on.
    pub(super) fn begin_changes_of_last(&mut self) {
        if let Some(last) = self.waiting.back_mut() {
            last.carried.begin_changes();
        }
    }

    /// Whether what is prepared by XA has to be asked for to prove something.
    pub(super) fn awaits_finished(&self) -> bool {
        self.waiting.iter().any(|one| matches!(one.proof, Proof::Finished(..)))
    }

    /// The server shows that, as it said just now.
    pub(super) fn note_shown(&mut self, shown: Shown) {
        self.shown = Some(shown);
        let now_ns = boottime_ns();
        self.run.note_answer(now_ns.saturating_sub(self.answered_ns));
        self.answered_ns = now_ns;
    }

    /// A transaction that ends there was carried.
    pub(super) fn note_end(&mut self, end: Place) {
        self.ends.note(end);
    }

    /// All up to there has come, so what was held until the first known place is held until this.
    pub(super) fn note_first(&mut self, place: Place) {
        for one in &mut self.waiting {
            if let Proof::UpTo(end @ None) | Proof::Begun(end @ None) = &mut one.proof {
                *end = Some(place);
            }
        }
    }

    /// Moves the clocks of all that the server is known to show by now. `prepared`: what is prepared there by XA, if that was asked for, and
    /// when.
    pub(super) fn settle(&mut self, prepared: Option<(u64, &[OwnedXid])>) {
        let now_ns = boottime_ns();
        let Some(shown) = self.shown.take() else { return };
        let vouched = match shown {
            Shown::UpTo(place) => self.ends.vouch_for(place),
            Shown::Set(_) => false,
        };
        let waiting = std::mem::take(&mut self.waiting);
        for one in waiting {
            match self.is_shown(&one, (&shown, vouched), prepared, now_ns) {
                true => one.carried.settle(),
                false => self.waiting.push_back(one),
            }
        }
        self.shown = Some(shown);
    }

    fn is_shown(
        &self,
        one: &Waiting,
        (shown, vouched): (&Shown, bool),
        prepared: Option<(u64, &[OwnedXid])>,
        now_ns: u64,
    ) -> bool {
        let has_waited = |patience_ns: u64| {
            self.run.has_gone_on(one.since_run, patience_ns.saturating_add(self.timeout_ns))
        };
        match (&one.proof, shown) {
            (Proof::Name(Name::MySql { uuid, tag, number }), Shown::Set(set)) => set.has(*uuid, tag, *number),
            (Proof::UpTo(Some(end)), Shown::UpTo(place)) => {
                place >= end && (vouched || has_waited(ROTATION_PATIENCE_NS))
            }
            (Proof::Begun(Some(end)), Shown::UpTo(place)) => {
                let patience_ns = if place == end { BEGINNING_PATIENCE_NS } else { ROTATION_PATIENCE_NS };
                place >= end && (vouched || has_waited(patience_ns))
            }
            (Proof::Finished(xids, until_ns), _) => {
                // What was asked before it was carried says nothing of it.
                let is_gone = |(asked_ns, now): (u64, &[OwnedXid])| {
                    one.since_ns < asked_ns && xids.iter().all(|xid| !now.contains(xid))
                };
                now_ns >= *until_ns || prepared.is_some_and(is_gone)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_stands_still_does_not_wear_patience_out() {
        let mut run = Run::default();
        let begun = run;
        run.note_answer(20_000_000);
        assert!(!run.has_gone_on(begun, BEGINNING_PATIENCE_NS));
        run.note_answer(60_000_000_000);
        assert!(!run.has_gone_on(begun, BEGINNING_PATIENCE_NS), "it stood still for a minute");
        (0..100).for_each(|_| run.note_answer(20_000_000));
        assert!(run.has_gone_on(begun, BEGINNING_PATIENCE_NS));
        assert!(!run.has_gone_on(run, BEGINNING_PATIENCE_NS));
    }
}
