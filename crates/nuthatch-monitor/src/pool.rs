//! How warm a server's buffer pool is: what is found, and when it is worth a dump.

use std::time::Duration;

use nuthatch_net::AnswerTable;
use nuthatch_sql::{PoolFigures, PoolLoad};
use tokio::time::Instant;

use crate::check::{Absence, Outcome};

/// A server that is not warm is looked at this often, as its share of statements hangs on that.
const COLD_INTERVAL: Duration = Duration::from_millis(250);

/// One that does not answer is looked at this often: so it is known at once whether it was started anew.
const ABSENT_INTERVAL: Duration = Duration::from_secs(1);

/// What a look at a server's buffer pool came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolFinding {
    /// It told.
    Told {
        /// What.
        figures: PoolFigures,
        /// Whether it loads what was dumped when it is started; none where that was not asked.
        loads_at_start: Option<bool>,
        /// Over the connection of the look before: by the same process.
        is_continued: bool,
    },
    /// Nobody is there.
    Gone,
    /// Nothing came in time, or it told nothing this time (it is full, or busy): nothing new is known.
    NoAnswer,
    /// It cannot be asked: it does not know the monitor's account, or nobody asks it.
    NotTold,
}

/// What who uses a server makes of its buffer pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolCare {
    /// It is waited for, or nobody knows: it is looked at often, and what it has is no dump that others may overwrite a better one with.
    Cold,
    /// It has what its statements ask for.
    Warm,
}

/// What a server made of the wish for a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpFinding {
    /// It dumps its buffer pool.
    Begun,
    /// It does not, and what may mend that.
    Refused {
        /// In words.
        why: String,
    },
}

/// The statement that has a server dump its buffer pool, in its background.
pub(crate) const DUMP: &str = "SET GLOBAL innodb_buffer_pool_dump_now = ON";

/// The one that asks whether it loads a dump when it is started.
pub(crate) const LOADS_AT_START: &str =
    "SELECT @@global.innodb_buffer_pool_load_at_startup AS loads_at_start";

/// What the answer to [`PoolFigures::QUESTION`] says; none if it is none of such a question.
pub(crate) fn figures(answer: &AnswerTable) -> Option<PoolFigures> {
    let rows: Vec<[String; 2]> = answer.texts().collect();
    PoolFigures::of_status(rows.iter().map(|[name, value]| (name.as_str(), value.as_str())))
}

/// What the answer to [`LOADS_AT_START`] says.
pub(crate) fn loads_at_start(answer: &AnswerTable) -> Option<bool> {
    Some(!matches!(answer.value("loads_at_start")?, b"0" | b"OFF"))
}

impl PoolFinding {
    /// Of a look that told nothing.
    pub(crate) const fn without_figures(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Failed { how: Absence::Gone, .. } => Self::Gone,
            Outcome::NotLetIn { is_account: true, .. } => Self::NotTold,
            Outcome::Failed { how: Absence::NoAnswer, .. }
            | Outcome::NotAsked { .. }
            | Outcome::Done { .. }
            | Outcome::NotLetIn { .. }
            | Outcome::Refused { .. } => Self::NoAnswer,
        }
    }

    /// Whether it loads right now, or has not said yet that it does.
    const fn may_be_loading(&self) -> bool {
        let Self::Told { figures, .. } = self else { return true };
        matches!(figures.load, PoolLoad::Loading { .. })
    }

    const fn uptime(&self) -> Duration {
        match self {
            Self::Told { figures, .. } => Duration::from_secs(figures.uptime_s),
            _ => Duration::ZERO,
        }
    }
}

impl PoolCare {
    /// Until the next look.
    pub(crate) fn pause(self, finding: &PoolFinding, interval: Duration) -> Duration {
        match (finding, self) {
            (PoolFinding::Gone | PoolFinding::NoAnswer, _) => interval.min(ABSENT_INTERVAL),
            (PoolFinding::NotTold, _) | (_, Self::Warm) => interval,
            (PoolFinding::Told { .. }, Self::Cold) => interval.min(COLD_INTERVAL),
        }
    }
}

/// When a server is to dump its buffer pool: a whole interval after its start, after it was found warm, and after the dump before. So a pool that
/// has just been filled by some statements never takes the place of what a server had before it was started.
#[derive(Debug, Default)]
pub(crate) struct DumpClock {
    /// Since when it has been warm without a break, or when it was asked last.
    since: Option<Instant>,
}

impl DumpClock {
    /// Takes one more look; says whether a dump is due now, which is asked for then.
    pub(crate) fn is_due(
        &mut self,
        finding: &PoolFinding,
        care: PoolCare,
        interval: Duration,
        now: Instant,
    ) -> bool {
        if *finding == PoolFinding::NoAnswer {
            return false;
        }
        if care == PoolCare::Cold || finding.may_be_loading() {
            self.since = None;
            return false;
        }
        let mut since = *self.since.get_or_insert(now);
        // It may have been started anew between two looks.
        if let Some(started) = now.checked_sub(finding.uptime()) {
            since = since.max(started);
            self.since = Some(since);
        }
        let is_due = now.duration_since(since) >= interval;
        if is_due {
            self.since = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(uptime_s: u64, load: PoolLoad) -> PoolFinding {
        let figures = PoolFigures { uptime_s, load, requests: 9, reads: 1, pages: 1 };
        PoolFinding::Told { figures, loads_at_start: None, is_continued: true }
    }

    #[test]
    fn dump_is_due_a_whole_interval_after_the_server_is_warm_and_never_while_it_loads() {
        let begun = Instant::now();
        let mut clock = DumpClock::default();
        let interval = Duration::from_secs(300);
        let (warm, cold) = (PoolCare::Warm, PoolCare::Cold);
        let loading = PoolLoad::Loading { loaded: 1, all: 2 };
        for (at_s, finding, care, is_due) in [
            (0, told(9_000, PoolLoad::Completed), warm, false),
            (299, told(9_299, PoolLoad::Completed), warm, false),
            (300, told(9_300, PoolLoad::Completed), warm, true),
            (301, told(9_301, PoolLoad::Completed), warm, false),
            (599, told(9_599, PoolLoad::NotBegun), warm, false),
            (600, told(9_600, PoolLoad::NotBegun), warm, true),
            // Started anew: what it has is less than what it dumped.
            (1_000, told(2, PoolLoad::Completed), warm, false),
            (1_290, told(292, PoolLoad::Completed), warm, false),
            (1_300, told(302, PoolLoad::Completed), warm, true),
            // One look that tells nothing changes nothing.
            (1_599, PoolFinding::NoAnswer, cold, false),
            (1_600, told(602, PoolLoad::Completed), warm, true),
            (1_900, told(902, loading), warm, false),
            (1_901, told(903, PoolLoad::Aborted), warm, false),
            (2_201, told(1_203, PoolLoad::Aborted), cold, false),
            (2_202, told(1_204, PoolLoad::Aborted), warm, false),
            (2_502, PoolFinding::Gone, warm, false),
            (2_503, told(1_505, PoolLoad::Aborted), warm, false),
            (2_803, told(1_805, PoolLoad::Aborted), warm, true),
        ] {
            let now = begun + Duration::from_secs(at_s);
            assert_eq!(clock.is_due(&finding, care, interval, now), is_due, "at {at_s} s: {finding:?}");
        }
    }

    #[test]
    fn only_who_is_refused_for_its_account_cannot_ask() {
        let why = String::new;
        for (outcome, finding) in [
            (Outcome::NotLetIn { why: why(), is_account: true }, PoolFinding::NotTold),
            (Outcome::NotLetIn { why: why(), is_account: false }, PoolFinding::NoAnswer),
            (Outcome::Refused { why: why() }, PoolFinding::NoAnswer),
            (Outcome::Failed { why: why(), how: Absence::Gone }, PoolFinding::Gone),
        ] {
            assert_eq!(PoolFinding::without_figures(&outcome), finding, "{outcome:?}");
        }
    }

    #[test]
    fn answers_are_read_as_servers_write_them() {
        let answer = |name: &str, value: &str| AnswerTable {
            names: vec![name.to_owned()],
            rows: vec![vec![Some(value.as_bytes().to_vec())]],
        };
        for (value, expected) in [("1", true), ("ON", true), ("0", false), ("OFF", false)] {
            assert_eq!(loads_at_start(&answer("loads_at_start", value)), Some(expected), "{value}");
        }
        assert_eq!(loads_at_start(&answer("x", "1")), None);
        assert_eq!(figures(&answer("Variable_name", "Uptime")), None);
    }
}
