//! One operator's session: login, then commands until the client leaves.
//!
//! The session knows its schema, its warnings and whether it has a transaction; everything else is asked of the clerk.
//! The interface has no prepared statements, as ProxySQL's has none.

mod field_list;
mod login;
mod reply;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_net::{Framed, NetError};
use nuthatch_wire::{CapabilityFlags, Command as Packet, ErrorCode};
use rusqlite::types::Value;

use crate::admin::Admin;
use crate::answer::{Answer, Done, Rows};
use crate::clerk::{Call, Caller, Reply, TransactionState};
use crate::command::{self, Command};
use crate::credentials::Rights;
use crate::error::AdminError;
use crate::limits::STATEMENT_BYTES_MAX;
use reply::{More, Writer};

/// How long a session may be silent (`wait_timeout`).
const SILENCE_MAX: Duration = Duration::from_secs(28_800);

/// How long writing one answer may take (`net_write_timeout`).
const WRITE_MAX: Duration = Duration::from_secs(60);

/// The schema of a session that asked for none.
const DEFAULT_SCHEMA: &str = "main";

/// How a session came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The client left, or was silent for too long.
    Left,
    /// The login was refused.
    Refused,
    /// The interface stops.
    Stopped,
}

/// Serves one connection to its end.
pub(crate) async fn run(mut framed: Framed, peer: SocketAddr, admin: Arc<Admin>) -> Result<Ended, NetError> {
    let stop = admin.stopping().clone();
    let login = tokio::select! {
        () = stop.cancelled() => return Ok(Ended::Stopped),
        login = login::log_in(&mut framed, peer, &admin) => login?,
    };
    let Some(login::LoggedIn { caller, capabilities, schema }) = login else {
        return Ok(Ended::Refused);
    };
    let session = Session {
        framed,
        admin,
        caller: Arc::new(caller),
        capabilities,
        schema: schema.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned()),
        warnings: Vec::new(),
        transaction: TransactionState::None,
    };
    session.serve().await
}

#[derive(Debug)]
struct Session {
    framed: Framed,
    admin: Arc<Admin>,
    caller: Arc<Caller>,
    capabilities: CapabilityFlags,
    schema: String,
    warnings: Vec<String>,
    transaction: TransactionState,
}

/// Whether a session goes on after a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Packet,
    End,
}

impl Session {
    async fn serve(mut self) -> Result<Ended, NetError> {
        let stop = self.admin.stopping().clone();
        loop {
            let read = tokio::select! {
                () = stop.cancelled() => return Ok(Ended::Stopped),
                read = tokio::time::timeout(SILENCE_MAX, self.framed.read_packet(0, STATEMENT_BYTES_MAX)) => read,
            };
            match read {
                Err(_elapsed) => return Ok(Ended::Left),
                Ok(Err(NetError::Closed)) => return Ok(Ended::Left),
                Ok(Err(NetError::PacketTooLarge { .. })) => {
                    let mut out = Writer::new(self.capabilities);
                    out.error(
                        ErrorCode::NET_PACKET_TOO_LARGE,
                        "Got a packet bigger than 'max_allowed_packet' bytes",
                    );
                    self.send(out).await?;
                    return Ok(Ended::Left);
                }
                Ok(read) => drop(read?),
            }
            let payload = self.framed.take_payload();
            if self.packet(&payload).await? == Next::End {
                return Ok(Ended::Left);
            }
        }
    }

    async fn packet(&mut self, payload: &[u8]) -> Result<Next, NetError> {
        let (first, body) = payload.split_first().unwrap_or((&0, &[]));
        let mut out = Writer::new(self.capabilities);
        out.set_transaction(self.transaction);
        match Packet::parse(*first) {
            Some(Packet::Quit) => return Ok(Next::End),
            Some(Packet::Query) => self.query(&mut out, body).await,
            Some(Packet::InitDb) => self.init_db(&mut out, body),
            Some(Packet::Ping) => out.done(&Done::default(), More::No),
            Some(Packet::ResetConnection) => self.reset(&mut out).await,
            Some(Packet::SetOption) => self.set_option(&mut out, body),
            Some(Packet::FieldList) => self.field_list(&mut out, body).await,
            Some(Packet::Statistics) => self.statistics(&mut out).await,
            Some(Packet::StmtClose | Packet::StmtSendLongData) => return Ok(Next::Packet),
            Some(command) => {
                let message = format!("{} is not supported by the admin interface", command.name());
                out.error(ErrorCode::UNKNOWN_COM_ERROR, &message);
            }
            None => out.error(ErrorCode::UNKNOWN_COM_ERROR, "Unknown command"),
        }
        self.send(out).await?;
        Ok(Next::Packet)
    }

    async fn send(&mut self, out: Writer) -> Result<(), NetError> {
        let bytes = out.into_bytes();
        match tokio::time::timeout(WRITE_MAX, self.framed.write(&bytes)).await {
            Ok(written) => written,
            Err(_elapsed) => Err(NetError::Io(std::io::ErrorKind::TimedOut.into())),
        }
    }

    /// All statements of the packet in order, up to the first that is refused.
    async fn query(&mut self, out: &mut Writer, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let statements = command::statements(&text);
        let is_allowed =
            statements.len() < 2 || self.capabilities.contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        if statements.is_empty() || !is_allowed {
            let error = if statements.is_empty() { AdminError::Empty } else { AdminError::SeveralStatements };
            out.error(error.code(), &error.to_string());
            return;
        }
        for (place, statement) in statements.iter().enumerate() {
            let more = if place + 1 < statements.len() { More::Yes } else { More::No };
            let result = self.statement(statement).await;
            out.set_transaction(self.transaction);
            match result {
                Ok(Answer::Done(done)) => out.done(&done, more),
                Ok(Answer::Rows(rows)) => out.rows(&rows, more),
                Err(error) => {
                    out.error(error.code(), &error.to_string());
                    return;
                }
            }
        }
    }

    async fn statement(&mut self, statement: &str) -> Result<Answer, AdminError> {
        match command::parse(statement) {
            Command::Warnings => Ok(self.show_warnings()),
            Command::WarningCount => Ok(self.count_warnings()),
            Command::Use(schema) => {
                self.warnings = self.use_schema(&schema)?;
                Ok(Answer::Done(Done { warnings: self.warnings.clone(), ..Done::default() }))
            }
            Command::Switchover(order) if self.caller.rights == Rights::Full => {
                self.warnings.clear();
                self.admin.switch_over(order).await
            }
            Command::Failover(order) if self.caller.rights == Rights::Full => {
                self.warnings.clear();
                self.admin.fail_over(order).await
            }
            command => {
                self.warnings.clear();
                let answer = self.ask(command).await?;
                if let Answer::Done(done) = &answer {
                    self.warnings.clone_from(&done.warnings);
                }
                Ok(answer)
            }
        }
    }

    async fn ask(&mut self, command: Command) -> Result<Answer, AdminError> {
        let caller = Arc::clone(&self.caller);
        let call = Call { caller, schema: self.schema.clone(), command };
        let Reply { result, transaction } = self.admin.call(call).await;
        self.transaction = transaction;
        result
    }

    /// Changes the schema and says what is surprising about it.
    fn use_schema(&mut self, name: &str) -> Result<Vec<String>, AdminError> {
        let schema = self.admin.schema(name).ok_or_else(|| AdminError::UnknownSchema(name.to_owned()))?;
        schema.clone_into(&mut self.schema);
        let warning = "tables are still looked for in main first: write disk.<table> for those on disk";
        Ok(if schema == "disk" { vec![warning.to_owned()] } else { Vec::new() })
    }

    fn init_db(&mut self, out: &mut Writer, name: &[u8]) {
        match self.use_schema(&String::from_utf8_lossy(name)) {
            Ok(warnings) => {
                self.warnings = warnings;
                out.done(&Done { warnings: self.warnings.clone(), ..Done::default() }, More::No);
            }
            Err(error) => out.error(error.code(), &error.to_string()),
        }
    }

    async fn reset(&mut self, out: &mut Writer) {
        self.warnings.clear();
        let result = self.ask(Command::EndTransaction("ROLLBACK")).await;
        out.set_transaction(self.transaction);
        match result {
            Ok(_) => out.done(&Done::default(), More::No),
            Err(error) => out.error(error.code(), &error.to_string()),
        }
    }

    fn set_option(&mut self, out: &mut Writer, body: &[u8]) {
        match body {
            [0, 0] => self.capabilities.insert(CapabilityFlags::CLIENT_MULTI_STATEMENTS),
            [1, 0] => self.capabilities.remove(CapabilityFlags::CLIENT_MULTI_STATEMENTS),
            _ => return out.error(ErrorCode::UNKNOWN_COM_ERROR, "Unknown option"),
        }
        out.end();
    }

    async fn statistics(&mut self, out: &mut Writer) {
        match self.ask(Command::StatisticsLine).await {
            Ok(Answer::Rows(Rows { rows, .. })) => {
                if let Some([Value::Text(line)]) = rows.first().map(Vec::as_slice) {
                    out.raw(line.as_bytes());
                }
            }
            Ok(Answer::Done(_)) => out.raw(b""),
            Err(error) => out.error(error.code(), &error.to_string()),
        }
    }

    fn show_warnings(&self) -> Answer {
        let columns = vec![
            nuthatch_wire::Column::text("Level"),
            nuthatch_wire::Column::integer("Code"),
            nuthatch_wire::Column::text("Message"),
        ];
        let row = |warning: &String| {
            vec![
                Value::Text("Warning".to_owned()),
                Value::Integer(WARNING_CODE),
                Value::Text(warning.clone()),
            ]
        };
        Answer::Rows(Rows { columns, rows: self.warnings.iter().map(row).collect() })
    }

    fn count_warnings(&self) -> Answer {
        let count = i64::try_from(self.warnings.len()).unwrap_or(i64::MAX);
        Answer::Rows(Rows {
            columns: vec![nuthatch_wire::Column::integer("@@session.warning_count")],
            rows: vec![vec![Value::Integer(count)]],
        })
    }
}

/// `ER_UNKNOWN_ERROR`: our warnings have no codes of their own.
const WARNING_CODE: i64 = 1105;
