//! One connection through a relay: two threads, each of which passes bytes one way.
//!
//! While a way is held back, nothing is read from its sender, so not even its end is noticed; a connection that
//! is made meanwhile reaches the server when the way is free again.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rustix::net::sockopt::set_socket_linger;

use crate::relay::rules::{Direction, End, Passage, Rules, Tally};
use crate::role::Role;

/// How long a write waits for a receiver that does not read, before it looks whether the connection is cut.
const LOOK_EVERY: Duration = Duration::from_millis(100);

const READ_BYTES_MAX: usize = 64 * 1024;

/// The rules in force, and who waits for others.
#[derive(Debug, Default)]
pub(crate) struct Board {
    pub(crate) rules: Mutex<Rules>,
    changed: Condvar,
}

impl Board {
    /// Whoever waits looks again; nobody is between its look and its wait while the rules are locked.
    pub(crate) fn wake(&self) {
        let _rules = self.rules.lock();
        self.changed.notify_all();
    }
}

/// Between a client and one server.
pub(crate) struct Connection {
    board: Arc<Board>,
    node: Role,
    /// Found out when something is held back: the kernel's list of sockets is long on a busy host, and takes milliseconds.
    peer: OnceLock<End>,
    find_peer: Box<dyn Fn() -> End + Send + Sync>,
    client: TcpStream,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Not there while the way to the server is held back.
    server: Option<Arc<TcpStream>>,
    tally: Tally,
    is_cut: bool,
}

impl Connection {
    /// Bytes pass from now on, until either end closes, or [`cut`](Self::cut). `find_peer` tells whose the other end is.
    pub(crate) fn start(
        board: Arc<Board>,
        node: Role,
        find_peer: impl Fn() -> End + Send + Sync + 'static,
        client: TcpStream,
        port: u16,
    ) -> Arc<Self> {
        let connection = Arc::new(Self {
            board,
            node,
            peer: OnceLock::new(),
            find_peer: Box::new(find_peer),
            client,
            state: Mutex::default(),
        });
        let own = Arc::clone(&connection);
        thread::spawn(move || own.run(port));
        connection
    }

    /// Both ends are told of a reset, as soon as their threads have let go.
    pub(crate) fn cut(&self) {
        let mut state = self.state.lock();
        state.is_cut = true;
        reset_at_close(&self.client);
        if let Some(server) = &state.server {
            reset_at_close(server);
        }
    }

    pub(crate) fn node(&self) -> Role {
        self.node
    }

    /// What has passed.
    pub(crate) fn tally(&self) -> Tally {
        self.state.lock().tally
    }

    fn run(self: Arc<Self>, port: u16) {
        if !self.wait_until_free(Direction::In) {
            return;
        }
        let Some(server) = self.reach(port) else { return self.cut() };
        let back = Arc::clone(&self);
        let from = Arc::clone(&server);
        let answers = thread::spawn(move || back.pump(&from, &back.client, Direction::Out));
        self.pump(&self.client, &server, Direction::In);
        if answers.join().is_err() {
            self.cut();
        }
    }

    fn reach(&self, port: u16) -> Option<Arc<TcpStream>> {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
        for socket in [&self.client, &server] {
            socket.set_nodelay(true).and_then(|()| socket.set_write_timeout(Some(LOOK_EVERY))).ok()?;
        }
        let server = Arc::new(server);
        let mut state = self.state.lock();
        state.server = Some(Arc::clone(&server));
        (!state.is_cut).then_some(server)
    }

    /// Passes bytes on until their sender closes, and then tells the receiver.
    fn pump(&self, from: &TcpStream, to: &TcpStream, way: Direction) {
        let mut bytes = vec![0; READ_BYTES_MAX];
        loop {
            if !self.wait_until_free(way) {
                return;
            }
            match (&*from).read(&mut bytes) {
                Ok(0) => {
                    self.state.lock().tally.is_ending = true;
                    break;
                }
                Ok(read) if self.pass(to, way, &bytes[..read]) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return self.cut(),
            }
        }
        // What has come while it was read is held back too, and so is the end.
        if self.wait_until_free(way) && to.shutdown(Shutdown::Write).is_err() {
            self.cut();
        }
    }

    /// Whether the connection goes on.
    fn pass(&self, to: &TcpStream, way: Direction, bytes: &[u8]) -> bool {
        if !self.wait_until_free(way) {
            return false;
        }
        let passage = self.board.rules.lock().pass(self.node, way, bytes.len(), &mut self.state.lock().tally);
        match passage {
            Passage::Whole => self.write(to, bytes).is_ok(),
            Passage::Cut(left) => {
                if self.write(to, &bytes[..left]).is_err() {
                    tracing::debug!("the receiver was gone before the cut");
                }
                false
            }
        }
    }

    fn write(&self, mut to: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match to.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock && !self.state.lock().is_cut => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns when the way is free; `false` when the connection was cut.
    fn wait_until_free(&self, way: Direction) -> bool {
        loop {
            if self.state.lock().is_cut {
                return false;
            }
            if self.board.rules.lock().hold_nothing_back() {
                return true;
            }
            // Not under the lock, for it takes a while.
            let (node, peer) = (Some(self.node), *self.peer.get_or_init(&self.find_peer));
            let (from, to) = if way == Direction::In { (peer, node) } else { (node, peer) };
            let mut rules = self.board.rules.lock();
            if !rules.holds_back(from, to) {
                return !self.state.lock().is_cut;
            }
            if !self.state.lock().is_cut {
                self.board.changed.wait(&mut rules);
            }
        }
    }
}

/// The last who lets go of the socket resets it; who reads from it does so now.
fn reset_at_close(socket: &TcpStream) {
    let made = set_socket_linger(socket, Some(Duration::ZERO)).map_err(io::Error::from);
    if made.and_then(|()| socket.shutdown(Shutdown::Read)).is_err() {
        tracing::trace!("the socket was closed before");
    }
}
