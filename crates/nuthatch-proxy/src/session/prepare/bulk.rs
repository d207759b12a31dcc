//! MariaDB's COM_STMT_BULK_EXECUTE: one statement for many sets of parameters.
//!
//! It goes the way of an execution ([`Session::stmt_execute`]). What it writes is taken for the whole table, for the rows are not
//! looked at, and the answer tells the key of one of them at most. A server that lacks the command is never sent one.
//!
//! Source: MariaDB's "COM_STMT_BULK_EXECUTE".

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{CapabilityFlags, ErrorCode};

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::way::UNSUPPORTED_PS;

/// Command, number of the statement, flags.
const HEAD_BYTES: usize = 1 + 4 + 2;

impl Session {
    /// COM_STMT_BULK_EXECUTE.
    pub(crate) async fn stmt_bulk_execute(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        if matches!(self.context.lexing.server, ServerFlavor::MySql(_)) {
            return self.refuse(ErrorCode::UNKNOWN_COM_ERROR, "Unknown command").await;
        }
        if self.client.framed.payload().len() < HEAD_BYTES {
            return self.refuse_malformed().await;
        }
        if !self.client.capabilities.contains(CapabilityFlags::MARIADB_CLIENT_STMT_BULK_OPERATIONS) {
            return self.refuse_in_bulk().await;
        }
        self.stmt_execute(now_ms).await
    }

    /// What MariaDB 10.11 says of all but INSERT, REPLACE, UPDATE and DELETE.
    pub(crate) async fn refuse_in_bulk(&mut self) -> Result<(), SessionEnd> {
        self.refuse(ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS).await
    }
}
