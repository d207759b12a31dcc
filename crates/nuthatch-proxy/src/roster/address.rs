//! Where clients are.

use std::net::IpAddr;
use std::sync::Arc;

/// Where a client came from and where it arrived; the default is nowhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientAddress {
    /// The client's IP address as text; `localhost` over a Unix socket.
    pub host: Arc<str>,
    /// The client's TCP port; 0 over a Unix socket.
    pub port: u16,
    /// The proxy's address that the client connected to.
    pub proxy_host: Arc<str>,
    /// The proxy's port; 0 for a Unix socket.
    pub proxy_port: u16,
}

impl ClientAddress {
    /// A client over TCP. IPv4 addresses in IPv6 form are shown as IPv4.
    #[must_use]
    pub fn tcp(peer: std::net::SocketAddr, local: std::net::SocketAddr) -> Self {
        let text = |ip: IpAddr| Arc::from(ip.to_canonical().to_string());
        Self {
            host: text(peer.ip()),
            port: peer.port(),
            proxy_host: text(local.ip()),
            proxy_port: local.port(),
        }
    }

    /// A client over a Unix socket.
    #[must_use]
    pub fn unix(path: &std::path::Path) -> Self {
        Self {
            host: Arc::from("localhost"),
            port: 0,
            proxy_host: Arc::from(path.to_string_lossy()),
            proxy_port: 0,
        }
    }
}
