//! How MariaDB's nodes form a Galera cluster.
//!
//! A node that cannot catch up from the others' write-sets gets a copy of a donor's files, by a state transfer of
//! the lab's own: all nodes are on this host, and Debian's needs rsync or mariadb-backup and socat.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nuthatch_server::{Program, ServerError, make_private_dir, write_private};

use crate::client::Client;
use crate::error::LabError;
use crate::layout::Layout;
use crate::state::{ServerState, State};
use crate::status::Member;

/// The library that the servers load.
const PROVIDER: Program =
    Program { name: "libgalera_smm.so", remedy: "install Debian's galera-4 (\"tools/deps.sh galera\")" };

/// What the transfer needs of the system; the server's own environment may say anything.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Answers of `SHOW STATUS`, in the order of their names.
const STATUS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN \
    ('wsrep_cluster_size', 'wsrep_cluster_status', 'wsrep_local_state_comment')";

/// Puts the state transfer where the servers find it.
pub(crate) fn install_transfer(layout: &Layout) -> Result<(), LabError> {
    let dir = layout.transfer();
    make_private_dir(&dir).map_err(LabError::file("make the directory", &dir))?;
    let script = dir.join("wsrep_sst_copy");
    write_private(&script, include_str!("galera/wsrep_sst_copy"))?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).map_err(LabError::file("let run", script))
}

/// `PATH` of a node.
pub(crate) fn path(layout: &Layout) -> String {
    format!("{}:{SYSTEM_PATH}", layout.transfer().display())
}

/// Options of one node; all nodes have the same server id, so that a write has one GTID everywhere.
pub(crate) fn option_lines(state: &State, server: &ServerState) -> Result<Vec<String>, LabError> {
    let (always, catching_up) = server.cluster_ports.unwrap_or_default();
    let others = state.servers.iter().filter_map(|server| server.cluster_ports);
    let addresses: Vec<String> = others.map(|(port, _)| format!("127.0.0.1:{port}")).collect();
    Ok(vec![
        "server_id=1".into(),
        "innodb_autoinc_lock_mode=2".into(),
        "wsrep_on=ON".into(),
        format!("wsrep_provider={}", provider(&[state.installation.root.clone(), "/".into()])?.display()),
        "wsrep_cluster_name=lab".into(),
        format!("wsrep_cluster_address=gcomm://{}", addresses.join(",")),
        format!("wsrep_node_name={}", server.role),
        "wsrep_node_address=127.0.0.1".into(),
        format!("wsrep_node_incoming_address=127.0.0.1:{}", server.public_port()),
        "wsrep_sst_method=copy".into(),
        format!("wsrep_sst_receive_address=127.0.0.1:{catching_up}"),
        "wsrep_gtid_mode=ON".into(),
        "wsrep_gtid_domain_id=0".into(),
        "wsrep_slave_threads=2".into(),
        format!(
            "wsrep_provider_options=\"gcache.size=32M;pc.recovery=false;\
             gmcast.listen_addr=tcp://127.0.0.1:{always};ist.recv_addr=127.0.0.1:{catching_up}\""
        ),
    ])
}

fn missing(program: Program, places: &[PathBuf]) -> LabError {
    let places = places.iter().map(|place| place.display().to_string()).collect();
    ServerError::ProgramMissing { program: program.name, places, remedy: program.remedy }.into()
}

fn provider(roots: &[PathBuf]) -> Result<PathBuf, LabError> {
    let places: Vec<PathBuf> = roots.iter().map(|root| root.join("usr/lib/galera")).collect();
    let found = places.iter().map(|place| place.join(PROVIDER.name)).find(|path| path.exists());
    found.ok_or_else(|| missing(PROVIDER, &places))
}

/// The node may be the first of a new cluster, whatever it noted when it ended.
pub(crate) fn allow_bootstrap(data: &Path) -> Result<(), LabError> {
    let file = data.join("grastate.dat");
    let Ok(text) = fs::read_to_string(&file) else { return Ok(()) };
    Ok(write_private(&file, &text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1"))?)
}

/// How far the node had come when it ended, as it noted; `None` after a crash.
pub(crate) fn noted_position(data: &Path) -> Option<u64> {
    let text = fs::read_to_string(data.join("grastate.dat")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("seqno:"))?.trim().parse().ok()
}

/// How far the node had come, from what it says when it was started to recover that only.
pub(crate) fn recovered_position(log: &str) -> Option<u64> {
    let found = log.lines().rev().find_map(|line| line.split_once("Recovered position: "))?;
    found.1.split_once(':')?.1.split(',').next()?.trim().parse().ok()
}

/// What the node says of its cluster.
pub(crate) fn member(client: &Client) -> Option<Member> {
    let rows = client.look(STATUS).ok()?.rows;
    let value =
        |name: &str| Some(rows.iter().find(|row| row.first().is_some_and(|n| n == name))?.get(1)?.clone());
    Some(Member {
        state: value("wsrep_local_state_comment")?,
        role: value("wsrep_cluster_status")?,
        size: value("wsrep_cluster_size")?.parse().ok()?,
    })
}

/// Parts the node from all others, or lets it talk to them again.
pub(crate) fn isolation(is_isolated: u8) -> String {
    format!("SET GLOBAL wsrep_provider_options = 'gmcast.isolate={is_isolated}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_library_says_what_installs_it() {
        let root = tempfile::tempdir().unwrap();
        let error = provider(&[root.path().into()]).unwrap_err().to_string();
        assert!(error.contains("tools/deps.sh galera") && error.contains("libgalera_smm.so"), "{error}");
    }

    #[test]
    fn positions_are_read_from_what_nodes_leave() {
        let dir = tempfile::tempdir().unwrap();
        let note = |seqno: &str| {
            let text = format!("# GALERA\nuuid:    1-2\nseqno:   {seqno}\nsafe_to_bootstrap: 0\n");
            fs::write(dir.path().join("grastate.dat"), text).unwrap();
            noted_position(dir.path())
        };
        assert_eq!(noted_position(dir.path()), None);
        assert_eq!(note("17"), Some(17));
        assert_eq!(note("-1"), None);
        allow_bootstrap(dir.path()).unwrap();
        assert!(
            fs::read_to_string(dir.path().join("grastate.dat")).unwrap().contains("safe_to_bootstrap: 1")
        );
        let log = "x\n2026-11-25 [Note] WSREP: Recovered position: 1-2:42,0-1-3\ny\n";
        assert_eq!(recovered_position(log), Some(42));
        assert_eq!(recovered_position(""), None);
    }
}
