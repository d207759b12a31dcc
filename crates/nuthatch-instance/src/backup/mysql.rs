//! Backups of MySQL: its clone plugin makes a copy of its data beside them while it runs, and that is streamed.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nuthatch_server::ServerError;

use crate::ask::{PATIENTLY, SOON, Session, wait_for};
use crate::backup::archive::{begun_of, binlog_dir};
use crate::backup::job::{Job, data_bytes};
use crate::backup::manifest::Manifest;
use crate::backup::pace::{Meter, Pace, pump};
use crate::backup::unpack::LAST_FILE;
use crate::clock::now_s;
use crate::error::InstanceError;
use crate::scratch::AT_LENGTH;

/// Where MySQL keeps what SET PERSIST has set.
const PERSISTED: &str = "mysqld-auto.cnf";

/// How often it is looked at how far the server has come.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How many looks a clone that nobody waits for has to end.
const ENDS_WITHIN: u32 = 150;

/// Streams the files, then the manifest as one more.
pub(crate) fn stream(
    job: &Job,
    manifest: &mut Manifest,
    to: &mut dyn Write,
    meter: &mut Meter<'_>,
) -> Result<(), InstanceError> {
    job.need_room(data_bytes(&job.place.data()))?;
    wait_for(begin(job, manifest))?;
    let copy = job.dir.join("copy");
    copy_beside(job, &copy, meter)?;
    manifest.ended_s = now_s();
    meter.set(0);
    let packed = |error| ServerError::file("write the backup of", job.place.dir())(error);
    let mut tar = tar::Builder::new(Pumped { to, pace: &job.pace, meter });
    tar.append_dir_all(".", &copy).map_err(packed)?;
    // What SET PERSIST has written is no table.
    let persisted = job.place.data().join(PERSISTED);
    if persisted.exists() {
        let packed = |error| ServerError::file("write the backup of", job.place.dir())(error);
        tar.append_path_with_name(&persisted, PERSISTED).map_err(packed)?;
    }
    let text = manifest.to_text()?;
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o600);
    let packed = |error| ServerError::file("write the backup of", job.place.dir())(error);
    tar.append_data(&mut header, LAST_FILE, text.as_bytes()).map_err(packed)?;
    let packed = |error| ServerError::file("write the backup of", job.place.dir())(error);
    tar.finish().map_err(packed)?;
    Ok(())
}

/// The plugin is there, and it is known from where on later changes are in the binlog.
async fn begin(job: &Job, manifest: &mut Manifest) -> Result<(), InstanceError> {
    let mut session = Session::open(&job.place).await?;
    refuse_other_engines(&mut session, job).await?;
    end_abandoned(&mut session, job).await?;
    let there = "SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'clone'";
    if session.ask(there, SOON).await?.rows.is_empty() {
        session.ask("INSTALL PLUGIN clone SONAME 'mysql_clone.so'", SOON).await?;
    }
    let gtid = session.ask("SELECT @@GLOBAL.gtid_executed", SOON).await?;
    manifest.gtid =
        gtid.texts().next().map(|[gtid]| gtid.replace(char::is_whitespace, "")).unwrap_or_default();
    let mode = session.ask("SELECT @@GLOBAL.gtid_mode", SOON).await?;
    let has_gtids = mode.texts().any(|[mode]: [String; 1]| mode == "ON");
    let binlog = session.ask("SHOW BINARY LOG STATUS", SOON).await?;
    // Without GTIDs nobody could tell what of a binlog is in the backup already.
    if has_gtids && let Some([file, _position]) = binlog.texts().next() {
        // What is in there of before is known by its GTID, and passed over.
        manifest.binlog_begun = begun_of(&binlog_dir(&mut session, &job.place).await?.join(&file))?;
        (manifest.binlog_file, manifest.binlog_position) = (file, 4);
    }
    Ok(())
}

/// The plugin copies InnoDB's tables, and leaves all others empty without a word.
async fn refuse_other_engines(session: &mut Session, job: &Job) -> Result<(), InstanceError> {
    let others = session
        .ask(
            "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, ' (', ENGINE, ')') FROM information_schema.TABLES \
             WHERE TABLE_TYPE = 'BASE TABLE' AND ENGINE IS NOT NULL AND ENGINE NOT IN ('InnoDB', 'MEMORY', 'BLACKHOLE') \
             AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') LIMIT 10",
            PATIENTLY,
        )
        .await?;
    let others: Vec<String> = others.texts().map(|[table]| table).collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "back up {}: MySQL's clone plugin copies InnoDB's tables alone, and these are others: {}",
        job.place.name(),
        others.join(", ")
    )))
}

/// A server goes on cloning for somebody who was killed, into the directory that is ours now.
async fn end_abandoned(session: &mut Session, job: &Job) -> Result<(), InstanceError> {
    let into = job.dir.display().to_string().replace('\'', "''");
    let find = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CLONE LOCAL DATA DIRECTORY%{into}%' AND ID <> CONNECTION_ID()"
    );
    for _ in 0..ENDS_WITHIN {
        let threads: Vec<String> = session.ask(&find, SOON).await?.texts().map(|[id]| id).collect();
        if threads.is_empty() {
            return Ok(());
        }
        for id in threads {
            if let Err(error) = session.ask(&format!("KILL {id}"), SOON).await {
                tracing::debug!(%error, "the clone has ended by itself");
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(InstanceError::Refused(format!(
        "back up {}: its server still clones for an earlier backup, which was killed; try again in a minute",
        job.place.name()
    )))
}

fn copy_beside(job: &Job, copy: &Path, meter: &mut Meter<'_>) -> Result<(), InstanceError> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let cloning = scope.spawn(|| {
            let outcome = wait_for(clone(job, copy));
            is_over.store(true, Ordering::Release);
            outcome
        });
        while !is_over.load(Ordering::Acquire) {
            std::thread::sleep(LOOK_EVERY);
            meter.set(data_bytes(copy));
        }
        cloning
            .join()
            .map_err(|_panic| InstanceError::Refused("take the backup: a thread of ours panicked".into()))?
    })
}

async fn clone(job: &Job, copy: &Path) -> Result<(), InstanceError> {
    let mut session = Session::open(&job.place).await?;
    let mib = job.pace.bytes_per_s().map(|bytes| bytes.div_ceil(1 << 20).to_string());
    let limit = mib.as_deref().unwrap_or("DEFAULT");
    session.ask(&format!("SET GLOBAL clone_max_data_bandwidth = {limit}"), SOON).await?;
    let path = copy.display().to_string().replace('\'', "''");
    let cloned = session.ask(&format!("CLONE LOCAL DATA DIRECTORY = '{path}'"), AT_LENGTH).await;
    session.ask("SET GLOBAL clone_max_data_bandwidth = DEFAULT", SOON).await?;
    cloned.map(drop)
}

/// Bytes on their way, at the pace of all.
struct Pumped<'a, 'b> {
    to: &'a mut dyn Write,
    pace: &'a Pace,
    meter: &'a mut Meter<'b>,
}

impl Write for Pumped<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        pump(&mut &bytes[..], self.to, self.pace, self.meter)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}
