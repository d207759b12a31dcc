//! Commands other than COM_QUERY.

use nuthatch_config::HostgroupId;
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerEnd, AnswerKind, CapabilityFlags, Command, Ending, ErrorCode, StatusFlags};

use crate::exact::Flight;
use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::after::learn::learn_schema;
use crate::session::ask::exact::land;
use crate::session::ask::inheritance::await_defaults;
use crate::session::ask::lease::{destination, show_pins};
use crate::session::parts::{Beginning, Held, InsertId};
use crate::session::way::{Trouble, reply};
use crate::state::{Charset, Errand, SessionState};
use crate::stats::pins::Pins;

/// A longer statement's room in the process list is given back when it is over.
const INFO_BYTES_KEPT: usize = 256;

impl Session {
    /// Answers the command at hand; `None` is a byte that is no command.
    pub(crate) async fn command(&mut self, command: Option<Command>, now_ms: u64) -> Result<(), SessionEnd> {
        self.take_over_configuration()?;
        match command {
            Some(Command::Quit) => Err(SessionEnd::Quit),
            Some(Command::Ping) => {
                (self.results.row_count, self.hands.last_ran_on) = (0, None);
                self.client.send(&self.ground, &reply::ok(self.status())).await
            }
            Some(Command::Statistics) => {
                self.client.send(&self.ground, &reply::text(&self.ground.shared.statistics_line())).await
            }
            Some(Command::InitDb) => self.init_db(now_ms).await,
            Some(Command::ResetConnection) => self.reset_connection().await,
            Some(Command::FieldList) => self.pass_command(now_ms, "Field List", AnswerKind::Fields).await,
            Some(Command::StmtPrepare) => self.stmt_prepare(now_ms).await,
            Some(Command::StmtExecute) => self.stmt_execute(now_ms).await,
            Some(Command::StmtBulkExecute) => self.stmt_bulk_execute(now_ms).await,
            Some(Command::StmtSendLongData) => {
                self.stmt_send_long_data();
                Ok(())
            }
            Some(Command::StmtClose) => self.stmt_close().await,
            Some(Command::StmtReset) => self.stmt_pass(AnswerKind::Single).await,
            Some(Command::StmtFetch) => self.stmt_pass(AnswerKind::Rows).await,
            Some(Command::ChangeUser) => self.change_user().await,
            Some(Command::SetOption) => self.set_option().await,
            Some(Command::ProcessKill) => self.process_kill().await,
            Some(Command::ProcessInfo) => {
                self.pass_command(now_ms, "Processlist", AnswerKind::ResultSets).await
            }
            Some(Command::Refresh) => self.pass_command(now_ms, "Refresh", AnswerKind::Single).await,
            Some(Command::RegisterSlave) => {
                self.pass_replication(now_ms, "Register Slave", AnswerKind::Single).await
            }
            Some(Command::BinlogDump | Command::BinlogDumpGtid) => {
                self.pass_replication(now_ms, "Binlog Dump", AnswerKind::Rows).await
            }
            Some(Command::Debug | Command::Shutdown) => {
                let message = "Access denied; you need (at least one of) the SUPER, SHUTDOWN privilege(s) for this operation";
                self.refuse(ErrorCode::SPECIFIC_ACCESS_DENIED, message).await
            }
            Some(command) => {
                let message = format!("{} is not supported by the proxy", command.name());
                self.refuse(ErrorCode::UNKNOWN_COM_ERROR, &message).await
            }
            None => self.refuse(ErrorCode::UNKNOWN_COM_ERROR, "Unknown command").await,
        }
    }

    /// COM_INIT_DB: a server says whether the schema is there and may be used.
    async fn init_db(&mut self, now_ms: u64) -> Result<(), SessionEnd> {
        self.ground.worker.counters.frontend_init_db.bump();
        let schema = self.client.framed.payload().get(1..).unwrap_or_default().to_vec();
        if let Some(message) = self.refused_by_lock(&schema) {
            return self.refuse(ErrorCode::DB_ACCESS_DENIED, &message).await;
        }
        let hostgroup = destination(&self.account, &self.hands, self.account.user.default_hostgroup);
        self.show(now_ms, "Init DB", hostgroup.0);
        match self.change_schema(hostgroup, &schema).await {
            Ok(()) => {
                (self.results.row_count, self.hands.last_ran_on) = (0, None);
                self.client.send(&self.ground, &reply::ok(self.status())).await
            }
            Err(Trouble::Refused(refusal)) => self.refuse_like_server(&refusal).await,
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    pub(crate) async fn change_schema(
        &mut self,
        hostgroup: HostgroupId,
        schema: &[u8],
    ) -> Result<(), Trouble> {
        self.hands.errand = Errand::into_schema(&self.context.state, schema);
        let mut held = self.lease(hostgroup).await?;
        let mut outcome = self.order(&mut held, Command::InitDb, schema, AnswerKind::Single).await;
        if outcome.is_ok() {
            learn_schema(&mut self.context, schema, &mut held);
            if held.is_in_unnamed_schema {
                outcome = self.learn_name_of_schema(&mut held).await;
            }
        }
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    /// A command that leaves nothing in the session, and that a server answers: COM_FIELD_LIST, COM_PROCESS_INFO, COM_REFRESH.
    async fn pass_command(
        &mut self,
        now_ms: u64,
        name: &'static str,
        kind: AnswerKind,
    ) -> Result<(), SessionEnd> {
        self.pass_pinned(now_ms, name, kind, Pins::NONE).await
    }

    /// What a replica, or who reads the binlog like one, asks: over one connection of its own, for as long as it lasts.
    async fn pass_replication(
        &mut self,
        now_ms: u64,
        name: &'static str,
        kind: AnswerKind,
    ) -> Result<(), SessionEnd> {
        self.pass_pinned(now_ms, name, kind, Pins::REPLICATION).await
    }

    async fn pass_pinned(
        &mut self,
        now_ms: u64,
        name: &'static str,
        kind: AnswerKind,
        pins: Pins,
    ) -> Result<(), SessionEnd> {
        self.forget_diagnostics().await?;
        let hostgroup = destination(&self.account, &self.hands, self.account.user.default_hostgroup);
        self.show(now_ms, name, hostgroup.0);
        match self.pass_to(hostgroup, kind, pins).await {
            Ok(_) => Ok(()),
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn pass_to(
        &mut self,
        hostgroup: HostgroupId,
        kind: AnswerKind,
        pins: Pins,
    ) -> Result<AnswerEnd, Trouble> {
        let mut held = self.lease(hostgroup).await?;
        held.pins = held.pins.with(pins);
        let is_refresh = self.client.framed.payload().first() == Some(&(Command::Refresh as u8));
        // It may make other grants count.
        let mut flight = if is_refresh { self.start_unseen_flight(&held, true) } else { Flight::default() };
        let outcome = async {
            let (mut way, client) = self.way_and_client(&mut held);
            way.send_packet_of(client).await?;
            way.hearing(&mut flight).pass_answer(client, kind, None, |_| ()).await
        }
        .await;
        land(&self.ground, &mut self.transaction, &self.hands, flight);
        if let Ok(end) = &outcome
            && !matches!(end.ending, Ending::Err(_))
        {
            // COM_REFRESH commits.
            held.in_transaction = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
            held.is_surely_in_transaction = false;
        }
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    /// COM_SET_OPTION: whether several statements may come in one packet.
    async fn set_option(&mut self) -> Result<(), SessionEnd> {
        let on = match self.client.framed.payload().get(1..) {
            Some([0, 0]) => true,
            Some([1, 0]) => false,
            _ => return self.refuse(ErrorCode::UNKNOWN_COM_ERROR, "Unknown command").await,
        };
        let (before, flag) = (self.client.shape, CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        self.client.shape.set(flag, on);
        // Connections are chosen by it; those that are held must be told.
        let mut outcome = Ok(());
        let option = if on { [0, 0] } else { [1, 0] };
        let held = std::mem::take(&mut self.hands.held);
        for mut held in held {
            if outcome.is_ok() && held.connection.shape.contains(flag) != on {
                outcome = self.order(&mut held, Command::SetOption, &option, AnswerKind::Single).await;
                if outcome.is_ok() {
                    held.connection.shape.set(flag, on);
                }
            }
            self.put_away(held, outcome.as_ref().err());
        }
        if let Err(trouble) = outcome {
            self.client.shape = before;
            return self.reply_trouble(trouble).await;
        }
        self.renumber_environment();
        self.client.send(&self.ground, &reply::eof(self.client.capabilities, self.status())).await
    }

    /// COM_RESET_CONNECTION: as after the login, but for the schema.
    async fn reset_connection(&mut self) -> Result<(), SessionEnd> {
        // MySQL goes back to the server's own character set, MariaDB to that of the login.
        let charset = match (self.context.lexing.server, self.ground.shared.greetings.default_collation()) {
            (ServerFlavor::MySql(_), Some(collation)) => Charset::Collation(collation),
            _ => self.account.login_charset.clone(),
        };
        if let Err(trouble) = self.learn_what_outlasts_resets().await {
            return self.reply_trouble(trouble).await;
        }
        await_defaults(&self.ground).await;
        self.begin_anew(charset);
        self.client
            .send(&self.ground, &reply::ok(self.status() | StatusFlags::SERVER_STATUS_AUTOCOMMIT))
            .await
    }

    /// Forgets everything of the session but who it is, its schema and its role.
    pub(crate) fn begin_anew(&mut self, charset: Charset) {
        self.let_go();
        let (schema, role) = (std::mem::take(&mut self.context.state.schema), self.context.state.role.take());
        self.context.state = SessionState { role, ..SessionState::new(schema, charset) };
        (self.diagnostics.list, self.diagnostics.on) = (None, None);
        self.diagnostics.results_charset = None;
        // Servers keep the other count.
        self.results.row_count = 0;
        self.hands.last_ran_on = None;
        self.results.insert_id = InsertId::default();
        self.ground.handle.set_wait_timeout(None);
        self.cache.own_type = None;
        self.transaction.has_written = false;
        // Whatever was open has been undone.
        self.transaction.touched.clear();
        self.transaction.beginning = Beginning::default();
        self.context.is_told_of_changes = false;
        self.cache.next_flag_in = 0;
        self.begin_in(self.ground.shared.hostgroups.defaults.era());
        self.renumber_environment();
    }

    /// Shows the command at hand in the process list.
    pub(crate) fn show(&self, now_ms: u64, command: &'static str, hostgroup: u32) {
        const INFO_BYTES_MAX: usize = 1024;
        let text = self.client.framed.payload().get(1..).unwrap_or_default();
        let text = text.get(..INFO_BYTES_MAX).unwrap_or(text);
        self.ground.handle.busy.store(1, std::sync::atomic::Ordering::Release);
        let mut view = self.ground.handle.view.lock();
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
    pub(crate) fn show_idle(&self) {
        // What is only held in doubt keeps nobody from stopping.
        let is_sticky = |held: &Held| held.pins.without(Pins::UNSEEN_CODE).is_sticky();
        let busy = self.hands.held.iter().any(|held| held.in_transaction || is_sticky(held));
        self.ground.handle.busy.store(u8::from(busy), std::sync::atomic::Ordering::Release);
        let mut view = self.ground.handle.view.lock();
        view.command = "Sleep";
        view.has_info = false;
        if view.info.capacity() > INFO_BYTES_KEPT {
            view.info = Vec::new();
        }
        show_pins(&self.hands, &mut view);
        if view.schema != self.context.state.schema {
            view.schema.clone_from(&self.context.state.schema);
        }
    }
}
