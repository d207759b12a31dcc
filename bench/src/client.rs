//! A blocking client for what is not measured by the query: readiness, idle sessions, large results.

use std::io::{Read, Write};

use anyhow::{Context, Result, bail, ensure};

use crate::address::Address;
use crate::login::{Login, encode_packet, log_in, refuse_error};
use crate::reply::{Ending, HEADER_BYTES, ReplyScan};
use crate::socket::Socket;

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// One logged-in session.
#[derive(Debug)]
pub(crate) struct Client {
    socket: Socket,
    login: Login,
}

/// A reply as it comes: `read` until it is finished.
#[derive(Debug)]
pub(crate) struct ReplyStream<'a> {
    socket: &'a mut Socket,
    scan: ReplyScan,
    buffer: Vec<u8>,
    /// Bytes received so far, headers included.
    pub(crate) received_bytes: u64,
}

impl Client {
    /// Logged in at `address`.
    pub(crate) fn connect(address: &Address, login: &Login) -> Result<Self> {
        let mut socket = Socket::connect(address)?;
        log_in(&mut socket, login).with_context(|| format!("cannot log in at {address}"))?;
        Ok(Self { socket, login: login.clone() })
    }

    /// Sends a query; its reply must be read before the next.
    pub(crate) fn send(&mut self, sql: &str) -> Result<ReplyStream<'_>> {
        let payload = [b"\x03", sql.as_bytes()].concat();
        self.socket.write_all(&encode_packet(0, &payload))?;
        let scan = ReplyScan::new(self.login.form);
        Ok(ReplyStream { socket: &mut self.socket, scan, buffer: vec![0; BUFFER_BYTES], received_bytes: 0 })
    }

    /// Asks and reads the whole reply.
    pub(crate) fn query(&mut self, sql: &str) -> Result<Ending> {
        let mut reply = self.send(sql)?;
        loop {
            if let Some(ending) = reply.read(BUFFER_BYTES)? {
                return Ok(ending);
            }
        }
    }
}

impl ReplyStream<'_> {
    /// Reads once, at most `bytes`. What the reply was, if that was its end.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<Option<Ending>> {
        let room = bytes.min(self.buffer.len());
        let received = self.socket.read(&mut self.buffer[..room]).context("no reply")?;
        ensure!(received > 0, "the server closed the connection inside a reply");
        let is_first = self.received_bytes == 0;
        self.received_bytes += received as u64;
        let Some(finished) = self.scan.feed(&self.buffer[..received])? else { return Ok(None) };
        ensure!(finished.consumed == received, "bytes come behind the end of a reply");
        if finished.ending == Ending::Err {
            if is_first {
                refuse_error(&self.buffer[HEADER_BYTES..received])?;
            }
            bail!("the server answers an error after {} bytes", self.received_bytes);
        }
        Ok(Some(finished.ending))
    }
}
