//! One statement's search for a connection: waits in line, looks at the servers, connects.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use nuthatch_config::{HostgroupId, MysqlVariables};
use nuthatch_net::NetError;
use tokio::time::{sleep, timeout};

use crate::backend::check_out::connect::{self, OpenError};
use crate::backend::check_out::errors::CheckOutError;
use crate::backend::check_out::idle::{reserve, take_idle};
use crate::backend::check_out::logging_in::{login, require_password};
use crate::backend::check_out::wanted::Wanted;
use crate::backend::check_out::weights::{Doubted, choose};
use crate::backend::connection::{Connection, Server, Slot};
use crate::backend::hostgroup::{Hostgroup, Hostgroups};
use crate::backend::server::growth::Asking;
use crate::backend::server::line::stay::Stay;
use crate::backend::server::line::{Place, Turn};
use crate::backend::server::pool::Fit;
use crate::backend::server::refusal::{Proof, number_of, told};
use crate::backend::why_none::why_none;
use crate::clock::Clock;
use crate::stats::Occurrence;

/// Of `mysql-unshun_algorithm`.
const IN_ALL_HOSTGROUPS: u64 = 1;

/// The pause before the servers of a hostgroup are tried again when none could be reached.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(10);

/// One statement's search for a connection.
pub(in crate::backend) struct Search<'a> {
    hostgroup: HostgroupId,
    wanted: &'a Wanted<'a>,
    variables: &'a MysqlVariables,
    clock: &'a Clock,
    stay: Stay,
    place: Option<Place>,
    was_throttled: bool,
    /// The servers of this round that gave nothing.
    tried: Vec<Arc<Server>>,
    /// One of them because all its connections are in use.
    some_full: bool,
    /// What the last connect failed for.
    why: Option<String>,
}

/// What a look at the servers of a hostgroup came to.
enum Look {
    Idle(Box<Connection>),
    MayConnect(Slot),
    /// Others use what there is, or more may be opened only later.
    Wait,
    NoneReachable,
}

impl<'a> Search<'a> {
    /// At that place it has had the turn already.
    pub(in crate::backend) fn new(
        hostgroup: HostgroupId,
        wanted: &'a Wanted<'a>,
        variables: &'a MysqlVariables,
        clock: &'a Clock,
        place: Option<Place>,
        stay: Stay,
    ) -> Self {
        Self {
            hostgroup,
            wanted,
            variables,
            clock,
            stay,
            place,
            was_throttled: false,
            tried: Vec::new(),
            some_full: false,
            why: None,
        }
    }

    /// Waits in line, looks, connects, until something has come of it.
    pub(in crate::backend) async fn run(
        mut self,
        hostgroups: &Hostgroups,
    ) -> Result<Box<Connection>, CheckOutError> {
        loop {
            let group =
                hostgroups.group(self.hostgroup).filter(|group| !group.is_gone() || group.line.is_held());
            let Some(group) = group else {
                return Err(CheckOutError::NoServer { hostgroup: self.hostgroup });
            };
            self.place = self.place.take().filter(|place| place.is_in(&group.line));
            if self.place.is_none() && self.tried.is_empty() && !group.line.is_free() {
                self.join(&group, hostgroups)?;
                self.await_turn(&group).await?;
                continue;
            }
            if group.line.is_held() {
                self.stand_in_front(&group);
                self.await_turn(&group).await?;
                continue;
            }
            let had = match self.look(&group)? {
                Look::Idle(connection) => Some(connection),
                Look::MayConnect(slot) => {
                    // Who comes next may look meanwhile.
                    self.place = None;
                    match Box::pin(self.connect(slot, &group, hostgroups)).await? {
                        Some(connection) => Some(connection),
                        None => continue,
                    }
                }
                Look::Wait => None,
                // Who can answer something else need not be waited for here.
                Look::NoneReachable if self.wanted.need.is_some() => return Err(CheckOutError::Behind),
                Look::NoneReachable => {
                    // It keeps its place, but what others free is of no use.
                    self.stand_in_front(&group);
                    Box::pin(self.pause(&group)).await?;
                    continue;
                }
            };
            if let Some(connection) = had.and_then(|had| self.unless_held(had, &group, hostgroups)) {
                return Ok(connection);
            }
            self.stand_in_front(&group);
            self.await_turn(&group).await?;
        }
    }

    /// Takes the last place in line.
    fn join(&mut self, group: &Hostgroup, hostgroups: &Hostgroups) -> Result<(), CheckOutError> {
        let full = |full| hostgroups.line_is_full(self.hostgroup, full, self.clock.now_us());
        self.place = Some(group.line.join(self.stay).map_err(full)?);
        Ok(())
    }

    /// Begins another round, at its place or at the first.
    fn stand_in_front(&mut self, group: &Hostgroup) {
        self.begin_round();
        let stay = self.stay;
        self.place.get_or_insert_with(|| group.line.join_in_front(stay));
    }

    async fn await_turn(&mut self, group: &Hostgroup) -> Result<(), CheckOutError> {
        let Some(place) = &self.place else { return Ok(()) };
        match place.turn().await {
            Turn::Look => Ok(()),
            Turn::Over => Err(self.timeout(group)),
        }
    }

    /// The connection, unless the hostgroup is held since it was looked for; then it is put back.
    fn unless_held(
        &self,
        mut connection: Box<Connection>,
        group: &Hostgroup,
        hostgroups: &Hostgroups,
    ) -> Option<Box<Connection>> {
        connection.count_as_lent();
        // Either who holds it sees the connection in use, or this sees that it is held.
        fence(Ordering::SeqCst);
        if !group.line.is_held() {
            return Some(connection);
        }
        hostgroups.check_in(connection, self.clock.now_ms());
        None
    }

    /// Looks at the servers of the hostgroup, each at most once in a round. Gives the right to connect before who stands
    /// in line leaves it.
    fn look(&mut self, group: &Hostgroup) -> Result<Look, CheckOutError> {
        let Self { wanted, clock, .. } = *self;
        let settings = &group.settings;
        let now_us = clock.now_us();
        let now_ms = now_us / 1000;
        let doubted = Doubted::by(wanted.errand.is_again);
        while let Some(server) =
            choose(&group.servers, settings.slow_start_ms, now_ms, &self.tried, wanted.need, doubted)
        {
            let fit = server.fit(now_ms);
            if let Some(connection) = take_idle(server, wanted, fit) {
                return Ok(Look::Idle(connection));
            }
            let change_one = || match fit {
                Fit::AsItIs => take_idle(server, wanted, Fit::Any),
                Fit::Any => None,
            };
            if let Err(error) = require_password(wanted) {
                return change_one().map(Look::Idle).ok_or(error);
            }
            if !server.room.is_there_for(wanted.user, now_ms) {
                // It has said that it lets in no more.
                if let Some(connection) = change_one() {
                    return Ok(Look::Idle(connection));
                }
                self.some_full = true;
                self.tried.push(Arc::clone(server));
                continue;
            }
            let (standing_since_us, free_since_us) = group.line.standing_since_us();
            let asking = Asking {
                now_us,
                since_us: self.stay.since_us.max(free_since_us),
                standing_since_us,
                moved_us: group.line.shortage.is_there().then(|| group.line.moved_us()),
            };
            if !server.growth.admits(asking, settings.growth_interval_ms * 1000, || server.under_way()) {
                return Ok(change_one().map_or(Look::Wait, Look::Idle));
            }
            if !group.throttle.admits(now_us, settings.connections_per_second) {
                if let Some(connection) = change_one() {
                    return Ok(Look::Idle(connection));
                }
                if !std::mem::replace(&mut self.was_throttled, true) {
                    wanted.worker.counters.throttled.bump();
                }
                return Ok(Look::Wait);
            }
            if let Some(slot) = (!server.is_urged()).then(|| reserve(server, wanted.worker.id)).flatten() {
                return Ok(Look::MayConnect(slot));
            }
            group.throttle.give_back(settings.connections_per_second);
            if let Some(connection) = change_one() {
                return Ok(Look::Idle(connection));
            }
            self.some_full = true;
            self.tried.push(Arc::clone(server));
        }
        // Where none takes statements, who stands in line is told when one does.
        let waits = self.some_full || self.tried.is_empty() && wanted.need.is_none();
        Ok(if waits { Look::Wait } else { Look::NoneReachable })
    }

    /// A new connection; `None` when the server could not be reached, so that another is to be tried.
    async fn connect(
        &mut self,
        slot: Slot,
        group: &Hostgroup,
        hostgroups: &Hostgroups,
    ) -> Result<Option<Box<Connection>>, CheckOutError> {
        let server = Arc::clone(&slot.server);
        let was_shunned = server.was_shunned();
        let life = server.known.caught_up.life();
        let worker = self.wanted.worker;
        let opening = async {
            let login = login(self.wanted, self.variables, &server)?;
            Ok(connect::open(slot, worker, &login).await)
        };
        let opened = worker.with_tokio(timeout(self.time_left(group), opening)).await;
        let Ok(opened) = opened else {
            self.why = Some(format!("{}: no answer to a connect", server.address));
            return Err(self.timeout(group));
        };
        match opened? {
            Ok(connection) => {
                server.remember_kind(&connection);
                hostgroups.suspect_if_anew(&server, life, self.clock.now_ms());
                if was_shunned && self.variables.unshun_algorithm == IN_ALL_HOSTGROUPS {
                    hostgroups.unshun(&server.host, server.port);
                }
                // It may have been found to be another process just now, that shows less.
                if self.wanted.need.is_some_and(|need| !need.is_met_by(&server.known.caught_up)) {
                    hostgroups.check_in(connection, self.clock.now_ms());
                    self.tried.push(server);
                    return Ok(None);
                }
                Ok(Some(connection))
            }
            Err(OpenError::Init(refusal)) => {
                Err(CheckOutError::Refused(server.refused_init(self.clock.now_ms(), refusal)))
            }
            Err(OpenError::Net(error)) => self.learn_from(server, error, hostgroups).map(|()| None),
        }
    }

    /// What a failed connect comes to: for the server, and for who searches.
    fn learn_from(
        &mut self,
        server: Arc<Server>,
        error: NetError,
        hostgroups: &Hostgroups,
    ) -> Result<(), CheckOutError> {
        let (now_ms, user) = (self.clock.now_ms(), self.wanted.user);
        let why = told(&error);
        server.count_failure();
        hostgroups.errors.note(
            &Occurrence {
                hostgroup: server.hostgroup.0,
                host: &server.host,
                port: server.port,
                user,
                client: "",
                schema: &self.wanted.state.schema,
                number: number_of(&error),
            },
            why.as_bytes(),
            now_ms,
        );
        let proof = match &error {
            NetError::Refused(refusal) => Proof::of(refusal),
            NetError::UnsupportedPlugin(_)
            | NetError::UnknownPassword(_)
            | NetError::ClearPasswordRefused(_) => {
                server.warn_of_login(now_ms, user, &why);
                return Err(CheckOutError::Login(format!("{}, as '{user}': {why}", server.address)));
            }
            _ => Proof::Ill,
        };
        match (proof, error) {
            (Proof::OfLogin, NetError::Refused(refusal)) => return Err(CheckOutError::Refused(refusal)),
            (Proof::OfAccount, NetError::Refused(refusal)) => {
                server.warn_of_login(now_ms, user, &why);
                return Err(CheckOutError::Refused(server.refused_login(user, refusal)));
            }
            (Proof::Full | Proof::FullForUser, _) => {
                server.has_no_room(now_ms, user, proof, &why);
                let counters = &self.wanted.worker.counters;
                counters.servers_without_room.bump();
                // What lies idle there is of a kind that was of no use, or it would have been taken.
                drop(match proof {
                    Proof::Full => server.pool.evict_one(self.wanted.worker.id),
                    _ => server.pool.take_of(self.wanted.worker.id, user),
                });
                self.some_full = true;
            }
            (_, error) => {
                if matches!(error, NetError::Tls(_) | NetError::NoTls) {
                    server.warn_of_tls(now_ms, &error);
                }
                server.falter(now_ms);
                hostgroups.suspect(&server, now_ms);
                let recovery_ms = self.variables.shun_recovery_time_sec.saturating_mul(1000);
                server.failed(now_ms, self.variables.shun_on_failures, recovery_ms, &why);
            }
        }
        self.why = Some(format!("{}: {why}", server.address));
        self.tried.push(server);
        Ok(())
    }

    fn begin_round(&mut self) {
        self.tried.clear();
        self.some_full = false;
    }

    /// The pause before the servers are tried again.
    async fn pause(&mut self, group: &Hostgroup) -> Result<(), CheckOutError> {
        let left = self.time_left(group);
        if left.is_zero() {
            return Err(self.timeout(group));
        }
        let pause = Duration::from_millis(self.variables.connect_retries_delay).max(RETRY_PAUSE_MIN);
        self.wanted.worker.with_tokio(sleep(pause.min(left))).await;
        Ok(())
    }

    fn time_left(&self, group: &Hostgroup) -> Duration {
        let until_us = group.line.until_us(self.stay);
        Duration::from_micros(until_us.saturating_sub(self.clock.now_us()))
    }

    /// That the time is over, and what it was waited for.
    fn timeout(&mut self, group: &Hostgroup) -> CheckOutError {
        let now_us = self.clock.now_us();
        let failed = self.why.take().filter(|_| group.line.awaits_connections());
        let why = failed.unwrap_or_else(|| why_none(group, now_us));
        CheckOutError::timeout(self.hostgroup, self.stay.since_us, now_us, why)
    }
}
