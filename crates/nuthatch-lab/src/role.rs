//! Who a server is in its lab.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A server's place in its lab. `Display` is also the name of its directory: `primary`, `replica-1`, `node-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Role {
    /// The server that takes writes.
    Primary,
    /// A replica of the primary, numbered from 1.
    Replica(u16),
    /// A node of a Galera cluster, or a member of a group, numbered from 1.
    Node(u16),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => f.write_str("primary"),
            Self::Replica(number) => write!(f, "replica-{number}"),
            Self::Node(number) => write!(f, "node-{number}"),
        }
    }
}

impl Role {
    /// `server_id` in replication: unique in the lab, never 0.
    pub(crate) fn server_id(self) -> u32 {
        match self {
            Self::Primary => 1,
            Self::Replica(number) => u32::from(number) + 1,
            Self::Node(number) => u32::from(number),
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
        let number = |prefix| text.strip_prefix(prefix).and_then(|number| number.parse().ok());
        match (text, number("replica-"), number("node-")) {
            ("primary", _, _) => Ok(Self::Primary),
            (_, Some(number), _) => Ok(Self::Replica(number)),
            (_, _, Some(number)) => Ok(Self::Node(number)),
            _ => Err(format!("{text:?} is no server of a lab: primary, replica-1, node-1, …")),
        }
    }
}
