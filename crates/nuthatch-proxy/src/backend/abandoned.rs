//! Connections on which a statement runs that nobody waits for any more: its client is gone, or its session was ended.
//!
//! A server does not notice by itself that its client has hung up before it has something to say. So its thread is killed, over
//! another connection of the same user; that rolls back what is open as well. Such a connection is never lent again, and its
//! slot is free only when the server has closed it.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::MysqlVariables;
use nuthatch_net::{BackendPassword, NetError};
use nuthatch_wire::{AnswerKind, CapabilityFlags, Command};
use tokio::time::timeout;

use crate::backend::{CheckOutError, Connection, Hostgroups, Server, Wanted};
use crate::clock::Clock;
use crate::state::{Charset, SessionState};
use crate::worker::Worker;

/// A connection whose statement is to be ended, and how to log in for that.
#[derive(Debug)]
pub(crate) struct Abandoned {
    pub(crate) connection: Box<Connection>,
    pub(crate) password: Option<Arc<BackendPassword>>,
}

impl Hostgroups {
    /// Ends the statement on the server, and then the connection.
    pub(crate) async fn end_abandoned(
        &self,
        abandoned: Abandoned,
        worker: &Worker,
        variables: &MysqlVariables,
        clock: &Clock,
    ) {
        let Abandoned { connection, password } = abandoned;
        let (server, thread_id) = (Arc::clone(connection.server()), connection.thread_id);
        let (user, shape) = (Arc::clone(&connection.user), connection.shape);
        let mut left = Some(connection);
        let killed =
            kill(&server, thread_id, &user, password.as_deref(), shape, worker, variables, &mut left).await;
        match killed {
            Ok(killer) => {
                worker.counters.killed_connections.bump();
                self.check_in(killer, clock.now_ms());
            }
            Err(error) => {
                tracing::warn!(server = %server.address, thread_id, error,
                    "could not end what a client left running");
            }
        }
        if let Some(connection) = left {
            let patience = Duration::from_millis(variables.connect_timeout_server);
            drop(timeout(patience, until_closed(connection)).await);
        }
    }
}

/// Has the server end that thread; returns the connection that was used for it. `left` is closed before if its slot is needed.
#[expect(clippy::too_many_arguments, reason = "all that a login takes")]
async fn kill(
    server: &Arc<Server>,
    thread_id: u32,
    user: &Arc<str>,
    password: Option<&BackendPassword>,
    shape: CapabilityFlags,
    worker: &Worker,
    variables: &MysqlVariables,
    left: &mut Option<Box<Connection>>,
) -> Result<Box<Connection>, String> {
    let state = SessionState::new(Vec::new(), Charset::Collation(45));
    let wanted = Wanted::by(user, password, shape, &state, worker);
    let mut killer = match server.check_out_for_kill(&wanted, variables).await {
        Err(CheckOutError::Timeout { .. }) if left.is_some() => {
            // Full of what cannot be waited for. The server's own count is one too high until the thread has ended.
            let _ahead = server.urge();
            *left = None;
            server.check_out_for_kill(&wanted, variables).await
        }
        checked_out => checked_out,
    }
    .map_err(|error| error.to_string())?;
    let patience = Duration::from_millis(variables.connect_timeout_server);
    let text = format!("KILL {thread_id}");
    let order = killer.order(Command::Query, text.as_bytes(), AnswerKind::ResultSets);
    match timeout(patience, order).await {
        // It may have ended meanwhile; that is no error.
        Ok(Ok(_answer)) => Ok(killer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_elapsed) => Err("the server does not answer".to_owned()),
    }
}

/// Reads what comes until the server hangs up.
async fn until_closed(mut connection: Box<Connection>) -> NetError {
    loop {
        let unread = connection.framed.unread().len();
        connection.framed.consume(unread);
        if let Err(error) = connection.framed.fill().await {
            return error;
        }
    }
}
