//! Writes of which nobody heard what became of them: pending until the server's thread is gone.
//!
//! A server goes on with a statement whose connection is lost, and may commit it seconds later (measured). So the thread is killed
//! over another connection of the same user (or only watched, if `mysql-kill_backend_connection_when_disconnect` is 0) until the server does
//! not know it any more; then the clocks move.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_cache::Marks;
use nuthatch_net::BackendPassword;
use nuthatch_wire::CapabilityFlags;

use crate::backend::{Connection, Means, Server, Thread};
use crate::exact::Exact;
use crate::exact::catalogue_store::Change;
use crate::exact::intent::Intent;
use crate::exact::turn::Turn;
use crate::worker::Worker;

/// Pauses between two tries: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Whose outcome is not known.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    pub(super) exact: Arc<Exact>,
    worker: Arc<Worker>,
    server: Arc<Server>,
    thread_id: u32,
    user: Arc<str>,
    password: Option<Arc<BackendPassword>>,
    shape: CapabilityFlags,
}

impl Lost {
    /// What it takes to find out, should the connection be lost.
    pub(crate) fn on(
        connection: &Connection,
        password: Option<&Arc<BackendPassword>>,
        exact: &Arc<Exact>,
        worker: &Arc<Worker>,
    ) -> Self {
        Self {
            exact: Arc::clone(exact),
            worker: Arc::clone(worker),
            server: Arc::clone(connection.server()),
            thread_id: connection.thread_id,
            user: Arc::clone(&connection.user),
            password: password.cloned(),
            shape: connection.shape,
        }
    }

    /// Where it is.
    pub(super) const fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Moves the marks' clocks, and ends the change of definitions, when the thread is gone. Until then the statement may go on in the
    /// turn in which it was looked at.
    pub(super) fn settle_when_gone(
        &self,
        marks: Marks,
        change: Option<Change>,
        turn: Arc<Turn>,
        intent: &Intent,
    ) {
        let (changes_privileges, changes_defaults) = (intent.changes_privileges, intent.changes_defaults);
        let lost = self.clone();
        let _detached = self.worker.spawn(async move {
            lost.until_gone().await;
            if changes_privileges {
                lost.exact.hostgroups.note_privileges();
            }
            if changes_defaults {
                lost.server.change_defaults(None);
            }
            lost.exact.catalogues.finish(marks, change);
            drop(turn);
        });
    }

    async fn until_gone(&self) {
        let mut pause = PAUSE;
        tracing::info!(server = %self.server.host, thread_id = self.thread_id,
            "the outcome of a write is unknown: what it touched is not cached until its thread is gone");
        let mut has_killed = false;
        // A server that was taken out of the configuration may never answer again; nothing that it served is cached any more.
        while !self.server.is_retired() {
            let Self { user, password, shape, worker, .. } = self;
            let may_kill = self.exact.configuration.snapshot().mysql.kill_backend_connection_when_disconnect;
            // A number may be given anew: it is killed once.
            let means = if may_kill && !has_killed { Means::Kill } else { Means::Look };
            let thread =
                Thread { server: &self.server, id: self.thread_id, user, password: password.as_deref() };
            let (snapshot, exact) = (self.exact.configuration.snapshot(), &self.exact);
            let looked =
                thread.is_gone(means, *shape, worker, &snapshot.mysql, &exact.hostgroups, exact.clock).await;
            match looked {
                Ok(true) => return,
                Ok(false) => has_killed = true,
                Err(error) => {
                    tracing::debug!(thread_id = self.thread_id, error, "could not look for a thread yet");
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
