//! The client's answer to the greeting (handshake response 41) and the switch to another authentication plugin.
//!
//! Source: "Protocol::HandshakeResponse41", "Protocol::AuthSwitchRequest".

use crate::{CapabilityFlags, NONCE_LEN, Reader, WireError, append_lenenc_bytes};

/// The plugin that both sides speak.
pub const NATIVE_PASSWORD_PLUGIN: &[u8] = b"mysql_native_password";

/// Who logs in, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// What the client can do, already cut to what the greeting offered by whoever compares them.
    pub capabilities: CapabilityFlags,
    /// The largest packet that the client takes.
    pub max_packet_bytes: u32,
    /// Number of the collation that the client talks in.
    pub collation: u8,
    /// User name.
    pub user: Vec<u8>,
    /// The plugin's answer to the nonce: never shown.
    pub auth_answer: Vec<u8>,
    /// Default schema, if one is asked for.
    pub schema: Option<Vec<u8>>,
    /// Plugin that computed the answer; empty when the client does not know of plugins.
    pub auth_plugin: Vec<u8>,
    /// Connection attributes as they came (`string<lenenc>` pairs), empty without `CLIENT_CONNECT_ATTRS`.
    pub attributes: Vec<u8>,
    /// Level at which the client wants zstd; 0 without `CLIENT_ZSTD_COMPRESSION_ALGORITHM`.
    pub zstd_level: u8,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("user", &String::from_utf8_lossy(&self.user))
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

impl Login {
    /// Reads a client's login.
    ///
    /// # Errors
    /// When the payload ends early or the client does not speak protocol 4.1.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        let mysql = reader.u32()?;
        if !CapabilityFlags::of_halves(mysql, 0).contains(CapabilityFlags::CLIENT_PROTOCOL_41) {
            return Err(WireError::Malformed("client without protocol 4.1"));
        }
        let max_packet_bytes = reader.u32()?;
        let collation = reader.u8()?;
        reader.bytes(19)?;
        let capabilities = CapabilityFlags::of_halves(mysql, reader.u32()?);
        let user = reader.null_terminated()?.to_vec();
        let auth_answer = parse_auth_answer(&mut reader, capabilities)?.to_vec();
        let has = |flag| capabilities.contains(flag);
        // Clients are seen to set the flag and send nothing behind it.
        let schema = (has(CapabilityFlags::CLIENT_CONNECT_WITH_DB) && !reader.rest().is_empty())
            .then(|| reader.null_terminated())
            .transpose()?
            .filter(|schema| !schema.is_empty())
            .map(<[u8]>::to_vec);
        let auth_plugin = match has(CapabilityFlags::CLIENT_PLUGIN_AUTH) && !reader.rest().is_empty() {
            true => reader.null_terminated()?.to_vec(),
            false => Vec::new(),
        };
        let attributes = match has(CapabilityFlags::CLIENT_CONNECT_ATTRS) && !reader.rest().is_empty() {
            true => reader.lenenc_bytes()?.to_vec(),
            false => Vec::new(),
        };
        let has_level = has(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM) && !reader.rest().is_empty();
        let zstd_level = if has_level { reader.u8()? } else { 0 };
        Ok(Self {
            capabilities,
            max_packet_bytes,
            collation,
            user,
            auth_answer,
            schema,
            auth_plugin,
            attributes,
            zstd_level,
        })
    }

    /// Reads a `COM_CHANGE_USER` of a client that logged in with these capabilities. Behind the schema a client may leave out all.
    ///
    /// Source: "COM_CHANGE_USER".
    ///
    /// # Errors
    /// When the payload ends early.
    pub fn parse_change_user(payload: &[u8], capabilities: CapabilityFlags) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let user = reader.null_terminated()?.to_vec();
        let answer_len = reader.u8()?;
        let auth_answer = reader.bytes(usize::from(answer_len))?.to_vec();
        let schema = Some(reader.null_terminated()?.to_vec()).filter(|schema| !schema.is_empty());
        // The collation has two bytes here.
        let collation = if reader.rest().len() >= 2 { u8::try_from(reader.u16()?).unwrap_or(45) } else { 45 };
        let has_plugin =
            capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) && !reader.rest().is_empty();
        let auth_plugin = if has_plugin { reader.null_terminated()?.to_vec() } else { Vec::new() };
        Ok(Self {
            capabilities,
            max_packet_bytes: 0,
            collation,
            user,
            auth_answer,
            schema,
            auth_plugin,
            attributes: Vec::new(),
            zstd_level: 0,
        })
    }

    /// Appends what stands before the user's name.
    fn encode_fixed(&self, out: &mut Vec<u8>) {
        let (mysql, reserved) = self.capabilities.halves();
        out.extend(mysql);
        out.extend(self.max_packet_bytes.to_le_bytes());
        out.push(self.collation);
        out.extend([0; 19]);
        out.extend(reserved);
    }

    /// Appends the payload to `out`, in the form that the capabilities say.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_fixed(out);
        out.extend_from_slice(&self.user);
        out.push(0);
        append_lenenc_bytes(out, &self.auth_answer);
        if let Some(schema) = &self.schema
            && self.capabilities.contains(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
        {
            out.extend_from_slice(schema);
            out.push(0);
        }
        if self.capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH) {
            out.extend_from_slice(&self.auth_plugin);
            out.push(0);
        }
        if self.capabilities.contains(CapabilityFlags::CLIENT_CONNECT_ATTRS) {
            append_lenenc_bytes(out, &self.attributes);
        }
        if self.capabilities.contains(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM) {
            out.push(self.zstd_level);
        }
    }
}

fn parse_auth_answer<'a>(
    reader: &mut Reader<'a>,
    capabilities: CapabilityFlags,
) -> Result<&'a [u8], WireError> {
    if capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) {
        reader.lenenc_bytes()
    } else if capabilities.contains(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
        let len = reader.u8()?;
        reader.bytes(usize::from(len))
    } else {
        reader.null_terminated()
    }
}

/// A server's wish that the client answers with another plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSwitch {
    /// The plugin to use.
    pub plugin: Vec<u8>,
    /// The nonce for it. A [`Nonce`](crate::Nonce) has a closing NUL on the wire, which is not part of it; others, such as
    /// `client_ed25519`'s, have none and may end with any byte.
    pub data: Vec<u8>,
}

impl AuthSwitch {
    /// The first byte of the packet.
    pub const MARKER: u8 = 0xFE;

    /// Reads the request, its marker included.
    ///
    /// # Errors
    /// When it is cut, or is the form from before plugins had names (a lone `0xFE`).
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != Self::MARKER {
            return Err(WireError::Malformed("authentication switch"));
        }
        if reader.rest().is_empty() {
            return Err(WireError::Malformed("authentication of before MySQL 4.1"));
        }
        let plugin = reader.null_terminated()?.to_vec();
        let data = match reader.rest() {
            [nonce @ .., 0] if nonce.len() == NONCE_LEN => nonce,
            rest => rest,
        };
        Ok(Self { plugin, data: data.to_vec() })
    }

    /// Appends the payload to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(Self::MARKER);
        out.extend_from_slice(&self.plugin);
        out.push(0);
        out.extend_from_slice(&self.data);
        if self.data.len() == NONCE_LEN {
            out.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login() -> Login {
        Login {
            capabilities: CapabilityFlags::CLIENT_PROTOCOL_41
                | CapabilityFlags::CLIENT_CONNECT_WITH_DB
                | CapabilityFlags::CLIENT_PLUGIN_AUTH
                | CapabilityFlags::CLIENT_CONNECT_ATTRS
                | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA,
            max_packet_bytes: 1 << 24,
            collation: 45,
            user: b"app".to_vec(),
            auth_answer: vec![9; 20],
            schema: Some(b"test".to_vec()),
            auth_plugin: NATIVE_PASSWORD_PLUGIN.to_vec(),
            attributes: b"\x03foo\x03bar".to_vec(),
            zstd_level: 0,
        }
    }

    #[test]
    fn a_login_survives_a_round_trip() {
        let mut out = Vec::new();
        login().encode(&mut out);
        assert_eq!(Login::parse(&out), Ok(login()));
    }

    #[test]
    fn a_cut_login_never_panics() {
        let mut out = Vec::new();
        login().encode(&mut out);
        for len in 0..out.len() {
            drop(Login::parse(&out[..len]));
        }
    }

    #[test]
    fn debug_hides_the_answer() {
        assert!(!format!("{:?}", login()).contains("9, 9"));
    }

    #[test]
    fn a_switch_survives_a_round_trip() {
        for data in [vec![1; NONCE_LEN], vec![0; 32], Vec::new()] {
            let switch = AuthSwitch { plugin: b"p".to_vec(), data };
            let mut out = Vec::new();
            switch.encode(&mut out);
            assert_eq!(AuthSwitch::parse(&out), Ok(switch));
        }
        assert!(AuthSwitch::parse(&[0xFE]).is_err());
    }
}
