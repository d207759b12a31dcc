//! Reading the fields of an event, in their order.
//!
//! Nothing is read past the end and nothing panics: what is short is [`BinlogError::Truncated`].

use super::BinlogError;

/// What is left of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'e> {
    rest: &'e [u8],
}

impl<'e> Cursor<'e> {
    pub(super) const fn new(bytes: &'e [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) const fn rest(&self) -> &'e [u8] {
        self.rest
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'e [u8], BinlogError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(BinlogError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], BinlogError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(BinlogError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, BinlogError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, BinlogError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, BinlogError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, BinlogError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A little-endian number of so many bytes, no more than 8.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, BinlogError> {
        Ok(self.bytes(bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// `int<lenenc>` of the protocol.
    pub(super) fn packed(&mut self) -> Result<u64, BinlogError> {
        match self.u8()? {
            small @ 0..=0xFA => Ok(u64::from(small)),
            0xFC => self.number(2),
            0xFD => self.number(3),
            0xFE => self.number(8),
            0xFB | 0xFF => Err(BinlogError::Malformed("a packed number")),
        }
    }

    /// A packed number that counts something in this event.
    pub(super) fn packed_len(&mut self) -> Result<usize, BinlogError> {
        usize::try_from(self.packed()?).map_err(|_above| BinlogError::Truncated)
    }

    /// Bytes behind their packed length.
    pub(super) fn packed_bytes(&mut self) -> Result<&'e [u8], BinlogError> {
        let len = self.packed_len()?;
        self.bytes(len)
    }

    /// Bytes behind their length in one byte.
    pub(super) fn short_bytes(&mut self) -> Result<&'e [u8], BinlogError> {
        let len = self.u8()?;
        self.bytes(usize::from(len))
    }

    /// Bytes behind a length that is so many bytes long.
    pub(super) fn prefixed(&mut self, length_bytes: u8) -> Result<&'e [u8], BinlogError> {
        let len = self.number(usize::from(length_bytes))?;
        self.bytes(usize::try_from(len).map_err(|_above| BinlogError::Truncated)?)
    }

    /// A name of `len` bytes and the NUL behind it.
    pub(super) fn terminated(&mut self, len: usize) -> Result<&'e [u8], BinlogError> {
        let name = self.bytes(len)?;
        match self.u8()? {
            0 => Ok(name),
            _ => Err(BinlogError::Malformed("a name without its end")),
        }
    }

    /// As many bytes as hold a bit for each of `bits`.
    pub(super) fn bitmap(&mut self, bits: usize) -> Result<Bitmap<'e>, BinlogError> {
        self.bytes(bits.div_ceil(8)).map(Bitmap)
    }
}

/// Bits, the lowest of the first byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bitmap<'e>(pub(super) &'e [u8]);

impl Bitmap<'_> {
    /// Whether the bit is set; none is behind the end.
    pub(super) fn has(self, bit: usize) -> bool {
        self.0.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// How many of the first `bits` are set.
    pub(super) fn count(self, bits: usize) -> usize {
        (0..bits).filter(|bit| self.has(*bit)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_packed_and_never_past_the_end() {
        for (bytes, expected) in [
            (&[0xFA][..], Ok(250)),
            (&[0xFC, 1, 2], Ok(0x0201)),
            (&[0xFD, 1, 2, 3], Ok(0x03_0201)),
            (&[0xFE, 1, 0, 0, 0, 0, 0, 0, 0x80], Ok(0x8000_0000_0000_0001)),
            (&[0xFE, 1], Err(BinlogError::Truncated)),
            (&[0xFB], Err(BinlogError::Malformed("a packed number"))),
            (&[], Err(BinlogError::Truncated)),
        ] {
            assert_eq!(Cursor::new(bytes).packed(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn name_ends_with_its_nul() {
        assert_eq!(Cursor::new(b"ab\0c").terminated(2), Ok(&b"ab"[..]));
        assert!(Cursor::new(b"abc").terminated(2).is_err());
        assert_eq!(Cursor::new(b"ab").terminated(2), Err(BinlogError::Truncated));
    }

    #[test]
    fn bits_are_counted_from_the_lowest() {
        let bits = Bitmap(&[0b101, 0b1]);
        assert!(bits.has(0) && !bits.has(1) && bits.has(8) && !bits.has(200));
        assert_eq!((bits.count(8), bits.count(16)), (2, 3));
    }
}
