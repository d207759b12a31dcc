//! The floor: a server that costs as little as a MySQL server on readiness I/O can.
//!
//! One `recv` and one `send` a query, in the same [event loop](crate::event_loop) as the relay. It speaks enough of the
//! handshake that real clients log in (any name, any password), answers every SELECT with one fixed row of sbtest1
//! (195 bytes), or with as many as it is told, and everything else with OK. What a proxy costs above it is the proxy's own; nobody can be below it
//! by far.

mod reply;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use anyhow::Result;

use crate::address::Address;
use crate::event_loop::{self, Fate, Service, send_all};
use crate::reply::{EofForm, HEADER_BYTES};
use reply::Replies;

const COM_QUIT: u8 = 1;
const COM_QUERY: u8 = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct FloorOptions {
    /// IP:PORT or a socket's path; may be given more than once
    #[arg(long = "listen", required = true)]
    listen: Vec<Address>,
    /// Rows of each answer
    #[arg(long, default_value_t = 1)]
    rows: u32,
}

impl FloorOptions {
    /// Listening on one address.
    #[cfg(test)]
    pub(crate) fn listening_on(address: Address) -> Self {
        Self { listen: vec![address], rows: 1 }
    }
}

/// What the floor says during a login, in order.
#[cfg(test)]
pub(crate) fn login_replies() -> Vec<Vec<u8>> {
    let replies = Replies::new(1);
    vec![replies.greeting, replies.logged_in]
}

/// Serves until the process is killed.
pub(crate) fn serve(options: &FloorOptions) -> Result<()> {
    event_loop::serve(Floor { replies: Replies::new(options.rows) }, &options.listen)
}

struct Floor {
    replies: Replies,
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

impl Service for Floor {
    type Connection = Session;

    fn accept(&self, fd: OwnedFd) -> Result<impl IntoIterator<Item = Session>> {
        send_all(&fd, &self.replies.greeting);
        Ok([Session { fd, phase: Phase::Login }])
    }

    /// A command that did not come whole ends the session: clients here send 40 bytes at once.
    #[inline]
    fn handle_received(&self, session: &mut Session, bytes: &[u8]) -> Fate {
        let Some(payload) = whole_packet(bytes) else { return Fate::Ends };
        match session.phase {
            Phase::Commands(form) => session.handle_command(payload, form, &self.replies),
            Phase::Login => {
                session.phase = Phase::Commands(reply::negotiated_form(payload));
                send_all(&session.fd, &self.replies.logged_in)
            }
        }
    }
}

impl AsFd for Session {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Session {
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
