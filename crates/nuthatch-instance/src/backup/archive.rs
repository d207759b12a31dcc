//! Binlogs, copied beside the backups: with them one comes back to any moment behind one.
//!
//! `DIR/NAME/binlogs/INCARNATION/binlog.000001.zst` is whole; `binlog.000002.tail.zst` is the one that the server writes to, as far as it was.
//! Another data directory numbers its binlogs anew, so each has a directory of its own there.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nuthatch_server::{ServerError, lock, make_private_dir, remove_leftover};

use crate::ask::{PATIENTLY, SOON, Session, wait_for};
use crate::backup::sealed::{Seal, SealedWriter};
use crate::backup::store::Store;
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::root::{Place, Root};

const TAIL: &str = ".tail";

/// What has come of archiving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedNow {
    /// Binlogs that are whole there since now.
    pub whole: Vec<String>,
    /// The one that is still written to, as far as it was.
    pub tail: Option<String>,
    /// Binlogs that the server has no more and that are not there: it cannot be come back to a moment behind a backup of before.
    pub lost: Vec<String>,
}

/// All binlogs that the server has are in the store too, the last as far as it was written.
///
/// # Errors
/// [`InstanceError::Refused`] where it writes none; [`ServerError::File`].
pub fn archive(
    root: &Root,
    name: &InstanceName,
    store: &Store,
    seal: &Seal,
) -> Result<ArchivedNow, InstanceError> {
    seal.check()?;
    let place = root.find(name)?;
    let dir = store.dir_of(name).join("binlogs").join(place.incarnation()?);
    make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    let _lock = lock(&dir.join("lock"))?;
    let have: Vec<Archived> = Archived::all(&dir)?;
    // What is committed later may be missing.
    let at = moment();
    let (from, logs) = wait_for(binlogs(&place))?;
    let mut now = ArchivedNow { lost: lost(&have, &logs), ..ArchivedNow::default() };
    let last = logs.len().saturating_sub(1);
    for (number, (log, bytes)) in logs.into_iter().enumerate() {
        let of = |tail: bool| have.iter().find(|one| one.name == log && one.is_tail == tail);
        if of(false).is_some() {
            continue;
        }
        let is_tail = number == last;
        if let Some(same) = of(true).filter(|one| is_tail && one.bytes == bytes) {
            File::open(&same.path)
                .and_then(|file| file.set_modified(at))
                .map_err(ServerError::file("note the time of", &same.path))?;
            continue;
        }
        copy(&from.join(&log), bytes, &dir, &Copied { log: &log, is_tail, at }, seal)?;
        if is_tail {
            now.tail = Some(log);
        } else {
            remove_tail(&dir, &log)?;
            now.whole.push(log);
        }
    }
    Ok(now)
}

/// Where the server's binlogs are, and which: each with its size.
async fn binlogs(place: &Place) -> Result<(PathBuf, Vec<(String, u64)>), InstanceError> {
    let mut session = Session::open(place).await?;
    let answer = session.ask("SHOW BINARY LOGS", PATIENTLY).await.map_err(|error| match error {
        // ER_NO_BINARY_LOGGING
        InstanceError::Statement { code: 1381, .. } => InstanceError::Refused(format!(
            "archive the binlogs of {}: it writes none (log_bin)",
            place.name()
        )),
        error => error,
    })?;
    let base = session.ask("SELECT @@GLOBAL.log_bin_basename", SOON).await?;
    let base = base.texts().next().map(|[base]| PathBuf::from(base)).unwrap_or_default();
    let dir = base.parent().map_or_else(|| place.data(), Path::to_owned);
    Ok((dir, answer.texts().map(|[log, bytes]| (log, bytes.parse().unwrap_or(0))).collect()))
}

#[expect(clippy::disallowed_methods, reason = "it is a file's time, which outlives the process")]
fn moment() -> SystemTime {
    SystemTime::now()
}

/// Those between the last that is there and the first that the server has.
fn lost(have: &[Archived], logs: &[(String, u64)]) -> Vec<String> {
    let last = have.iter().rev().find(|one| !one.is_tail).and_then(|one| number(&one.name));
    let first = logs.first().and_then(|(log, _)| number(log).map(|number| (log, number)));
    let (Some(last), Some((log, first))) = (last, first) else { return Vec::new() };
    let stem = log.rsplit_once('.').map_or("binlog", |(stem, _)| stem);
    (last + 1..first).map(|number| format!("{stem}.{number:06}")).collect()
}

fn number(log: &str) -> Option<u64> {
    log.rsplit_once('.')?.1.parse().ok()
}

/// How a binlog is copied.
struct Copied<'a> {
    log: &'a str,
    is_tail: bool,
    /// What was committed before is in it, or in one of before.
    at: SystemTime,
}

/// So many bytes of it, to a file that is renamed when it is whole.
fn copy(
    from: &Path,
    bytes: u64,
    dir: &Path,
    copied_as: &Copied<'_>,
    seal: &Seal,
) -> Result<(), InstanceError> {
    let Copied { log, is_tail, at } = *copied_as;
    let making = dir.join(format!(".making-{log}"));
    let source = File::open(from).map_err(ServerError::file("read", from))?;
    let target = File::create(&making).map_err(ServerError::file("write", &making))?;
    let mut writer = SealedWriter::new(Box::new(target), seal)?;
    let copied =
        std::io::copy(&mut source.take(bytes), &mut writer).map_err(ServerError::file("copy", from))?;
    if copied != bytes {
        return Err(InstanceError::Refused(format!(
            "copy {}: it has {copied} bytes, and the server says {bytes}",
            from.display()
        )));
    }
    writer.finish().map_err(ServerError::file("write", &making))?;
    File::open(&making)
        .and_then(|file| file.set_modified(at).and_then(|()| file.sync_all()))
        .map_err(ServerError::file("sync", &making))?;
    let tail = if is_tail { format!("{TAIL}-{bytes}") } else { String::new() };
    if is_tail {
        // For a moment there are two, which says the same of its beginning.
        let to = dir.join(format!("{log}{tail}{}", seal.suffix()));
        fs::rename(&making, &to).map_err(ServerError::file("rename", &making))?;
        return remove_tails_but(dir, log, &to);
    }
    let to = dir.join(format!("{log}{}", seal.suffix()));
    fs::rename(&making, &to).map_err(ServerError::file("rename", &making))?;
    Ok(())
}

fn remove_tail(dir: &Path, log: &str) -> Result<(), InstanceError> {
    remove_tails_but(dir, log, Path::new(""))
}

fn remove_tails_but(dir: &Path, log: &str, but: &Path) -> Result<(), InstanceError> {
    let tails =
        Archived::all(dir)?.into_iter().filter(|one| one.is_tail && one.name == log && one.path != but);
    for tail in tails {
        remove_leftover(&tail.path).map_err(ServerError::file("remove", &tail.path))?;
    }
    Ok(())
}

/// A binlog that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Archived {
    /// As the server calls it.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) is_tail: bool,
    /// Of a tail: how far it goes.
    bytes: u64,
    /// What was committed before is in it, or in one of before; in seconds since 1970.
    pub(crate) archived_s: u64,
}

impl Archived {
    /// All that are in a directory, by name; of one with a tail and a whole one the whole one is last.
    pub(crate) fn all(dir: &Path) -> Result<Vec<Self>, InstanceError> {
        let mut all = Vec::new();
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let file = entry.file_name();
            let Some(file) = file.to_str().filter(|file| !file.starts_with('.')) else { continue };
            let Some(stem) = file.strip_suffix(".age").unwrap_or(file).strip_suffix(".zst") else { continue };
            let (name, tail) =
                stem.split_once(".tail-").map_or((stem, None), |(name, bytes)| (name, Some(bytes)));
            let modified = entry.metadata().and_then(|found| found.modified()).ok();
            let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            all.push(Self {
                name: name.to_owned(),
                path: entry.path(),
                is_tail: tail.is_some(),
                bytes: tail.and_then(|bytes| bytes.parse().ok()).unwrap_or(0),
                archived_s: since.map_or(0, |since| since.as_secs()),
            });
        }
        all.sort_by_key(|one| (number(&one.name), !one.is_tail, one.bytes));
        Ok(all)
    }

    /// Those from one on, each once, without a gap.
    pub(crate) fn from(dir: &Path, first: &str) -> Result<Vec<Self>, InstanceError> {
        let start = number(first);
        let mut files: Vec<Self> = Vec::new();
        for one in Self::all(dir)?.into_iter().filter(|one| number(&one.name) >= start) {
            match files.last_mut() {
                Some(last) if last.name == one.name => *last = one,
                _ => files.push(one),
            }
        }
        let gap =
            files.iter().zip(start.unwrap_or(0)..).find(|(one, wanted)| number(&one.name) != Some(*wanted));
        match (files.first(), gap) {
            (None, _) => Err(InstanceError::Refused(format!(
                "do binlogs again: {first} is not archived in {}; nuthatch instance archive copies them",
                dir.display()
            ))),
            (_, Some((one, wanted))) => Err(InstanceError::Refused(format!(
                "do binlogs again: number {wanted} is missing in {}, before {}: it is not possible to come further than that",
                dir.display(),
                one.name
            ))),
            _ => Ok(files),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir_with(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|file| fs::write(dir.path().join(file), "").unwrap());
        dir
    }

    #[test]
    fn binlogs_follow_each_other() {
        let dir = dir_with(&[
            "binlog.000001.zst",
            "binlog.000002.tail-9.zst",
            "binlog.000002.zst",
            "binlog.000003.tail-7.zst.age",
            "lock",
        ]);
        let names = |first: &str| -> Vec<(String, bool)> {
            let files = Archived::from(dir.path(), first).unwrap();
            files.into_iter().map(|one| (one.name, one.is_tail)).collect()
        };
        let wanted = [("binlog.000002".to_owned(), false), ("binlog.000003".to_owned(), true)];
        assert_eq!(names("binlog.000002"), wanted);
        assert_eq!(names("binlog.000001").len(), 3);
        assert!(Archived::from(dir.path(), "binlog.000004").is_err());
    }

    #[test]
    fn gap_is_told() {
        let dir = dir_with(&["binlog.000001.zst", "binlog.000003.zst"]);
        let said = Archived::from(dir.path(), "binlog.000001").unwrap_err().to_string();
        assert!(said.contains("number 2 is missing"), "{said}");
        let have = Archived::all(dir.path()).unwrap();
        assert_eq!(lost(&have, &[("binlog.000006".into(), 9)]), ["binlog.000004", "binlog.000005"]);
        assert_eq!(lost(&have, &[("binlog.000002".into(), 9)]), [""; 0]);
    }
}
