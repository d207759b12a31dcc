//! The supervisor of one server: a process that starts it, brings it back and ends it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use nuthatch_server::{ProcessMark, ServerError};
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

use crate::ask::{SOON, Session};
use crate::clock::now_s;
use crate::error::InstanceError;
use crate::host::Host;
use crate::life::crashes::{self, Next};
use crate::life::dump::{Dumps, dump};
use crate::life::ended::Watched;
use crate::life::rotate::rotate;
use crate::life::state::{Phase, State};
use crate::root::{Place, Root};

/// How often a server that starts is asked whether it answers.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How often logs are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// What the supervisor of an instance works with.
struct Supervisor {
    place: Place,
    host: Host,
    program: std::path::PathBuf,
    state: State,
    /// SIGTERM or SIGINT: the server is to end.
    stops: [Signals; 2],
    notify: Option<std::ffi::OsString>,
    _lock: File,
}

/// How a stretch of a server's life ended.
enum Outcome {
    Told,
    Crashed(String),
    NeverAnswered(String),
}

/// Supervises the instance's server until it is told to stop, or the server crashes too often. `notify` is where systemd wants to be told that it
/// answers: sd_notify(3).
///
/// # Errors
/// [`InstanceError::Refused`] where another supervisor is there; [`InstanceError::NotStarted`].
pub async fn supervise(root: &Root, place: &Place, notify: Option<&OsStr>) -> Result<(), InstanceError> {
    let lock = hold(place)?;
    let record = place.record()?;
    let program = record.server.find(record.server.kind.server())?;
    let on = |kind| signal(kind).map_err(ServerError::file("hear signals for", place.dir()));
    let mut supervisor = Supervisor {
        place: place.clone(),
        host: root.host()?,
        program,
        state: State::load(place)?,
        stops: [on(SignalKind::terminate())?, on(SignalKind::interrupt())?],
        notify: notify.map(OsStr::to_owned),
        _lock: lock,
    };
    supervisor.state.supervisor = ProcessMark::of(std::process::id());
    supervisor.run().await
}

/// That nobody else supervises it.
fn hold(place: &Place) -> Result<File, InstanceError> {
    let path = place.run_dir().join("supervisor.lock");
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(&path);
    let file = file.map_err(ServerError::file("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(InstanceError::Refused(format!("supervise {}: another supervisor does", place.name())))
        }
        Err(TryLockError::Error(error)) => Err(ServerError::file("lock", path)(error).into()),
    }
}

impl Supervisor {
    async fn run(&mut self) -> Result<(), InstanceError> {
        let mut left = self.state.live_server().cloned();
        loop {
            let outcome = match left.take() {
                Some(mark) => self.attend(Watched::adopted(mark)).await?,
                None => self.attend(self.start()).await?,
            };
            match outcome {
                Outcome::Told => return self.enter(Phase::Stopped, None),
                Outcome::NeverAnswered(how) => {
                    return self.fail(format!("it ended before it answered ({how})"));
                }
                Outcome::Crashed(how) => match crashes::note(&mut self.state.crashes, now_s()) {
                    Next::GiveUp(why) => return self.fail(format!("{why}, the last time with {how}")),
                    Next::StartAfter(pause) => {
                        tracing::error!(instance = %self.place.name(), how, again_s = pause.as_secs(), "the server crashed");
                        self.enter(Phase::Restarting, Some(format!("it crashed ({how})")))?;
                        tokio::select! {
                            () = told(&mut self.stops) => return self.enter(Phase::Stopped, None),
                            () = tokio::time::sleep(pause) => {}
                        }
                    }
                },
            }
        }
    }

    /// Starts the server's process.
    fn start(&self) -> std::io::Result<Watched> {
        let log = OpenOptions::new().create(true).append(true).mode(0o640).open(self.place.error_log())?;
        let first_words = self.place.init_file();
        let child = Command::new(&self.program)
            .arg(format!("--defaults-file={}", self.place.option_file().display()))
            .args(first_words.exists().then(|| format!("--init-file={}", first_words.display())))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Ctrl-C is for the supervisor, which ends the server.
            .process_group(0)
            .current_dir(self.place.data())
            .spawn()?;
        Watched::child(child)
    }

    /// Sees a server through to its end.
    async fn attend(&mut self, watched: std::io::Result<Watched>) -> Result<Outcome, InstanceError> {
        let mut watched = match watched {
            Ok(watched) => watched,
            Err(error) => return Ok(Outcome::NeverAnswered(error.to_string())),
        };
        self.state.server = Some(watched.mark().clone());
        let is_again = !self.state.crashes.is_empty();
        self.enter(Phase::Starting, self.state.why.clone().filter(|_| is_again))?;
        let version = tokio::select! {
            how = watched.ended() => {
                return Ok(if is_again { Outcome::Crashed(how) } else { Outcome::NeverAnswered(how) });
            }
            () = told(&mut self.stops) => return self.end(watched).await,
            version = answers(&self.place) => version,
        };
        if let Err(error) = self.place.note_data_version(&version) {
            tracing::warn!(%error, "the data do not tell which server they had last");
        }
        self.state.version = version;
        nuthatch_server::remove_file(&self.place.init_file())?;
        self.enter(Phase::Running, self.state.why.clone().filter(|_| is_again))?;
        self.say_ready();
        let mut dumps = Dumps::every(self.host.pool_dump_s);
        loop {
            tokio::select! {
                () = dumps.due() => {
                    if let Err(error) = dump(&self.place).await {
                        tracing::warn!(%error, "the server's buffer pool is not dumped");
                    }
                }
                how = watched.ended() => return Ok(Outcome::Crashed(how)),
                () = told(&mut self.stops) => return self.end(watched).await,
                () = tokio::time::sleep(LOOK_EVERY) => self.rotate_logs().await,
            }
        }
    }

    /// Asks the server to end, and waits for that as long as it takes: what it has not written down yet is worth it.
    async fn end(&mut self, mut watched: Watched) -> Result<Outcome, InstanceError> {
        self.enter(Phase::Stopping, None)?;
        watched.mark().signal(Signal::TERM);
        // One that was paused could not hear it.
        watched.mark().signal(Signal::CONT);
        let how = watched.ended().await;
        tracing::info!(instance = %self.place.name(), how, "the server has stopped");
        Ok(Outcome::Told)
    }

    fn enter(&mut self, phase: Phase, why: Option<String>) -> Result<(), InstanceError> {
        self.state.enter(phase, why);
        if phase == Phase::Stopped {
            (self.state.server, self.state.supervisor) = (None, None);
            self.state.crashes.clear();
        }
        self.state.save(&self.place)
    }

    fn fail(&mut self, why: String) -> Result<(), InstanceError> {
        self.state.enter(Phase::Failed, Some(why.clone()));
        (self.state.server, self.state.supervisor) = (None, None);
        self.state.save(&self.place)?;
        let log_tail = nuthatch_server::errors_or_tail(&self.place.error_log());
        Err(InstanceError::NotStarted { name: self.place.name().clone(), what: why, log_tail })
    }

    async fn rotate_logs(&self) {
        let (bytes_max, kept) = (self.host.log_mib_max << 20, self.host.logs_kept);
        for (log, reopen) in
            [(self.place.error_log(), "FLUSH ERROR LOGS"), (self.place.slow_log(), "FLUSH SLOW LOGS")]
        {
            match rotate(&log, bytes_max, kept) {
                Ok(false) => {}
                Ok(true) => {
                    let reopened = async { Session::open(&self.place).await?.ask(reopen, SOON).await };
                    if let Err(error) = reopened.await {
                        tracing::warn!(log = %log.display(), %error, "the server goes on writing to the log that was put aside");
                    }
                }
                Err(error) => tracing::warn!(log = %log.display(), %error, "cannot rotate the log"),
            }
        }
        // Nobody else has it open.
        if let Err(error) = shorten(&self.place, bytes_max) {
            tracing::warn!(%error, "cannot shorten the supervisor's log");
        }
    }

    fn say_ready(&self) {
        let Some(socket) = &self.notify else { return };
        if let Err(error) = notify(socket, b"READY=1") {
            tracing::warn!(%error, "cannot tell systemd that the server answers");
        }
    }
}

/// Resolves when the supervisor is told to stop.
async fn told(stops: &mut [Signals; 2]) {
    let [terminate, interrupt] = stops;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Resolves when the server answers, to its version.
async fn answers(place: &Place) -> String {
    loop {
        match Session::open(place).await {
            Ok(session) => return session.version().to_owned(),
            Err(error) => tracing::debug!(%error, "the server does not answer yet"),
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// What the supervisor itself says is little; its log is emptied where it became long nevertheless.
fn shorten(place: &Place, bytes_max: u64) -> std::io::Result<()> {
    let log = place.supervisor_log();
    if fs::metadata(&log).map(|found| found.len()).unwrap_or(0) > bytes_max {
        OpenOptions::new().write(true).truncate(true).open(log)?;
    }
    Ok(())
}

fn notify(socket: &OsStr, message: &[u8]) -> std::io::Result<()> {
    let from = UnixDatagram::unbound()?;
    match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => from.send_to_addr(message, &SocketAddr::from_abstract_name(name)?)?,
        None => from.send_to(message, socket)?,
    };
    Ok(())
}
