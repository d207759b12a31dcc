//! Commands other than statements.

use nuthatch_config::HostgroupId;
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerEnd, AnswerKind, CapabilityFlags, Command, Ending, ErrorCode, StatusFlags};

use crate::exact::Flight;
use crate::roster::SessionEnd;
use crate::session::after::forget::forget_diagnostics;
use crate::session::after::schema::learn_what_outlasts_resets;
use crate::session::before::flight::{land, start_unseen_flight};
use crate::session::before::schema::change_schema;
use crate::session::decide::schema_lock::refused_by_lock;
use crate::session::lease::check_out::{destination, lease};
use crate::session::lease::environment::renumber_environment;
use crate::session::lease::inheritance::await_defaults;
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::{order, way_and_client};
use crate::session::lease::show::show;
use crate::session::life::arrival::begin_anew::begin_anew;
use crate::session::life::arrival::change_user::change_user;
use crate::session::life::arrival::configuration::take_over_configuration;
use crate::session::life::cursor::{stmt_close, stmt_pass};
use crate::session::life::execution::stmt_send_long_data;
use crate::session::life::kill::process_kill;
use crate::session::life::preparation::stmt_prepare;
use crate::session::life::replies::{refuse, refuse_like_server, reply_trouble};
use crate::session::way::{Trouble, reply};
use crate::session::whole::Session;
use crate::state::Charset;
use crate::stats::pins::Pins;

/// Answers the command at hand; `None` is a byte that is no command.
pub(crate) async fn serve_command(
    session: &mut Session,
    command: Option<Command>,
    now_ms: u64,
) -> Result<(), SessionEnd> {
    take_over_configuration(session)?;
    match command {
        Some(Command::Quit) => Err(SessionEnd::Quit),
        Some(Command::Ping) => {
            session.dealings.results.set_row_count(0);
            session.dealings.hands.forget_what_ran_last();
            session.client.send(&session.ground, &reply::ok(session.dealings.status(&session.context))).await
        }
        Some(Command::Statistics) => {
            session.client.send(&session.ground, &reply::text(&session.ground.shared.statistics_line())).await
        }
        Some(Command::InitDb) => init_db(session, now_ms).await,
        Some(Command::ResetConnection) => reset_connection(session).await,
        Some(Command::FieldList) => pass_command(session, now_ms, "Field List", AnswerKind::Fields).await,
        Some(Command::StmtPrepare) => stmt_prepare(session, now_ms).await,
        Some(Command::StmtSendLongData) => {
            let Session { ground, client, statements, .. } = session;
            stmt_send_long_data(ground, client, statements);
            Ok(())
        }
        Some(Command::StmtClose) => stmt_close(session).await,
        Some(Command::StmtReset) => stmt_pass(session, AnswerKind::Single).await,
        Some(Command::StmtFetch) => stmt_pass(session, AnswerKind::Rows).await,
        Some(Command::ChangeUser) => change_user(session).await,
        Some(Command::SetOption) => set_option(session).await,
        Some(Command::ProcessKill) => process_kill(session).await,
        Some(Command::ProcessInfo) => {
            pass_command(session, now_ms, "Processlist", AnswerKind::ResultSets).await
        }
        Some(Command::Refresh) => pass_command(session, now_ms, "Refresh", AnswerKind::Single).await,
        Some(Command::RegisterSlave) => {
            pass_replication(session, now_ms, "Register Slave", AnswerKind::Single).await
        }
        Some(Command::BinlogDump | Command::BinlogDumpGtid) => {
            pass_replication(session, now_ms, "Binlog Dump", AnswerKind::Rows).await
        }
        Some(Command::Debug | Command::Shutdown) => {
            let message = "Access denied; you need (at least one of) the SUPER, SHUTDOWN privilege(s) for this operation";
            refuse(session, ErrorCode::SPECIFIC_ACCESS_DENIED, message).await
        }
        Some(command) => {
            let message = format!("{} is not supported by the proxy", command.name());
            refuse(session, ErrorCode::UNKNOWN_COM_ERROR, &message).await
        }
        None => refuse(session, ErrorCode::UNKNOWN_COM_ERROR, "Unknown command").await,
    }
}

/// COM_INIT_DB: a server says whether the schema is there and may be used.
async fn init_db(session: &mut Session, now_ms: u64) -> Result<(), SessionEnd> {
    session.ground.worker.counters.frontend_init_db.bump();
    let schema = session.client.payload().get(1..).unwrap_or_default().to_vec();
    let Session { ground, account, context, .. } = session;
    if let Some(message) = refused_by_lock(ground, account, context, &schema) {
        return refuse(session, ErrorCode::DB_ACCESS_DENIED, &message).await;
    }
    let hostgroup =
        destination(&session.account, &session.dealings.hands, session.account.user().default_hostgroup);
    show(&session.ground, &session.client, now_ms, "Init DB", hostgroup.0);
    let Session { ground, account, context, dealings, .. } = session;
    match change_schema(ground, account, context, dealings, hostgroup, &schema).await {
        Ok(()) => {
            session.dealings.results.set_row_count(0);
            session.dealings.hands.forget_what_ran_last();
            session.client.send(&session.ground, &reply::ok(session.dealings.status(&session.context))).await
        }
        Err(Trouble::Refused(refusal)) => refuse_like_server(session, &refusal).await,
        Err(trouble) => reply_trouble(session, trouble).await,
    }
}

/// A command that leaves nothing in the session, and that a server answers: COM_FIELD_LIST, COM_PROCESS_INFO, COM_REFRESH.
async fn pass_command(
    session: &mut Session,
    now_ms: u64,
    name: &'static str,
    kind: AnswerKind,
) -> Result<(), SessionEnd> {
    pass_pinned(session, now_ms, name, kind, Pins::NONE).await
}

/// What a replica, or who reads the binlog like one, asks: over one connection of its own, for as long as it lasts.
async fn pass_replication(
    session: &mut Session,
    now_ms: u64,
    name: &'static str,
    kind: AnswerKind,
) -> Result<(), SessionEnd> {
    pass_pinned(session, now_ms, name, kind, Pins::REPLICATION).await
}

async fn pass_pinned(
    session: &mut Session,
    now_ms: u64,
    name: &'static str,
    kind: AnswerKind,
    pins: Pins,
) -> Result<(), SessionEnd> {
    let Session { ground, account, context, dealings, .. } = session;
    forget_diagnostics(ground, account, context, dealings).await?;
    let hostgroup =
        destination(&session.account, &session.dealings.hands, session.account.user().default_hostgroup);
    show(&session.ground, &session.client, now_ms, name, hostgroup.0);
    match pass_to(session, hostgroup, kind, pins).await {
        Ok(_) => Ok(()),
        Err(trouble) => reply_trouble(session, trouble).await,
    }
}

async fn pass_to(
    session: &mut Session,
    hostgroup: HostgroupId,
    kind: AnswerKind,
    pins: Pins,
) -> Result<AnswerEnd, Trouble> {
    let mut held =
        lease(&session.ground, &session.account, &mut session.context, &mut session.dealings, hostgroup)
            .await?;
    held.pin(pins);
    let is_refresh = session.client.payload().first() == Some(&(Command::Refresh as u8));
    // It may make other grants count.
    let mut flight = if is_refresh {
        let Session { ground, account, context, dealings, .. } = session;
        start_unseen_flight(ground, account, context, &dealings.transaction, &held, true)
    } else {
        Flight::default()
    };
    let outcome = async {
        let Session { ground, client, context, dealings, .. } = session;
        let (mut way, client) = way_and_client(ground, client, context, dealings, &mut held);
        way.send_packet_of(client).await?;
        way.hearing(&mut flight).pass_answer(client, kind, None, |_| ()).await
    }
    .await;
    land(&session.ground, &mut session.dealings.transaction, &session.dealings.hands, flight);
    if let Ok(end) = &outcome {
        let row_count = if is_refresh && end.ending == Ending::Ok { 0 } else { -1 };
        session.dealings.results.set_row_count(row_count);
        session.dealings.hands.forget_what_ran_last();
    }
    if let Ok(end) = &outcome
        && !matches!(end.ending, Ending::Err(_))
    {
        // COM_REFRESH commits.
        held.assume_transaction(end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS));
    }
    let Session { ground, account, context, dealings, .. } = session;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    outcome
}

/// COM_SET_OPTION: whether several statements may come in one packet.
async fn set_option(session: &mut Session) -> Result<(), SessionEnd> {
    let on = match session.client.payload().get(1..) {
        Some([0, 0]) => true,
        Some([1, 0]) => false,
        _ => {
            return refuse(session, ErrorCode::UNKNOWN_COM_ERROR, "Unknown command").await;
        }
    };
    let (before, flag) = (session.context.shape, CapabilityFlags::CLIENT_MULTI_STATEMENTS);
    session.context.shape.set(flag, on);
    // Connections are chosen by it; those that are held must be told.
    let mut outcome = Ok(());
    let option = if on { [0, 0] } else { [1, 0] };
    let held = std::mem::take(&mut session.dealings.hands.held);
    for mut held in held {
        if outcome.is_ok() && held.connection.shape.contains(flag) != on {
            outcome =
                order(&session.ground, &mut held, Command::SetOption, &option, AnswerKind::Single).await;
            if outcome.is_ok() {
                held.connection.shape.set(flag, on);
            }
        }
        let Session { ground, account, context, dealings, .. } = session;
        put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    }
    if let Err(trouble) = outcome {
        session.context.shape = before;
        return reply_trouble(session, trouble).await;
    }
    session.dealings.results.set_row_count(-1);
    session.dealings.hands.forget_what_ran_last();
    renumber_environment(&session.ground, &mut session.context);
    session
        .client
        .send(
            &session.ground,
            &reply::eof(session.client.capabilities(), session.dealings.status(&session.context)),
        )
        .await
}

/// COM_RESET_CONNECTION: as after the login, but for the schema.
async fn reset_connection(session: &mut Session) -> Result<(), SessionEnd> {
    // MySQL goes back to the server's own character set, MariaDB to that of the login.
    let charset = match (session.context.lexing.server, session.ground.shared.greetings.default_collation()) {
        (ServerFlavor::MySql(_), Some(collation)) => Charset::Collation(collation),
        _ => session.account.login_charset().clone(),
    };
    let Session { ground, account, context, dealings, .. } = session;
    if let Err(trouble) = learn_what_outlasts_resets(ground, account, context, dealings).await {
        return reply_trouble(session, trouble).await;
    }
    await_defaults(&session.ground).await;
    begin_anew(session, charset);
    session
        .client
        .send(
            &session.ground,
            &reply::ok(session.dealings.status(&session.context) | StatusFlags::SERVER_STATUS_AUTOCOMMIT),
        )
        .await
}
