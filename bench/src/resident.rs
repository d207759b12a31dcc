//! Resident memory of a process, as the kernel counts it.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::clock::monotonic;
use crate::cpu::Pid;

/// Memory counts as settled when it changed less than this...
const SETTLED_KIB: u64 = 64;

/// ...between two looks so far apart.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long it may take.
const SETTLE_WAIT: Duration = Duration::from_secs(15);

/// Resident memory just now, in KiB (`VmRSS`).
pub(crate) fn resident_kib(pid: Pid) -> Result<u64> {
    field_kib(&status(pid)?, "VmRSS:")
}

/// Highest resident memory since the start, or since [`forget_peak`], in KiB (`VmHWM`).
pub(crate) fn peak_kib(pid: Pid) -> Result<u64> {
    field_kib(&status(pid)?, "VmHWM:")
}

/// The peak is what is resident now. (proc(5), `clear_refs`, 5.)
pub(crate) fn forget_peak(pid: Pid) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("cannot reset the memory peak")
}

/// Resident memory once it stays the same, in KiB; what it is then if it never does.
pub(crate) fn settled_kib(pid: Pid) -> Result<u64> {
    let deadline = monotonic() + SETTLE_WAIT;
    let mut last = resident_kib(pid)?;
    loop {
        std::thread::sleep(LOOK_EVERY);
        let now = resident_kib(pid)?;
        if now.abs_diff(last) < SETTLED_KIB || monotonic() > deadline {
            return Ok(now);
        }
        last = now;
    }
}

fn status(pid: Pid) -> Result<String> {
    fs::read_to_string(format!("/proc/{pid}/status")).with_context(|| format!("no process {pid}"))
}

fn field_kib(status: &str, name: &str) -> Result<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let number = value.and_then(|value| value.strip_suffix(" kB")).and_then(|text| text.parse().ok());
    number.with_context(|| format!("no {name} in a process's status"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_found_by_its_name() {
        let status = "VmPeak:\t  99 kB\nVmHWM:\t    1234 kB\nVmRSS:\t     567 kB\n";
        assert_eq!(field_kib(status, "VmHWM:").unwrap(), 1234);
        assert!(field_kib(status, "VmSwap:").is_err());
    }

    #[test]
    fn peak_sees_memory_that_is_gone_until_it_is_forgotten() {
        // Other tests of this process allocate at the same time, but far less.
        let pid = std::process::id();
        forget_peak(pid).unwrap();
        let before = resident_kib(pid).unwrap();
        drop(std::hint::black_box(vec![1_u8; 256 << 20]));
        assert!(peak_kib(pid).unwrap() >= before + (200 << 10));
        forget_peak(pid).unwrap();
        assert!(peak_kib(pid).unwrap() < before + (200 << 10));
    }
}
