//! One client: a socket without waiting, its script, the answer that is coming in.

use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::dialogue::{Answer, Incoming};
use super::script::Script;
use crate::address::Address;
use crate::database;
use crate::login::{encode_packet, log_in};
use crate::socket::Socket;

const COM_QUERY: &str = "\x03";
const COM_QUIT: u8 = 1;

#[derive(Debug)]
pub(super) struct Client {
    pub(super) fd: OwnedFd,
    pub(super) script: Script,
    incoming: Incoming,
    /// When the statement in flight was sent.
    pub(super) sent_at: Duration,
}

impl Client {
    /// Logged in.
    pub(super) fn connect(number: usize, target: &Address, seed: u64) -> Result<Self> {
        let mut socket = Socket::connect(target)?;
        log_in(&mut socket, &database::login()).with_context(|| format!("client {number}"))?;
        let script = Script::new(number, seed);
        Ok(Self { fd: socket.into_fd(), script, incoming: Incoming::new(), sent_at: Duration::ZERO })
    }

    /// Sends the script's next statement.
    pub(super) fn send(&mut self, now: Duration) -> Result<()> {
        let statement = self.script.ask();
        self.sent_at = now;
        self.send_all(&encode_packet(0, [COM_QUERY, &statement].concat().as_bytes()))
    }

    /// Says goodbye; nothing must be in flight.
    pub(super) fn quit(&self) -> Result<()> {
        self.send_all(&encode_packet(0, &[COM_QUIT]))
    }

    fn send_all(&self, bytes: &[u8]) -> Result<()> {
        let sent = send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
        ensure!(sent == bytes.len(), "the socket takes {sent} bytes of a statement of {}", bytes.len());
        Ok(())
    }

    /// Reads once; the answer if it is whole.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Result<Option<Answer>> {
        match recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => bail!("the server closed a connection"),
            Ok((received, _)) => self.incoming.take(&buffer[..received]),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
