//! The compressed protocol: a stream whose bytes travel in packets of their own, packed by zlib or zstd.
//!
//! Source: "Compression" of the client/server protocol. A packet has a header of 7 bytes: length as packed, number, length as
//! unpacked, which is 0 for what travels as it is. Numbers begin at 0 with each command.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const HEADER_LEN: usize = 7;

/// Shorter pieces are not packed: it would not pay.
const PACKED_BYTES_MIN: usize = 50;

/// What is packed into one packet at most.
const PIECE_BYTES_MAX: usize = 1 << 20;

/// How pieces are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// `CLIENT_COMPRESS`.
    Zlib,
    /// `CLIENT_ZSTD_COMPRESSION_ALGORITHM`, with its level.
    Zstd(u8),
}

/// Who begins commands, and numbering with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// We do.
    Client,
    /// The peer does.
    Server,
}

/// See the module's doc.
#[derive(Debug)]
pub struct Compressed<S> {
    stream: S,
    algorithm: Algorithm,
    role: Role,
    number: u8,
    /// Packed bytes that came.
    inbox: Vec<u8>,
    /// Unpacked bytes, those before `taken` are read.
    plain: Vec<u8>,
    taken: usize,
    /// Packed bytes to send, those before `sent` are gone.
    outbox: Vec<u8>,
    sent: usize,
}

impl<S> Compressed<S> {
    pub(crate) const fn new(stream: S, algorithm: Algorithm, role: Role) -> Self {
        Self {
            stream,
            algorithm,
            role,
            number: 0,
            inbox: Vec::new(),
            plain: Vec::new(),
            taken: 0,
            outbox: Vec::new(),
            sent: 0,
        }
    }

    pub(crate) const fn inner(&self) -> &S {
        &self.stream
    }

    pub(crate) const fn inner_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    pub(crate) const fn has_buffered(&self) -> bool {
        self.taken < self.plain.len() || !self.inbox.is_empty()
    }

    /// Unpacks the packet that is whole in the inbox; `false` when more bytes are needed.
    fn unpack(&mut self) -> io::Result<bool> {
        let Some(&[p0, p1, p2, number, u0, u1, u2]) = self.inbox.first_chunk::<HEADER_LEN>() else {
            return Ok(false);
        };
        let length = |bytes: [u8; 3]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (packed_len, plain_len) = (length([p0, p1, p2]), length([u0, u1, u2]));
        let Some(packed) = self.inbox.get(HEADER_LEN..HEADER_LEN + packed_len) else { return Ok(false) };
        self.plain.clear();
        self.taken = 0;
        if plain_len == 0 {
            self.plain.extend_from_slice(packed);
        } else {
            // One byte more than promised shows that it lied; nothing beyond that is unpacked.
            let bytes_max = plain_len as u64 + 1;
            match self.algorithm {
                Algorithm::Zlib => {
                    flate2::read::ZlibDecoder::new(packed).take(bytes_max).read_to_end(&mut self.plain)?;
                }
                Algorithm::Zstd(_) => {
                    zstd::stream::read::Decoder::new(packed)?.take(bytes_max).read_to_end(&mut self.plain)?;
                }
            }
            if self.plain.len() != plain_len {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a packet does not unpack to its length",
                ));
            }
        }
        self.number = number.wrapping_add(1);
        self.inbox.drain(..HEADER_LEN + packed_len);
        Ok(true)
    }

    /// Packs whole frames into the outbox.
    fn pack(&mut self, frames: &[u8]) -> io::Result<()> {
        // The frame's own number: 0 begins a command.
        if self.role == Role::Client && frames.get(3) == Some(&0) {
            self.number = 0;
        }
        for piece in frames.chunks(PIECE_BYTES_MAX) {
            let packed = if piece.len() < PACKED_BYTES_MIN { None } else { Some(self.pack_piece(piece)?) };
            let packed = packed.filter(|packed| packed.len() < piece.len());
            let (bytes, plain_len) = match &packed {
                Some(packed) => (packed.as_slice(), piece.len()),
                None => (piece, 0),
            };
            let [p0, p1, p2, ..] = bytes.len().to_le_bytes();
            let [u0, u1, u2, ..] = plain_len.to_le_bytes();
            self.outbox.extend([p0, p1, p2, self.number, u0, u1, u2]);
            self.outbox.extend_from_slice(bytes);
            self.number = self.number.wrapping_add(1);
        }
        Ok(())
    }

    fn pack_piece(&self, piece: &[u8]) -> io::Result<Vec<u8>> {
        match self.algorithm {
            Algorithm::Zlib => {
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(piece)?;
                encoder.finish()
            }
            Algorithm::Zstd(level) => zstd::bulk::compress(piece, i32::from(level)),
        }
    }
}

impl<S: AsyncWrite + Unpin> Compressed<S> {
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest @ [_, ..]) = self.outbox.get(self.sent..) {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => self.sent += n,
            }
        }
        self.outbox.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Compressed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if let Some(rest @ [_, ..]) = this.plain.get(this.taken..) {
                let now = rest.len().min(buf.remaining());
                buf.put_slice(&rest[..now]);
                this.taken += now;
                if this.taken == this.plain.len() {
                    (this.plain, this.taken) = (Vec::new(), 0);
                }
                return Poll::Ready(Ok(()));
            }
            if this.unpack()? {
                continue;
            }
            let mut room = [0; 16 * 1024];
            let mut read = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(if this.inbox.is_empty() {
                    Ok(())
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                });
            }
            this.inbox.extend_from_slice(read.filled());
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Compressed<S> {
    /// Takes whole frames, and all of them.
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_send(cx))?;
        this.pack(buf)?;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let whole: Vec<u8> = bufs.iter().flat_map(|piece| piece.iter().copied()).collect();
        self.poll_write(cx, &whole)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(cx))?;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Framed, Stream};
    use nuthatch_wire::append_packet;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixStream;

    fn both_ends(algorithm: Algorithm) -> (Framed, Framed) {
        let (near, far) = UnixStream::pair().unwrap();
        let framed = |socket, role| {
            Framed::new(Stream::Compressed(Box::new(Compressed::new(Stream::Unix(socket), algorithm, role))))
        };
        (framed(near, Role::Client), framed(far, Role::Server))
    }

    #[tokio::test]
    async fn packets_of_every_size_arrive_both_ways() {
        for algorithm in [Algorithm::Zlib, Algorithm::Zstd(3)] {
            let (mut client, mut server) = both_ends(algorithm);
            for len in [0, 1, 49, 50, 4096, 3 << 20, (16 << 20) + 7] {
                let payload: Vec<u8> = (0..len).map(|i| u8::try_from(i % 251).unwrap()).collect();
                let mut packet = Vec::new();
                append_packet(&mut packet, &mut 0, &payload);
                let ask = async { client.write(&packet).await.unwrap() };
                let answer = async {
                    server.read_packet(0, 1 << 30).await.unwrap();
                    assert!(server.payload() == payload, "{len} with {algorithm:?}");
                };
                tokio::join!(ask, answer);
                let mut packet = Vec::new();
                append_packet(&mut packet, &mut 1, &payload);
                let answer = async { server.write(&packet).await.unwrap() };
                let take = async {
                    client.read_packet(1, 1 << 30).await.unwrap();
                    assert!(client.payload() == payload, "{len} with {algorithm:?}");
                };
                tokio::join!(answer, take);
            }
        }
    }

    #[tokio::test]
    async fn packet_that_lies_about_its_length_is_refused() {
        for (promised, real) in [(10_usize, 100_usize), (100, 10), (60_000, 20_000_000)] {
            let (near, mut far) = UnixStream::pair().unwrap();
            let stream = Compressed::new(Stream::Unix(near), Algorithm::Zlib, Role::Server);
            let mut framed = Framed::new(Stream::Compressed(Box::new(stream)));
            let sender = Compressed::new(Stream::Closed, Algorithm::Zlib, Role::Client);
            let packed = sender.pack_piece(&vec![0; real]).unwrap();
            let [p0, p1, p2, ..] = packed.len().to_le_bytes();
            let [u0, u1, u2, ..] = promised.to_le_bytes();
            far.write_all(&[&[p0, p1, p2, 0, u0, u1, u2][..], &packed].concat()).await.unwrap();
            assert!(framed.read_packet(0, 1 << 20).await.is_err(), "{promised} {real}");
        }
    }
}
