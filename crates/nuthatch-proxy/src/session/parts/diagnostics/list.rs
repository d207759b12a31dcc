//! A list of warnings and errors that the session has itself.

use std::borrow::Cow;

use nuthatch_sql::{DiagnosticsCount, DiagnosticsQuestion, ServerFlavor};
use nuthatch_wire::{
    CapabilityFlags, Column, ColumnFlags, Form, SmallResult, StatusFlags, append_lenenc_bytes, text_values,
};

use crate::session::parts::Left;
use crate::session::way::{reply, transcode};
use crate::state::ResultCollation;

/// MySQL's own `max_error_count`.
const ROWS_MAX: usize = 1024;

/// A list of warnings and errors, all that there are.
#[derive(Debug)]
pub(crate) struct List {
    /// Payloads of the definitions of Level, Code and Message.
    definitions: Vec<Box<[u8]>>,
    /// Payloads of rows.
    rows: Vec<Box<[u8]>>,
    /// What its texts are in.
    collation: ResultCollation,
    /// Nobody knows it any more: it was on a connection that failed.
    is_lost: bool,
    /// Where it is too, unless somebody has had that connection since.
    left_on: Option<Left>,
}

impl List {
    /// Reads the answer to SHOW WARNINGS; `None` if it is no such list.
    pub(crate) fn parse(answer: &[u8], form: Form, collation: ResultCollation) -> Option<Self> {
        let SmallResult { definitions, rows } = SmallResult::parse(answer, form)?;
        let boxed = |payload: &[u8]| Box::from(payload);
        let is_list = definitions.len() == 3 && rows.iter().all(|row| cells(row).is_some());
        is_list.then(|| Self {
            definitions: definitions.iter().map(|payload| boxed(payload)).collect(),
            rows: rows.iter().map(|payload| boxed(payload)).collect(),
            collation,
            is_lost: false,
            left_on: None,
        })
    }

    /// Of one error or warning that the proxy itself has told.
    pub(crate) fn of_one(
        level: &str,
        server: ServerFlavor,
        collation: ResultCollation,
        code: u16,
        message: &[u8],
    ) -> Self {
        let row = reply::text_row(&[level.as_bytes(), code.to_string().as_bytes(), message]);
        let (definitions, rows) = (Vec::new(), vec![row.into()]);
        let mut list = Self { definitions, rows, collation, is_lost: false, left_on: None };
        list.come_in(server, collation);
        list
    }

    /// Of which nobody can tell any more what it was.
    pub(crate) const fn lost(collation: ResultCollation) -> Self {
        Self { definitions: Vec::new(), rows: Vec::new(), collation, is_lost: true, left_on: None }
    }

    /// Nobody knows it any more: it was on a connection that failed.
    pub(crate) const fn is_lost(&self) -> bool {
        self.is_lost
    }

    pub(super) const fn lose(&mut self) {
        self.is_lost = true;
    }

    /// How many rows it has.
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// What its texts are in.
    pub(crate) const fn collation(&self) -> ResultCollation {
        self.collation
    }

    /// It is on that connection too, unless somebody has had that since.
    pub(crate) fn leave_on(&mut self, left: Left) {
        self.left_on = Some(left);
    }

    pub(super) const fn take_left(&mut self) -> Option<Left> {
        self.left_on.take()
    }

    /// Puts its rows behind those of another, as many as a server's list may have.
    pub(super) fn put_behind(&mut self, mut before: Self) {
        before.rows.append(&mut self.rows);
        before.rows.truncate(ROWS_MAX);
        self.rows = before.rows;
    }

    pub(super) fn shown(&self) -> String {
        format!("{:?} {:?} {:?} {}", self.definitions, self.rows, self.collation, self.is_lost)
    }

    /// From now on its texts come in another collation.
    pub(crate) fn come_in(&mut self, server: ServerFlavor, collation: ResultCollation) {
        let (from, to) = (self.collation.charset(), collation.charset());
        for row in &mut self.rows {
            if let Some([level, code, message]) = cells(row) {
                *row = reply::text_row(&[level, code, &transcode(message, &from, &to)]).into();
            }
        }
        self.collation = collation;
        self.definitions = reply::diagnostics_definitions(server, collation).map(Box::from).into();
    }

    /// Whether it has one row, with that number.
    pub(crate) fn is_of_only(&self, code: u16) -> bool {
        let rows: Vec<_> = self.rows.iter().map(|row| cells(row)).collect();
        matches!(&rows[..], [Some([_, number, _])] if *number == code.to_string().as_bytes())
    }

    fn count(&self, counted: DiagnosticsCount) -> usize {
        match counted {
            DiagnosticsCount::Warnings => self.rows.len(),
            DiagnosticsCount::Errors => self.rows.iter().filter(|row| is_error(row)).count(),
        }
    }

    pub(crate) fn answer(&self, question: &DiagnosticsQuestion<'_>, to: Recipient) -> Vec<u8> {
        let Recipient { capabilities, status, rows_are } = to;
        match question {
            DiagnosticsQuestion::List { errors_only, skip, count } => {
                let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                let listed = self.rows.iter().filter(|row| !errors_only || is_error(row));
                let chosen = listed.skip(size(*skip)).take(size(*count));
                let rows: Vec<Box<[u8]>> = match rows_are {
                    Rows::Text => chosen.cloned().collect(),
                    Rows::Binary => chosen.filter_map(|row| binary_row(row)).collect(),
                };
                reply::result_set_of(capabilities, status, &self.definitions, &rows)
            }
            DiagnosticsQuestion::Counts(counts) => {
                let definition = |(_, name): &(_, Cow<'_, [u8]>)| {
                    let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG;
                    let name = String::from_utf8_lossy(name).into_owned();
                    Column { flags, ..Column::integer(name) }.encoded().into()
                };
                let definitions: Vec<Box<[u8]>> = counts.iter().map(definition).collect();
                let values = counts.iter().map(|(counted, _)| self.count(*counted) as u64);
                let row = match rows_are {
                    Rows::Text => {
                        let values: Vec<_> = values.map(|value| value.to_string()).collect();
                        reply::text_row(&values.iter().map(String::as_bytes).collect::<Vec<_>>())
                    }
                    Rows::Binary => {
                        // Header, and a bitmap of NULLs behind two bits of no use.
                        let mut row = vec![0; 1 + (counts.len() + 2).div_ceil(8)];
                        values.for_each(|value| row.extend(value.to_le_bytes()));
                        row
                    }
                };
                reply::result_set_of(capabilities, status, &definitions, &[row.into()])
            }
        }
    }
}

/// Who gets an answer, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipient {
    pub(crate) capabilities: CapabilityFlags,
    pub(crate) status: StatusFlags,
    pub(crate) rows_are: Rows,
}

/// Of which protocol rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    Text,
    Binary,
}

fn cells(row: &[u8]) -> Option<[&[u8]; 3]> {
    text_values(row)
}

/// A row of Level, Code and Message as the binary protocol has it: header, bitmap of NULLs, values.
fn binary_row(row: &[u8]) -> Option<Box<[u8]>> {
    let [level, code, message] = cells(row)?;
    let code: u32 = std::str::from_utf8(code).ok()?.parse().ok()?;
    let mut binary = vec![0, 0];
    append_lenenc_bytes(&mut binary, level);
    binary.extend(code.to_le_bytes());
    append_lenenc_bytes(&mut binary, message);
    Some(binary.into())
}

fn is_error(row: &[u8]) -> bool {
    cells(row).is_some_and(|[level, ..]| level == b"Error")
}

#[cfg(test)]
mod tests {
    use super::*;

    impl List {
        /// Without its rows; for the tests of the whole too.
        pub(crate) fn emptied(self) -> Self {
            Self { rows: Vec::new(), ..self }
        }
    }

    #[test]
    fn own_error_is_listed_as_a_server_would() {
        let collation = ResultCollation { number: 45, character_bytes_max: 4 };
        let list = List::of_one("Error", ServerFlavor::MariaDb(101_119), collation, 1243, b"Unknown");
        assert_eq!(list.count(DiagnosticsCount::Errors), 1);
        let all = DiagnosticsQuestion::List { errors_only: false, skip: 0, count: 9 };
        let status = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
        for capabilities in [CapabilityFlags::empty(), CapabilityFlags::CLIENT_DEPRECATE_EOF] {
            let answer = list.answer(&all, Recipient { capabilities, status, rows_are: Rows::Text });
            let form = Form::of(capabilities);
            let again = List::parse(&answer, form, collation).expect("a list");
            assert_eq!((again.definitions, again.rows), (list.definitions.clone(), list.rows.clone()));
        }
        // As MariaDB 10.11 defines the first column under utf8mb4.
        let level = b"\x03def\x00\x00\x00\x05Level\x00\x0c-\x00\x1c\x00\x00\x00\xfd\x01\x00'\x00\x00";
        assert_eq!(&*list.definitions[0], level);
        assert_eq!(&*list.rows[0], b"\x05Error\x041243\x07Unknown");
        assert_eq!(binary_row(&list.rows[0]).as_deref(), Some(&b"\0\0\x05Error\xDB\x04\0\0\x07Unknown"[..]));
    }
}
