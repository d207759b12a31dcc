//! A relay before each server of a lab: what stands between them is cut and held back here, without root.
//!
//! Clients, proxies and replicas connect to a server's relay. Whose connection it is, a server's of this lab or
//! another's, shows by the process that holds its other end, so partitions hold whichever server follows which.
//! A relay listens while its server does: a server that is dead refuses, one that is stopped (SIGSTOP) hangs.
//!
//! One relay serves a whole lab, on a thread of whoever made the lab, or in a process of its own. It is told what
//! to do over a Unix socket.

pub(crate) mod connection;
pub(crate) mod control;
pub(crate) mod rules;
mod sockets;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use nuthatch_server::{Deadline, ProcessMark};

use crate::error::LabError;
use crate::layout::Layout;
use crate::relay::connection::{Board, Connection};
use crate::relay::control::{Answer, Command, Passed};
use crate::role::Role;
use crate::state::State;

/// How often it looks which servers listen.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The kernel's list is no snapshot: one look may miss a port that is listened on all the time.
const MISSED_MAX: u32 = 3;

/// All relays of one lab.
pub(crate) struct Relay {
    layout: Layout,
    state: State,
    control: UnixListener,
    board: Arc<Board>,
    listeners: HashMap<Role, TcpListener>,
    connections: Vec<Arc<Connection>>,
    /// What connections that are gone have passed.
    passed: HashMap<Role, Passed>,
    /// For how many looks in a row a server's port was not listed.
    missed: HashMap<Role, u32>,
    next_look: Deadline,
    is_over: bool,
}

impl Relay {
    /// Takes commands from here on, once [`run`](Self::run) is called.
    pub(crate) fn open(dir: &Path) -> Result<Self, LabError> {
        let layout = Layout::open(dir)?;
        let state = State::load(&layout)?;
        let socket = state.relay_socket.clone().ok_or(LabError::NoRelays)?;
        nuthatch_server::remove_file(&socket)?;
        let bind = || {
            let control = UnixListener::bind(&socket)?;
            control.set_nonblocking(true)?;
            Ok(control)
        };
        Ok(Self {
            layout,
            state,
            control: bind().map_err(LabError::file("listen on", &socket))?,
            board: Arc::default(),
            listeners: HashMap::new(),
            connections: Vec::new(),
            passed: HashMap::new(),
            missed: HashMap::new(),
            next_look: Deadline::after(Duration::ZERO),
            is_over: false,
        })
    }

    /// Relays until it is told to end.
    pub(crate) fn run(mut self) -> Result<(), LabError> {
        while !self.is_over {
            if let Err(error) = self.turn() {
                return Err(LabError::Relay { reason: error.to_string() });
            }
        }
        self.cut(|_| true);
        Ok(())
    }

    fn turn(&mut self) -> io::Result<()> {
        self.wait()?;
        while let Ok((stream, _)) = self.control.accept() {
            stream.set_nonblocking(false)?;
            if let Err(error) = control::serve(&stream, |command| self.obey(command)) {
                tracing::debug!(%error, "a command was not understood, or nobody waited for its answer");
            }
        }
        self.accept()?;
        self.forget_ended();
        // Not with each connection: on a busy host the kernel's list is long.
        if self.next_look.is_over() {
            if let Err(error) = self.follow_servers() {
                tracing::warn!(%error, "a relay cannot listen");
            }
            self.next_look = Deadline::after(LOOK_EVERY);
        }
        Ok(())
    }

    /// Until somebody connects, or it is time to look.
    fn wait(&self) -> io::Result<()> {
        let control = PollFd::new(&self.control, PollFlags::IN);
        let listeners =
            self.listeners.values().map(|listener| PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
        let mut fds: Vec<PollFd<'_>> = std::iter::once(control).chain(listeners).collect();
        let look_every = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.subsec_nanos().into() };
        match poll(&mut fds, Some(&look_every)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn obey(&mut self, command: Command) -> Answer {
        match command {
            Command::Sync => {
                return self.sync().map_or_else(|error| Answer::Failed(error.to_string()), |()| Answer::Done);
            }
            Command::Hold(hold) => self.board.rules.lock().hold(hold),
            Command::Heal => self.board.rules.lock().heal(),
            Command::CutAfter(cut) => self.board.rules.lock().arm(cut),
            Command::Cut(role) => self.cut(|node| node == role),
            Command::Passed(role) => return Answer::Passed(self.passed_by(role)),
            Command::End => self.is_over = true,
        }
        self.board.wake();
        Answer::Done
    }

    fn sync(&mut self) -> Result<(), LabError> {
        self.state = State::load(&self.layout)?;
        self.follow_servers().map_err(|error| LabError::Relay { reason: error.to_string() })
    }

    /// Listens for those servers that run and listen themselves.
    fn follow_servers(&mut self) -> io::Result<()> {
        let listened = sockets::listened();
        for server in &self.state.servers {
            let Some(port) = server.relay_port else { continue };
            let missed = self.missed.entry(server.role).or_default();
            *missed = if listened.contains(&server.port) { 0 } else { missed.saturating_add(1) };
            let runs = server.process.as_ref().is_some_and(ProcessMark::is_alive);
            let is_up =
                runs && (*missed == 0 || self.listeners.contains_key(&server.role) && *missed < MISSED_MAX);
            match self.listeners.entry(server.role) {
                Entry::Occupied(listening) if !is_up => drop(listening.remove()),
                Entry::Vacant(place) if is_up => {
                    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
                    listener.set_nonblocking(true)?;
                    place.insert(listener);
                }
                Entry::Occupied(_) | Entry::Vacant(_) => {}
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        let mut accepted = Vec::new();
        for (role, listener) in &self.listeners {
            while let Ok((client, peer)) = listener.accept() {
                accepted.push((*role, client, peer));
            }
        }
        for (role, client, peer) in accepted {
            client.set_nonblocking(false)?;
            self.relay(role, client, peer);
        }
        Ok(())
    }

    fn relay(&mut self, role: Role, client: TcpStream, peer: std::net::SocketAddr) {
        let servers = &self.state.servers;
        let Some(server) = servers.iter().find(|server| server.role == role) else { return };
        let processes: Vec<_> =
            servers.iter().filter_map(|server| Some((server.role, server.process.clone()?))).collect();
        let relay_port = server.relay_port.unwrap_or_default();
        let find_peer = move || sockets::owner(peer, relay_port, &processes);
        let board = Arc::clone(&self.board);
        self.connections.push(Connection::start(board, role, find_peer, client, server.port));
    }

    fn cut(&self, which: impl Fn(Role) -> bool) {
        self.connections
            .iter()
            .filter(|connection| which(connection.node()))
            .for_each(|connection| connection.cut());
        self.board.wake();
    }

    /// Those whose threads have let go.
    fn forget_ended(&mut self) {
        let passed = &mut self.passed;
        self.connections.retain(|connection| {
            let lives = Arc::strong_count(connection) > 1;
            if !lives {
                add(passed.entry(connection.node()).or_default(), connection);
            }
            lives
        });
    }

    fn passed_by(&self, role: Role) -> Passed {
        let mut passed = self.passed.get(&role).copied().unwrap_or_default();
        self.connections
            .iter()
            .filter(|connection| connection.node() == role)
            .for_each(|connection| add(&mut passed, connection));
        passed.cut_is_due = self.board.rules.lock().is_armed();
        passed
    }
}

fn add(passed: &mut Passed, connection: &Connection) {
    let tally = connection.tally();
    passed.to_server += tally.to_server;
    passed.from_server += tally.from_server;
}
