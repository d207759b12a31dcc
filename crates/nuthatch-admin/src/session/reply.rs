//! Answers as packets.

use nuthatch_wire::{
    CapabilityFlags, ErrorCode, OkPacket, ResultSetWriter, StatusFlags, append_eof, append_err, append_ok,
    append_packet,
};
use rusqlite::types::Value;

use crate::answer::{Done, Rows, text_of};
use crate::clerk::TransactionState;

/// Whether another answer to the same packet follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Yes,
    No,
}

/// The packets that answer one packet of the client, numbered from 1.
#[derive(Debug)]
pub(super) struct Writer {
    out: Vec<u8>,
    sequence: u8,
    capabilities: CapabilityFlags,
    status: StatusFlags,
}

impl Writer {
    pub(super) fn new(capabilities: CapabilityFlags) -> Self {
        Self { out: Vec::new(), sequence: 1, capabilities, status: status(TransactionState::None) }
    }

    pub(super) fn set_transaction(&mut self, transaction: TransactionState) {
        self.status = status(transaction);
    }

    /// An OK packet.
    pub(super) fn done(&mut self, done: &Done, more: More) {
        let ok = OkPacket {
            affected_rows: done.affected_rows,
            insert_id: done.insert_id,
            status: self.status_with(more),
            warnings: u16::try_from(done.warnings.len()).unwrap_or(u16::MAX),
        };
        append_ok(&mut self.out, &mut self.sequence, &ok);
    }

    /// A result set.
    pub(super) fn rows(&mut self, rows: &Rows, more: More) {
        let status = self.status_with(more);
        let mut set = ResultSetWriter::begin(
            &mut self.out,
            &mut self.sequence,
            self.capabilities,
            status,
            &rows.columns,
        );
        for row in &rows.rows {
            let cells: Vec<Option<Vec<u8>>> = row.iter().map(|value: &Value| text_of(value)).collect();
            set.row(cells.iter().map(Option::as_deref));
        }
        set.end(status, 0);
    }

    /// An ERR packet; nothing may follow it.
    pub(super) fn error(&mut self, code: ErrorCode, message: &str) {
        append_err(&mut self.out, &mut self.sequence, code, message.as_bytes());
    }

    /// An EOF packet alone, or what stands for it.
    pub(super) fn end(&mut self) {
        if self.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF) {
            let mut payload = Vec::new();
            OkPacket { status: self.status, ..OkPacket::default() }.encode(&mut payload, 0xFE);
            self.raw(&payload);
        } else {
            append_eof(&mut self.out, &mut self.sequence, self.status, 0);
        }
    }

    /// A packet of these bytes.
    pub(super) fn raw(&mut self, payload: &[u8]) {
        append_packet(&mut self.out, &mut self.sequence, payload);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    fn status_with(&self, more: More) -> StatusFlags {
        match more {
            More::Yes => self.status | StatusFlags::SERVER_MORE_RESULTS_EXISTS,
            More::No => self.status,
        }
    }
}

/// The session's flags. SQLite's literals have no backslash escapes: drivers that are told so quote accordingly.
pub(super) fn status(transaction: TransactionState) -> StatusFlags {
    let always = StatusFlags::SERVER_STATUS_AUTOCOMMIT | StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES;
    match transaction {
        TransactionState::None => always,
        TransactionState::Open => always | StatusFlags::SERVER_STATUS_IN_TRANS,
    }
}
