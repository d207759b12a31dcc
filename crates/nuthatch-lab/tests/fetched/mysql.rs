//! MySQL beside the system, fetched by the first who asks: no package of Debian's stable release has it.
//!
//! Tests of other crates take this file in by its path.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use nuthatch_lab::{Installation, Kind};

static ROOT: OnceLock<PathBuf> = OnceLock::new();

/// The newest MySQL of Debian sid.
pub(crate) fn mysql() -> Installation {
    Installation { kind: Kind::MySql, root: ROOT.get_or_init(fetch).clone() }
}

fn fetch() -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("servers").join("mysql");
    let fetched = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/side-apt.sh"))
        .arg(&root)
        .args(["sid", "mysql-server-core", "mysql-client-core"])
        .output()
        .expect("a shell");
    assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
    root
}
