//! KILL: the numbers of sessions are the proxy's, so the proxy finds the session, and the server's thread behind it.
//!
//! What tables of a server list has the server's numbers. One of a connection that works for a session, or is held by it, means that session; any
//! other the server is told to kill, which knows whether the user may. The numbers of sessions begin where those of servers do not come to.
//!
//! A connection whose thread a KILL is on its way to is never given to another session: the KILL could come late and hit what
//! that one runs.

use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_sql::{Kill, ServerFlavor, Whom, kill};
use nuthatch_wire::{AnswerKind, Command, ErrorCode};

use crate::roster::{EndReason, Running, SessionEnd, SessionHandle};
use crate::session::lease::check_out::{destination, lease, wanted};
use crate::session::lease::put_away::{let_go_after, put_away};
use crate::session::lease::question::{ask, order};
use crate::session::life::replies::{refuse, reply_trouble};
use crate::session::parts::{Ground, Held};
use crate::session::statement::{Named, Plan};
use crate::session::way::{Trouble, reply};
use crate::session::whole::Session;
use crate::shared::doors::SESSION_IDS_BEGIN;

/// Whom a KILL means.
#[derive(Debug, Clone, Copy)]
struct Target {
    id: u64,
    only_query: bool,
    /// Whose servers may know the number.
    hostgroup: HostgroupId,
}

/// The KILL statement at hand, or the one that it executes by name.
pub(crate) async fn kill_as_told(session: &mut Session, plan: &Plan) -> Result<(), SessionEnd> {
    let text: Arc<[u8]> = session.statements.executed_text(&session.client, plan).into();
    let bound = match plan.named.as_deref() {
        Some(Named::Execute { .. }) => match bound_by_text(session, plan.hostgroup).await {
            Ok(bound) => bound,
            Err(trouble) => {
                return reply_trouble(session, trouble).await;
            }
        },
        _ => None,
    };
    kill_of(session, &text, bound, plan.hostgroup).await
}

/// The KILL that the text says, of the connection that is `bound` where the text leaves it open.
pub(crate) async fn kill_of(
    session: &mut Session,
    text: &[u8],
    bound: Option<u64>,
    hostgroup: HostgroupId,
) -> Result<(), SessionEnd> {
    let Some(Kill { whom, only_query }) = kill(text, session.context.lexing) else {
        let message = "only KILL [CONNECTION | QUERY] with a number is supported by the proxy";
        return refuse(session, ErrorCode::NOT_SUPPORTED_YET, message).await;
    };
    let id = match whom {
        Whom::Numbered(id) => Some(id),
        Whom::Bound => bound,
        Whom::Variable(variable) => {
            let variable = String::from_utf8_lossy(variable).into_owned();
            match number_in(session, &variable, hostgroup).await {
                Ok(id) => id,
                Err(trouble) => {
                    return reply_trouble(session, trouble).await;
                }
            }
        }
        Whom::Own => Some(session.ground.handle.id.into()),
    };
    // What is no number is 0 for a server.
    kill_session(session, Target { id: id.unwrap_or_default(), only_query, hostgroup }).await
}

/// COM_PROCESS_KILL.
pub(crate) async fn process_kill(session: &mut Session) -> Result<(), SessionEnd> {
    match session.client.payload().get(1..5).and_then(|id| id.try_into().ok()) {
        Some(id) => {
            let id = u64::from(u32::from_le_bytes(id));
            let hostgroup = destination(
                &session.account,
                &session.dealings.hands,
                session.account.user().default_hostgroup,
            );
            kill_session(session, Target { id, only_query: false, hostgroup }).await
        }
        None => refuse(session, ErrorCode::MALFORMED_PACKET, "Malformed communication packet").await,
    }
}

/// The value of the user variable that an EXECUTE at hand ends with, if it is a number.
async fn bound_by_text(session: &mut Session, hostgroup: HostgroupId) -> Result<Option<u64>, Trouble> {
    let text = String::from_utf8_lossy(session.client.statement_text()).into_owned();
    let Some((_, value)) = text.trim_end_matches([';', ' ']).rsplit_once(char::is_whitespace) else {
        return Ok(None);
    };
    if !value.starts_with('@') {
        return Ok(value.parse().ok());
    }
    number_in(session, value, hostgroup).await
}

/// The number in one of the session's user variables.
async fn number_in(
    session: &mut Session,
    variable: &str,
    hostgroup: HostgroupId,
) -> Result<Option<u64>, Trouble> {
    let Session { ground, account, context, dealings, .. } = session;
    let mut held = lease(ground, account, context, dealings, hostgroup).await?;
    let told = ask(ground, context, dealings, &mut held, &format!("SELECT {variable}")).await;
    let_go_after(ground, account, context, dealings, held, told.as_ref().err());
    told
}

async fn kill_session(session: &mut Session, target: Target) -> Result<(), SessionEnd> {
    let Target { id, only_query, hostgroup } = target;
    let number = u32::try_from(id).ok();
    let found = number.and_then(|id| {
        session.ground.shared.roster.session(id).or_else(|| working_session(&session.ground, id, hostgroup))
    });
    let Some(target) = found else {
        return kill_by_server(session, target).await;
    };
    let is_own = target.view.lock().user.as_ref().is_some_and(|user| *user == **session.account.name());
    if !is_own {
        return refuse(session, ErrorCode::KILL_DENIED, &format!("You are not owner of thread {id}")).await;
    }
    if target.id == session.ground.handle.id {
        return kill_oneself(session, only_query).await;
    }
    let running = target.running_for_kill();
    if !only_query {
        target.end(EndReason::KilledByClient);
    }
    if let Some(running) = running
        && let Err(trouble) = kill_on_server(session, &running).await
    {
        return reply_trouble(session, trouble).await;
    }
    session.client.send(&session.ground, &reply::ok(session.dealings.status(&session.context))).await
}

/// What it ends is the KILL itself.
async fn kill_oneself(session: &mut Session, only_query: bool) -> Result<(), SessionEnd> {
    let is_mariadb = matches!(session.context.lexing.server, ServerFlavor::MariaDb(_));
    match !only_query && is_mariadb {
        true => refuse(session, ErrorCode::CONNECTION_KILLED, "Connection was killed").await?,
        false => refuse(session, ErrorCode::QUERY_INTERRUPTED, "Query execution was interrupted").await?,
    }
    if only_query { Ok(()) } else { Err(SessionEnd::Told(EndReason::KilledByClient)) }
}

/// Has the server end a connection that is no session's, if it lets the user.
async fn kill_by_server(session: &mut Session, target: Target) -> Result<(), SessionEnd> {
    let Target { id, only_query, hostgroup } = target;
    if id >= u64::from(SESSION_IDS_BEGIN) || id == 0 {
        return refuse(session, ErrorCode::NO_SUCH_THREAD, &format!("Unknown thread id: {id}")).await;
    }
    let what = if only_query { "QUERY" } else { "CONNECTION" };
    let outcome = order_in(session, hostgroup, &format!("KILL {what} {id}")).await;
    match outcome {
        Ok(()) => {
            session.client.send(&session.ground, &reply::ok(session.dealings.status(&session.context))).await
        }
        Err(trouble) => reply_trouble(session, trouble).await,
    }
}

async fn order_in(session: &mut Session, hostgroup: HostgroupId, text: &str) -> Result<(), Trouble> {
    let Session { ground, account, context, dealings, .. } = session;
    let mut held = lease(ground, account, context, dealings, hostgroup).await?;
    dealings.hands.forget_what_ran_last();
    let outcome = order(ground, &mut held, Command::Query, text.as_bytes(), AnswerKind::ResultSets).await;
    let_go_after(ground, account, context, dealings, held, outcome.as_ref().err());
    outcome
}

/// Has the server end the statement. The thread may have ended it meanwhile; that is no error.
async fn kill_on_server(session: &mut Session, running: &Running) -> Result<(), Trouble> {
    let (shared, wanted) = (
        &session.ground.shared,
        wanted(&session.ground, &session.account, &session.context, &session.dealings.hands),
    );
    let checking_out =
        Box::pin(shared.hostgroups.check_out_of(&running.server, &wanted, &session.ground.snapshot.mysql));
    let connection = session.ground.handle.unless_ended(checking_out).await??;
    let mut held = Held::lent(&session.ground, running.server.hostgroup, connection);
    let text = format!("KILL QUERY {}", running.thread_id);
    let outcome =
        order(&session.ground, &mut held, Command::Query, text.as_bytes(), AnswerKind::ResultSets).await;
    let Session { ground, account, context, dealings, .. } = session;
    put_away(ground, account, context, dealings, held, outcome.as_ref().err());
    if outcome.is_ok() {
        session.ground.worker.counters.killed_queries.bump();
    }
    match outcome {
        Err(Trouble::Refused(refusal)) if refusal.code == ErrorCode::NO_SUCH_THREAD.code => Ok(()),
        outcome => outcome,
    }
}

/// The session for which the connection of that number works on a server of the hostgroup.
fn working_session(ground: &Ground, thread_id: u32, hostgroup: HostgroupId) -> Option<Arc<SessionHandle>> {
    let servers = ground.shared.hostgroups.servers();
    let mut servers = servers.iter().filter(|server| server.hostgroup == hostgroup);
    servers.find_map(|server| ground.shared.roster.session_of(server, thread_id))
}
