//! The event loop of what the benchmarks compare with: the cheapest server and the cheapest proxy.
//!
//! One thread, level-triggered epoll, one `recv` an event; a [`Service`] says what happens to what came, with at most one
//! `send`. It waits for no room in a socket: a connection that does not take its bytes at once is given up.
//! Cost of an event: those two system calls and a share of a wait; no allocation, no dynamic dispatch.

use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;

use anyhow::{Context, Result};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use crate::address::Address;

/// Ready connections taken from epoll at once.
const EVENTS_MAX: usize = 512;

/// What is done with connections and their bytes.
pub(crate) trait Service {
    /// One socket that is read from, and what is known of it.
    type Connection: AsFd;

    /// The connections to read from for a new client: its own, and those made for it.
    fn accept(&self, client: OwnedFd) -> Result<impl IntoIterator<Item = Self::Connection>>;

    /// Says whether the connection goes on after these bytes, of which there is at least one.
    fn handle_received(&self, connection: &mut Self::Connection, bytes: &[u8]) -> Fate;

    /// The descriptor of the connection that ends together with this one.
    fn partner(_: &Self::Connection) -> Option<RawFd> {
        None
    }
}

/// What is left of a connection after its bytes were handled.
pub(crate) enum Fate {
    Stays,
    Ends,
}

/// Serves until the process is killed.
pub(crate) fn serve<S: Service>(service: S, listen: &[Address]) -> Result<()> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut event_loop = EventLoop { service, epoll, slots: Vec::new() };
    for address in listen {
        event_loop.listen(address).with_context(|| format!("cannot listen on {address}"))?;
    }
    event_loop.run()
}

/// Sends at once; a socket that does not take all of it is given up.
#[inline]
pub(crate) fn send_all(fd: impl AsFd, bytes: &[u8]) -> Fate {
    match send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(sent) if sent == bytes.len() => Fate::Stays,
        _ => Fate::Ends,
    }
}

enum Slot<C> {
    Listener(OwnedFd),
    Connection(C),
}

struct EventLoop<S: Service> {
    service: S,
    epoll: OwnedFd,
    /// By descriptor number, which epoll gives back.
    slots: Vec<Option<Slot<S::Connection>>>,
}

impl<S: Service> EventLoop<S> {
    fn listen(&mut self, address: &Address) -> Result<()> {
        let fd: OwnedFd = match address {
            Address::Tcp(address) => TcpListener::bind(address)?.into(),
            Address::Unix(path) => UnixListener::bind(path)?.into(),
        };
        self.insert(Slot::Listener(fd))
    }

    fn insert(&mut self, slot: Slot<S::Connection>) -> Result<()> {
        let fd = match &slot {
            Slot::Listener(fd) => fd.as_fd(),
            Slot::Connection(connection) => connection.as_fd(),
        };
        let index = usize::try_from(fd.as_raw_fd())?;
        epoll::add(&self.epoll, fd, EventData::new_u64(index as u64), EventFlags::IN)?;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(slot);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let mut events = Vec::<Event>::with_capacity(EVENTS_MAX);
        let mut buffer = [0_u8; 65_536];
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                let data = event.data;
                self.handle(usize::try_from(data.u64())?, &mut buffer)?;
            }
        }
    }

    #[inline]
    fn handle(&mut self, index: usize, buffer: &mut [u8]) -> Result<()> {
        match &mut self.slots[index] {
            Some(Slot::Connection(connection)) => {
                let fate = match recv(&*connection, &mut *buffer, RecvFlags::DONTWAIT) {
                    Ok((0, _)) => Fate::Ends,
                    Ok((received, _)) => self.service.handle_received(connection, &buffer[..received]),
                    Err(Errno::AGAIN | Errno::INTR) => Fate::Stays,
                    Err(_) => Fate::Ends,
                };
                if matches!(fate, Fate::Ends) {
                    let partner = S::partner(connection);
                    self.slots[index] = None;
                    if let Some(partner) = partner {
                        self.slots[usize::try_from(partner)?] = None;
                    }
                }
                Ok(())
            }
            Some(Slot::Listener(listener)) => {
                let client = rustix::net::accept(listener)?;
                // Fails on a Unix socket, which has nothing to delay.
                let _ = sockopt::set_tcp_nodelay(&client, true);
                let connections: Vec<_> = self.service.accept(client)?.into_iter().collect();
                for connection in connections {
                    self.insert(Slot::Connection(connection))?;
                }
                Ok(())
            }
            // Its partner has ended in the same round.
            None => Ok(()),
        }
    }
}
