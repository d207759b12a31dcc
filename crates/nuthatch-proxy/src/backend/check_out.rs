//! Lending a connection: which server of the hostgroup, an idle connection or a new one, and how long to wait.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{HostgroupId, MysqlVariables, ServerStatus};
use nuthatch_net::{BackendPassword, ClearPasswords, NetError};
use nuthatch_wire::{CapabilityFlags, ErrPacket, Form};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout_at};

use crate::clock::Clock;
use crate::session::SessionState;
use crate::worker::Worker;

use super::connect::{self, Login, OpenError};
use super::connection::Connection;
use super::hostgroup::Hostgroup;
use super::line::Place;
use super::{Hostgroups, Server};

/// The pause before the servers of a hostgroup are tried again when none could be reached.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(10);

/// The pause before a KILL looks for a connection again on a server that is full.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// After which the first in line looks again without being told: a shunned server comes back by time alone.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Capabilities that a connection must have for a session that has them, if its server can.
const MUST_BE_TOLD: CapabilityFlags =
    CapabilityFlags::CLIENT_SESSION_TRACK.union(CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA);

/// What a session needs of a connection.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) user: &'a Arc<str>,
    pub(crate) password: Option<&'a BackendPassword>,
    pub(crate) shape: CapabilityFlags,
    pub(crate) state: &'a SessionState,
    /// It must have been nobody's before.
    pub(crate) is_own: bool,
    /// The asking worker, on whose thread it asks.
    pub(crate) worker: &'a Worker,
}

/// Why no connection could be had.
#[derive(Debug, Error)]
pub(crate) enum CheckOutError {
    /// No server could be reached in time.
    #[error("no server of hostgroup {hostgroup} could be reached within {waited_ms} ms")]
    Timeout { hostgroup: HostgroupId, waited_ms: u64 },
    /// A server answered the login with an error.
    #[error("a server refused the login")]
    Refused(ErrPacket),
    /// A server wants what the proxy cannot do, or the proxy has no password for the user.
    #[error("{0}")]
    Login(String),
}

impl Wanted<'_> {
    /// How much must be changed on `connection`; `None` when it cannot be used.
    pub(super) fn distance(&self, connection: &Connection) -> Option<u32> {
        let is_alike = (connection.shape ^ self.shape).difference(Form::FLAGS).is_empty();
        // A server forgets user variables of another session only at a reset.
        let can_forget = connection.can_be_reset()
            || !self.state.user_variables.lacks_some_of(&connection.state.user_variables);
        // What a connection tells more than is wanted can be left out; what it does not tell cannot be made up.
        let missing = (self.shape - connection.shape) & MUST_BE_TOLD;
        let tells_enough = (missing - connection.refused).is_empty();
        let fits = *connection.user == **self.user && is_alike && tells_enough && can_forget;
        // A server has no command that leaves a schema again.
        let can_have_schema = connection.state.schema.is_empty() || !self.state.schema.is_empty();
        // Answers of another form must be translated.
        let is_translated = Form::of(connection.shape) != Form::of(self.shape);
        (fits && can_have_schema && !self.is_own)
            .then(|| self.state.differences(&connection.state) + u32::from(is_translated))
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
        let wait_ms = variables.connect_timeout_server_max;
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        let attempt = Box::pin(self.check_out_slowly(hostgroup, wanted, variables, clock));
        let attempt = wanted.worker.with_tokio(timeout_at(deadline, attempt));
        attempt.await.unwrap_or(Err(CheckOutError::Timeout { hostgroup, waited_ms: wait_ms }))
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
        take_idle(choose(&group.servers, now_ms, &[])?, wanted)
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

    async fn check_out_slowly(
        &self,
        hostgroup: HostgroupId,
        wanted: &Wanted<'_>,
        variables: &MysqlVariables,
        clock: &Clock,
    ) -> Result<Box<Connection>, CheckOutError> {
        let pause = Duration::from_millis(variables.connect_retries_delay).max(RETRY_PAUSE_MIN);
        let mut place: Option<Place> = None;
        let mut was_throttled = false;
        loop {
            let Some(group) = self.group(hostgroup) else {
                place = None;
                sleep(pause).await;
                continue;
            };
            place = place.filter(|place| place.is_in(&group.line));
            if place.is_none() && !group.line.is_empty() {
                place.insert(group.line.join()).turn(LOOK_AGAIN).await;
            }
            match try_each(&group, &mut place, wanted, variables, clock).await? {
                Attempt::Connected(connection) => return Ok(connection),
                Attempt::AllFull => {
                    place.get_or_insert_with(|| group.line.join_in_front()).turn(LOOK_AGAIN).await;
                }
                Attempt::Throttled(wait) => {
                    if !std::mem::replace(&mut was_throttled, true) {
                        wanted.worker.counters.throttled.bump();
                    }
                    place.get_or_insert_with(|| group.line.join_in_front()).turn(wait).await;
                }
                Attempt::NoneReachable => {
                    // It keeps its place, but what others free is of no use.
                    place.get_or_insert_with(|| group.line.join_in_front());
                    sleep(pause).await;
                }
            }
        }
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
        match tokio::time::timeout(Duration::from_millis(waited_ms), getting).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(_)) | Err(_) => Err(CheckOutError::Timeout { hostgroup, waited_ms }),
        }
    }
}

enum Attempt {
    Connected(Box<Connection>),
    AllFull,
    /// The hostgroup may have another connection only later.
    Throttled(Duration),
    NoneReachable,
}

/// Tries the servers of the hostgroup, each at most once. Leaves the line once it has the right to connect.
async fn try_each(
    group: &Hostgroup,
    place: &mut Option<Place>,
    wanted: &Wanted<'_>,
    variables: &MysqlVariables,
    clock: &Clock,
) -> Result<Attempt, CheckOutError> {
    let mut tried: Vec<Arc<Server>> = Vec::new();
    let mut some_full = false;
    while let Some(server) = choose(&group.servers, clock.now_ms(), &tried) {
        tried.push(Arc::clone(server));
        if let Some(connection) = take_idle(server, wanted) {
            return Ok(Attempt::Connected(connection));
        }
        let login = login(wanted, variables, server)?;
        if let Err(wait) = group.throttle.admit(clock.now_us(), group.settings.connections_per_second) {
            return Ok(Attempt::Throttled(wait));
        }
        let Some(slot) = (!server.is_urged()).then(|| reserve(server, wanted.worker.id)).flatten() else {
            group.throttle.give_back(group.settings.connections_per_second);
            some_full = true;
            continue;
        };
        *place = None;
        let opened = connect::open(slot, wanted.worker, &login).await;
        let opened = match opened {
            Err(OpenError::Init(refusal)) => {
                return Err(CheckOutError::Refused(server.refused_init(clock.now_ms(), refusal)));
            }
            Err(OpenError::Net(error)) => Err(error),
            Ok(connection) => Ok(connection),
        };
        match opened {
            Ok(connection) => {
                server.remember_kind(&connection);
                return Ok(Attempt::Connected(connection));
            }
            Err(NetError::Refused(refusal)) if is_the_user_s_fault(&refusal) => {
                server.failed(clock.now_ms(), u64::MAX, 0);
                return Err(CheckOutError::Refused(refusal));
            }
            Err(
                error @ (NetError::UnsupportedPlugin(_)
                | NetError::UnknownPassword(_)
                | NetError::ClearPasswordRefused(_)),
            ) => {
                return Err(CheckOutError::Login(error.to_string()));
            }
            Err(error) => {
                match error {
                    NetError::Tls(_) | NetError::NoTls => server.warn_of_tls(clock.now_ms(), &error),
                    _ => tracing::debug!(server = %server.address, %error, "could not connect"),
                }
                let recovery_ms = variables.shun_recovery_time_sec.saturating_mul(1000);
                server.failed(clock.now_ms(), variables.shun_on_failures, recovery_ms);
            }
        }
    }
    Ok(if some_full { Attempt::AllFull } else { Attempt::NoneReachable })
}

/// Access denied, unknown database and the like: another server would say the same.
fn is_the_user_s_fault(refusal: &ErrPacket) -> bool {
    matches!(refusal.code, 1044 | 1045 | 1049 | 1226 | 1698 | 1820 | 1862 | 3118 | 4151)
}

fn take_idle(server: &Arc<Server>, wanted: &Wanted<'_>) -> Option<Box<Connection>> {
    if server.is_urged() {
        return None;
    }
    loop {
        let mut connection = server.pool.take(wanted.worker.id, wanted)?;
        if connection.move_to(wanted.worker).is_ok() {
            return Some(connection);
        }
    }
}

/// The right to connect; an idle connection of another kind gives way for it.
fn reserve(server: &Arc<Server>, worker: usize) -> Option<super::connection::Slot> {
    server.reserve().or_else(|| {
        drop(server.pool.evict_one(worker)?);
        server.reserve()
    })
}

pub(super) fn login<'a>(
    wanted: &'a Wanted<'_>,
    variables: &MysqlVariables,
    server: &Server,
) -> Result<Login<'a>, CheckOutError> {
    let password = wanted.password.ok_or_else(|| {
        CheckOutError::Login(format!(
            "no backend password is known for user '{}': mysql_users has no active backend row for it, or holds \
             a hash and no client has logged in with the password since the start",
            wanted.user
        ))
    })?;
    let keepalive = variables.use_tcp_keepalive && variables.tcp_keepalive_time > 0;
    Ok(Login {
        user: wanted.user,
        password,
        schema: &wanted.state.schema,
        collation: wanted.state.charset.login_collation(),
        shape: wanted.shape,
        timeout: Duration::from_millis(variables.connect_timeout_server),
        keepalive: keepalive.then(|| Duration::from_secs(variables.tcp_keepalive_time)),
        max_packet_bytes: u32::try_from(variables.max_allowed_packet).unwrap_or(u32::MAX),
        init_connect: server.settings().init_connect.as_str().into(),
        clear_passwords: match variables.clear_password_to_servers {
            true => ClearPasswords::Allowed,
            false => ClearPasswords::Refused,
        },
    })
}

/// One of the online servers that have not been tried, by weight.
fn choose<'a>(servers: &'a [Arc<Server>], now_ms: u64, tried: &[Arc<Server>]) -> Option<&'a Arc<Server>> {
    if let ([server], []) = (servers, tried) {
        return (server.weight() > 0 && server.status(now_ms) == ServerStatus::Online).then_some(server);
    }
    let candidates = || {
        servers.iter().filter(|server| {
            server.weight() > 0
                && server.status(now_ms) == ServerStatus::Online
                && !tried.iter().any(|known| Arc::ptr_eq(known, server))
        })
    };
    let total: u64 = candidates().map(|server| u64::from(server.weight())).sum();
    let mut ticket = draw(total)?;
    candidates().find(|server| {
        let weight = u64::from(server.weight());
        let is_winner = ticket < weight;
        ticket = ticket.saturating_sub(weight);
        is_winner
    })
}

thread_local! {
    /// State of each thread's generator (SplitMix64); it need not be unpredictable, only even.
    static SEED: Cell<u64> = Cell::new(rapidhash::v3::rapidhash_v3(
        format!("{:?}", std::thread::current().id()).as_bytes(),
    ));
}

/// A number below `total`, evenly drawn; `None` when there is none.
fn draw(total: u64) -> Option<u64> {
    let seed = SEED.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
    SEED.set(seed);
    let mut mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)).checked_rem(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(port: u16, weight: u32, status: ServerStatus) -> Arc<Server> {
        let mut config = nuthatch_config::Server::new(HostgroupId(0), "127.0.0.1", port);
        config.weight = weight;
        config.status = status;
        Arc::new(Server::new(&config, 1, Arc::default()))
    }

    #[test]
    fn weights_are_met_within_2_points_over_10_000_draws() {
        for (first, second) in [(1, 1), (1, 99), (99, 1)] {
            let servers = [server(1, first, ServerStatus::Online), server(2, second, ServerStatus::Online)];
            let hits = (0..10_000).filter(|_| choose(&servers, 0, &[]).unwrap().port == 1).count();
            let expected = f64::from(first) / f64::from(first + second);
            let found = hits as f64 / 10_000.0;
            assert!((found - expected).abs() < 0.02, "{first}:{second} gave {found}");
        }
    }

    #[test]
    fn only_online_servers_with_weight_that_were_not_tried_are_chosen() {
        let servers = [
            server(1, 0, ServerStatus::Online),
            server(2, 5, ServerStatus::OfflineSoft),
            server(3, 5, ServerStatus::Shunned),
            server(4, 5, ServerStatus::OfflineHard),
            server(5, 1, ServerStatus::Online),
        ];
        assert_eq!(choose(&servers, 0, &[]).unwrap().port, 5);
        assert!(choose(&servers, 0, &[Arc::clone(&servers[4])]).is_none());
    }

    #[test]
    fn failures_within_a_second_shun_and_time_brings_back() {
        let servers = [server(1, 1, ServerStatus::Online)];
        (0..4).for_each(|_| servers[0].failed(5_000, 5, 10_000));
        assert!(choose(&servers, 5_000, &[]).is_some());
        servers[0].failed(5_100, 5, 10_000);
        assert_eq!(servers[0].status(5_100), ServerStatus::Shunned);
        assert!(choose(&servers, 15_099, &[]).is_none());
        assert!(choose(&servers, 15_100, &[]).is_some());
    }

    #[test]
    fn slots_never_exceed_max_connections() {
        let mut config = nuthatch_config::Server::new(HostgroupId(0), "127.0.0.1", 1);
        config.max_connections = 2;
        let server = Arc::new(Server::new(&config, 1, Arc::default()));
        let first = server.reserve();
        let second = server.reserve();
        assert!(first.is_some() && second.is_some());
        assert!(server.reserve().is_none());
        drop(first);
        assert!(server.reserve().is_some());
    }
}
