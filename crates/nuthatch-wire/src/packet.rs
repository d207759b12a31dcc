//! The generic answers: OK, ERR and EOF, as payloads.
//!
//! Source: "Protocol::OK_Packet", "Protocol::ERR_Packet", "Protocol::EOF_Packet". What stands behind an OK packet's fixed
//! part is read by `session_track.rs`.

use mysql_common::constants::StatusFlags;

use crate::{ErrorCode, Reader, WireError, append_lenenc_bytes, append_lenenc_int, append_packet};

/// What an OK packet tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OkPacket {
    /// Rows changed, inserted or deleted.
    pub affected_rows: u64,
    /// The first id that the statement generated, 0 for none.
    pub insert_id: u64,
    /// The session's state.
    pub status: StatusFlags,
    /// Warnings that `SHOW WARNINGS` would list.
    pub warnings: u16,
}

impl OkPacket {
    /// Reads the payload of an OK packet behind its first byte (`0x00`, or `0xFE` at the end of a result set).
    ///
    /// # Errors
    /// When it is cut.
    pub fn parse_body(body: &[u8]) -> Result<Self, WireError> {
        Self::read(&mut Reader::new(body))
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let affected_rows = reader.lenenc_int()?;
        let insert_id = reader.lenenc_int()?;
        let status = StatusFlags::from_bits_retain(reader.u16()?);
        let warnings = reader.u16()?;
        Ok(Self { affected_rows, insert_id, status, warnings })
    }

    /// Appends the payload with `marker` as its first byte.
    pub fn encode(&self, out: &mut Vec<u8>, marker: u8) {
        out.push(marker);
        append_lenenc_int(out, self.affected_rows);
        append_lenenc_int(out, self.insert_id);
        out.extend(self.status.bits().to_le_bytes());
        out.extend(self.warnings.to_le_bytes());
    }

    /// The same with a message behind it, whose length stands in front of it unless it is empty.
    pub fn encode_with_info(&self, out: &mut Vec<u8>, marker: u8, info: &[u8]) {
        self.encode(out, marker);
        if !info.is_empty() {
            append_lenenc_bytes(out, info);
        }
    }
}

/// What an ERR packet tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrPacket {
    /// Error number.
    pub code: u16,
    /// SQLSTATE; `HY000` where the packet has none (errors before login).
    pub sql_state: [u8; 5],
    /// Message as sent, in the server's encoding.
    pub message: Vec<u8>,
}

impl ErrPacket {
    /// The first byte of the packet.
    pub const MARKER: u8 = 0xFF;

    /// Reads the payload of an ERR packet, its marker included.
    ///
    /// # Errors
    /// When it is cut or begins with another byte.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != Self::MARKER {
            return Err(WireError::Malformed("error packet"));
        }
        let code = reader.u16()?;
        let mut sql_state = *b"HY000";
        if reader.rest().first() == Some(&b'#') {
            reader.u8()?;
            sql_state.copy_from_slice(reader.bytes(5)?);
        }
        Ok(Self { code, sql_state, message: reader.rest().to_vec() })
    }
}

/// Appends a whole OK packet.
pub fn append_ok(out: &mut Vec<u8>, sequence: &mut u8, ok: &OkPacket) {
    let mut payload = Vec::with_capacity(16);
    ok.encode(&mut payload, 0x00);
    append_packet(out, sequence, &payload);
}

/// Appends a whole EOF packet.
pub fn append_eof(out: &mut Vec<u8>, sequence: &mut u8, status: StatusFlags, warnings: u16) {
    let [w0, w1] = warnings.to_le_bytes();
    let [s0, s1] = status.bits().to_le_bytes();
    append_packet(out, sequence, &[0xFE, w0, w1, s0, s1]);
}

/// Appends a whole ERR packet.
pub fn append_err(out: &mut Vec<u8>, sequence: &mut u8, error: ErrorCode, message: &[u8]) {
    let mut payload = Vec::with_capacity(9 + message.len());
    payload.push(ErrPacket::MARKER);
    payload.extend(error.code.to_le_bytes());
    payload.push(b'#');
    payload.extend(error.sql_state);
    payload.extend_from_slice(message);
    append_packet(out, sequence, &payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_survives_a_round_trip() {
        let ok = OkPacket {
            affected_rows: 70_000,
            insert_id: 300,
            status: StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            warnings: 2,
        };
        let (mut out, mut sequence) = (Vec::new(), 1);
        append_ok(&mut out, &mut sequence, &ok);
        assert_eq!(OkPacket::parse_body(&out[5..]), Ok(ok));
        assert_eq!(sequence, 2);
    }

    #[test]
    fn err_survives_a_round_trip() {
        let (mut out, mut sequence) = (Vec::new(), 1);
        append_err(&mut out, &mut sequence, ErrorCode::ACCESS_DENIED, b"no");
        let err = ErrPacket::parse(&out[4..]).unwrap();
        assert_eq!((err.code, &err.sql_state, err.message.as_slice()), (1045, b"28000", b"no".as_slice()));
    }
}
