//! A connection that costs the checker little: statements and parameters go out, rows of integers come in.
//!
//! It is the end to end tests' client for the login and for preparing, and reads answers by itself, without keeping raw bytes. Every
//! column of every answer is an integer. One that breaks says so, and is of no use any more.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::time::Duration;

use nuthatch_wire::{ColumnType, Command, ErrPacket, FrameHeader, HEADER_LEN, OkPacket, Reader};

use crate::client::{self, Address, Client, Login};
use crate::register::Content;

/// Read from the socket at once.
const READ_BYTES: usize = 8 * 1024;

/// How a statement travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// COM_QUERY with the values in the text.
    Text,
    /// COM_STMT_EXECUTE.
    Prepared,
}

/// A statement with `?` for each of its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) arguments: Vec<i64>,
}

impl Statement {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>, arguments: impl Into<Vec<i64>>) -> Self {
        Self { sql: sql.into(), arguments: arguments.into() }
    }

    /// With the arguments in their places.
    pub(crate) fn text(&self) -> String {
        let mut pieces = self.sql.split('?');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (argument, piece) in self.arguments.iter().zip(pieces) {
            text += &argument.to_string();
            text += piece;
        }
        text
    }
}

/// The server's refusal of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refuses the statement.
    Refused(Refusal),
    /// The connection is gone, or nothing came in time.
    Gone(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Gone(error)
    }
}

impl From<client::Failure> for Failure {
    fn from(failure: client::Failure) -> Self {
        match failure {
            client::Failure::Server(error) => {
                Self::Refused(Refusal { code: error.code, message: error.message })
            }
            client::Failure::Gone(error) => Self::Gone(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Gone(error) => write!(f, "the connection is gone: {error}"),
        }
    }
}

/// What a statement was answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) insert_id: u64,
    pub(crate) rows: Vec<Vec<Content>>,
}

#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    /// Numbers of the statements that were prepared, by text.
    prepared: HashMap<String, u32>,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
    used: usize,
}

impl Connection {
    /// Logged in; no answer takes longer than `patience`.
    pub(crate) fn open(address: &Address, login: &Login, patience: Duration) -> Result<Self, Failure> {
        let mut client = Client::connect(address, login)?;
        client.socket().give_up_after(patience)?;
        Ok(Self { client, prepared: HashMap::new(), outbox: Vec::new(), inbox: Vec::new(), used: 0 })
    }

    pub(crate) fn run(&mut self, statement: &Statement, form: Form) -> Result<Reply, Failure> {
        self.outbox.clear();
        self.outbox.resize(HEADER_LEN, 0);
        match form {
            Form::Text => {
                self.outbox.push(Command::Query as u8);
                self.outbox.extend_from_slice(statement.text().as_bytes());
            }
            Form::Prepared => {
                let id = self.prepare(&statement.sql)?;
                append_execute(&mut self.outbox, id, &statement.arguments);
            }
        }
        let header = FrameHeader { payload_len: self.outbox.len() - HEADER_LEN, sequence: 0 };
        self.outbox[..HEADER_LEN].copy_from_slice(&header.encode());
        self.client.socket().write_all(&self.outbox)?;
        self.inbox.clear();
        self.used = 0;
        self.read_reply(form)
    }

    fn prepare(&mut self, sql: &str) -> Result<u32, Failure> {
        if let Some(id) = self.prepared.get(sql) {
            return Ok(*id);
        }
        let prepared = self.client.prepare(sql.as_bytes())?;
        self.prepared.insert(sql.to_owned(), prepared.id);
        Ok(prepared.id)
    }

    fn read_reply(&mut self, form: Form) -> Result<Reply, Failure> {
        let first = self.packet()?;
        let payload = &self.inbox[first];
        match payload.first() {
            Some(0x00) => {
                let ok = OkPacket::parse_body(&payload[1..]).expect("an OK packet");
                return Ok(Reply { insert_id: ok.insert_id, rows: Vec::new() });
            }
            Some(0xFF) => return Err(Failure::Refused(refusal(payload))),
            _ => {}
        }
        let columns = Reader::new(payload).lenenc_int().expect("a column count");
        let types: Vec<u8> = (0..columns).map(|_| self.column_type()).collect::<io::Result<_>>()?;
        let mut rows = Vec::new();
        loop {
            let packet = self.packet()?;
            let payload = &self.inbox[packet];
            match (payload.first(), form) {
                (Some(0xFE), _) => return Ok(Reply { insert_id: 0, rows }),
                (Some(0xFF), _) => return Err(Failure::Refused(refusal(payload))),
                (_, Form::Text) => rows.push(text_row(payload, types.len())),
                (_, Form::Prepared) => rows.push(binary_row(payload, &types)),
            }
        }
    }

    /// The type that the next packet says of its column: it stands six bytes before the end.
    fn column_type(&mut self) -> io::Result<u8> {
        let packet = self.packet()?;
        Ok(self.inbox[packet.end - 6])
    }

    /// Where the next packet's payload is in the inbox, once it is there.
    fn packet(&mut self) -> io::Result<Range<usize>> {
        self.fill(HEADER_LEN)?;
        let header = FrameHeader::parse(&self.inbox[self.used..]).expect("a header is whole");
        assert!(!header.is_continued(), "no answer here is so large");
        self.used += HEADER_LEN;
        self.fill(header.payload_len)?;
        let start = self.used;
        self.used += header.payload_len;
        Ok(start..self.used)
    }

    /// Returns when so many bytes are there.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        while self.inbox.len() - self.used < wanted {
            let filled = self.inbox.len();
            self.inbox.resize(filled + READ_BYTES, 0);
            let read = self.client.socket().read(&mut self.inbox[filled..])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.inbox.truncate(filled + read);
        }
        Ok(())
    }
}

fn append_execute(payload: &mut Vec<u8>, id: u32, arguments: &[i64]) {
    payload.push(Command::StmtExecute as u8);
    payload.extend(id.to_le_bytes());
    payload.extend([0, 1, 0, 0, 0]);
    if arguments.is_empty() {
        return;
    }
    payload.resize(payload.len() + arguments.len().div_ceil(8), 0);
    payload.push(1);
    for _ in arguments {
        payload.extend([ColumnType::MYSQL_TYPE_LONGLONG as u8, 0]);
    }
    for argument in arguments {
        payload.extend(argument.to_le_bytes());
    }
}

fn refusal(payload: &[u8]) -> Refusal {
    let error = ErrPacket::parse(payload).expect("an ERR packet");
    Refusal { code: error.code, message: String::from_utf8_lossy(&error.message).into_owned() }
}

fn text_row(payload: &[u8], columns: usize) -> Vec<Content> {
    let mut reader = Reader::new(payload);
    (0..columns)
        .map(|_| {
            if reader.rest().first() == Some(&0xFB) {
                reader.u8().expect("the NULL");
                return None;
            }
            Some(decimal(reader.lenenc_bytes().expect("a value")))
        })
        .collect()
}

fn binary_row(payload: &[u8], types: &[u8]) -> Vec<Content> {
    let mut reader = Reader::new(payload);
    assert_eq!(reader.u8(), Ok(0), "a binary row begins with 0");
    let nulls = reader.bytes((types.len() + 2).div_ceil(8)).expect("the NULL bitmap");
    let is_null = |place: usize| nulls[(place + 2) / 8] & (1 << ((place + 2) % 8)) != 0;
    let mut value = |kind: u8| match ColumnType::try_from(kind) {
        Ok(ColumnType::MYSQL_TYPE_LONG) => i64::from(reader.u32().expect("4 bytes").cast_signed()),
        Ok(ColumnType::MYSQL_TYPE_LONGLONG) => {
            let bytes = reader.bytes(8).expect("8 bytes");
            i64::from_le_bytes(bytes.try_into().expect("8 bytes"))
        }
        Ok(ColumnType::MYSQL_TYPE_NEWDECIMAL) => decimal(reader.lenenc_bytes().expect("a value")),
        other => panic!("a column of type {other:?}"),
    };
    types.iter().enumerate().map(|(place, kind)| (!is_null(place)).then(|| value(*kind))).collect()
}

fn decimal(digits: &[u8]) -> i64 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).expect("an integer in decimal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_in_their_places() {
        let statement = Statement::new("SELECT ?, (?) FROM t WHERE id = ?", [1, -2, 33]);
        assert_eq!(statement.text(), "SELECT 1, (-2) FROM t WHERE id = 33");
        assert_eq!(Statement::new("BEGIN", []).text(), "BEGIN");
    }

    #[test]
    fn rows_are_read_in_both_forms() {
        assert_eq!(text_row(b"\x0212\xFB\x02-7", 3), [Some(12), None, Some(-7)]);
        let types = [
            ColumnType::MYSQL_TYPE_LONG as u8,
            ColumnType::MYSQL_TYPE_LONGLONG as u8,
            ColumnType::MYSQL_TYPE_NEWDECIMAL as u8,
        ];
        let row = [&[0, 0b1000][..], &(-3_i32).to_le_bytes(), b"\x0242"].concat();
        assert_eq!(binary_row(&row, &types), [Some(-3), None, Some(42)]);
    }
}
