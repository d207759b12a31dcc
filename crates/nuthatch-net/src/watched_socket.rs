//! A socket that a worker's [`Watch`](crate::Watch) watches.
//!
//! All reads and writes come from the worker's own thread, between two waits of the watch: nothing can arrive between a read that
//! found nothing and the note that a task waits.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags};
use socket2::{SockRef, TcpKeepalive};

use crate::IdleStream;
use crate::watch::{Readiness, Registrar, Registration};

/// A non-blocking socket. See the module's doc.
#[derive(Debug)]
pub struct WatchedSocket {
    // Before the socket: it is taken off the watch, then closed.
    registration: Registration,
    socket: IdleStream,
    watches_writing: bool,
}

impl WatchedSocket {
    /// Watches a client's socket, which must be non-blocking. Its arrivals are for whoever asks the watch for those of `seat`.
    ///
    /// # Errors
    /// When it cannot be registered.
    pub fn of_client(
        socket: IdleStream,
        seat: usize,
        readiness: Arc<Readiness>,
        registrar: &Registrar,
    ) -> io::Result<Self> {
        let registration = registrar.add_seat(socket.fd(), seat, readiness)?;
        Ok(Self { registration, socket, watches_writing: false })
    }

    /// Watches a socket, which must be non-blocking, for the tasks that read and write it.
    ///
    /// # Errors
    /// When it cannot be registered.
    pub fn new(socket: IdleStream, registrar: &Registrar) -> io::Result<Self> {
        let registration = registrar.add(socket.fd())?;
        Ok(Self { registration, socket, watches_writing: false })
    }

    /// Has another watch watch it, from the thread of that one.
    ///
    /// # Errors
    /// When it cannot be registered there, nobody watches it then; when something has come that nobody expected.
    pub(crate) fn move_to(&mut self, registrar: &Registrar) -> io::Result<()> {
        self.registration.remove(self.socket.fd())?;
        self.registration = registrar.add(self.socket.fd())?;
        self.watches_writing = false;
        // The old watch may not have been asked since it came, the new one has not been.
        if self.has_something() { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }

    /// Whether the peer has closed or sent something, while nothing was expected of it.
    ///
    /// Cost: no system call unless something was seen to arrive that no read has found.
    pub(crate) fn is_disturbed(&self) -> bool {
        if !self.may_read() {
            return false;
        }
        let has_something = self.has_something();
        if !has_something {
            // A read that had just enough room could not know that it had taken all. An end that comes just now is not forgotten.
            self.registration.readiness().drained();
        }
        has_something
    }

    fn has_something(&self) -> bool {
        let mut byte = [MaybeUninit::<u8>::uninit()];
        let peeked = rustix::net::recv(&self.socket, byte.as_mut_slice(), RecvFlags::PEEK);
        !peeked.is_err_and(|error| io::Error::from(error).kind() == io::ErrorKind::WouldBlock)
    }

    /// Turns TCP keepalive on, with the first probe after `idle`. Unix sockets need none.
    pub(crate) fn keep_alive(&self, idle: Duration) -> io::Result<()> {
        match &self.socket {
            IdleStream::Tcp(stream) => {
                SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(idle))
            }
            IdleStream::Unix(_) => Ok(()),
        }
    }

    /// Whether it is a Unix socket.
    #[must_use]
    pub const fn is_unix(&self) -> bool {
        matches!(self.socket, IdleStream::Unix(_))
    }

    /// What is known of it, to wait for its end while somebody else uses it.
    #[must_use]
    pub const fn readiness(&self) -> &Arc<Readiness> {
        self.registration.readiness()
    }

    /// Whether a read may bring something.
    #[must_use]
    pub fn may_read(&self) -> bool {
        self.registration.readiness().may_read()
    }

    /// Reads what has come, as far as `room` goes; nothing at the end.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has come; else as the socket says.
    pub fn read_now<'a>(&self, room: &'a mut [MaybeUninit<u8>]) -> io::Result<&'a mut [u8]> {
        let ((read, _), _) = rustix::net::recv(&self.socket, room, RecvFlags::empty())?;
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
            ready!(self.registration.readiness().poll_readable(cx));
            match self.read_now(room) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.registration.readiness().found_nothing();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(read) => {
                    if !read.is_empty() && read.len() < room_bytes {
                        self.registration.readiness().drained();
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
        // Straight to the kernel: libc's `send` is a point of cancellation, which costs as much as the rest around it.
        Ok(rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL)?)
    }

    /// The same for several pieces.
    ///
    /// # Errors
    /// `WouldBlock` when nothing goes out; else as the socket says.
    pub fn write_pieces_now(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut nothing = SendAncillaryBuffer::default();
        Ok(rustix::net::sendmsg(&self.socket, pieces, &mut nothing, SendFlags::NOSIGNAL)?)
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
                    self.registration.readiness().await_room(cx);
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
            self.registration.watch_writing(self.socket.fd(), watches)?;
            self.watches_writing = watches;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::task::Waker;

    use super::*;
    use crate::{Stream, Watch};

    #[test]
    fn socket_whose_last_read_filled_its_room_is_not_disturbed() {
        let mut watch = Watch::new().unwrap();
        let (own, mut peer) = UnixStream::pair().unwrap();
        own.set_nonblocking(true).unwrap();
        let socket = WatchedSocket::new(IdleStream::Unix(own), &watch.registrar()).unwrap();
        let mut stream = Stream::Watched(socket);
        peer.write_all(b"eight by").unwrap();
        watch.wait(None, || ()).unwrap();
        assert!(stream.is_disturbed());
        let mut room = [MaybeUninit::uninit(); 8];
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(stream.poll_receive(cx, &mut room, |_| ()).is_ready());
        assert!(!stream.is_disturbed());
        drop(peer);
        watch.wait(None, || ()).unwrap();
        assert!(stream.is_disturbed());
    }
}
