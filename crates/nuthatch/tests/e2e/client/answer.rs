//! Answers to statements: OK packets and result sets, text or binary.

use std::io;

use nuthatch_wire::{CapabilityFlags, ColumnType, Reader, StatusFlags, TrackedOk};

use super::{Client, Failure, ServerError};

/// One OK packet, or one result set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    /// Names of the columns; empty for an OK packet.
    pub(crate) columns: Vec<String>,
    /// Collation number of each column.
    pub(crate) collations: Vec<u16>,
    pub(crate) types: Vec<u8>,
    /// The packets that define the columns.
    pub(crate) definitions: Vec<Vec<u8>>,
    /// What MariaDB tells more of each column, if the client asked for it.
    pub(crate) extensions: Vec<Vec<u8>>,
    /// Values as they stand in the packets; NULL is `None`.
    pub(crate) rows: Vec<Vec<Option<Vec<u8>>>>,
    pub(crate) affected_rows: u64,
    pub(crate) insert_id: u64,
    /// Of the last packet.
    pub(crate) status: StatusFlags,
    /// Of the EOF packet behind the columns, if there was one.
    pub(crate) columns_status: Option<StatusFlags>,
    pub(crate) warnings: u16,
    /// What an OK packet says beyond its numbers.
    pub(crate) message: String,
    /// Every byte of the whole answer to the command so far, frame headers included.
    pub(crate) raw: Vec<u8>,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowForm {
    Text,
    Binary,
    /// The same, of an execution that asked for a cursor, in which they may wait.
    Cursor,
}

impl Answer {
    /// The first column of the first row; `NULL` for NULL.
    #[track_caller]
    pub(crate) fn value(&self) -> String {
        text(self.rows.first().expect("a row").first().expect("a column"))
    }

    /// All rows as text.
    pub(crate) fn table(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(text).collect()).collect()
    }

    /// The first column of all rows, as text.
    pub(crate) fn column(&self) -> Vec<String> {
        self.rows.iter().map(|row| text(&row[0])).collect()
    }

    /// Whether the answer says that the session commits by itself.
    pub(crate) fn autocommit(&self) -> bool {
        self.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT)
    }

    /// Whether the answer says that the session is in a transaction.
    pub(crate) fn in_transaction(&self) -> bool {
        self.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS)
    }
}

fn text(value: &Option<Vec<u8>>) -> String {
    value.as_ref().map_or_else(|| "NULL".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

impl Client {
    /// Reads answers until the last says that no more follow.
    pub(crate) fn read_answers(&mut self) -> Result<Vec<Answer>, Failure> {
        self.read_answers_as(RowForm::Text)
    }

    pub(super) fn read_answers_as(&mut self, form: RowForm) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::new();
        loop {
            let mut answer = self.read_one(form)?;
            answer.raw.clone_from(&self.raw);
            let more = answer.status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS);
            answers.push(answer);
            if !more {
                return Ok(answers);
            }
        }
    }

    /// Reads answers until the last says that no more follow or is an error.
    pub(super) fn read_whole(&mut self, form: RowForm) -> io::Result<Vec<Result<Answer, ServerError>>> {
        let mut answers = Vec::new();
        loop {
            match self.read_one(form) {
                Ok(answer) => {
                    let more = answer.status.contains(StatusFlags::SERVER_MORE_RESULTS_EXISTS);
                    answers.push(Ok(answer));
                    if !more {
                        return Ok(answers);
                    }
                }
                Err(Failure::Server(error)) => {
                    answers.push(Err(error));
                    return Ok(answers);
                }
                Err(Failure::Gone(error)) => return Err(error),
            }
        }
    }

    fn read_one(&mut self, form: RowForm) -> Result<Answer, Failure> {
        let first = self.read_packet()?;
        let mut answer = Answer::default();
        match first.first() {
            Some(0x00) => {
                answer.take_ok(&first);
                return Ok(answer);
            }
            Some(0xFF) => return Err(Failure::Server(ServerError::parse(&first))),
            Some(0xFE) if first.len() == 5 => {
                answer.take_eof(&first);
                return Ok(answer);
            }
            _ => {}
        }
        let columns = Reader::new(&first).lenenc_int().expect("a column count");
        for _ in 0..columns {
            let definition = self.read_packet()?;
            answer.take_column(&definition, self.capabilities);
        }
        if !self.deprecates_eof() {
            let eof = self.read_packet()?;
            assert_eq!((eof.first(), eof.len()), (Some(&0xFE), 5), "an EOF behind the columns");
            answer.take_eof(&eof);
            answer.columns_status = Some(answer.status);
            let has_cursor = answer.status.contains(StatusFlags::SERVER_STATUS_CURSOR_EXISTS);
            // Elsewhere it is one that a procedure has left behind.
            if has_cursor && form == RowForm::Cursor {
                return Ok(answer);
            }
        }
        self.read_rows(&mut answer, form)?;
        Ok(answer)
    }

    /// Reads rows up to and with the packet that ends them.
    pub(super) fn read_rows(&mut self, answer: &mut Answer, form: RowForm) -> Result<(), Failure> {
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0xFF) => return Err(Failure::Server(ServerError::parse(&packet))),
                Some(0xFE) if self.deprecates_eof() && packet.len() < 0xFF_FFFF => {
                    answer.take_ok(&packet);
                    return Ok(());
                }
                Some(0xFE) if packet.len() == 5 => {
                    answer.take_eof(&packet);
                    return Ok(());
                }
                _ => {
                    let row = match form {
                        RowForm::Text => text_row(&packet, answer.columns.len()),
                        RowForm::Binary | RowForm::Cursor => {
                            super::prepared::binary_row(&packet, &answer.types)
                        }
                    };
                    answer.rows.push(row);
                }
            }
        }
    }

    fn deprecates_eof(&self) -> bool {
        self.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }
}

impl Answer {
    fn take_ok(&mut self, payload: &[u8]) {
        let TrackedOk { ok, info, .. } = TrackedOk::parse(payload).expect("an OK packet is well formed");
        self.affected_rows = ok.affected_rows;
        self.insert_id = ok.insert_id;
        self.status = ok.status;
        self.warnings = ok.warnings;
        self.message = String::from_utf8_lossy(info).into_owned();
    }

    fn take_eof(&mut self, payload: &[u8]) {
        let mut reader = Reader::new(&payload[1..]);
        self.warnings = reader.u16().expect("warnings");
        self.status = StatusFlags::from_bits_retain(reader.u16().expect("status"));
    }

    pub(super) fn take_column(&mut self, payload: &[u8], agreed: CapabilityFlags) {
        let mut reader = Reader::new(payload);
        let mut texts = (0..6).map(|_| reader.lenenc_bytes().expect("a column's text").to_vec());
        let name = texts.nth(4).expect("six texts");
        texts.for_each(drop);
        if agreed.contains(CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA) {
            self.extensions.push(reader.lenenc_bytes().expect("more of the type").to_vec());
        }
        reader.u8().expect("length of the numbers");
        self.columns.push(String::from_utf8_lossy(&name).into_owned());
        self.collations.push(reader.u16().expect("collation"));
        reader.u32().expect("display length");
        let column_type = reader.u8().expect("type");
        assert_ne!(column_type, ColumnType::MYSQL_TYPE_NEWDATE as u8);
        self.types.push(column_type);
        self.definitions.push(payload.to_vec());
    }
}

fn text_row(payload: &[u8], columns: usize) -> Vec<Option<Vec<u8>>> {
    let mut reader = Reader::new(payload);
    let row = (0..columns)
        .map(|_| match reader.rest().first() {
            Some(0xFB) => {
                reader.u8().expect("the NULL");
                None
            }
            _ => Some(reader.lenenc_bytes().expect("a value").to_vec()),
        })
        .collect();
    assert!(reader.rest().is_empty(), "nothing behind the last value");
    row
}
