//! What holds for a whole host, in `host.toml`: its address, whose processes the servers are, which ports and how much memory they share.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::InstanceError;

/// A host's settings. A file need not name all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Where the servers listen, and others reach them; default 127.0.0.1.
    pub address: IpAddr,
    /// Whose processes the servers are when root starts them; default `mysql`.
    pub user: String,
    /// The first port that is given; default 3307.
    pub port_first: u16,
    /// The last; default 3999.
    pub port_last: u16,
    /// How much of the host's memory is for the instances, in percent; default 80.
    pub memory_pct: u8,
    /// What an instance takes beside its buffer pool, as it is counted, in MiB; default 192.
    pub instance_mib: u64,
    /// From which size on logs are rotated, in MiB; default 64.
    pub log_mib_max: u64,
    /// How many rotated logs are kept; default 5.
    pub logs_kept: u32,
    /// How often a server is asked to dump which pages its buffer pool holds, in seconds; 0 for never; default 300.
    pub pool_dump_s: u64,
    /// The proxies that send to servers of this host.
    pub proxies: Vec<ProxyAdmin>,
}

/// A proxy's admin interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyAdmin {
    /// Its address, HOST:PORT.
    pub admin: String,
    /// An account of `admin-admin_credentials`; default `admin`.
    #[serde(default = "admin_user")]
    pub user: String,
    /// The file whose first line is its password.
    pub password_file: PathBuf,
}

fn admin_user() -> String {
    "admin".into()
}

impl Default for Host {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            user: "mysql".into(),
            port_first: 3307,
            port_last: 3999,
            memory_pct: 80,
            instance_mib: 192,
            log_mib_max: 64,
            logs_kept: 5,
            pool_dump_s: 300,
            proxies: Vec::new(),
        }
    }
}

impl Host {
    /// What the text of `host.toml` says.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`] with the line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InstanceError> {
        let bad = |what: String| InstanceError::BadFile { path: path.into(), what };
        let host: Self = toml::from_str(text).map_err(|error| bad(error.to_string().trim().to_owned()))?;
        host.check().map_err(bad)?;
        Ok(host)
    }

    /// The text of `host.toml` that says this.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] where a setting is out of its range.
    pub fn to_text(&self) -> Result<String, InstanceError> {
        self.check().map_err(|what| InstanceError::Refused(format!("settle the host: {what}")))?;
        toml::to_string(self).map_err(|error| InstanceError::Refused(format!("settle the host: {error}")))
    }

    /// Whether each setting is within its range.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.port_first < 1024 || self.port_first > self.port_last {
            return Err(format!(
                "ports {} to {}: the first is 1024 or above, the last not below it",
                self.port_first, self.port_last
            ));
        }
        if !(1..=100).contains(&self.memory_pct) {
            return Err(format!("memory_pct = {}: 1 to 100 are possible", self.memory_pct));
        }
        if self.log_mib_max == 0 {
            return Err("log_mib_max = 0: 1 is the least".into());
        }
        if self.address.is_unspecified() {
            return Err(format!(
                "address = {}: name one of the host's, by which others reach it (127.0.0.1 for this host alone)",
                self.address
            ));
        }
        let is_user = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if self.user.is_empty() || !self.user.chars().all(is_user) {
            return Err(format!("user = {:?}: letters, digits and _ - . are possible", self.user));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_the_file_are_told_with_their_line() {
        let path = Path::new("/x/host.toml");
        let said = |text| Host::parse(text, path).unwrap_err().to_string();
        assert!(said("address = \"127.0.0.1\"\nadress = 1").contains("line 2"), "{}", said("adress = 1"));
        assert!(said("memory_pct = 0").contains("1 to 100"));
        assert!(said("address = \"0.0.0.0\"").contains("by which others reach it"));
        assert!(said("port_first = 4000\nport_last = 3000").contains("ports 4000 to 3000"));
        assert!(said("user = \"a b\"").contains("user = \"a b\""));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let proxies = vec![ProxyAdmin {
            admin: "127.0.0.1:6032".into(),
            user: admin_user(),
            password_file: "/x/password".into(),
        }];
        let host = Host { memory_pct: 50, proxies, ..Host::default() };
        assert_eq!(Host::parse(&host.to_text().unwrap(), Path::new("/x")).unwrap(), host);
        assert_eq!(Host::parse("", Path::new("/x")).unwrap(), Host::default());
    }
}
