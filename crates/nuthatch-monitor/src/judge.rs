//! What results in a row mean.

use std::time::Duration;

use crate::check::Outcome;

/// What is to be told of a server's pings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PingFinding {
    /// One came back after so long.
    Answered {
        /// From the ping to its answer.
        took: Duration,
    },
    /// The server is there, and does not let the monitor in: nothing is known of how fast it is.
    Refused,
    /// So many in a row did not come back that the server counts as gone. Told at each one that does not.
    Silent {
        /// In words behind "because of".
        why: String,
    },
    /// Nobody pings it any more.
    NotAsked,
}

/// The pings of one server.
#[derive(Debug, Default)]
pub(crate) struct PingJudge {
    failures: u64,
}

impl PingJudge {
    /// Takes one more; says what is to be told, if anything.
    pub(crate) fn judge(&mut self, outcome: &Outcome, failures_max: u64) -> Option<PingFinding> {
        match outcome {
            Outcome::Done { took } => {
                self.failures = 0;
                Some(PingFinding::Answered { took: *took })
            }
            Outcome::NotAsked { .. } => None,
            Outcome::NotLetIn { .. } | Outcome::Refused { .. } => {
                self.failures = 0;
                Some(PingFinding::Refused)
            }
            Outcome::Failed { why, .. } => {
                self.failures += 1;
                let in_a_row = self.failures;
                let why = || format!("{in_a_row} failed pings in a row of the monitor: {why}");
                (in_a_row >= failures_max.max(1)).then(|| PingFinding::Silent { why: why() })
            }
        }
    }

    /// Whether the last one of so many failed that the server is silent.
    pub(crate) const fn is_silent(&self, failures_max: u64) -> bool {
        self.failures > 0 && self.failures >= failures_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Absence;

    #[test]
    fn server_is_silent_after_so_many_in_a_row_and_until_the_next_that_is_answered() {
        let done = || Outcome::Done { took: Duration::from_millis(1) };
        let refused = || Outcome::NotLetIn { why: "access denied".to_owned(), is_account: true };
        let failed = || Outcome::Failed { why: "no route".to_owned(), how: Absence::NoAnswer };
        let answered = Some(PingFinding::Answered { took: Duration::from_millis(1) });
        let silent = |times: u64| {
            Some(PingFinding::Silent {
                why: format!("{times} failed pings in a row of the monitor: no route"),
            })
        };
        let mut judge = PingJudge::default();
        for (outcome, told, is_silent) in [
            (failed(), None, false),
            (failed(), None, false),
            (done(), answered.clone(), false),
            (failed(), None, false),
            (failed(), None, false),
            (failed(), silent(3), true),
            (failed(), silent(4), true),
            (Outcome::NotAsked { why: "too many open files".to_owned() }, None, true),
            (refused(), Some(PingFinding::Refused), false),
            (failed(), None, false),
            (done(), answered, false),
        ] {
            assert_eq!(judge.judge(&outcome, 3), told, "{outcome:?}");
            assert_eq!(judge.is_silent(3), is_silent, "{outcome:?}");
        }
        assert_eq!(PingJudge::default().judge(&failed(), 0), silent(1), "0 counts as 1");
    }
}
