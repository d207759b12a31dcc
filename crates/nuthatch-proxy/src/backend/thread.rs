//! The thread that a server keeps for a connection, seen from another connection.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::MysqlVariables;
use nuthatch_net::{BackendPassword, NetError};
use nuthatch_wire::{AnswerKind, CapabilityFlags, Command, ErrorCode};
use tokio::time::timeout;

use crate::backend::{Connection, Hostgroups, Server, Wanted};
use crate::clock::Clock;
use crate::state::{Charset, SessionState};
use crate::worker::Worker;

/// A thread, and who may end it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thread<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) id: u32,
    pub(crate) user: &'a Arc<str>,
    pub(crate) password: Option<&'a BackendPassword>,
}

/// What a server says to a KILL of a thread that is another user's: the number was given anew.
const KILL_DENIED: u16 = 1095;

/// Whether a thread may be killed to learn what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// Kill it.
    Kill,
    /// Only look whether it is still there.
    Look,
}

impl Thread<'_> {
    /// Says whether the thread is gone: then its transaction is over, one way or the other.
    ///
    /// # Errors
    /// When the server cannot be asked, in words for the log.
    pub(crate) async fn is_gone(
        &self,
        means: Means,
        shape: CapabilityFlags,
        worker: &Worker,
        variables: &MysqlVariables,
        hostgroups: &Hostgroups,
        clock: Clock,
    ) -> Result<bool, String> {
        let mut connection = self.connect(shape, worker, variables).await?;
        if self.is_of_another_life() {
            hostgroups.check_in(connection, clock.now_ms());
            return Ok(true);
        }
        let is_gone = in_time(variables, self.ask(means, &mut connection)).await?;
        hostgroups.check_in(connection, clock.now_ms());
        Ok(is_gone)
    }

    /// Has the server end the statement that the thread is at. When this returns the server has heard it.
    ///
    /// # Errors
    /// When the server cannot be told, in words for the log.
    pub(crate) async fn kill_query(
        &self,
        shape: CapabilityFlags,
        worker: &Worker,
        variables: &MysqlVariables,
        hostgroups: &Hostgroups,
        clock: Clock,
    ) -> Result<(), String> {
        let mut connection = self.connect(shape, worker, variables).await?;
        if self.is_of_another_life() {
            hostgroups.check_in(connection, clock.now_ms());
            return Err("the server has begun anew: the thread is gone".to_owned());
        }
        let kill = format!("KILL QUERY {}", self.id);
        let order = connection.order(Command::Query, kill.as_bytes(), AnswerKind::ResultSets);
        let answer = in_time(variables, order).await?;
        hostgroups.check_in(connection, clock.now_ms());
        match answer {
            Err(refusal) if refusal.code != ErrorCode::NO_SUCH_THREAD.code => {
                Err(String::from_utf8_lossy(&refusal.message).into_owned())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Whether the server is known to have begun anew since: then the number may be somebody else's.
    fn is_of_another_life(&self) -> bool {
        self.server.restarts.greatest(&self.server.host, self.server.port) < self.id
    }

    async fn connect(
        &self,
        shape: CapabilityFlags,
        worker: &Worker,
        variables: &MysqlVariables,
    ) -> Result<Box<Connection>, String> {
        let state = SessionState::new(Vec::new(), Charset::Collation(45));
        let wanted = Wanted::by(self.user, self.password, shape, &state, worker);
        self.server.check_out_for_kill(&wanted, variables).await.map_err(|error| error.to_string())
    }

    async fn ask(&self, means: Means, connection: &mut Connection) -> Result<bool, NetError> {
        if means == Means::Kill {
            let kill = format!("KILL {}", self.id);
            let answer = connection.order(Command::Query, kill.as_bytes(), AnswerKind::ResultSets).await?;
            if let Err(refusal) = answer {
                return Ok([ErrorCode::NO_SUCH_THREAD.code, KILL_DENIED].contains(&refusal.code));
            }
        }
        let look = format!("SELECT 1 FROM information_schema.processlist WHERE id = {}", self.id);
        let answer = connection.order(Command::Query, look.as_bytes(), AnswerKind::ResultSets).await?;
        Ok(answer.is_ok_and(|end| end.rows == 0))
    }
}

/// What the server says, if it does in the time for a connect.
async fn in_time<T>(
    variables: &MysqlVariables,
    work: impl Future<Output = Result<T, NetError>>,
) -> Result<T, String> {
    let patience = Duration::from_millis(variables.connect_timeout_server);
    let said = timeout(patience, work).await.map_err(|_elapsed| "the server does not answer".to_owned())?;
    said.map_err(|error| error.to_string())
}
