//! Packets from a socket, whose bytes come in any pieces: those that a simple model finds, then its error; and what is kept
//! of them stays within the limit.
//!
//! Input: the limit, a number of pieces, their lengths, the bytes.
#![no_main]

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use libfuzzer_sys::fuzz_target;
use nuthatch_fuzz::block_on;
use nuthatch_net::{Framed, NetError, Stream};
use nuthatch_wire::{FrameHeader, HEADER_LEN, WireError};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

/// What one `read` can take at most.
const SCRATCH_BYTES: usize = 32 * 1024;

#[derive(Debug, PartialEq)]
enum End {
    Closed,
    InsidePacket,
    TooLarge,
    OutOfOrder,
}

fuzz_target!(|input: &[u8]| {
    let [limit, pieces, rest @ ..] = input else { return };
    let Some((pieces, bytes)) = rest.split_at_checked(usize::from(pieces % 8)) else { return };
    block_on(run(usize::from(*limit), pieces, bytes));
});

async fn run(limit_bytes: usize, pieces: &[u8], bytes: &[u8]) {
    let (ours, mut peer) = UnixStream::pair().expect("two sockets");
    let mut framed = Framed::new(Stream::Unix(ours));
    let (expected, expected_end) = model(limit_bytes, bytes);
    let mut expected = expected.into_iter();
    let mut rest = bytes;
    let mut pieces = pieces.iter();
    loop {
        match poll_packet(&mut framed, limit_bytes).await {
            Poll::Ready(Ok(last)) => {
                assert_eq!((framed.payload(), last), (expected.next().expect("another packet"), 0));
                let frame = framed.frame().expect("a packet of one frame");
                assert_eq!(&frame[HEADER_LEN..], framed.payload());
            }
            Poll::Ready(Err(error)) => {
                assert_eq!(end(&error), expected_end);
                assert_eq!(expected.next(), None);
                return;
            }
            Poll::Pending => {
                assert!(framed.unread().len() < limit_bytes + HEADER_LEN);
                let Some(len) = pieces.next() else {
                    peer.write_all(rest).await.expect("the socket takes it");
                    rest = &[];
                    peer.shutdown().await.expect("the socket can be shut");
                    continue;
                };
                let (now, later) = rest.split_at(rest.len().min(usize::from(*len)));
                peer.write_all(now).await.expect("the socket takes it");
                rest = later;
            }
        }
        assert!(framed.unread().len() <= limit_bytes + HEADER_LEN + SCRATCH_BYTES);
    }
}

/// Reads until a packet is whole or the socket has nothing more. The future is dropped then, which must lose nothing.
async fn poll_packet(framed: &mut Framed, limit_bytes: usize) -> Poll<Result<u8, NetError>> {
    // The runtime must see the socket's events first.
    tokio::task::yield_now().await;
    let mut read = pin!(framed.read_packet(0, limit_bytes));
    poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await
}

fn model(limit_bytes: usize, mut bytes: &[u8]) -> (Vec<&[u8]>, End) {
    let mut packets = Vec::new();
    loop {
        let Some(header) = FrameHeader::parse(bytes) else {
            return (packets, if bytes.is_empty() { End::Closed } else { End::InsidePacket });
        };
        if header.sequence != 0 {
            return (packets, End::OutOfOrder);
        }
        if header.payload_len > limit_bytes {
            return (packets, End::TooLarge);
        }
        let Some((packet, later)) = bytes.split_at_checked(HEADER_LEN + header.payload_len) else {
            return (packets, End::InsidePacket);
        };
        packets.push(&packet[HEADER_LEN..]);
        bytes = later;
    }
}

fn end(error: &NetError) -> End {
    match error {
        NetError::Closed => End::Closed,
        NetError::Io(_) => End::InsidePacket,
        NetError::PacketTooLarge { .. } => End::TooLarge,
        NetError::Wire(WireError::OutOfOrder { .. }) => End::OutOfOrder,
        other => panic!("{other}"),
    }
}
