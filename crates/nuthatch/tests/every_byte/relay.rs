//! Passes bytes on between proxy and server, counts them, and cuts the connection that carries the byte at which a trap stands.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::net::sockopt::set_socket_linger;

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
    next: u32,
    live: Vec<(u32, TcpStream, TcpStream)>,
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

    /// Nothing is cut any more. Returns whether the trap was reached.
    pub(crate) fn unset(&self) -> bool {
        self.counted.lock().trap.take().is_none()
    }

    /// Connections that are open.
    pub(crate) fn live(&self) -> usize {
        self.counted.lock().live.len()
    }

    /// Ends all connections.
    pub(crate) fn end_all(&self) {
        for (_, proxy, server) in &self.counted.lock().live {
            drop(proxy.shutdown(Shutdown::Both));
            drop(server.shutdown(Shutdown::Both));
        }
    }
}

fn begin(proxy: TcpStream, server: TcpStream, counted: &Arc<Mutex<Counted>>) -> io::Result<()> {
    proxy.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let number = {
        let mut counted = counted.lock();
        counted.next += 1;
        let number = counted.next;
        counted.live.push((number, proxy.try_clone()?, server.try_clone()?));
        number
    };
    for (direction, from, to) in
        [(Direction::ToServer, proxy.try_clone()?, server.try_clone()?), (Direction::ToProxy, server, proxy)]
    {
        let counted = Arc::clone(counted);
        std::thread::spawn(move || {
            pass(direction, from, to, &counted);
            let mut counted = counted.lock();
            if let Some(place) = counted.live.iter().position(|(live, ..)| *live == number) {
                let (_, proxy, server) = counted.live.swap_remove(place);
                drop(proxy.shutdown(Shutdown::Both));
                drop(server.shutdown(Shutdown::Both));
            }
        });
    }
    Ok(())
}

/// Passes bytes on until the connection ends, or is cut.
fn pass(direction: Direction, mut from: TcpStream, mut to: TcpStream, counted: &Mutex<Counted>) {
    let mut bytes = vec![0; 65536];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let (passes, cut) = counted.lock().count(direction, read);
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

impl Counted {
    /// How many of those bytes go through, and the trap that they reach.
    fn count(&mut self, direction: Direction, bytes: usize) -> (usize, Option<Trap>) {
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
        (passes, self.trap.take())
    }
}
