//! Passes bytes on between proxy and server, counts them, and cuts the connection that carries the byte at which a trap stands.
//!
//! Connections over which the proxy reads the server's tables are left alone, and do not count: without them nothing is cached as exact.
//! They are known by what is asked there.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::net::sockopt::set_socket_linger;

use crate::deadline::await_that;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    ToProxy,
}

/// Where a connection is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trap {
    pub(crate) direction: Direction,
    /// So many bytes still go through from when it is set, over whatever connection; the one that carries the last of them is cut.
    pub(crate) bytes: usize,
    /// The proxy sees a reset, and not an end.
    pub(crate) resets: bool,
}

#[derive(Debug, Default)]
struct Counted {
    to_server: usize,
    to_proxy: usize,
    trap: Option<Trap>,
    /// The connection on which the last one was reached.
    cut: Option<u32>,
    next: u32,
    live: Vec<Live>,
}

/// A connection, and its number.
#[derive(Debug)]
struct Live {
    number: u32,
    proxy: TcpStream,
    server: TcpStream,
    reads_tables: Arc<AtomicBool>,
}

impl Live {
    fn end(&self) {
        drop(self.proxy.shutdown(Shutdown::Both));
        drop(self.server.shutdown(Shutdown::Both));
    }
}

/// Lives until the test ends.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    counted: Arc<Mutex<Counted>>,
}

impl Relay {
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let counted = Arc::new(Mutex::new(Counted::default()));
        let shared = Arc::clone(&counted);
        std::thread::spawn(move || {
            for proxy in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                drop(begin(proxy, server, &shared));
            }
        });
        Self { address, counted }
    }

    /// Counts from 0 on, and cuts where the trap says.
    pub(crate) fn set(&self, trap: Option<Trap>) {
        let mut counted = self.counted.lock();
        (counted.to_server, counted.to_proxy, counted.trap) = (0, 0, trap);
    }

    /// How many bytes have gone that way.
    pub(crate) fn passed(&self, direction: Direction) -> usize {
        let counted = self.counted.lock();
        match direction {
            Direction::ToServer => counted.to_server,
            Direction::ToProxy => counted.to_proxy,
        }
    }

    /// Nothing is cut any more. Returns whether the trap was reached: the connection is cut then.
    pub(crate) fn unset(&self) -> bool {
        let was_reached = self.counted.lock().trap.take().is_none();
        let is_cut = || {
            let counted = self.counted.lock();
            !counted.live.iter().any(|live| Some(live.number) == counted.cut)
        };
        await_that("what is to be cut is cut", is_cut);
        was_reached
    }

    /// Connections that are open.
    pub(crate) fn live(&self) -> usize {
        self.counted.lock().live.len()
    }

    /// Ends all connections that do not read tables.
    pub(crate) fn end_all(&self) {
        let counted = self.counted.lock();
        let of_sessions = counted.live.iter().filter(|live| !live.reads_tables.load(Ordering::Relaxed));
        of_sessions.for_each(Live::end);
    }
}

fn begin(proxy: TcpStream, server: TcpStream, counted: &Arc<Mutex<Counted>>) -> io::Result<()> {
    proxy.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let reads_tables = Arc::new(AtomicBool::new(false));
    let number = {
        let mut counted = counted.lock();
        counted.next += 1;
        let number = counted.next;
        let (proxy, server) = (proxy.try_clone()?, server.try_clone()?);
        counted.live.push(Live { number, proxy, server, reads_tables: Arc::clone(&reads_tables) });
        number
    };
    for (direction, from, to) in
        [(Direction::ToServer, proxy.try_clone()?, server.try_clone()?), (Direction::ToProxy, server, proxy)]
    {
        let (counted, reads_tables) = (Arc::clone(counted), Arc::clone(&reads_tables));
        std::thread::spawn(move || {
            pass(direction, from, to, number, &counted, &reads_tables);
            let mut counted = counted.lock();
            if let Some(place) = counted.live.iter().position(|live| live.number == number) {
                counted.live.swap_remove(place).end();
            }
        });
    }
    Ok(())
}

/// Passes bytes on until the connection ends, or is cut.
fn pass(
    direction: Direction,
    mut from: TcpStream,
    mut to: TcpStream,
    number: u32,
    counted: &Mutex<Counted>,
    reads_tables: &AtomicBool,
) {
    let mut bytes = vec![0; 65536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if direction == Direction::ToServer && asks_for_tables(&bytes[..read]) {
            reads_tables.store(true, Ordering::Relaxed);
        }
        let (passes, cut) = match reads_tables.load(Ordering::Relaxed) {
            true => (read, None),
            false => counted.lock().count(direction, read, number),
        };
        if to.write_all(&bytes[..passes]).is_err() {
            return;
        }
        if let Some(trap) = cut {
            let proxy = if direction == Direction::ToServer { &from } else { &to };
            if trap.resets {
                set_socket_linger(proxy, Some(Duration::ZERO)).expect("an open socket");
            }
            return;
        }
    }
}

fn asks_for_tables(bytes: &[u8]) -> bool {
    let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    has(b"information_schema.") && !has(b"processlist")
}

impl Counted {
    /// How many of those bytes go through on that connection, and the trap that they reach.
    fn count(&mut self, direction: Direction, bytes: usize, number: u32) -> (usize, Option<Trap>) {
        let passed = match direction {
            Direction::ToServer => &mut self.to_server,
            Direction::ToProxy => &mut self.to_proxy,
        };
        let passes = match self.trap {
            Some(trap) if trap.direction == direction && *passed + bytes >= trap.bytes => {
                trap.bytes - *passed
            }
            _ => {
                *passed += bytes;
                return (bytes, None);
            }
        };
        *passed += passes;
        self.cut = Some(number);
        (passes, self.trap.take())
    }
}
