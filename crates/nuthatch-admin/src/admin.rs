//! The admin interface as the program holds it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nuthatch_config::Layers;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::Answer;
use crate::clerk::{Call, Caller, ClerkHandle, Desk, Reply};
use crate::command::Command;
use crate::credentials::{Credentials, RefusalLog, Rights};
use crate::data_plane::{DataPlane, FailoverOrder, SwitchoverMode, SwitchoverOrder};
use crate::error::AdminError;
use crate::limits::SESSIONS_MAX;
use crate::start_error::StartError;

/// The SQL admin interface: its clerk, its accounts and its sessions. Dropping the last one ends the clerk's thread.
#[derive(Debug)]
pub struct Admin {
    clerk: ClerkHandle,
    plane: Plane,
    credentials: Credentials,
    refusals: RefusalLog,
    schemas: Vec<String>,
    next_connection_id: AtomicU32,
    places: Arc<Semaphore>,
    sessions: TaskTracker,
    stop: CancellationToken,
}

/// What is asked without the clerk, because it takes its time.
struct Plane(Arc<dyn DataPlane>);

impl fmt::Debug for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plane")
    }
}

impl Admin {
    /// Takes over the configuration's layers and starts the thread that works on them. Nobody is served yet: that is
    /// [`serve`](crate::serve)'s. Nothing is published either: what the layers have in force is in force already.
    ///
    /// # Errors
    /// When SQLite refuses the tables of statistics, or there is no thread.
    pub fn start(layers: Layers, plane: Arc<dyn DataPlane>) -> Result<Arc<Self>, StartError> {
        let credentials = Credentials::default();
        let desk = Desk::set_up(layers, Arc::clone(&plane), credentials.clone())?;
        let schemas = desk.schemas()?;
        Ok(Arc::new(Self {
            clerk: ClerkHandle::start(desk)?,
            plane: Plane(plane),
            credentials,
            refusals: RefusalLog::default(),
            schemas,
            next_connection_id: AtomicU32::new(1),
            places: Arc::new(Semaphore::new(SESSIONS_MAX)),
            sessions: TaskTracker::new(),
            stop: CancellationToken::new(),
        }))
    }

    /// Ends all sessions between two statements and makes [`serve`](crate::serve) return.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Puts `mysql-<name>` in force at once, and nothing else that an operator has not loaded yet, because a client of the proxy
    /// wants it who may. When this returns, every worker decides by it.
    ///
    /// # Errors
    /// A sentence for that client: the variable does not take the value, or an operator's transaction is in the way.
    pub async fn put_in_force(
        &self,
        name: &'static str,
        value: String,
        user: String,
        host: String,
    ) -> Result<(), String> {
        let connection_id = self.fresh_connection_id();
        let caller = Arc::new(Caller { connection_id, user, host, rights: Rights::Full });
        let command = Command::PutInForce { name, value };
        let reply = self.call(Call { caller, schema: String::new(), command }).await;
        reply.result.map(drop).map_err(|error| error.to_string())
    }

    /// Has another server take the writes of a pair, or says what would hinder it.
    pub(crate) async fn switch_over(&self, order: SwitchoverOrder) -> Result<Answer, AdminError> {
        let columns = columns(order.mode);
        let rows = self.plane.0.switch_over(order).await.map_err(AdminError::Refused)?;
        Ok(Answer::pairs(columns, rows))
    }

    /// Has another server take the place of a primary that is gone, or says what would hinder it.
    pub(crate) async fn fail_over(&self, order: FailoverOrder) -> Result<Answer, AdminError> {
        let columns = columns(order.mode);
        let rows = self.plane.0.fail_over(order).await.map_err(AdminError::Refused)?;
        Ok(Answer::pairs(columns, rows))
    }

    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    pub(crate) fn sessions(&self) -> &TaskTracker {
        &self.sessions
    }

    /// Room for one more session, if there is.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    pub(crate) fn fresh_connection_id(&self) -> u32 {
        self.next_connection_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    pub(crate) fn refusals(&self) -> &RefusalLog {
        &self.refusals
    }

    /// The schema of that name, in any case, as it is written.
    pub(crate) fn schema(&self, name: &str) -> Option<&str> {
        self.schemas.iter().find(|schema| schema.eq_ignore_ascii_case(name)).map(String::as_str)
    }

    pub(crate) async fn call(&self, call: Call) -> Reply {
        self.clerk.call(call).await
    }
}

/// The columns of what was found, or done.
const fn columns(mode: SwitchoverMode) -> [&'static str; 2] {
    match mode {
        SwitchoverMode::Check => ["weight", "finding"],
        SwitchoverMode::Act => ["at_ms", "step"],
    }
}
