//! Servers that do not let the monitor in, or do not tell it what it asks: told once each, until they do.

use std::collections::HashSet;

use nuthatch_config::{ClusterKind, ServerName};
use parking_lot::Mutex;

/// What a server refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Refusal {
    Login,
    Lag,
    Access,
    Pool,
    Dump,
    Member(ClusterKind),
}

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<HashSet<(ServerName, Refusal)>>);

impl Refusals {
    /// The server has refused that; returns whether that is to be told.
    pub(crate) fn note(&self, server: &ServerName, refusal: Refusal) -> bool {
        self.0.lock().insert((server.clone(), refusal))
    }

    /// It does not any more.
    pub(crate) fn forget(&self, server: &ServerName, refusal: Refusal) {
        self.0.lock().remove(&(server.clone(), refusal));
    }

    /// Nobody looks at it any more.
    pub(crate) fn forget_all(&self, server: &ServerName) {
        self.0.lock().retain(|(known, _)| known != server);
    }
}

impl Refusal {
    /// What the server does, in words behind "the monitor".
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Login => "is not let in by a server",
            Self::Lag => "is not told by a server how far that is behind",
            Self::Access => "is not told by a server whether that takes writes",
            Self::Pool => "is not told by a server how warm its buffer pool is",
            Self::Dump => {
                "may not have a server dump its buffer pool, so that is as warm after a crash as its last stop left it"
            }
            Self::Member(ClusterKind::GroupReplication) => {
                "is not told by a server what that is in its group"
            }
            Self::Member(ClusterKind::Galera) => "is not told by a server what that is in its Galera cluster",
        }
    }

    /// What to do about it: there may be nothing that mends it surely. The password is not shown.
    pub(crate) fn advice(self, user: &str, heartbeat: &str) -> String {
        match self {
            Self::Lag if !heartbeat.is_empty() => {
                format!("GRANT SELECT ON {heartbeat} TO '{user}'@'%', if the table is there")
            }
            Self::Login => format!(
                "on the server, CREATE USER '{user}'@'%' IDENTIFIED BY '…'; the same name and password go into \
                 mysql-monitor_username and mysql-monitor_password"
            ),
            Self::Access => {
                "check_type in mysql_replication_hostgroups may name a variable that it does not have"
                    .to_owned()
            }
            Self::Pool => "without InnoDB there is none: mysql-warm_pct = 0".to_owned(),
            Self::Dump => format!(
                "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO '{user}'@'%' on MySQL, GRANT SUPER on MariaDB; or \
                 mysql-warm_dump_interval_ms = 0"
            ),
            Self::Member(ClusterKind::GroupReplication) => {
                format!("GRANT SELECT ON performance_schema.* TO '{user}'@'%'")
            }
            Self::Member(ClusterKind::Galera) => {
                "it may be none of Galera's: see mysql_galera_hostgroups".to_owned()
            }
            Self::Lag => format!(
                "GRANT REPLICATION CLIENT ON *.* TO '{user}'@'%' (on MariaDB since 10.5, GRANT SLAVE MONITOR)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_is_told_once_until_it_ends() {
        let server = |port| ServerName { host: "a".to_owned(), port };
        let refusals = Refusals::default();
        let note = |port, refusal| refusals.note(&server(port), refusal);
        assert!(note(1, Refusal::Login) && !note(1, Refusal::Login) && note(2, Refusal::Login));
        assert!(note(1, Refusal::Lag) && !note(1, Refusal::Lag));
        refusals.forget(&server(1), Refusal::Login);
        assert!(note(1, Refusal::Login) && !note(1, Refusal::Lag) && !note(2, Refusal::Login));
        refusals.forget_all(&server(1));
        assert!(note(1, Refusal::Lag) && note(1, Refusal::Login) && !note(2, Refusal::Login));
    }
}
