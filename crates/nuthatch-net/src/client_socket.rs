//! A client's socket, watched by its worker's [`Watch`](crate::Watch).
//!
//! All calls come from the worker's own thread, between two waits of the watch: nothing can arrive between a read that
//! found nothing and the note that a task waits.

use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::net::RecvFlags;

use crate::watch::{Readiness, Registrar};

/// A non-blocking socket. See the module's doc.
#[derive(Debug)]
pub struct ClientSocket {
    socket: Socket,
    number: usize,
    readiness: Arc<Readiness>,
    registrar: Registrar,
    watches_writing: bool,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl ClientSocket {
    /// Watches `stream`, which must be non-blocking, under `number`.
    ///
    /// # Errors
    /// When it cannot be registered.
    pub fn tcp(
        stream: TcpStream,
        number: usize,
        readiness: Arc<Readiness>,
        registrar: Registrar,
    ) -> io::Result<Self> {
        Self::new(Socket::Tcp(stream), number, readiness, registrar)
    }

    /// The same for a Unix socket.
    ///
    /// # Errors
    /// When it cannot be registered.
    pub fn unix(
        stream: UnixStream,
        number: usize,
        readiness: Arc<Readiness>,
        registrar: Registrar,
    ) -> io::Result<Self> {
        Self::new(Socket::Unix(stream), number, readiness, registrar)
    }

    fn new(
        socket: Socket,
        number: usize,
        readiness: Arc<Readiness>,
        registrar: Registrar,
    ) -> io::Result<Self> {
        let socket = Self { socket, number, readiness, registrar, watches_writing: false };
        socket.registrar.add(socket.fd(), number)?;
        Ok(socket)
    }

    /// Whether it is a Unix socket.
    #[must_use]
    pub const fn is_unix(&self) -> bool {
        matches!(self.socket, Socket::Unix(_))
    }

    /// What is known of it, to wait for its end while somebody else uses it.
    #[must_use]
    pub fn readiness(&self) -> Arc<Readiness> {
        Arc::clone(&self.readiness)
    }

    /// Whether a read may bring something.
    #[must_use]
    pub fn may_read(&self) -> bool {
        self.readiness.may_read()
    }

    /// Reads what has come, as far as `room` goes; nothing at the end.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has come; else as the socket says.
    pub fn read_now<'a>(&self, room: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        let ((read, _), _) = rustix::net::recv(self, room, RecvFlags::empty())?;
        Ok(read)
    }

    /// Reads as [`Self::read_now`], but waits for something to come. Returns how many bytes `take` was given.
    pub(crate) fn poll_read(
        &self,
        cx: &Context<'_>,
        room: &mut [MaybeUninit<u8>],
        take: impl FnOnce(&[u8]),
    ) -> Poll<io::Result<usize>> {
        let room_bytes = room.len();
        loop {
            ready!(self.readiness.poll_readable(cx));
            match self.read_now(room) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readiness.found_nothing(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(read) => {
                    if !read.is_empty() && read.len() < room_bytes {
                        self.readiness.drained();
                    }
                    take(read);
                    return Poll::Ready(Ok(read.len()));
                }
            }
        }
    }

    /// Writes what goes out at once.
    ///
    /// # Errors
    /// `WouldBlock` when nothing does; else as the socket says.
    pub fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.socket {
            Socket::Tcp(stream) => (&mut &*stream).write(bytes),
            Socket::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    /// The same for several pieces.
    ///
    /// # Errors
    /// `WouldBlock` when nothing goes out; else as the socket says.
    pub fn write_pieces_now(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match &self.socket {
            Socket::Tcp(stream) => (&mut &*stream).write_vectored(pieces),
            Socket::Unix(stream) => (&mut &*stream).write_vectored(pieces),
        }
    }

    /// Does `write`, and waits for room where there is none.
    pub(crate) fn poll_write(
        &mut self,
        cx: &Context<'_>,
        write: impl Fn(&Self) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match write(self) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.readiness.await_room(cx);
                    self.watch_writing(true)?;
                    return Poll::Pending;
                }
                written => return Poll::Ready(written),
            }
        }
    }

    /// Watches for room to write only while somebody waits for it: a Unix socket tells of room after each answer.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn watch_writing(&mut self, watches: bool) -> io::Result<()> {
        if self.watches_writing != watches {
            self.registrar.watch_writing(self.fd(), self.number, watches)?;
            self.watches_writing = watches;
        }
        Ok(())
    }

    fn fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl AsFd for ClientSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}
