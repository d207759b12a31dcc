//! TCP and Unix sockets under one name.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::PATIENCE;

/// Where to connect.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(crate) fn connect(address: &Address) -> io::Result<Self> {
        let socket = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Self::Tcp(stream)
            }
            Address::Unix(path) => Self::Unix(UnixStream::connect(path)?),
        };
        socket.give_up_after(PATIENCE)?;
        Ok(socket)
    }

    /// Connects over TCP from an address of ours.
    pub(crate) fn connect_from(local: SocketAddr, to: SocketAddr) -> io::Result<Self> {
        use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&socket, &local)?;
        connect(&socket, &to)?;
        let socket = Self::Tcp(socket.into());
        socket.give_up_after(PATIENCE)?;
        Ok(socket)
    }

    /// Changes how long a read waits.
    pub(crate) fn give_up_after(&self, patience: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(Some(patience)),
            Self::Unix(stream) => stream.set_read_timeout(Some(patience)),
        }
    }

    /// From now on, closing it tells the peer at once that nobody is there any more.
    pub(super) fn reset_on_close(&self) {
        if let Self::Tcp(stream) = self {
            rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).expect("an open socket");
        }
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish_sending(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(std::net::Shutdown::Write),
            Self::Unix(stream) => stream.shutdown(std::net::Shutdown::Write),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // A read that has a time-out is interrupted whenever the process is stopped and goes on: signal(7).
        loop {
            let read = match self {
                Self::Tcp(stream) => stream.read(buf),
                Self::Unix(stream) => stream.read(buf),
            };
            if !matches!(&read, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
                return read;
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buf),
            Self::Unix(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
