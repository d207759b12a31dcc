//! The floor: a server that costs as little as a MySQL server on readiness I/O can.
//!
//! One thread, level-triggered epoll, one `recv` and one `send` a query. It speaks enough of the handshake that
//! real clients log in (any name, any password), answers every SELECT with one fixed row of sbtest1 (195 bytes)
//! and everything else with OK. What a proxy costs above it is the proxy's own; nobody can be below it by far.

mod reply;

use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;

use anyhow::{Context, Result};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use crate::address::Address;
use crate::reply::{EofForm, HEADER_BYTES};
use reply::Replies;

/// Ready connections taken from epoll at once.
const EVENTS_MAX: usize = 512;

const COM_QUIT: u8 = 1;
const COM_QUERY: u8 = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct FloorOptions {
    /// IP:PORT or a socket's path; may be given more than once
    #[arg(long = "listen", required = true)]
    listen: Vec<Address>,
}

impl FloorOptions {
    /// Listening on one address.
    #[cfg(test)]
    pub(crate) fn listening_on(address: Address) -> Self {
        Self { listen: vec![address] }
    }
}

/// What the floor says during a login, in order.
#[cfg(test)]
pub(crate) fn login_replies() -> Vec<Vec<u8>> {
    let replies = Replies::new();
    vec![replies.greeting, replies.logged_in]
}

/// Serves until the process is killed.
pub(crate) fn serve(options: &FloorOptions) -> Result<()> {
    let mut floor = Floor::new()?;
    for address in &options.listen {
        floor.listen(address).with_context(|| format!("cannot listen on {address}"))?;
    }
    floor.run()
}

enum Slot {
    Listener(OwnedFd),
    Session(Session),
}

struct Session {
    fd: OwnedFd,
    phase: Phase,
}

#[derive(Clone, Copy)]
enum Phase {
    Login,
    Commands(EofForm),
}

/// What is left of a session after its bytes were handled.
enum Fate {
    Stays,
    Ends,
}

struct Floor {
    epoll: OwnedFd,
    /// By descriptor number, which epoll gives back.
    slots: Vec<Option<Slot>>,
    replies: Replies,
}

impl Floor {
    fn new() -> Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, slots: Vec::new(), replies: Replies::new() })
    }

    fn listen(&mut self, address: &Address) -> Result<()> {
        let fd: OwnedFd = match address {
            Address::Tcp(address) => TcpListener::bind(address)?.into(),
            Address::Unix(path) => UnixListener::bind(path)?.into(),
        };
        self.insert(Slot::Listener(fd))
    }

    fn insert(&mut self, slot: Slot) -> Result<()> {
        let fd = slot.fd();
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

    fn handle(&mut self, index: usize, buffer: &mut [u8]) -> Result<()> {
        match self.slots[index].as_mut() {
            Some(Slot::Session(session)) => {
                if matches!(session.handle_readable(&self.replies, buffer), Fate::Ends) {
                    self.slots[index] = None;
                }
                Ok(())
            }
            Some(Slot::Listener(listener)) => {
                let fd = rustix::net::accept(&*listener)?;
                // Fails on a Unix socket, which has nothing to delay.
                let _ = sockopt::set_tcp_nodelay(&fd, true);
                send_all(&fd, &self.replies.greeting);
                self.insert(Slot::Session(Session { fd, phase: Phase::Login }))
            }
            None => Ok(()),
        }
    }
}

impl Slot {
    fn fd(&self) -> &OwnedFd {
        match self {
            Self::Listener(fd) | Self::Session(Session { fd, .. }) => fd,
        }
    }
}

impl Session {
    /// Reads once. A command that did not come whole ends the session: clients here send 40 bytes at once.
    #[inline]
    fn handle_readable(&mut self, replies: &Replies, buffer: &mut [u8]) -> Fate {
        let received = match recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return Fate::Ends,
            Ok((received, _)) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Fate::Stays,
            Err(_) => return Fate::Ends,
        };
        let Some(payload) = whole_packet(&buffer[..received]) else { return Fate::Ends };
        match self.phase {
            Phase::Commands(form) => self.handle_command(payload, form, replies),
            Phase::Login => {
                self.phase = Phase::Commands(reply::negotiated_form(payload));
                send_all(&self.fd, &replies.logged_in)
            }
        }
    }

    #[inline]
    fn handle_command(&self, payload: &[u8], form: EofForm, replies: &Replies) -> Fate {
        match payload {
            [COM_QUERY, b'S' | b's', b'E' | b'e', b'L' | b'l', ..] => {
                send_all(&self.fd, replies.result_set(form))
            }
            [COM_QUIT] => Fate::Ends,
            _ => send_all(&self.fd, &replies.ok),
        }
    }
}

/// The payload, if `bytes` are exactly one packet.
fn whole_packet(bytes: &[u8]) -> Option<&[u8]> {
    let (header, payload) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    (payload.len() == length).then_some(payload)
}

/// Sends at once; a socket that does not take 200 bytes is given up.
#[inline]
fn send_all(fd: impl AsFd, bytes: &[u8]) -> Fate {
    match send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(sent) if sent == bytes.len() => Fate::Stays,
        _ => Fate::Ends,
    }
}
