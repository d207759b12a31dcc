//! The oracle: all that was committed, and whether a read can be explained by it.
//!
//! Each owner commits one after the other, so its registers go through a sequence of states: state `n` is what its first `n`
//! commits have left. A state is *possible* from the moment its commit was sent, and the one before it is *over* from the moment the
//! commit was acknowledged, or any read that saw it was answered. A read is explained if there is one moment at which all that it
//! saw was current:
//!
//! - not before it began, so it is not stale, and nothing older is seen after something newer, by whomever;
//! - one state of each owner explains all of that owner's registers, so no transaction is seen in part;
//! - the moments of different owners meet, so what is seen together was there together.
//!
//! What was not committed, or was rolled back, is in no state. A commit of which its owner is told nothing, because the primary died,
//! stays possible until the owner has looked: then it is acknowledged, or it never was, and nobody may have seen it. The reads of a REPEATABLE READ transaction are explained by a single
//! [`Snapshot`], those of others by one each.
//!
//! Times are given. A commit is told of *before* it is sent and acknowledged *after* its answer has come, and a read's beginning
//! and end are taken the same way, so whatever is called a violation is one. Cost: one short lock for each owner that a read saw.

mod fault;

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

use crate::register::{Content, Contents, Owner, Register, Sight};

pub(crate) use fault::{Fault, Wrong};

/// Since the run began.
pub(crate) type Time = Duration;

/// What reads have to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// All that was acknowledged or shown to anybody.
    Current,
    /// All that the session itself has written or seen, and whatever was acknowledged before that: replicas answer too, each as of some
    /// moment. Then who saw a commit has not made it certain for others, and a session gives as the beginning of a read the moment that it
    /// has come to.
    OfSession,
    /// All that was acknowledged so long before the read began: what was written past the proxy may be seen so late.
    Within(Duration),
}

/// All owners' commits.
#[derive(Debug)]
pub(crate) struct History {
    annals: Vec<Mutex<Annals>>,
    reads: Reads,
}

/// One owner's commits, the state that it began with as the first.
#[derive(Debug, Default)]
struct Annals {
    commits: Vec<Commit>,
    /// What each register was changed to, by which commit; in order.
    changes: HashMap<Register, Vec<(usize, Content)>>,
}

#[derive(Debug, Clone, Copy)]
struct Commit {
    sent: Time,
    /// From when on whoever begins to read sees it.
    certain: Time,
    /// When somebody was shown it first.
    shown: Time,
}

/// The moment at which a statement or a transaction reads, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// When the statement that took it was sent and answered.
    begin: Time,
    end: Time,
    /// What is left of that, by all that was read.
    earliest: Time,
    latest: Time,
    /// The states that explain all reads so far.
    states: HashMap<Owner, Vec<usize>>,
}

impl Snapshot {
    /// Taken by a statement that was sent at `begin` and answered at `end`.
    pub(crate) fn between(begin: Time, end: Time) -> Self {
        Self { begin, end, earliest: begin, latest: end, states: HashMap::new() }
    }

    /// Before it nothing is seen any more by who has taken it.
    pub(crate) const fn earliest(&self) -> Time {
        self.earliest
    }
}

impl History {
    /// With what is there before anybody writes.
    pub(crate) fn new(beginning: &Contents, reads: Reads) -> Self {
        let history = Self { annals: (0..Owner::COUNT).map(|_| Mutex::default()).collect(), reads };
        for (number, annals) in (0..).zip(&history.annals) {
            let of_owner = beginning.iter().filter(|(register, _)| register.owner().index() == number);
            let changes: Vec<Sight> =
                of_owner.map(|(&register, &content)| Sight { register, content }).collect();
            let mut annals = annals.lock();
            annals.send(&changes, Time::ZERO);
            annals.acknowledge(Time::ZERO);
        }
        history
    }

    /// A commit of these changes is about to be sent; the owner's one before is acknowledged.
    pub(crate) fn send(&self, owner: Owner, changes: &[Sight], now: Time) {
        assert!(changes.iter().all(|change| change.register.owner() == owner), "{owner:?}: {changes:?}");
        self.annals[owner.index()].lock().send(changes, now);
    }

    /// The owner's last commit was answered OK.
    pub(crate) fn acknowledge(&self, owner: Owner, now: Time) {
        self.annals[owner.index()].lock().acknowledge(now);
    }

    /// The owner's last commit was refused: it never was, and an error says that it was seen.
    pub(crate) fn retract(&self, owner: Owner) -> Result<(), Fault> {
        self.annals[owner.index()].lock().retract(owner)
    }

    /// Finds the states that explain what was read and was there at `end`, and narrows the snapshot to them.
    pub(crate) fn explain(&self, snapshot: &mut Snapshot, sights: &[Sight], end: Time) -> Result<(), Fault> {
        for sights in sights.chunk_by(|one, other| one.register.owner() == other.register.owner()) {
            let owner = sights[0].register.owner();
            self.annals[owner.index()].lock().explain(owner, snapshot, sights)?.shown_at(end, self.reads);
        }
        Ok(())
    }
}

impl Commit {
    fn shown_at(&mut self, end: Time, reads: Reads) {
        self.shown = self.shown.min(end);
        if reads == Reads::Current {
            // The owner's commits before it were acknowledged before it was sent.
            self.certain = self.certain.min(end);
        }
    }
}

impl Annals {
    fn send(&mut self, changes: &[Sight], now: Time) {
        let number = self.commits.len();
        self.commits.push(Commit { sent: now, certain: Time::MAX, shown: Time::MAX });
        for change in changes {
            self.changes.entry(change.register).or_default().push((number, change.content));
        }
    }

    fn acknowledge(&mut self, now: Time) {
        let last = self.commits.last_mut().expect("it was sent");
        last.certain = last.certain.min(now);
    }

    fn retract(&mut self, owner: Owner) -> Result<(), Fault> {
        let commit = self.commits.pop().expect("it was sent");
        let left = self.commits.len();
        self.changes.values_mut().for_each(|changes| changes.retain(|(number, _)| *number < left));
        if commit.shown == Time::MAX { Ok(()) } else { Err(Fault::of_undone(owner, commit)) }
    }

    /// The commit that was seen, or a later one.
    fn explain(
        &mut self,
        owner: Owner,
        snapshot: &mut Snapshot,
        sights: &[Sight],
    ) -> Result<&mut Commit, Fault> {
        let mut states = match snapshot.states.get(&owner) {
            Some(states) => states.clone(),
            None => self.states_not_over(snapshot.earliest),
        };
        states.retain(|&state| self.is_within(state, snapshot) && self.shows(state, sights));
        let (Some(&oldest), Some(&newest)) = (states.first(), states.last()) else {
            return Err(self.fault(owner, snapshot, sights));
        };
        snapshot.earliest = snapshot.earliest.max(self.commits[oldest].sent);
        snapshot.latest = snapshot.latest.min(self.over(newest));
        snapshot.states.insert(owner, states);
        Ok(&mut self.commits[oldest])
    }

    /// States that somebody who begins to read at that time may be given, in order.
    fn states_not_over(&self, time: Time) -> Vec<usize> {
        let first = (0..self.commits.len()).rev().take_while(|&state| self.over(state) >= time).last();
        first.map_or_else(Vec::new, |first| (first..self.commits.len()).collect())
    }

    fn is_within(&self, state: usize, snapshot: &Snapshot) -> bool {
        let is_known = |commit: &Commit| commit.sent <= snapshot.latest;
        self.commits.get(state).is_some_and(is_known) && self.over(state) >= snapshot.earliest
    }

    /// From when on nobody who begins to read is given this state.
    fn over(&self, state: usize) -> Time {
        self.commits.get(state + 1).map_or(Time::MAX, |next| next.certain)
    }

    fn shows(&self, state: usize, sights: &[Sight]) -> bool {
        sights.iter().all(|sight| self.content(state, sight.register) == sight.content)
    }

    fn content(&self, state: usize, register: Register) -> Content {
        let changes = self.changes.get(&register)?;
        let behind = changes.partition_point(|(number, _)| *number <= state);
        changes[..behind].last()?.1
    }
}

#[cfg(test)]
mod tests;
