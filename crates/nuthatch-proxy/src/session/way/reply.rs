//! The packets of answers that the proxy gives by itself.

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{
    CapabilityFlags, Cell, Column, ErrPacket, ErrorCode, FrameHeader, HEADER_LEN, OkPacket, ResultSetWriter,
    StatusFlags, append_err, append_lenenc_bytes, append_ok, append_packet,
};

use crate::state::ResultCollation;

/// An OK packet as the whole answer to a command.
pub(crate) fn ok(status: StatusFlags) -> Vec<u8> {
    let mut out = Vec::with_capacity(16);
    append_ok(&mut out, &mut 1, &OkPacket { status, ..OkPacket::default() });
    out
}

/// The same, with a warning.
pub(crate) fn ok_with_warning(status: StatusFlags) -> Vec<u8> {
    let mut out = Vec::with_capacity(16);
    append_ok(&mut out, &mut 1, &OkPacket { status, warnings: 1, ..OkPacket::default() });
    out
}

/// What ends something that has no other answer: an EOF packet, or an OK packet in its place.
pub(crate) fn eof(capabilities: CapabilityFlags, status: StatusFlags) -> Vec<u8> {
    let mut payload = Vec::with_capacity(8);
    if capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
        OkPacket { status, ..OkPacket::default() }.encode(&mut payload, 0xFE);
    } else {
        payload.extend([0xFE, 0, 0]);
        payload.extend(status.bits().to_le_bytes());
    }
    let mut out = Vec::with_capacity(payload.len() + 4);
    append_packet(&mut out, &mut 1, &payload);
    out
}

/// An OK packet with a message.
pub(crate) fn ok_with_message(status: StatusFlags, affected_rows: u64, message: &str) -> Vec<u8> {
    let mut payload = Vec::with_capacity(16 + message.len());
    OkPacket { status, affected_rows, ..OkPacket::default() }.encode_with_info(
        &mut payload,
        0x00,
        message.as_bytes(),
    );
    let mut out = Vec::with_capacity(payload.len() + 4);
    append_packet(&mut out, &mut 1, &payload);
    out
}

/// An ERR packet with the number `sequence`.
pub(crate) fn err(mut sequence: u8, code: ErrorCode, message: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(16 + message.len());
    append_err(&mut out, &mut sequence, code, message.as_bytes());
    out
}

/// A server's ERR packet as the answer to another command than it was given to.
pub(crate) fn err_of_server(error: &ErrPacket) -> Vec<u8> {
    let code = ErrorCode { code: error.code, sql_state: error.sql_state };
    let mut out = Vec::with_capacity(16 + error.message.len());
    append_err(&mut out, &mut 1, code, &error.message);
    out
}

/// A result set of at most one row.
pub(crate) fn result_set(
    capabilities: CapabilityFlags,
    status: StatusFlags,
    columns: &[Column],
    row: Option<&[Cell<'_>]>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let mut sequence = 1;
    let mut writer = ResultSetWriter::begin(&mut out, &mut sequence, capabilities, status, columns);
    if let Some(row) = row {
        writer.row(row.iter().copied());
    }
    writer.end(status, 0);
    out
}

/// A result set of the binary protocol with one row of numbers.
pub(crate) fn binary_numbers(
    capabilities: CapabilityFlags,
    status: StatusFlags,
    columns: &[Column],
    values: &[i64],
) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let mut sequence = 1;
    let mut writer = ResultSetWriter::begin(&mut out, &mut sequence, capabilities, status, columns);
    writer.binary_numbers(columns, values);
    writer.end(status, 0);
    out
}

/// A result set of definitions and rows that are encoded already.
pub(crate) fn result_set_of(
    capabilities: CapabilityFlags,
    status: StatusFlags,
    definitions: &[Box<[u8]>],
    rows: &[Box<[u8]>],
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    let mut sequence = 1;
    let mut writer =
        ResultSetWriter::begin_encoded(&mut out, &mut sequence, capabilities, status, definitions);
    rows.iter().for_each(|row| writer.encoded_row(row));
    writer.end(status, 0);
    out
}

/// The payload of a row of texts.
pub(crate) fn text_row(cells: &[&[u8]]) -> Vec<u8> {
    let mut payload = Vec::new();
    cells.iter().for_each(|cell| append_lenenc_bytes(&mut payload, cell));
    payload
}

/// The definitions of Level, Code and Message (measured on MariaDB 10.11 and MySQL 9.7).
pub(crate) fn diagnostics_definitions(server: ServerFlavor, collation: ResultCollation) -> [Vec<u8>; 3] {
    const BINARY: u16 = 63;
    let definition = |name: &[u8], collation: u16, len: u32, kind: u8, flags: u8, decimals: u8| {
        let mut payload = text_row(&[b"def", b"", b"", b"", name, b""]);
        payload.push(12);
        payload.extend(collation.to_le_bytes());
        payload.extend(len.to_le_bytes());
        payload.extend([kind, flags, 0, decimals, 0, 0]);
        payload
    };
    let (decimals, code_len) = match server {
        ServerFlavor::MariaDb(_) => (0x27, 4),
        ServerFlavor::MySql(_) => (0x1F, 5),
    };
    let text = |name, characters: u32| {
        let len = characters * u32::from(collation.character_bytes_max);
        definition(name, collation.number, len, 0xFD, 0x01, decimals)
    };
    [text(b"Level", 7), definition(b"Code", BINARY, code_len, 0x03, 0xA1, 0), text(b"Message", 512)]
}

/// The same frames, each numbered higher by `shift`.
pub(crate) fn renumbered(bytes: &[u8], shift: u8) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut place = 0;
    while let Some(header) = out.get(place..).and_then(FrameHeader::parse) {
        if let Some(sequence) = out.get_mut(place + 3) {
            *sequence = sequence.wrapping_add(shift);
        }
        place += HEADER_LEN + header.payload_len;
    }
    out
}

/// A packet that is just text: the answer to `COM_STATISTICS`.
pub(crate) fn text(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 4);
    append_packet(&mut out, &mut 1, text.as_bytes());
    out
}
