//! The floor of a pass-through: bytes from one socket to another, and nothing else.
//!
//! A connection to the server for each client, one `recv` and one `send` in each direction, in the same
//! [event loop](crate::event_loop) as the floor. It reads no packet and knows no session, so what it costs a query is what
//! the kernel takes for being in between at all; no proxy on readiness I/O can be below it by far.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::rc::Rc;

use anyhow::Result;

use crate::address::Address;
use crate::event_loop::{self, Fate, Service, send_all};

#[derive(Debug, clap::Args)]
pub(crate) struct RelayOptions {
    /// IP:PORT or a socket's path; may be given more than once
    #[arg(long = "listen", required = true)]
    listen: Vec<Address>,
    /// The server's IP:PORT
    #[arg(long)]
    to: SocketAddr,
}

impl RelayOptions {
    /// From one address to another.
    #[cfg(test)]
    pub(crate) fn between(listen: Address, to: SocketAddr) -> Self {
        Self { listen: vec![listen], to }
    }
}

/// Serves until the process is killed.
pub(crate) fn serve(options: &RelayOptions) -> Result<()> {
    event_loop::serve(Relay { to: options.to }, &options.listen)
}

struct Relay {
    to: SocketAddr,
}

/// One end of a pair: what comes from it goes to the other.
struct End {
    from: Rc<OwnedFd>,
    to: Rc<OwnedFd>,
}

impl Service for Relay {
    type Connection = End;

    fn accept(&self, client: OwnedFd) -> Result<impl IntoIterator<Item = End>> {
        let server = TcpStream::connect(self.to)?;
        server.set_nodelay(true)?;
        let (client, server) = (Rc::new(client), Rc::new(OwnedFd::from(server)));
        Ok([End { from: client.clone(), to: server.clone() }, End { from: server, to: client }])
    }

    #[inline]
    fn handle_received(&self, end: &mut End, bytes: &[u8]) -> Fate {
        send_all(&*end.to, bytes)
    }

    fn partner(end: &End) -> Option<RawFd> {
        Some(end.to.as_raw_fd())
    }
}

impl AsFd for End {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.from.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;
    use crate::proxy::free_port;

    #[test]
    fn bytes_and_ends_go_through_in_both_directions() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let listen: SocketAddr = format!("127.0.0.1:{}", free_port().unwrap()).parse().unwrap();
        let options = RelayOptions::between(Address::Tcp(listen), server.local_addr().unwrap());
        std::thread::spawn(move || serve(&options));
        let mut client = loop {
            if let Ok(client) = TcpStream::connect(listen) {
                break client;
            }
        };
        let (mut served, _) = server.accept().unwrap();
        let mut word = [0_u8; 4];
        client.write_all(b"ping").unwrap();
        served.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"ping");
        served.write_all(b"pong").unwrap();
        client.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"pong");
        drop(client);
        assert_eq!(served.read(&mut word).unwrap(), 0);
    }
}
