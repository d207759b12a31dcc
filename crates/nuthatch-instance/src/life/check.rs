//! What is looked at before a server is started: each mistake is a sentence, and nothing was touched.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use nuthatch_server::{Kind, ServerError};
use rustix::fs::statvfs;
use rustix::process::geteuid;

use crate::account::Account;
use crate::error::InstanceError;
use crate::life::state::State;
use crate::port;
use crate::record::Record;
use crate::root::Place;

/// A server that starts with less is likely to end in the middle of something, in bytes.
const DISK_BYTES_MIN: u64 = 64 << 20;

/// Whether the server could start now.
pub(crate) fn before_start(
    place: &Place,
    record: &Record,
    state: &State,
    account: Option<&Account>,
) -> Result<(), InstanceError> {
    let refuse = |what: String| Err(InstanceError::Refused(format!("start {}: {what}", place.name())));
    let data = place.data();
    let Ok(found) = fs::metadata(&data) else {
        return refuse(format!("its data directory {} is gone", data.display()));
    };
    let uid = account.map_or(geteuid().as_raw(), |account| account.uid);
    if found.uid() != uid {
        return refuse(format!(
            "its data directory {} belongs to user {}, and its server would be user {uid} (chown -R {uid} {}, or settle another user)",
            data.display(),
            found.uid(),
            place.dir().display()
        ));
    }
    if !port::is_free(record.address, record.port) {
        return refuse(format!(
            "somebody else listens on port {} of {} (ss -ltnp 'sport = :{}' tells who)",
            record.port, record.address, record.port
        ));
    }
    room_on_disk(place)?;
    let now = record.server.version()?;
    // What the data say goes where they go.
    let last = place.data_version()?.unwrap_or_else(|| state.version.clone());
    match (series(&last), series(&now)) {
        (Some(before), Some(after)) if before != after => refuse(format!(
            "its data were last used by {before}, and {} is {after} now: a server of another series changes them for good; back them up first, \
             then upgrade it (nuthatch instance upgrade), or give it back its server",
            record.server.find(record.server.kind.server())?.display()
        )),
        _ => Ok(()),
    }
}

/// Refuses where the disk is full but for a little.
pub(crate) fn room_on_disk(place: &Place) -> Result<(), InstanceError> {
    let dir = place.dir().ancestors().find(|dir| dir.exists()).unwrap_or(place.dir());
    let Ok(disk) = statvfs(dir) else { return Ok(()) };
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    if left >= DISK_BYTES_MIN {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "use the disk of {}: {} MiB are left, and {} is the least",
        dir.display(),
        left >> 20,
        DISK_BYTES_MIN >> 20
    )))
}

/// Whether the server would take the options: it is asked itself, and touches nothing for that.
pub(crate) fn options_are_known(
    record: &Record,
    text: &str,
    dir: &std::path::Path,
) -> Result<(), InstanceError> {
    let program = record.server.find(record.server.kind.server())?;
    let file = dir.join("options-to-check.cnf");
    nuthatch_server::write_private(&file, text)?;
    let mut command = Command::new(&program);
    command.arg(format!("--defaults-file={}", file.display()));
    match record.server.kind {
        Kind::MariaDb => command.args(["--help", "--verbose", "--user=root"]),
        Kind::MySql => command.args(["--validate-config", "--user=root"]),
    };
    let said = command.stdin(Stdio::null()).output();
    nuthatch_server::remove_file(&file)?;
    let said = said.map_err(ServerError::file("run", &program))?;
    if said.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&said.stderr);
    // Before its words stand the time and a number.
    let errors: Vec<&str> = words.lines().filter_map(|line| Some(line.split_once("[ERROR] ")?.1)).collect();
    let words = if errors.is_empty() { words.trim().to_owned() } else { errors.join("; ") };
    Err(InstanceError::Refused(format!("set its options: the server does not take them: {words}")))
}

/// The part of a version within which a server takes the data of any other: `10.11`, `9.7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Series(pub(crate) u32, pub(crate) u32);

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// That of a version; `None` if it names none.
pub(crate) fn series(version: &str) -> Option<Series> {
    let mut numbers = version.split(['.', '-']).map(|part| part.parse().ok());
    Some(Series(numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_is_told_from_the_version() {
        let said = |version| series(version).map(|series| series.to_string());
        assert_eq!(said("10.11.14-MariaDB-0+deb12u2").as_deref(), Some("10.11"));
        assert_eq!(said("9.7.0").as_deref(), Some("9.7"));
        assert!(series("10.2.1") > series("9.7.0"));
        assert_eq!(series(""), None);
    }
}
