//! Connections with state that their session lets go of: reset and put back, where the server is proven to forget all of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::backend::Reset;

use super::lease::Held;
use super::{Pins, Session};

/// Reasons to hold a connection whose cause a reset does not end for certain. MariaDB 10.11 keeps profiles, and goes on making them.
const LASTING: Pins =
    Pins::XA.with(Pins::REPLICATION).with(Pins::UNKNOWN).with(Pins::NEXT_TRANSACTION).with(Pins::PROFILES);

impl Session {
    /// Has the connection reset, and put back then; closes it where that is not enough, or not wanted.
    pub(super) fn reset_and_put_back(&self, held: Held) {
        let is_enough = !held.in_transaction
            && held.pins.without(LASTING) == held.pins
            && self.reset_ends_stored_code(&held);
        let Held { mut connection, .. } = held;
        if !is_enough || !connection.can_be_reset() || connection.control.has_kill() {
            return;
        }
        let Some(turn) = connection.server().begin_reset(self.snapshot.mysql.connpoll_reset_queue_length)
        else {
            return;
        };
        let (proxy, worker) = (Arc::clone(&self.proxy), Arc::clone(&self.worker));
        let patience = Duration::from_millis(self.snapshot.mysql.connect_timeout_server);
        let _detached = self.worker.spawn(async move {
            let outcome = timeout(patience, connection.reset()).await;
            drop(turn);
            if let Ok(Ok(Reset::Done)) = outcome {
                worker.counters.resets.bump();
                proxy.hostgroups.check_in(connection, proxy.clock.now_ms());
            }
        });
    }
}
