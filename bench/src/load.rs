//! A closed-loop load generator that costs as little as the server, so that the server is what saturates.
//!
//! One thread, level-triggered epoll, N connections with one `SELECT c FROM sbtest1 WHERE id=N` (or another [`Statement`]) in flight on each.
//! Every reply is read to its end and compared with the first answer for that id (status flags aside): a proxy
//! that answers wrong fails the run instead of winning it. CPU accounts are read at the edges of the counted
//! window by this process itself, so queries and CPU time are of the same moments.

mod answers;
mod connection;
mod statement;

use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::clock::monotonic;
use crate::cpu::{Meter, Pid, Usage};
use crate::login::Login;
use crate::reply::EofForm;
use answers::Answers;
use connection::Connection;
pub(crate) use statement::Statement;

/// Ready connections taken from epoll at once.
const EVENTS_MAX: usize = 512;

/// A server that says nothing for this long has lost a query.
const SILENCE_SECONDS_MAX: i64 = 20;

/// Largest reply part read at once.
const BUFFER_BYTES: usize = 65_536;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LoadOptions {
    /// IP:PORT or a socket's path
    #[arg(long)]
    pub(crate) target: Address,
    #[arg(long, default_value_t = 64)]
    pub(crate) connections: usize,
    /// Counted part of the run
    #[arg(long, default_value_t = 2.0)]
    pub(crate) seconds: f64,
    /// Run before it, not counted
    #[arg(long, default_value_t = 0.5)]
    pub(crate) warmup_seconds: f64,
    /// Count this many queries instead of a time
    #[arg(long)]
    pub(crate) queries: Option<u64>,
    /// What is asked
    #[arg(long, value_enum, default_value = "select")]
    pub(crate) statement: Statement,
    /// Ids asked for: 1 to this
    #[arg(long, default_value_t = 1000)]
    pub(crate) ids: u32,
    #[arg(long, default_value = "bench")]
    pub(crate) user: String,
    #[arg(long, default_value = "bench")]
    pub(crate) password: String,
    #[arg(long, default_value = "sbtest")]
    pub(crate) schema: String,
    /// Log in with CLIENT_DEPRECATE_EOF
    #[arg(long)]
    pub(crate) deprecate_eof: bool,
    /// Process whose CPU time is wanted
    #[arg(long)]
    pub(crate) measure: Option<Pid>,
    /// Other processes whose CPU time is not foreign; may be given more than once
    #[arg(long = "participant")]
    pub(crate) participants: Vec<Pid>,
}

/// What a run counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoadOutcome {
    /// Complete and right answers in the window.
    pub(crate) queries: u64,
    /// The window's length.
    pub(crate) seconds: f64,
    /// CPU time in the window, if a process was named.
    pub(crate) usage: Option<Usage>,
    /// CPU time of the load generator itself in the window.
    pub(crate) load_us: f64,
}

/// Runs the load once. An error if a connection is lost or an answer is wrong.
pub(crate) fn run(options: &LoadOptions) -> Result<LoadOutcome> {
    let mut load = Load::connect(options)?;
    load.start()?;
    load.run_until(Until::warm(options))?;
    let counted = load.count(options)?;
    load.finish()?;
    Ok(counted)
}

/// When a part of the run ends.
#[derive(Debug, Clone, Copy)]
enum Until {
    /// At this time, and all ids answered once.
    Warm(Duration),
    Time(Duration),
    /// When so many are complete in total.
    Completed(u64),
    /// When nothing is in flight; nothing new is sent.
    Drained,
}

impl Until {
    fn warm(options: &LoadOptions) -> Self {
        Self::Warm(monotonic() + Duration::from_secs_f64(options.warmup_seconds))
    }
}

struct Load {
    epoll: OwnedFd,
    connections: Vec<Connection>,
    answers: Answers,
    in_flight: usize,
    completed: u64,
    form: EofForm,
    buffer: Box<[u8; BUFFER_BYTES]>,
}

impl Load {
    fn connect(options: &LoadOptions) -> Result<Self> {
        let login = options.login();
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut connections = Vec::with_capacity(options.connections);
        for index in 0..options.connections {
            let connection = Connection::open(&options.target, &login, options.statement)
                .with_context(|| format!("connection {index} to {}", options.target))?;
            epoll::add(&epoll, &connection.fd, EventData::new_u64(index as u64), EventFlags::IN)?;
            connections.push(connection);
        }
        Ok(Self {
            epoll,
            connections,
            answers: Answers::new(options.statement, options.ids),
            in_flight: 0,
            completed: 0,
            form: login.form,
            buffer: Box::new([0; BUFFER_BYTES]),
        })
    }

    /// Puts the first query on each connection.
    fn start(&mut self) -> Result<()> {
        for connection in &mut self.connections {
            connection.send(&mut self.answers)?;
        }
        self.in_flight = self.connections.len();
        Ok(())
    }

    fn count(&mut self, options: &LoadOptions) -> Result<LoadOutcome> {
        let meter = Meter {
            measured: options.measure.unwrap_or_else(std::process::id),
            participants: options.participants.clone(),
        };
        let own = Meter { measured: std::process::id(), participants: vec![] };
        let (opened, own_opened) = (meter.open()?, own.open()?);
        let (start, before) = (monotonic(), self.completed);
        self.run_until(match options.queries {
            Some(queries) => Until::Completed(before + queries),
            None => Until::Time(start + Duration::from_secs_f64(options.seconds)),
        })?;
        let (queries, end) = (self.completed - before, monotonic());
        let usage = meter.close(&opened)?;
        let load_us = own.close(&own_opened)?.total_us;
        let usage = options.measure.map(|_| usage);
        Ok(LoadOutcome { queries, seconds: (end - start).as_secs_f64(), usage, load_us })
    }

    fn finish(&mut self) -> Result<()> {
        self.run_until(Until::Drained)?;
        self.connections.iter_mut().try_for_each(Connection::quit)
    }

    fn run_until(&mut self, until: Until) -> Result<()> {
        let mut events = Vec::<Event>::with_capacity(EVENTS_MAX);
        let silence = rustix::time::Timespec { tv_sec: SILENCE_SECONDS_MAX, tv_nsec: 0 };
        while !self.is_reached(until) {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&silence)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            ensure!(
                !events.is_empty(),
                "no answer for {SILENCE_SECONDS_MAX} s on {} queries",
                self.in_flight
            );
            for event in &events {
                let data = event.data;
                self.handle_readable(usize::try_from(data.u64())?, until)?;
            }
        }
        Ok(())
    }

    fn is_reached(&self, until: Until) -> bool {
        match until {
            Until::Warm(time) => self.answers.is_complete() && monotonic() >= time,
            Until::Time(time) => monotonic() >= time,
            Until::Completed(count) => self.completed >= count,
            Until::Drained => self.in_flight == 0,
        }
    }

    #[inline]
    fn handle_readable(&mut self, index: usize, until: Until) -> Result<()> {
        let connection = &mut self.connections[index];
        let answered = connection.receive(&mut self.answers, self.form, &mut self.buffer[..])?;
        if !answered {
            return Ok(());
        }
        self.completed += 1;
        if matches!(until, Until::Drained) {
            self.in_flight -= 1;
            return Ok(());
        }
        connection.send(&mut self.answers)
    }
}

impl LoadOptions {
    fn login(&self) -> Login {
        Login {
            user: self.user.clone(),
            password: self.password.clone(),
            schema: self.schema.clone(),
            form: if self.deprecate_eof { EofForm::Deprecated } else { EofForm::Packets },
        }
    }
}

#[cfg(test)]
mod tests;
