//! The names of XA transactions, and the event that prepares one.

use super::BinlogError;
use super::cursor::Cursor;

/// Each of a name's two parts has at most so many bytes (`MAXGTRIDSIZE`, `MAXBQUALSIZE`).
const PART_BYTES_MAX: usize = 64;

/// The name of an XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Xid<'e> {
    /// 1 if the statement did not say it.
    pub format_id: i32,
    /// The global transaction.
    pub gtrid: &'e [u8],
    /// The branch.
    pub bqual: &'e [u8],
}

impl<'e> Xid<'e> {
    /// With lengths of four bytes, as in `XA_PREPARE_LOG_EVENT`.
    pub(super) fn parse(fields: &mut Cursor<'e>) -> Result<Self, BinlogError> {
        let format_id = i32::from_le_bytes(fields.array()?);
        let gtrid_len = fields.number(4)?;
        let bqual_len = fields.number(4)?;
        Self { format_id, gtrid: &[], bqual: &[] }.with_parts(fields, gtrid_len, bqual_len)
    }

    /// With lengths of one byte, as in MariaDB's GTID event.
    pub(super) fn parse_short(fields: &mut Cursor<'e>) -> Result<Self, BinlogError> {
        let format_id = i32::from_le_bytes(fields.array()?);
        let gtrid_len = fields.number(1)?;
        let bqual_len = fields.number(1)?;
        Self { format_id, gtrid: &[], bqual: &[] }.with_parts(fields, gtrid_len, bqual_len)
    }

    fn with_parts(self, fields: &mut Cursor<'e>, gtrid: u64, bqual: u64) -> Result<Self, BinlogError> {
        let mut part = |len: u64| match usize::try_from(len) {
            Ok(len) if len <= PART_BYTES_MAX => fields.bytes(len),
            _ => Err(BinlogError::Malformed("an XA transaction's name")),
        };
        Ok(Self { format_id: self.format_id, gtrid: part(gtrid)?, bqual: part(bqual)? })
    }
}
