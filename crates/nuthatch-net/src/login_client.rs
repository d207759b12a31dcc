//! The server's part of a login: the greeting, and the challenge for a native password.
//!
//! Who the client is and whether its answer is right is decided by the caller.

use nuthatch_wire::{
    AuthSwitch, CapabilityFlags, Greeting, Login, NATIVE_PASSWORD_PLUGIN, NONCE_LEN, Nonce, append_packet,
};

use crate::{Framed, NetError};

/// The largest packet that a client may send before it is logged in.
const LOGIN_BYTES_MAX: usize = 64 * 1024;

/// A new random nonce without NUL bytes.
///
/// # Errors
/// When the operating system has no random bytes.
pub fn fresh_nonce() -> Result<Nonce, NetError> {
    let mut nonce = [0; NONCE_LEN];
    getrandom::fill(&mut nonce).map_err(|error| NetError::Io(std::io::Error::other(error)))?;
    // Printable characters without `$`: old clients treat both as special.
    nonce.iter_mut().for_each(|byte| *byte = b'%' + *byte % 90);
    Ok(nonce)
}

/// Sends `greeting` and reads the client's login. The login's capabilities are cut to those of the greeting.
///
/// Returns the login and the sequence number that the answer to it must have.
///
/// # Errors
/// When the client leaves, breaks the protocol or is older than protocol 4.1.
pub async fn greet(framed: &mut Framed, greeting: &Greeting) -> Result<(Login, u8), NetError> {
    let mut payload = Vec::with_capacity(96);
    greeting.encode(&mut payload);
    let mut bytes = Vec::with_capacity(100);
    append_packet(&mut bytes, &mut 0, &payload);
    framed.write(&bytes).await?;
    let sequence = framed.read_packet(1, LOGIN_BYTES_MAX).await?;
    let mut login = Login::parse(framed.payload())?;
    framed.drop_packet();
    login.capabilities &= greeting.capabilities | CapabilityFlags::CLIENT_LONG_PASSWORD;
    Ok((login, sequence.wrapping_add(1)))
}

/// The client's answer to `nonce` by `mysql_native_password`: the one in the login, or, when that was computed by
/// another plugin, the one that it gives when asked to switch.
///
/// Returns the answer and the sequence number for the verdict.
///
/// # Errors
/// When the client leaves or breaks the protocol.
pub async fn challenge(
    framed: &mut Framed,
    login: &Login,
    nonce: &Nonce,
    mut sequence: u8,
) -> Result<(Vec<u8>, u8), NetError> {
    let knows_plugins = login.capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH);
    if !knows_plugins || login.auth_plugin == NATIVE_PASSWORD_PLUGIN {
        return Ok((login.auth_answer.clone(), sequence));
    }
    let mut payload = Vec::with_capacity(48);
    AuthSwitch { plugin: NATIVE_PASSWORD_PLUGIN.to_vec(), data: nonce.to_vec() }.encode(&mut payload);
    let mut bytes = Vec::with_capacity(52);
    append_packet(&mut bytes, &mut sequence, &payload);
    framed.write(&bytes).await?;
    let sequence = framed.read_packet(sequence, LOGIN_BYTES_MAX).await?;
    Ok((framed.take_payload(), sequence.wrapping_add(1)))
}
