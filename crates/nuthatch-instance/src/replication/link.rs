//! What is remembered of a replica in the root's `links`: whom it was told to follow, by which account, and how that is reached. No secret.

use std::net::IpAddr;

use nuthatch_server::{ServerError, make_private_dir, remove_file, write_private};
use serde::{Deserialize, Serialize};

use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::replication::ssh::Ssh;
use crate::root::{Place, read_if_there};

/// A replica's bond to its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// HOST:PORT.
    pub source: String,
    /// The account there.
    pub user: String,
    /// From where that logs in; `None` of a link that an older program made, or of an account that is not ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<IpAddr>,
    /// Whether it is over TLS.
    pub over_tls: bool,
    /// How the source is worked on.
    pub via: Via,
}

/// How an account at the source can be made anew, or dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// It is an instance of this host.
    Here(InstanceName),
    /// It is one of another host.
    There(Ssh, InstanceName),
    /// It is one of the host that has made this one follow it, as a pair, which knows how to reach both.
    Peer(InstanceName),
    /// It is the one on another host that this one was cloned from, which knows how to reach both.
    Origin(InstanceName),
    /// It is somebody else's.
    Foreign,
}

impl Link {
    /// What is remembered; `None` of one that was never told to follow anybody.
    pub(crate) fn load(place: &Place) -> Result<Option<Self>, InstanceError> {
        let path = place.link_file();
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let bad = |error: serde_json::Error| InstanceError::BadFile { path, what: error.to_string() };
        serde_json::from_str(&text).map(Some).map_err(bad)
    }

    pub(crate) fn save(&self, place: &Place) -> Result<(), InstanceError> {
        let path = place.link_file();
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| InstanceError::BadFile { path: path.clone(), what: error.to_string() })?;
        if let Some(dir) = path.parent() {
            make_private_dir(dir).map_err(ServerError::file("make the directory", dir))?;
        }
        Ok(write_private(&path, &(text + "\n"))?)
    }

    /// Nothing is remembered afterwards.
    pub(crate) fn remove(place: &Place) -> Result<(), InstanceError> {
        Ok(remove_file(&place.link_file())?)
    }
}
