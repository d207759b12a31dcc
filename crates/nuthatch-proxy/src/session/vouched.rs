//! Statements of which a rule says that they need not hold their connection (`multiplex` = 2): a CALL, for instance.
//!
//! What a procedure does to its session the text does not show. Servers tell of it (`session_track_state_change`), but not of all
//! (measured on MariaDB 10.11 and MySQL 9.7): not of `SELECT … INTO @a` and `@a := 1`, of GET_LOCK and of SET TRANSACTION, and
//! MySQL not of SET ROLE. So a CALL holds its connection, unless the operator, who knows the procedures, vouches that they do none of
//! these. Then the server decides: the connection is held if it tells of a change, or cannot tell.

use nuthatch_wire::{AnswerEnd, CapabilityFlags, StatusFlags};

use super::lease::Held;
use super::plan::Facts;
use super::trouble::Trouble;
use super::{Pins, Session};

/// The value of `multiplex` that vouches.
const VOUCHES: u8 = 2;

/// What is vouched for.
const VOUCHED: Pins = Pins::UNKNOWN.with(Pins::USER_VARIABLE);

const TRACKER: &[u8] = b"session_track_state_change";

impl Facts {
    /// Whether a rule vouches for what the statement may leave behind.
    pub(super) fn is_vouched_for(&self) -> bool {
        self.multiplex == Some(VOUCHES) && self.pins.without(VOUCHED) != self.pins
    }
}

impl Session {
    /// Has the server tell whether the statement changes its session.
    pub(super) async fn bring_tracker(&self, held: &mut Held, facts: &Facts) -> Result<(), Trouble> {
        if !facts.is_vouched_for() || !can_tell(held) || self.state.settings.get(TRACKER).is_some() {
            return Ok(());
        }
        let mut state = self.state.clone();
        state.settings.set(TRACKER, Some(b"ON"));
        self.bring_into(&state, held).await
    }

    /// Why the connection is kept after the statement, whose answer ended so.
    pub(super) fn pins_of(facts: &Facts, end: &AnswerEnd, held: &Held) -> Pins {
        let is_told = can_tell(held) && held.connection.state.settings.get(TRACKER) == Some(b"ON");
        let has_changed = end.status_seen.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        match facts.is_vouched_for() && is_told && !has_changed {
            true => facts.pins.without(VOUCHED),
            false => facts.pins,
        }
    }
}

fn can_tell(held: &Held) -> bool {
    (held.connection.shape - held.connection.refused).contains(CapabilityFlags::CLIENT_SESSION_TRACK)
}
