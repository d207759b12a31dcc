//! Logs that have grown too long are put aside, and the oldest removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Puts `log` aside as `log.1`, what was `log.1` as `log.2`, and so on, if it has more than so many bytes; tells whether it has. Who writes
/// to it must open it anew then.
pub(crate) fn rotate(log: &Path, bytes_max: u64, kept: u32) -> io::Result<bool> {
    let bytes = fs::metadata(log).map(|found| found.len()).unwrap_or(0);
    if bytes <= bytes_max {
        return Ok(false);
    }
    for number in (1..kept).rev() {
        move_if_there(&numbered(log, number), &numbered(log, number + 1))?;
    }
    match kept {
        0 => fs::remove_file(log)?,
        _ => fs::rename(log, numbered(log, 1))?,
    }
    Ok(true)
}

fn numbered(log: &Path, number: u32) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_logs_go() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("error.log");
        assert!(!rotate(&log, 3, 2).unwrap(), "there is none");
        for text in ["one", "two!", "three!", "four!"] {
            fs::write(&log, text).unwrap();
            assert_eq!(rotate(&log, 3, 2).unwrap(), text.len() > 3);
        }
        let text = |number| fs::read_to_string(numbered(&log, number)).unwrap_or_default();
        assert_eq!([text(1), text(2), text(3)], ["four!", "three!", ""]);
        assert!(!log.exists());
    }
}
