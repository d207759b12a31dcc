//! A directory of backups: `DIR/NAME/ID/`, each with its manifest and its data.
//!
//! One that is being made is `.making-ID`, and is renamed when all of it is on the disk: what has a name of its own is whole. What a crash
//! has left is found by its lock, which nobody holds, and removed by the next backup.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use nuthatch_server::{ServerError, lock, make_private_dir, remove_leftover, write_private};

use crate::backup::manifest::{Manifest, Stored};
use crate::backup::sealed::{Seal, SealedWriter, Written};
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::root::{is_held, read_if_there};

const MAKING: &str = ".making-";
const REMOVING: &str = ".removing-";
const MANIFEST: &str = "manifest.toml";

/// A directory of backups.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

/// A backup in it.
#[derive(Clone, Debug)]
pub struct Backup {
    /// Its directory.
    pub dir: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
    /// When it was last tried, in seconds since 1970.
    pub verified_s: Option<u64>,
}

/// Which backups are kept, of each instance. A full one and those that rest on it are kept or removed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// So many of the newest full ones.
    pub keep: Option<usize>,
    /// Those whose last is not older than so many days. The newest is kept in any case.
    pub keep_days: Option<u64>,
}

impl Store {
    /// The directory, which may not be there yet.
    ///
    /// # Errors
    /// [`ServerError::File`] where its path cannot be told.
    pub fn open(dir: &Path) -> Result<Self, InstanceError> {
        Ok(Self { dir: std::path::absolute(dir).map_err(ServerError::file("find the directory", dir))? })
    }

    /// Its path.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn dir_of(&self, name: &InstanceName) -> PathBuf {
        self.dir.join(name.as_str())
    }

    /// All whole backups, of one instance or of all, the oldest first.
    ///
    /// # Errors
    /// [`ServerError::File`], [`InstanceError::BadFile`].
    pub fn backups(&self, name: Option<&InstanceName>) -> Result<Vec<Backup>, InstanceError> {
        let dirs = match name {
            Some(name) => vec![self.dir_of(name)],
            None => entries(&self.dir)?,
        };
        let mut found = Vec::new();
        for dir in dirs {
            for dir in entries(&dir)?.into_iter().filter(|dir| !is_hidden(dir)) {
                match Backup::at(&dir) {
                    Ok(backup) => found.extend(backup),
                    // One that cannot be read keeps nobody from the others.
                    Err(error) => tracing::warn!(dir = %dir.display(), %error, "a backup is passed over"),
                }
            }
        }
        let key = |one: &Backup| (one.manifest.instance.clone(), one.manifest.id.clone());
        found.sort_by_key(key);
        Ok(found)
    }

    /// The backup and those that it rests on, the full one first.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] where one of them is gone.
    pub(crate) fn chain(backup: &Backup) -> Result<Vec<Backup>, InstanceError> {
        let mut chain = vec![backup.clone()];
        while let Some(base) = chain.last().and_then(|one| one.manifest.base.clone()) {
            let dir = backup.dir.with_file_name(&base);
            let found = Backup::at(&dir)?.ok_or_else(|| {
                InstanceError::Refused(format!(
                    "use {}: it is incremental, and {}, which it rests on, is gone",
                    backup.dir.display(),
                    dir.display()
                ))
            })?;
            chain.push(found);
        }
        chain.reverse();
        Ok(chain)
    }

    /// Removes what is not to be kept, and what crashes have left; gives what it has removed.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub(crate) fn prune(
        &self,
        name: &InstanceName,
        server_id: u32,
        retention: Retention,
        now_s: u64,
    ) -> Result<Vec<String>, InstanceError> {
        for dir in entries(&self.dir_of(name))?.into_iter().filter(|dir| is_hidden(dir)) {
            if !is_held(&dir.join("lock")) {
                remove_leftover(&dir).map_err(ServerError::file("remove", &dir))?;
            }
        }
        // One of the same name on another host has backups of its own.
        let mut backups = self.backups(Some(name))?;
        backups.retain(|one| one.manifest.record.server_id == server_id);
        let last_s = |id: &str| {
            let ends = backups.iter().filter(|one| full_of(one, &backups) == id);
            ends.map(|one| one.manifest.ended_s).max().unwrap_or(0)
        };
        let fulls: Vec<&Backup> = backups.iter().filter(|one| one.manifest.base.is_none()).rev().collect();
        let mut removed = Vec::new();
        for (number, full) in fulls.into_iter().enumerate().skip(1) {
            let id = &full.manifest.id;
            let is_beyond = retention.keep.is_some_and(|keep| number >= keep.max(1));
            let is_old = retention
                .keep_days
                .is_some_and(|days| last_s(id).saturating_add(days.saturating_mul(86_400)) < now_s);
            if !is_beyond && !is_old {
                continue;
            }
            // Those that rest on others first: what is left at any moment can be used.
            for one in backups.iter().rev().filter(|one| full_of(one, &backups) == *id) {
                one.remove()?;
                removed.push(one.manifest.id.clone());
            }
        }
        Ok(removed)
    }
}

/// The full backup that it rests on in the end.
fn full_of(backup: &Backup, all: &[Backup]) -> String {
    let mut manifest = &backup.manifest;
    while let Some(base) = &manifest.base {
        match all.iter().find(|one| one.manifest.id == *base) {
            Some(one) => manifest = &one.manifest,
            None => return base.clone(),
        }
    }
    manifest.id.clone()
}

impl Backup {
    /// The one in that directory; `None` where there is none that is whole.
    ///
    /// # Errors
    /// [`ServerError::File`], [`InstanceError::BadFile`].
    pub fn at(dir: &Path) -> Result<Option<Self>, InstanceError> {
        let path = dir.join(MANIFEST);
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let manifest = Manifest::parse(&text, &path)?;
        let verified = read_if_there(&dir.join("verified"))?;
        let verified_s = verified.and_then(|text| text.trim().parse().ok());
        Ok(Some(Self { dir: dir.into(), manifest, verified_s }))
    }

    /// Takes note that it was tried, or that it is not to be trusted.
    pub(crate) fn note_verified(&self, at_s: Option<u64>) -> Result<(), InstanceError> {
        let path = self.dir.join("verified");
        match at_s {
            Some(at_s) => Ok(write_private(&path, &format!("{at_s}\n"))?),
            None => Ok(nuthatch_server::remove_file(&path)?),
        }
    }

    /// Its bytes, as they are on the disk.
    pub(crate) fn open(&self) -> Result<(Box<dyn Read + Send>, Stored), InstanceError> {
        let stored = self.manifest.stored.clone().ok_or_else(|| InstanceError::BadFile {
            path: self.dir.join(MANIFEST),
            what: "it names no file".into(),
        })?;
        let path = self.dir.join(&stored.file);
        let file = File::open(&path).map_err(ServerError::file("read", &path))?;
        Ok((Box::new(file), stored))
    }

    fn remove(&self) -> Result<(), InstanceError> {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        let removing = self.dir.with_file_name(format!("{REMOVING}{name}"));
        fs::rename(&self.dir, &removing).map_err(ServerError::file("rename", &self.dir))?;
        remove_leftover(&removing).map_err(ServerError::file("remove", &removing))?;
        Ok(())
    }
}

/// A backup that is being made.
pub(crate) struct Making {
    dir: PathBuf,
    to: PathBuf,
    file: String,
    encrypted: bool,
    _lock: File,
}

impl Making {
    /// A new one of that name, and where its bytes go.
    pub(crate) fn begin(
        store: &Store,
        name: &InstanceName,
        id: &str,
        stem: &str,
        seal: &Seal,
    ) -> Result<(Self, SealedWriter), InstanceError> {
        let of = store.dir_of(name);
        let dir = of.join(format!("{MAKING}{id}"));
        make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
        let lock = lock(&dir.join("lock"))?;
        let file = format!("{stem}{}", seal.suffix());
        let path = dir.join(&file);
        let data = File::create(&path).map_err(ServerError::file("write", &path))?;
        let writer = SealedWriter::new(Box::new(data), seal)?;
        let making = Self { dir, to: of.join(id), file, encrypted: seal.is_encrypted(), _lock: lock };
        Ok((making, writer))
    }

    /// All of it is there, for good.
    pub(crate) fn finish(&self, mut manifest: Manifest, written: &Written) -> Result<Backup, InstanceError> {
        let path = self.dir.join(&self.file);
        manifest.stored = Some(Stored {
            file: self.file.clone(),
            bytes: written.bytes,
            sha256: written.sha256.clone(),
            encrypted: self.encrypted,
        });
        let text = manifest.to_text()?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(ServerError::file("sync", &path))?;
        write_private(&self.dir.join(MANIFEST), &text)?;
        fs::rename(&self.dir, &self.to).map_err(ServerError::file("rename", &self.dir))?;
        let of = self.to.parent().unwrap_or(&self.to);
        File::open(of).and_then(|dir| dir.sync_all()).map_err(ServerError::file("sync", of))?;
        nuthatch_server::remove_file(&self.to.join("lock"))?;
        Ok(Backup { dir: self.to.clone(), manifest, verified_s: None })
    }
}

impl Drop for Making {
    /// What was not finished is not kept.
    fn drop(&mut self) {
        drop(remove_leftover(&self.dir));
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// The directories in a directory, which need not be there.
pub(crate) fn entries(dir: &Path) -> Result<Vec<PathBuf>, InstanceError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(ServerError::file("list", dir))?,
    };
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use nuthatch_server::Installation;

    use super::*;
    use crate::backup::manifest::Archive;
    use crate::record::Record;

    /// Of 127.0.0.1:3307.
    const ID: u32 = (1 << 16) + 3307;

    fn put(store: &Store, id: &str, base: Option<&str>, ended_s: u64) {
        let name: InstanceName = "shop".parse().unwrap();
        let record = Record::new(
            Installation::debian_mariadb(),
            "small".into(),
            std::net::Ipv4Addr::LOCALHOST.into(),
            3307,
        );
        let (making, mut writer) =
            Making::begin(store, &name, id, "data.mbstream", &Seal::default()).unwrap();
        assert!(store.backups(None).unwrap().iter().all(|one| one.manifest.id != id), "it is not whole yet");
        writer.write_all(b"x").unwrap();
        let written = writer.finish().unwrap();
        let mut manifest = Manifest::begin(id.into(), name, record, Archive::Mbstream, 0);
        (manifest.base, manifest.ended_s) = (base.map(str::to_owned), ended_s);
        making.finish(manifest, &written).unwrap();
    }

    #[test]
    fn what_is_kept_can_be_used() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let day = 86_400;
        let all = [
            ("1", None, 1),
            ("2", Some("1"), 2),
            ("3", None, 3),
            ("4", Some("3"), 4),
            ("5", Some("4"), 5),
            ("6", None, 6),
        ];
        all.into_iter().for_each(|(id, base, days)| put(&store, id, base, days * day));
        let name: InstanceName = "shop".parse().unwrap();
        let ids = || -> Vec<String> {
            store.backups(Some(&name)).unwrap().into_iter().map(|one| one.manifest.id).collect()
        };
        let chain = Store::chain(&store.backups(None).unwrap()[4]).unwrap();
        assert_eq!(chain.iter().map(|one| one.manifest.id.as_str()).collect::<Vec<_>>(), ["3", "4", "5"]);
        let others = store.prune(&name, 7, Retention { keep: Some(1), keep_days: None }, 0).unwrap();
        assert_eq!(others, [""; 0], "those of another host are not ours to remove");
        // A crash left this.
        fs::create_dir(dir.path().join("shop/.making-0")).unwrap();
        let days = |days| Retention { keep_days: Some(days), keep: None };
        assert_eq!(store.prune(&name, ID, days(3), 8 * day).unwrap(), ["2", "1"]);
        assert!(!dir.path().join("shop/.making-0").exists());
        assert_eq!(store.prune(&name, ID, Retention { keep: Some(2), keep_days: None }, 0).unwrap(), [""; 0]);
        assert_eq!(
            store.prune(&name, ID, Retention { keep: Some(1), keep_days: None }, 0).unwrap(),
            ["5", "4", "3"]
        );
        assert_eq!(store.prune(&name, ID, days(0), 99 * day).unwrap(), [""; 0], "the newest stays");
        assert_eq!(ids(), ["6"]);
    }

    #[test]
    fn unfinished_one_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name: InstanceName = "shop".parse().unwrap();
        drop(Making::begin(&store, &name, "1", "data.tar", &Seal::default()).unwrap());
        assert_eq!(entries(&dir.path().join("shop")).unwrap().len(), 0);
    }
}
