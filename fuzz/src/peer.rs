//! A peer on a socket, which says all that the input has for it and then nothing more.

use nuthatch_net::{Framed, Stream};
use nuthatch_wire::append_packet;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
}

/// Runs `task` to its end, on a runtime that is made once.
pub fn block_on<T>(task: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(task))
}

/// A connection on which `bytes` have come, and then the end. The other half takes what is written as long as it lives.
///
/// # Panics
/// When the system has no more sockets. `bytes` are no more than one takes at once.
pub async fn peer_that_sends(bytes: &[u8]) -> (Framed, UnixStream) {
    let (ours, mut peer) = UnixStream::pair().expect("two sockets");
    peer.write_all(bytes).await.expect("the socket takes it");
    peer.shutdown().await.expect("the socket can be shut");
    (Framed::new(Stream::Unix(ours)), peer)
}

/// The payloads in `input`, each behind a byte with its length, as one side of a login sends them: each but the first is an
/// answer to the packet before, or follows what needs none (`caching_sha2_password` was content).
#[must_use]
pub fn login_packets(mut input: &[u8], mut sequence: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * input.len());
    while let Some((len, rest)) = input.split_first() {
        let (payload, later) = rest.split_at(rest.len().min(usize::from(*len)));
        append_packet(&mut out, &mut sequence, payload);
        let needs_answer = payload != [0x01, 0x03];
        sequence = sequence.wrapping_add(u8::from(needs_answer));
        input = later;
    }
    out
}
