//! The rows of an answer as a number, to see whether the same statement is answered the same again.
//!
//! It walks over frames as they come, in whatever pieces. What is not of the rows is left out: status flags, what the server tells of the
//! session, and the definitions of columns, which look otherwise in another [`Form`](nuthatch_wire::Form). Of an answer without rows it is 0.

use nuthatch_wire::{FRAME_PAYLOAD_MAX, FrameHeader, HEADER_LEN, Reader};
use rapidhash::v3::rapidhash_v3;

/// Bytes that are made a number at a time.
const BLOCK_BYTES: usize = 4096;

/// A first packet is no longer, if it tells how many columns there are.
const COUNT_BYTES_MAX: usize = 10;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Print {
    has_optional_metadata: bool,
    /// The header at hand, as far as it has come.
    header: Vec<u8>,
    /// Payload of the frame at hand that is to come.
    left: usize,
    /// The frame at hand goes on with the packet of the one before.
    is_continued: bool,
    place: Place,
    /// What the packet at hand is.
    packet: Packet,
    /// The first packet, as far as it has come.
    first: Vec<u8>,
    block: Vec<u8>,
    sum: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    /// So many definitions are to come.
    Definitions(u64),
    Rows,
    /// Nothing of what comes counts.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packet {
    /// Its first byte has not come.
    Unknown,
    Row,
    /// It ends rows or definitions.
    End,
}

impl Print {
    /// Of an answer of which nothing has come. `has_optional_metadata`: its first packet says whether definitions follow.
    pub(crate) const fn new(has_optional_metadata: bool) -> Self {
        Self {
            has_optional_metadata,
            header: Vec::new(),
            left: 0,
            is_continued: false,
            place: Place::First,
            packet: Packet::Unknown,
            first: Vec::new(),
            block: Vec::new(),
            sum: 0,
        }
    }

    /// Nothing has come of the answer.
    pub(crate) fn begin_again(&mut self) {
        *self = Self::new(self.has_optional_metadata);
    }

    /// Takes the next bytes.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) {
        while self.place != Place::Over && !bytes.is_empty() {
            if self.left == 0 && self.header.len() < HEADER_LEN {
                let (now, later) = bytes.split_at(bytes.len().min(HEADER_LEN - self.header.len()));
                self.header.extend_from_slice(now);
                bytes = later;
                let Some(header) = FrameHeader::parse(&self.header) else { return };
                self.begin_frame(header.payload_len);
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(self.left));
            self.left -= now.len();
            bytes = later;
            self.take_payload(now);
            if self.left == 0 {
                self.end_frame();
            }
        }
    }

    fn begin_frame(&mut self, payload_len: usize) {
        self.left = payload_len;
        if !self.is_continued {
            self.packet = Packet::Unknown;
        }
        self.is_continued = payload_len == FRAME_PAYLOAD_MAX;
        if payload_len == 0 {
            self.end_frame();
        }
    }

    fn take_payload(&mut self, bytes: &[u8]) {
        match self.place {
            Place::First if self.first.len() + bytes.len() > COUNT_BYTES_MAX => self.place = Place::Over,
            Place::First => self.first.extend_from_slice(bytes),
            Place::Rows => {
                if self.packet == Packet::Unknown {
                    let is_short = !self.is_continued;
                    self.packet = match bytes.first() {
                        Some(0xFE | 0xFF) if is_short => Packet::End,
                        _ => Packet::Row,
                    };
                }
                if self.packet == Packet::Row {
                    self.add(bytes);
                }
            }
            Place::Definitions(_) | Place::Over => {}
        }
    }

    fn end_frame(&mut self) {
        self.header.clear();
        if self.is_continued {
            return;
        }
        match self.place {
            Place::First => self.place = self.place_behind_first(),
            Place::Definitions(1) => self.place = Place::Rows,
            Place::Definitions(count) => self.place = Place::Definitions(count - 1),
            // So that it shows where one row ends.
            Place::Rows if self.packet != Packet::End => self.add(b"\n"),
            Place::Rows | Place::Over => {}
        }
    }

    fn place_behind_first(&self) -> Place {
        match (self.first.first(), Reader::new(&self.first).lenenc_int()) {
            (None | Some(0x00 | 0xFB | 0xFF), _) | (_, Err(_)) => Place::Over,
            _ if self.has_optional_metadata && self.first.last() == Some(&0) => Place::Rows,
            (_, Ok(count)) => Place::Definitions(count),
        }
    }

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.block.len()));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() == BLOCK_BYTES {
                self.sum = with_block(self.sum, &self.block);
                self.block.clear();
            }
        }
    }

    /// The number, when all has come.
    pub(crate) fn sum(&self) -> u64 {
        if self.block.is_empty() { self.sum } else { with_block(self.sum, &self.block) }
    }
}

fn with_block(sum: u64, block: &[u8]) -> u64 {
    sum.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ rapidhash_v3(block)
}

#[cfg(test)]
mod tests {
    use nuthatch_wire::append_packet;

    use super::*;

    fn answer(packets: &[&[u8]]) -> Vec<u8> {
        let (mut bytes, mut sequence) = (Vec::new(), 1);
        packets.iter().for_each(|packet| append_packet(&mut bytes, &mut sequence, packet));
        bytes
    }

    fn sum_of(bytes: &[u8], piece: usize, has_optional_metadata: bool) -> u64 {
        let mut print = Print::new(has_optional_metadata);
        bytes.chunks(piece).for_each(|bytes| print.take(bytes));
        print.sum()
    }

    const EOF: &[u8] = b"\xFE\0\0\x02\0";
    const OTHER_EOF: &[u8] = b"\xFE\0\0\x23\0";

    #[test]
    fn rows_are_the_same_in_any_form_and_in_any_pieces() {
        let one = answer(&[b"\x01", b"\x03def", EOF, b"\x01a", b"\x01b", EOF]);
        for (bytes, has_optional_metadata) in [
            (one.clone(), false),
            (answer(&[b"\x01", b"\x03def", b"\x01a", b"\x01b", b"\xFE\0\0\x22\x40\0\0more"]), false),
            (answer(&[b"\x01", b"\x03def other", OTHER_EOF, b"\x01a", b"\x01b", OTHER_EOF]), false),
            (answer(&[b"\x01\x01", b"\x03def", EOF, b"\x01a", b"\x01b", EOF]), true),
            (answer(&[b"\x01\x00", b"\x01a", b"\x01b", EOF]), true),
        ] {
            for piece in [1, 3, 7, 1000] {
                assert_eq!(
                    sum_of(&bytes, piece, has_optional_metadata),
                    sum_of(&one, 1000, false),
                    "{bytes:?}"
                );
            }
        }
    }

    #[test]
    fn other_rows_have_another_number_and_none_have_none() {
        let rows = |rows: &[&[u8]]| {
            let packets: Vec<&[u8]> = [&b"\x01"[..], b"\x03def", EOF]
                .into_iter()
                .chain(rows.iter().copied())
                .chain([EOF])
                .collect();
            sum_of(&answer(&packets), 5, false)
        };
        let long = vec![b'x'; 3 * BLOCK_BYTES + 5];
        let sums = [
            rows(&[]),
            rows(&[b"\x01a"]),
            rows(&[b"\x01b"]),
            rows(&[b"\x01a", b"\x01b"]),
            rows(&[b"\x01b", b"\x01a"]),
            rows(&[b"\x01a\x01b"]),
            rows(&[&long]),
            rows(&[&long[1..]]),
        ];
        for (place, sum) in sums.iter().enumerate() {
            assert_eq!(sums.iter().position(|other| other == sum), Some(place), "{sums:?}");
        }
        assert_eq!(sums[0], 0);
        for packet in [&b"\0\x01\x05\x02\0\0\0"[..], b"\xFF\x26\x04#23000twice", b"\xFBfile"] {
            assert_eq!(sum_of(&answer(&[packet]), 2, false), 0);
        }
    }
}
