//! A backup that is being taken: what is looked at before, and where its tools put what they need.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use nuthatch_server::{Kind, ServerError, lock, make_private_dir, remove_leftover};
use rustix::fs::statvfs;

use crate::account::Account;
use crate::backup::manifest::Archive;
use crate::backup::pace::Pace;
use crate::backup::store::{Backup, Store};
use crate::error::InstanceError;
use crate::life::state::State;
use crate::name::InstanceName;
use crate::record::Record;
use crate::root::{Place, Root, give_all, is_held};

/// A backup that is being taken: of what, and where its tools put what they need.
pub(crate) struct Job {
    pub(crate) place: Place,
    pub(crate) record: Record,
    pub(crate) account: Option<Account>,
    /// A directory of the instance's user, for what tools write as that.
    pub(crate) dir: PathBuf,
    /// A directory of ours, where that user changes nothing.
    pub(crate) own: PathBuf,
    pub(crate) pace: Arc<Pace>,
    _lock: File,
}

impl Job {
    /// Looks at what can be looked at before.
    pub(crate) fn begin(root: &Root, name: &InstanceName, pace: Arc<Pace>) -> Result<Self, InstanceError> {
        let place = root.find(name)?;
        let refuse = |what: String| InstanceError::Refused(format!("back up {name}: {what}"));
        let record = place.record()?;
        if record.server.kind == Kind::MariaDb {
            record.server.find(crate::tool::MARIADB_BACKUP)?;
            record.server.find(crate::tool::MBSTREAM)?;
        }
        if State::load(&place)?.live_server().is_none() {
            return Err(refuse(format!(
                "its server does not run, and is asked for it: nuthatch instance start {name}"
            )));
        }
        refuse_outside(&place.data(), &format!("back up {name}"))?;
        let file = place.run_dir().join("backup.lock");
        if is_held(&file) {
            return Err(refuse("another backup of it is being taken".into()));
        }
        let lock = lock(&file)?;
        place.give(&file)?;
        let dir = place.tmp_dir().join("backup");
        remove_leftover(&dir).map_err(ServerError::file("remove", &dir))?;
        make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
        let own = place.dir().join("backup");
        remove_leftover(&own).map_err(ServerError::file("remove", &own))?;
        make_private_dir(&own).map_err(ServerError::file("make the directory", &own))?;
        let account = Account::of(&root.host()?)?;
        give_all(&dir, account.as_ref())?;
        Ok(Self { place, record, account, dir, own, pace, _lock: lock })
    }

    /// In which form its files are streamed.
    pub(crate) fn archive(&self) -> Archive {
        match self.record.server.kind {
            Kind::MariaDb => Archive::Mbstream,
            Kind::MySql => Archive::Tar,
        }
    }

    /// The backup that an incremental one rests on: the last of these data.
    pub(crate) fn base(&self, store: &Store) -> Result<Backup, InstanceError> {
        let name = self.place.name();
        let refuse = |what: &str| InstanceError::Refused(format!("back up {name} incrementally: {what}"));
        if self.record.server.kind == Kind::MySql {
            return Err(refuse(
                "MySQL's clone plugin takes full ones only; its binlogs tell what came later (nuthatch instance archive)",
            ));
        }
        let incarnation = self.place.incarnation()?;
        let backups = store.backups(Some(name))?;
        let last = backups.into_iter().rev().find(|one| one.manifest.incarnation == incarnation);
        let last = last.filter(|one| one.manifest.to_lsn.is_some());
        if let Some(last) = &last {
            // One that rests on what is gone would be nothing.
            Store::chain(last).map_err(|error| refuse(&format!("{error}; take a full one")))?;
        }
        last.ok_or_else(|| {
            refuse(&format!(
                "{} has no backup of the data that it has now; take a full one first",
                store.dir_of(name).display()
            ))
        })
    }

    /// Refuses where that much does not fit beside the instance.
    pub(crate) fn need_room(&self, bytes: u64) -> Result<(), InstanceError> {
        room_for(&self.dir, bytes, &format!("back up {}", self.place.name()))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        drop(remove_leftover(&self.dir));
        drop(remove_leftover(&self.own));
    }
}

/// Refuses where tables have files elsewhere (`DATA DIRECTORY`): another server on a copy of the data would write to the very same files.
pub(crate) fn refuse_outside(data: &std::path::Path, what: &str) -> Result<(), InstanceError> {
    let mut outside = Vec::new();
    for schema in
        std::fs::read_dir(data).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir())
    {
        for file in std::fs::read_dir(schema.path()).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|extension| extension == "isl") {
                let table = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                outside.push(format!("{}.{table}", schema.file_name().to_string_lossy()));
            }
        }
    }
    if outside.is_empty() {
        return Ok(());
    }
    outside.sort();
    outside.dedup();
    Err(InstanceError::Refused(format!(
        "{what}: {} have their files outside of the data directory (DATA DIRECTORY), and these are not copied; move them into it first",
        outside.join(", ")
    )))
}

/// Refuses where a disk has not so much left; `what` is what is not done therefore.
pub(crate) fn room_for(dir: &std::path::Path, bytes: u64, what: &str) -> Result<(), InstanceError> {
    let there = dir.ancestors().find(|dir| dir.exists()).unwrap_or(dir);
    let Ok(disk) = statvfs(there) else { return Ok(()) };
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    if left > bytes {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "{what}: {} MiB are wanted on the disk of {}, and {} are left",
        bytes.div_ceil(1 << 20),
        there.display(),
        left >> 20
    )))
}

/// Bytes of a directory.
pub(crate) fn dir_bytes(dir: &std::path::Path) -> u64 {
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => dir_bytes(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(of).sum()
}

/// Bytes of a data directory, without what a backup leaves out.
pub(crate) fn data_bytes(data: &std::path::Path) -> u64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(data).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_left_out = ["binlog.", "relay.", "ibtmp", "ib_logfile", "#innodb_redo", "#ib_"];
        if is_left_out.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        match entry.metadata() {
            Ok(found) if found.is_dir() => bytes += data_bytes(&entry.path()),
            Ok(found) => bytes += found.len(),
            // It was there a moment ago.
            Err(_) => {}
        }
    }
    bytes
}
