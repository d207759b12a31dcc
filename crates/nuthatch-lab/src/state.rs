//! What a lab remembers between calls, in `lab.json`.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::layout::{Layout, write_private};
use crate::options::Installation;
use crate::process::ProcessMark;

/// Moves when an older program could not read the file any more.
const FORMAT: u32 = 1;

/// A server's place in its lab. `Display` is also the name of its directory: `primary`, `replica-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Role {
    /// The server that takes writes.
    Primary,
    /// A replica of the primary, numbered from 1.
    Replica(u16),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => f.write_str("primary"),
            Self::Replica(number) => write!(f, "replica-{number}"),
        }
    }
}

impl Role {
    /// `server_id` in replication: unique in the lab, never 0.
    pub(crate) fn server_id(self) -> u32 {
        match self {
            Self::Primary => 1,
            Self::Replica(number) => u32::from(number) + 1,
        }
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        role.to_string()
    }
}

impl TryFrom<String> for Role {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.strip_prefix("replica-").map(str::parse) {
            Some(Ok(number)) => Ok(Self::Replica(number)),
            None if text == "primary" => Ok(Self::Primary),
            _ => Err(format!("{text:?} is no role")),
        }
    }
}

/// What is remembered of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ServerState {
    pub(crate) role: Role,
    /// The port on 127.0.0.1; kept from start to start while it is free.
    pub(crate) port: u16,
    pub(crate) socket: PathBuf,
    /// As the server said when it last started; empty before.
    pub(crate) version: String,
    /// The process that was started last, running or not.
    pub(crate) process: Option<ProcessMark>,
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
    /// Whether all that `Lab::up` does was done to the servers as they are.
    pub(crate) settled: bool,
    /// The primary first, then the replicas by number.
    pub(crate) servers: Vec<ServerState>,
}

impl State {
    pub(crate) fn new(installation: Installation, user: String, servers: Vec<ServerState>) -> Self {
        Self { format: FORMAT, installation, user, environment: Vec::new(), settled: false, servers }
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
        write_private(&path, &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_survive_their_spelling() {
        for role in [Role::Primary, Role::Replica(1), Role::Replica(8)] {
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
