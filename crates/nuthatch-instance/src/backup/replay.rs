//! Doing archived binlogs again, up to a moment.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use nuthatch_server::{Installation, Kind, Program, ServerError, make_private_dir, remove_leftover};

use crate::backup::archive::{Archived, history_with};
use crate::backup::manifest::Manifest;
use crate::backup::pace::{Meter, Pace, pump};
use crate::backup::sealed::SealedReader;
use crate::clock::stamp;
use crate::error::InstanceError;
use crate::progress::{Progress, Step};
use crate::root::Place;
use crate::tool::{Running, tied};

/// Up to where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// All that is archived.
    End,
    /// Seconds since 1970: what was committed before.
    Time(u64),
    /// `MariaDB`'s GTID: this transaction is the last.
    Gtid(String),
}

/// The server on the place's socket has done it all.
pub(crate) fn replay(
    place: &Place,
    server: &Installation,
    manifest: &Manifest,
    archived: &Path,
    until: &Until,
    identity: Option<&Path>,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    if manifest.binlog_file.is_empty() {
        return Err(InstanceError::Refused(
            "do binlogs again: the server had none when it was backed up, or none with GTIDs".into(),
        ));
    }
    let history = history_with(archived, &manifest.binlog_file, manifest.binlog_begun)?.ok_or_else(|| {
        InstanceError::Refused(format!(
            "do binlogs again: {}, in which the backup ends, is not archived in {}; nuthatch instance archive copies them",
            manifest.binlog_file,
            archived.display()
        ))
    })?;
    let files = Archived::from(&history, &manifest.binlog_file)?;
    check_reach(&files, until)?;
    let dir = place.dir().join("replay");
    make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    let mut paths = Vec::new();
    for one in &files {
        let path = dir.join(&one.name);
        let from = File::open(&one.path).map_err(ServerError::file("read", &one.path))?;
        let mut to = File::create(&path).map_err(ServerError::file("write", &path))?;
        let mut from = SealedReader::new(Box::new(from), identity)?;
        std::io::copy(&mut from, &mut to).map_err(ServerError::file("read", &one.path))?;
        paths.push(path);
    }
    let names = match files.as_slice() {
        [] => return Ok(()),
        [one] => one.name.clone(),
        [first, .., last] => format!("{} to {}", first.name, last.name),
    };
    progress.step(&Step::Note(format!("{}: doing {names} again", place.name())));
    run(place, server, manifest, &paths, until, progress)?;
    remove_leftover(&dir).map_err(ServerError::file("remove", &dir))?;
    Ok(())
}

/// What can be said before anything is unpacked.
pub(crate) fn check(manifest: &Manifest, until: &Until) -> Result<(), InstanceError> {
    let refuse = |what: String| Err(InstanceError::Refused(what));
    match until {
        Until::Time(wanted) if manifest.ended_s >= *wanted => refuse(format!(
            "come back to {}: the backup was taken later, at {}; name an earlier one",
            stamp(*wanted),
            stamp(manifest.ended_s)
        )),
        Until::Gtid(wanted) => {
            let domain = |gtid: &str| gtid.split('-').next().map(str::to_owned);
            let named: Vec<_> = wanted.split(',').map(domain).collect();
            match manifest.gtid.split(',').find(|one| !one.is_empty() && !named.contains(&domain(one))) {
                Some(one) => refuse(format!(
                    "stop at {wanted}: the server has other domains too, and what they wrote would be left out; name a GTID of each (such as {one})"
                )),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// A moment that the archive does not reach is one that cannot be come back to.
fn check_reach(files: &[Archived], until: &Until) -> Result<(), InstanceError> {
    let Until::Time(wanted) = until else { return Ok(()) };
    let reached = files.iter().map(|one| one.archived_s).max().unwrap_or(0);
    if *wanted <= reached {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "come back to {}: binlogs are archived up to {}; archive what came later first (nuthatch instance archive), or say --until end",
        stamp(*wanted),
        stamp(reached)
    )))
}

/// The tool reads the files and writes statements, the client sends these.
fn run(
    place: &Place,
    server: &Installation,
    manifest: &Manifest,
    files: &[PathBuf],
    until: &Until,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let reader_program = server.find(reader(server.kind))?;
    let mut command = tied(&reader_program, None);
    command
        .env("TZ", "UTC")
        .arg("--no-defaults")
        .arg(format!("--start-position={}", manifest.binlog_position.max(4)));
    match until {
        Until::End => {}
        Until::Time(seconds) => {
            command.arg(format!("--stop-datetime={}", as_datetime(*seconds)));
        }
        Until::Gtid(gtid) if server.kind == Kind::MariaDb => {
            command.arg(format!("--stop-position={gtid}"));
        }
        Until::Gtid(_) => {
            return Err(InstanceError::Refused(
                "stop at a GTID: MySQL's mysqlbinlog cannot; name a time".into(),
            ));
        }
    }
    command.args(files).stdout(Stdio::piped());
    let client_program = server.find(server.kind.client())?;
    let mut client = tied(&client_program, None);
    client
        .arg(format!("--defaults-file={}", place.client_file().display()))
        .arg("--binary-mode")
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut reading = Running::start(&mut command, &reader_program, &place.dir().join("reading.log"))?;
    let mut doing = Running::start(&mut client, &client_program, &place.dir().join("doing.log"))?;
    let total = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|found| found.len()).sum();
    let mut meter = Meter::new(format!("replay {}", place.name()), Some(total), progress);
    if let (Some(mut from), Some(mut to)) = (reading.child().stdout.take(), doing.child().stdin.take()) {
        // Whoever ended says why.
        drop(pump(&mut from, &mut to, &Pace::new(None), &mut meter));
    }
    meter.end();
    doing.done("do the binlogs again")?;
    reading.done("read the binlogs")?;
    for log in ["reading.log", "doing.log"] {
        nuthatch_server::remove_file(&place.dir().join(log))?;
    }
    Ok(())
}

fn reader(kind: Kind) -> Program {
    match kind {
        Kind::MariaDb => Program { name: "mariadb-binlog", remedy: "install Debian's mariadb-client" },
        Kind::MySql => Program { name: "mysqlbinlog", remedy: kind.client().remedy },
    }
}

/// As the tools read it, in UTC.
fn as_datetime(seconds: u64) -> String {
    let stamp = stamp(seconds);
    let part = |from: usize, to: usize| stamp.get(from..to).unwrap_or_default();
    let (day, time) = ([part(0, 4), part(4, 6), part(6, 8)], [part(9, 11), part(11, 13), part(13, 15)]);
    format!("{} {}", day.join("-"), time.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moment_is_written_as_the_tools_read_it() {
        assert_eq!(as_datetime(1_795_945_946), "2026-11-29 09:52:26");
    }
}
