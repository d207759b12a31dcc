//! A MySQL client of the tests' own: blocking, on plain sockets, and pedantic.
//!
//! It shows what drivers hide: status flags, warnings, raw bytes, both end-of-rows forms. Each packet's sequence number is
//! checked, and reading gives up after a while, so a proxy that hangs or desynchronises fails the test. It shares no
//! code with the proxy's own walk over answers.

mod answer;
mod file;
mod login;
mod prepared;
mod socket;

use std::io::{self, Read, Write};
use std::time::Duration;

use nuthatch_wire::{
    CapabilityFlags, Command, ErrPacket, FrameHeader, Greeting, HEADER_LEN, NO_ATTRIBUTES, append_packet,
};

pub(crate) use answer::Answer;
pub(crate) use login::Login;
pub(crate) use prepared::{Cursor, Prepared, Types, Value};
pub(crate) use socket::{Address, Socket};

/// After which an answer that has not come counts as one that never comes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An ERR packet came.
    Server(ServerError),
    /// The connection is gone, or nothing came in time.
    Gone(io::Error),
}

/// What an ERR packet says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) code: u16,
    pub(crate) state: String,
    pub(crate) message: String,
}

impl ServerError {
    fn parse(payload: &[u8]) -> Self {
        let error = ErrPacket::parse(payload).expect("an ERR packet is well formed");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: error.code, state: text(&error.sql_state), message: text(&error.message) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}

impl Failure {
    /// The server's error. Panics if the connection was gone.
    #[track_caller]
    pub(crate) fn server(self) -> ServerError {
        match self {
            Self::Server(error) => error,
            Self::Gone(error) => panic!("expected an ERR packet, and the connection was gone: {error}"),
        }
    }

    /// Whether the peer closed the connection, as opposed to being silent.
    pub(crate) fn is_closed(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        let closed = [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof];
        matches!(self, Self::Gone(error) if closed.contains(&error.kind()))
    }
}

/// A connection that is logged in, unless it was made by [`Client::greeted`].
#[derive(Debug)]
pub(crate) struct Client {
    socket: Socket,
    inbox: Vec<u8>,
    used: usize,
    /// Bytes of the answer at hand, as they came.
    raw: Vec<u8>,
    next_sequence: u8,
    pub(crate) greeting: Greeting,
    pub(crate) capabilities: CapabilityFlags,
}

impl Client {
    /// The answer to a statement, which must be one. See [`Client::query_all`].
    pub(crate) fn query(&mut self, sql: impl AsRef<[u8]>) -> Result<Answer, Failure> {
        let mut answers = self.query_all(sql)?;
        assert_eq!(answers.len(), 1, "a single answer");
        Ok(answers.remove(0))
    }

    /// All answers to a statement or to several.
    pub(crate) fn query_all(&mut self, sql: impl AsRef<[u8]>) -> Result<Vec<Answer>, Failure> {
        self.send(Command::Query as u8, sql.as_ref())?;
        self.read_answers()
    }

    /// All that a statement or several are answered, an error at the end included.
    pub(crate) fn query_whole(
        &mut self,
        sql: impl AsRef<[u8]>,
    ) -> io::Result<Vec<Result<Answer, ServerError>>> {
        self.send(Command::Query as u8, sql.as_ref())?;
        self.read_whole(answer::RowForm::Text)
    }

    /// The answer to a statement that must work.
    #[track_caller]
    pub(crate) fn ok(&mut self, sql: impl AsRef<[u8]>) -> Answer {
        let shown = String::from_utf8_lossy(&sql.as_ref()[..sql.as_ref().len().min(200)]).into_owned();
        self.query(sql).unwrap_or_else(|failure| panic!("{shown}: {failure:?}"))
    }

    /// The error of a statement that must be refused.
    #[track_caller]
    pub(crate) fn refused(&mut self, sql: impl AsRef<[u8]>) -> ServerError {
        match self.query(sql) {
            Err(failure) => failure.server(),
            Ok(answer) => panic!("expected an error: {answer:?}"),
        }
    }

    /// The first column of the first row, as text; `NULL` for NULL.
    #[track_caller]
    pub(crate) fn value(&mut self, sql: impl AsRef<[u8]>) -> String {
        self.ok(sql).value()
    }

    /// All rows as text.
    #[track_caller]
    pub(crate) fn table(&mut self, sql: impl AsRef<[u8]>) -> Vec<Vec<String>> {
        self.ok(sql).table()
    }

    /// The answer to a command with a single OK, EOF or ERR.
    pub(crate) fn command(&mut self, command: u8, argument: &[u8]) -> Result<Answer, Failure> {
        self.send(command, argument)?;
        Ok(self.read_answers()?.remove(0))
    }

    /// Returns when the proxy is done with the statement before: its answer stored, its connection put back or kept.
    #[track_caller]
    pub(crate) fn settle(&mut self) {
        self.command(Command::Ping as u8, &[]).expect("a ping is answered");
    }

    /// COM_INIT_DB.
    pub(crate) fn init_db(&mut self, schema: impl AsRef<[u8]>) -> Result<Answer, Failure> {
        self.command(Command::InitDb as u8, schema.as_ref())
    }

    /// Sends a command without waiting for its answer.
    pub(crate) fn send(&mut self, command: u8, argument: &[u8]) -> io::Result<()> {
        let has_attributes = self.capabilities.contains(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
        let none: &[u8] =
            if has_attributes && command == Command::Query as u8 { &NO_ATTRIBUTES } else { &[] };
        self.send_payload(&[&[command], none, argument].concat())
    }

    /// Sends a command, its byte and all, without waiting for its answer.
    pub(crate) fn send_payload(&mut self, payload: &[u8]) -> io::Result<()> {
        self.begin();
        let mut packet = Vec::with_capacity(payload.len() + 5);
        append_packet(&mut packet, &mut self.next_sequence, payload);
        // What is behind the command's frames is numbered from the last of them on.
        self.socket.write_all(&packet)
    }

    /// Sends bytes as they are; the answer is expected to begin with `next_sequence`.
    pub(crate) fn send_raw(&mut self, bytes: &[u8], next_sequence: u8) -> io::Result<()> {
        self.begin();
        self.next_sequence = next_sequence;
        self.socket.write_all(bytes)
    }

    /// The next packet begins an answer and has this number.
    pub(crate) fn expect_next(&mut self, sequence: u8) {
        self.raw.clear();
        self.next_sequence = sequence;
    }

    fn begin(&mut self) {
        self.raw.clear();
        self.next_sequence = 0;
    }

    /// The payload of the next packet, whose frames must be in order.
    pub(crate) fn read_packet(&mut self) -> io::Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let header = self.take(HEADER_LEN)?;
            let header = FrameHeader::parse(&header).expect("a header is whole");
            assert_eq!(header.sequence, self.next_sequence, "the packet's number");
            self.next_sequence = self.next_sequence.wrapping_add(1);
            payload.extend(self.take(header.payload_len)?);
            if !header.is_continued() {
                return Ok(payload);
            }
        }
    }

    fn take(&mut self, n: usize) -> io::Result<Vec<u8>> {
        while self.inbox.len() - self.used < n {
            self.inbox.drain(..self.used);
            self.used = 0;
            let filled = self.inbox.len();
            self.inbox.resize(filled + 64 * 1024, 0);
            let read = self.socket.read(&mut self.inbox[filled..]);
            self.inbox.truncate(filled + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let taken = self.inbox[self.used..self.used + n].to_vec();
        self.used += n;
        self.raw.extend_from_slice(&taken);
        Ok(taken)
    }

    /// Bytes of the answer at hand that have come, whole packets or not.
    pub(crate) fn received(&self) -> usize {
        self.raw.len() + self.inbox.len() - self.used
    }

    /// Whether the server closes the connection, saying nothing more but at most an error.
    pub(crate) fn is_closed_by_server(&mut self) -> bool {
        let mut rest = [0; 4096];
        loop {
            match self.socket.read(&mut rest) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return Failure::Gone(error).is_closed(),
            }
        }
    }

    /// The error that the server sends by itself before it closes.
    #[track_caller]
    pub(crate) fn goodbye(&mut self) -> ServerError {
        // A client takes it for the answer to its next command.
        self.next_sequence = 1;
        let payload = self.read_packet().expect("a packet before the end");
        ServerError::parse(&payload)
    }

    /// Ends the connection without a word, in a way that the peer sees at once (RST over TCP).
    pub(crate) fn vanish(self) {
        self.socket.reset_on_close();
    }

    /// COM_QUIT, and waits until the server has closed.
    pub(crate) fn quit(mut self) {
        self.send(Command::Quit as u8, &[]).expect("the quit is sent");
        assert!(self.is_closed_by_server());
    }

    pub(crate) fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }
}
