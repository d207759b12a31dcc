//! What is asked, packet by packet.

use std::io::{Read, Write};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::login::{encode_packet, refuse_error};
use crate::reply::{EofForm, HEADER_BYTES, RANGE_ROWS};
use crate::socket::Socket;

const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;

/// Of a 32-bit integer, signed.
const MYSQL_TYPE_LONG: [u8; 2] = [3, 0];

/// The first statement that a session of the proxy prepares has this number.
const FIRST_NUMBER: u32 = 1;

/// What a load consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Statement {
    /// A point select as text
    Select,
    /// The same, prepared once by each connection (through the proxy only: it numbers each session's from 1)
    Execution,
    /// An update of one row
    Update,
    /// A select of a hundred rows as text: some 12 KiB
    Range,
}

impl Statement {
    /// Its name on a command line.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Rows of the answer, where there are any.
    pub(crate) const fn rows(self) -> u32 {
        if matches!(self, Self::Range) { RANGE_ROWS } else { 1 }
    }

    /// The packet that asks for that id.
    pub(super) fn packet(self, id: u32) -> Vec<u8> {
        let query = |text: String| [&[COM_QUERY], text.as_bytes()].concat();
        let payload = match self {
            Self::Select => query(format!("SELECT c FROM sbtest1 WHERE id={id}")),
            Self::Range => {
                let last = id + RANGE_ROWS - 1;
                query(format!("SELECT c FROM sbtest1 WHERE id BETWEEN {id} AND {last}"))
            }
            Self::Update => query(format!("UPDATE sbtest1 SET k=k+1 WHERE id={id}")),
            Self::Execution => {
                let mut payload = vec![COM_STMT_EXECUTE];
                payload.extend(FIRST_NUMBER.to_le_bytes());
                // No cursor, one iteration, no NULL, types follow.
                payload.extend([0, 1, 0, 0, 0, 0, 1]);
                payload.extend(MYSQL_TYPE_LONG);
                payload.extend(id.to_le_bytes());
                payload
            }
        };
        encode_packet(0, &payload)
    }

    /// Does on a new connection what the packets need.
    pub(super) fn begin(self, socket: &mut Socket, form: EofForm) -> Result<()> {
        if self != Self::Execution {
            return Ok(());
        }
        let text = b"SELECT c FROM sbtest1 WHERE id=?";
        socket.write_all(&encode_packet(0, &[&[COM_STMT_PREPARE], text.as_slice()].concat()))?;
        let first = read_packet(socket)?;
        refuse_error(&first)?;
        let number = first.get(1..5).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        ensure!(number == Some(FIRST_NUMBER), "the server numbers a first statement {number:?}");
        let definitions = if form == EofForm::Packets { 4 } else { 2 };
        (0..definitions).try_for_each(|_| read_packet(socket).map(drop))
    }
}

fn read_packet(socket: &mut Socket) -> Result<Vec<u8>> {
    let mut header = [0; HEADER_BYTES];
    socket.read_exact(&mut header).context("no answer to a preparation")?;
    let [low, middle, high, _] = header;
    let mut payload = vec![0; u32::from_le_bytes([low, middle, high, 0]) as usize];
    socket.read_exact(&mut payload)?;
    Ok(payload)
}
