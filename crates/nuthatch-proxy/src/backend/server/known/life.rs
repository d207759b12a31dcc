//! Whether a server has been started anew since somebody looked: by that it is known whether it still has in memory what it had.
//!
//! Who looks keeps its connection. A look over the connection of the one before is answered by the same process; one over another connection
//! by the same if that has run for longer than since the last look.
//!
//! A server that could not be reached is suspected. The next look that was begun after that, and tells, ends the suspicion.

use std::sync::atomic::AtomicU64;

use nuthatch_sql::{PoolFigures, PoolLoad};
use parking_lot::Mutex;

/// A server tells for how long it has run in whole seconds of a clock that it reads by the second: by so much its start may be later than it
/// seems. One that was as young when it was looked at last counts as started anew: it has little to lose.
const START_UNSURE_MS: u64 = 1_000;

/// Looks in a row without an answer after which a suspicion is given up: it is for others to say that the server is gone.
const UNANSWERED_MAX: u32 = 3;

/// The shortest time over which it is counted how many pages were asked for.
const TRAFFIC_MS_MIN: u64 = 1_000;

/// With fewer the count goes on: a server asks for some pages of its own, and nothing is known of what is lacking.
pub(in crate::backend) const TRAFFIC_REQUESTS_MIN: u64 = 1_000;

/// What a look at a server's buffer pool came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolOutcome {
    /// It told.
    Told {
        /// What.
        figures: PoolFigures,
        /// Whether it loads what was dumped when it is started; none where that was not asked.
        loads_at_start: Option<bool>,
        /// Over the connection of the look before.
        is_continued: bool,
    },
    /// Nobody is there.
    Gone,
    /// Nothing came in time.
    NoAnswer,
    /// It cannot be asked.
    NotTold,
}

/// What a look tells of a server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Sight {
    /// Nothing yet.
    Unclear,
    /// Nothing, and it is not waited for any more.
    GivenUp,
    /// It does not tell.
    Untold,
    /// It has run since a look told before, or none ever did.
    Same,
    /// It was started since then.
    Anew,
}

/// Pages that were asked for in some time, and those of them that had to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::backend) struct PoolTraffic {
    pub(in crate::backend) requests: u64,
    pub(in crate::backend) reads: u64,
}

impl PoolTraffic {
    /// Both together.
    pub(in crate::backend) const fn and(self, other: Self) -> Self {
        Self { requests: self.requests + other.requests, reads: self.reads + other.reads }
    }
}

/// See the module's doc. Moments are milliseconds of the clock.
#[derive(Debug, Default)]
pub(crate) struct Life {
    state: Mutex<State>,
    /// How often it was held in a hostgroup for being cold.
    pub(in crate::backend) gates_closed: AtomicU64,
}

/// The dumps of its buffer pool that a server was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dumps {
    pub(crate) begun: u64,
    pub(crate) refused: u64,
    /// When it began one last.
    pub(crate) last_ms: Option<u64>,
    /// Why it has refused the last one.
    pub(crate) trouble: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    /// When the last look was begun that told.
    told_ms: Option<u64>,
    /// For how long it had run then.
    up_ms: u64,
    /// Pages that it held then, and whether it had loaded what it had to load.
    held: (u64, bool),
    /// Pages that it held before it was started anew, and when it was first looked at since.
    held_before: Option<u64>,
    held_first: u64,
    /// When it could not be reached last, if no look has told since.
    suspected_ms: Option<u64>,
    unanswered: u32,
    /// What it told when the count of its traffic was begun, and when that was.
    counted_since: Option<(u64, PoolFigures)>,
    traffic: PoolTraffic,
    dumps: Dumps,
}

impl Life {
    /// It could not be reached just now. Says whether it is suspected by that: nobody is of whom no look has told anything, as none may
    /// ever do.
    pub(in crate::backend) fn suspect(&self, now_ms: u64) -> bool {
        let mut state = self.state.lock();
        if state.told_ms.is_none() {
            return false;
        }
        state.unanswered = 0;
        state.suspected_ms.replace(now_ms).is_none()
    }

    /// It was asked for a dump of its buffer pool: it began one, or refused.
    pub(crate) fn note_dump(&self, refused: Option<String>, now_ms: u64) {
        let dumps = &mut self.state.lock().dumps;
        match refused {
            None => (dumps.begun, dumps.last_ms) = (dumps.begun + 1, Some(now_ms)),
            Some(_) => dumps.refused += 1,
        }
        dumps.trouble = refused;
    }

    pub(crate) fn dumps(&self) -> Dumps {
        self.state.lock().dumps.clone()
    }

    /// Whether it is known to have run for so long. One that could not be reached may have been started anew.
    pub(in crate::backend) fn has_run_for(&self, ms: u64, now_ms: u64) -> bool {
        let state = self.state.lock();
        let has_run = |told_ms| state.up_ms.saturating_add(now_ms.saturating_sub(told_ms)) >= ms;
        state.suspected_ms.is_none() && state.told_ms.is_some_and(has_run)
    }

    /// Whether it could not be reached since a look has told.
    pub(in crate::backend) fn is_suspected(&self) -> bool {
        self.state.lock().suspected_ms.is_some()
    }

    /// Pages that have come into its memory since it was started anew, but for those that a recovery has read, of those that it held before;
    /// none where that is not known.
    pub(in crate::backend) fn come_back(&self) -> Option<(u64, u64)> {
        let state = self.state.lock();
        Some((state.held.0.saturating_sub(state.held_first), state.held_before?))
    }

    /// What it was asked for of late; it lacks nothing where that is not known.
    pub(in crate::backend) fn traffic(&self) -> PoolTraffic {
        self.state.lock().traffic
    }

    /// Takes note of a look that was begun then.
    pub(in crate::backend) fn note(&self, outcome: &PoolOutcome, began_ms: u64) -> Sight {
        let mut state = self.state.lock();
        match outcome {
            PoolOutcome::Told { figures, is_continued, .. } => state.hear(figures, *is_continued, began_ms),
            PoolOutcome::Gone => {
                if state.told_ms.is_some() {
                    state.suspected_ms = Some(began_ms);
                }
                Sight::Unclear
            }
            PoolOutcome::NoAnswer => {
                state.unanswered += 1;
                if state.unanswered < UNANSWERED_MAX {
                    return Sight::Unclear;
                }
                state.suspected_ms = None;
                Sight::GivenUp
            }
            PoolOutcome::NotTold => {
                *state = State { dumps: std::mem::take(&mut state.dumps), ..State::default() };
                Sight::Untold
            }
        }
    }
}

impl State {
    fn hear(&mut self, figures: &PoolFigures, is_continued: bool, began_ms: u64) -> Sight {
        self.unanswered = 0;
        let up_ms = figures.uptime_s.saturating_mul(1000);
        let may_have_started_since =
            |told_ms: u64| began_ms.saturating_add(START_UNSURE_MS) >= told_ms.saturating_add(up_ms);
        let before = self.told_ms.replace(began_ms);
        self.up_ms = up_ms;
        let is_anew = !is_continued && before.is_some_and(may_have_started_since);
        self.count(figures, began_ms, is_anew);
        if is_anew {
            self.held_before = Some(match self.held {
                (pages, true) => pages,
                // It was started anew before it had all.
                (pages, false) => pages.max(self.held_before.unwrap_or(0)),
            });
            self.held_first = figures.pages;
        }
        self.held = (figures.pages, figures.load == PoolLoad::Completed);
        if is_anew {
            self.suspected_ms = None;
            return Sight::Anew;
        }
        // One that was begun before may have been answered by the process that is gone.
        if self.suspected_ms.is_some_and(|suspected_ms| began_ms < suspected_ms) {
            return Sight::Unclear;
        }
        self.suspected_ms = None;
        Sight::Same
    }

    fn count(&mut self, figures: &PoolFigures, now_ms: u64, is_anew: bool) {
        match &self.counted_since {
            Some((since_ms, before)) if !is_anew => {
                let requests = figures.requests.saturating_sub(before.requests);
                if now_ms < since_ms + TRAFFIC_MS_MIN || requests < TRAFFIC_REQUESTS_MIN {
                    return;
                }
                self.traffic = PoolTraffic { requests, reads: figures.reads.saturating_sub(before.reads) };
            }
            _ => self.traffic = PoolTraffic::default(),
        }
        self.counted_since = Some((now_ms, *figures));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(uptime_s: u64, is_continued: bool) -> PoolOutcome {
        let figures = PoolFigures { uptime_s, load: PoolLoad::Completed, requests: 0, reads: 0, pages: 0 };
        PoolOutcome::Told { figures, loads_at_start: None, is_continued }
    }

    #[test]
    fn one_that_was_away_is_the_same_if_it_has_run_for_longer_and_another_if_not() {
        let life = Life::default();
        assert!(!life.suspect(50), "no look has told anything of it");
        for (at_ms, outcome, sight) in [
            (1_000, told(500, false), Sight::Same),
            (3_900, told(502, true), Sight::Same),
            (4_000, PoolOutcome::Gone, Sight::Unclear),
            (9_000, told(508, false), Sight::Same),
            (9_500, PoolOutcome::Gone, Sight::Unclear),
            (12_000, told(0, false), Sight::Anew),
            (12_200, told(0, true), Sight::Same),
            (12_400, told(0, false), Sight::Anew),
            (12_600, told(0, true), Sight::Same),
            (20_000, told(8, true), Sight::Same),
            (20_200, told(8, false), Sight::Same),
            (25_000, PoolOutcome::NoAnswer, Sight::Unclear),
            (26_000, PoolOutcome::NoAnswer, Sight::Unclear),
            (27_000, PoolOutcome::NoAnswer, Sight::GivenUp),
            (28_000, told(15, false), Sight::Same),
            (28_200, told(0, true), Sight::Same),
            (29_000, PoolOutcome::NotTold, Sight::Untold),
            (30_000, told(1, false), Sight::Same),
        ] {
            assert_eq!(life.note(&outcome, at_ms), sight, "{at_ms}: {outcome:?}");
        }
    }

    #[test]
    fn look_that_was_begun_before_it_could_not_be_reached_tells_nothing() {
        let life = Life::default();
        life.note(&told(500, false), 1_000);
        assert!(life.suspect(3_000), "it is news");
        assert!(!life.suspect(3_100), "it is none any more");
        assert_eq!(life.note(&told(502, true), 3_050), Sight::Unclear);
        assert_eq!(life.note(&told(502, true), 3_150), Sight::Same);
        assert!(life.suspect(4_000));
        assert_eq!(life.note(&told(0, false), 3_990), Sight::Anew, "that shows itself in any case");
    }

    #[test]
    fn how_long_it_runs_is_known_until_it_cannot_be_reached() {
        let life = Life::default();
        assert!(!life.has_run_for(0, 900), "no look has told anything");
        life.note(&told(500, false), 1_000);
        assert!(life.has_run_for(501_000, 2_000) && !life.has_run_for(501_001, 2_000));
        life.suspect(3_000);
        assert!(!life.has_run_for(1, 3_000));
        life.note(&told(0, false), 4_000);
        assert!(life.has_run_for(1_000, 5_000) && !life.has_run_for(1_001, 5_000));
    }

    #[test]
    fn what_it_held_before_is_kept_until_it_has_loaded_that() {
        let life = Life::default();
        let loading = PoolLoad::Loading { loaded: 0, all: 0 };
        for (at_ms, uptime_s, load, pages, before) in [
            (1_000, 500, PoolLoad::NotBegun, 4_000, None),
            (9_000, 0, loading, 10, Some((0, 4_000))),
            (10_000, 1, loading, 100, Some((90, 4_000))),
            (20_000, 0, loading, 1_000, Some((0, 4_000))),
            (30_000, 10, PoolLoad::Completed, 3_000, Some((2_000, 4_000))),
            (90_000, 0, loading, 10, Some((0, 3_000))),
        ] {
            let figures = PoolFigures { uptime_s, load, requests: 0, reads: 0, pages };
            let is_continued = uptime_s != 0;
            life.note(&PoolOutcome::Told { figures, loads_at_start: None, is_continued }, at_ms);
            assert_eq!(life.come_back(), before, "{at_ms}");
        }
    }

    #[test]
    fn traffic_is_that_of_a_second_and_a_thousand_pages_or_more_in_one_life() {
        let life = Life::default();
        for (at_ms, uptime_s, total, expected) in [
            (1_000, 500, (1_000, 10), (0, 0)),
            (1_500, 500, (1_500, 10), (0, 0)),
            (2_000, 501, (3_000, 30), (2_000, 20)),
            (2_250, 501, (9_000, 90), (2_000, 20)),
            (9_000, 0, (50, 50), (0, 0)),
            (10_000, 1, (150, 90), (0, 0)),
            (15_000, 6, (1_150, 130), (1_100, 80)),
        ] {
            let (requests, reads) = total;
            let figures = PoolFigures { uptime_s, load: PoolLoad::Completed, requests, reads, pages: 0 };
            let is_continued = at_ms != 9_000;
            life.note(&PoolOutcome::Told { figures, loads_at_start: None, is_continued }, at_ms);
            let (requests, reads) = expected;
            assert_eq!(life.traffic(), PoolTraffic { requests, reads }, "{at_ms}");
        }
    }
}
