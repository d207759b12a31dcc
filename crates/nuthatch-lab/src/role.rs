//! Who a server is in its lab.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
        text.parse()
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("replica-").map(str::parse) {
            Some(Ok(number)) => Ok(Self::Replica(number)),
            None if text == "primary" => Ok(Self::Primary),
            _ => Err(format!("{text:?} is no role")),
        }
    }
}
