//! Why a read cannot be explained, in words that lead to the cause.

use crate::register::{Owner, Sight};

use super::{Annals, Commit, Snapshot, Time};

/// What is wrong with a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wrong {
    /// It was right once, and something newer was certain before.
    Stale,
    /// It is right, but of a moment behind the snapshot.
    BehindItsSnapshot,
    /// Each part was right at some time, and all together never, or not with what the transaction read before.
    OfSeveralMoments,
    /// A part of it was never committed.
    NeverCommitted,
    /// It has rows that were not asked for.
    OfAnotherQuestion,
    /// A writer is not shown what it has written itself.
    NotItsOwnWrite,
    /// Somebody was shown what in the end was not committed.
    Undone,
    /// What was acknowledged is not there, or a part of what nobody was told of is.
    Lost,
}

/// A read that nothing explains.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) wrong: Wrong,
    /// The states in question, with their times.
    pub(crate) account: String,
}

impl Fault {
    pub(crate) fn of_another_question() -> Self {
        Self { wrong: Wrong::OfAnotherQuestion, account: "its rows are not those that were asked for".into() }
    }

    pub(super) fn of_undone(owner: Owner, commit: Commit) -> Self {
        let account = format!(
            "what {owner:?} sent at {} was shown to somebody at {}, and is not there",
            seconds(commit.sent),
            seconds(commit.shown)
        );
        Self { wrong: Wrong::Undone, account }
    }
}

impl Annals {
    pub(super) fn fault(&self, owner: Owner, snapshot: &Snapshot, sights: &[Sight]) -> Fault {
        let newest = (0..self.commits.len()).rev().find(|&state| self.shows(state, sights));
        let wrong = match newest {
            Some(state) if self.over(state) < snapshot.begin => Wrong::Stale,
            Some(state) if self.commits[state].sent > snapshot.end => Wrong::BehindItsSnapshot,
            Some(_) => Wrong::OfSeveralMoments,
            None if sights.iter().any(|&sight| self.newest_with(sight).is_none()) => Wrong::NeverCommitted,
            None => Wrong::OfSeveralMoments,
        };
        let mut account = format!(
            "{owner:?}; the read's moment lies between {} and {}, states known of before {:?}",
            seconds(snapshot.earliest),
            seconds(snapshot.latest),
            snapshot.states.get(&owner),
        );
        let last = self.commits.len() - 1;
        let of_now = sights.iter().filter(|&&sight| self.shows(last, &[sight])).count();
        // Where some are old and some are not, the old ones tell more.
        for &sight in sights.iter().filter(|&&sight| of_now == sights.len() || !self.shows(last, &[sight])) {
            account += &format!("\n    {sight}: {}", self.tell(sight));
        }
        if of_now < sights.len() {
            account += &format!("\n    {of_now} more, as they are in the last state, {last}");
        }
        Fault { wrong, account }
    }

    fn newest_with(&self, sight: Sight) -> Option<usize> {
        (0..self.commits.len()).rev().find(|&state| self.shows(state, &[sight]))
    }

    fn tell(&self, sight: Sight) -> String {
        let Some(newest) = self.newest_with(sight) else {
            return "no commit has left that".to_owned();
        };
        let sent = seconds(self.commits[newest].sent);
        match self.commits.get(newest + 1) {
            Some(next) => format!(
                "last so in state {newest} of {sent}; the next was sent at {} and certain at {}",
                seconds(next.sent),
                seconds(next.certain)
            ),
            None => format!("so in the last state, {newest} of {sent}"),
        }
    }
}

fn seconds(time: Time) -> String {
    if time == Time::MAX { "?".to_owned() } else { format!("{:.6} s", time.as_secs_f64()) }
}
