//! A newer server on an instance's data, and the old one back.
//!
//! The data are copied, the new server is tried on the copy, and what has gone well takes the place of the old data, which are kept: going back
//! is putting them in their place again, with the old server.

use std::fs;
use std::path::{Path, PathBuf};

use nuthatch_server::{Installation, Kind, Program, ServerError, copy_dir, remove_leftover, write_private};

use crate::backup::job::{dir_bytes, refuse_outside, room_for};
use crate::backup::restore::{Life, begin_beside, check_one_disk, exchange_into};
use crate::backup::verify::look_at_tables;
use crate::error::InstanceError;
use crate::life::check::options_are_known;
use crate::life::pending;
use crate::life::start::start_locked;
use crate::life::state::State;
use crate::life::stop::stop_locked;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::record::{Before, Record};
use crate::root::{Place, Root, VERSION};
use crate::scratch::Scratch;
use crate::settling::settle;
use crate::tool;
use crate::users::refuse_if_used;

/// The instance's server is that one, which has upgraded its data and looked at all tables; it runs if it ran.
///
/// # Errors
/// [`InstanceError::Refused`] before anything is touched, else what the new server complains of: then the instance has its old server and
/// data, and runs if it ran.
pub fn upgrade(
    root: &Root,
    name: &InstanceName,
    server: &Installation,
    life: &Life<'_>,
    progress: &mut dyn Progress,
) -> Result<PathBuf, InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    pending::settle(&place)?;
    let record = place.record()?;
    let mut next = record.clone();
    next.server = server.clone();
    let (version, newer) = check(root, &place, &record, &next)?;
    refuse_if_used(root, &place, "upgrade")?;
    let beside = begin_beside(root, &place)?;
    let did_run = State::load(&place)?.live_server().is_some();
    stop_locked(&place, life.within, progress)?;
    let kept = root.kept_dir(name);
    next.before_upgrade = Some(Before { server: record.server, version, data: kept.join("data") });
    let outcome = try_newer(root, &place, &beside.place, &next, &newer, progress)
        .and_then(|()| pending::begin(&place, &next))
        .and_then(|()| exchange_into(&kept, &place, &beside.place.data()))
        .and_then(|()| pending::settle(&place));
    // It takes room that a start may want.
    drop(beside);
    if let Err(error) = &outcome {
        progress.step(&Step::Note(format!("{name} is not upgraded: {error}")));
    }
    if did_run {
        start_locked(root, &place, life.program, life.within, progress)?;
    }
    outcome.map(|()| kept)
}

/// What can be said before anything is touched; gives both versions.
fn check(
    root: &Root,
    place: &Place,
    before: &Record,
    next: &Record,
) -> Result<(String, String), InstanceError> {
    let refuse = |what: String| Err(InstanceError::Refused(format!("upgrade {}: {what}", place.name())));
    if next.server.kind != before.server.kind {
        return refuse("MariaDB and MySQL do not take each other's data; dump and load them".into());
    }
    let version = match place.data_version()? {
        Some(version) => version,
        None => before.server.version()?,
    };
    let newer = next.server.version()?;
    if numbers(&newer) <= numbers(&version) {
        return refuse(format!("its server is {version}, and that one is {newer}, which is not newer"));
    }
    if next.server.kind == Kind::MariaDb {
        next.server.find(UPGRADER)?;
    }
    options_are_known(next, &settle(root, next)?.to_text(), &place.run_dir())?;
    refuse_outside(&place.data(), &format!("upgrade {}", place.name()))?;
    // The new server writes some of its own, and a start wants some.
    let bytes = dir_bytes(&place.data()) + ROOM_BYTES;
    room_for(place.dir(), bytes, &format!("upgrade {}", place.name()))?;
    Ok((version, newer))
}

/// What a server writes at its first start on data.
const ROOM_BYTES: u64 = 256 << 20;

/// What brings the system tables of MariaDB up to date; MySQL's server does that itself.
const UPGRADER: Program = Program { name: "mariadb-upgrade", remedy: "install Debian's mariadb-client" };

/// The numbers of a version, to compare it by.
fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+', '~']).next().unwrap_or(version);
    plain.split('.').map_while(|part| part.parse().ok()).collect()
}

/// The newer server has upgraded a copy of the data, and found nothing wrong.
fn try_newer(
    root: &Root,
    place: &Place,
    beside: &Place,
    next: &Record,
    newer: &str,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let name = place.name();
    progress.step(&Step::Note(format!("copying the data of {name}, {} MiB", dir_bytes(&place.data()) >> 20)));
    copy_dir(&place.data(), &beside.data()).map_err(ServerError::file("copy", place.data()))?;
    progress.step(&Step::Note(format!("trying {newer} on the copy")));
    let scratch = Scratch::start(root, beside, next)?;
    if next.server.kind == Kind::MariaDb {
        let program = next.server.find(UPGRADER)?;
        let mut command = tool::tied(&program, None);
        command.arg(format!("--defaults-file={}", beside.client_file().display())).arg("--skip-write-binlog");
        tool::run(&mut command, &program, &beside.dir().join("upgrade.log"), "upgrade the system tables")?;
    }
    scratch.stop()?;
    let tables = look_at_tables(root, beside, next, progress)?;
    progress.step(&Step::Note(format!("{newer} found nothing wrong in {tables} tables")));
    Ok(())
}

/// The instance has the server and the data from before its upgrade; what was written since is kept beside. Gives where that is.
///
/// # Errors
/// [`InstanceError::Refused`] where it was not upgraded, or is in use.
pub fn downgrade(
    root: &Root,
    name: &InstanceName,
    life: &Life<'_>,
    progress: &mut dyn Progress,
) -> Result<PathBuf, InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    pending::settle(&place)?;
    let mut next = place.record()?;
    let refuse = |what: String| InstanceError::Refused(format!("go back with {name}: {what}"));
    let before = next.before_upgrade.take().ok_or_else(|| refuse("it was not upgraded".into()))?;
    if !before.data.is_dir() {
        return Err(refuse(format!("the data from before, {}, are gone", before.data.display())));
    }
    next.server = before.server;
    let told = before.data.join(VERSION);
    if !told.exists() {
        write_private(&told, &before.version)?;
    }
    options_are_known(&next, &settle(root, &next)?.to_text(), &place.run_dir())?;
    check_one_disk(root, &place)?;
    refuse_if_used(root, &place, "go back with")?;
    let did_run = State::load(&place)?.live_server().is_some();
    stop_locked(&place, life.within, progress)?;
    let kept = root.kept_dir(name);
    let outcome = pending::begin(&place, &next)
        .and_then(|()| exchange_into(&kept, &place, &before.data))
        .and_then(|()| pending::settle(&place));
    if did_run {
        start_locked(root, &place, life.program, life.within, progress)?;
    }
    outcome?;
    let old = before.data.parent().unwrap_or(Path::new("/")).to_owned();
    remove_leftover(&old).map_err(ServerError::file("remove", &old))?;
    Ok(kept)
}

/// Whether there is something to go back to, in words.
///
/// # Errors
/// [`InstanceError::NoInstance`].
pub fn before_upgrade(root: &Root, name: &InstanceName) -> Result<Option<Before>, InstanceError> {
    Ok(root.find(name)?.record()?.before_upgrade.filter(|before| fs::metadata(&before.data).is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("11.8.3-MariaDB-1") > numbers("10.11.14-MariaDB-0+deb12u2"));
        assert!(numbers("10.11.14") > numbers("10.11.9"));
        assert_eq!(numbers("9.7.4-2"), [9, 7, 4]);
    }
}
