//! Files and directories that only their owner may enter or read, and the end of a log.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::ServerError;

/// Longest path that a Unix socket's address holds, the closing NUL not counted: unix(7).
pub const SOCKET_PATH_MAX: usize = 107;

/// Lines of a server's log that go into an error.
const LOG_TAIL_LINES: usize = 20;

/// Makes a directory, and those above it, that only its owner may enter; one that exists is left as it is.
///
/// # Errors
/// The system's.
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// The file is not there afterwards.
///
/// # Errors
/// [`ServerError::File`].
pub fn remove_file(path: &Path) -> Result<(), ServerError> {
    absent_is_fine(fs::remove_file(path)).map_err(ServerError::file("remove", path))
}

/// Replaces the file at once by one with this text that only its owner may read; a crash leaves the old or the new one.
///
/// # Errors
/// [`ServerError::File`].
pub fn write_private(path: &Path, text: &str) -> Result<(), ServerError> {
    write_for(path, text, None)
}

/// The same for a user and a group of this host, who both may read it. It is theirs before it has its name: whoever may write to the directory
/// has nothing else given to them.
///
/// # Errors
/// [`ServerError::File`].
pub fn write_for(path: &Path, text: &str, owner: Option<(u32, u32)>) -> Result<(), ServerError> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = Path::new(&fresh);
    let write = || {
        absent_is_fine(fs::remove_file(fresh))?;
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        if let Some((user, group)) = owner {
            fchown(&file, Some(user), Some(group))?;
            file.set_permissions(Permissions::from_mode(0o640))?;
        }
        fs::rename(fresh, path)
    };
    write().map_err(ServerError::file("write", path))
}

/// The file, which is made if need be and is no link: a directory of somebody else's may have one.
///
/// # Errors
/// The system's.
pub fn open_to_append(path: &Path, mode: u32) -> io::Result<File> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    OpenOptions::new().create(true).append(true).mode(mode).custom_flags(no_link).open(path)
}

/// Waits until no other process holds this file, which is made if need be; others wait until it is dropped.
///
/// # Errors
/// [`ServerError::File`].
pub fn lock(path: &Path) -> Result<File, ServerError> {
    let lock = || {
        let file = open_to_append(path, 0o600)?;
        file.lock()?;
        Ok(file)
    };
    lock().map_err(ServerError::file("lock", path))
}

fn absent_is_fine(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The last lines of a log file, each indented; says so when there are none.
#[must_use]
pub fn tail(log: &Path) -> String {
    last_lines(log, |_| true).unwrap_or_else(|| "  (nothing)".into())
}

/// The lines of a log file that tell of errors, or else its last ones: behind errors some programs give advice.
#[must_use]
pub fn errors_or_tail(log: &Path) -> String {
    last_lines(log, |line| line.contains("ERROR")).unwrap_or_else(|| tail(log))
}

fn last_lines(log: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<String> =
        text.lines().filter(|line| is_wanted(line)).map(|line| format!("  {line}")).collect();
    let last = lines.get(lines.len().saturating_sub(LOG_TAIL_LINES)..).unwrap_or_default();
    (!last.is_empty()).then(|| last.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn private_files_are_for_their_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        fs::write(&path, "old, readable by all").unwrap();
        write_private(&path, "new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }
}
