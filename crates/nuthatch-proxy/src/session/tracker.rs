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

use nuthatch_sql::Kind;
use nuthatch_wire::{AnswerEnd, CapabilityFlags};

use crate::backend::Connection;
use crate::pins::Pins;

use super::Session;
use super::lease::Held;
use super::plan::{Change, Facts, names};
use super::trouble::Trouble;

/// The variable that has a server tell.
pub(crate) const TRACKER: &[u8] = b"session_track_state_change";

/// Where MariaDB looks, it tells of the schema that it comes back to.
pub(super) const INFORMATION_SCHEMA: &[u8] = b"information_schema";

/// How names of tables in a server's own schemas begin, most often. There are views among them, and where MariaDB loads a view (`mysql.user`, those of
/// `sys`) it tells of the schema that it comes back to, too. Measured on 10.11: behind FLUSH TABLES, or when nobody has used it lately.
pub(super) const OWN_SCHEMAS: [&[u8]; 4] = [b"mysql.", b"mysql`.", b"sys.", b"sys`."];

/// The value of `multiplex` that vouches.
const VOUCHES: u8 = 2;

/// What is vouched for.
const VOUCHED: Pins = Pins::UNKNOWN.with(Pins::USER_VARIABLE);

/// Whether a statement may show the tracker: by its name, or among all variables.
pub(super) fn reads_tracker(kind: Kind, text: &[u8]) -> bool {
    let shows_all = match kind {
        Kind::Show => names(text, b"variables"),
        Kind::Set => return false,
        _ => names(text, b"session_variables") || names(text, b"variables_by_thread"),
    };
    shows_all || names(text, TRACKER)
}

impl Facts {
    /// Whether a rule vouches for what the statement may leave behind.
    pub(super) fn is_vouched_for(&self) -> bool {
        self.multiplex == Some(VOUCHES) && self.pins.without(VOUCHED) != self.pins
    }

    /// Whether its text says that it changes nothing of the session's state that travels.
    pub(super) fn changes_nothing(&self) -> bool {
        self.change == Change::None
    }

    /// Whether it may read a view of the server's own: what loading one tells of only an OK packet tells from a change.
    pub(super) fn may_load_view_of_server(&self, schema: &[u8]) -> bool {
        let is_in_own = [&b"mysql"[..], b"sys"].iter().any(|own| schema.eq_ignore_ascii_case(own));
        matches!(self.kind, Kind::Select | Kind::Explain) && (self.names_own_schema || is_in_own)
    }

    /// Whether it is several statements in one text.
    pub(super) fn is_several(&self) -> bool {
        self.kind == Kind::Multi
    }
}

impl Session {
    /// Has a statement that reads the session's variables find the tracker as the session has it.
    pub(super) async fn bring_tracker(&self, held: &mut Held, facts: &Facts) -> Result<(), Trouble> {
        if !facts.reads_tracker || self.is_told_of_changes || !held.connection.is_tracked() {
            return Ok(());
        }
        let mut state = self.state.clone();
        state.settings.set(TRACKER, Some(b"OFF"));
        self.bring_into(&state, held).await
    }

    /// The session has given the tracker a value: it is never off on a connection, but the session may want to be told.
    pub(super) fn learn_tracker(&mut self, value: Option<&[u8]>, held: &mut Held) {
        let is_off = value.is_none_or(is_off);
        self.is_told_of_changes = !is_off;
        held.connection.state.settings.set(TRACKER, is_off.then_some(b"OFF"));
    }

    /// Whether MariaDB tells of the schema in use, as it does when it looks into `information_schema`: nothing has changed.
    fn is_explained(&self, facts: &Facts, end: &AnswerEnd, connection: &Connection) -> bool {
        let is_of_schema = match connection.form().deprecate_eof {
            true => end.told.schema,
            // An EOF packet does not say what.
            false => {
                facts.names_information_schema || self.state.schema.eq_ignore_ascii_case(INFORMATION_SCHEMA)
            }
        };
        is_of_schema && !facts.writes && !facts.class.runs_unseen_code()
    }

    /// Whether the server told of a change, of which it is not known where it comes from.
    pub(super) fn has_changed_unexplained(
        &self,
        facts: &Facts,
        end: &AnswerEnd,
        connection: &Connection,
    ) -> bool {
        tells_of_change(end, connection) && !self.is_explained(facts, end, connection)
    }

    /// Why the connection is kept after the statement, whose answer ended so, by what its text says.
    pub(super) fn pins_of(facts: &Facts, end: &AnswerEnd, held: &Held) -> Pins {
        let can_tell = held.connection.is_tracked();
        match facts.is_vouched_for() && can_tell && !tells_of_change(end, &held.connection) {
            true => facts.pins.without(VOUCHED),
            false => facts.pins,
        }
    }
}

impl Connection {
    /// Whether its server tells of changes.
    pub(super) fn is_tracked(&self) -> bool {
        self.is_told_of_changes && self.state.settings.get(TRACKER).is_none()
    }
}

/// Whether a value, as SQL writes it, turns a variable off.
pub(super) fn is_off(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"'").and_then(|value| value.strip_suffix(b"'")).unwrap_or(value);
    [&b"OFF"[..], b"0", b"FALSE", b"DEFAULT"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

/// Whether the server told that the session has changed: in an OK packet, or as MariaDB does in an EOF packet. The flag of an OK packet
/// says nothing by itself: a MySQL that tells of transactions (`session_track_transaction_info`) has it in each COMMIT's.
fn tells_of_change(end: &AnswerEnd, connection: &Connection) -> bool {
    connection.shape.contains(CapabilityFlags::CLIENT_SESSION_TRACK) && (end.told.state || end.told.in_eof)
}
