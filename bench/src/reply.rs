//! A state machine that finds where a reply to COM_QUERY ends, and whether two replies carry the same answer.
//!
//! Bytes are fed as they come and none is kept, so a reply of any size costs the same memory. It understands one
//! result set, OK or ERR; replies with several result sets are refused.

use anyhow::{Result, bail};

/// Length of a packet header: three bytes of length, one of sequence.
pub(crate) const HEADER_BYTES: usize = 4;

/// How many rows the answer to a range of ids has.
pub(crate) const RANGE_ROWS: u32 = 100;

/// A frame of this length is continued by the next one.
const FRAME_BYTES_MAX: u32 = 0x00ff_ffff;

/// An EOF packet in the old form is shorter than this.
const EOF_BYTES_MAX: u8 = 9;

/// `SERVER_MORE_RESULTS_EXISTS`.
const MORE_RESULTS: u16 = 8;

/// How a session ends a list of columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EofForm {
    /// With EOF packets, as before MySQL 5.7.
    Packets,
    /// `CLIENT_DEPRECATE_EOF`: none after the columns, an OK packet after the rows.
    Deprecated,
}

/// What a complete reply was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// An OK packet and nothing else.
    Ok,
    /// A result set with this many rows.
    Rows(u64),
    /// An ERR packet, at once or after some rows.
    Err,
}

/// A reply that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finished {
    /// What it was.
    pub(crate) ending: Ending,
    /// How many of the bytes fed last belong to it.
    pub(crate) consumed: usize,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    First,
    Columns { left: u64 },
    ColumnsEnd,
    Rows { seen: u64 },
}

/// The first bytes of a packet's payload; a packet is one or more frames.
#[derive(Debug, Default)]
struct Packet {
    head: [u8; 9],
    head_bytes: usize,
    payload_bytes: u64,
}

/// Progress through one reply.
#[derive(Debug)]
pub(crate) struct ReplyScan {
    form: EofForm,
    stage: Stage,
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    frame_bytes: u32,
    frame_left: u32,
    packet: Packet,
}

impl ReplyScan {
    /// At the start of a reply.
    pub(crate) fn new(form: EofForm) -> Self {
        Self {
            form,
            stage: Stage::First,
            header: [0; HEADER_BYTES],
            header_bytes: 0,
            frame_bytes: 0,
            frame_left: 0,
            packet: Packet::default(),
        }
    }

    /// Takes what was read. `None` while the reply goes on; an error if it is no reply to a query.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Option<Finished>> {
        let mut rest = bytes;
        loop {
            if self.header_bytes < HEADER_BYTES {
                self.take_header(&mut rest);
                if self.header_bytes < HEADER_BYTES {
                    return Ok(None);
                }
            }
            self.take_payload(&mut rest);
            if self.frame_left > 0 {
                return Ok(None);
            }
            self.header_bytes = 0;
            if self.frame_bytes == FRAME_BYTES_MAX {
                continue;
            }
            let packet = std::mem::take(&mut self.packet);
            if let Some(ending) = self.finish_packet(&packet)? {
                return Ok(Some(Finished { ending, consumed: bytes.len() - rest.len() }));
            }
        }
    }

    fn take_header(&mut self, rest: &mut &[u8]) {
        let wanted = (HEADER_BYTES - self.header_bytes).min(rest.len());
        self.header[self.header_bytes..self.header_bytes + wanted].copy_from_slice(&rest[..wanted]);
        self.header_bytes += wanted;
        *rest = &rest[wanted..];
        if self.header_bytes == HEADER_BYTES {
            self.frame_bytes = u32::from_le_bytes([self.header[0], self.header[1], self.header[2], 0]);
            self.frame_left = self.frame_bytes;
        }
    }

    fn take_payload(&mut self, rest: &mut &[u8]) {
        let taken = (self.frame_left as usize).min(rest.len());
        let (payload, behind) = rest.split_at(taken);
        let room = (self.packet.head.len() - self.packet.head_bytes).min(taken);
        self.packet.head[self.packet.head_bytes..self.packet.head_bytes + room]
            .copy_from_slice(&payload[..room]);
        self.packet.head_bytes += room;
        self.packet.payload_bytes += taken as u64;
        self.frame_left -= u32::try_from(taken).expect("at most the frame's length");
        *rest = behind;
    }

    fn finish_packet(&mut self, packet: &Packet) -> Result<Option<Ending>> {
        if packet.head_bytes > 0 && packet.head[0] == 0xff {
            return Ok(Some(Ending::Err));
        }
        match self.stage {
            Stage::First if packet.head_bytes > 0 && packet.head[0] == 0x00 => return Ok(Some(Ending::Ok)),
            Stage::First => self.stage = Stage::Columns { left: packet.column_count()? },
            Stage::Columns { left: 1 } if self.form == EofForm::Packets => self.stage = Stage::ColumnsEnd,
            Stage::Columns { left: 1 } => self.stage = Stage::Rows { seen: 0 },
            Stage::Columns { left } => self.stage = Stage::Columns { left: left - 1 },
            Stage::ColumnsEnd if packet.is_end(self.form) => self.stage = Stage::Rows { seen: 0 },
            Stage::ColumnsEnd => bail!("no EOF packet after the columns"),
            Stage::Rows { seen } if packet.is_end(self.form) => {
                packet.refuse_more_results(self.form)?;
                return Ok(Some(Ending::Rows(seen)));
            }
            Stage::Rows { seen } => self.stage = Stage::Rows { seen: seen + 1 },
        }
        Ok(None)
    }
}

impl Packet {
    fn column_count(&self) -> Result<u64> {
        match (self.head_bytes, self.head[0]) {
            (1, count @ 1..=0xfa) => Ok(u64::from(count)),
            (3, 0xfc) => Ok(u64::from(u16::from_le_bytes([self.head[1], self.head[2]]))),
            (_, first) => bail!("byte {first:#04x} does not begin a reply to a query"),
        }
    }

    fn is_end(&self, form: EofForm) -> bool {
        let limit = match form {
            EofForm::Packets => u64::from(EOF_BYTES_MAX),
            EofForm::Deprecated => u64::from(FRAME_BYTES_MAX),
        };
        self.head_bytes > 0 && self.head[0] == 0xfe && self.payload_bytes < limit
    }

    /// Status is at bytes 3 and 4 in both forms, as a result set's last OK has two zero counts of one byte.
    fn refuse_more_results(&self, form: EofForm) -> Result<()> {
        let status = u16::from_le_bytes([self.head[3], self.head[4]]);
        if status & MORE_RESULTS != 0 {
            bail!("a reply of several result sets ({form:?}) is not understood");
        }
        Ok(())
    }
}

/// True if both replies have the same packets, whatever their EOF packets say of status and warnings.
///
/// A proxy may answer with status flags of its own session, so those are not part of the answer.
pub(crate) fn is_same_answer(first: &[u8], second: &[u8]) -> bool {
    let mut pair = (first, second);
    loop {
        match (next_frame(&mut pair.0), next_frame(&mut pair.1)) {
            (None, None) => return pair.0.is_empty() && pair.1.is_empty(),
            (Some(a), Some(b)) if a == b || (is_eof_frame(a) && is_eof_frame(b)) => {}
            _ => return false,
        }
    }
}

/// The next frame with its header.
fn next_frame<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let header = bytes.first_chunk::<HEADER_BYTES>()?;
    let payload_bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    let (frame, rest) = bytes.split_at_checked(HEADER_BYTES + payload_bytes)?;
    *bytes = rest;
    Some(frame)
}

fn is_eof_frame(frame: &[u8]) -> bool {
    frame.len() < HEADER_BYTES + usize::from(EOF_BYTES_MAX) && frame.get(HEADER_BYTES) == Some(&0xfe)
}

#[cfg(test)]
mod tests;
