//! What stands before every event, and the checksum behind it.

use super::BinlogError;
use super::cursor::Cursor;
use super::kind;

/// The header's length, and the checksum's.
pub(super) const HEADER_BYTES: usize = 19;
pub(super) const CHECKSUM_BYTES: usize = 4;

/// `LOG_EVENT_BINLOG_IN_USE_F`: not part of what the format's checksum is of.
const IN_USE: u16 = 0x01;
/// `LOG_EVENT_ARTIFICIAL_F`.
const ARTIFICIAL: u16 = 0x20;
/// `LOG_EVENT_IGNORABLE_F`.
const IGNORABLE: u16 = 0x80;
/// Where the flags stand.
const FLAGS_OFFSET: usize = 17;

/// Where an event stands, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where it ends in its file: the header's `log_pos`, in 32 bits. 0 where the server says none: of what the file does not
    /// have, and in MariaDB 11.8 of everything inside a transaction. What is in a MySQL transaction's payload ends where that does.
    pub end: u64,
    /// The server where it was written first.
    pub server_id: u32,
    /// The header's flags.
    pub flags: u16,
}

impl Place {
    /// Whether the server has made it up for this connection.
    #[must_use]
    pub const fn is_artificial(&self) -> bool {
        self.flags & ARTIFICIAL != 0
    }

    /// Whether who does not know it may pass over it.
    #[must_use]
    pub const fn is_ignorable(&self) -> bool {
        self.flags & IGNORABLE != 0
    }
}

/// What a file's events have behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksum {
    /// Nothing has told yet: see [`Checksum::strip`].
    Unknown,
    None,
    Crc32,
}

/// One event, cut apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Framed<'e> {
    pub(super) kind: u8,
    pub(super) place: Place,
    pub(super) body: &'e [u8],
}

impl<'e> Framed<'e> {
    /// An event that has no checksum, or no more.
    pub(super) fn parse(event: &'e [u8]) -> Result<Self, BinlogError> {
        let (kind, _, place) = header(event)?;
        Ok(Self { kind, place, body: event.get(HEADER_BYTES..).unwrap_or_default() })
    }
}

/// The kind, the length and the place that a header has.
pub(super) fn header(event: &[u8]) -> Result<(u8, usize, Place), BinlogError> {
    let mut fields = Cursor::new(event);
    fields.bytes(4)?; // When it was written.
    let kind = fields.u8()?;
    let server_id = fields.u32()?;
    let len = fields.number(4)?;
    let end = fields.number(4)?;
    let flags = fields.u16()?;
    let len = usize::try_from(len).map_err(|_above| BinlogError::Truncated)?;
    if len < HEADER_BYTES {
        return Err(BinlogError::Malformed("an event's length"));
    }
    Ok((kind, len, Place { end, server_id, flags }))
}

impl Checksum {
    /// As a format says it.
    pub(super) const fn parse(byte: u8) -> Result<Self, BinlogError> {
        match byte {
            0 => Ok(Self::None),
            1 => Ok(Self::Crc32),
            other => Err(BinlogError::UnknownChecksum(other)),
        }
    }

    /// The event without what stands behind it, which is the checksum of the event.
    ///
    /// A rotation that the server has made up comes before the format of its file, and MariaDB's has a checksum if the connection
    /// has asked for one, whatever the file has: there the bytes themselves tell.
    pub(super) fn strip(self, event: &[u8]) -> Result<&[u8], BinlogError> {
        let (kind, len, place) = header(event)?;
        if len != event.len() {
            return Err(BinlogError::Malformed("an event's length"));
        }
        let is_told_by_bytes = self == Self::Unknown || kind == kind::ROTATE && place.is_artificial();
        match split(event) {
            Some((stripped, true)) if is_told_by_bytes || self == Self::Crc32 => Ok(stripped),
            _ if is_told_by_bytes || self == Self::None => Ok(event),
            Some(_) => Err(BinlogError::Checksum),
            None => Err(BinlogError::Truncated),
        }
    }
}

/// The event without its last four bytes, and whether those are its checksum.
pub(super) fn split(event: &[u8]) -> Option<(&[u8], bool)> {
    let (stripped, checksum) = event.split_last_chunk::<CHECKSUM_BYTES>()?;
    (stripped.len() >= HEADER_BYTES).then(|| (stripped, sum(stripped) == u32::from_le_bytes(*checksum)))
}

fn sum(event: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    match event.split_at_checked(FLAGS_OFFSET) {
        Some((before, [low, rest @ ..])) if event.get(4) == Some(&kind::FORMAT_DESCRIPTION) => {
            let [in_use, _] = IN_USE.to_le_bytes();
            hasher.update(before);
            hasher.update(&[low & !in_use]);
            hasher.update(rest);
        }
        _ => hasher.update(event),
    }
    hasher.finalize()
}
