//! A server on somebody's data for a while: on its socket alone, so that nobody else finds it, and without what would change the data by
//! itself (events, replication).
//!
//! It ends with this process, and then what it worked on is thrown away.

use std::process::{Child, Stdio};
use std::time::Duration;

use nuthatch_net::AnswerTable;
use nuthatch_server::{Deadline, Kind, ServerError, errors_or_tail, make_private_dir};
use rustix::process::{Pid, Signal, kill_process};

use crate::account::Account;
use crate::ask::{PATIENTLY, Session, wait_for};
use crate::error::InstanceError;
use crate::options::layers::{POOL, Source};
use crate::record::Record;
use crate::root::{Place, Root, give_parts};
use crate::settling::{pool_mib, settle_in};
use crate::tool::tied;

/// The most that it takes for its buffer pool, in MiB.
const POOL_MIB_MAX: u64 = 256;

/// How long a start may take: a crash recovery is one.
const START_WITHIN: Duration = Duration::from_secs(3_600);

/// How long a look at one table, or the like, may take.
pub(crate) const AT_LENGTH: Duration = Duration::from_secs(7 * 86_400);

/// A server that runs.
pub(crate) struct Scratch {
    place: Place,
    child: Child,
}

impl Scratch {
    /// The server answers to the root whose password is in the place's file, whatever root the data had.
    pub(crate) fn start(root: &Root, place: &Place, record: &Record) -> Result<Self, InstanceError> {
        let account = Account::of(&root.host()?)?;
        for dir in place.dirs() {
            make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
        }
        place.check_depth()?;
        let kind = record.server.kind;
        place.write(&place.init_file(), &kind.let_root_in(&place.password()?))?;
        place.write(&place.client_file(), &place.client_login(&place.password()?))?;
        place.write(&place.option_file(), &options(root, place, record)?)?;
        give_parts(place.dir(), account.as_ref())?;
        let program = record.server.find(kind.server())?;
        let child = tied(&program, account.as_ref())
            .arg(format!("--defaults-file={}", place.option_file().display()))
            .arg(format!("--init-file={}", place.init_file().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(place.data())
            .spawn()
            .map_err(ServerError::file("run", &program))?;
        let mut scratch = Self { place: place.clone(), child };
        scratch.await_answer()?;
        nuthatch_server::remove_file(&place.init_file())?;
        Ok(scratch)
    }

    fn await_answer(&mut self) -> Result<(), InstanceError> {
        let look = || {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(Err(format!("it ended with {status}")));
            }
            let session = wait_for(Session::open(&self.place)).ok()?;
            Some(Ok(session.version().to_owned()))
        };
        match Deadline::after(START_WITHIN).poll(look) {
            Some(Ok(version)) => self.place.note_data_version(&version),
            Some(Err(what)) => Err(self.not_started(what)),
            None => Err(self.not_started("it does not answer".into())),
        }
    }

    fn not_started(&self, what: String) -> InstanceError {
        let log_tail = errors_or_tail(&self.place.error_log());
        InstanceError::NotStarted { name: self.place.name().clone(), what, log_tail }
    }

    /// The answer to a statement.
    pub(crate) fn ask(&self, sql: &str) -> Result<AnswerTable, InstanceError> {
        self.ask_within(sql, PATIENTLY)
    }

    /// A connection to it.
    pub(crate) async fn session(&self) -> Result<Session, InstanceError> {
        Session::open(&self.place).await
    }

    /// The answer to a statement that may take long.
    pub(crate) fn ask_within(&self, sql: &str, within: Duration) -> Result<AnswerTable, InstanceError> {
        wait_for(async { Session::open(&self.place).await?.ask(sql, within).await })
    }

    /// The first value of an answer.
    pub(crate) fn ask_one(&self, sql: &str) -> Result<String, InstanceError> {
        Ok(self.ask(sql)?.texts().next().map(|[value]| value).unwrap_or_default())
    }

    /// It has ended, with all on the disk.
    pub(crate) fn stop(mut self) -> Result<(), InstanceError> {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
            && let Err(error) = kill_process(pid, Signal::TERM)
        {
            tracing::debug!(%error, "the server ended before it was told to");
        }
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.not_started(format!("it ended with {status} when it was to stop"))),
            Err(error) => Err(ServerError::file("wait for", self.place.dir())(error).into()),
        }
    }
}

impl Drop for Scratch {
    /// What it has not written down is not wanted any more.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

fn options(root: &Root, place: &Place, record: &Record) -> Result<String, InstanceError> {
    let mut settings = settle_in(root, place, record)?;
    settings.forget_paths();
    let pool_mib = pool_mib(&settings).unwrap_or(POOL_MIB_MAX).min(POOL_MIB_MAX);
    let (replication, pool) = match record.server.kind {
        Kind::MariaDb => ("skip_slave_start", format!("{pool_mib}M")),
        Kind::MySql => ("skip_replica_start", format!("{pool_mib}M")),
    };
    let fixed = [
        ("skip_networking", "ON"),
        (replication, "ON"),
        ("event_scheduler", "OFF"),
        ("read_only", "OFF"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        // The file of the backup is of the pages that were used.
        ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
        ("slow_query_log", "OFF"),
        ("general_log", "OFF"),
        ("log_bin", "binlog"),
        ("relay_log", "relay"),
        (POOL, &pool),
    ];
    for (name, value) in fixed {
        settings.put(name, Some(value.to_owned()), Source::Place);
    }
    if record.server.kind == Kind::MySql {
        settings.put("super_read_only", Some("OFF".into()), Source::Place);
    }
    Ok(settings.to_text())
}
