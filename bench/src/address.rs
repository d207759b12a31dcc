//! Where a server listens: a TCP address or the path of a Unix socket.
//!
//! Text with a slash is a path, all else is `IP:PORT`. Names are not resolved: a look-up has no place in a
//! measurement.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;

/// One listening or dialled address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// IP and port.
    Tcp(SocketAddr),
    /// Path of a Unix stream socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('/') {
            return Ok(Self::Unix(PathBuf::from(text)));
        }
        let address =
            text.parse().with_context(|| format!("{text:?} is neither IP:PORT nor a socket's path"))?;
        Ok(Self::Tcp(address))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_path_when_it_has_a_slash() {
        assert_eq!("/run/x.sock".parse::<Address>().unwrap(), Address::Unix("/run/x.sock".into()));
        assert_eq!("127.0.0.1:6033".parse::<Address>().unwrap().to_string(), "127.0.0.1:6033");
        assert!("localhost".parse::<Address>().is_err());
    }
}
