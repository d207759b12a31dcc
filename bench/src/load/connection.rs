//! One connection of the load generator, with one query in flight.

use std::os::fd::OwnedFd;

use anyhow::{Result, bail, ensure};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Statement;
use super::answers::{Answers, IdIndex};
use crate::address::Address;
use crate::login::{Login, encode_packet, log_in, refuse_error};
use crate::reply::{Ending, EofForm, HEADER_BYTES, ReplyScan};
use crate::socket::Socket;

const COM_QUIT: u8 = 1;

pub(super) struct Connection {
    pub(super) fd: OwnedFd,
    /// How many rows an answer has.
    rows: u64,
    asked: Option<IdIndex>,
    /// A reply that did not come at once, or not as the one before.
    partial: Option<Partial>,
}

struct Partial {
    scan: ReplyScan,
    bytes: Vec<u8>,
}

impl Connection {
    /// Connected, logged in, ready for such statements.
    pub(super) fn open(target: &Address, login: &Login, statement: Statement) -> Result<Self> {
        let mut socket = Socket::connect(target)?;
        log_in(&mut socket, login)?;
        statement.begin(&mut socket, login.form)?;
        Ok(Self { fd: socket.into_fd(), rows: statement.rows().into(), asked: None, partial: None })
    }

    /// Sends the next id's query.
    #[inline]
    pub(super) fn send(&mut self, answers: &mut Answers) -> Result<()> {
        let id = answers.next_id();
        self.asked = Some(id);
        self.send_all(answers.query(id))
    }

    /// Says goodbye; nothing must be in flight.
    pub(super) fn quit(&mut self) -> Result<()> {
        self.send_all(&encode_packet(0, &[COM_QUIT]))
    }

    fn send_all(&self, bytes: &[u8]) -> Result<()> {
        let sent = send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
        ensure!(sent == bytes.len(), "the socket takes {sent} bytes of a query of {}", bytes.len());
        Ok(())
    }

    /// Reads once. True if the answer is complete (and right).
    #[inline]
    pub(super) fn receive(
        &mut self,
        answers: &mut Answers,
        form: EofForm,
        buffer: &mut [u8],
    ) -> Result<bool> {
        let received = match recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => bail!("the server closed a connection"),
            Ok((received, _)) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let bytes = &buffer[..received];
        let Some(id) = self.asked else { bail!("bytes come where nothing was asked") };
        if self.partial.is_none() && answers.is_known(id, bytes) {
            self.asked = None;
            return Ok(true);
        }
        self.receive_slowly(id, bytes, answers, form)
    }

    #[cold]
    fn receive_slowly(
        &mut self,
        id: IdIndex,
        bytes: &[u8],
        answers: &mut Answers,
        form: EofForm,
    ) -> Result<bool> {
        let mut partial =
            self.partial.take().unwrap_or_else(|| Partial { scan: ReplyScan::new(form), bytes: Vec::new() });
        partial.bytes.extend_from_slice(bytes);
        let Some(finished) = partial.scan.feed(bytes)? else {
            self.partial = Some(partial);
            return Ok(false);
        };
        ensure!(finished.consumed == bytes.len(), "bytes come behind the end of a reply");
        if finished.ending == Ending::Err {
            refuse_error(&partial.bytes[HEADER_BYTES..])?;
        }
        let wanted = self.rows;
        let is_wanted = [Ending::Rows(wanted), Ending::Ok].contains(&finished.ending);
        ensure!(is_wanted, "rows wanted: {wanted}, or that one was written, not {:?}", finished.ending);
        answers.learn(id, &partial.bytes)?;
        self.asked = None;
        Ok(true)
    }
}
