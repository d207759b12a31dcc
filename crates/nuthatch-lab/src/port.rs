//! Ports that nobody listens on.
//!
//! Ports are taken from below the range that the kernel gives to outgoing connections, so that a busy client
//! cannot take one between the look and the server's bind. Another lab still can: who starts a server must be
//! ready to be given another port.

use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};

/// Below Linux's default `ip_local_port_range`, above the ports of known services.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Whether a server could bind this port of 127.0.0.1 now.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// A port of 127.0.0.1 that is free now, at a random place so that labs which start together rarely meet.
pub(crate) fn find_free() -> io::Result<u16> {
    let mut random = [0_u8; 2];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let start = u16::from_ne_bytes(random) % COUNT;
    (0..COUNT)
        .map(|step| FIRST + (start + step) % COUNT)
        .find(|port| is_free(*port))
        .ok_or_else(|| io::Error::new(io::ErrorKind::AddrInUse, "no port is free"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_in_use_is_not_free() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(!is_free(port));
        // Another lab may take one between the look and the look.
        assert!((0..5).any(|_| is_free(find_free().unwrap())));
    }
}
