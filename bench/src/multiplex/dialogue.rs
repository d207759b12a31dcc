//! Answers with their values, and a blocking connection that reads them.

use std::io::{Read, Write};

use anyhow::{Context, Result, bail, ensure};

use crate::address::Address;
use crate::login::{Login, encode_packet, log_in};
use crate::reply::{Ending, EofForm, HEADER_BYTES, ReplyScan};
use crate::socket::Socket;

/// An answer to one statement. Result sets come in the form with EOF packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Ok {
        affected: u64,
        insert_id: u64,
    },
    /// Values as text; NULL is `NULL`.
    Rows(Vec<Vec<String>>),
    /// `CODE: MESSAGE`.
    Error(String),
}

/// An answer as it comes.
#[derive(Debug)]
pub(super) struct Incoming {
    scan: ReplyScan,
    bytes: Vec<u8>,
}

impl Incoming {
    pub(super) fn new() -> Self {
        Self { scan: ReplyScan::new(EofForm::Packets), bytes: Vec::new() }
    }

    /// Takes what was read; the answer once it is whole.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Option<Answer>> {
        self.bytes.extend_from_slice(bytes);
        let Some(finished) = self.scan.feed(bytes)? else { return Ok(None) };
        ensure!(finished.consumed == bytes.len(), "bytes come behind the end of an answer");
        let answer = parse(&self.bytes, finished.ending).context("a malformed answer")?;
        *self = Self::new();
        Ok(Some(answer))
    }
}

fn parse(bytes: &[u8], ending: Ending) -> Option<Answer> {
    let packets = packets(bytes)?;
    let first = *packets.first()?;
    Some(match ending {
        Ending::Ok => {
            let mut fields = Fields(first.get(1..)?);
            Answer::Ok { affected: fields.number()?, insert_id: fields.number()? }
        }
        Ending::Err => {
            let error = *packets.last()?;
            let code = u16::from_le_bytes([*error.get(1)?, *error.get(2)?]);
            Answer::Error(format!("{code}: {}", String::from_utf8_lossy(error.get(3..)?)))
        }
        Ending::Rows(_) => {
            let columns = usize::try_from(Fields(first).number()?).ok()?;
            // A count, the columns, an EOF; the rows, an EOF.
            let rows = packets.get(columns + 2..packets.len() - 1)?;
            Answer::Rows(rows.iter().map(|row| texts(row, columns)).collect::<Option<_>>()?)
        }
    })
}

/// Payloads; none here is continued.
fn packets(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut packets = Vec::new();
    while let Some(header) = bytes.first_chunk::<HEADER_BYTES>() {
        let payload_bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        packets.push(bytes.get(HEADER_BYTES..HEADER_BYTES + payload_bytes)?);
        bytes = &bytes[HEADER_BYTES + payload_bytes..];
    }
    Some(packets)
}

fn texts(row: &[u8], columns: usize) -> Option<Vec<String>> {
    let mut fields = Fields(row);
    (0..columns).map(|_| fields.text()).collect()
}

/// Length-encoded fields.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        let bytes = match first {
            0..=0xfa => {
                self.0 = rest;
                return Some(first.into());
            }
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            _ => return None,
        };
        let (number, rest) = rest.split_at_checked(bytes)?;
        self.0 = rest;
        Some(number.iter().rev().fold(0, |sum, &byte| (sum << 8) | u64::from(byte)))
    }

    fn text(&mut self) -> Option<String> {
        if let Some((0xfb, rest)) = self.0.split_first() {
            self.0 = rest;
            return Some("NULL".into());
        }
        let bytes = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// A connection that asks and waits.
#[derive(Debug)]
pub(super) struct Dialogue {
    socket: Socket,
}

impl Dialogue {
    pub(super) fn connect(address: &Address, login: &Login) -> Result<Self> {
        let mut socket = Socket::connect(address)?;
        log_in(&mut socket, login)?;
        Ok(Self { socket })
    }

    /// Rows of a statement that must give some.
    pub(super) fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>> {
        self.socket.write_all(&encode_packet(0, &[b"\x03", sql.as_bytes()].concat()))?;
        let (mut incoming, mut buffer) = (Incoming::new(), vec![0; 64 * 1024]);
        loop {
            let read = self.socket.read(&mut buffer)?;
            ensure!(read > 0, "the server closed the connection");
            match incoming.take(&buffer[..read])? {
                None => {}
                Some(Answer::Rows(rows)) => return Ok(rows),
                Some(other) => bail!("{sql} is answered {other:?}"),
            }
        }
    }

    /// The last value of the first row, which is a number.
    pub(super) fn number(&mut self, sql: &str) -> Result<u64> {
        let rows = self.rows(sql)?;
        let value = rows.first().and_then(|row| row.last()).context("no row")?;
        value.parse().with_context(|| format!("{value} is no number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(payloads: &[&[u8]]) -> Answer {
        let bytes: Vec<u8> =
            (1..).zip(payloads).flat_map(|(number, payload)| encode_packet(number, payload)).collect();
        let mut incoming = Incoming::new();
        let (last, before) = bytes.split_last().unwrap();
        assert_eq!(incoming.take(before).unwrap(), None);
        incoming.take(&[*last]).unwrap().unwrap()
    }

    #[test]
    fn answers_are_read_with_their_values() {
        let ok = answer(&[&[0, 1, 0xfc, 0x2c, 1, 2, 0, 0, 0]]);
        assert_eq!(ok, Answer::Ok { affected: 1, insert_id: 300 });
        let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
        let rows = answer(&[&[2], b"\x03def a", b"\x03def b", eof, b"\x027x\xfb", eof]);
        assert_eq!(rows, Answer::Rows(vec![vec!["7x".into(), "NULL".into()]]));
        let error = answer(&[b"\xff\x28\x04#42000no"]);
        assert_eq!(error, Answer::Error("1064: #42000no".into()));
    }
}
