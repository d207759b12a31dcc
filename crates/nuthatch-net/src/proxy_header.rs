//! PROXY protocol, versions 1 and 2: who the client is that a load balancer in between speaks for.
//!
//! Source: HAProxy's `proxy-protocol.txt`. Only a peer that is trusted may send one. It is read byte for byte up to its end:
//! what follows may be TLS.

use std::net::SocketAddr;

use nuthatch_wire::WireError;
use ppp::{HeaderResult, v1, v2};

use crate::{Framed, NetError};

const V1_PREFIX: &[u8] = b"PROX";
const V2_PREFIX: &[u8] = b"\r\n\r\n";

/// Version 1 is one line of at most so many bytes.
const V1_BYTES_MAX: usize = 107;
/// Version 2: fixed part, whose last two bytes say how much follows.
const V2_FIXED_BYTES: usize = 16;
/// More than addresses and the fields that balancers add.
const V2_BYTES_MAX: usize = 4096;

/// Both ends of the client's own connection to the balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proxied {
    /// The client.
    pub source: SocketAddr,
    /// Where it connected to.
    pub destination: SocketAddr,
}

/// Takes the header if one comes; `None` when there is none, or it speaks for the balancer itself.
pub(crate) async fn take_proxy_header(framed: &mut Framed) -> Result<Option<Proxied>, NetError> {
    framed.await_bytes(V1_PREFIX.len()).await?;
    let is_v2 = framed.unread().starts_with(V2_PREFIX);
    if !is_v2 && !framed.unread().starts_with(V1_PREFIX) {
        return Ok(None);
    }
    let len = if is_v2 { await_v2(framed).await? } else { await_v1(framed).await? };
    let proxied = parse(framed.unread().get(..len).unwrap_or_default())?;
    framed.consume(len);
    Ok(proxied)
}

async fn await_v1(framed: &mut Framed) -> Result<usize, NetError> {
    for len in V1_PREFIX.len()..=V1_BYTES_MAX {
        framed.await_bytes(len).await?;
        if framed.unread().get(..len).is_some_and(|line| line.ends_with(b"\r\n")) {
            return Ok(len);
        }
    }
    Err(malformed())
}

async fn await_v2(framed: &mut Framed) -> Result<usize, NetError> {
    framed.await_bytes(V2_FIXED_BYTES).await?;
    let Some([high, low]) = framed.unread().get(V2_FIXED_BYTES - 2..V2_FIXED_BYTES) else {
        return Err(malformed());
    };
    let len = V2_FIXED_BYTES + usize::from(u16::from_be_bytes([*high, *low]));
    if len > V2_BYTES_MAX {
        return Err(malformed());
    }
    framed.await_bytes(len).await?;
    Ok(len)
}

fn parse(header: &[u8]) -> Result<Option<Proxied>, NetError> {
    let proxied = |source: (std::net::IpAddr, u16), destination: (std::net::IpAddr, u16)| {
        Some(Proxied { source: source.into(), destination: destination.into() })
    };
    match HeaderResult::parse(header) {
        HeaderResult::V1(Ok(header)) => Ok(match header.addresses {
            v1::Addresses::Unknown => None,
            v1::Addresses::Tcp4(ip) => proxied(
                (ip.source_address.into(), ip.source_port),
                (ip.destination_address.into(), ip.destination_port),
            ),
            v1::Addresses::Tcp6(ip) => proxied(
                (ip.source_address.into(), ip.source_port),
                (ip.destination_address.into(), ip.destination_port),
            ),
        }),
        HeaderResult::V2(Ok(header)) if header.command == v2::Command::Local => Ok(None),
        HeaderResult::V2(Ok(header)) => Ok(match header.addresses {
            v2::Addresses::Unspecified | v2::Addresses::Unix(_) => None,
            v2::Addresses::IPv4(ip) => proxied(
                (ip.source_address.into(), ip.source_port),
                (ip.destination_address.into(), ip.destination_port),
            ),
            v2::Addresses::IPv6(ip) => proxied(
                (ip.source_address.into(), ip.source_port),
                (ip.destination_address.into(), ip.destination_port),
            ),
        }),
        HeaderResult::V1(Err(_)) | HeaderResult::V2(Err(_)) => Err(malformed()),
    }
}

fn malformed() -> NetError {
    WireError::Malformed("PROXY header").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stream;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixStream;

    async fn read(bytes: &[u8]) -> (Result<Option<Proxied>, NetError>, Vec<u8>) {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut framed = Framed::new(Stream::Unix(near));
        far.write_all(bytes).await.unwrap();
        drop(far);
        let taken = take_proxy_header(&mut framed).await;
        (taken, framed.unread().to_vec())
    }

    #[tokio::test]
    async fn both_versions_are_read_to_their_end_and_not_beyond() {
        let v4 = Proxied {
            source: "192.0.2.7:5555".parse().unwrap(),
            destination: "198.51.100.1:3306".parse().unwrap(),
        };
        let mut binary = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".to_vec();
        binary.extend([192, 0, 2, 7, 198, 51, 100, 1]);
        binary.extend(5555_u16.to_be_bytes());
        binary.extend(3306_u16.to_be_bytes());
        let mut local = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec();
        for (header, expected) in [
            (&b"PROXY TCP4 192.0.2.7 198.51.100.1 5555 3306\r\n"[..], Some(v4)),
            (b"PROXY UNKNOWN\r\n", None),
            (&binary, Some(v4)),
            (&local, None),
        ] {
            // The rest of the bytes is nobody's yet; at most the four that were looked at were read.
            let (taken, unread) = read(&[header, b"\x01\x02\x03\x04more"].concat()).await;
            assert_eq!(taken.unwrap(), expected);
            assert!(unread.is_empty(), "{unread:?}");
        }
        local.truncate(10);
        assert!(read(&local).await.0.is_err());
    }

    #[tokio::test]
    async fn what_is_no_header_stays_and_what_is_a_wrong_one_is_refused() {
        let (taken, unread) = read(b"\x20\0\0\x01login").await;
        assert_eq!((taken.unwrap(), unread.as_slice()), (None, b"\x20\0\0\x01".as_slice()));
        for wrong in [&b"PROXY TCP4 x y 1 2\r\n"[..], b"PROXY ", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff"] {
            assert!(read(wrong).await.0.is_err(), "{wrong:?}");
        }
        assert!(read(&[b"PROXY TCP4 ", vec![b'1'; 200].as_slice()].concat()).await.0.is_err());
    }
}
