//! What one host asks of another about its instances, and what it is told: JSON, over the standard streams of `nuthatch instance answer`.
//!
//! A host asks itself in the same words, so that both ends of a replication are worked on alike.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use nuthatch_server::{Installation, Password, ServerError};
use serde::{Deserialize, Serialize};

use crate::add::Wanted;
use crate::name::InstanceName;
use crate::record::Record;
use crate::replication::fitness::Beginning;
use crate::replication::link::Link;
use crate::replication::standing::Standing;
use crate::replication::status::Following;

/// A question, or an order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// How one instance stands.
    Look(Which),
    /// From which address the host reaches another one.
    Reach {
        /// Name or address.
        host: String,
        /// The port.
        port: u16,
    },
    /// Which tables an instance has.
    Tables(InstanceName),
    /// Which of its tables its binlogs do not make.
    Unlogged(InstanceName),
    /// Make an account for a replica, or give it another password.
    MakeAccount {
        /// At which instance.
        name: InstanceName,
        /// Which account.
        account: Account,
        /// Its password.
        password: Secret,
    },
    /// Drop the account of a replica.
    DropAccount {
        /// At which instance.
        name: InstanceName,
        /// Its user.
        user: String,
        /// The one that comes from there; `None` for all of that name.
        #[serde(default)]
        from: Option<IpAddr>,
    },
    /// Have an instance follow a source.
    Follow(Box<Order>),
    /// Have an instance follow nobody.
    Forget(InstanceName),
    /// What instances there are.
    Survey,
    /// Add an instance, and start it.
    Add(Box<Wanted>),
    /// Start an instance anew.
    Restart(InstanceName),
    /// Set own options of an instance, `name=value` each.
    Set {
        /// Of which.
        name: InstanceName,
        /// What.
        options: Vec<String>,
        /// Those that are to be no own ones any more.
        #[serde(default)]
        unset: Vec<String>,
    },
    /// Which version a server of the host is.
    VersionOf(Installation),
}

/// What is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How it stands.
    Known(Box<Known>),
    /// From that address.
    From(IpAddr),
    /// These are there.
    Survey(Survey),
    /// These, `schema.table` each.
    Tables(Vec<String>),
    /// It is that version.
    Version(String),
    /// It is done.
    Done,
    /// It is not, and why, in words that stand behind "failed to".
    Refused(String),
}

/// An instance by one of its marks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// By its name.
    Named(InstanceName),
    /// By its port.
    OnPort(u16),
}

/// An instance that runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Known {
    /// Its name.
    pub name: InstanceName,
    /// Where it listens.
    pub host: IpAddr,
    /// The port.
    pub port: u16,
    /// What its server says.
    pub standing: Standing,
    /// Its own options.
    pub own: BTreeMap<String, String>,
    /// How many clients are connected.
    pub clients: usize,
    /// The authority that vouches for its server's certificate, in PEM.
    pub authority: Option<String>,
    /// The option of its certificate whose file is not there.
    #[serde(default)]
    pub lacks: Option<String>,
}

/// A host and its instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Survey {
    /// Where its instances listen.
    pub address: IpAddr,
    /// What is remembered of each, by name.
    pub instances: BTreeMap<InstanceName, Record>,
    /// The text of each template, by name.
    pub templates: BTreeMap<String, String>,
}

/// An account of a replica at its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its name.
    pub user: String,
    /// From where it may log in.
    pub host: IpAddr,
    /// Whether over TLS only.
    pub over_tls: bool,
}

/// How a source is followed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// By whom.
    pub name: InstanceName,
    /// Where the source is.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The password of the link's account.
    pub password: Secret,
    /// How far the source is trusted to be who it is.
    pub trust: Trust,
    /// From where it goes on.
    pub beginning: Beginning,
    /// Own options that it gets, `name=value` each.
    pub options: Vec<String>,
    /// What is remembered of it.
    pub link: Link,
    /// Whether the source follows it in its turn, and may be behind by a moment.
    pub is_mutual: bool,
    /// Whether it follows that source already, and is only to log in by this account from now on.
    pub again: bool,
}

/// How the source is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// TLS, and a certificate of this authority (PEM) for its address.
    Authority(String),
    /// TLS, to whomever.
    Encrypted,
    /// No TLS.
    Clear,
}

/// A password on its way; `Debug` does not show it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The password itself.
    pub(crate) fn open(&self) -> Result<Password, ServerError> {
        Password::new(self.0.clone())
    }
}

impl From<&Password> for Secret {
    fn from(password: &Password) -> Self {
        Self(password.reveal().to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Survey {
    /// The numbers that its instances have in replication.
    pub(crate) fn server_ids(&self) -> impl Iterator<Item = u32> {
        self.instances.values().map(|record| record.server_id)
    }
}

impl Request {
    /// How long the answer may take: what is done for it waits for other commands and for servers, and all of that ends.
    pub(crate) fn within(&self) -> Duration {
        const MINUTE: Duration = Duration::from_secs(60);
        match self {
            Self::Look(_) | Self::Reach { .. } | Self::Survey | Self::VersionOf(_) | Self::Tables(_) => {
                2 * MINUTE
            }
            Self::MakeAccount { .. } | Self::DropAccount { .. } | Self::Forget(_) | Self::Set { .. } => {
                15 * MINUTE
            }
            Self::Follow(_) | Self::Add(_) | Self::Restart(_) | Self::Unlogged(_) => 45 * MINUTE,
        }
    }
}

impl Known {
    /// Whether it follows somebody, and goes on by itself.
    pub(crate) fn is_running(&self) -> bool {
        self.standing.following.as_ref().is_some_and(|now| now.state == Following::Running)
    }

    /// HOST:PORT, as a replica is told it.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_crosses_and_does_not_show_its_secret() {
        let password = Password::new("s3cret").unwrap();
        let account = Account { user: "u".into(), host: "10.0.0.2".parse().unwrap(), over_tls: true };
        let request = Request::MakeAccount {
            name: "shop".parse().unwrap(),
            account: account.clone(),
            password: Secret::from(&password),
        };
        assert!(!format!("{request:?}").contains("s3cret"));
        let text = serde_json::to_string(&request).unwrap();
        let Request::MakeAccount { account: read, password: carried, .. } =
            serde_json::from_str(&text).unwrap()
        else {
            panic!("{text}")
        };
        assert_eq!((read, carried.open().unwrap().reveal()), (account, "s3cret"));
    }
}
