//! What servers have compressed: MariaDB single events, with zlib, and MySQL whole transactions, with zstd.
//!
//! How long something will be is only a claim: memory is taken for what has been unpacked, and up to a limit.

use std::io::Read;

use flate2::read::ZlibDecoder;
use zstd::stream::read::Decoder;

use super::BinlogError;
use super::cursor::Cursor;
use super::header::{HEADER_BYTES, header};

/// What one event may unpack to. The servers' own limit of an event is 1 GiB (`max_allowed_packet`).
const UNPACKED_BYTES_MAX: u64 = 1 << 30;
/// The longest window of zstd's that is accepted: what the highest level that MySQL offers may need (128 MiB).
const WINDOW_LOG_MAX: u32 = 27;

/// Unpacks what MariaDB has compressed to `out`, which is emptied first.
///
/// It begins with a byte that has the algorithm and how long the length is, and the length, the highest byte first.
pub(super) fn unpack_mariadb(packed: &[u8], out: &mut Vec<u8>) -> Result<(), BinlogError> {
    let mut fields = Cursor::new(packed);
    let first = fields.u8()?;
    let (is_packed, algorithm, length_bytes) = (first & 0x80 != 0, first >> 4 & 7, first & 7);
    if !is_packed || algorithm != 0 || !(1..=4).contains(&length_bytes) {
        return Err(BinlogError::Malformed("the head of compressed bytes"));
    }
    let len =
        fields.bytes(usize::from(length_bytes))?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    if len > UNPACKED_BYTES_MAX {
        return Err(BinlogError::TooLarge("a compressed event"));
    }
    out.clear();
    let read = ZlibDecoder::new(fields.rest())
        .take(len + 1)
        .read_to_end(out)
        .map_err(|_why| BinlogError::Compression)?;
    if u64::try_from(read) == Ok(len) { Ok(()) } else { Err(BinlogError::Compression) }
}

/// The events of a MySQL transaction that was written as one payload, one after the other.
pub(super) struct Payload<'e> {
    events: Events<'e>,
    /// What may still come.
    left: u64,
}

enum Events<'e> {
    Plain(&'e [u8]),
    Packed(Box<Decoder<'static, &'e [u8]>>),
}

impl<'e> Payload<'e> {
    /// A list of fields, each with its kind and length, up to one of the kind 0; then the events.
    pub(super) fn parse(body: &'e [u8]) -> Result<Self, BinlogError> {
        let mut fields = Cursor::new(body);
        let (mut len, mut algorithm) = (None, None);
        loop {
            let kind = fields.packed()?;
            if kind == 0 {
                break;
            }
            let mut field = Cursor::new(fields.packed_bytes()?);
            match kind {
                1 => len = Some(field.packed()?),
                2 => algorithm = Some(field.packed()?),
                _ => {} // How long it will be.
            }
        }
        let bytes = fields.rest();
        if len.is_some_and(|len| usize::try_from(len) != Ok(bytes.len())) {
            return Err(BinlogError::Malformed("a payload's length"));
        }
        let events = match algorithm {
            Some(0) => Events::Packed(Box::new(decoder(bytes)?)),
            Some(255) | None => Events::Plain(bytes),
            Some(_) => return Err(BinlogError::Compression),
        };
        Ok(Self { events, left: UNPACKED_BYTES_MAX })
    }

    /// Puts the next event into `event`. Returns whether there was one.
    pub(super) fn next_into(&mut self, event: &mut Vec<u8>) -> Result<Next, BinlogError> {
        event.clear();
        if self.read(HEADER_BYTES, event)? == 0 {
            return Ok(Next::End);
        }
        let (_, len, _) = header(event)?;
        let body = len - HEADER_BYTES;
        match self.read(body, event)? == body {
            true => Ok(Next::Event),
            false => Err(BinlogError::Truncated),
        }
    }

    fn read(&mut self, len: usize, event: &mut Vec<u8>) -> Result<usize, BinlogError> {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(len).ok_or(BinlogError::TooLarge("a transaction's payload"))?;
        match &mut self.events {
            Events::Plain(bytes) => bytes.take(len).read_to_end(event),
            Events::Packed(decoder) => decoder.take(len).read_to_end(event),
        }
        .map_err(|_why| BinlogError::Compression)
    }
}

/// Whether another event came.
pub(super) enum Next {
    Event,
    End,
}

fn decoder(bytes: &[u8]) -> Result<Decoder<'static, &[u8]>, BinlogError> {
    let mut decoder = Decoder::with_buffer(bytes).map_err(|_why| BinlogError::Compression)?;
    decoder.window_log_max(WINDOW_LOG_MAX).map_err(|_why| BinlogError::Compression)?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_a_claim_that_must_be_true() {
        // "aaaa", as zlib packs it.
        let packed = [0x78, 0x9C, 0x4B, 0x4C, 0x4C, 0x4C, 0x04, 0x00, 0x03, 0xCE, 0x01, 0x85];
        let mut out = Vec::new();
        assert_eq!(unpack_mariadb(&[&[0x81, 4][..], &packed].concat(), &mut out), Ok(()));
        assert_eq!(out, b"aaaa");
        for (head, error) in [
            (&[0x81, 3][..], BinlogError::Compression),
            (&[0x81, 5], BinlogError::Compression),
            (&[0x84, 0x3F, 0xFF, 0xFF, 0xFF], BinlogError::Compression),
            (&[0x84, 0x40, 0, 0, 1], BinlogError::TooLarge("a compressed event")),
            (&[0x85, 1], BinlogError::Malformed("the head of compressed bytes")),
            (&[0x91, 1], BinlogError::Malformed("the head of compressed bytes")),
            (&[0x01, 1], BinlogError::Malformed("the head of compressed bytes")),
        ] {
            let packed = [head, &packed].concat();
            assert_eq!(unpack_mariadb(&packed, &mut out), Err(error), "{head:?}");
            assert!(out.capacity() < 1 << 16);
        }
    }
}
