//! Frames: the 4-byte header (3 bytes length, 1 byte sequence number) and the splitting of payloads of 16 MiB and more.
//!
//! Source: "MySQL Packets". A payload of exactly a multiple of [`FRAME_PAYLOAD_MAX`] bytes ends with an empty frame.

/// Bytes of a frame's header.
pub const HEADER_LEN: usize = 4;

/// Bytes of payload in a frame that is followed by another frame of the same packet.
pub const FRAME_PAYLOAD_MAX: usize = 0xFF_FFFF;

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of payload that follow.
    pub payload_len: usize,
    /// Position in the exchange, modulo 256.
    pub sequence: u8,
}

impl FrameHeader {
    /// Reads the header at the start of `bytes`; `None` means that more bytes are needed.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, sequence] = bytes.first_chunk::<HEADER_LEN>()?;
        let payload_len = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        Some(Self { payload_len, sequence: *sequence })
    }

    /// Whether the same packet goes on in the next frame.
    #[must_use]
    pub const fn is_continued(self) -> bool {
        self.payload_len == FRAME_PAYLOAD_MAX
    }

    /// The header as bytes. Lengths over [`FRAME_PAYLOAD_MAX`] are the caller's mistake and are cut.
    #[must_use]
    pub fn encode(self) -> [u8; HEADER_LEN] {
        let [a, b, c, ..] = self.payload_len.to_le_bytes();
        [a, b, c, self.sequence]
    }
}

/// Appends `payload` as one packet, in as many frames as it needs, and moves `sequence` behind it.
pub fn append_packet(out: &mut Vec<u8>, sequence: &mut u8, payload: &[u8]) {
    let mut rest = payload;
    loop {
        let (now, later) = rest.split_at(rest.len().min(FRAME_PAYLOAD_MAX));
        out.extend(FrameHeader { payload_len: now.len(), sequence: *sequence }.encode());
        out.extend_from_slice(now);
        *sequence = sequence.wrapping_add(1);
        if now.len() < FRAME_PAYLOAD_MAX {
            return;
        }
        rest = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_parsed_once_it_is_whole() {
        assert_eq!(FrameHeader::parse(&[1, 0, 0]), None);
        let header = FrameHeader { payload_len: 0x01_02_03, sequence: 9 };
        assert_eq!(FrameHeader::parse(&header.encode()), Some(header));
    }

    #[test]
    fn a_payload_of_exactly_16_mib_ends_with_an_empty_frame() {
        let (mut out, mut sequence) = (Vec::new(), 0);
        append_packet(&mut out, &mut sequence, &vec![7; FRAME_PAYLOAD_MAX]);
        assert_eq!(sequence, 2);
        assert_eq!(out.len(), FRAME_PAYLOAD_MAX + 2 * HEADER_LEN);
        assert!(out.ends_with(&[0, 0, 0, 1]));
    }
}
