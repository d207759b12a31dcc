//! KILL: the numbers that clients see are the proxy's, so the proxy finds the session, and the server's thread behind it.
//!
//! A connection whose thread a KILL is on its way to is never given to another session: the KILL could come late and hit what
//! that one runs.

use std::sync::Arc;

use nuthatch_sql::{Kill, kill};
use nuthatch_wire::{AnswerKind, Command, ErrorCode};

use crate::backend::{Abandoned, Connection};

use super::handle::Running;
use super::trouble::Trouble;
use super::{EndReason, Session, SessionEnd, reply};

impl Session {
    /// The KILL statement at hand.
    pub(super) async fn kill_as_told(&mut self) -> Result<(), SessionEnd> {
        match kill(self.statement_text(), self.lexing) {
            Some(kill) => self.kill(kill).await,
            None => {
                let message = "only KILL [CONNECTION | QUERY] with a number is supported by the proxy";
                self.refuse(ErrorCode::NOT_SUPPORTED_YET, message).await
            }
        }
    }

    /// COM_PROCESS_KILL.
    pub(super) async fn process_kill(&mut self) -> Result<(), SessionEnd> {
        match self.client.payload().get(1..5).and_then(|id| id.try_into().ok()) {
            Some(id) => {
                let id = u64::from(u32::from_le_bytes(id));
                self.kill(Kill { id, only_query: false }).await
            }
            None => self.refuse(ErrorCode::MALFORMED_PACKET, "Malformed communication packet").await,
        }
    }

    async fn kill(&mut self, Kill { id, only_query }: Kill) -> Result<(), SessionEnd> {
        let found = u32::try_from(id).ok().and_then(|id| self.proxy.session(id));
        let Some(target) = found else {
            return self.refuse(ErrorCode::NO_SUCH_THREAD, &format!("Unknown thread id: {id}")).await;
        };
        let is_own = target.view.lock().user.as_ref().is_some_and(|user| **user == *self.account.name);
        if !is_own {
            return self.refuse(ErrorCode::KILL_DENIED, &format!("You are not owner of thread {id}")).await;
        }
        let running = if target.id == self.handle.id { None } else { target.running_for_kill() };
        if !only_query {
            target.end(EndReason::KilledByClient);
        }
        if let Some(running) = running
            && let Err(trouble) = self.kill_on_server(&running).await
        {
            return self.reply_trouble(trouble).await;
        }
        self.send(&reply::ok(self.status())).await
    }

    /// Has the server end the statement. The thread may have ended it meanwhile; that is no error.
    async fn kill_on_server(&mut self, running: &Running) -> Result<(), Trouble> {
        let (proxy, wanted) = (&self.proxy, self.wanted());
        let checking_out =
            Box::pin(proxy.hostgroups.check_out_of(&running.server, &wanted, &self.snapshot.mysql));
        let connection = self.handle.unless_ended(checking_out).await??;
        let mut held = self.lend(running.server.hostgroup, connection);
        let text = format!("KILL QUERY {}", running.thread_id);
        let outcome = self.order(&mut held, Command::Query, text.as_bytes(), AnswerKind::ResultSets).await;
        self.put_away(held, outcome.as_ref().err());
        if outcome.is_ok() {
            self.worker.counters.killed_queries.bump();
        }
        match outcome {
            Err(Trouble::Refused(refusal)) if refusal.code == ErrorCode::NO_SUCH_THREAD.code => Ok(()),
            outcome => outcome,
        }
    }

    /// Closes a connection on which a statement of the session may still run, and has the server end that first.
    pub(super) fn abandon(&self, connection: Box<Connection>) {
        let is_wanted = self.snapshot.mysql.kill_backend_connection_when_disconnect;
        if !is_wanted || connection.control.has_kill() {
            return;
        }
        let (proxy, worker, snapshot) =
            (Arc::clone(&self.proxy), Arc::clone(&self.worker), Arc::clone(&self.snapshot));
        let abandoned = Abandoned { connection, password: self.account.password.clone() };
        let _detached = self.worker.spawn(async move {
            proxy.hostgroups.end_abandoned(abandoned, &worker, &snapshot.mysql, &proxy.clock).await;
        });
    }

    /// Answers the command with an error of the proxy's own.
    pub(super) async fn refuse(&mut self, code: ErrorCode, message: &str) -> Result<(), SessionEnd> {
        let error = self.own_error(code, message);
        self.send(&error).await
    }
}
