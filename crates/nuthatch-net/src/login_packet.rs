//! What both sides of a login share: the marks of its packets, their limit, and how one is sent.
//!
//! Source: "Protocol::AuthMoreData", "Caching_sha2_password information", "Client-Side Cleartext Pluggable Authentication".

use nuthatch_wire::{HEADER_LEN, append_packet};

use crate::{Framed, NetError};

/// The largest packet that a peer may send before the login is over.
pub(crate) const LOGIN_BYTES_MAX: usize = 64 * 1024;

/// First byte of what plugins say to each other.
pub(crate) const MORE_DATA: u8 = 0x01;
/// `caching_sha2_password`: the fast path was enough.
pub(crate) const FAST_AUTH_OK: u8 = 0x03;
/// It was not: the password is wanted.
pub(crate) const FULL_AUTH: u8 = 0x04;
/// The client wants the public key.
pub(crate) const WANTS_KEY: u8 = 0x02;

/// The plugin by which a password goes over the wire as it is, closed by NUL.
pub(crate) const CLEAR_PASSWORD_PLUGIN: &[u8] = b"mysql_clear_password";

/// Whether a password may go over the wire by `mysql_clear_password`, where nobody can read along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearPasswords {
    /// Never.
    Refused,
    /// From a client over TLS or a Unix socket; to a server over TLS that verifies it, or a Unix socket.
    Allowed,
}

/// Sends one packet of a login with the number `sequence` and returns the number of the next.
///
/// # Errors
/// As the socket says.
pub(crate) async fn send(framed: &mut Framed, mut sequence: u8, payload: &[u8]) -> Result<u8, NetError> {
    let mut bytes = Vec::with_capacity(payload.len() + HEADER_LEN);
    append_packet(&mut bytes, &mut sequence, payload);
    framed.write(&bytes).await?;
    Ok(sequence)
}
