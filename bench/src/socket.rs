//! A connected stream, TCP or Unix, with small packets sent at once.
//!
//! Blocking; the floor and the load generator pass `DONTWAIT` to each call instead of changing the socket.

use std::io::{Read, Result as IoResult, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::address::Address;

/// How long a peer may take to answer during login before the benchmark gives up.
const LOGIN_WAIT: Duration = Duration::from_secs(20);

/// A connected stream socket.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Over TCP, with `TCP_NODELAY`.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
}

impl Socket {
    /// Connected to `address`, with a read timeout of 20 s. Errors name the address.
    pub(crate) fn connect(address: &Address) -> Result<Self> {
        Self::dial(address).with_context(|| format!("cannot connect to {address}"))
    }

    fn dial(address: &Address) -> IoResult<Self> {
        match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(LOGIN_WAIT))?;
                Ok(Self::Tcp(stream))
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(LOGIN_WAIT))?;
                Ok(Self::Unix(stream))
            }
        }
    }

    /// The bare descriptor, for use with epoll.
    pub(crate) fn into_fd(self) -> OwnedFd {
        match self {
            Self::Tcp(stream) => stream.into(),
            Self::Unix(stream) => stream.into(),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}
