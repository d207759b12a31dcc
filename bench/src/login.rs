//! The client's half of a MySQL login with `mysql_native_password`, over a blocking stream.
//!
//! Enough for MariaDB, the floor and the proxy: handshake v10, response 41, an auth switch. No TLS, no other
//! plugin. A refused login is an error with the server's own words.

use std::io::{Read, Write};

use anyhow::{Context, Result, bail, ensure};
use sha1::{Digest, Sha1};

use crate::capability;
use crate::reply::{EofForm, HEADER_BYTES};

const PLUGIN: &[u8] = b"mysql_native_password";

/// `utf8mb4_general_ci`.
const COLLATION: u8 = 45;

/// Packets that a client accepts, in bytes: 1 GiB, the protocol's limit.
const PACKET_BYTES_MAX: u32 = 1 << 30;

/// Who logs in, and how results are to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    /// Account name.
    pub(crate) user: String,
    /// Clear text; empty for none.
    pub(crate) password: String,
    /// Default schema.
    pub(crate) schema: String,
    /// Result sets' form, asked for by capability.
    pub(crate) form: EofForm,
}

/// Leaves `stream` logged in and idle.
pub(crate) fn log_in(stream: &mut (impl Read + Write), login: &Login) -> Result<()> {
    let greeting = read_packet(stream).context("no greeting")?;
    refuse_error(&greeting.payload)?;
    let nonce = greeting_nonce(&greeting.payload)?;
    write_packet(stream, greeting.sequence + 1, &response(login, &nonce))?;
    let mut verdict = read_packet(stream).context("no answer to the login")?;
    if verdict.payload.first() == Some(&0xfe) {
        let nonce = switch_nonce(&verdict.payload)?;
        write_packet(stream, verdict.sequence + 1, &scramble(&login.password, &nonce))?;
        verdict = read_packet(stream).context("no answer to the auth switch")?;
    }
    refuse_error(&verdict.payload)?;
    ensure!(verdict.payload.first() == Some(&0), "the server asks for more than mysql_native_password");
    Ok(())
}

/// A packet of a login; these never exceed one frame.
struct Packet {
    sequence: u8,
    payload: Vec<u8>,
}

fn read_packet(stream: &mut impl Read) -> Result<Packet> {
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload)?;
    Ok(Packet { sequence: header[3], payload })
}

fn write_packet(stream: &mut impl Write, sequence: u8, payload: &[u8]) -> Result<()> {
    stream.write_all(&encode_packet(sequence, payload)).context("cannot write")
}

/// `payload` (below 16 MiB) behind its header.
pub(crate) fn encode_packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("payloads here are short").to_le_bytes();
    let mut bytes = vec![length[0], length[1], length[2], sequence];
    bytes.extend_from_slice(payload);
    bytes
}

/// An error with the server's words if `payload` is an ERR packet.
pub(crate) fn refuse_error(payload: &[u8]) -> Result<()> {
    if let Some((0xff, message)) = payload.split_first() {
        let code = u16::from_le_bytes([*message.first().unwrap_or(&0), *message.get(1).unwrap_or(&0)]);
        let text = message.get(2..).unwrap_or_default();
        bail!("the server answers {code}: {}", String::from_utf8_lossy(text));
    }
    Ok(())
}

/// Handshake v10: version, thread id, 8 bytes of nonce, filler, capabilities, ..., 12 more bytes of nonce.
fn greeting_nonce(payload: &[u8]) -> Result<Vec<u8>> {
    ensure!(payload.first() == Some(&10), "the greeting is not of version 10");
    let version_end = payload.iter().position(|&byte| byte == 0).context("greeting without version")?;
    let first = version_end + 1 + 4;
    let second = first + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10;
    let parts = payload.get(first..first + 8).zip(payload.get(second..second + 12));
    let (head, tail) = parts.context("greeting too short")?;
    Ok([head, tail].concat())
}

/// Auth switch request: 0xfe, plugin, NUL, nonce of 20 bytes, NUL.
fn switch_nonce(payload: &[u8]) -> Result<Vec<u8>> {
    let wanted = payload.get(1..).and_then(|rest| rest.strip_prefix(PLUGIN));
    let nonce = wanted.and_then(|rest| rest.get(1..21));
    nonce.map(<[u8]>::to_vec).context("the server wants a plugin other than mysql_native_password")
}

/// SHA1(password) xor SHA1(nonce, SHA1(SHA1(password))); nothing for an empty password.
fn scramble(password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
    once.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
}

fn response(login: &Login, nonce: &[u8]) -> Vec<u8> {
    let capabilities = match login.form {
        EofForm::Packets => capability::BASIC,
        EofForm::Deprecated => capability::BASIC | capability::DEPRECATE_EOF,
    };
    let scramble = scramble(&login.password, nonce);
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend(PACKET_BYTES_MAX.to_le_bytes());
    payload.push(COLLATION);
    payload.extend([0; 23]);
    payload.extend(login.user.as_bytes());
    payload.push(0);
    payload.push(u8::try_from(scramble.len()).expect("a scramble has 20 bytes"));
    payload.extend(&scramble);
    payload.extend(login.schema.as_bytes());
    payload.push(0);
    payload.extend(PLUGIN);
    payload.push(0);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_is_put_together_from_both_places_of_the_greeting() {
        let mut greeting = b"\x0a5.5.5-10.11\0\x01\0\0\0abcdefgh\0".to_vec();
        greeting.extend([0; 18]);
        greeting.extend(b"ijklmnopqrst\0mysql_native_password\0");
        assert_eq!(greeting_nonce(&greeting).unwrap(), b"abcdefghijklmnopqrst");
        assert!(greeting_nonce(&greeting[..40]).is_err());
        assert!(greeting_nonce(b"\x09old").is_err());
    }

    #[test]
    fn error_packet_keeps_the_servers_words() {
        let error = refuse_error(b"\xff\x15\x04#28000Access denied").unwrap_err().to_string();
        assert_eq!(error, "the server answers 1045: #28000Access denied");
        assert!(refuse_error(b"\0\0\0").is_ok());
    }

    #[test]
    fn another_plugin_is_refused() {
        assert!(switch_nonce(b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0").is_err());
        let nonce = switch_nonce(b"\xfemysql_native_password\0abcdefghijklmnopqrst\0").unwrap();
        assert_eq!(nonce, b"abcdefghijklmnopqrst");
    }
}
