//! What a session needs of a connection, and how near one is to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nuthatch_net::BackendPassword;
use nuthatch_wire::{CapabilityFlags, Form};

use crate::backend::connection::Connection;
use crate::backend::server::known::caught_up::Need;
use crate::backend::server::pool::Choice;
use crate::state::capability::TRANSLATED;
use crate::state::{Errand, SchemaNeed, SessionState};
use crate::worker::Worker;

/// Capabilities that a connection must have for a session that has them, if its server can.
const MUST_BE_TOLD: CapabilityFlags = CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA
    .union(CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA)
    .union(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);

/// As much as further changes counts a new login.
const LOGIN_DISTANCE: u32 = 4;

/// What a session needs of a connection.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) user: &'a Arc<str>,
    pub(crate) password: Option<&'a BackendPassword>,
    pub(crate) shape: CapabilityFlags,
    /// Of the form of answers, what the statement needs besides, if the server can.
    pub(crate) must_have: CapabilityFlags,
    pub(crate) state: &'a SessionState,
    /// What else the statement asks of it.
    pub(crate) errand: &'a Errand,
    /// What its server must show.
    pub(crate) need: Option<&'a Need>,
    /// It must have been nobody's before.
    pub(crate) is_own: bool,
    /// The asking worker, on whose thread it asks.
    pub(crate) worker: &'a Worker,
    /// Whether the connection that was looked at last is just what is wanted.
    pub(crate) met: Met,
}

/// See [`Wanted::met`].
#[derive(Debug, Default)]
pub(crate) struct Met(AtomicBool);

impl Met {
    /// Whether a connection that was taken is in the session's state, and of its user and shape, as nearly all are. Such a one is taken as soon
    /// as it is looked at, so the latest look was at the one taken.
    pub(crate) fn is_met(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<'a> Wanted<'a> {
    /// For a question or order of the proxy's own, by an account.
    pub(crate) const fn by(
        user: &'a Arc<str>,
        password: Option<&'a BackendPassword>,
        shape: CapabilityFlags,
        state: &'a SessionState,
        worker: &'a Worker,
    ) -> Self {
        let (must_have, errand) = (CapabilityFlags::empty(), &Errand::USUAL);
        let met = Met(AtomicBool::new(false));
        Self { user, password, shape, must_have, state, errand, need: None, is_own: false, worker, met }
    }
}

impl Wanted<'_> {
    /// Whether the connection is what nearly always is wanted: of that user and shape, in the state that the session is in.
    fn is_met_by(&self, connection: &Connection) -> bool {
        let is_same_user = Arc::ptr_eq(&connection.user, self.user) || *connection.user == **self.user;
        is_same_user
            && connection.shape == self.shape | CapabilityFlags::CLIENT_SESSION_TRACK
            && connection.shape.contains(self.must_have)
            && self.errand.aim.is_none()
            && !self.is_own
            && self.state.is_at(&connection.state)
    }
}

impl Choice<Connection> for Wanted<'_> {
    const UNCHANGED_DISTANCE_MAX: u32 = 1;

    /// A change by the server counts for more than answers that must be translated.
    fn distance(&self, connection: &Connection) -> Option<u32> {
        let is_met = self.is_met_by(connection);
        self.met.0.store(is_met, Ordering::Relaxed);
        if is_met {
            return Some(0);
        }
        let is_alike = (connection.shape ^ self.shape).difference(TRANSLATED).is_empty();
        // A server forgets user variables of another session only at a reset.
        let nearest = self.errand.nearest(self.state);
        let can_forget = connection.can_be_reset()
            || !nearest.user_variables.lacks_some_of(&connection.state.user_variables);
        // What a connection tells more than is wanted can be left out; what it does not tell cannot be made up.
        let needed = (self.shape & MUST_BE_TOLD) | self.must_have | CapabilityFlags::CLIENT_SESSION_TRACK;
        let missing = needed - connection.shape;
        let tells_enough = (missing - connection.refused).is_empty();
        let fits = *connection.user == **self.user && is_alike && tells_enough && can_forget;
        let lacks_schema = nearest.schema.is_empty() && !connection.state.schema.is_empty();
        // Only a new login leads out of a schema.
        let must_log_in = lacks_schema && self.errand.schema == SchemaNeed::Own;
        let can_have_schema = !must_log_in || (self.password.is_some() && connection.can_log_in_anew());
        // Nor to go back to no role but those of the login.
        let can_have_role = connection.state.role.is_none() || connection.state.role == self.state.role;
        // Answers of another form must be translated; nearly none tells of a change.
        let is_reworded = (connection.shape ^ self.shape).contains(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
        let is_translated = is_reworded || !Form::of(connection.shape).is_nearly(Form::of(self.shape));
        (fits && can_have_schema && can_have_role && !self.is_own).then(|| {
            let passed_over = u32::from(lacks_schema && !must_log_in);
            let changes = nearest.differences(&connection.state) - passed_over;
            2 * changes + LOGIN_DISTANCE * u32::from(must_log_in) + u32::from(is_translated)
        })
    }

    fn is_aimed(&self) -> bool {
        self.errand.aim.is_some()
    }

    fn needs_no_change(&self, connection: &Connection) -> bool {
        self.errand.state_before(self.state, &connection.state).differences(&connection.state) == 0
    }
}
