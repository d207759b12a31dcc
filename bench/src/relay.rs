//! The floor of a pass-through: bytes from one socket to another, and nothing else.
//!
//! One thread, level-triggered epoll, a connection to the server for each client, one `recv` and one `send` in each
//! direction. It reads no packet and knows no session, so what it costs a query is what the kernel takes for being in
//! between at all; no proxy on readiness I/O can be below it by far.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;

use anyhow::{Context, Result, bail};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};

use crate::address::Address;

/// Ready connections taken from epoll at once.
const EVENTS_MAX: usize = 512;

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
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut relay = Relay { epoll, slots: Vec::new(), to: options.to };
    for address in &options.listen {
        relay.listen(address).with_context(|| format!("cannot listen on {address}"))?;
    }
    relay.run()
}

enum Slot {
    Listener(OwnedFd),
    /// One end, and the number of the other.
    End(OwnedFd, usize),
}

struct Relay {
    epoll: OwnedFd,
    /// By descriptor number, which epoll gives back.
    slots: Vec<Option<Slot>>,
    to: SocketAddr,
}

impl Relay {
    fn listen(&mut self, address: &Address) -> Result<()> {
        let fd: OwnedFd = match address {
            Address::Tcp(address) => TcpListener::bind(address)?.into(),
            Address::Unix(path) => UnixListener::bind(path)?.into(),
        };
        self.insert(Slot::Listener(fd))
    }

    fn insert(&mut self, slot: Slot) -> Result<()> {
        let (Slot::Listener(fd) | Slot::End(fd, _)) = &slot;
        let index = usize::try_from(fd.as_raw_fd())?;
        epoll::add(&self.epoll, fd, EventData::new_u64(index as u64), EventFlags::IN)?;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(slot);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let mut events = Vec::<Event>::with_capacity(EVENTS_MAX);
        let mut buffer = [0_u8; 65_536];
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                let data = event.data;
                self.handle(usize::try_from(data.u64())?, &mut buffer)?;
            }
        }
    }

    fn handle(&mut self, index: usize, buffer: &mut [u8]) -> Result<()> {
        match &self.slots[index] {
            Some(Slot::End(from, other)) => {
                let other = *other;
                let Some(Slot::End(to, _)) = &self.slots[other] else { bail!("an end without another") };
                if !pass_on(from, to, buffer) {
                    self.slots[index] = None;
                    self.slots[other] = None;
                }
                Ok(())
            }
            Some(Slot::Listener(listener)) => {
                let client = rustix::net::accept(listener)?;
                let server = OwnedFd::from(TcpStream::connect(self.to)?);
                // Fails on a Unix socket, which has nothing to delay.
                let _ = sockopt::set_tcp_nodelay(&client, true);
                sockopt::set_tcp_nodelay(&server, true)?;
                let (client_index, server_index) = (client.as_raw_fd(), server.as_raw_fd());
                self.insert(Slot::End(client, usize::try_from(server_index)?))?;
                self.insert(Slot::End(server, usize::try_from(client_index)?))
            }
            // Its other end has ended in the same round.
            None => Ok(()),
        }
    }
}

/// Reads once and sends that on; false when either end is no more, or does not take it at once.
#[inline]
fn pass_on(from: &OwnedFd, to: &OwnedFd, buffer: &mut [u8]) -> bool {
    let received = match recv(from, &mut *buffer, RecvFlags::DONTWAIT) {
        Ok((0, _)) => return false,
        Ok((received, _)) => received,
        Err(Errno::AGAIN | Errno::INTR) => return true,
        Err(_) => return false,
    };
    send(to, &buffer[..received], SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
        .is_ok_and(|sent| sent == received)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

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
