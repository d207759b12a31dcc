//! From backups to data that a server has run on: nothing takes the place of anything before that.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use nuthatch_server::{Installation, Kind, ServerError, remove_leftover};
use serde::{Deserialize, Serialize};

use crate::ask::wait_for;
use crate::backup::events;
use crate::backup::job::{refuse_outside, room_for};
use crate::backup::manifest::Manifest;
use crate::backup::mariadb::prepare;
use crate::backup::pace::Meter;
use crate::backup::replay::{Until, check, replay};
use crate::backup::sealed::SealedReader;
use crate::backup::store::{Backup, Store};
use crate::backup::unpack::unpack;
use crate::error::InstanceError;
use crate::life::check::series;
use crate::progress::{Progress, Step};
use crate::record::Record;
use crate::root::{Place, Root};
use crate::scratch::Scratch;

/// Where a backup comes from.
pub enum Origin {
    /// A store; those that it rests on are there too.
    Store(Box<Backup>),
    /// A stream, or a file that one has gone to; and how large it is likely to be.
    Stream(Box<dyn Read + Send>, Option<u64>),
}

/// What is done with a backup on its way to an instance.
#[derive(Clone, Debug, Default)]
pub struct Using {
    /// The file with the secret key, for what is encrypted.
    pub identity: Option<PathBuf>,
    /// Up to where the archived binlogs are done again; `None`: not at all.
    pub until: Option<Until>,
    /// Whether it becomes another server, which replicates from nobody yet.
    pub is_another: bool,
    /// What it is to be then.
    pub role: Role,
}

/// What an instance that is made of another one's data is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// On its own.
    #[default]
    Alone,
    /// A replica: the events in its data are its source's to run.
    Replica,
}

/// What has come of it.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The backup.
    pub manifest: Manifest,
    /// The server's GTID position on these data.
    pub gtid: String,
}

/// The place's data are those of the backup, and a server has run on them and ended. `record` is as what.
pub(crate) fn fill(
    root: &Root,
    place: &Place,
    record: &Record,
    origin: Origin,
    using: &Using,
    progress: &mut dyn Progress,
) -> Result<Filled, InstanceError> {
    let archived = match &origin {
        Origin::Store(backup) => backup.dir.parent().map(|dir| dir.join("binlogs")),
        Origin::Stream(..) => None,
    };
    if let (Origin::Store(backup), Some(until)) = (&origin, &using.until) {
        check(&backup.manifest, until)?;
    }
    let manifest = unpack_all(place, &record.server, origin, using.identity.as_deref(), progress)?;
    place.renew_incarnation()?;
    progress.step(&Step::Note(format!("{}: trying the data", place.name())));
    let scratch = Scratch::start(root, place, record)?;
    // Who comes back to a moment does not want to be led on from there by a source.
    let is_another = using.is_another || using.until.is_some();
    take_position(&scratch, record.server.kind, &manifest, is_another)?;
    if let Some(until) = &using.until {
        let archived = archived.ok_or_else(|| {
            InstanceError::Refused(
                "do binlogs again: only a store of backups has them, a stream has none".into(),
            )
        })?;
        check(&manifest, until)?;
        replay(place, &record.server, &manifest, &archived, until, using.identity.as_deref(), progress)?;
    }
    let gtid = position(&scratch, record.server.kind)?;
    // What another server has written is no part of what MariaDB takes itself to have: as a replica it would be given all of it again.
    let is_of_another = is_another || record.server_id != manifest.record.server_id;
    if record.server.kind == Kind::MariaDb && is_of_another && !gtid.is_empty() {
        // So that it can be told a source again.
        scratch.ask(&format!("SET GLOBAL gtid_slave_pos = '{gtid}'"))?;
    }
    if using.role == Role::Replica {
        wait_for(async {
            let mut session = scratch.session().await?;
            let enabled = events::enabled(&mut session).await?;
            events::disable(&mut session, record.server.kind, &enabled).await
        })?;
    }
    if let Some(Until::Gtid(wanted)) = &using.until
        && let Some(missing) = wanted.split(',').find(|one| !gtid.split(',').any(|there| there == *one))
    {
        return Err(InstanceError::Refused(format!(
            "come to {missing}: the backup begins behind it, or it is not in the archived binlogs; they lead to {gtid}"
        )));
    }
    scratch.stop()?;
    // Binlogs that were done again may have changed root's password too.
    place.write(&place.init_file(), &record.server.kind.let_root_in(&place.password()?))?;
    Ok(Filled { manifest, gtid })
}

/// The files of the backup, and of those that it rests on, are a data directory.
fn unpack_all(
    place: &Place,
    server: &Installation,
    origin: Origin,
    identity: Option<&Path>,
    progress: &mut dyn Progress,
) -> Result<Manifest, InstanceError> {
    let (data, log) = (place.data(), place.dir().join("prepare.log"));
    let what = format!("unpack {}", place.name());
    let manifest = match origin {
        Origin::Stream(from, total) => {
            let mut meter = Meter::new(what, total, progress);
            let manifest = unpack(SealedReader::new(from, identity)?, server, &data, None, &mut meter)?;
            meter.end();
            if let Some(base) = &manifest.base {
                return Err(InstanceError::Refused(format!(
                    "use the backup: it is incremental, and rests on {base}: name its directory"
                )));
            }
            refuse_outside(&data, "use the backup")?;
            check_series(server, &manifest)?;
            prepare_if_needed(server, &data, None, &log)?;
            manifest
        }
        Origin::Store(backup) => {
            check_series(server, &backup.manifest)?;
            let chain = Store::chain(&backup)?;
            let bytes = chain.iter().map(|one| one.manifest.stream_bytes).sum();
            room_for(place.dir(), bytes, &format!("unpack {}", backup.dir.display()))?;
            let increment = place.dir().join("increment");
            for one in &chain {
                let into = if one.manifest.base.is_some() { &increment } else { &data };
                let (from, stored) = one.open()?;
                let mut meter = Meter::new(what.clone(), Some(one.manifest.stream_bytes), progress);
                let from = SealedReader::new(from, identity)?;
                unpack(from, server, into, Some(&stored.sha256), &mut meter)?;
                meter.end();
                prepare_if_needed(
                    server,
                    &data,
                    one.manifest.base.as_ref().map(|_| increment.as_path()),
                    &log,
                )?;
                remove_leftover(&increment).map_err(ServerError::file("remove", &increment))?;
            }
            backup.manifest
        }
    };
    nuthatch_server::remove_file(&log)?;
    remove_notes(&data)?;
    Ok(manifest)
}

fn prepare_if_needed(
    server: &Installation,
    data: &Path,
    increment: Option<&Path>,
    log: &Path,
) -> Result<(), InstanceError> {
    match server.kind {
        Kind::MariaDb => prepare(server, data, increment, log),
        Kind::MySql => Ok(()),
    }
}

/// What the tool left in the data directory for itself.
fn remove_notes(data: &Path) -> Result<(), InstanceError> {
    for entry in fs::read_dir(data).map_err(ServerError::file("list", data))?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_note = ["xtrabackup_", "mariadb_backup_"].iter().any(|start| name.starts_with(start));
        if is_note || name == "backup-my.cnf" {
            nuthatch_server::remove_file(&entry.path())?;
        }
    }
    Ok(())
}

/// A server takes the files of its own series: another changes them for good, which is a decision of its own.
fn check_series(server: &Installation, manifest: &Manifest) -> Result<(), InstanceError> {
    let now = server.version()?;
    match (series(&manifest.server_version), series(&now)) {
        (Some(then), Some(now_series)) if then != now_series => Err(InstanceError::Refused(format!(
            "use the backup: it is of a server {then}, and this one is {now}; name a server of that series (--server PATH), and upgrade the \
             instance then"
        ))),
        _ => Ok(()),
    }
}

/// The server goes on where the backup ends, as replication counts. Binlogs are not in a backup, so MariaDB does not know.
fn take_position(
    scratch: &Scratch,
    kind: Kind,
    manifest: &Manifest,
    is_another: bool,
) -> Result<(), InstanceError> {
    match kind {
        Kind::MariaDb if !manifest.gtid.is_empty() => {
            scratch.ask(&format!("SET GLOBAL gtid_binlog_state = '{}'", manifest.gtid))?;
        }
        Kind::MySql if is_another => {
            scratch.ask("RESET REPLICA ALL")?;
        }
        _ => {}
    }
    Ok(())
}

/// The server's GTID position. (`gtid_current_pos` of MariaDB leaves out what another server wrote.)
fn position(scratch: &Scratch, kind: Kind) -> Result<String, InstanceError> {
    let variable = match kind {
        Kind::MariaDb => "COALESCE(NULLIF(@@GLOBAL.gtid_binlog_pos, ''), @@GLOBAL.gtid_slave_pos)",
        Kind::MySql => "@@GLOBAL.gtid_executed",
    };
    Ok(scratch.ask_one(&format!("SELECT {variable}"))?.replace(char::is_whitespace, ""))
}
