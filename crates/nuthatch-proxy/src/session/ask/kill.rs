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

use crate::backend::{Abandoned, Connection};
use crate::roster::{EndReason, Running, SessionEnd, SessionHandle};
use crate::session::Session;
use crate::session::ask::lease::destination;
use crate::session::parts::{Ground, Held};
use crate::session::statement::{Named, Plan};
use crate::session::way::{Trouble, reply};
use crate::shared::doors::SESSION_IDS_BEGIN;

/// Whom a KILL means.
#[derive(Debug, Clone, Copy)]
struct Target {
    id: u64,
    only_query: bool,
    /// Whose servers may know the number.
    hostgroup: HostgroupId,
}

impl Session {
    /// The KILL statement at hand, or the one that it executes by name.
    pub(crate) async fn kill_as_told(&mut self, plan: &Plan) -> Result<(), SessionEnd> {
        let text = self.executed_text(plan);
        let bound = match &plan.named {
            Some(Named::Execute { .. }) => match self.bound_by_text(plan.hostgroup).await {
                Ok(bound) => bound,
                Err(trouble) => return self.reply_trouble(trouble).await,
            },
            _ => None,
        };
        self.kill_of(&text, bound, plan.hostgroup).await
    }

    /// The KILL that the text says, of the connection that is `bound` where the text leaves it open.
    pub(crate) async fn kill_of(
        &mut self,
        text: &[u8],
        bound: Option<u64>,
        hostgroup: HostgroupId,
    ) -> Result<(), SessionEnd> {
        let Some(Kill { whom, only_query }) = kill(text, self.context.lexing) else {
            let message = "only KILL [CONNECTION | QUERY] with a number is supported by the proxy";
            return self.refuse(ErrorCode::NOT_SUPPORTED_YET, message).await;
        };
        let id = match whom {
            Whom::Numbered(id) => Some(id),
            Whom::Bound => bound,
            Whom::Variable(variable) => {
                let variable = String::from_utf8_lossy(variable).into_owned();
                match self.number_in(&variable, hostgroup).await {
                    Ok(id) => id,
                    Err(trouble) => return self.reply_trouble(trouble).await,
                }
            }
            Whom::Own => Some(self.ground.handle.id.into()),
        };
        // What is no number is 0 for a server.
        self.kill(Target { id: id.unwrap_or_default(), only_query, hostgroup }).await
    }

    /// COM_PROCESS_KILL.
    pub(crate) async fn process_kill(&mut self) -> Result<(), SessionEnd> {
        match self.client.framed.payload().get(1..5).and_then(|id| id.try_into().ok()) {
            Some(id) => {
                let id = u64::from(u32::from_le_bytes(id));
                let hostgroup = destination(&self.account, &self.hands, self.account.user.default_hostgroup);
                self.kill(Target { id, only_query: false, hostgroup }).await
            }
            None => self.refuse(ErrorCode::MALFORMED_PACKET, "Malformed communication packet").await,
        }
    }

    /// The value of the user variable that an EXECUTE at hand ends with, if it is a number.
    async fn bound_by_text(&mut self, hostgroup: HostgroupId) -> Result<Option<u64>, Trouble> {
        let text = String::from_utf8_lossy(self.client.statement_text()).into_owned();
        let Some((_, value)) = text.trim_end_matches([';', ' ']).rsplit_once(char::is_whitespace) else {
            return Ok(None);
        };
        if !value.starts_with('@') {
            return Ok(value.parse().ok());
        }
        self.number_in(value, hostgroup).await
    }

    /// The number in one of the session's user variables.
    async fn number_in(&mut self, variable: &str, hostgroup: HostgroupId) -> Result<Option<u64>, Trouble> {
        let mut held = self.lease(hostgroup).await?;
        let told = self.ask(&mut held, &format!("SELECT {variable}")).await;
        match &told {
            Ok(_) => self.settle(held),
            Err(trouble) => self.put_away(held, Some(trouble)),
        }
        told
    }

    async fn kill(&mut self, target: Target) -> Result<(), SessionEnd> {
        let Target { id, only_query, hostgroup } = target;
        let number = u32::try_from(id).ok();
        let found = number.and_then(|id| {
            self.ground.shared.roster.session(id).or_else(|| working_session(&self.ground, id, hostgroup))
        });
        let Some(target) = found else {
            return self.kill_by_server(target).await;
        };
        let is_own = target.view.lock().user.as_ref().is_some_and(|user| **user == *self.account.name);
        if !is_own {
            return self.refuse(ErrorCode::KILL_DENIED, &format!("You are not owner of thread {id}")).await;
        }
        if target.id == self.ground.handle.id {
            return self.kill_oneself(only_query).await;
        }
        let running = target.running_for_kill();
        if !only_query {
            target.end(EndReason::KilledByClient);
        }
        if let Some(running) = running
            && let Err(trouble) = self.kill_on_server(&running).await
        {
            return self.reply_trouble(trouble).await;
        }
        self.client.send(&self.ground, &reply::ok(self.status())).await
    }

    /// What it ends is the KILL itself.
    async fn kill_oneself(&mut self, only_query: bool) -> Result<(), SessionEnd> {
        let is_mariadb = matches!(self.context.lexing.server, ServerFlavor::MariaDb(_));
        match !only_query && is_mariadb {
            true => self.refuse(ErrorCode::CONNECTION_KILLED, "Connection was killed").await?,
            false => self.refuse(ErrorCode::QUERY_INTERRUPTED, "Query execution was interrupted").await?,
        }
        if only_query { Ok(()) } else { Err(SessionEnd::Told(EndReason::KilledByClient)) }
    }

    /// Has the server end a connection that is no session's, if it lets the user.
    async fn kill_by_server(
        &mut self,
        Target { id, only_query, hostgroup }: Target,
    ) -> Result<(), SessionEnd> {
        if id >= u64::from(SESSION_IDS_BEGIN) || id == 0 {
            return self.refuse(ErrorCode::NO_SUCH_THREAD, &format!("Unknown thread id: {id}")).await;
        }
        let what = if only_query { "QUERY" } else { "CONNECTION" };
        let outcome = self.order_in(hostgroup, &format!("KILL {what} {id}")).await;
        match outcome {
            Ok(()) => self.client.send(&self.ground, &reply::ok(self.status())).await,
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn order_in(&mut self, hostgroup: HostgroupId, text: &str) -> Result<(), Trouble> {
        let mut held = self.lease(hostgroup).await?;
        self.hands.last_ran_on = None;
        let outcome = self.order(&mut held, Command::Query, text.as_bytes(), AnswerKind::ResultSets).await;
        match &outcome {
            Ok(()) => self.settle(held),
            Err(trouble) => self.put_away(held, Some(trouble)),
        }
        outcome
    }

    /// Has the server end the statement. The thread may have ended it meanwhile; that is no error.
    async fn kill_on_server(&mut self, running: &Running) -> Result<(), Trouble> {
        let (shared, wanted) = (&self.ground.shared, self.wanted());
        let checking_out =
            Box::pin(shared.hostgroups.check_out_of(&running.server, &wanted, &self.ground.snapshot.mysql));
        let connection = self.ground.handle.unless_ended(checking_out).await??;
        let mut held = Held::lent(&self.ground, running.server.hostgroup, connection);
        let text = format!("KILL QUERY {}", running.thread_id);
        let outcome = self.order(&mut held, Command::Query, text.as_bytes(), AnswerKind::ResultSets).await;
        self.put_away(held, outcome.as_ref().err());
        if outcome.is_ok() {
            self.ground.worker.counters.killed_queries.bump();
        }
        match outcome {
            Err(Trouble::Refused(refusal)) if refusal.code == ErrorCode::NO_SUCH_THREAD.code => Ok(()),
            outcome => outcome,
        }
    }

    /// Closes a connection on which a statement of the session may still run, and has the server end that first.
    pub(crate) fn abandon(&self, connection: Box<Connection>) {
        let is_wanted = self.ground.snapshot.mysql.kill_backend_connection_when_disconnect;
        if !is_wanted || connection.control.has_kill() {
            return;
        }
        let (shared, worker, snapshot) = (
            Arc::clone(&self.ground.shared),
            Arc::clone(&self.ground.worker),
            Arc::clone(&self.ground.snapshot),
        );
        let abandoned = Abandoned { connection, password: self.account.password.clone() };
        let _detached = self.ground.worker.spawn(async move {
            shared.hostgroups.end_abandoned(abandoned, &worker, &snapshot.mysql, &shared.clock).await;
        });
    }

    /// Answers the command with an error of the proxy's own.
    pub(crate) async fn refuse(&mut self, code: ErrorCode, message: &str) -> Result<(), SessionEnd> {
        let error = self.own_error(code, message);
        self.client.send(&self.ground, &error).await
    }
}

/// The session for which the connection of that number works on a server of the hostgroup.
fn working_session(ground: &Ground, thread_id: u32, hostgroup: HostgroupId) -> Option<Arc<SessionHandle>> {
    let servers = ground.shared.hostgroups.servers();
    let mut servers = servers.iter().filter(|server| server.hostgroup == hostgroup);
    servers.find_map(|server| ground.shared.roster.session_of(server, thread_id))
}
