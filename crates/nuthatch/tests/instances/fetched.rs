//! Servers that this Debian does not have.

#[path = "../../../nuthatch-lab/tests/fetched/servers.rs"]
mod servers;

use std::sync::OnceLock;

/// The directory of the newest MySQL of Debian sid.
pub(crate) fn mysql() -> String {
    servers::mysql().root.display().to_string()
}

/// The directory of a newer MariaDB than this system's.
pub(crate) fn newer_mariadb() -> String {
    static ROOT: OnceLock<String> = OnceLock::new();
    let packages =
        ["trixie", "mariadb-server-core", "mariadb-server", "mariadb-client-core", "mariadb-client"];
    ROOT.get_or_init(|| servers::fetch("mariadb", &packages).display().to_string()).clone()
}
