//! Reading the protocol's primitive types out of a packet's payload, and writing the length-encoded ones.
//!
//! A [`Reader`] never panics and never reads past its payload: whatever is short is [`WireError::Truncated`].

use thiserror::Error;

/// What a peer's bytes can have wrong with them.
#[derive(Debug, Error, PartialEq, Eq, Clone, Copy)]
pub enum WireError {
    /// The payload ended inside a field.
    #[error("read a packet that ends too early")]
    Truncated,
    /// A field has a value that the protocol does not know in this place.
    #[error("read a packet with an impossible field: {0}")]
    Malformed(&'static str),
    /// A frame's sequence number is not the one that was due.
    #[error("read a packet out of order: sequence number {found} instead of {expected}")]
    OutOfOrder {
        /// The number that was due.
        expected: u8,
        /// The number that stood there.
        found: u8,
    },
}

/// A cursor over one packet's payload.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of `payload`.
    #[must_use]
    pub const fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// What has not been read yet.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `n` bytes.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(head)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, WireError> {
        let (first, rest) = self.rest.split_first().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*first)
    }

    /// `int<2>`, little endian.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        let mut array = [0; 2];
        array.copy_from_slice(self.bytes(2)?);
        Ok(u16::from_le_bytes(array))
    }

    /// `int<4>`, little endian.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        let mut array = [0; 4];
        array.copy_from_slice(self.bytes(4)?);
        Ok(u32::from_le_bytes(array))
    }

    /// `string<NUL>`; the NUL is read and not returned.
    pub fn null_terminated(&mut self) -> Result<&'a [u8], WireError> {
        let end = self.rest.iter().position(|&b| b == 0).ok_or(WireError::Truncated)?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        Ok(text)
    }

    /// `int<lenenc>`.
    pub fn lenenc_int(&mut self) -> Result<u64, WireError> {
        let width = match self.u8()? {
            0xFC => 2,
            0xFD => 3,
            0xFE => 8,
            0xFB | 0xFF => return Err(WireError::Malformed("length-encoded integer")),
            small => return Ok(u64::from(small)),
        };
        let value = self.bytes(width)?.iter().rev().fold(0_u64, |sum, &b| sum << 8 | u64::from(b));
        Ok(value)
    }

    /// `string<lenenc>`.
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let len = self.lenenc_int()?;
        self.bytes(usize::try_from(len).map_err(|_too_long| WireError::Truncated)?)
    }
}

/// Appends `value` as `int<lenenc>`.
pub fn append_lenenc_int(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    let (marker, width) = match value {
        0..=250 => (None, 1),
        251..=0xFFFF => (Some(0xFC), 2),
        0x1_0000..=0xFF_FFFF => (Some(0xFD), 3),
        _ => (Some(0xFE), 8),
    };
    out.extend(marker);
    out.extend(bytes.iter().take(width));
}

/// Appends `bytes` as `string<lenenc>`.
pub fn append_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    append_lenenc_int(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers_survive_a_round_trip() {
        for value in [0, 250, 251, 252, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
            let mut out = Vec::new();
            append_lenenc_int(&mut out, value);
            let mut reader = Reader::new(&out);
            assert_eq!(reader.lenenc_int(), Ok(value));
            assert!(reader.rest().is_empty());
        }
    }

    #[test]
    fn a_short_payload_is_truncated_everywhere() {
        assert_eq!(Reader::new(&[0xFD, 1]).lenenc_int(), Err(WireError::Truncated));
        assert_eq!(Reader::new(&[3, b'a']).lenenc_bytes(), Err(WireError::Truncated));
        assert_eq!(Reader::new(b"abc").null_terminated(), Err(WireError::Truncated));
        assert_eq!(Reader::new(&[1]).u16(), Err(WireError::Truncated));
    }
}
