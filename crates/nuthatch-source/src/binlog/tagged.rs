//! MySQL's own way to serialise, as far as its tagged GTIDs need it (manual of the source: "MySQL serialization library").
//!
//! Numbers say their length by the ones at the low end of their first byte. A message has its version, its length, the number
//! of the last field that must be understood, then fields, each behind its number, in ascending order.

use super::BinlogError;
use super::cursor::Cursor;

/// The version that is known, of 8.4 to 9.7.
const VERSION: u64 = 1;
/// The fields from here on tell nothing that is asked for; they are in the order of their numbers.
const FLAGS: u64 = 0;
const UUID: u64 = 1;
const NUMBER: u64 = 2;
const TAG: u64 = 3;
const LAST_COMMITTED: u64 = 4;
const SEQUENCE_NUMBER: u64 = 5;
/// The last of those that 9.7 has: of times, lengths and versions.
const LAST_KNOWN: u64 = 11;

/// What a tagged GTID's event tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tagged<'e> {
    pub(super) uuid: [u8; 16],
    pub(super) tag: &'e [u8],
    pub(super) number: i64,
    pub(super) last_committed: Option<i64>,
    pub(super) sequence_number: Option<i64>,
}

pub(super) fn parse(body: &[u8]) -> Result<Tagged<'_>, BinlogError> {
    let mut message = Cursor::new(body);
    if unsigned(&mut message)? != VERSION {
        return Err(BinlogError::Malformed("the version of a tagged GTID"));
    }
    let len = unsigned(&mut message)?;
    if usize::try_from(len).map_or(true, |len| len > body.len()) {
        return Err(BinlogError::Truncated);
    }
    if unsigned(&mut message)? > LAST_KNOWN + 1 {
        return Err(BinlogError::Malformed("a field of a tagged GTID"));
    }
    let mut tagged = Tagged::default();
    let mut has_number = false;
    while !message.is_empty() {
        match unsigned(&mut message)? {
            FLAGS => _ = unsigned(&mut message)?,
            UUID => {
                for byte in &mut tagged.uuid {
                    *byte = u8::try_from(unsigned(&mut message)?)
                        .map_err(|_above| BinlogError::Malformed("a UUID's byte"))?;
                }
            }
            NUMBER => {
                tagged.number = signed(&mut message)?;
                has_number = true;
            }
            TAG => {
                let len = unsigned(&mut message)?;
                tagged.tag = message.bytes(usize::try_from(len).map_err(|_above| BinlogError::Truncated)?)?;
            }
            LAST_COMMITTED => tagged.last_committed = Some(signed(&mut message)?),
            SEQUENCE_NUMBER => tagged.sequence_number = Some(signed(&mut message)?),
            _ => break,
        }
    }
    if !has_number {
        return Err(BinlogError::Malformed("a tagged GTID without a number"));
    }
    Ok(tagged)
}

fn unsigned(message: &mut Cursor<'_>) -> Result<u64, BinlogError> {
    let first = message.u8()?;
    let more = first.trailing_ones();
    let rest = message.number(usize::try_from(more).unwrap_or_default())?;
    // Of 8 or 9 bytes the first one has no bits of the number.
    let own = if more >= 7 { 0 } else { u64::from(first >> (more + 1)) };
    Ok(own | if more >= 7 { rest } else { rest << (7 - more) })
}

fn signed(message: &mut Cursor<'_>) -> Result<i64, BinlogError> {
    let number = unsigned(message)?;
    let magnitude = (number >> 1).cast_signed();
    Ok(if number & 1 == 0 { magnitude } else { -magnitude - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_their_length_themselves() {
        for (bytes, expected) in [
            (&[0b0][..], Some(0)),
            (&[0b1111_1110], Some(127)),
            (&[0b0000_0001, 1], Some(64)),
            (&[0b1000_0001, 2], Some(160)),
            (&[0b0111_1111, 1, 0, 0, 0, 0, 0, 0], Some(1)),
            (&[0xFF, 1, 0, 0, 0, 0, 0, 0, 0x80], Some(0x8000_0000_0000_0001)),
            (&[0xFF, 1], None),
            (&[], None),
        ] {
            assert_eq!(unsigned(&mut Cursor::new(bytes)).ok(), expected, "{bytes:?}");
        }
        for (bytes, expected) in [([0], 0), ([0b10], -1), ([0b100], 1), ([0b110], -2)] {
            assert_eq!(signed(&mut Cursor::new(&bytes)), Ok(expected));
        }
        let lowest = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
        assert_eq!(signed(&mut Cursor::new(&lowest)), Ok(i64::MIN));
    }
}
