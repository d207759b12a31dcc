//! The client's part of a login: how the proxy enters a server.

use nuthatch_wire::{
    AuthSwitch, CapabilityFlags, Command, ErrPacket, Greeting, Login, NATIVE_PASSWORD_PLUGIN, Nonce,
    OkPacket, SHA2_PASSWORD_PLUGIN, Sha2Stage1, Stage1, StatusFlags, WireError, append_lenenc_bytes,
    scramble, scramble_stage1,
};

use crate::ed25519::{ED25519_PLUGIN, sign};
use crate::login_packet::{
    CLEAR_PASSWORD_PLUGIN, ClearPasswords, FAST_AUTH_OK, FULL_AUTH, LOGIN_BYTES_MAX, MORE_DATA, WANTS_KEY,
    send,
};
use crate::rsa_key::encrypt_for;
use crate::{Algorithm, BackendTls, Framed, NetError, Role};

/// What proves to a server who we are. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum BackendPassword {
    /// No password.
    Empty,
    /// The password itself.
    Clear(Vec<u8>),
    /// What clients' logins revealed: each half is enough for its plugin, `caching_sha2_password`'s only where the server
    /// remembers the password.
    Halves {
        /// `SHA1(password)`.
        native: Option<Stage1>,
        /// `SHA256(password)`.
        sha2: Option<Sha2Stage1>,
    },
}

impl std::fmt::Debug for BackendPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackendPassword(…)")
    }
}

impl BackendPassword {
    /// That of an account whose password this is; an empty one is none.
    #[must_use]
    pub fn of(password: &str) -> Self {
        match password {
            "" => Self::Empty,
            password => Self::Clear(password.as_bytes().to_vec()),
        }
    }

    /// The answer to `nonce` by `plugin`; `None` when the plugin is not known, or wants more than is known.
    fn answer(&self, plugin: &[u8], nonce: &[u8]) -> Option<Vec<u8>> {
        if SOCKET_PLUGINS.contains(&plugin) {
            return Some(Vec::new());
        }
        if plugin == ED25519_PLUGIN {
            return match self {
                Self::Empty => Some(sign(b"", nonce)),
                Self::Clear(password) => Some(sign(password, nonce)),
                Self::Halves { .. } => None,
            };
        }
        let nonce: &Nonce = nonce.try_into().ok()?;
        match (plugin, self) {
            (NATIVE_PASSWORD_PLUGIN | SHA2_PASSWORD_PLUGIN, Self::Empty) => Some(Vec::new()),
            (NATIVE_PASSWORD_PLUGIN, Self::Clear(password)) => Some(scramble(nonce, password)),
            (NATIVE_PASSWORD_PLUGIN, Self::Halves { native, .. }) => {
                Some(scramble_stage1(nonce, (*native)?).to_vec())
            }
            (SHA2_PASSWORD_PLUGIN, Self::Clear(password)) => {
                Some(Sha2Stage1::of(password).answer(nonce).to_vec())
            }
            (SHA2_PASSWORD_PLUGIN, Self::Halves { sha2, .. }) => Some(sha2.as_ref()?.answer(nonce).to_vec()),
            _ => None,
        }
    }
}

/// The server asks the operating system who we are.
const SOCKET_PLUGINS: [&[u8]; 2] = [b"auth_socket", b"unix_socket"];

/// What we ask for where a server packs by zstd.
const ZSTD_LEVEL: u8 = 3;

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
    /// TLS, with the host's name; `None` for a login in the clear.
    pub tls: Option<(&'a BackendTls, &'a str)>,
    /// Whether a server that asks for the password itself gets it.
    pub clear_passwords: ClearPasswords,
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
    let mut sequence = sequence.wrapping_add(1);
    if let Some((tls, host)) = login.tls {
        if !greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL) {
            return Err(NetError::NoTls);
        }
        sequence = send(framed, sequence, &tls_request(capabilities, login)).await?;
        framed.upgrade(async |stream| tls.connect(stream, host).await).await?;
    }
    // A plugin that we do not speak: the server will ask us to switch, or refuse.
    let offered = login.password.answer(&greeting.auth_plugin, &greeting.nonce);
    let (plugin, auth_answer) = match offered {
        Some(answer) => (greeting.auth_plugin.clone(), answer),
        None => (NATIVE_PASSWORD_PLUGIN.to_vec(), Vec::new()),
    };
    let answer = Login {
        capabilities,
        max_packet_bytes: login.max_packet_bytes,
        collation: login.collation,
        user: login.user.as_bytes().to_vec(),
        auth_answer,
        schema: login.schema.map(<[u8]>::to_vec),
        auth_plugin: plugin.clone(),
        attributes: attributes(),
        zstd_level: ZSTD_LEVEL,
    };
    let mut payload = Vec::with_capacity(128);
    answer.encode(&mut payload);
    sequence = send(framed, sequence, &payload).await?;
    let status = prove_to(framed, login, sequence, plugin, greeting.nonce).await?;
    if let Some(algorithm) = algorithm_of(capabilities, ZSTD_LEVEL) {
        framed.compress(algorithm, Role::Client);
    }
    Ok(LoggedIn { greeting, capabilities, status })
}

/// Logs in anew over a connection that waits for commands, as the same user and into `login.schema` or none: COM_CHANGE_USER. Returns the
/// session's state afterwards.
///
/// The server asks for the proof by a plugin and number of its own, measured on MariaDB 10.11 and MySQL 9.7 for whatever plugin stands in the
/// command; so none is sent with it.
///
/// # Errors
/// As [`log_in`]; the server has closed the connection then.
pub async fn change_user(framed: &mut Framed, login: &BackendLogin<'_>) -> Result<StatusFlags, NetError> {
    let mut payload = vec![Command::ChangeUser as u8];
    payload.extend_from_slice(login.user.as_bytes());
    // The end of the name, and a proof of no bytes.
    payload.extend([0, 0]);
    payload.extend_from_slice(login.schema.unwrap_or_default());
    payload.extend([0, login.collation, 0]);
    payload.push(0);
    append_lenenc_bytes(&mut payload, &attributes());
    let sequence = send(framed, 0, &payload).await?;
    prove_to(framed, login, sequence, Vec::new(), Nonce::default()).await
}

/// Answers what the server asks until it lets us in.
async fn prove_to(
    framed: &mut Framed,
    login: &BackendLogin<'_>,
    mut sequence: u8,
    mut plugin: Vec<u8>,
    mut nonce: Nonce,
) -> Result<StatusFlags, NetError> {
    loop {
        sequence = framed.read_packet(sequence, LOGIN_BYTES_MAX).await?.wrapping_add(1);
        refuse_err(framed.payload())?;
        match *framed.payload() {
            [0x00, ref body @ ..] => {
                let status = OkPacket::parse_body(body)?.status;
                framed.drop_packet();
                return Ok(status);
            }
            [AuthSwitch::MARKER, ..] => {
                let switch = AuthSwitch::parse(framed.payload())?;
                nonce = switch.data.as_slice().try_into().unwrap_or(nonce);
                let answer = match switch.plugin.as_slice() {
                    CLEAR_PASSWORD_PLUGIN => clear_answer(framed, login)?,
                    plugin => login
                        .password
                        .answer(plugin, &switch.data)
                        .ok_or_else(|| unsupported(plugin, login.password))?,
                };
                sequence = send(framed, sequence, &answer).await?;
                plugin = switch.plugin;
            }
            // A server that asks for the password by another plugin is none.
            [MORE_DATA, FAST_AUTH_OK] if plugin == SHA2_PASSWORD_PLUGIN => {}
            [MORE_DATA, FULL_AUTH] if plugin == SHA2_PASSWORD_PLUGIN => {
                sequence = send_password(framed, sequence, login, &nonce).await?;
            }
            _ => return Err(WireError::Malformed("answer to the login").into()),
        }
    }
}

/// How both sides pack, if they agreed to. Zlib goes first, as in MySQL.
#[must_use]
pub fn algorithm_of(agreed: CapabilityFlags, zstd_level: u8) -> Option<Algorithm> {
    if agreed.contains(CapabilityFlags::CLIENT_COMPRESS) {
        Some(Algorithm::Zlib)
    } else if agreed.contains(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM) {
        Some(Algorithm::Zstd(zstd_level.clamp(1, 22)))
    } else {
        None
    }
}

/// The fixed part of the login, which asks for TLS.
fn tls_request(capabilities: CapabilityFlags, login: &BackendLogin<'_>) -> Vec<u8> {
    let (mysql, reserved) = capabilities.halves();
    let mut out = Vec::with_capacity(32);
    out.extend(mysql);
    out.extend(login.max_packet_bytes.to_le_bytes());
    out.push(login.collation);
    out.extend([0; 19]);
    out.extend(reserved);
    out
}

/// The password itself, for a server that does not remember it: as it is where nobody can read along, else encrypted.
async fn send_password(
    framed: &mut Framed,
    sequence: u8,
    login: &BackendLogin<'_>,
    nonce: &Nonce,
) -> Result<u8, NetError> {
    let BackendPassword::Clear(password) = login.password else {
        return Err(unsupported(SHA2_PASSWORD_PLUGIN, login.password));
    };
    if framed.stream().is_private() {
        return send(framed, sequence, &[password, &[0][..]].concat()).await;
    }
    let sequence = send(framed, sequence, &[WANTS_KEY]).await?;
    let sequence = framed.read_packet(sequence, LOGIN_BYTES_MAX).await?.wrapping_add(1);
    refuse_err(framed.payload())?;
    let key = framed.payload().strip_prefix(&[MORE_DATA]).ok_or(WireError::Malformed("public key"))?;
    let encrypted = encrypt_for(key, password, nonce).ok_or(WireError::Malformed("public key"))?;
    send(framed, sequence, &encrypted).await
}

/// The password itself, for a server that asks for nothing else (PAM, LDAP), where only that server can read it.
fn clear_answer(framed: &mut Framed, login: &BackendLogin<'_>) -> Result<Vec<u8>, NetError> {
    let password = match login.password {
        BackendPassword::Clear(password) => password.as_slice(),
        BackendPassword::Empty => b"",
        BackendPassword::Halves { .. } => return Err(unsupported(CLEAR_PASSWORD_PLUGIN, login.password)),
    };
    if login.clear_passwords == ClearPasswords::Refused {
        return Err(NetError::ClearPasswordRefused("mysql-clear_password_to_servers is off"));
    }
    let is_safe = match login.tls {
        Some((tls, _)) => tls.is_verifying(),
        None => framed.stream().is_private(),
    };
    if !is_safe {
        return Err(NetError::ClearPasswordRefused(
            "it is sent over a Unix socket or TLS that verifies the server only",
        ));
    }
    Ok([password, &[0]].concat())
}

/// Why there is no answer by `plugin`.
fn unsupported(plugin: &[u8], password: &BackendPassword) -> NetError {
    let plugin = String::from_utf8_lossy(plugin).into_owned();
    match password {
        BackendPassword::Halves { .. } => NetError::UnknownPassword(plugin),
        _ => NetError::UnsupportedPlugin(plugin),
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
    wanted.set(CapabilityFlags::CLIENT_SSL, login.tls.is_some());
    // MariaDB greets without CLIENT_LONG_PASSWORD, and reads it cleared as "look for my own capabilities".
    (wanted | CapabilityFlags::CLIENT_LONG_PASSWORD) & greeting.capabilities
}

fn attributes() -> Vec<u8> {
    let mut out = Vec::new();
    for text in ["program_name", "nuthatch", "_client_version", env!("CARGO_PKG_VERSION")] {
        append_lenenc_bytes(&mut out, text.as_bytes());
    }
    out
}

fn refuse_err(payload: &[u8]) -> Result<(), NetError> {
    match payload.first() {
        Some(&ErrPacket::MARKER) => Err(NetError::Refused(ErrPacket::parse(payload)?)),
        _ => Ok(()),
    }
}
