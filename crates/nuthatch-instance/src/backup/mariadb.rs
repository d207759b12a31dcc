//! Backups of MariaDB: `mariadb-backup` copies its files while it runs, with the log of what is written meanwhile.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use nuthatch_server::ServerError;

use crate::ask::{Session, wait_for};
use crate::backup::archive::{begun_of, binlog_dir};
use crate::backup::job::Job;
use crate::backup::manifest::Manifest;
use crate::backup::pace::{Meter, pump};
use crate::backup::store::Backup;
use crate::backup::unpack::LAST_FILE;
use crate::clock::now_s;
use crate::error::InstanceError;
use crate::tool::{MARIADB_BACKUP, MBSTREAM, Running, tied};

/// What the tool tells of a backup, under its names before and since 11.1.
const INFO: [&str; 2] = ["xtrabackup_info", "mariadb_backup_info"];

/// Streams the files, then the manifest as one more.
pub(crate) fn stream(
    job: &Job,
    base: Option<&Backup>,
    manifest: &mut Manifest,
    to: &mut dyn Write,
    meter: &mut Meter<'_>,
) -> Result<(), InstanceError> {
    let program = job.record.server.find(MARIADB_BACKUP)?;
    let mut command = tied(&program, job.account.as_ref());
    command
        .arg(format!("--defaults-file={}", job.place.client_file().display()))
        .args(["--backup", "--stream=mbstream"])
        .arg(format!("--target-dir={}", job.dir.join("target").display()))
        .arg(format!("--extra-lsndir={}", job.dir.display()))
        .stdout(Stdio::piped());
    if let Some(lsn) = base.and_then(|base| base.manifest.to_lsn) {
        command.arg(format!("--incremental-lsn={lsn}"));
    }
    let mut tool = Running::start(&mut command, &program, &job.own.join("log"))?;
    if let Some(mut from) = tool.child().stdout.take()
        && let Err(error) = pump(&mut from, to, &job.pace, meter)
    {
        return Err(ServerError::file("write the backup of", job.place.dir())(error).into());
    }
    tool.done("take the backup")?;
    read_info(&job.dir, manifest)?;
    if !manifest.binlog_file.is_empty() {
        let dir = wait_for(async { binlog_dir(&mut Session::open(&job.place).await?, &job.place).await })?;
        manifest.binlog_begun = begun_of(&dir.join(&manifest.binlog_file))?;
    }
    manifest.ended_s = now_s();
    append_manifest(job, manifest, to, meter)
}

/// What the tool tells of the backup.
fn read_info(dir: &Path, manifest: &mut Manifest) -> Result<(), InstanceError> {
    let path = INFO.map(|name| dir.join(name)).into_iter().find(|path| path.exists()).unwrap_or_default();
    let text =
        fs::read_to_string(&path).map_err(ServerError::file("read what mariadb-backup tells in", &path))?;
    let info = Info::parse(&text).map_err(|what| InstanceError::BadFile { path, what })?;
    manifest.to_lsn = Some(info.to_lsn);
    (manifest.binlog_file, manifest.binlog_position, manifest.gtid) = (info.file, info.position, info.gtid);
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Info {
    to_lsn: u64,
    file: String,
    position: u64,
    gtid: String,
}

impl Info {
    fn parse(text: &str) -> Result<Self, String> {
        let of =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix("= "));
        let to_lsn = of("innodb_to_lsn").and_then(|lsn| lsn.trim().parse().ok());
        let mut info = Self { to_lsn: to_lsn.ok_or("it names no innodb_to_lsn")?, ..Self::default() };
        // `filename 'binlog.000001', position '619', GTID of the last change '0-1-2'`; nothing where there is no binlog.
        let quoted: Vec<&str> = of("binlog_pos").unwrap_or_default().split('\'').skip(1).step_by(2).collect();
        if let [file, position, rest @ ..] = quoted.as_slice() {
            (info.file, info.position) = ((*file).to_owned(), position.parse().unwrap_or(4));
            info.gtid = rest.first().map(|gtid| gtid.replace(char::is_whitespace, "")).unwrap_or_default();
        }
        Ok(info)
    }
}

/// One stream behind another is a stream.
fn append_manifest(
    job: &Job,
    manifest: &mut Manifest,
    to: &mut dyn Write,
    meter: &mut Meter<'_>,
) -> Result<(), InstanceError> {
    let file = job.own.join(LAST_FILE);
    fs::write(&file, manifest.to_text()?).map_err(ServerError::file("write", &file))?;
    let program = job.record.server.find(MBSTREAM)?;
    let mut command = tied(&program, None);
    command.current_dir(&job.own).args(["-c", LAST_FILE]).stdout(Stdio::piped());
    let mut tool = Running::start(&mut command, &program, &job.own.join("log"))?;
    if let Some(mut from) = tool.child().stdout.take() {
        pump(&mut from, to, &job.pace, meter)
            .map_err(ServerError::file("write the backup of", job.place.dir()))?;
    }
    tool.done("end the stream")
}

/// The files become a data directory: what was written while they were copied is done again, or undone.
pub(crate) fn prepare(
    server: &nuthatch_server::Installation,
    data: &Path,
    increment: Option<&Path>,
    log: &Path,
) -> Result<(), InstanceError> {
    let program = server.find(MARIADB_BACKUP)?;
    let mut command = tied(&program, None);
    command.args(["--prepare"]).arg(format!("--target-dir={}", data.display()));
    if let Some(increment) = increment {
        command.arg(format!("--incremental-dir={}", increment.display()));
    }
    crate::tool::run(&mut command, &program, log, "make the backup's files a data directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_in_the_binlog_is_read() {
        let text = "uuid = x\nbinlog_pos = filename 'binlog.000003', position '619', GTID of the last change '0-1-2,1-2-9'\n\
                    innodb_from_lsn = 0\ninnodb_to_lsn = 44878\n";
        let wanted =
            Info { to_lsn: 44878, file: "binlog.000003".into(), position: 619, gtid: "0-1-2,1-2-9".into() };
        assert_eq!(Info::parse(text).unwrap(), wanted);
        assert_eq!(
            Info::parse("binlog_pos = \ninnodb_to_lsn = 7\n").unwrap(),
            Info { to_lsn: 7, ..Info::default() }
        );
        assert!(Info::parse("").is_err());
    }
}
