//! Another proxy with `ProxySQL`'s command line, configuration file and admin port, of which only the path is given.
//!
//! It caches every SELECT for a time, which is all that `ProxySQL` can: where data are written its answers may be old. So it
//! takes no part in the cases that write.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use tempfile::TempDir;

use super::case::{Caching, Case, Setting};
use crate::address::Address;
use crate::affinity::SERVER;
use crate::client::Client;
use crate::cpu::Pid;
use crate::database::{self, PASSWORD, USER};
use crate::proxy::{ask_admin, free_port};
use crate::running::Running;

/// How long it may take until it answers.
const READY_WAIT: Duration = Duration::from_secs(30);

/// Where the case has no time of its own: longer than a run.
const TTL_MS: u32 = 3_600_000;

/// A running one; dropping stops it.
#[derive(Debug)]
pub(super) struct Peer {
    running: Running,
    pub(super) tcp: Address,
    pub(super) unix: Address,
    pub(super) admin_port: u16,
    /// Removed after the process has ended, as fields are dropped in order.
    _directory: TempDir,
}

impl Peer {
    /// Started before these servers, answering queries.
    pub(super) fn start(path: &Path, case: &Case, setting: &Setting, servers: &[SocketAddr]) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let (port, admin_port) = (free_port()?, free_port()?);
        let socket = directory.path().join("mysql.sock");
        let ports = Ports { mysql: port, admin: admin_port, socket: socket.clone() };
        let file = directory.path().join("peer.cnf");
        std::fs::write(&file, configuration(case, setting, servers, &ports, directory.path()))?;
        let mut command = Command::new(path);
        command.arg("-f").arg("-c").arg(&file).arg("-D").arg(directory.path());
        let running = Running::spawn("the peer", &mut command, SERVER, &directory.path().join("log"))?;
        let tcp: Address = format!("127.0.0.1:{port}").parse()?;
        let mut peer = Self { running, tcp, unix: Address::Unix(socket), admin_port, _directory: directory };
        let tcp = peer.tcp.clone();
        peer.running.wait_until(READY_WAIT, || {
            Client::connect(&tcp, &database::login())?.query("SELECT 1").map(|_| ())
        })?;
        Ok(peer)
    }

    /// Its process.
    pub(super) fn pid(&self) -> Pid {
        self.running.pid()
    }

    /// Answers from its cache so far.
    pub(super) fn hits(&self) -> Result<u64> {
        hits(self.admin_port)
    }
}

/// What the admin port of a proxy counts as answers from its cache.
pub(super) fn hits(admin_port: u16) -> Result<u64> {
    let counter =
        "SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name='Query_Cache_count_GET_OK'";
    Ok(ask_admin(admin_port, counter)?.trim().parse()?)
}

struct Ports {
    mysql: u16,
    admin: u16,
    socket: PathBuf,
}

fn configuration(
    case: &Case,
    setting: &Setting,
    servers: &[SocketAddr],
    ports: &Ports,
    directory: &Path,
) -> String {
    let ttl_ms = match case.caching {
        Caching::Ttl { ms } => ms,
        Caching::Exact { .. } => TTL_MS,
    };
    let server = |server: &SocketAddr| {
        format!(
            "  {{ address=\"{}\", port={}, hostgroup=0, max_connections=2000 }}",
            server.ip(),
            server.port()
        )
    };
    let servers = servers.iter().map(server).collect::<Vec<_>>().join(",\n");
    let Ports { mysql, admin, socket } = ports;
    format!(
        "datadir=\"{}\"
admin_variables={{ admin_credentials=\"admin:admin\"; mysql_ifaces=\"127.0.0.1:{admin}\" }}
mysql_variables={{
  threads={};
  interfaces=\"127.0.0.1:{mysql};{}\";
  query_cache_size_MB={};
  max_connections=2048;
  monitor_enabled=false
}}
mysql_servers=(
{servers}
)
mysql_users=( {{ username=\"{USER}\", password=\"{PASSWORD}\", default_hostgroup=0 }} )
mysql_query_rules=( {{ rule_id=1, active=1, match_digest=\"^SELECT\", cache_ttl={ttl_ms}, apply=1 }} )
",
        directory.display(),
        setting.workers,
        socket.display(),
        setting.mib,
    )
}

#[cfg(test)]
mod tests {
    use super::super::case::CaseName;
    use super::super::cases;
    use super::*;

    #[test]
    fn configuration_names_what_the_case_asks_for() {
        let case = cases::ALL.iter().find(|case| case.name == CaseName::Workers).unwrap();
        let setting = &case.settings(&[])[2];
        let ports = Ports { mysql: 1, admin: 2, socket: "/s".into() };
        let servers = ["127.0.0.1:3".parse().unwrap(), "127.0.0.1:4".parse().unwrap()];
        let text = configuration(case, setting, &servers, &ports, Path::new("/d"));
        for part in
            ["threads=4;", "interfaces=\"127.0.0.1:1;/s\"", "port=4", "cache_ttl=10000", "\"127.0.0.1:2\""]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
