//! Whole packets from a stream, bytes to a stream.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::task::{Context, Poll, ready};

use nuthatch_wire::{FRAME_PAYLOAD_MAX, FrameHeader, HEADER_LEN, WireError};
use tokio::io::AsyncWriteExt;

use crate::{Algorithm, Compressed, NetError, Registrar, Role, Stream, WatchedSocket};

/// Bytes that one `read` can take at most. On the stack for the time of the call.
const SCRATCH_BYTES: usize = 32 * 1024;

/// A buffer larger than this is given back once it is empty.
const RETAINED_BYTES_MAX: usize = 8 * 1024;

/// A stream with the bytes that came in and are not used up.
#[derive(Debug)]
pub struct Framed {
    stream: Stream,
    inbox: Vec<u8>,
    /// Length of the packet at the start of `inbox`, its first header included; 0 for none.
    packet_len: usize,
    /// Frames of that packet. With more than one, the headers between have been taken out.
    frames: usize,
}

impl Framed {
    /// Nothing has been read from `stream` yet.
    #[must_use]
    pub const fn new(stream: Stream) -> Self {
        Self { stream, inbox: Vec::new(), packet_len: 0, frames: 0 }
    }

    /// The stream itself.
    pub const fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// The stream, to be looked at.
    #[must_use]
    pub const fn stream_ref(&self) -> &Stream {
        &self.stream
    }

    /// Speaks the compressed protocol from now on.
    pub fn compress(&mut self, algorithm: Algorithm, role: Role) {
        let plain = std::mem::replace(&mut self.stream, Stream::Closed);
        self.stream = Stream::Compressed(Box::new(Compressed::new(plain, algorithm, role)));
    }

    /// The watched socket, if it is one, also under TLS.
    pub fn socket(&mut self) -> Option<&mut WatchedSocket> {
        self.stream.socket()
    }

    /// The watched socket, if what it brings is the protocol itself.
    pub const fn plain_socket(&self) -> Option<&WatchedSocket> {
        match &self.stream {
            Stream::Watched(socket) => Some(socket),
            _ => None,
        }
    }

    /// Takes bytes that were read from the stream by somebody else, behind those that are there.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
    }

    /// Puts another stream in the place of this one, made of it: TLS. Nothing may be unread.
    ///
    /// # Errors
    /// [`NetError::Tls`] as `make` says; the stream is closed then.
    pub(crate) async fn upgrade(
        &mut self,
        make: impl AsyncFnOnce(Stream) -> io::Result<Stream>,
    ) -> Result<(), NetError> {
        self.drop_packet();
        if self.has_more() {
            return Err(WireError::Malformed("bytes before TLS").into());
        }
        let plain = std::mem::replace(&mut self.stream, Stream::Closed);
        self.stream = make(plain).await.map_err(NetError::Tls)?;
        Ok(())
    }

    /// Has another worker watch the socket, from that worker's thread.
    ///
    /// # Errors
    /// When the operating system refuses, or no worker watched it.
    pub fn move_to(&mut self, registrar: &Registrar) -> Result<(), NetError> {
        Ok(self.stream.move_to(registrar)?)
    }

    /// The stream, when nothing more is wanted of the packets read so far.
    #[must_use]
    pub fn into_stream(self) -> Stream {
        self.stream
    }

    /// Takes a packet of one frame with the number 0 that has come in whole, as [`Self::read_packet`] does; `false` if none has, or
    /// that is to refuse it.
    pub fn take_packet_at_hand(&mut self, limit_bytes: usize) -> bool {
        self.drop_packet();
        let Some(header) = FrameHeader::parse(&self.inbox) else { return false };
        let is_whole = self.inbox.len() >= HEADER_LEN + header.payload_len;
        let is_fit = header.sequence == 0 && !header.is_continued() && header.payload_len <= limit_bytes;
        if is_whole && is_fit {
            (self.packet_len, self.frames) = (HEADER_LEN + header.payload_len, 1);
        }
        is_whole && is_fit
    }

    /// Reads one packet; its first frame must have the number `sequence`. Returns the number of its last frame.
    ///
    /// The packet before it is gone. Bytes that came behind are kept for the next call. Dropping the
    /// future loses nothing of a packet of one or two frames; of a larger one the connection must be given up.
    ///
    /// # Errors
    /// [`NetError::Closed`] when the peer closed between packets; [`NetError::PacketTooLarge`] as soon as the frame
    /// headers say so, before the payload is read.
    pub async fn read_packet(&mut self, sequence: u8, limit_bytes: usize) -> Result<u8, NetError> {
        self.drop_packet();
        let mut end = 0;
        let mut expected = sequence;
        loop {
            let header = loop {
                if let Some(header) = self.inbox.get(end..).and_then(FrameHeader::parse) {
                    break header;
                }
                self.fill().await?;
            };
            if header.sequence != expected {
                return Err(WireError::OutOfOrder { expected, found: header.sequence }.into());
            }
            if end + header.payload_len > limit_bytes {
                return Err(NetError::PacketTooLarge { limit_bytes });
            }
            let frame_end = end + HEADER_LEN + header.payload_len;
            while self.inbox.len() < frame_end {
                self.fill().await?;
            }
            end = self.join_frame(end, frame_end);
            if !header.is_continued() {
                self.packet_len = end;
                return Ok(expected);
            }
            expected = expected.wrapping_add(1);
        }
    }

    /// Reads one packet as [`Self::read_packet`] does, whatever the number of its first frame: of a stream that nobody asked for, in which
    /// the peer counts on.
    ///
    /// # Errors
    /// As there.
    pub async fn read_packet_of_any_number(&mut self, limit_bytes: usize) -> Result<u8, NetError> {
        self.drop_packet();
        let sequence = loop {
            match FrameHeader::parse(&self.inbox) {
                Some(header) => break header.sequence,
                None => self.fill().await?,
            };
        };
        self.read_packet(sequence, limit_bytes).await
    }

    /// Reads one packet of one frame as [`Self::read_packet`] does, and not a byte beyond it.
    ///
    /// # Errors
    /// As there.
    pub(crate) async fn read_packet_exactly(
        &mut self,
        sequence: u8,
        limit_bytes: usize,
    ) -> Result<u8, NetError> {
        self.drop_packet();
        self.await_bytes(HEADER_LEN).await?;
        let payload_len = FrameHeader::parse(&self.inbox).map_or(0, |header| header.payload_len);
        if payload_len > limit_bytes.min(SCRATCH_BYTES) {
            return Err(NetError::PacketTooLarge { limit_bytes });
        }
        self.await_bytes(HEADER_LEN + payload_len).await?;
        self.read_packet(sequence, limit_bytes).await
    }

    /// Counts the frame from `start` to `frame_end` into the packet, without its header if it is not the first.
    fn join_frame(&mut self, start: usize, frame_end: usize) -> usize {
        if start == 0 {
            self.frames = 1;
            return frame_end;
        }
        self.frames += 1;
        self.inbox.drain(start..start + HEADER_LEN);
        frame_end - HEADER_LEN
    }

    /// The payload of the packet that was read last; empty before the first.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.inbox.get(HEADER_LEN..self.packet_len).unwrap_or_default()
    }

    /// Takes `count` bytes out of the packet that was read last, from behind its first.
    pub fn drop_behind_first(&mut self, count: usize) {
        let start = HEADER_LEN + 1;
        if count > 0 && start + count <= self.packet_len {
            self.inbox.drain(start..start + count);
            self.packet_len -= count;
            self.renumber_frame();
        }
    }

    /// Puts another payload in the place of that of the packet that was read last.
    pub fn replace_payload(&mut self, payload: &[u8]) {
        if self.packet_len >= HEADER_LEN {
            self.inbox.splice(HEADER_LEN..self.packet_len, payload.iter().copied());
            self.packet_len = HEADER_LEN + payload.len();
            self.renumber_frame();
        }
    }

    /// Has the first header tell the packet's length, if it is one frame.
    fn renumber_frame(&mut self) {
        let payload_len = self.packet_len - HEADER_LEN;
        let number = self.inbox.get(HEADER_LEN - 1).copied();
        if payload_len >= FRAME_PAYLOAD_MAX {
            self.frames = self.frames.max(2);
        } else if let (1, Some(sequence), Some(header)) =
            (self.frames, number, self.inbox.first_chunk_mut::<HEADER_LEN>())
        {
            *header = FrameHeader { payload_len, sequence }.encode();
        }
    }

    /// Takes the payload out, so that it outlives the next read.
    #[must_use]
    pub fn take_payload(&mut self) -> Vec<u8> {
        let payload = self.payload().to_vec();
        self.drop_packet();
        payload
    }

    /// The packet that was read last as one frame with its header; `None` when it came in several.
    #[must_use]
    pub fn frame(&self) -> Option<&[u8]> {
        if self.frames == 1 { self.inbox.get(..self.packet_len) } else { None }
    }

    /// Bytes that came and are not part of the last packet.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.inbox.len() > self.packet_len
    }

    /// Forgets the last packet; a buffer that has grown is given back.
    pub fn drop_packet(&mut self) {
        if self.inbox.len() == self.packet_len {
            self.inbox.clear();
            if self.inbox.capacity() > RETAINED_BYTES_MAX {
                self.inbox = Vec::new();
            }
        } else {
            self.inbox.drain(..self.packet_len);
        }
        self.packet_len = 0;
    }

    /// All bytes that came and are not used up, when answers are scanned and not read packet by packet.
    #[must_use]
    pub fn unread(&self) -> &[u8] {
        self.inbox.get(self.packet_len..).unwrap_or_default()
    }

    /// The same bytes, to be changed in place.
    pub fn unread_mut(&mut self) -> &mut [u8] {
        self.inbox.get_mut(self.packet_len..).unwrap_or_default()
    }

    /// Uses up the first `n` bytes of [`Self::unread`].
    pub fn consume(&mut self, n: usize) {
        self.packet_len += n;
        self.drop_packet();
    }

    /// Waits for more bytes and returns how many came.
    ///
    /// # Errors
    /// [`NetError::Closed`] when the peer closed and nothing is unread, an I/O error when it closed inside a packet.
    pub async fn fill(&mut self) -> Result<usize, NetError> {
        self.fill_at_most(SCRATCH_BYTES).await
    }

    /// [`Self::fill`] for who waits for something else besides.
    ///
    /// # Errors
    /// As there.
    pub fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, NetError>> {
        self.poll_fill_at_most(SCRATCH_BYTES, cx)
    }

    /// Waits until so many bytes are unread; no more than those are read.
    pub(crate) async fn await_bytes(&mut self, count: usize) -> Result<(), NetError> {
        while self.unread().len() < count {
            self.fill_at_most(count - self.unread().len()).await?;
        }
        Ok(())
    }

    async fn fill_at_most(&mut self, bytes_max: usize) -> Result<usize, NetError> {
        poll_fn(|cx| self.poll_fill_at_most(bytes_max, cx)).await
    }

    fn poll_fill_at_most(&mut self, bytes_max: usize, cx: &mut Context<'_>) -> Poll<Result<usize, NetError>> {
        let mut scratch = [MaybeUninit::uninit(); SCRATCH_BYTES];
        let room = &mut scratch[..bytes_max.min(SCRATCH_BYTES)];
        let (stream, inbox) = (&mut self.stream, &mut self.inbox);
        let n = ready!(stream.poll_receive(cx, room, |bytes| inbox.extend_from_slice(bytes)))?;
        Poll::Ready(match n {
            0 if self.inbox.is_empty() => Err(NetError::Closed),
            0 => Err(NetError::Io(io::ErrorKind::UnexpectedEof.into())),
            n => Ok(n),
        })
    }

    /// Writes as much of `bytes` as goes out at once, without waiting, and returns how much that was.
    ///
    /// # Errors
    /// As the socket says; that it has no room is not an error.
    pub fn write_now(&mut self, bytes: &[u8]) -> Result<usize, NetError> {
        match self.stream.try_write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            written => Ok(written?),
        }
    }

    /// The same for several pieces.
    ///
    /// # Errors
    /// As the socket says; that it has no room is not an error.
    pub fn write_pieces_now(&mut self, pieces: &[IoSlice<'_>]) -> Result<usize, NetError> {
        match self.stream.try_write_vectored(pieces) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            written => Ok(written?),
        }
    }

    /// Writes `bytes`, which are whole frames.
    ///
    /// # Errors
    /// As the socket says.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), NetError> {
        let written = self.write_now(bytes)?;
        if written == bytes.len() {
            return Ok(());
        }
        self.stream.write_all(bytes.get(written..).unwrap_or_default()).await?;
        Ok(self.stream.flush().await?)
    }

    /// Writes `pieces` one behind the other without copying them together.
    ///
    /// # Errors
    /// As the socket says.
    pub async fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> Result<(), NetError> {
        let mut left = pieces;
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match self.stream.write_vectored(left).await? {
                0 => return Err(NetError::Io(io::ErrorKind::WriteZero.into())),
                n => IoSlice::advance_slices(&mut left, n),
            }
        }
        Ok(self.stream.flush().await?)
    }

    /// Writes the packet that `from` read last, in the frames that it came in, numbered from 0.
    ///
    /// # Errors
    /// As this stream says.
    pub async fn forward_packet(&mut self, from: &Self) -> Result<(), NetError> {
        self.forward_packet_from(from, 0).await
    }

    /// The same, numbered from `sequence` on, whatever the number that it came with.
    ///
    /// # Errors
    /// As this stream says.
    pub async fn forward_packet_from(&mut self, from: &Self, mut sequence: u8) -> Result<(), NetError> {
        if let Some(frame) = from.frame()
            && FrameHeader::parse(frame).is_some_and(|header| header.sequence == sequence)
        {
            return self.write(frame).await;
        }
        let mut rest = from.payload();
        loop {
            let (now, later) = rest.split_at(rest.len().min(FRAME_PAYLOAD_MAX));
            let header = FrameHeader { payload_len: now.len(), sequence };
            self.write_pieces(&mut [IoSlice::new(&header.encode()), IoSlice::new(now)]).await?;
            if !header.is_continued() {
                return Ok(());
            }
            sequence = sequence.wrapping_add(1);
            rest = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nuthatch_wire::append_packet;
    use tokio::net::UnixStream;

    fn pair() -> (Framed, UnixStream) {
        let (a, b) = UnixStream::pair().unwrap();
        (Framed::new(Stream::Unix(a)), b)
    }

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let (mut out, mut sequence) = (Vec::new(), sequence);
        append_packet(&mut out, &mut sequence, payload);
        out
    }

    #[tokio::test]
    async fn packet_at_hand_is_taken_only_whole_first_and_within_the_limit() {
        let (mut framed, _peer) = pair();
        framed.feed(&[packet(0, b"one"), packet(0, b"two")].concat());
        for expected in [b"one".as_slice(), b"two"] {
            assert!(framed.take_packet_at_hand(3));
            assert_eq!((framed.payload(), framed.frame().is_some()), (expected, true));
        }
        assert!(!framed.take_packet_at_hand(3), "there is none");
        assert_eq!(framed.payload(), b"");
        for (bytes, why) in [
            (packet(0, b"four"), "too large"),
            (packet(1, b"one"), "out of order"),
            (packet(0, b"one")[..5].to_vec(), "half"),
            (b"\0\0".to_vec(), "half a header"),
            (b"\xFF\xFF\xFF\0".to_vec(), "the first of several"),
        ] {
            let (mut framed, _peer) = pair();
            framed.feed(&bytes);
            assert!(!framed.take_packet_at_hand(3), "{why}");
        }
    }

    #[tokio::test]
    async fn packets_that_come_byte_by_byte_or_together_are_read_one_by_one() {
        let (mut framed, mut peer) = pair();
        let writer = async {
            for byte in packet(0, b"one") {
                peer.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
            peer.write_all(&[packet(0, b"two"), packet(0, b"three")].concat()).await.unwrap();
        };
        let reader = async {
            for expected in [b"one".as_slice(), b"two", b"three"] {
                assert_eq!(framed.read_packet(0, 100).await.unwrap(), 0);
                assert_eq!(framed.payload(), expected);
            }
        };
        tokio::join!(writer, reader);
        drop(peer);
        assert!(matches!(framed.read_packet(0, 100).await, Err(NetError::Closed)));
    }

    #[tokio::test]
    async fn a_packet_of_16_mib_and_more_is_one_payload_and_goes_on_in_the_same_frames() {
        for len in [FRAME_PAYLOAD_MAX - 1, FRAME_PAYLOAD_MAX, FRAME_PAYLOAD_MAX + 5] {
            let payload: Vec<u8> = (0..len).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let bytes = packet(0, &payload);
            let (mut framed, mut peer) = pair();
            let (mut out, mut sink) = pair();
            let read_and_forward = async {
                framed.read_packet(0, 1 << 30).await.unwrap();
                assert_eq!(framed.payload().len(), payload.len());
                assert!(framed.payload() == payload);
                out.forward_packet(&framed).await.unwrap();
                drop(out);
            };
            let collect = async {
                let mut collected = Vec::new();
                tokio::io::AsyncReadExt::read_to_end(&mut sink, &mut collected).await.unwrap();
                collected
            };
            let (_, _, collected) = tokio::join!(peer.write_all(&bytes), read_and_forward, collect);
            assert!(collected == bytes, "{len} bytes");
        }
    }

    #[tokio::test]
    async fn packet_that_was_changed_is_a_packet_and_the_next_follows() {
        let (mut framed, mut peer) = pair();
        peer.write_all(&[packet(0, b"\x03\0\x01text"), packet(0, b"next")].concat()).await.unwrap();
        framed.read_packet(0, 100).await.unwrap();
        framed.drop_behind_first(2);
        assert_eq!((framed.payload(), framed.frame()), (&b"\x03text"[..], Some(&*packet(0, b"\x03text"))));
        framed.replace_payload(b"something longer");
        assert_eq!(framed.frame(), Some(&*packet(0, b"something longer")));
        framed.read_packet(0, 100).await.unwrap();
        assert_eq!(framed.payload(), b"next");
    }

    #[tokio::test]
    async fn too_large_and_out_of_order_packets_are_refused_by_their_header() {
        let (mut framed, mut peer) = pair();
        peer.write_all(&[0xFF, 0xFF, 0, 0]).await.unwrap();
        assert!(matches!(
            framed.read_packet(0, 1000).await,
            Err(NetError::PacketTooLarge { limit_bytes: 1000 })
        ));
        let (mut framed, mut peer) = pair();
        peer.write_all(&packet(3, b"x")).await.unwrap();
        assert!(matches!(framed.read_packet(0, 1000).await, Err(NetError::Wire(_))));
    }

    #[tokio::test]
    async fn a_closed_peer_disturbs_an_idle_stream() {
        let (mut framed, peer) = pair();
        assert!(!framed.stream().is_disturbed());
        drop(peer);
        while !framed.stream().is_disturbed() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn pieces_are_written_in_order_whole() {
        let (mut framed, mut peer) = pair();
        let big = vec![b'x'; 1 << 20];
        let write = async {
            let mut pieces = [IoSlice::new(b"a"), IoSlice::new(b""), IoSlice::new(&big), IoSlice::new(b"z")];
            framed.write_pieces(&mut pieces).await.unwrap();
            drop(framed);
        };
        let mut collected = Vec::new();
        tokio::join!(write, async {
            tokio::io::AsyncReadExt::read_to_end(&mut peer, &mut collected).await.unwrap()
        });
        assert_eq!(collected.len(), big.len() + 2);
        assert!(collected.starts_with(b"ax") && collected.ends_with(b"xz"));
    }
}
