//! Starting and stopping single servers of a lab.
//!
//! A server is started in a process group of its own, so that Ctrl-C in a terminal does not reach it, and its
//! process is written down before it is waited for.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use nuthatch_server::{Deadline, ProcessMark, write_private};

use crate::config_file::server_config;
use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::options::Options;
use crate::port;
use crate::progress::{Progress, Silent, Step};
use crate::role::Role;
use crate::state::State;

/// Times that another port is tried when the chosen one was taken before the server could bind it.
const PORT_TRIES: u32 = 5;

/// How long a restarted server may take to answer.
pub(crate) const RESTART_WITHIN: Duration = Duration::from_secs(180);

/// How long a server may take to stop by itself, and then to vanish when killed.
const STOP_WITHIN: Duration = Duration::from_secs(30);
const KILL_WITHIN: Duration = Duration::from_secs(10);

impl Lab {
    /// The server runs again with its port, options and data. One that was told of a source follows it
    /// again, if that answers. Nothing is done to one that runs.
    ///
    /// # Errors
    /// [`LabError::Exited`], for one when its port was taken meanwhile; [`LabError::NotReady`].
    pub fn start(&mut self, role: Role) -> Result<()> {
        let _lock = self.layout.lock()?;
        self.state = State::load(&self.layout)?;
        if self.server(role)?.pid().is_some() {
            return Ok(());
        }
        self.spawn(role)?;
        self.await_answer(role, RESTART_WITHIN)?;
        match self.state.cluster {
            None => self.resume_replication(role, RESTART_WITHIN),
            Some(_) => self.rejoin(role, RESTART_WITHIN),
        }
    }

    /// The server has ended as it does when asked to; nothing is done to one that does not run.
    ///
    /// # Errors
    /// [`LabError::StillRunning`].
    pub fn stop(&mut self, role: Role) -> Result<()> {
        let _lock = self.layout.lock()?;
        self.state = State::load(&self.layout)?;
        self.stop_servers(&[role], &mut Silent)
    }

    /// The server was killed (SIGKILL), as in a crash, and has ended.
    ///
    /// # Errors
    /// [`LabError::StillRunning`], [`LabError::NoSuchServer`].
    pub fn kill(&mut self, role: Role) -> Result<()> {
        let _lock = self.layout.lock()?;
        self.state = State::load(&self.layout)?;
        let Some(mark) = self.server_state(role)?.process.clone() else { return Ok(()) };
        self.kill_and_wait(role, &mark)?;
        self.sync_relays()
    }

    /// The server runs no further until [`thaw`](Self::thaw), none of its threads: connections to it hang, as with a host that
    /// went away.
    ///
    /// # Errors
    /// [`LabError::StillRunning`], [`LabError::NoSuchServer`].
    pub fn freeze(&self, role: Role) -> Result<()> {
        let Some(mark) = self.process_now(role)? else { return Ok(()) };
        mark.signal(Signal::STOP);
        let stopped =
            Deadline::after(KILL_WITHIN).poll(|| (mark.stands_still() || !mark.is_alive()).then_some(()));
        stopped.ok_or(LabError::StillRunning { role, pid: mark.pid() })
    }

    /// A frozen server goes on.
    ///
    /// # Errors
    /// [`LabError::NoSuchServer`].
    pub fn thaw(&self, role: Role) -> Result<()> {
        if let Some(mark) = self.process_now(role)? {
            mark.signal(Signal::CONT);
        }
        Ok(())
    }

    /// The server's process, also where another handle on this lab has started it.
    fn process_now(&self, role: Role) -> Result<Option<ProcessMark>> {
        Ok(Self::open(self.dir())?.server_state(role)?.process.clone())
    }

    /// Writes the server's option file and starts it, on another port if its own was taken.
    pub(crate) fn start_anew(
        &mut self,
        role: Role,
        options: &Options,
        progress: &mut dyn Progress,
    ) -> Result<()> {
        for tries_left in (0..PORT_TRIES).rev() {
            self.choose_port(role)?;
            let config = server_config(&self.layout, &self.state, self.server_state(role)?, options)?;
            write_private(&self.layout.server_config(role), &config)?;
            progress.step(&Step::Starting(role));
            let port = self.server_state(role)?.port;
            match self.spawn(role).and_then(|()| self.await_answer(role, options.ready_within)) {
                Err(LabError::Exited { log_tail, .. }) if tries_left > 0 && names_taken_port(&log_tail) => {
                    progress.step(&Step::PortTaken(role, port));
                }
                outcome => {
                    outcome?;
                    progress.step(&Step::Ready(role, port));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn choose_port(&mut self, role: Role) -> Result<()> {
        let dir = self.dir().to_owned();
        let server = self.server_state_mut(role)?;
        let mut ports = vec![&mut server.port];
        if let Some((always, catching_up)) = &mut server.cluster_ports {
            ports.extend([always, catching_up]);
        }
        for port in ports.into_iter().filter(|port| !port::is_free(**port)) {
            *port = port::claim(&dir).map_err(LabError::file("find a port for the lab in", &dir))?;
        }
        Ok(())
    }

    /// Starts the server's process and writes it down.
    pub(crate) fn spawn(&mut self, role: Role) -> Result<()> {
        let program = self.state.installation.find(self.state.installation.kind.server())?;
        let log = self.layout.error_log(role);
        let config = self.layout.server_config(role);
        let dir = self.layout.server(role);
        let words = self.cluster_start(role)?;
        let start = || {
            keep_previous(&log)?;
            let output = OpenOptions::new().create(true).append(true).mode(0o600).open(&log)?;
            Command::new(&program)
                .arg(format!("--defaults-file={}", config.display()))
                .args(words.argument)
                .stdin(Stdio::null())
                .stdout(output.try_clone()?)
                .stderr(output)
                .process_group(0)
                .current_dir(&dir)
                .envs(words.path.iter().map(|path| ("PATH", path)))
                .envs(self.state.environment.iter().map(|(name, value)| (name, value)))
                .spawn()
        };
        let child = start().map_err(LabError::file("start", &program))?;
        self.server_state_mut(role)?.process = ProcessMark::of(child.id());
        self.state.save(&self.layout)
    }

    /// Waits until the server answers, and learns its version.
    pub(crate) fn await_answer(&mut self, role: Role, wait: Duration) -> Result<()> {
        let server = self.server_state(role)?;
        let client = self.client(server)?;
        let mut reason = String::from("it does not listen on its socket");
        let mut look = || {
            if !server.process.as_ref().is_some_and(ProcessMark::is_alive) {
                return Some(None);
            }
            UnixStream::connect(&server.socket).ok()?;
            match client.look("SELECT VERSION()") {
                Ok(rows) => Some(Some(rows.first().unwrap_or_default().to_owned())),
                Err(error) => {
                    reason = error.to_string();
                    None
                }
            }
        };
        let outcome = Deadline::after(wait).poll(&mut look);
        let log_tail = self.layout.log_tail(role);
        match outcome {
            Some(Some(version)) => {
                self.server_state_mut(role)?.version = version;
                self.state.save(&self.layout)?;
                self.sync_relays()
            }
            Some(None) => Err(LabError::Exited { role, log_tail }),
            None => Err(LabError::NotReady { role, waited_s: wait.as_secs(), reason, log_tail }),
        }
    }

    /// Ends these servers: asks all, waits for all, kills those that are left.
    pub(crate) fn stop_servers(&mut self, roles: &[Role], progress: &mut dyn Progress) -> Result<()> {
        let mut stopping = Vec::new();
        for role in roles.iter().copied() {
            match self.server_state(role)?.process.clone().filter(ProcessMark::is_alive) {
                None => progress.step(&Step::NotRunning(role)),
                Some(mark) => {
                    progress.step(&Step::Stopping(role));
                    mark.signal(Signal::TERM);
                    // A frozen one could not hear it.
                    mark.signal(Signal::CONT);
                    stopping.push((role, mark));
                }
            }
        }
        let deadline = Deadline::after(STOP_WITHIN);
        for (role, mark) in &stopping {
            if deadline.poll(|| (!mark.is_alive()).then_some(())).is_none() {
                progress.step(&Step::Killing(*role));
                self.kill_and_wait(*role, mark)?;
            }
        }
        for role in roles {
            self.server_state_mut(*role)?.process = None;
        }
        self.state.save(&self.layout)?;
        // One that is gone has ended with its host, and relays nothing.
        if let Err(error) = self.sync_relays() {
            tracing::debug!(%error, "the relay does not hear of servers that have stopped");
        }
        Ok(())
    }

    pub(crate) fn kill_and_wait(&self, role: Role, mark: &ProcessMark) -> Result<()> {
        mark.signal(Signal::KILL);
        let gone = Deadline::after(KILL_WITHIN).poll(|| (!mark.is_alive()).then_some(()));
        gone.ok_or(LabError::StillRunning { role, pid: mark.pid() })
    }
}

/// Both servers' words: "Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use" and
/// the like.
fn names_taken_port(log_tail: &str) -> bool {
    log_tail.contains("Bind on TCP/IP port")
}

/// Moves the log of the start before out of the way, so that an error shows words of this start only.
fn keep_previous(log: &std::path::Path) -> io::Result<()> {
    match fs::rename(log, log.with_extension("log.before")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
