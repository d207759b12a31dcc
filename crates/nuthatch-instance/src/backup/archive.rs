//! Binlogs, copied beside the backups: with them one comes back to any moment behind one.
//!
//! `DIR/NAME/binlogs/HISTORY/binlog.000001.@BEGUN-AT.zst` is whole; `binlog.000002.@BEGUN-AT.tail-BYTES.zst` is the one that the server writes
//! to, as far as it was. BEGUN is when the server began it, which the file says itself: a number alone may be of another history. What was
//! committed before AT is in it, or in one of before. Another data directory numbers its binlogs anew, and so does RESET MASTER: each such
//! history has a directory of its own there, which is known again by the binlogs that it shares with the server.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use nuthatch_server::{ServerError, lock, make_private_dir, remove_leftover};

use crate::ask::{PATIENTLY, SOON, Session, wait_for};
use crate::backup::sealed::{Seal, SealedWriter};
use crate::backup::store::{Backup, Store, entries};
use crate::clock::{now_s, stamp};
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::root::{Place, Root};

/// What has come of archiving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedNow {
    /// Binlogs that are whole there since now.
    pub whole: Vec<String>,
    /// The one that is still written to, as far as it was.
    pub tail: Option<String>,
    /// Binlogs that the server has no more and that are not there: it cannot be come back to a moment behind a backup of before.
    pub lost: Vec<String>,
    /// Whether its binlogs have nothing to do with those that are there: a backup of before leads only to the end of those.
    pub is_another_history: bool,
}

/// A binlog of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Log {
    name: String,
    bytes: u64,
    begun: u32,
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
    let of = store.dir_of(name).join("binlogs");
    make_private_dir(&of).map_err(ServerError::file("make the directory", &of))?;
    let _lock = lock(&of.join("lock"))?;
    // What is committed later may be missing.
    let at_s = now_s();
    let (from, logs) = wait_for(binlogs(&place))?;
    let known = history_of(&of, &logs)?;
    let mut now = ArchivedNow::default();
    let dir = match known {
        Some(dir) => dir,
        None => {
            now.is_another_history = !entries(&of)?.is_empty();
            of.join(format!("{}-{}", place.incarnation()?, stamp(at_s)))
        }
    };
    make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    let have = Archived::all(&dir)?;
    now.lost = lost(&have, &logs);
    let last = logs.len().saturating_sub(1);
    for (number, log) in logs.iter().enumerate() {
        let of = |tail: bool| have.iter().find(|one| one.name == log.name && one.is_tail == tail);
        if of(false).is_some() {
            continue;
        }
        let is_tail = number == last;
        if let Some(same) = of(true).filter(|one| is_tail && one.bytes == log.bytes) {
            let to = dir.join(file_name(log, at_s, is_tail, same.is_encrypted()));
            fs::rename(&same.path, &to).map_err(ServerError::file("rename", &same.path))?;
            continue;
        }
        copy(&from, &dir, log, is_tail, at_s, seal)?;
        if is_tail {
            now.tail = Some(log.name.clone());
        } else {
            now.whole.push(log.name.clone());
        }
    }
    Ok(now)
}

/// The directory of the history that these are of: it has one of them. `None` where nothing tells that they follow what is there.
fn history_of(of: &Path, logs: &[Log]) -> Result<Option<PathBuf>, InstanceError> {
    for dir in entries(of)? {
        let is_one =
            |have: &Archived| logs.iter().any(|log| log.name == have.name && log.begun == have.begun);
        if Archived::all(&dir)?.iter().any(is_one) {
            return Ok(Some(dir));
        }
    }
    Ok(None)
}

/// The directory in which that binlog is.
pub(crate) fn history_with(of: &Path, name: &str, begun: u32) -> Result<Option<PathBuf>, InstanceError> {
    history_of(of, &[Log { name: name.to_owned(), bytes: 0, begun }])
}

/// Archived binlogs that end before the oldest backup was begun are gone: no backup leads to them.
pub(crate) fn prune(of: &Path, backups: &[Backup]) -> Result<(), InstanceError> {
    let of = of.join("binlogs");
    let Some(oldest_s) = backups.iter().map(|one| one.manifest.began_s).min().filter(|_| of.exists()) else {
        return Ok(());
    };
    let _lock = lock(&of.join("lock"))?;
    for dir in entries(&of)? {
        for one in Archived::all(&dir)?.into_iter().filter(|one| one.archived_s < oldest_s) {
            remove_leftover(&one.path).map_err(ServerError::file("remove", &one.path))?;
        }
        if Archived::all(&dir)?.is_empty() {
            remove_leftover(&dir).map_err(ServerError::file("remove", &dir))?;
        }
    }
    Ok(())
}

/// Where the server's binlogs are, and which: each with its size.
async fn binlogs(place: &Place) -> Result<(PathBuf, Vec<Log>), InstanceError> {
    let mut session = Session::open(place).await?;
    let answer = session.ask("SHOW BINARY LOGS", PATIENTLY).await.map_err(|error| match error {
        // ER_NO_BINARY_LOGGING
        InstanceError::Statement { code: 1381, .. } => InstanceError::Refused(format!(
            "archive the binlogs of {}: it writes none (log_bin)",
            place.name()
        )),
        error => error,
    })?;
    let dir = binlog_dir(&mut session, place).await?;
    let mut logs = Vec::new();
    for [name, bytes] in answer.texts() {
        let begun = begun_of(&dir.join(&name))?;
        logs.push(Log { name, bytes: bytes.parse().unwrap_or(0), begun });
    }
    Ok((dir, logs))
}

/// Where a server writes its binlogs.
pub(crate) async fn binlog_dir(session: &mut Session, place: &Place) -> Result<PathBuf, InstanceError> {
    let base = session.ask("SELECT @@GLOBAL.log_bin_basename", SOON).await?;
    let base = base.texts().next().map(|[base]| PathBuf::from(base)).unwrap_or_default();
    Ok(base.parent().filter(|dir| dir.is_absolute()).map_or_else(|| place.data(), Path::to_owned))
}

/// When the server began a binlog: behind four bytes that every binlog begins with stands the header of its first event, and that begins with
/// its time, in seconds since 1970.
pub(crate) fn begun_of(path: &Path) -> Result<u32, InstanceError> {
    let mut head = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.map_err(ServerError::file("read the beginning of", path))?;
    let [_, _, _, _, time @ ..] = head;
    Ok(u32::from_le_bytes(time))
}

/// Those between the last that is there and the first that the server has.
fn lost(have: &[Archived], logs: &[Log]) -> Vec<String> {
    // One that is there in part only counts as missing from there on.
    let last =
        have.iter().rev().find_map(|one| number(&one.name).map(|number| number - u64::from(one.is_tail)));
    let first = logs.first().and_then(|log| number(&log.name).map(|number| (&log.name, number)));
    let (Some(last), Some((log, first))) = (last, first) else { return Vec::new() };
    let stem = log.rsplit_once('.').map_or("binlog", |(stem, _)| stem);
    (last + 1..first).map(|number| format!("{stem}.{number:06}")).collect()
}

pub(crate) fn number(log: &str) -> Option<u64> {
    log.rsplit_once('.')?.1.parse().ok()
}

/// As many bytes of it as the server says, to a file that is renamed when it is whole. What was committed before `at_s` is in it, or in one of
/// before.
fn copy(
    from: &Path,
    dir: &Path,
    log: &Log,
    is_tail: bool,
    at_s: u64,
    seal: &Seal,
) -> Result<(), InstanceError> {
    let Log { name, bytes, .. } = log;
    let from = from.join(name);
    let making = dir.join(format!(".making-{name}"));
    let source = File::open(&from).map_err(ServerError::file("read", &from))?;
    let target = File::create(&making).map_err(ServerError::file("write", &making))?;
    let mut writer = SealedWriter::new(Box::new(target), seal)?;
    let copied =
        std::io::copy(&mut source.take(*bytes), &mut writer).map_err(ServerError::file("copy", &from))?;
    if copied != *bytes {
        return Err(InstanceError::Refused(format!(
            "copy {}: it has {copied} bytes, and the server says {bytes}",
            from.display()
        )));
    }
    writer.finish().map_err(ServerError::file("write", &making))?;
    File::open(&making).and_then(|file| file.sync_all()).map_err(ServerError::file("sync", &making))?;
    let to = dir.join(file_name(log, at_s, is_tail, seal.is_encrypted()));
    fs::rename(&making, &to).map_err(ServerError::file("rename", &making))?;
    // For a moment there were two, of which the one is the beginning of the other.
    for old in
        Archived::all(dir)?.into_iter().filter(|one| one.is_tail && one.name == *name && one.path != to)
    {
        remove_leftover(&old.path).map_err(ServerError::file("remove", &old.path))?;
    }
    Ok(())
}

fn file_name(log: &Log, at_s: u64, is_tail: bool, is_encrypted: bool) -> String {
    let Log { name, bytes, begun } = log;
    let tail = if is_tail { format!(".tail-{bytes}") } else { String::new() };
    format!("{name}.@{begun}-{at_s}{tail}.zst{}", if is_encrypted { ".age" } else { "" })
}

/// A binlog that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Archived {
    /// As the server calls it.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) is_tail: bool,
    /// When the server began it, in seconds since 1970.
    pub(crate) begun: u32,
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
            let (stem, tail) =
                stem.split_once(".tail-").map_or((stem, None), |(stem, bytes)| (stem, Some(bytes)));
            let Some((name, begun)) = stem.split_once(".@") else { continue };
            let Some((begun, at_s)) = begun.split_once('-') else { continue };
            all.push(Self {
                name: name.to_owned(),
                path: entry.path(),
                is_tail: tail.is_some(),
                begun: begun.parse().unwrap_or(0),
                bytes: tail.and_then(|bytes| bytes.parse().ok()).unwrap_or(0),
                archived_s: at_s.parse().unwrap_or(0),
            });
        }
        all.sort_by_key(|one| (number(&one.name), !one.is_tail, one.bytes));
        Ok(all)
    }

    fn is_encrypted(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "age")
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
            _ => match files.iter().rev().skip(1).find(|one| one.is_tail) {
                Some(part) => Err(InstanceError::Refused(format!(
                    "do binlogs again: of {} only the beginning is archived in {}: it is not possible to come further than that",
                    part.name,
                    dir.display()
                ))),
                None => Ok(files),
            },
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
            "binlog.000001.@5-50.zst",
            "binlog.000002.@6-60.tail-9.zst",
            "binlog.000002.@6-61.zst",
            "binlog.000003.@7-70.tail-7.zst.age",
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
        let dir = dir_with(&["binlog.000001.@5-50.zst", "binlog.000003.@7-70.zst"]);
        let said = Archived::from(dir.path(), "binlog.000001").unwrap_err().to_string();
        assert!(said.contains("number 2 is missing"), "{said}");
        let have = Archived::all(dir.path()).unwrap();
        let log = |name: &str, begun| Log { name: name.into(), bytes: 9, begun };
        assert_eq!(lost(&have, &[log("binlog.000006", 9)]), ["binlog.000004", "binlog.000005"]);
        assert_eq!(lost(&have, &[log("binlog.000002", 6)]), [""; 0]);
        let in_part = dir_with(&["binlog.000001.@5-50.tail-9.zst", "binlog.000002.@7-70.zst"]);
        assert_eq!(
            lost(&Archived::all(in_part.path()).unwrap()[..1], &[log("binlog.000002", 7)]),
            ["binlog.000001"]
        );
        let said = Archived::from(in_part.path(), "binlog.000001").unwrap_err().to_string();
        assert!(said.contains("only the beginning"), "{said}");
    }

    #[test]
    fn history_is_known_by_what_it_shares() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("one")).unwrap();
        fs::write(dir.path().join("one/binlog.000003.@7-70.zst"), "").unwrap();
        let known = |name: &str, begun| history_with(dir.path(), name, begun).unwrap().is_some();
        assert!(known("binlog.000003", 7));
        assert!(!known("binlog.000003", 8), "the same number, begun at another time");
        assert!(!known("binlog.000004", 7));
    }
}
