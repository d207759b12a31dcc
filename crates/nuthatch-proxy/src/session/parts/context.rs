//! What a session's statements are read by and run in.

use nuthatch_sql::Lexing;

use crate::session::parts::Begun;
use crate::state::SessionState;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) state: SessionState,
    /// What it began with.
    pub(crate) begun: Begun,
    /// How its server reads its statements.
    pub(crate) lexing: Lexing,
    /// It has set `session_track_state_change`.
    pub(crate) is_told_of_changes: bool,
}
