//! Taking a backup of an instance that runs.

use std::io::Write;
use std::sync::Arc;

use nuthatch_server::{Kind, ServerError};

use crate::backup::job::{Job, data_bytes};
use crate::backup::manifest::{Archive, Manifest};
use crate::backup::noted::Noted;
use crate::backup::pace::{Meter, Pace};
use crate::backup::sealed::{Seal, SealedWriter};
use crate::backup::store::{Backup, Making, Retention, Store};
use crate::backup::{archive, mariadb, mysql};
use crate::clock::{now_s, stamp};
use crate::error::InstanceError;
use crate::life::state::State;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::root::Root;

/// How backups are taken.
#[derive(Clone, Debug)]
pub struct Taking {
    /// Only what has changed since the last one in the store.
    pub incremental: bool,
    /// How they are compressed, and for whom encrypted.
    pub seal: Seal,
    /// How fast, all together.
    pub pace: Arc<Pace>,
    /// Which are kept.
    pub retention: Retention,
}

impl Taking {
    /// For a backup that is kept nowhere: little compressed, not encrypted, as fast as it goes.
    #[must_use]
    pub fn for_a_copy() -> Self {
        Self {
            incremental: false,
            seal: Seal { level: 1, recipient_files: Vec::new() },
            pace: Arc::new(Pace::new(None)),
            retention: Retention::default(),
        }
    }
}

/// A new backup of the instance is in the store, whole; what is not to be kept is gone.
///
/// # Errors
/// [`InstanceError::Refused`] before anything is touched; what the tool complains of, and nothing of the backup is left.
pub fn take(
    root: &Root,
    name: &InstanceName,
    store: &Store,
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<Backup, InstanceError> {
    taking.seal.check()?;
    let job = Job::begin(root, name, taking.pace.clone())?;
    let base = if taking.incremental { Some(job.base(store)?) } else { None };
    let id = format!("{}-{}", stamp(now_s()), if base.is_some() { "incremental" } else { "full" });
    if store.dir_of(name).join(&id).exists() {
        return Err(InstanceError::Refused(format!(
            "back up {name}: {id} is there already; try again in a second"
        )));
    }
    let stem = match job.archive() {
        Archive::Mbstream => "data.mbstream",
        Archive::Tar => "data.tar",
    };
    progress.step(&Step::Note(format!("backing up {name} to {}", store.dir_of(name).join(&id).display())));
    let (making, mut writer) = Making::begin(store, name, &id, stem, &taking.seal)?;
    let manifest = stream(&job, id, base.as_ref(), &mut writer, progress)?;
    let written = writer.finish().map_err(ServerError::file("write the backup of", job.place.dir()))?;
    let backup = making.finish(manifest, &written)?;
    Noted::of(&backup).save(&job.place)?;
    let removed = store.prune(name, job.record.server_id, taking.retention, now_s())?;
    if !removed.is_empty() {
        archive::prune(&store.dir_of(name), &store.backups(Some(name))?)?;
    }
    if !removed.is_empty() {
        progress.step(&Step::Note(format!("{name}: removed {}, as wanted", removed.join(", "))));
    }
    Ok(backup)
}

/// A backup of the instance has gone to `to`, whole: its last file tells of itself.
///
/// # Errors
/// As [`take`]; what went out then has no end, and is taken for no backup.
pub fn take_to_pipe(
    root: &Root,
    name: &InstanceName,
    to: Box<dyn Write + Send>,
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<Manifest, InstanceError> {
    taking.seal.check()?;
    let job = Job::begin(root, name, taking.pace.clone())?;
    let mut writer = SealedWriter::new(to, &taking.seal)?;
    let id = format!("{}-full", stamp(now_s()));
    let manifest = stream(&job, id, None, &mut writer, progress)?;
    writer.finish().map_err(ServerError::file("write the backup of", job.place.dir()))?;
    Ok(manifest)
}

/// Streams the files, and behind them what they are.
fn stream(
    job: &Job,
    id: String,
    base: Option<&Backup>,
    to: &mut dyn Write,
    progress: &mut dyn Progress,
) -> Result<Manifest, InstanceError> {
    let name = job.place.name().clone();
    let mut manifest = Manifest::begin(id, name.clone(), job.record.clone(), job.archive(), now_s());
    manifest.incarnation = job.place.incarnation()?;
    manifest.server_version = State::load(&job.place)?.version;
    manifest.base = base.map(|base| base.manifest.id.clone());
    let total = base.is_none().then(|| data_bytes(&job.place.data()));
    let mut meter = Meter::new(format!("backup {name}"), total, progress);
    match job.record.server.kind {
        Kind::MariaDb => mariadb::stream(job, base, &mut manifest, to, &mut meter)?,
        Kind::MySql => mysql::stream(job, &mut manifest, to, &mut meter)?,
    }
    manifest.stream_bytes = meter.end();
    Ok(manifest)
}
