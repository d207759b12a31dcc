//! Whose processes the servers are.
//!
//! Who is not root starts them as himself. Root starts them as the user that `host.toml` names, unless that is root by name.

use std::process::{Command, Stdio};

use rustix::process::geteuid;

use crate::error::InstanceError;
use crate::host::Host;

/// A user of this host, for whom root works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    /// Its name.
    pub(crate) name: String,
    /// Its number.
    pub(crate) uid: u32,
    /// The number of its group.
    pub(crate) gid: u32,
}

impl Account {
    /// Who the host's servers are to be; `None` for who does this himself.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] where the host has no such user.
    pub(crate) fn of(host: &Host) -> Result<Option<Self>, InstanceError> {
        if !geteuid().is_root() || host.user == "root" {
            return Ok(None);
        }
        // Users need not be in /etc/passwd.
        let said = Command::new("getent").args(["passwd", &host.user]).stdin(Stdio::null()).output();
        let users = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default();
        Self::find(&users, &host.user).map(Some).ok_or_else(|| {
            InstanceError::Refused(format!(
                "find the user {0}, whose processes the servers are to be: make it (useradd --system --shell /usr/sbin/nologin {0}) or name \
                 another (nuthatch instance host --user NAME; root only where it cannot be avoided)",
                host.user
            ))
        })
    }

    /// In the form of passwd(5).
    fn find(users: &str, name: &str) -> Option<Self> {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let is_it = fields.next()? == name;
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            is_it.then(|| Self { name: name.to_owned(), uid, gid })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_is_found_by_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbad\nmysql:x:101:102::/nonexistent:/bin/false\n";
        let found = Account::find(users, "mysql").unwrap();
        assert_eq!((found.uid, found.gid), (101, 102));
        assert_eq!(Account::find(users, "mysq"), None);
    }
}
