//! Servers beside the system, each fetched by the first who asks: no package of Debian's stable release has them.
//!
//! Tests of other crates take this file in by its path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use nuthatch_lab::{Installation, Kind};

static MYSQL: OnceLock<PathBuf> = OnceLock::new();

/// The newest MySQL of Debian sid.
pub(crate) fn mysql() -> Installation {
    let fetch = || fetch("mysql", &["sid", "mysql-server-core", "mysql-client-core"]);
    Installation { kind: Kind::MySql, root: MYSQL.get_or_init(fetch).clone() }
}

/// As `tools/test-servers.sh` fetches them.
pub(crate) fn fetch(name: &str, packages: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("servers").join(name);
    let fetched = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/side-apt.sh"))
        .arg(&root)
        .args(packages)
        .output()
        .expect("a shell");
    assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
    root
}
