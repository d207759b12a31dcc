//! A disk that does only so many reads a second, for one server: a cgroup of the kernel's.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{major, minor};

const CGROUPS: &str = "/sys/fs/cgroup/blkio";

/// See the module's doc. Dropping it leaves nothing behind, if nobody is in it any more.
pub(super) struct SlowDisk {
    cgroup: PathBuf,
    device: String,
}

impl SlowDisk {
    /// That on which the files of that directory are.
    pub(super) fn of(name: &str, dir: &Path) -> Result<Self> {
        let device = fs::metadata(dir)?.dev();
        let device = format!("{}:{}", major(device), minor(device));
        let cgroup = Path::new(CGROUPS).join(format!("nuthatch-bench-{}-{name}", std::process::id()));
        fs::create_dir(&cgroup)
            .with_context(|| format!("{CGROUPS}: this takes root, and cgroups of the first version"))?;
        Ok(Self { cgroup, device })
    }

    /// It does so many reads a second from now on; 0 for as many as it can.
    pub(super) fn allow(&self, reads_per_second: u32) -> Result<()> {
        let limit = format!("{} {reads_per_second}", self.device);
        let file = self.cgroup.join("blkio.throttle.read_iops_device");
        fs::write(&file, &limit).with_context(|| format!("{limit} into {}", file.display()))
    }

    /// That process reads from it from now on.
    pub(super) fn take_in(&self, pid: i32) -> Result<()> {
        fs::write(self.cgroup.join("cgroup.procs"), pid.to_string()).context("a process stays in its cgroup")
    }

    /// What this process starts reads from it from now on.
    pub(super) fn take_in_self(&self) -> Result<()> {
        self.take_in(0)
    }

    /// The same no more.
    pub(super) fn leave(&self) -> Result<()> {
        fs::write(Path::new(CGROUPS).join("cgroup.procs"), "0").context("this process stays in its cgroup")
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        drop(fs::remove_dir(&self.cgroup));
    }
}
