//! A filesystem in memory that is mounted over a directory: by `mount`, which asks for root, or for a namespace in which one is root.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::LabError;

/// The directory is a filesystem of its own, of so many MiB.
pub(crate) fn mount(dir: &Path, mib: u32) -> Result<(), LabError> {
    let options = format!("size={mib}m,mode=0700");
    run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "nuthatch-lab"]).arg(dir))
        .map_err(LabError::file("mount a filesystem over", dir))
}

/// It is a plain directory; nothing is done where it is.
pub(crate) fn unmount(dir: &Path) -> Result<(), LabError> {
    if !is_mounted(dir) {
        return Ok(());
    }
    run(Command::new("umount").arg(dir)).map_err(LabError::file("unmount", dir))
}

/// Whether it is a filesystem of its own.
pub(crate) fn is_mounted(dir: &Path) -> bool {
    // The fifth field: proc_pid_mountinfo(5).
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts.lines().any(|line| line.split(' ').nth(4).is_some_and(|place| Path::new(place) == dir))
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}
