//! A connected socket: one that a worker watches, or one on Tokio's reactor.
//!
//! Of Tokio's sockets, only `AsyncRead::poll_read` is used for reading: a short read then ends a packet's arrival without a second system
//! call that would say "nothing more" (see `docs` of Tokio's `TcpStream`: readiness is cleared by a short read).

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsStream;

use crate::{BackendAddress, Compressed, IdleStream, Registrar, WatchedSocket};

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// TCP or Unix, watched by a worker.
    Watched(WatchedSocket),
    /// TCP on the current runtime, with `TCP_NODELAY` set.
    Tcp(TcpStream),
    /// A Unix socket on the current runtime.
    Unix(UnixStream),
    /// TLS over one of the others.
    Tls(Box<TlsStream<Self>>),
    /// The compressed protocol over one of the others.
    Compressed(Box<Compressed<Self>>),
    /// Of nobody: takes all that is written, and nothing ever comes.
    Nowhere,
    /// Closed: reads and writes fail.
    Closed,
}

impl Stream {
    /// Connects to a server on the current runtime.
    ///
    /// # Errors
    /// As the operating system says; names that cannot be resolved included.
    pub async fn connect(address: &BackendAddress) -> io::Result<Self> {
        match address {
            BackendAddress::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
            BackendAddress::Unix(path) => Ok(Self::Unix(UnixStream::connect(path).await?)),
        }
    }

    /// Turns TCP keepalive on, with the first probe after `idle`. Unix sockets need none.
    ///
    /// # Errors
    /// When the operating system refuses the option.
    pub fn keep_alive(&self, idle: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(idle))
            }
            Self::Tls(tls) => tls.get_ref().0.keep_alive(idle),
            Self::Compressed(compressed) => compressed.inner().keep_alive(idle),
            Self::Watched(socket) => socket.keep_alive(idle),
            Self::Unix(_) | Self::Nowhere | Self::Closed => Ok(()),
        }
    }

    /// Whether the peer has closed or sent something while nothing was expected of it.
    ///
    /// Cost: no system call while nothing was seen to arrive on the socket.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let mut byte = [0];
        let peeked = match self {
            Self::Tcp(stream) => stream.try_read(&mut byte),
            Self::Unix(stream) => stream.try_read(&mut byte),
            Self::Watched(socket) => return socket.is_disturbed(),
            Self::Tls(tls) => return tls.get_ref().0.is_disturbed(),
            Self::Compressed(compressed) => return compressed.inner().is_disturbed(),
            Self::Nowhere => return false,
            Self::Closed => return true,
        };
        !matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Writes what goes out at once, without waiting; most answers go out whole so.
    ///
    /// # Errors
    /// `WouldBlock` when nothing does; else as the socket says.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
            Self::Watched(socket) => socket.write_now(bytes),
            Self::Tls(_) | Self::Compressed(_) => Err(io::ErrorKind::WouldBlock.into()),
            Self::Nowhere => Ok(bytes.len()),
            Self::Closed => Err(closed()),
        }
    }

    /// The same for several pieces.
    ///
    /// # Errors
    /// `WouldBlock` when nothing goes out; else as the socket says.
    pub fn try_write_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_write_vectored(pieces),
            Self::Unix(stream) => stream.try_write_vectored(pieces),
            Self::Watched(socket) => socket.write_pieces_now(pieces),
            Self::Tls(_) | Self::Compressed(_) => Err(io::ErrorKind::WouldBlock.into()),
            Self::Nowhere => Ok(bytes_of(pieces)),
            Self::Closed => Err(closed()),
        }
    }

    /// Takes the socket off its runtime.
    ///
    /// # Errors
    /// When it cannot be deregistered.
    pub fn into_idle(self) -> io::Result<IdleStream> {
        Ok(match self {
            Self::Tcp(stream) => IdleStream::Tcp(stream.into_std()?),
            Self::Unix(stream) => IdleStream::Unix(stream.into_std()?),
            Self::Watched(_) | Self::Tls(_) | Self::Compressed(_) | Self::Nowhere | Self::Closed => {
                return Err(closed());
            }
        })
    }

    /// Has a worker watch the socket, from that worker's thread and, if it is on a runtime, on that runtime.
    ///
    /// # Errors
    /// When it cannot be registered; it is closed then.
    pub fn watched_by(self, registrar: &Registrar) -> io::Result<Self> {
        Ok(Self::Watched(WatchedSocket::new(self.into_idle()?, registrar)?))
    }

    /// Has another worker watch it, from that worker's thread.
    ///
    /// # Errors
    /// When it cannot be registered there, or is no watched socket.
    pub(crate) fn move_to(&mut self, registrar: &Registrar) -> io::Result<()> {
        self.socket().ok_or_else(closed)?.move_to(registrar)
    }

    /// Whether nobody can read along: TLS, or a Unix socket.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self {
            Self::Tls(_) | Self::Unix(_) | Self::Nowhere => true,
            Self::Watched(socket) => socket.is_unix(),
            Self::Compressed(compressed) => compressed.inner().is_private(),
            Self::Tcp(_) | Self::Closed => false,
        }
    }

    /// Whether bytes have come that a read would give at once, without a look at the socket.
    #[must_use]
    pub fn has_buffered(&self) -> bool {
        match self {
            // It wants no more from the socket while it has something for the reader.
            Self::Tls(tls) => !tls.get_ref().1.wants_read() || tls.get_ref().0.has_buffered(),
            Self::Compressed(compressed) => compressed.has_buffered() || compressed.inner().has_buffered(),
            Self::Watched(_) | Self::Tcp(_) | Self::Unix(_) | Self::Nowhere | Self::Closed => false,
        }
    }

    /// What TLS agreed on; `None` without it.
    #[must_use]
    pub fn tls_version(&self) -> Option<&'static str> {
        let tls = match self {
            Self::Tls(tls) => tls,
            Self::Compressed(compressed) => return compressed.inner().tls_version(),
            _ => return None,
        };
        match tls.get_ref().1.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_3) => Some("TLSv1.3"),
            _ => Some("TLSv1.2"),
        }
    }

    /// The watched socket, if it is one, also under TLS.
    pub(crate) fn socket(&mut self) -> Option<&mut WatchedSocket> {
        match self {
            Self::Watched(socket) => Some(socket),
            Self::Tls(tls) => tls.get_mut().0.socket(),
            Self::Compressed(compressed) => compressed.inner_mut().socket(),
            _ => None,
        }
    }

    /// Waits for bytes, reads them into `room` and gives them to `take`; returns how many they were, 0 at the end.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        room: &mut [MaybeUninit<u8>],
        take: impl FnOnce(&[u8]),
    ) -> Poll<io::Result<usize>> {
        if let Self::Watched(socket) = self {
            return socket.poll_read(cx, room, take);
        }
        let mut buf = ReadBuf::uninit(room);
        ready!(Pin::new(self).poll_read(cx, &mut buf))?;
        take(buf.filled());
        Poll::Ready(Ok(buf.filled().len()))
    }
}

fn bytes_of(pieces: &[IoSlice<'_>]) -> usize {
    pieces.iter().map(|piece| piece.len()).sum()
}

fn closed() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Watched(socket) => {
                let mut room = [MaybeUninit::<u8>::uninit(); 4096];
                let bytes_max = buf.remaining().min(room.len());
                let room = &mut room[..bytes_max];
                socket.poll_read(cx, room, |bytes| buf.put_slice(bytes)).map_ok(drop)
            }
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Compressed(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Nowhere => Poll::Pending,
            Self::Closed => Poll::Ready(Err(closed())),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Watched(socket) => socket.poll_write(cx, |socket| socket.write_now(buf)),
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Compressed(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Nowhere => Poll::Ready(Ok(buf.len())),
            Self::Closed => Poll::Ready(Err(closed())),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Watched(socket) => socket.poll_write(cx, |socket| socket.write_pieces_now(bufs)),
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Compressed(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Nowhere => Poll::Ready(Ok(bytes_of(bufs))),
            Self::Closed => Poll::Ready(Err(closed())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Self::Compressed(stream) => Pin::new(stream).poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Compressed(stream) => Pin::new(stream).poll_shutdown(cx),
            // Closed when it is dropped.
            Self::Watched(_) | Self::Nowhere | Self::Closed => Poll::Ready(Ok(())),
        }
    }
}
