//! The host's memory, and how the instances share it.
//!
//! An instance counts as its buffer pool and a fixed part (`instance_mib` in `host.toml`). The sum never exceeds the host's share
//! (`memory_pct`) of what the machine, or the container, has.

use std::fs;

use crate::error::InstanceError;
use crate::name::InstanceName;

/// The least that a share may come to, in MiB: less is of no use to anybody.
const POOL_MIB_MIN: u64 = 16;
/// InnoDB rounds larger pools up to a multiple of this, in MiB.
const CHUNK_MIB: u64 = 128;

/// What the host has, and who has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total_mib: u64,
    pub(crate) share_pct: u8,
    pub(crate) instance_mib: u64,
    /// The buffer pools of those that there are, in MiB.
    pub(crate) pools: Vec<(InstanceName, u64)>,
}

impl Memory {
    /// The pool that a share of what is left comes to, in MiB.
    pub(crate) fn pool_of_share(&self, share: u64) -> Result<u64, InstanceError> {
        let pool = round_down((self.left_mib() * share / 100).saturating_sub(self.instance_mib));
        if pool >= POOL_MIB_MIN {
            return Ok(pool);
        }
        Err(self.refuse(&format!(
            "{share} % of what is left, less {} for the instance itself, is no buffer pool",
            self.instance_mib
        )))
    }

    /// Refuses a pool that does not fit any more, with the arithmetic.
    pub(crate) fn check(&self, pool_mib: u64) -> Result<(), InstanceError> {
        let wanted = pool_mib + self.instance_mib;
        if wanted <= self.left_mib() {
            return Ok(());
        }
        Err(self.refuse(&format!(
            "a buffer pool of {pool_mib} and {} beside it take {wanted}",
            self.instance_mib
        )))
    }

    fn limit_mib(&self) -> u64 {
        self.total_mib * u64::from(self.share_pct) / 100
    }

    /// What is left for further instances, in MiB.
    pub(crate) fn left_mib(&self) -> u64 {
        self.limit_mib().saturating_sub(self.taken_mib())
    }

    fn taken_mib(&self) -> u64 {
        self.pools.iter().map(|(_, pool)| pool + self.instance_mib).sum()
    }

    fn refuse(&self, wanted: &str) -> InstanceError {
        let taken: Vec<String> =
            self.pools.iter().map(|(name, pool)| format!("{name} {pool} + {}", self.instance_mib)).collect();
        let taken = if taken.is_empty() { "nobody has any".into() } else { taken.join(", ") };
        InstanceError::Refused(format!(
            "find room in memory: {wanted} MiB, and {} are left: {} % of the host's {} MiB are {}, of which {} are taken ({taken}); take less \
             (--set innodb_buffer_pool_size=SIZE), or allow more (nuthatch instance host --memory-pct N)",
            self.left_mib(),
            self.share_pct,
            self.total_mib,
            self.limit_mib(),
            self.taken_mib(),
        ))
    }
}

fn round_down(mib: u64) -> u64 {
    if mib >= CHUNK_MIB { mib / CHUNK_MIB * CHUNK_MIB } else { mib / 8 * 8 }
}

/// What the machine has, or the container that this runs in, in MiB.
pub(crate) fn total_mib() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok())
        .map(|bytes| bytes >> 20)
        .min();
    match (machine, container) {
        (Some(machine), Some(container)) => machine.min(container),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => 0,
    }
}

/// `MemTotal` of /proc/meminfo, which is in kB.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(pools: &[u64]) -> Memory {
        let name = |number: usize| format!("a{number}").parse().unwrap();
        let pools = pools.iter().enumerate().map(|(number, pool)| (name(number), *pool)).collect();
        Memory { total_mib: 10_000, share_pct: 80, instance_mib: 200, pools }
    }

    #[test]
    fn sum_never_exceeds_the_share() {
        let memory = memory(&[4000, 1000]);
        assert_eq!(memory.left_mib(), 2600);
        memory.check(2400).unwrap();
        let said = memory.check(2401).unwrap_err().to_string();
        for word in [
            "2401",
            "take 2601 MiB",
            "2600 are left",
            "80 %",
            "10000",
            "8000",
            "5400",
            "a0 4000 + 200, a1 1000 + 200",
        ] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }

    #[test]
    fn share_is_of_what_is_left() {
        assert_eq!(memory(&[]).pool_of_share(25).unwrap(), 1792, "2000 less 200, in chunks of 128");
        assert_eq!(memory(&[7000]).pool_of_share(50).unwrap(), 128);
        assert!(memory(&[7500]).pool_of_share(50).is_err());
    }

    #[test]
    fn machines_memory_is_parsed() {
        assert_eq!(total_of("MemTotal:       24737524 kB\nMemFree: 1 kB"), Some(24157));
        assert!(total_mib() > 0);
    }
}
