//! The client's part of a login: how the proxy enters a server.

use nuthatch_wire::{
    AuthSwitch, CapabilityFlags, ErrPacket, Greeting, Login, NATIVE_PASSWORD_PLUGIN, Nonce, OkPacket, Stage1,
    StatusFlags, WireError, append_lenenc_bytes, append_packet, scramble, scramble_stage1,
};

use crate::{Framed, NetError};

/// The largest packet that a server may send during a login.
const LOGIN_BYTES_MAX: usize = 64 * 1024;

/// What proves to a server who we are. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum BackendPassword {
    /// No password.
    Empty,
    /// The password itself.
    Clear(Vec<u8>),
    /// `SHA1(password)`, learned from a client's login: enough for native passwords.
    Stage1(Stage1),
}

impl std::fmt::Debug for BackendPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackendPassword(…)")
    }
}

impl BackendPassword {
    fn native_answer(&self, nonce: &Nonce) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Clear(password) => scramble(nonce, password),
            Self::Stage1(stage1) => scramble_stage1(nonce, *stage1).to_vec(),
        }
    }
}

/// How to log in.
#[derive(Debug, Clone)]
pub struct BackendLogin<'a> {
    /// User name.
    pub user: &'a str,
    /// Its password.
    pub password: &'a BackendPassword,
    /// Default schema.
    pub schema: Option<&'a [u8]>,
    /// Collation of the connection; the low byte goes over the wire.
    pub collation: u8,
    /// Capabilities wanted; cut to what the server offers.
    pub capabilities: CapabilityFlags,
    /// The largest packet that we take from the server.
    pub max_packet_bytes: u32,
}

/// What a login found.
#[derive(Debug, Clone)]
pub struct LoggedIn {
    /// The server's greeting.
    pub greeting: Greeting,
    /// Capabilities in force.
    pub capabilities: CapabilityFlags,
    /// The session's state after the login.
    pub status: StatusFlags,
}

/// Logs in on a fresh connection: afterwards it waits for commands.
///
/// # Errors
/// [`NetError::Refused`] with the server's answer; [`NetError::UnsupportedPlugin`]; what the socket says.
pub async fn log_in(framed: &mut Framed, login: &BackendLogin<'_>) -> Result<LoggedIn, NetError> {
    let sequence = framed.read_packet(0, LOGIN_BYTES_MAX).await?;
    refuse_err(framed.payload())?;
    let greeting = Greeting::parse(framed.payload())?;
    let capabilities = capabilities_in_force(login, &greeting);
    let answer = Login {
        capabilities,
        max_packet_bytes: login.max_packet_bytes,
        collation: login.collation,
        user: login.user.as_bytes().to_vec(),
        auth_answer: login.password.native_answer(&greeting.nonce),
        schema: login.schema.map(<[u8]>::to_vec),
        auth_plugin: NATIVE_PASSWORD_PLUGIN.to_vec(),
        attributes: attributes(),
    };
    let mut payload = Vec::with_capacity(128);
    answer.encode(&mut payload);
    let mut sequence = send(framed, sequence.wrapping_add(1), &payload).await?;
    loop {
        sequence = framed.read_packet(sequence, LOGIN_BYTES_MAX).await?.wrapping_add(1);
        refuse_err(framed.payload())?;
        match framed.payload().first() {
            Some(0x00) => {
                let body = framed.payload().get(1..).unwrap_or_default();
                let status = OkPacket::parse_body(body)?.status;
                framed.drop_packet();
                return Ok(LoggedIn { greeting, capabilities, status });
            }
            Some(&AuthSwitch::MARKER) => {
                let answer = answer_switch(framed.payload(), login.password)?;
                sequence = send(framed, sequence, &answer).await?;
            }
            _ => return Err(WireError::Malformed("answer to the login").into()),
        }
    }
}

fn capabilities_in_force(login: &BackendLogin<'_>, greeting: &Greeting) -> CapabilityFlags {
    let mut wanted = login.capabilities
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_CONNECT_ATTRS;
    wanted.set(CapabilityFlags::CLIENT_CONNECT_WITH_DB, login.schema.is_some());
    // MariaDB reads a cleared CLIENT_LONG_PASSWORD as "look for my extended capabilities".
    wanted & (greeting.capabilities | CapabilityFlags::CLIENT_LONG_PASSWORD)
        | CapabilityFlags::CLIENT_LONG_PASSWORD
}

fn attributes() -> Vec<u8> {
    let mut out = Vec::new();
    for text in ["program_name", "nuthatch", "_client_version", env!("CARGO_PKG_VERSION")] {
        append_lenenc_bytes(&mut out, text.as_bytes());
    }
    out
}

fn answer_switch(payload: &[u8], password: &BackendPassword) -> Result<Vec<u8>, NetError> {
    let switch = AuthSwitch::parse(payload)?;
    if switch.plugin != NATIVE_PASSWORD_PLUGIN {
        return Err(NetError::UnsupportedPlugin(String::from_utf8_lossy(&switch.plugin).into_owned()));
    }
    let nonce = switch.data.as_slice().try_into().map_err(|_wrong| WireError::Malformed("nonce"))?;
    Ok(password.native_answer(nonce))
}

fn refuse_err(payload: &[u8]) -> Result<(), NetError> {
    match payload.first() {
        Some(&ErrPacket::MARKER) => Err(NetError::Refused(ErrPacket::parse(payload)?)),
        _ => Ok(()),
    }
}

async fn send(framed: &mut Framed, mut sequence: u8, payload: &[u8]) -> Result<u8, NetError> {
    let mut bytes = Vec::with_capacity(payload.len() + 4);
    append_packet(&mut bytes, &mut sequence, payload);
    framed.write(&bytes).await?;
    Ok(sequence)
}
