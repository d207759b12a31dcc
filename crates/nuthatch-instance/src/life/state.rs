//! What is known of an instance's processes, in `run/state.json`.

use std::fmt;

use nuthatch_server::ProcessMark;
use serde::{Deserialize, Serialize};

use crate::clock::now_s;
use crate::error::InstanceError;
use crate::root::{Place, read_if_there};

/// How far a supervisor has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// Nothing runs.
    #[default]
    Stopped,
    /// The server was started, and does not answer yet.
    Starting,
    /// It answers.
    Running,
    /// It crashed, and is started again in a moment.
    Restarting,
    /// It was asked to end.
    Stopping,
    /// It is not started again by itself.
    Failed,
}

/// What a supervisor writes down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    /// Since when, in seconds since 1970.
    pub(crate) since_s: u64,
    pub(crate) supervisor: Option<ProcessMark>,
    pub(crate) server: Option<ProcessMark>,
    /// When it crashed lately, in seconds since 1970.
    pub(crate) crashes: Vec<u64>,
    /// What happened last, where that is worth a word.
    pub(crate) why: Option<String>,
    /// As the server said when it answered last; empty before.
    pub(crate) version: String,
}

/// What an instance is doing, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Doing {
    /// Nothing: it was stopped, or never started.
    Stopped,
    /// It starts.
    Starting,
    /// It answers.
    Running,
    /// It crashed, and is started again in a moment.
    Restarting,
    /// It was asked to end.
    Stopping,
    /// It crashed too often, or did not start.
    Failed,
    /// Its server runs, and nobody would bring it back: the supervisor is gone.
    Unsupervised,
    /// Its server and supervisor have both vanished, as after a power cut.
    Vanished,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Restarting => "restarting",
            Self::Stopping => "stopping",
            Self::Failed => "failed",
            Self::Unsupervised => "unsupervised",
            Self::Vanished => "vanished",
        })
    }
}

impl State {
    /// What was written down; nothing was for one that never ran.
    pub(crate) fn load(place: &Place) -> Result<Self, InstanceError> {
        let path = place.state_file();
        let Some(text) = read_if_there(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| InstanceError::BadFile { path, what: error.to_string() })
    }

    pub(crate) fn save(&self, place: &Place) -> Result<(), InstanceError> {
        let path = place.state_file();
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| InstanceError::BadFile { path: path.clone(), what: error.to_string() })?;
        place.write(&path, &(text + "\n"))
    }

    pub(crate) fn enter(&mut self, phase: Phase, why: Option<String>) {
        self.phase = phase;
        self.why = why;
        self.since_s = now_s();
    }

    /// The server's process, if it runs.
    pub(crate) fn live_server(&self) -> Option<&ProcessMark> {
        self.server.as_ref().filter(|mark| mark.is_alive())
    }

    /// The supervisor's process, if it runs.
    pub(crate) fn live_supervisor(&self) -> Option<&ProcessMark> {
        self.supervisor.as_ref().filter(|mark| mark.is_alive())
    }

    pub(crate) fn doing(&self) -> Doing {
        match (self.live_supervisor(), self.live_server(), self.phase) {
            (Some(_), _, Phase::Starting) => Doing::Starting,
            (Some(_), _, Phase::Running) => Doing::Running,
            (Some(_), _, Phase::Restarting) => Doing::Restarting,
            (Some(_), _, Phase::Stopping) => Doing::Stopping,
            (None, Some(_), _) => Doing::Unsupervised,
            (_, _, Phase::Failed) => Doing::Failed,
            (_, _, Phase::Stopped) => Doing::Stopped,
            (None, None, _) => Doing::Vanished,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_follows_from_who_lives() {
        let alive = ProcessMark::of(std::process::id());
        let with = |phase, supervisor: bool, server: bool| {
            let mark = |is_there: bool| alive.clone().filter(|_| is_there);
            State { phase, supervisor: mark(supervisor), server: mark(server), ..State::default() }.doing()
        };
        assert_eq!(State::default().doing(), Doing::Stopped);
        assert_eq!(with(Phase::Running, true, true), Doing::Running);
        assert_eq!(with(Phase::Running, false, true), Doing::Unsupervised);
        assert_eq!(with(Phase::Running, false, false), Doing::Vanished);
        assert_eq!(with(Phase::Failed, false, false), Doing::Failed);
        assert_eq!(with(Phase::Restarting, true, false), Doing::Restarting);
    }
}
