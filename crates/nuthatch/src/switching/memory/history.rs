//! What this proxy has tried to change at who writes and who follows, and what came of it: the rows of `stats_nuthatch_role_changes`, and how
//! often each has happened.

use nuthatch_admin::rows::RoleChangeRow;
use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{Outcome, Step};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::latest::Latest;

/// Of what was done, and of why, so much is kept; the log has all.
const TEXT_BYTES_MAX: usize = 8 << 10;

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::switching) enum Kind {
    Switchover,
    Failover,
    /// An old primary follows again, or stays out.
    Rejoin,
    /// Something was mended that a failover had left.
    Repair,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Switchover => "switchover",
            Self::Failover => "failover",
            Self::Rejoin => "rejoin",
            Self::Repair => "repair",
        }
    }
}

/// By whose wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::switching) enum By {
    Operator,
    Proxy,
}

impl By {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Proxy => "proxy",
        }
    }
}

/// How it ended, in the words of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    Refused,
    RolledBack,
    Unfinished,
}

impl Ended {
    const ALL: usize = 4;

    const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::RolledBack => "rolled back",
            Self::Unfinished => "unfinished",
        }
    }
}

/// One try that has begun.
#[derive(Clone, Copy, Debug)]
pub(in crate::switching) struct Attempt {
    kind: Kind,
    by: By,
    hostgroup: HostgroupId,
    /// In seconds since 1970.
    time: u64,
    began: Instant,
}

impl Attempt {
    /// `time` is now, in seconds since 1970.
    pub(in crate::switching) fn begin(kind: Kind, by: By, hostgroup: HostgroupId, time: u64) -> Self {
        Self { kind, by, hostgroup, time, began: Instant::now() }
    }
}

/// What came of a try.
#[derive(Clone, Debug)]
pub(in crate::switching) struct Came {
    ended: Ended,
    /// None where it is done.
    why: Option<String>,
    /// What was done.
    steps: String,
}

impl Came {
    /// Of a switchover or failover.
    pub(in crate::switching) fn of(outcome: &Outcome, steps: &[Step]) -> Self {
        let ended = match outcome {
            Outcome::Done => Ended::Done,
            Outcome::Refused(_) => Ended::Refused,
            Outcome::RolledBack(_) => Ended::RolledBack,
            Outcome::Unfinished { .. } => Ended::Unfinished,
        };
        let steps: Vec<_> = steps.iter().map(|step| format!("{} ms: {}", step.at_ms, step.what)).collect();
        Self { ended, why: outcome.why(), steps: steps.join("\n") }
    }

    pub(in crate::switching) const fn done(what: String) -> Self {
        Self { ended: Ended::Done, why: None, steps: what }
    }

    pub(in crate::switching) const fn refused(why: String) -> Self {
        Self { ended: Ended::Refused, why: Some(why), steps: String::new() }
    }
}

/// How often switchovers and failovers have ended how.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    switchovers: [u64; Ended::ALL],
    failovers: [u64; Ended::ALL],
}

impl Totals {
    pub(crate) const fn switchovers(&self, ended: Ended) -> u64 {
        self.switchovers[ended as usize]
    }

    pub(crate) const fn failovers(&self, ended: Ended) -> u64 {
        self.failovers[ended as usize]
    }
}

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    rows: Latest<RoleChangeRow>,
    totals: Totals,
}

impl History {
    /// What came of a try between these primaries, as far as they are known. What has come to nothing in the same words before, but for figures,
    /// is the same row if the proxy tries by itself, and counted there: that is not to push out what has happened.
    pub(in crate::switching) fn note(
        &self,
        attempt: Attempt,
        primaries: [Option<&ServerName>; 2],
        came: Came,
    ) {
        let ended = came.ended;
        let came_to_nothing = matches!(ended, Ended::Refused | Ended::RolledBack);
        let is_patrol = attempt.by == By::Proxy && came_to_nothing;
        let row = row_of(attempt, primaries, came);
        let mut kept = self.0.lock();
        match attempt.kind {
            Kind::Switchover => kept.totals.switchovers[ended as usize] += 1,
            Kind::Failover => kept.totals.failovers[ended as usize] += 1,
            Kind::Rejoin | Kind::Repair => {}
        }
        let last = kept.rows.newest_mut().find(|known| is_of_same(known, &row));
        if let Some(known) = last.filter(|known| is_patrol && are_same(known, &row)) {
            known.tries += 1;
            return;
        }
        kept.rows.push(row);
    }

    /// All, the oldest first.
    pub(crate) fn rows(&self) -> Vec<RoleChangeRow> {
        self.0.lock().rows.iter().cloned().collect()
    }

    /// Since the proxy began.
    pub(crate) fn totals(&self) -> Totals {
        self.0.lock().totals
    }
}

/// Whether both are of the same kind, and of the same servers.
fn is_of_same(known: &RoleChangeRow, row: &RoleChangeRow) -> bool {
    (known.hostgroup, known.kind) == (row.hostgroup, row.kind) && known.old_primary == row.old_primary
}

fn are_same(known: &RoleChangeRow, row: &RoleChangeRow) -> bool {
    let words = |row: &RoleChangeRow| {
        row.why.as_ref().map(|why| why.replace(|letter: char| letter.is_ascii_digit(), ""))
    };
    (known.outcome, known.ordered_by) == (row.outcome, row.ordered_by) && words(known) == words(row)
}

fn row_of(attempt: Attempt, [old, new]: [Option<&ServerName>; 2], came: Came) -> RoleChangeRow {
    RoleChangeRow {
        hostgroup: attempt.hostgroup.0,
        time: attempt.time,
        took_ms: u64::try_from(attempt.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        kind: attempt.kind.as_str(),
        ordered_by: attempt.by.as_str(),
        old_primary: old.map(ToString::to_string),
        new_primary: new.map(ToString::to_string),
        outcome: came.ended.as_str(),
        why: came.why.map(cut),
        steps: cut(came.steps),
        tries: 1,
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::super::latest::KEPT_MAX;
    use super::*;

    #[test]
    fn what_comes_to_nothing_again_and_again_is_one_row_and_no_more_are_kept_than_may_be() {
        let history = History::default();
        let server = ServerName { host: "db1".to_owned(), port: 3306 };
        let note = |by, outcome: &Outcome| {
            let attempt = Attempt::begin(Kind::Failover, by, HostgroupId(10), 1);
            history.note(attempt, [Some(&server), None], Came::of(outcome, &[]));
        };
        let failed = |ms: u32| Outcome::RolledBack(format!("it did not end within {ms} ms"));
        (0..5).for_each(|ms| note(By::Proxy, &failed(ms)));
        note(By::Operator, &failed(7));
        note(By::Proxy, &Outcome::Done);
        note(By::Proxy, &failed(8));
        let rows: Vec<_> =
            history.rows().iter().map(|row| (row.ordered_by, row.outcome, row.tries)).collect();
        let expected = [("proxy", "rolled back", 5), ("operator", "rolled back", 1), ("proxy", "done", 1)];
        assert_eq!(rows[..3], expected);
        assert_eq!(rows[3], ("proxy", "rolled back", 1), "something has happened in between");
        let totals = history.totals();
        assert_eq!((totals.failovers(Ended::RolledBack), totals.failovers(Ended::Done)), (7, 1));
        (0..KEPT_MAX).for_each(|_| note(By::Operator, &Outcome::Done));
        assert_eq!(history.rows().len(), KEPT_MAX);
    }
}
