//! The first packet of a connection: handshake version 10, both ways.
//!
//! Source: "Protocol::HandshakeV10"; MariaDB's form ("Connection") clears `CLIENT_LONG_PASSWORD` and puts its own
//! capabilities into the last four bytes of what MySQL keeps reserved.

use mysql_common::constants::StatusFlags;

use crate::{CapabilityFlags, Reader, WireError};

/// Bytes of a login nonce that count (a closing NUL follows on the wire).
pub const NONCE_LEN: usize = 20;

/// A login nonce. No byte of it may be NUL, since old clients read it as a string.
pub type Nonce = [u8; NONCE_LEN];

/// What a server says of itself before anyone logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// As sent; MariaDB before 11 puts `5.5.5-` in front.
    pub version: Vec<u8>,
    /// What `CONNECTION_ID()` will answer.
    pub connection_id: u32,
    /// What the password answer is computed with.
    pub nonce: Nonce,
    /// What the server can do.
    pub capabilities: CapabilityFlags,
    /// Low byte of the default collation's number.
    pub collation: u8,
    /// Status flags before login.
    pub status: StatusFlags,
    /// Name of the default authentication plugin.
    pub auth_plugin: Vec<u8>,
}

impl Greeting {
    /// Reads a server's greeting. An ERR packet in its place is the caller's to look for.
    ///
    /// # Errors
    /// When the payload is not a handshake of version 10.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 10 {
            return Err(WireError::Malformed("protocol version of the greeting"));
        }
        let version = reader.null_terminated()?.to_vec();
        let connection_id = reader.u32()?;
        let first = reader.bytes(8)?;
        reader.u8()?;
        let low = reader.u16()?;
        let collation = reader.u8()?;
        let status = StatusFlags::from_bits_truncate(reader.u16()?);
        let high = reader.u16()?;
        let nonce_len = reader.u8()?;
        reader.bytes(6)?;
        let capabilities = CapabilityFlags::of_halves(u32::from(low) | u32::from(high) << 16, reader.u32()?);
        let second = reader.bytes(usize::from(nonce_len.max(21)) - 8)?;
        let mut nonce = [0; NONCE_LEN];
        nonce.iter_mut().zip(first.iter().chain(second)).for_each(|(to, from)| *to = *from);
        let auth_plugin = reader.rest().split(|&b| b == 0).next().unwrap_or_default().to_vec();
        Ok(Self { version, connection_id, nonce, capabilities, collation, status, auth_plugin })
    }

    /// Appends the payload (without frame header) to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let ([c0, c1, c2, c3], reserved) = self.capabilities.halves();
        let (first, second) = self.nonce.split_at(8);
        out.push(10);
        out.extend_from_slice(&self.version);
        out.push(0);
        out.extend(self.connection_id.to_le_bytes());
        out.extend_from_slice(first);
        out.extend([0, c0, c1, self.collation]);
        out.extend(self.status.bits().to_le_bytes());
        out.extend([c2, c3, 21]);
        out.extend([0; 6]);
        out.extend(reserved);
        out.extend_from_slice(second);
        out.push(0);
        out.extend_from_slice(&self.auth_plugin);
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_survives_a_round_trip() {
        let greeting = Greeting {
            version: b"5.5.5-10.11.19-MariaDB".to_vec(),
            connection_id: 7,
            nonce: *b"abcdefghijklmnopqrst",
            capabilities: CapabilityFlags::CLIENT_PROTOCOL_41
                | CapabilityFlags::CLIENT_PLUGIN_AUTH
                | CapabilityFlags::MARIADB_CLIENT_STMT_BULK_OPERATIONS
                | CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA,
            collation: 45,
            status: StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            auth_plugin: b"mysql_native_password".to_vec(),
        };
        let mut out = Vec::new();
        greeting.encode(&mut out);
        assert_eq!(Greeting::parse(&out), Ok(greeting));
    }

    #[test]
    fn a_cut_greeting_is_truncated_at_every_length() {
        let mut out = Vec::new();
        Greeting {
            version: b"8.0.11".to_vec(),
            connection_id: 1,
            nonce: *b"abcdefghijklmnopqrst",
            capabilities: CapabilityFlags::all(),
            collation: 255,
            status: StatusFlags::empty(),
            auth_plugin: Vec::new(),
        }
        .encode(&mut out);
        for len in 0..out.len() - 1 {
            assert!(Greeting::parse(&out[..len]).is_err(), "{len} bytes");
        }
    }
}
