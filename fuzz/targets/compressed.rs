//! The compressed protocol: any bytes unpack to what their packets promise, or end the connection; never to more.
//!
//! Input: zlib or zstd, then the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::{block_on, peer_that_sends};
use nuthatch_net::{Algorithm, Role};

const HEADER_LEN: usize = 7;

fuzz_target!(|input: &[u8]| {
    let Some((settings, bytes)) = input.split_first() else { return };
    let algorithm = if settings & 1 == 0 { Algorithm::Zlib } else { Algorithm::Zstd(3) };
    let unpacked = block_on(async {
        let (mut framed, _peer) = peer_that_sends(bytes).await;
        framed.compress(algorithm, Role::Server);
        while framed.fill().await.is_ok() {}
        framed.unread().to_vec()
    });
    let packets = packets(bytes);
    let mut sums = packets.iter().scan(0, |sum, packet| {
        *sum += packet.plain_len;
        Some(*sum)
    });
    assert!(unpacked.is_empty() || sums.any(|sum| sum == unpacked.len()), "whole packets only");
    let plain: Vec<u8> = packets.iter().map_while(|packet| packet.plain).flatten().copied().collect();
    assert!(unpacked.starts_with(&plain), "what is not packed comes as it is");
});

struct Packet<'a> {
    plain_len: usize,
    /// The bytes themselves, of a packet that is not packed.
    plain: Option<&'a [u8]>,
}

/// The packets that are whole.
fn packets(mut bytes: &[u8]) -> Vec<Packet<'_>> {
    let mut packets = Vec::new();
    while let [p0, p1, p2, _, u0, u1, u2, ..] = bytes {
        let packed_len = u32::from_le_bytes([*p0, *p1, *p2, 0]) as usize;
        let plain_len = u32::from_le_bytes([*u0, *u1, *u2, 0]) as usize;
        let Some((packet, later)) = bytes.split_at_checked(HEADER_LEN + packed_len) else { break };
        packets.push(match plain_len {
            0 => Packet { plain_len: packed_len, plain: Some(&packet[HEADER_LEN..]) },
            _ => Packet { plain_len, plain: None },
        });
        bytes = later;
    }
    packets
}
