//! The configuration in force, taken over before each statement.

use std::sync::Arc;

use crate::roster::{EndReason, SessionEnd};
use crate::session::lease::environment::renumber_environment;
use crate::session::lease::multiplexing::take_over_multiplexing;
use crate::session::whole::Session;

/// Takes over the configuration in force, if it has changed.
///
/// # Errors
/// When the user is no longer active.
pub(crate) fn take_over_configuration(session: &mut Session) -> Result<(), SessionEnd> {
    if session.ground.shared.configuration.epoch() == session.ground.snapshot.epoch.0 {
        return Ok(());
    }
    session.cache.note_judged(false);
    session.ground.snapshot = session.ground.shared.configuration.snapshot();
    let Some(user) = session.ground.snapshot.users.frontend(session.account.name().as_bytes()) else {
        return Err(EndReason::UserGone.into());
    };
    let password =
        session.ground.shared.doors.backend_password(&session.ground.snapshot, session.account.name());
    session.account.take_over(Arc::clone(user), password);
    session.dealings.hands.position.keep(session.ground.snapshot.keeps_positions());
    take_over_multiplexing(&session.ground, &mut session.dealings.hands);
    renumber_environment(&session.ground, &mut session.context);
    Ok(())
}
