//! Mounts of the test's own: it runs again, as a child in a mount namespace, with which all that it mounts is gone, however it ends.
//!
//! Root needs no more than that; anybody else is root in a user namespace of their own. Where a host allows neither, the test runs all
//! the same and says so: there no disk is full.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{argument, tell};

/// Says to the child that it is one.
const INSIDE: &str = "INSIDE";

/// Where servers keep their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disks {
    /// On a filesystem of its own each, which can be full.
    Own,
    /// Where all others keep theirs.
    Shared,
}

/// Runs the body of the test of that name, in mounts of its own where that can be.
pub(crate) fn in_own_mounts(test: &str, run: impl FnOnce(Disks)) {
    if argument(INSIDE).is_some() {
        return run(Disks::Own);
    }
    if !may_mount() {
        tell("no disk will be full: neither root nor a user namespace may mount here");
        return run(Disks::Shared);
    }
    let program = std::env::current_exe().expect("the test's own program");
    let mut child = unshare()
        // A child that nobody waits for any more would go on for minutes.
        .args(["setpriv", "--pdeathsig", "KILL"])
        .arg(program)
        .args(["--include-ignored", "--nocapture", "--exact", test])
        .env(format!("NUTHATCH_CHAOS_{INSIDE}"), "yes")
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare is part of every Debian");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // What the harness says of itself, it says twice otherwise.
    let is_of_harness = |line: &String| line.starts_with("test ") || line.starts_with("running ");
    lines.map_while(Result::ok).filter(|line| !is_of_harness(line)).for_each(|line| tell(&line));
    assert!(child.wait().expect("a child").success(), "{test} fails, as printed above");
}

fn may_mount() -> bool {
    let place = tempfile::tempdir().expect("a directory");
    let mut mount = unshare();
    mount.args(["mount", "-t", "tmpfs", "nuthatch-chaos"]).arg(place.path());
    mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command that has the rest of its words run in a mount namespace.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    let user = rustix::process::geteuid();
    if !user.is_root() {
        // Files of the true root, which may be there too, belong to nobody in there.
        let place = std::env::temp_dir().join(format!("nuthatch-chaos-{}", user.as_raw()));
        make_private_dir(&place);
        command.args(["--user", "--map-root-user"]).env("TMPDIR", place);
    }
    command.arg("--");
    command
}

fn make_private_dir(place: &Path) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(place).expect("a directory");
}
