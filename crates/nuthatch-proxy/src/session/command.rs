//! Commands other than COM_QUERY.

use nuthatch_config::HostgroupId;
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, ErrorCode, StatusFlags};

use super::trouble::Trouble;
use super::{Session, SessionEnd, reply};

/// A longer statement's room in the process list is given back when it is over.
const INFO_BYTES_KEPT: usize = 256;

impl Session {
    /// Answers the command at hand; `None` is a byte that is no command.
    pub(super) async fn command(&mut self, command: Option<Command>, now_ms: u64) -> Result<(), SessionEnd> {
        self.take_over_configuration()?;
        match command {
            Some(Command::Quit) => Err(SessionEnd::Quit),
            Some(Command::Ping) => self.send(&reply::ok(self.status())).await,
            Some(Command::Statistics) => self.send(&reply::text(&self.proxy.statistics_line())).await,
            Some(Command::InitDb) => self.init_db(now_ms).await,
            Some(Command::ResetConnection) => self.reset_connection().await,
            Some(Command::FieldList) => self.field_list(now_ms).await,
            Some(Command::StmtPrepare) => self.stmt_prepare(now_ms).await,
            Some(Command::StmtExecute) => self.stmt_execute(now_ms).await,
            Some(Command::StmtSendLongData) => {
                self.stmt_send_long_data();
                Ok(())
            }
            Some(Command::StmtClose) => self.stmt_close().await,
            Some(Command::StmtReset) => self.stmt_pass(AnswerKind::Single).await,
            Some(Command::StmtFetch) => self.stmt_pass(AnswerKind::Rows).await,
            _ => {
                self.worker.counters.generated_errors.bump();
                let name = command.map_or("Unknown command", Command::name);
                let message = format!("{name} is not supported by the proxy");
                self.send(&reply::err(1, ErrorCode::UNKNOWN_COM_ERROR, &message)).await
            }
        }
    }

    /// COM_INIT_DB: a server says whether the schema is there and may be used.
    async fn init_db(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.worker.counters.frontend_init_db.bump();
        self.forget_diagnostics();
        let schema = self.client.payload().get(1..).unwrap_or_default().to_vec();
        let hostgroup = self.destination(self.account.user.default_hostgroup);
        self.show(now_ms, "Init DB", hostgroup.0);
        match self.change_schema(hostgroup, schema).await {
            Ok(()) => self.send(&reply::ok(self.status())).await,
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn change_schema(&mut self, hostgroup: HostgroupId, schema: Vec<u8>) -> Result<(), Trouble> {
        let mut held = self.lease(hostgroup).await?;
        let outcome = self.order(&mut held, Command::InitDb, &schema, AnswerKind::Single).await;
        if outcome.is_ok() {
            held.connection.state.schema.clone_from(&schema);
            self.state.schema = schema;
        }
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    /// COM_FIELD_LIST, which command line clients send for completion.
    async fn field_list(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.forget_diagnostics();
        let hostgroup = self.destination(self.account.user.default_hostgroup);
        self.show(now_ms, "Field List", hostgroup.0);
        match self.pass_field_list(hostgroup).await {
            Ok(_) => Ok(()),
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn pass_field_list(&mut self, hostgroup: HostgroupId) -> Result<AnswerEnd, Trouble> {
        let mut held = self.lease(hostgroup).await?;
        let outcome = async {
            let (mut way, client) = self.way_and_client(&mut held);
            way.send_packet_of(client).await?;
            way.pass_answer(client, AnswerKind::Rows, None, |_| ()).await
        }
        .await;
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    /// COM_RESET_CONNECTION: as after the login, but for the schema.
    async fn reset_connection(&mut self) -> Result<(), SessionEnd> {
        self.let_go();
        self.state.autocommit = true;
        self.state.charset = self.login_charset.clone();
        self.last = super::LastResults::default();
        self.insert_id = super::InsertId::default();
        self.wrote_in_transaction = false;
        self.next_flag_in = 0;
        self.renumber_environment();
        self.send(&reply::ok(self.status() | StatusFlags::SERVER_STATUS_AUTOCOMMIT)).await
    }

    /// Shows the command at hand in the process list.
    pub(super) fn show(&self, now_ms: u64, command: &'static str, hostgroup: u32) {
        const INFO_BYTES_MAX: usize = 1024;
        let text = self.client.payload().get(1..).unwrap_or_default();
        let text = text.get(..INFO_BYTES_MAX).unwrap_or(text);
        self.handle.busy.store(1, std::sync::atomic::Ordering::Release);
        let mut view = self.handle.view.lock();
        view.command = command;
        view.since_ms = now_ms;
        view.hostgroup = Some(hostgroup);
        view.server = None;
        view.info.clear();
        view.has_info = matches!(command, "Query" | "Prepare");
        if view.has_info {
            view.info.extend_from_slice(text);
        }
    }

    /// Shows that the session waits for its client.
    pub(super) fn show_idle(&self) {
        let busy = self.held.iter().any(|held| held.in_transaction || held.pins.is_sticky());
        self.handle.busy.store(u8::from(busy), std::sync::atomic::Ordering::Release);
        let mut view = self.handle.view.lock();
        view.command = "Sleep";
        view.has_info = false;
        if view.info.capacity() > INFO_BYTES_KEPT {
            view.info = Vec::new();
        }
        self.show_pins(&mut view);
        if view.schema != self.state.schema {
            view.schema.clone_from(&self.state.schema);
        }
    }
}
