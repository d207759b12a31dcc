//! A connected socket on its way between workers.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

/// A connected socket that belongs to no runtime: what travels between workers.
#[derive(Debug)]
pub enum IdleStream {
    /// TCP.
    Tcp(std::net::TcpStream),
    /// A Unix socket.
    Unix(std::os::unix::net::UnixStream),
}

impl IdleStream {
    pub(crate) fn fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl AsFd for IdleStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}
