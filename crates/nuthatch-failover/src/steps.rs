//! What has been done, and when.

use tokio::time::Instant;

use crate::hindrance::{Finding, Weight};

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Milliseconds since the beginning.
    pub at_ms: u64,
    /// In words.
    pub what: String,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The new primary takes the writes, and the others follow it.
    Done,
    /// Nothing was touched.
    Refused(Vec<Finding>),
    /// It failed, and everything is as it was before.
    RolledBack(String),
    /// It could not be brought to its end, nor back.
    Unfinished {
        /// What happened.
        why: String,
        /// What somebody must do, in words.
        left: Vec<String>,
    },
}

impl Outcome {
    /// Why it is not done, and what is left to do, in words; none where it is done.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Refused(findings) => {
                let refusals = findings.iter().filter(|one| one.weight == Weight::Refused);
                Some(refusals.map(|one| &*one.what).collect::<Vec<_>>().join("; "))
            }
            Self::RolledBack(why) => Some(why.clone()),
            Self::Unfinished { why, left } => Some(format!("{why}; left to do: {}", left.join("; "))),
        }
    }
}

/// What has been touched so far.
pub(crate) struct Steps {
    of_what: &'static str,
    began: Instant,
    pub(crate) taken: Vec<Step>,
    is_read_only: bool,
    has_ended_events: bool,
    has_stopped_replication: bool,
}

impl Steps {
    /// `of_what` is its word in the log.
    pub(crate) fn begin(of_what: &'static str) -> Self {
        Self {
            of_what,
            began: Instant::now(),
            taken: Vec::new(),
            is_read_only: false,
            has_ended_events: false,
            has_stopped_replication: false,
        }
    }

    pub(crate) fn took(&mut self, what: String) {
        let at_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(at_ms, "{}: {what}", self.of_what);
        self.taken.push(Step { at_ms, what });
    }

    /// From now on the old primary may be read-only.
    pub(crate) const fn note_read_only(&mut self) {
        self.is_read_only = true;
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    pub(crate) const fn note_events_ended(&mut self) {
        self.has_ended_events = true;
    }

    pub(crate) const fn has_ended_events(&self) -> bool {
        self.has_ended_events
    }

    /// From now on the new primary may follow nobody.
    pub(crate) const fn note_replication_stopped(&mut self) {
        self.has_stopped_replication = true;
    }

    pub(crate) const fn has_stopped_replication(&self) -> bool {
        self.has_stopped_replication
    }
}
