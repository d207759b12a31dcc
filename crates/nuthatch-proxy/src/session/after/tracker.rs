//! What a server tells of changes that no text shows: of stored functions, triggers and procedures.
//!
//! Every connection has `session_track_state_change` on, so an OK packet tells when the session behind it has changed. Where
//! the statement's text explains no change, a stored function or a trigger has set something, and the connection is kept
//! ([`Pins::STORED_CODE`]). Clients that have not asked for it are not told (`passage.rs`), and a statement that reads the variable finds it off.
//!
//! Servers tell of SET, USE, temporary tables and prepared statements; not of all (measured on MariaDB 10.11 and MySQL 9.7): not of `SELECT … INTO @a`
//! and `@a := 1`, of `CREATE TEMPORARY TABLE … SELECT`, of GET_LOCK and of SET TRANSACTION, and MySQL not of SET ROLE. So a CALL, whose procedure may do any of these, holds its
//! connection, unless a rule (`multiplex` = 2) of the operator, who knows the procedures, vouches that they do not. Then the server decides: the
//! connection is held if it tells of a change, or cannot tell.
//!
//! After an error MySQL tells with its next answer, MariaDB never.

use nuthatch_wire::{AnswerEnd, CapabilityFlags};

use crate::backend::Connection;
use crate::session::parts::{Context, Held};
use crate::session::statement::{Facts, INFORMATION_SCHEMA, TRACKER, VOUCHED, is_off};
use crate::stats::pins::Pins;

/// Whether the server told that the session has changed: in an OK packet, or as MariaDB does in an EOF packet. The flag of an OK packet
/// says nothing by itself: a MySQL that tells of transactions (`session_track_transaction_info`) has it in each COMMIT's.
fn tells_of_change(end: &AnswerEnd, connection: &Connection) -> bool {
    connection.shape.contains(CapabilityFlags::CLIENT_SESSION_TRACK) && (end.told.state || end.told.in_eof)
}

/// The session has given the tracker a value: it is never off on a connection, but the session may want to be told.
pub(crate) fn learn_tracker(context: &mut Context, value: Option<&[u8]>, held: &mut Held) {
    let is_off = value.is_none_or(is_off);
    context.is_told_of_changes = !is_off;
    held.connection.state.settings.set(TRACKER, is_off.then_some(b"OFF"));
}

/// Whether MariaDB tells of the schema in use, as it does when it looks into `information_schema`: nothing has changed.
fn is_explained(context: &Context, facts: &Facts, end: &AnswerEnd, connection: &Connection) -> bool {
    let is_of_schema = match connection.form().deprecate_eof {
        true => end.told.schema,
        // An EOF packet does not say what.
        false => {
            facts.tables.in_information_schema
                || context.state.schema.eq_ignore_ascii_case(INFORMATION_SCHEMA)
        }
    };
    is_of_schema && !facts.writes && !facts.class.runs_unseen_code()
}

/// Whether the server told of a change, of which it is not known where it comes from.
pub(crate) fn has_changed_unexplained(
    context: &Context,
    facts: &Facts,
    end: &AnswerEnd,
    connection: &Connection,
) -> bool {
    tells_of_change(end, connection) && !is_explained(context, facts, end, connection)
}

/// Why the connection is kept after the statement, whose answer ended so, by what its text says.
pub(crate) fn pins_of(facts: &Facts, end: &AnswerEnd, held: &Held) -> Pins {
    let can_tell = held.is_tracked();
    match facts.is_vouched_for() && can_tell && !tells_of_change(end, &held.connection) {
        true => facts.pins.without(VOUCHED),
        false => facts.pins,
    }
}
