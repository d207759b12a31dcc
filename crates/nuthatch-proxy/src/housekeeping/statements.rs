//! Statements that take longer than they may: their server is told to end them, their sessions to see them out.
//!
//! No statement has a timer. A session shows which connection works for its statement, since when, and for how long it may; one task
//! looks at all of them when the first of those that it saw will be late, and no later than one that began behind its look could be. So
//! the shortest limit that is configured says how often it looks, which by default is once a day.
//!
//! Counted is the time for which a connection works for the statement, as in ProxySQL: neither its `delay` nor its wait for a
//! connection, which has a limit of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::Proxy;
use crate::backend::{Lateness, Thread};
use crate::roster::{Running, TimeLimit};
use crate::shared::Shared;
use crate::state::capability::SHAPE;
use crate::worker::Worker;

/// The least pause between two looks: so much later than its limit a statement may be ended.
const PAUSE_MIN: Duration = Duration::from_millis(10);

/// Ends statements that take too long, until `stop`.
pub async fn keep_time(proxy: Arc<Proxy>, stop: CancellationToken) {
    let mut configurations = proxy.configurations();
    loop {
        let pause = look_at_all(&proxy.shared).max(PAUSE_MIN);
        tokio::select! {
            () = stop.cancelled() => return,
            Ok(()) = configurations.changed() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Has those killed that are late. Returns how long none will be.
fn look_at_all(shared: &Arc<Shared>) -> Duration {
    let now_ms = shared.clock.now_ms();
    let mut next_ms = now_ms.saturating_add(shared.configuration.snapshot().timeout_ms_min());
    let mut late = Vec::new();
    shared.roster.for_each(|worker, handle| match handle.look_at_time(now_ms) {
        TimeLimit::None => {}
        TimeLimit::Until(until_ms) => next_ms = next_ms.min(until_ms),
        TimeLimit::Over(running) => late.push((worker, handle.id, running)),
    });
    for (worker, session, running) in late {
        if let Some(worker) = shared.workers.get(worker) {
            let (running, user) = *running;
            tracing::info!(session, user = %user, server = %running.server.host, thread_id = running.thread_id,
                "a statement takes longer than it may, and is killed");
            have_killed(shared, worker, running, user);
        }
    }
    Duration::from_millis(next_ms.saturating_sub(now_ms))
}

/// Has the server end what the thread is at, over a connection of the session's user, on the session's worker.
fn have_killed(shared: &Arc<Shared>, worker: &Arc<Worker>, running: Running, user: Arc<str>) {
    let (shared, here) = (Arc::clone(shared), Arc::clone(worker));
    let _detached = worker.spawn(async move {
        let snapshot = shared.configuration.snapshot();
        let password = shared.doors.backend_password(&snapshot, &user);
        let Running { control, server, thread_id, .. } = running;
        let thread = Thread { server: &server, id: thread_id, user: &user, password: password.as_deref() };
        let killing = thread.kill_query(SHAPE, &here, &snapshot.mysql, &shared.hostgroups, shared.clock);
        match killing.await {
            Ok(()) => {
                here.counters.killed_queries.bump();
                control.note_kill(Lateness::KillHeard);
            }
            Err(error) => {
                tracing::warn!(server = %server.host, thread_id, error,
                    "could not end a statement that takes too long: its connection is closed");
                control.note_kill(Lateness::KillFailed);
            }
        }
    });
}
