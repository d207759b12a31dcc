//! Prepared statements, packet by packet: each command can be sent alone.

use std::io;

use nuthatch_wire::{CapabilityFlags, ColumnType, Command, Reader, append_lenenc_bytes};

use super::answer::RowForm;
use super::{Answer, Client, Failure, ServerError};

/// A statement that was prepared on this client's connection.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) id: u32,
    pub(crate) parameters: u16,
    pub(crate) columns: u16,
    pub(crate) types: Vec<u8>,
}

/// A parameter.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(Vec<u8>),
    /// A time of day: hours, minutes, seconds.
    Time([u8; 3]),
    /// Sent before by [`Client::send_long_data`].
    Long,
}

/// Whether an execution says of which types its parameters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    Sent,
    LeftOut,
}

/// Which cursor an execution asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cursor {
    None = 0,
    ReadOnly = 1,
}

impl Value {
    fn type_bytes(&self) -> [u8; 2] {
        let kind = match self {
            Self::Null => ColumnType::MYSQL_TYPE_NULL,
            Self::Int(_) => ColumnType::MYSQL_TYPE_LONGLONG,
            Self::Text(_) => ColumnType::MYSQL_TYPE_VAR_STRING,
            Self::Time(_) => ColumnType::MYSQL_TYPE_TIME,
            Self::Long => ColumnType::MYSQL_TYPE_BLOB,
        };
        [kind as u8, 0]
    }
}

impl Cursor {
    /// How rows come, and whether they may be waited for.
    const fn row_form(self) -> RowForm {
        match self {
            Self::None => RowForm::Binary,
            Self::ReadOnly => RowForm::Cursor,
        }
    }
}

impl Client {
    /// COM_STMT_PREPARE.
    pub(crate) fn prepare(&mut self, sql: impl AsRef<[u8]>) -> Result<Prepared, Failure> {
        self.send(Command::StmtPrepare as u8, sql.as_ref())?;
        let first = self.read_packet()?;
        if first.first() == Some(&0xFF) {
            return Err(Failure::Server(ServerError::parse(&first)));
        }
        let mut reader = Reader::new(&first[1..]);
        let id = reader.u32().expect("number");
        let (columns, parameters) = (reader.u16().expect("columns"), reader.u16().expect("parameters"));
        let mut definitions = Answer::default();
        for count in [parameters, columns] {
            definitions = Answer::default();
            for _ in 0..count {
                let packet = self.read_packet()?;
                definitions.take_column(&packet, self.capabilities);
            }
            if count > 0 && !self.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
                assert_eq!(self.read_packet()?.first(), Some(&0xFE), "an EOF behind definitions");
            }
        }
        Ok(Prepared { id, parameters, columns, types: definitions.types })
    }

    /// COM_STMT_EXECUTE with types and without a cursor.
    pub(crate) fn execute(&mut self, statement: &Prepared, values: &[Value]) -> Result<Answer, Failure> {
        self.execute_as(statement, values, Types::Sent, Cursor::None)
    }

    /// COM_STMT_EXECUTE.
    pub(crate) fn execute_as(
        &mut self,
        statement: &Prepared,
        values: &[Value],
        types: Types,
        cursor: Cursor,
    ) -> Result<Answer, Failure> {
        self.send_execute(statement, values, types, cursor)?;
        Ok(self.read_answers_as(cursor.row_form())?.remove(0))
    }

    /// COM_STMT_EXECUTE of a statement with several results.
    pub(crate) fn execute_all(
        &mut self,
        statement: &Prepared,
        values: &[Value],
    ) -> Result<Vec<Answer>, Failure> {
        self.send_execute(statement, values, Types::Sent, Cursor::None)?;
        self.read_answers_as(RowForm::Binary)
    }

    /// COM_STMT_EXECUTE with all that it is answered.
    pub(crate) fn execute_whole(
        &mut self,
        statement: &Prepared,
        values: &[Value],
        types: Types,
        cursor: Cursor,
    ) -> io::Result<Vec<Result<Answer, ServerError>>> {
        self.send_execute(statement, values, types, cursor)?;
        self.read_whole(cursor.row_form())
    }

    fn send_execute(
        &mut self,
        statement: &Prepared,
        values: &[Value],
        types: Types,
        cursor: Cursor,
    ) -> io::Result<()> {
        assert_eq!(values.len(), usize::from(statement.parameters));
        let mut payload = statement.id.to_le_bytes().to_vec();
        payload.push(cursor as u8);
        payload.extend(1_u32.to_le_bytes());
        if !values.is_empty() {
            append_values(&mut payload, values, types);
        }
        self.send(Command::StmtExecute as u8, &payload)
    }

    /// A command that names a statement and goes on as `rest` says, with all that it is answered.
    pub(crate) fn of_statement(
        &mut self,
        command: Command,
        statement: &Prepared,
        rest: &[u8],
    ) -> io::Result<Vec<Result<Answer, ServerError>>> {
        self.send(command as u8, &[&statement.id.to_le_bytes()[..], rest].concat())?;
        self.read_whole(RowForm::Binary)
    }

    /// COM_STMT_FETCH.
    pub(crate) fn fetch(&mut self, statement: &Prepared, rows: u32) -> Result<Answer, Failure> {
        let payload = [statement.id.to_le_bytes(), rows.to_le_bytes()].concat();
        self.send(Command::StmtFetch as u8, &payload)?;
        let mut answer = Answer { types: statement.types.clone(), ..Answer::default() };
        self.read_rows(&mut answer, RowForm::Binary)?;
        Ok(answer)
    }

    /// COM_STMT_SEND_LONG_DATA, which has no answer.
    pub(crate) fn send_long_data(&mut self, statement: &Prepared, parameter: u16, data: &[u8]) {
        let payload = [&statement.id.to_le_bytes()[..], &parameter.to_le_bytes(), data].concat();
        self.send(Command::StmtSendLongData as u8, &payload).expect("it is sent");
    }

    /// COM_STMT_RESET.
    pub(crate) fn reset_statement(&mut self, statement: &Prepared) -> Result<Answer, Failure> {
        self.command(Command::StmtReset as u8, &statement.id.to_le_bytes())
    }

    /// COM_STMT_CLOSE, which has no answer.
    pub(crate) fn close(&mut self, statement: &Prepared) {
        self.send(Command::StmtClose as u8, &statement.id.to_le_bytes()).expect("it is sent");
    }
}

fn append_values(payload: &mut Vec<u8>, values: &[Value], types: Types) {
    let mut nulls = vec![0_u8; values.len().div_ceil(8)];
    for (place, value) in values.iter().enumerate() {
        nulls[place / 8] |= u8::from(matches!(value, Value::Null)) << (place % 8);
    }
    payload.extend(nulls);
    payload.push(u8::from(types == Types::Sent));
    if types == Types::Sent {
        payload.extend(values.iter().flat_map(Value::type_bytes));
    }
    for value in values {
        match value {
            Value::Int(number) => payload.extend(number.to_le_bytes()),
            Value::Text(text) => append_lenenc_bytes(payload, text),
            // No sign, no days, no fraction.
            Value::Time(time) => payload.extend([&[8, 0, 0, 0, 0, 0], &time[..]].concat()),
            Value::Null | Value::Long => {}
        }
    }
}

/// The values of a binary row, integers as decimal text.
pub(super) fn binary_row(payload: &[u8], types: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut reader = Reader::new(payload);
    assert_eq!(reader.u8(), Ok(0), "a binary row begins with 0");
    let nulls = reader.bytes((types.len() + 2).div_ceil(8)).expect("the NULL bitmap").to_vec();
    let is_null = |place: usize| nulls[(place + 2) / 8] & (1 << ((place + 2) % 8)) != 0;
    types
        .iter()
        .enumerate()
        .map(|(place, kind)| (!is_null(place)).then(|| binary_value(&mut reader, *kind)))
        .collect()
}

fn binary_value(reader: &mut Reader<'_>, kind: u8) -> Vec<u8> {
    use ColumnType::{
        MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT, MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG,
        MYSQL_TYPE_SHORT, MYSQL_TYPE_TINY, MYSQL_TYPE_YEAR,
    };
    let kind = ColumnType::try_from(kind).expect("a type");
    let bytes = match kind {
        MYSQL_TYPE_TINY => 1,
        MYSQL_TYPE_SHORT | MYSQL_TYPE_YEAR => 2,
        MYSQL_TYPE_LONG | MYSQL_TYPE_INT24 | MYSQL_TYPE_FLOAT => 4,
        MYSQL_TYPE_LONGLONG | MYSQL_TYPE_DOUBLE => 8,
        _ => return reader.lenenc_bytes().expect("a value").to_vec(),
    };
    let raw = reader.bytes(bytes).expect("a value of fixed length");
    let mut wide = [if raw[bytes - 1] & 0x80 == 0 { 0 } else { 0xFF }; 8];
    wide[..bytes].copy_from_slice(raw);
    match kind {
        MYSQL_TYPE_DOUBLE => f64::from_le_bytes(wide).to_string().into_bytes(),
        MYSQL_TYPE_FLOAT => f32::from_le_bytes(raw.try_into().expect("4 bytes")).to_string().into_bytes(),
        _ => i64::from_le_bytes(wide).to_string().into_bytes(),
    }
}
