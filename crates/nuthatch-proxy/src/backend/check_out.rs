//! Lending a connection and taking it back: what a session needs of one, and which errors it may meet.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{HostgroupId, MysqlVariables, ServerStatus};
use nuthatch_net::{BackendPassword, ClearPasswords};
use nuthatch_wire::{CapabilityFlags, ErrPacket, Form};
use thiserror::Error;
use tokio::time::{sleep, timeout};

use crate::capability::TRANSLATED;
use crate::clock::Clock;
use crate::state::{Charset, Errand, SchemaNeed, SessionState};
use crate::worker::Worker;

use super::connect::{self, Login};
use super::connection::{Connection, Slot};
use super::pool::Fit;
use super::search::Search;
use super::weights::choose;
use super::{Hostgroups, Server};

/// The pause before a KILL looks for a connection again on a server that is full.
const KILL_PAUSE: Duration = Duration::from_millis(5);

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
    /// It must have been nobody's before.
    pub(crate) is_own: bool,
    /// The asking worker, on whose thread it asks.
    pub(crate) worker: &'a Worker,
}

impl<'a> Wanted<'a> {
    /// For a question or order of the proxy's own, by an account.
    pub(super) const fn by(
        user: &'a Arc<str>,
        password: Option<&'a BackendPassword>,
        shape: CapabilityFlags,
        state: &'a SessionState,
        worker: &'a Worker,
    ) -> Self {
        let (must_have, errand) = (CapabilityFlags::empty(), &Errand::USUAL);
        Self { user, password, shape, must_have, state, errand, is_own: false, worker }
    }
}

/// Why no connection could be had.
#[derive(Debug, Error)]
pub(crate) enum CheckOutError {
    /// No server could be reached in time.
    #[error("no server of hostgroup {hostgroup} could be reached within {waited_ms} ms: {why}")]
    Timeout { hostgroup: HostgroupId, waited_ms: u64, why: String },
    /// No configuration names a server of the hostgroup.
    #[error("no server stands in hostgroup {hostgroup}")]
    NoServer { hostgroup: HostgroupId },
    /// A server answered the login with an error.
    #[error("a server refused the login")]
    Refused(ErrPacket),
    /// A server wants what the proxy cannot do, or the proxy has no password for the user.
    #[error("{0}")]
    Login(String),
}

impl Wanted<'_> {
    /// Up to this distance the server has nothing to change.
    pub(super) const UNCHANGED_DISTANCE_MAX: u32 = 1;

    /// How much must be changed on `connection`; `None` when it cannot be used. A change by the server counts for more than answers
    /// that must be translated.
    pub(super) fn distance(&self, connection: &Connection) -> Option<u32> {
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
}

impl Wanted<'_> {
    /// Whether the statement leads out of the state that the session is in.
    pub(super) const fn is_aimed(&self) -> bool {
        self.errand.aim.is_some()
    }

    /// Whether nothing must be changed on `connection` before the statement.
    pub(super) fn needs_no_change(&self, connection: &Connection) -> bool {
        self.errand.state_before(self.state, &connection.state).differences(&connection.state) == 0
    }
}

impl Hostgroups {
    /// A connection to a server of the hostgroup, by weight among those that are online. A server that refuses to be
    /// connected to is passed over for the next.
    pub(crate) async fn check_out(
        &self,
        hostgroup: HostgroupId,
        wanted: &Wanted<'_>,
        variables: &MysqlVariables,
        clock: &Clock,
    ) -> Result<Box<Connection>, CheckOutError> {
        let search = Search::new(hostgroup, wanted, variables, clock);
        search.run(self).await
    }

    /// An idle connection of a server chosen as by [`Self::check_out`], if it has one that suits: without waiting.
    pub(crate) fn take_idle(
        &self,
        hostgroup: HostgroupId,
        wanted: &Wanted<'_>,
        now_ms: u64,
    ) -> Option<Box<Connection>> {
        let groups = self.groups.load();
        let group = groups.get(&hostgroup)?;
        if !group.line.is_empty() {
            return None;
        }
        let server = choose(&group.servers, now_ms, &[])?;
        take_idle(server, wanted, server.fit(now_ms))
    }

    /// The connection of that thread of the server, if nobody has had it since this session.
    pub(crate) fn take_left(
        server: &Server,
        thread_id: u32,
        session: u32,
        worker: &Worker,
    ) -> Option<Box<Connection>> {
        let mut connection = server.pool.take_left(thread_id, session)?;
        connection.move_to(worker).is_ok().then_some(connection)
    }

    /// Puts a connection back for others: it must wait for a command, without pins or a transaction.
    pub(crate) fn check_in(&self, mut connection: Box<Connection>, now_ms: u64) {
        connection.give_back();
        connection.idle_since_ms = now_ms;
        let server = Arc::clone(connection.server());
        if connection.control.is_cut()
            || connection.control.has_kill()
            || server.is_too_old(&connection)
            || server.status(now_ms) != ServerStatus::Online
        {
            drop(connection);
        } else {
            server.pool.put(connection);
            server.line.tell();
        }
    }

    /// A connection to that one server for a KILL, whatever the connection's state. It goes before all statements.
    pub(crate) async fn check_out_of(
        &self,
        server: &Arc<Server>,
        wanted: &Wanted<'_>,
        variables: &MysqlVariables,
    ) -> Result<Box<Connection>, CheckOutError> {
        wanted.worker.with_tokio(server.check_out_for_kill(wanted, variables)).await
    }
}

impl Server {
    /// Any connection of the user, for a KILL. It goes before whatever waits for this server.
    pub(super) async fn check_out_for_kill(
        self: &Arc<Self>,
        wanted: &Wanted<'_>,
        variables: &MysqlVariables,
    ) -> Result<Box<Connection>, CheckOutError> {
        let (hostgroup, waited_ms) = (self.hostgroup, variables.connect_timeout_server);
        let login = login(wanted, variables, self)?;
        let getting = async {
            let _ahead = self.urge();
            loop {
                while let Some(mut connection) = self.pool.take_of(wanted.worker.id, wanted.user) {
                    if connection.move_to(wanted.worker).is_ok() {
                        return Ok(connection);
                    }
                }
                match reserve(self, wanted.worker.id) {
                    Some(slot) => return connect::open(slot, wanted.worker, &login).await,
                    None => sleep(KILL_PAUSE).await,
                }
            }
        };
        match timeout(Duration::from_millis(waited_ms), getting).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(_)) | Err(_) => {
                let why = format!("{}: no connection for a KILL", self.address);
                Err(CheckOutError::Timeout { hostgroup, waited_ms, why })
            }
        }
    }
}

pub(super) fn take_idle(server: &Arc<Server>, wanted: &Wanted<'_>, fit: Fit) -> Option<Box<Connection>> {
    if server.is_urged() {
        return None;
    }
    loop {
        let mut connection = server.pool.take(wanted.worker.id, wanted, fit)?;
        if connection.move_to(wanted.worker).is_ok() {
            return Some(connection);
        }
    }
}

/// The right to connect; an idle connection of another kind gives way for it.
pub(super) fn reserve(server: &Arc<Server>, worker: usize) -> Option<Slot> {
    server.reserve().or_else(|| {
        drop(server.pool.evict_one(worker)?);
        server.reserve()
    })
}

pub(super) fn require_password<'a>(wanted: &Wanted<'a>) -> Result<&'a BackendPassword, CheckOutError> {
    wanted.password.ok_or_else(|| {
        CheckOutError::Login(format!(
            "no backend password is known for user '{}': mysql_users has no active backend row for it, or holds \
             a hash and no client has logged in with the password since the start",
            wanted.user
        ))
    })
}

pub(super) fn login<'a>(
    wanted: &'a Wanted<'_>,
    variables: &MysqlVariables,
    server: &Server,
) -> Result<Login<'a>, CheckOutError> {
    let password = require_password(wanted)?;
    let keepalive = variables.use_tcp_keepalive && variables.tcp_keepalive_time > 0;
    Ok(Login {
        user: wanted.user,
        password,
        schema: if can_enter_schema(wanted.state) { &wanted.state.schema } else { &[] },
        collation: wanted.state.charset.login_collation(),
        shape: if wanted.is_own {
            wanted.shape
        } else {
            wanted.shape | wanted.must_have | CapabilityFlags::CLIENT_SESSION_TRACK
        },
        is_tracked: !wanted.is_own,
        timeout: Duration::from_millis(variables.connect_timeout_server),
        keepalive: keepalive.then(|| Duration::from_secs(variables.tcp_keepalive_time)),
        max_packet_bytes: u32::try_from(variables.max_allowed_packet).unwrap_or(u32::MAX),
        init_connect: server.settings().init_connect.as_str().into(),
        clear_passwords: clear_passwords(variables),
    })
}

/// Whether a login may name the state's schema: a role may be what gives access to it, and its name must be read as what it is.
fn can_enter_schema(state: &SessionState) -> bool {
    let login = Charset::Collation(state.charset.login_collation());
    state.role.is_none() && login.reads_as_utf8(&state.schema)
}

/// Whether a server that asks for a password itself gets it.
pub(crate) const fn clear_passwords(variables: &MysqlVariables) -> ClearPasswords {
    match variables.clear_password_to_servers {
        true => ClearPasswords::Allowed,
        false => ClearPasswords::Refused,
    }
}
