//! The packets of an entry, compressed in blocks by LZ4.
//!
//! Each block is compressed by itself, so that an answer of any size goes out through a buffer of one size, and whoever must wait for a slow
//! client can go on at any byte. In front stand the hash of the answer (to compare it costs no decompression), its length, and where each
//! block ends. What was compressed here is whole: nothing of it comes from outside.

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use crate::kind::HEAD_BYTES_MAX;

/// How much of the packets is compressed at a time: LZ4 looks back no further.
const BLOCK_BYTES: usize = 64 << 10;
/// How long a piece of a compressed answer is at most: a block, behind what other answers begin with too.
pub const PIECE_BYTES_MAX: usize = HEAD_BYTES_MAX + BLOCK_BYTES;

/// So much of a larger answer is tried before all of it is compressed.
const SAMPLE_BYTES: usize = 4 << 10;

const HASH_BYTES: usize = size_of::<u64>();
const LENGTH_BYTES: usize = size_of::<u32>();
const ENDS_FROM: usize = HASH_BYTES + LENGTH_BYTES;

/// Compressed packets, where they stand in an entry.
#[derive(Clone, Copy)]
pub(super) struct Compressed<'a> {
    answer_hash: u64,
    plain_bytes: usize,
    /// Four bytes each.
    ends: &'a [u8],
    blocks: &'a [u8],
}

impl<'a> Compressed<'a> {
    /// Those that [`compress`] has left behind what stood in front.
    pub(super) fn of(stored: &'a [u8]) -> Self {
        const WHOLE: &str = "what was compressed here is whole";
        let (hash, rest) = stored.split_first_chunk::<HASH_BYTES>().expect(WHOLE);
        let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>().expect(WHOLE);
        let plain_bytes = u32::from_le_bytes(*length) as usize;
        let (ends, blocks) = rest.split_at(plain_bytes.div_ceil(BLOCK_BYTES) * LENGTH_BYTES);
        Self { answer_hash: u64::from_le_bytes(*hash), plain_bytes, ends, blocks }
    }

    /// How many bytes they have otherwise.
    pub(super) const fn plain_bytes(&self) -> usize {
        self.plain_bytes
    }

    /// The hash of the answer but for its status flags.
    pub(super) const fn answer_hash(&self) -> u64 {
        self.answer_hash
    }

    /// See [`Entry::piece`](super::Entry::piece). `head` is what stands in front of them.
    pub(super) fn piece<'s>(
        &self,
        head: &[u8],
        from: usize,
        scratch: &'s mut [u8; PIECE_BYTES_MAX],
    ) -> &'s mut [u8] {
        let own_from = from.saturating_sub(head.len());
        let (number, within) = (own_from / BLOCK_BYTES, own_from % BLOCK_BYTES);
        let head = head.get(from..).unwrap_or_default();
        scratch[..head.len()].copy_from_slice(head);
        let end = head.len() + self.decompress(number, &mut scratch[head.len()..]);
        &mut scratch[within.min(end)..end]
    }

    /// All of them, behind what is to stand in front.
    pub(super) fn decompress_behind(&self, front: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; front.len() + self.plain_bytes];
        bytes[..front.len()].copy_from_slice(front);
        for (number, block) in bytes[front.len()..].chunks_mut(BLOCK_BYTES).enumerate() {
            self.decompress(number, block);
        }
        bytes
    }

    /// Lays down the block of that number; returns how many bytes it has, none past the last.
    fn decompress(&self, number: usize, to: &mut [u8]) -> usize {
        let end_of = |number: usize| {
            let bytes = self.ends.chunks_exact(LENGTH_BYTES).nth(number)?;
            bytes.try_into().ok().map(|bytes| u32::from_le_bytes(bytes) as usize)
        };
        let Some(end) = end_of(number) else { return 0 };
        let start = number.checked_sub(1).and_then(end_of).unwrap_or(0);
        decompress_into(&self.blocks[start..end], to).expect("a block fits where it came from")
    }
}

/// `front`, and behind it what `packets` are compressed; nothing where that is hardly less.
pub(super) fn compress(front: &[u8], packets: &[u8], answer_hash: impl Fn() -> u64) -> Option<Vec<u8>> {
    if packets.len() > 2 * SAMPLE_BYTES && !shrinks(&packets[packets.len() / 2..][..SAMPLE_BYTES]) {
        return None;
    }
    let ends_bytes = packets.len().div_ceil(BLOCK_BYTES) * LENGTH_BYTES;
    let blocks_from = front.len() + ENDS_FROM + ends_bytes;
    let room = get_maximum_output_size(BLOCK_BYTES.min(packets.len()));
    let mut bytes = Vec::with_capacity(blocks_from + packets.len() / 2);
    bytes.extend_from_slice(front);
    bytes.extend(answer_hash().to_le_bytes());
    bytes.extend(u32::try_from(packets.len()).ok()?.to_le_bytes());
    bytes.resize(blocks_from, 0);
    for (number, block) in packets.chunks(BLOCK_BYTES).enumerate() {
        let start = bytes.len();
        bytes.resize(start + room, 0);
        let length = compress_into(block, &mut bytes[start..]).ok()?;
        bytes.truncate(start + length);
        let end = u32::try_from(bytes.len() - blocks_from).ok()?;
        let at = front.len() + ENDS_FROM + number * LENGTH_BYTES;
        bytes[at..at + LENGTH_BYTES].copy_from_slice(&end.to_le_bytes());
    }
    Some(bytes)
}

/// Whether that becomes shorter by a quarter.
fn shrinks(sample: &[u8]) -> bool {
    let mut room = [0; get_maximum_output_size(SAMPLE_BYTES)];
    compress_into(sample, &mut room).is_ok_and(|length| length <= SAMPLE_BYTES / 4 * 3)
}
