//! The server's part of a login: greeting, TLS if the client wants it, and the proof that it knows a password.
//!
//! Whose password it is is decided by the caller, who gives a [`Credential`] for the user that the client named.
//!
//! Source: "Connection Phase", "Caching_sha2_password information"; MariaDB's "Authentication Plugin - ed25519".

use aws_lc_rs::constant_time::verify_slices_are_equal;
use nuthatch_wire::{
    AuthSwitch, CapabilityFlags, DoubleSha1, Greeting, Login, NATIVE_PASSWORD_PLUGIN, NONCE_LEN, Nonce,
    SHA2_PASSWORD_PLUGIN, SHA256_LEN, Sha2Hash, Sha2Stage1, Stage1, WireError, double_sha1, verify,
};

use crate::ed25519::{ED25519_NONCE_LEN, ED25519_PLUGIN, is_signed};
use crate::login_packet::{
    CLEAR_PASSWORD_PLUGIN, ClearPasswords, FAST_AUTH_OK, FULL_AUTH, LOGIN_BYTES_MAX, MORE_DATA, WANTS_KEY,
    send,
};
use crate::proxy_header::take_proxy_header;
use crate::rsa_key::RsaKey;
use crate::{Framed, NetError, OldestVersion, Proxied, ServerTls};

/// Payload of the packet that asks for TLS: the login's fixed part.
const TLS_REQUEST_LEN: usize = 32;

/// What a client's password is checked against.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// There is no such user: the exchange is the same, and fails.
    Nobody,
    /// No password.
    Empty,
    /// The password: any plugin will do.
    Clear(&'a [u8]),
    /// `SHA1(SHA1(password))`: `mysql_native_password` only.
    NativeHash(&'a DoubleSha1),
    /// The stored form of `caching_sha2_password`, and what an earlier login revealed of it.
    Sha2Hash {
        /// As stored.
        hash: &'a Sha2Hash,
        /// `SHA256(SHA256(password))`, if known.
        double: Option<&'a [u8; SHA256_LEN]>,
    },
}

/// What the right answer of a client revealed, for logins to servers. Never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Half of the password for `mysql_native_password`.
    pub native: Option<Stage1>,
    /// The same for `caching_sha2_password`.
    pub sha2: Option<Sha2Stage1>,
    /// The password itself, where only a hash of it was known.
    pub clear: Option<Vec<u8>>,
}

impl Proof {
    fn of(password: Vec<u8>) -> Self {
        Self {
            native: Some(Stage1::of(&password)),
            sha2: Some(Sha2Stage1::of(&password)),
            clear: Some(password),
        }
    }
}

impl std::fmt::Debug for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Proof(…)")
    }
}

/// Whether a peer may say that it speaks for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyHeaders {
    /// A header is no login, and ends the connection.
    Refused,
    /// It is believed.
    Trusted,
}

/// What a client answered in the end.
#[derive(Debug)]
pub struct Proving {
    /// `None`: it does not know the password.
    pub proof: Option<Proof>,
    /// Number of the packet that tells it.
    pub sequence: u8,
    /// It gave an answer that was not empty.
    pub used_password: bool,
}

/// A new random nonce without NUL bytes.
///
/// # Errors
/// When the operating system has no random bytes.
pub fn fresh_nonce() -> Result<Nonce, NetError> {
    random::<NONCE_LEN>()
}

fn random<const LEN: usize>() -> Result<[u8; LEN], NetError> {
    let mut nonce = [0; LEN];
    getrandom::fill(&mut nonce).map_err(|error| NetError::Io(std::io::Error::other(error)))?;
    // Printable characters without `$`: old clients treat both as special.
    nonce.iter_mut().for_each(|byte| *byte = b'%' + *byte % 90);
    Ok(nonce)
}

/// What a client answered to the greeting.
#[derive(Debug)]
pub struct Greeted {
    /// Its login.
    pub login: Login,
    /// Number of the packet that answers it.
    pub sequence: u8,
    /// Whom a balancer in between speaks for, if it says so.
    pub proxied: Option<Proxied>,
}

/// Sends `greeting` and reads the client's login, over TLS if it asks for that. The login's capabilities are cut to those of
/// the greeting. A PROXY header is taken only where the peer is trusted to send one.
///
/// # Errors
/// When the client leaves, breaks the protocol or is older than protocol 4.1.
pub async fn greet(
    framed: &mut Framed,
    greeting: &Greeting,
    tls: Option<(&ServerTls, OldestVersion)>,
    trust: ProxyHeaders,
) -> Result<Greeted, NetError> {
    let mut payload = Vec::with_capacity(96);
    greeting.encode(&mut payload);
    send(framed, 0, &payload).await?;
    let proxied = match trust {
        ProxyHeaders::Refused => None,
        ProxyHeaders::Trusted => take_proxy_header(framed).await?,
    };
    // Not a byte more than the packet: what follows a wish for TLS is TLS.
    let mut sequence = framed.read_packet_exactly(1, LOGIN_BYTES_MAX).await?;
    if framed.payload().len() == TLS_REQUEST_LEN && wants_tls(framed.payload()) {
        let (tls, oldest) = tls.ok_or(WireError::Malformed("a wish for TLS, which was not offered"))?;
        framed.drop_packet();
        framed.upgrade(async |stream| tls.accept(stream, oldest).await).await?;
        sequence = framed.read_packet(sequence.wrapping_add(1), LOGIN_BYTES_MAX).await?;
    }
    let mut login = Login::parse(framed.payload())?;
    framed.drop_packet();
    login.capabilities &= greeting.capabilities | CapabilityFlags::CLIENT_LONG_PASSWORD;
    Ok(Greeted { login, sequence: sequence.wrapping_add(1), proxied })
}

fn wants_tls(payload: &[u8]) -> bool {
    let flags = payload.first_chunk().map_or(0, |flags| u32::from_le_bytes(*flags));
    CapabilityFlags::of_halves(flags, 0).contains(CapabilityFlags::CLIENT_SSL)
}

/// Has the client prove that it knows the password, by the plugin that it began with if the credential can be checked so,
/// else by one that it is asked to switch to. `greeted_plugin` is the one that the greeting named. Where clear passwords are
/// allowed and nobody can read along, a client that seems not to speak a hash's plugin is asked for the password itself.
///
/// # Errors
/// When the client leaves or breaks the protocol.
pub async fn prove(
    framed: &mut Framed,
    login: &Login,
    nonce: &Nonce,
    sequence: u8,
    credential: Credential<'_>,
    greeted_plugin: &[u8],
    clear: ClearPasswords,
) -> Result<Proving, NetError> {
    let mut exchange = Exchange { framed, sequence, nonce: *nonce };
    let knows_plugins = login.capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH);
    let began_with = if knows_plugins { login.auth_plugin.as_slice() } else { NATIVE_PASSWORD_PLUGIN };
    let is_private = knows_plugins && exchange.framed.stream().is_private();
    let plugin = match clear {
        ClearPasswords::Allowed if is_private && credential.wants_clear(began_with, greeted_plugin) => {
            CLEAR_PASSWORD_PLUGIN
        }
        _ => credential.plugin(began_with, greeted_plugin),
    };
    if plugin == ED25519_PLUGIN {
        return exchange.by_ed25519(credential).await;
    }
    // A client that does not speak the greeted plugin has no nonce for its own yet: MySQL 9 sends an empty answer then.
    let has_no_nonce = login.auth_answer.is_empty() && began_with != greeted_plugin;
    let answer = match (began_with == plugin && !has_no_nonce) || !knows_plugins {
        true => login.auth_answer.clone(),
        false => exchange.switch(plugin, nonce).await?,
    };
    // Some clients close even an empty password.
    let answer = if answer == [0] { Vec::new() } else { answer };
    let used_password = !answer.is_empty();
    let proof = match plugin {
        CLEAR_PASSWORD_PLUGIN => by_clear(credential, &answer),
        SHA2_PASSWORD_PLUGIN if knows_plugins => exchange.by_sha2(credential, &answer).await?,
        _ => by_native(credential, nonce, &answer),
    };
    Ok(Proving { proof, sequence: exchange.sequence, used_password })
}

impl Credential<'_> {
    /// Whether only the password itself will do: the client offers it, or did not begin with the plugin of the hash although it
    /// could have.
    fn wants_clear(&self, began_with: &[u8], greeted_plugin: &[u8]) -> bool {
        let needs_another = match self {
            Self::NativeHash(_) => began_with != NATIVE_PASSWORD_PLUGIN,
            Self::Sha2Hash { .. } => {
                greeted_plugin == SHA2_PASSWORD_PLUGIN && began_with != SHA2_PASSWORD_PLUGIN
            }
            Self::Nobody | Self::Empty | Self::Clear(_) => false,
        };
        began_with == CLEAR_PASSWORD_PLUGIN || needs_another
    }

    /// The plugin to check it with, for a client that began with another.
    fn plugin<'p>(&self, began_with: &'p [u8], default_plugin: &'p [u8]) -> &'p [u8] {
        match self {
            Self::NativeHash(_) => NATIVE_PASSWORD_PLUGIN,
            Self::Sha2Hash { .. } => SHA2_PASSWORD_PLUGIN,
            Self::Clear(_) if began_with == ED25519_PLUGIN => ED25519_PLUGIN,
            Self::Nobody | Self::Empty | Self::Clear(_) => match began_with {
                NATIVE_PASSWORD_PLUGIN | SHA2_PASSWORD_PLUGIN => began_with,
                _ => default_plugin,
            },
        }
    }
}

/// The password itself was told, closed by NUL.
fn by_clear(credential: Credential<'_>, answer: &[u8]) -> Option<Proof> {
    let password = answer.strip_suffix(&[0]).unwrap_or(answer);
    let is_right = match credential {
        Credential::Nobody => false,
        Credential::Empty => return password.is_empty().then(Proof::default),
        Credential::Clear(known) => verify_slices_are_equal(known, password).is_ok(),
        Credential::NativeHash(double) => Stage1::of(password).is_of(double),
        Credential::Sha2Hash { hash, .. } => hash.is_of(password),
    };
    is_right.then(|| Proof::of(password.to_vec()))
}

fn by_native(credential: Credential<'_>, nonce: &Nonce, answer: &[u8]) -> Option<Proof> {
    let native = match credential {
        Credential::Empty => return answer.is_empty().then(Proof::default),
        Credential::Clear(password) => verify(nonce, &double_sha1(password), answer)?,
        Credential::NativeHash(double) => verify(nonce, double, answer)?,
        Credential::Nobody | Credential::Sha2Hash { .. } => return None,
    };
    Some(Proof { native: Some(native), ..Proof::default() })
}

/// The packets between greeting and verdict.
struct Exchange<'a> {
    framed: &'a mut Framed,
    sequence: u8,
    nonce: Nonce,
}

impl Exchange<'_> {
    async fn switch(&mut self, plugin: &[u8], nonce: &[u8]) -> Result<Vec<u8>, NetError> {
        let mut payload = Vec::with_capacity(64);
        AuthSwitch { plugin: plugin.to_vec(), data: nonce.to_vec() }.encode(&mut payload);
        self.ask(&payload).await
    }

    /// Sends a packet and takes the answer.
    async fn ask(&mut self, payload: &[u8]) -> Result<Vec<u8>, NetError> {
        self.tell(payload).await?;
        self.sequence = self.framed.read_packet(self.sequence, LOGIN_BYTES_MAX).await?.wrapping_add(1);
        Ok(self.framed.take_payload())
    }

    async fn tell(&mut self, payload: &[u8]) -> Result<(), NetError> {
        self.sequence = send(self.framed, self.sequence, payload).await?;
        Ok(())
    }

    async fn by_ed25519(mut self, credential: Credential<'_>) -> Result<Proving, NetError> {
        let nonce = random::<ED25519_NONCE_LEN>()?;
        let answer = self.switch(ED25519_PLUGIN, &nonce).await?;
        let is_right =
            matches!(credential, Credential::Clear(password) if is_signed(password, &nonce, &answer));
        let (proof, used_password) = (is_right.then(Proof::default), !answer.is_empty());
        Ok(Proving { proof, sequence: self.sequence, used_password })
    }

    /// The fast path where enough is known, else the full one.
    async fn by_sha2(
        &mut self,
        credential: Credential<'_>,
        answer: &[u8],
    ) -> Result<Option<Proof>, NetError> {
        let double = match credential {
            Credential::Empty => return Ok(answer.is_empty().then(Proof::default)),
            Credential::Clear(password) => Some(Sha2Stage1::of(password).double()),
            Credential::Sha2Hash { double, .. } => double.copied(),
            Credential::Nobody | Credential::NativeHash(_) => None,
        };
        if answer.is_empty() {
            return Ok(None);
        }
        let proven = double.and_then(|double| Sha2Stage1::proven(&self.nonce, &double, answer));
        if let Some(sha2) = proven {
            self.tell(&[MORE_DATA, FAST_AUTH_OK]).await?;
            return Ok(Some(Proof { sha2: Some(sha2), ..Proof::default() }));
        }
        // With the password known, a wrong answer is wrong.
        let Credential::Sha2Hash { hash, .. } = credential else { return Ok(None) };
        let Some(password) = self.whole_password().await? else { return Ok(None) };
        Ok(hash.is_of(&password).then(|| Proof::of(password)))
    }

    /// The password itself: over TLS or a Unix socket as it is, else encrypted with our public key.
    async fn whole_password(&mut self) -> Result<Option<Vec<u8>>, NetError> {
        let said = self.ask(&[MORE_DATA, FULL_AUTH]).await?;
        if self.framed.stream().is_private() {
            return Ok(said.strip_suffix(&[0]).map(<[u8]>::to_vec));
        }
        let Some(key) = RsaKey::own() else { return Ok(None) };
        let ciphertext = match said.as_slice() {
            [WANTS_KEY] => self.ask(&[&[MORE_DATA], key.public_pem()].concat()).await?,
            // It has the key from a file.
            _ => said,
        };
        Ok(key.decrypt(&ciphertext, &self.nonce))
    }
}
