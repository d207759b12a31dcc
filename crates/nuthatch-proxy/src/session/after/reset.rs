//! Connections with state that their session lets go of: reset and put back, where the server is proven to forget all of it.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_sql::ServerFlavor;
use tokio::time::timeout;

use crate::backend::Reset;
use crate::session::Session;
use crate::session::parts::Held;
use crate::session::way::Trouble;
use crate::stats::pins::Pins;

/// Reasons to hold a connection whose cause a reset does not end for certain. MariaDB 10.11 keeps profiles, and goes on making them.
const LASTING: Pins =
    Pins::XA.with(Pins::REPLICATION).with(Pins::UNKNOWN).with(Pins::NEXT_TRANSACTION).with(Pins::PROFILES);

impl Session {
    /// Has the connection reset, and put back then; closes it where that is not enough, or not wanted.
    pub(crate) fn reset_and_put_back(&self, held: Held) {
        let is_enough = !held.in_transaction
            && held.pins.without(LASTING) == held.pins
            && self.reset_ends_stored_code(&held);
        let Held { mut connection, .. } = held;
        if !is_enough || !connection.can_be_reset() || connection.control.has_kill() {
            return;
        }
        let Some(turn) =
            connection.server().begin_reset(self.ground.snapshot.mysql.connpoll_reset_queue_length)
        else {
            return;
        };
        let (shared, worker) = (Arc::clone(&self.ground.shared), Arc::clone(&self.ground.worker));
        let patience = Duration::from_millis(self.ground.snapshot.mysql.connect_timeout_server);
        let _detached = self.ground.worker.spawn(async move {
            let outcome = timeout(patience, connection.reset()).await;
            drop(turn);
            if let Ok(Ok(Reset::Done)) = outcome {
                worker.counters.resets.bump();
                shared.hostgroups.check_in(connection, shared.clock.now_ms());
            }
        });
    }
}

/// Behind these the connection alone may know in which schema the session is, and in which role.
const MAY_HAVE_MOVED: Pins = Pins::UNKNOWN.with(Pins::SESSION_VARIABLE).with(Pins::STORED_CODE);

impl Session {
    /// A server keeps schema and role over a reset: asks for them where something may have changed them that is not understood.
    pub(crate) async fn learn_what_outlasts_resets(&mut self) -> Result<(), Trouble> {
        let may_have_moved = |held: &Held| held.pins.without(MAY_HAVE_MOVED) != held.pins;
        let Some(place) = self.hands.held.iter().position(may_have_moved) else { return Ok(()) };
        let mut held = self.hands.held.swap_remove(place);
        let outcome = self.learn_schema_and_role(&mut held).await;
        self.put_away(held, outcome.as_ref().err());
        outcome
    }

    async fn learn_schema_and_role(&mut self, held: &mut Held) -> Result<(), Trouble> {
        self.learn_name_of_schema(held).await?;
        let told = match self.way(held).ask_value("SELECT CAST(CURRENT_ROLE() AS BINARY)").await {
            // Servers before MySQL 8 have no roles.
            Err(Trouble::Refused(_)) => None,
            told => told?,
        };
        let role = told.filter(|role| !role.eq_ignore_ascii_case(b"NONE"));
        if role.is_none() && self.context.state.role.is_none() {
            return Ok(());
        }
        let role = role.map(|role| String::from_utf8_lossy(&role).into_owned());
        let statement = match (role, self.context.lexing.server) {
            (None, _) => "SET ROLE NONE".to_owned(),
            (Some(role), ServerFlavor::MariaDb(_)) => format!("SET ROLE `{}`", role.replace('`', "``")),
            (Some(roles), ServerFlavor::MySql(_)) => format!("SET ROLE {roles}"),
        };
        self.context.state.role = Some(statement.into());
        Ok(())
    }
}
