//! Who runs the relays of a lab: a thread of this process, or a process of their own.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use nuthatch_server::{Deadline, ProcessMark, tail};

use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::options::{Options, Relays};
use crate::relay::Relay;

/// How long a relay may take to answer, and to end.
const READY_WITHIN: Duration = Duration::from_secs(30);
const END_WITHIN: Duration = Duration::from_secs(10);

/// Relays for the lab in `dir` until it is brought down: what `nuthatch lab relay` is.
///
/// # Errors
/// [`LabError::NoRelays`], [`LabError::Relay`], or what is wrong with the lab.
pub fn relay(dir: &Path) -> Result<()> {
    Relay::open(dir)?.run()
}

impl Lab {
    /// The relay answers, if this lab has one; one that answers already is left alone.
    pub(crate) fn start_relays(&mut self, options: &Options) -> Result<()> {
        if self.state.relay_socket.is_none() || self.sync_relays().is_ok() {
            return Ok(());
        }
        match &options.relays {
            Relays::Off => Ok(()),
            Relays::Here => self.relay_here(),
            Relays::Program(program) => self.relay_by(program),
        }
    }

    fn relay_here(&self) -> Result<()> {
        let relay = Relay::open(self.dir())?;
        let body = || {
            if let Err(error) = relay.run() {
                tracing::error!(%error, "the relay of a lab has failed");
            }
        };
        let spawned = thread::Builder::new().name("lab-relay".into()).spawn(body);
        spawned.map_err(LabError::file("start the relay of", self.dir()))?;
        self.sync_relays()
    }

    fn relay_by(&mut self, program: &Path) -> Result<()> {
        let log = self.layout.relay_log();
        let start = || {
            let output = OpenOptions::new().create(true).append(true).mode(0o600).open(&log)?;
            Command::new(program)
                .args(["lab", "relay"])
                .arg(self.dir())
                .stdin(Stdio::null())
                .stdout(output.try_clone()?)
                .stderr(output)
                .process_group(0)
                .spawn()
        };
        let child = start().map_err(LabError::file("start", program))?;
        let mark = ProcessMark::of(child.id());
        self.state.relay_process.clone_from(&mark);
        self.state.save(&self.layout)?;
        let is_alive = || mark.as_ref().is_some_and(ProcessMark::is_alive);
        let answered = Deadline::after(READY_WITHIN).poll(|| match self.sync_relays() {
            Ok(()) => Some(true),
            Err(_) if is_alive() => None,
            Err(_) => Some(false),
        });
        if answered == Some(true) {
            return Ok(());
        }
        Err(LabError::Relay { reason: format!("it does not answer; end of its log:\n{}", tail(&log)) })
    }

    /// No relay of this lab is left.
    pub(crate) fn end_relays(&mut self) -> Result<()> {
        if self.state.relay_socket.is_none() {
            return Ok(());
        }
        if let Err(error) = self.tell_relays_to_end() {
            tracing::debug!(%error, "the relay has ended before");
        }
        if let Some(mark) = self.state.relay_process.take() {
            let gone = || (!mark.is_alive()).then_some(());
            if Deadline::after(END_WITHIN).poll(gone).is_none() {
                mark.signal(Signal::KILL);
                let killed = Deadline::after(END_WITHIN).poll(gone);
                killed.ok_or(LabError::Relay { reason: format!("process {} does not end", mark.pid()) })?;
            }
        }
        self.state.save(&self.layout)
    }
}
