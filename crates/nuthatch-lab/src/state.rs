//! What a lab remembers between calls, in `lab.json`.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use nuthatch_server::{Installation, ProcessMark, write_private};

use crate::error::LabError;
use crate::layout::Layout;
use crate::options::Cluster;
use crate::role::Role;

/// Moves when an older program could not read the file any more.
const FORMAT: u32 = 1;

/// What is remembered of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ServerState {
    pub(crate) role: Role,
    /// The port on 127.0.0.1; kept from start to start while it is free.
    pub(crate) port: u16,
    /// The port of the relay before it, where there is one.
    #[serde(default)]
    pub(crate) relay_port: Option<u16>,
    /// The ports by which nodes of a cluster talk to each other: always, and to catch up.
    #[serde(default)]
    pub(crate) cluster_ports: Option<(u16, u16)>,
    pub(crate) socket: PathBuf,
    /// As the server said when it last started; empty before.
    pub(crate) version: String,
    /// The process that was started last, running or not.
    pub(crate) process: Option<ProcessMark>,
}

impl ServerState {
    /// Where others connect.
    pub(crate) fn public_port(&self) -> u16 {
        self.relay_port.unwrap_or(self.port)
    }
}

/// What is remembered of a lab.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    format: u32,
    pub(crate) installation: Installation,
    pub(crate) user: String,
    /// What every start of a server adds to its environment.
    #[serde(default)]
    pub(crate) environment: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) cluster: Option<Cluster>,
    /// Where the relay is told what to do; `None` in a lab without.
    #[serde(default)]
    pub(crate) relay_socket: Option<PathBuf>,
    /// The relay's process, if it has one of its own.
    #[serde(default)]
    pub(crate) relay_process: Option<ProcessMark>,
    /// Whether all that `Lab::up` does was done to the servers as they are.
    pub(crate) settled: bool,
    /// The primary first, then the replicas by number.
    pub(crate) servers: Vec<ServerState>,
}

impl State {
    pub(crate) fn new(installation: Installation, user: String, servers: Vec<ServerState>) -> Self {
        Self {
            format: FORMAT,
            installation,
            user,
            environment: Vec::new(),
            cluster: None,
            relay_socket: None,
            relay_process: None,
            settled: false,
            servers,
        }
    }

    pub(crate) fn load(layout: &Layout) -> Result<Self, LabError> {
        let path = layout.state();
        let text = fs::read_to_string(&path).map_err(LabError::file("read", &path))?;
        let refuse = |source| LabError::State { path: path.clone(), source };
        let state: Self = serde_json::from_str(&text).map_err(refuse)?;
        if state.format == FORMAT {
            return Ok(state);
        }
        let reason = format!("format {} is not this program's {FORMAT}", state.format);
        Err(LabError::State { path, source: <serde_json::Error as serde::de::Error>::custom(reason) })
    }

    pub(crate) fn save(&self, layout: &Layout) -> Result<(), LabError> {
        let path = layout.state();
        let text = serde_json::to_string_pretty(self)
            .map_err(|source| LabError::State { path: path.clone(), source })?;
        Ok(write_private(&path, &(text + "\n"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_survive_their_spelling() {
        for role in [Role::Primary, Role::Replica(1), Role::Replica(8), Role::Node(3)] {
            assert_eq!(Role::try_from(role.to_string()), Ok(role));
        }
        for bad in ["", "replica", "replica-", "replica-x", "Primary"] {
            assert!(Role::try_from(bad.to_owned()).is_err());
        }
    }

    #[test]
    fn state_of_another_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::create(dir.path()).unwrap();
        let mut state = State::new(Installation::debian_mariadb(), "nuthatch".into(), Vec::new());
        state.save(&layout).unwrap();
        State::load(&layout).unwrap();
        state.format = 2;
        state.save(&layout).unwrap();
        assert!(matches!(State::load(&layout), Err(LabError::State { .. })));
    }
}
