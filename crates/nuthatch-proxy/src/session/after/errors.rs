//! What can keep a statement from its answer, and what becomes of it: the one place where that is decided.

use nuthatch_net::NetError;
use nuthatch_sql::{Kind, ServerFlavor};
use nuthatch_wire::{Command, ErrPacket, ErrorCode};

use crate::backend::CheckOutError;
use crate::roster::{HIDDEN, SessionEnd, may_hold_password};
use crate::session::after::diagnostics::{collation_of_results, fetch_list};
use crate::session::lease::put_away::put_away;
use crate::session::parts::{
    Account, Client, Context, Dealings, Diagnostics, Ground, Hands, Held, List, Outcome,
};
use crate::session::statement::Facts;
use crate::session::way::{Answered, Late, TIME_IS_OVER, Trouble, UNSUPPORTED_PS, reply};
use crate::stats::Occurrence;

/// Refuses a command on a prepared statement that is not there, or has no cursor. MySQL adds such an error to what the last
/// statement left.
pub(crate) async fn refuse_command(
    ground: &Ground,
    client: &mut Client,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    code: ErrorCode,
    message: &str,
) -> Result<(), SessionEnd> {
    let is_added = matches!(context.lexing.server, ServerFlavor::MySql(_));
    let before = if is_added { take_list(ground, account, context, dealings).await? } else { None };
    let error = own_error(ground, context, dealings, code, message);
    dealings.diagnostics.put_before(before);
    client.send(ground, &error).await
}

/// The same with a server's refusal of what the command asks of it.
pub(crate) async fn refuse_like_server(
    ground: &Ground,
    client: &mut Client,
    context: &Context,
    dealings: &mut Dealings,
    refusal: &ErrPacket,
) -> Result<(), SessionEnd> {
    let is_added = matches!(context.lexing.server, ServerFlavor::MySql(_));
    // On a connection that is held the server has added it itself.
    if !is_added || dealings.diagnostics.thread().is_none() {
        let before = if is_added { dealings.diagnostics.take_list() } else { None };
        note_error(context, dealings, refusal.code, &refusal.message);
        dealings.diagnostics.put_before(before);
    }
    dealings.results.set_row_count(-1);
    client.send(ground, &reply::err_of_server(refusal)).await
}

/// What the last statement left, wherever it is.
async fn take_list(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<Option<Box<List>>, SessionEnd> {
    let Some(thread_id) = dealings.diagnostics.thread() else {
        return Ok(dealings.diagnostics.take_list());
    };
    let has_them = |held: &Held| held.connection.thread_id == thread_id;
    let Some(place) = dealings.hands.held.iter().position(has_them) else { return Ok(None) };
    let mut held = dealings.hands.held.swap_remove(place);
    let outcome = Box::pin(fetch_list(ground, context, &dealings.diagnostics, &mut held)).await;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    match outcome {
        Ok(list) => Ok(list.map(Box::new)),
        Err(Trouble::End(end)) => Err(end),
        Err(_) => Ok(None),
    }
}

/// An error of the proxy's own as the answer to a command.
pub(crate) fn own_error(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    code: ErrorCode,
    message: &str,
) -> Vec<u8> {
    ground.worker.counters.generated_errors.bump();
    note_error(context, dealings, code.code, message.as_bytes());
    reply::err(1, code, message)
}

/// The client is told an error that no statement of its own was given by a server: from now on SHOW WARNINGS shows it.
fn note_error(context: &Context, dealings: &mut Dealings, code: u16, message: &[u8]) {
    dealings.results.set_row_count(-1);
    note(context, &mut dealings.hands, &mut dealings.diagnostics, "Error", code, message);
}

/// Counts an error that a server has answered the statement of that text with, in `stats_mysql_errors`. Its message may quote the text,
/// or what the statement ran.
pub(crate) fn count_error(
    ground: &Ground,
    account: &Account,
    context: &Context,
    number: u16,
    text: &[u8],
    facts: &Facts,
    held: &mut Held,
) {
    let refusal = held.connection.refusal.take();
    let runs_another = || facts.transaction.is_opaque || matches!(facts.kind, Kind::Prepare | Kind::Execute);
    let message = match &refusal {
        Some(_) if may_hold_password(text) || runs_another() => HIDDEN,
        Some(refusal) => &refusal.message,
        None => b"",
    };
    let server = held.connection.server();
    // A known reader says nothing new by that.
    let is_of_writer = ground.snapshot.writer_of(held.hostgroup) == held.hostgroup;
    if is_of_writer && refusal.as_ref().is_some_and(|refusal| tells_of_role(refusal)) {
        ground.shared.hostgroups.alarm.ring(&server.host, server.port);
    }
    let error = Occurrence {
        hostgroup: held.hostgroup.0,
        host: &server.host,
        port: server.port,
        user: account.name(),
        client: &ground.handle.address().host,
        schema: &context.state.schema,
        number,
    };
    ground.shared.hostgroups.errors.note(&error, message, ground.latest_us / 1000);
}

/// Whether that says that the server is not what it was taken for: it takes no writes (`ER_OPTION_PREVENTS_STATEMENT` by read_only,
/// `ER_READ_ONLY_MODE`), or is a node of Galera outside its cluster.
fn tells_of_role(refusal: &ErrPacket) -> bool {
    let says = |words: &[u8]| refusal.message.windows(words.len()).any(|part| part == words);
    match refusal.code {
        1836 => true,
        1290 => says(b"read-only") || says(b"read_only"),
        1047 => says(b"WSREP"),
        _ => false,
    }
}

/// The same of a warning.
pub(crate) fn note_warning(
    context: &Context,
    hands: &mut Hands,
    diagnostics: &mut Diagnostics,
    code: u16,
    message: &[u8],
) {
    note(context, hands, diagnostics, "Warning", code, message);
}

fn note(
    context: &Context,
    hands: &mut Hands,
    diagnostics: &mut Diagnostics,
    level: &str,
    code: u16,
    message: &[u8],
) {
    hands.forget_what_ran_last();
    let (server, collation) = (context.lexing.server, collation_of_results(context, diagnostics));
    diagnostics.have(List::of_one(level, server, collation, code, message));
}

/// As MySQL 9.7 and MariaDB 10.11 answer what they cannot read, and go on.
pub(crate) async fn refuse_malformed(
    ground: &Ground,
    client: &mut Client,
    context: &Context,
    dealings: &mut Dealings,
) -> Result<(), SessionEnd> {
    ground.worker.counters.malformed_packets.bump();
    let message = match context.lexing.server {
        ServerFlavor::MySql(_) => "Malformed communication packet.",
        _ => "Malformed communication packet",
    };
    refuse(ground, client, context, dealings, ErrorCode::MALFORMED_PACKET, message).await
}

/// Answers the command with an error of the proxy's own.
pub(crate) async fn refuse(
    ground: &Ground,
    client: &mut Client,
    context: &Context,
    dealings: &mut Dealings,
    code: ErrorCode,
    message: &str,
) -> Result<(), SessionEnd> {
    let error = own_error(ground, context, dealings, code, message);
    client.send(ground, &error).await
}

/// Tells the client what kept its statement from an answer, and ends the session where it must end.
pub(crate) async fn reply_trouble(
    ground: &Ground,
    client: &mut Client,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    trouble: Trouble,
) -> Result<(), SessionEnd> {
    let outcome = dealings.hands.take_outcome();
    if outcome == Outcome::CommitUnknown {
        ground.worker.counters.unknown_commits.bump();
    }
    let (sequence, code, message) = match trouble {
        Trouble::End(end) => return Err(end),
        Trouble::Refused(error) | Trouble::CheckOut(CheckOutError::Refused(error)) => {
            note_error(context, dealings, error.code, &error.message);
            client.send(ground, &reply::err_of_server(&error)).await?;
            return go_on_unless_lost(&mut dealings.hands);
        }
        Trouble::CheckOut(error) => told_of_check_out(ground, account, error),
        Trouble::Lost(_, Answered::Some(None)) | Trouble::Cut(Answered::Some(None)) => {
            return Err(SessionEnd::Gone);
        }
        Trouble::Lost(error, answered) => {
            ground.worker.counters.lost_during_query.bump();
            tracing::info!(session = ground.handle.id, user = %account.name(), %error, ?outcome,
                    "lost a server's connection during a statement");
            let (code, message) = told_of_lost(error, outcome);
            (answered.next_sequence(), code, message)
        }
        Trouble::Late(late) => {
            return tell_that_time_is_over(ground, client, context, dealings, *late, outcome).await;
        }
        Trouble::Cut(answered) => {
            ground.worker.counters.lost_during_query.bump();
            let message = format!("Server was taken offline during the statement{}", outcome.words());
            (answered.next_sequence(), ErrorCode::SERVER_OFFLINE, message)
        }
        Trouble::RefusedAhead(refusal) => {
            tracing::warn!(session = ground.handle.id, user = %account.name(), code = refusal.code,
                    "a server refused what it had accepted before, and the statement behind it has run: \
                     its answer is withheld");
            (1, ErrorCode::SERVER_LOST, lost_connection(outcome))
        }
        Trouble::Unfit => (1, ErrorCode::SERVER_LOST, lost_connection(outcome)),
        Trouble::Inheritance(variable) => return end_for_inheritance(ground, client, &variable).await,
        Trouble::Elsewhere(what) => (1, ErrorCode::NOT_SUPPORTED_YET, what.to_string()),
        Trouble::NoBulk => (1, ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS.to_owned()),
        Trouble::UnknownStatement(id) => {
            let function = function_at_hand(client, context);
            let message = format!("Unknown prepared statement handler ({id}) given to {function}");
            (1, ErrorCode::UNKNOWN_STMT_HANDLER, message)
        }
    };
    ground.worker.counters.generated_errors.bump();
    note_error(context, dealings, code.code, message.as_bytes());
    client.send(ground, &reply::err(sequence, code, &message)).await?;
    go_on_unless_lost(&mut dealings.hands)
}

/// A connection was lost: where its server said why, in its words.
fn told_of_lost(error: NetError, outcome: Outcome) -> (ErrorCode, String) {
    match error {
        NetError::Goodbye(refusal) => {
            let code = ErrorCode { code: refusal.code, sql_state: refusal.sql_state };
            (code, format!("{}{}", String::from_utf8_lossy(&refusal.message), outcome.words()))
        }
        _ => (ErrorCode::SERVER_LOST, lost_connection(outcome)),
    }
}

/// What is said where a connection was lost, as clients say it themselves, and what became of the statement.
fn lost_connection(outcome: Outcome) -> String {
    format!("Lost connection to MySQL server during query{}", outcome.words())
}

/// The statement's time was over, and its connection is gone. That it was interrupted is said only where that is known.
async fn tell_that_time_is_over(
    ground: &Ground,
    client: &mut Client,
    context: &Context,
    dealings: &mut Dealings,
    late: Late,
    outcome: Outcome,
) -> Result<(), SessionEnd> {
    let Late { unsent: mut bytes, next_sequence: Some(sequence), .. } = late else {
        return Err(SessionEnd::Gone);
    };
    let (code, message) = match outcome {
        _ if outcome.is_unknown() => {
            let words = outcome.words();
            let message = format!(
                "Lost connection to MySQL server during query: query_timeout exceeded, and the server did not end it{words}"
            );
            (ErrorCode::SERVER_LOST, message)
        }
        Outcome::RolledBack => (ErrorCode::QUERY_TIMEOUT, format!("{TIME_IS_OVER}{}", outcome.words())),
        _ => (ErrorCode::QUERY_TIMEOUT, TIME_IS_OVER.to_owned()),
    };
    count_late(ground);
    note_error(context, dealings, code.code, message.as_bytes());
    let error = reply::err(sequence, code, &message);
    if bytes.is_empty() {
        client.send(ground, &error).await?;
    } else {
        bytes.extend(error);
        ground.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
        let writing = client.framed_mut().write(&bytes);
        ground.handle.unless_ended(writing).await.map_err(SessionEnd::InAnswer)??;
    }
    go_on_unless_lost(&mut dealings.hands)
}

/// The client is told that its statement's time was over, whatever the server says of it.
pub(crate) fn note_that_time_is_over(ground: &Ground, context: &Context, dealings: &mut Dealings) {
    count_late(ground);
    note_error(context, dealings, ErrorCode::QUERY_TIMEOUT.code, TIME_IS_OVER.as_bytes());
}

fn count_late(ground: &Ground) {
    ground.worker.counters.generated_errors.bump();
    ground.worker.counters.late_statements.bump();
}

/// The session cannot have what it began with any more.
async fn end_for_inheritance(ground: &Ground, client: &mut Client, variable: &str) -> Result<(), SessionEnd> {
    let message = format!(
        "The server's default of '{variable}' was changed since this session's login, and the session may not set \
             it back: log in again"
    );
    ground.worker.counters.generated_errors.bump();
    client.send(ground, &reply::err(1, ErrorCode::ABORTED_CONNECTION, &message)).await?;
    Err(SessionEnd::Gone)
}

/// Why there is no connection; a server's own refusal is passed on as it is.
fn told_of_check_out(ground: &Ground, account: &Account, error: CheckOutError) -> (u8, ErrorCode, String) {
    match error {
        CheckOutError::Timeout { hostgroup, waited_ms, why } => {
            ground.worker.counters.connect_timeouts.bump();
            let message = format!(
                "Max connect timeout reached while reaching hostgroup {hostgroup} after {waited_ms}ms: {why}"
            );
            (1, ErrorCode::MAX_CONNECT_TIMEOUT, message)
        }
        CheckOutError::LineFull { hostgroup, full, why } => {
            let message = format!("Hostgroup {hostgroup} takes no more statements: {full}; {why}");
            (1, ErrorCode::MAX_CONNECT_TIMEOUT, message)
        }
        CheckOutError::NoServer { hostgroup } => {
            let sender = match hostgroup == account.user().default_hostgroup {
                true => format!("the default_hostgroup of user '{}'", account.name()),
                false => "a query rule".to_owned(),
            };
            let message =
                format!("No server stands in hostgroup {hostgroup}, to which {sender} sends the statement");
            (1, ErrorCode::MAX_CONNECT_TIMEOUT, message)
        }
        CheckOutError::Behind => {
            let message = "No server shows what the session has seen, and none that does could be reached";
            (1, ErrorCode::MAX_CONNECT_TIMEOUT, message.to_owned())
        }
        CheckOutError::Login(why) => {
            (1, ErrorCode::ACCESS_DENIED, format!("Access denied on the way to the server: {why}"))
        }
        CheckOutError::Refused(refusal) => {
            let code = ErrorCode { code: refusal.code, sql_state: refusal.sql_state };
            (1, code, String::from_utf8_lossy(&refusal.message).into_owned())
        }
    }
}

/// As a server would: a client that goes on would write outside the transaction that it believes in.
fn go_on_unless_lost(hands: &mut Hands) -> Result<(), SessionEnd> {
    if hands.takes_lost_state() { Err(SessionEnd::Gone) } else { Ok(()) }
}

/// What a server names in its error for a statement that it does not know.
pub(crate) fn function_at_hand(client: &Client, context: &Context) -> &'static str {
    match client.payload().first().copied().and_then(Command::parse) {
        _ if matches!(context.lexing.server, ServerFlavor::MySql(_)) => "mysql_stmt_precheck",
        Some(Command::StmtFetch) => "mysqld_stmt_fetch",
        Some(Command::StmtReset) => "mysqld_stmt_reset",
        _ => "mysqld_stmt_execute",
    }
}
