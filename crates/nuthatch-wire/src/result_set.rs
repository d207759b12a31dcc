//! Text result sets that the proxy itself makes: answers from the session and the admin interface.
//!
//! Source: "Protocol::ColumnDefinition41", "ProtocolText::Resultset".

use mysql_common::constants::{ColumnFlags, ColumnType, StatusFlags};

use crate::{
    CapabilityFlags, Definition, Form, OkPacket, append_eof, append_lenenc_bytes, append_lenenc_int,
    append_packet,
};

/// Collation number of `utf8mb4_general_ci`.
const UTF8MB4: u16 = 45;
/// Collation number of `binary`, which numbers carry.
const BINARY: u16 = 63;

/// One column of a result set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name as the client sees it.
    pub name: String,
    /// Type on the wire.
    pub column_type: ColumnType,
    /// Column flags on the wire.
    pub flags: ColumnFlags,
}

impl Column {
    /// A column of text.
    #[must_use]
    pub fn text(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            column_type: ColumnType::MYSQL_TYPE_VAR_STRING,
            flags: ColumnFlags::empty(),
        }
    }

    /// A column of 64-bit integers.
    #[must_use]
    pub fn integer(name: impl Into<String>) -> Self {
        let flags = ColumnFlags::BINARY_FLAG;
        Self { name: name.into(), column_type: ColumnType::MYSQL_TYPE_LONGLONG, flags }
    }

    /// A column of 64-bit integers that is never NULL.
    #[must_use]
    pub fn never_null(name: impl Into<String>) -> Self {
        let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::NOT_NULL_FLAG;
        Self { flags, ..Self::integer(name) }
    }

    /// A column of unsigned 64-bit integers that is never NULL.
    #[must_use]
    pub fn unsigned(name: impl Into<String>) -> Self {
        let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::NOT_NULL_FLAG | ColumnFlags::UNSIGNED_FLAG;
        Self { flags, ..Self::integer(name) }
    }

    /// Its definition: the payload of a packet.
    #[must_use]
    pub fn encoded(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(64);
        self.encode(&mut payload);
        payload
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let is_text = self.column_type == ColumnType::MYSQL_TYPE_VAR_STRING;
        let (collation, display_len, decimals) = match self.column_type {
            _ if is_text => (UTF8MB4, 1024_u32, 31_u8),
            ColumnType::MYSQL_TYPE_LONG => (BINARY, 10, 0),
            _ => (BINARY, 21, 0),
        };
        append_lenenc_bytes(out, b"def");
        (0..3).for_each(|_| append_lenenc_bytes(out, b""));
        append_lenenc_bytes(out, self.name.as_bytes());
        append_lenenc_bytes(out, b"");
        out.push(12);
        out.extend(collation.to_le_bytes());
        out.extend(display_len.to_le_bytes());
        out.push(self.column_type as u8);
        out.extend(self.flags.bits().to_le_bytes());
        out.extend([decimals, 0, 0]);
    }
}

/// The first packet of a result set.
fn count_of_columns(columns: usize, capabilities: CapabilityFlags) -> Vec<u8> {
    let mut payload = Vec::with_capacity(64);
    append_lenenc_int(&mut payload, columns as u64);
    if capabilities.contains(CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA) {
        // The columns follow.
        payload.push(1);
    }
    payload
}

/// A definition without extended metadata, as a client of that form gets it.
fn append_definition(out: &mut Vec<u8>, sequence: &mut u8, plain: &[u8], form: Form) {
    let extended = Definition::parse(plain, Form::default()).ok().filter(|_| form.extended_metadata);
    let Some(definition) = extended else { return append_packet(out, sequence, plain) };
    let mut payload = Vec::with_capacity(plain.len() + 1);
    definition.encode(form, &mut payload);
    append_packet(out, sequence, &payload);
}

/// One value of a row: text, or NULL.
pub type Cell<'a> = Option<&'a [u8]>;

/// Writes one result set, packet by packet, into a buffer.
#[derive(Debug)]
pub struct ResultSetWriter<'a> {
    out: &'a mut Vec<u8>,
    sequence: &'a mut u8,
    deprecate_eof: bool,
    payload: Vec<u8>,
}

impl<'a> ResultSetWriter<'a> {
    /// Writes the column definitions. `capabilities` are those that client and server agreed on.
    pub fn begin(
        out: &'a mut Vec<u8>,
        sequence: &'a mut u8,
        capabilities: CapabilityFlags,
        status: StatusFlags,
        columns: &[Column],
    ) -> Self {
        let definitions: Vec<Box<[u8]>> = columns.iter().map(|column| column.encoded().into()).collect();
        Self::begin_encoded(out, sequence, capabilities, status, &definitions)
    }

    /// The same with definitions that are encoded already: payloads that a server sends to a client without extended metadata.
    pub fn begin_encoded(
        out: &'a mut Vec<u8>,
        sequence: &'a mut u8,
        capabilities: CapabilityFlags,
        status: StatusFlags,
        definitions: &[Box<[u8]>],
    ) -> Self {
        let deprecate_eof = capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let payload = count_of_columns(definitions.len(), capabilities);
        append_packet(out, sequence, &payload);
        for definition in definitions {
            append_definition(out, sequence, definition, Form::of(capabilities));
        }
        if !deprecate_eof {
            append_eof(out, sequence, status, 0);
        }
        Self { out, sequence, deprecate_eof, payload }
    }

    /// Writes one row whose payload is encoded already.
    pub fn encoded_row(&mut self, payload: &[u8]) {
        append_packet(self.out, self.sequence, payload);
    }

    /// Writes one row.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = Cell<'c>>) {
        self.payload.clear();
        for cell in cells {
            match cell {
                Some(text) => append_lenenc_bytes(&mut self.payload, text),
                None => self.payload.push(0xFB),
            }
        }
        append_packet(self.out, self.sequence, &self.payload);
    }

    /// Writes a row of the binary protocol with a number for each column, none of them NULL.
    ///
    /// Source: "Binary Protocol Resultset Row".
    pub fn binary_numbers(&mut self, columns: &[Column], values: &[i64]) {
        self.payload.clear();
        // Header, and a bitmap of NULLs behind two bits of no use.
        self.payload.resize(1 + (columns.len() + 2).div_ceil(8), 0);
        for (column, value) in columns.iter().zip(values) {
            let bytes = value.to_le_bytes();
            let len = if column.column_type == ColumnType::MYSQL_TYPE_LONG { 4 } else { 8 };
            self.payload.extend(bytes.iter().take(len));
        }
        append_packet(self.out, self.sequence, &self.payload);
    }

    /// Writes the end of the rows.
    pub fn end(mut self, status: StatusFlags, warnings: u16) {
        if self.deprecate_eof {
            self.payload.clear();
            OkPacket { status, warnings, ..OkPacket::default() }.encode(&mut self.payload, 0xFE);
            append_packet(self.out, self.sequence, &self.payload);
        } else {
            append_eof(self.out, self.sequence, status, warnings);
        }
    }
}
