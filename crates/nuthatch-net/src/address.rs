//! Where to listen and where servers are: `host:port`, or the path of a Unix socket.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// A place to listen: a TCP address, or the path of a Unix socket (anything with a `/`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('/') {
            return Ok(Self::Unix(PathBuf::from(text)));
        }
        let wrong = || format!("`{text}` is neither HOST:PORT nor the path of a Unix socket");
        text.to_socket_addrs().map_err(|_unresolved| wrong())?.next().map(Self::Tcp).ok_or_else(wrong)
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// A server: a host name with a port, or the path of a Unix socket.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BackendAddress {
    /// TCP; the name is resolved at each connect.
    Tcp {
        /// Name or IP address.
        host: String,
        /// TCP port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl BackendAddress {
    /// ProxySQL's convention: port 0 means that `host` is the path of a Unix socket.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        match port {
            0 => Self::Unix(PathBuf::from(host)),
            _ => Self::Tcp { host: host.to_owned(), port },
        }
    }
}

impl fmt::Display for BackendAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listen_address_is_a_socket_address_or_a_path() {
        assert_eq!("127.0.0.1:6033".parse(), Ok(ListenAddress::Tcp(([127, 0, 0, 1], 6033).into())));
        assert_eq!("/tmp/n.sock".parse(), Ok(ListenAddress::Unix("/tmp/n.sock".into())));
        for wrong in ["6033", "127.0.0.1", "127.0.0.1:99999", ""] {
            assert!(wrong.parse::<ListenAddress>().unwrap_err().contains(wrong));
        }
    }

    #[test]
    fn port_0_is_a_path() {
        assert_eq!(BackendAddress::new("/run/m.sock", 0), BackendAddress::Unix("/run/m.sock".into()));
        assert_eq!(BackendAddress::new("::1", 3306).to_string(), "[::1]:3306");
    }
}
