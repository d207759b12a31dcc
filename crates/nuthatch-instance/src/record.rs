//! What is remembered of one instance, in `instance.toml`: what was chosen for it, and what it is set to itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use nuthatch_server::{Installation, ServerError};
use serde::{Deserialize, Serialize};

use crate::error::InstanceError;

/// Moves when an older program could not read the file any more.
const FORMAT: u32 = 1;

/// What was chosen for an instance when it was added, and its own options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    format: u32,
    /// Which of the templates it was made from.
    pub template: String,
    /// Where it listens.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
    /// As replication knows it: of no other instance that could replicate with it.
    pub server_id: u32,
    /// InnoDB's buffer pool, in MiB, chosen from what the host had left; `None` where an option tells it.
    pub buffer_pool_mib: Option<u64>,
    /// Whether it is started with the host.
    pub enabled: bool,
    /// Which server it is.
    pub server: Installation,
    /// What it is set to itself, by option.
    pub own: BTreeMap<String, String>,
    /// What it was before it was upgraded, to go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_upgrade: Option<Before>,
}

/// What an instance was before it was upgraded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// Its server.
    pub server: Installation,
    /// Its version.
    pub version: String,
    /// Where its data are.
    pub data: PathBuf,
}

impl Record {
    /// Of a new instance, without options of its own.
    #[must_use]
    pub fn new(server: Installation, template: String, address: IpAddr, port: u16) -> Self {
        Self {
            format: FORMAT,
            template,
            address,
            port,
            server_id: server_id(address, port),
            buffer_pool_mib: None,
            enabled: true,
            server,
            own: BTreeMap::new(),
            before_upgrade: None,
        }
    }

    /// What the file says.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`], [`ServerError::File`].
    pub fn load(path: &Path) -> Result<Self, InstanceError> {
        let text = fs::read_to_string(path).map_err(ServerError::file("read", path))?;
        let bad = |what: String| InstanceError::BadFile { path: path.into(), what };
        let record: Self = toml::from_str(&text).map_err(|error| bad(error.to_string().trim().to_owned()))?;
        if record.format == FORMAT {
            return Ok(record);
        }
        Err(bad(format!("format {} is not this program's {FORMAT}", record.format)))
    }

    /// The text of the file.
    ///
    /// # Errors
    /// [`InstanceError::Refused`]: never, but for a fault of ours.
    pub fn to_text(&self) -> Result<String, InstanceError> {
        let text = toml::to_string(self)
            .map_err(|error| InstanceError::Refused(format!("write down the instance: {error}")))?;
        Ok(format!(
            "# Written by `nuthatch instance`, which changes it: see `nuthatch instance set`.\n{text}"
        ))
    }
}

/// The number of an instance there, if nobody has it; else the next one that is free.
pub(crate) fn free_server_id(address: IpAddr, port: u16, taken: &BTreeSet<u32>) -> u32 {
    let first = server_id(address, port);
    // Those of another address, and of the same port.
    let mut candidates = (0..=u32::from(u16::MAX)).map(|step| first.wrapping_add(step << 16));
    candidates.find(|id| *id != 0 && !taken.contains(id)).unwrap_or(first)
}

/// Another one for each address of a network of 2^16 and each port there.
fn server_id(address: IpAddr, port: u16) -> u32 {
    let (third, fourth) = match address {
        IpAddr::V4(address) => (address.octets()[2], address.octets()[3]),
        IpAddr::V6(address) => (address.octets()[14], address.octets()[15]),
    };
    u32::from_be_bytes([third, fourth, port.to_be_bytes()[0], port.to_be_bytes()[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("instance.toml");
        let address = "127.0.0.3".parse().unwrap();
        let mut record = Record::new(Installation::debian_mariadb(), "small".into(), address, 3307);
        record.own.insert("max_connections".into(), "50".into());
        fs::write(&path, record.to_text().unwrap()).unwrap();
        assert_eq!(Record::load(&path).unwrap(), record);
        assert_eq!(record.server_id, (3 << 16) + 3307);
        fs::write(&path, record.to_text().unwrap().replace("format = 1", "format = 2")).unwrap();
        assert!(Record::load(&path).unwrap_err().to_string().contains("format 2"));
    }

    #[test]
    fn number_that_somebody_has_is_not_given_again() {
        let [near, far]: [IpAddr; 2] = ["10.1.0.5", "10.2.0.5"].map(|address| address.parse().unwrap());
        assert_eq!(server_id(near, 3307), server_id(far, 3307), "networks beyond 2^16 meet");
        let mut taken = BTreeSet::from([server_id(near, 3307)]);
        let first = free_server_id(far, 3307, &taken);
        assert!(taken.insert(first) && taken.insert(free_server_id(far, 3307, &taken)), "{taken:?}");
        assert_eq!(free_server_id(far, 3308, &taken), server_id(far, 3308));
    }
}
