//! Lending a connection and taking it back: what a session needs of one, and which errors it may meet.

pub(crate) mod connect;
pub(crate) mod errors;
pub(crate) mod idle;
pub(crate) mod logging_in;
pub(crate) mod search;
pub(crate) mod wanted;
pub(crate) mod weights;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use nuthatch_config::{HostgroupId, MysqlVariables, ServerStatus};
use tokio::time::{sleep, timeout};

use crate::backend::check_out::errors::CheckOutError;
use crate::backend::check_out::idle::{reserve, take_idle};
use crate::backend::check_out::logging_in::login;
use crate::backend::check_out::search::Search;
use crate::backend::check_out::wanted::Wanted;
use crate::backend::check_out::weights::{Doubted, choose};
use crate::backend::connection::{Connection, Server};
use crate::backend::hostgroup::{Hostgroup, Hostgroups};
use crate::backend::server::line::limits::Full;
use crate::backend::server::line::stay::Stay;
use crate::backend::server::line::{Place, Turn};
use crate::backend::why_none::why_none;
use crate::clock::Clock;
use crate::worker::Worker;

/// The pause before a KILL looks for a connection again on a server that is full.
const KILL_PAUSE: Duration = Duration::from_millis(5);

/// A place among those who wait for a connection of a hostgroup. Dropping it leaves the line.
#[derive(Debug)]
pub(crate) struct InLine {
    place: Place,
    stay: Stay,
}

/// What can be had of a hostgroup without waiting.
#[derive(Debug)]
pub(crate) enum AtOnce {
    /// A connection.
    Idle(Box<Connection>),
    /// A place among those who wait for one.
    InLine(InLine),
    /// Not even that: no more may wait.
    Full(Full),
}

/// Where a search for a connection begins.
#[derive(Debug)]
pub(crate) enum Start {
    /// With a statement of so many bytes.
    New { bytes: usize },
    /// At a place in line, whose turn has come.
    InLine(InLine),
}

/// Who joins a line.
#[derive(Debug)]
pub(crate) struct Joining {
    stay: Stay,
    waker: Waker,
}

impl Joining {
    /// Since then, for as long as the variables let a statement of so many bytes wait; `waker` wakes it when its turn comes.
    pub(crate) fn since(since_us: u64, variables: &MysqlVariables, bytes: usize, waker: Waker) -> Self {
        Self { stay: Stay::at_most(since_us, variables, bytes), waker }
    }
}

impl InLine {
    /// Waits until it is worth a look ([`Hostgroups::take_in_turn`]), or its time is over ([`Hostgroups::time_is_over`]).
    pub(crate) async fn turn(&self) -> Turn {
        self.place.turn().await
    }

    /// The same for who is woken by `cx` and not a task.
    pub(crate) fn poll_turn(&self, cx: &Context<'_>) -> Poll<Turn> {
        self.place.poll_turn(cx)
    }

    /// Since when, in microseconds of the clock.
    pub(crate) const fn since_us(&self) -> u64 {
        self.stay.since_us
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
        start: Start,
    ) -> Result<Box<Connection>, CheckOutError> {
        let (place, stay) = match start {
            Start::InLine(InLine { place, stay }) => (Some(place), stay),
            Start::New { bytes } => (None, Stay::at_most(clock.now_us(), variables, bytes)),
        };
        Search::new(hostgroup, wanted, variables, clock, place, stay).run(self).await
    }

    /// An idle connection as by [`Self::take_idle`] where nobody waits in line and the hostgroup is not held; else the last place there.
    pub(crate) fn take_idle_or_join(
        &self,
        hostgroup: HostgroupId,
        wanted: &Wanted<'_>,
        now_ms: u64,
        joins: impl FnOnce() -> Joining,
    ) -> Option<AtOnce> {
        self.with_group(wanted.worker.id, hostgroup, |group| match group.line.is_free() {
            true => take_idle_of(group, wanted, now_ms).map(AtOnce::Idle),
            false => {
                let Joining { stay, waker } = joins();
                Some(match group.line.join_others(stay, waker) {
                    Ok(place) => AtOnce::InLine(InLine { place, stay }),
                    Err(full) => AtOnce::Full(full),
                })
            }
        })
    }

    /// What is said to who may not wait in line.
    pub(crate) fn line_is_full(&self, hostgroup: HostgroupId, full: Full, now_us: u64) -> CheckOutError {
        let why = self.group(hostgroup).map(|group| why_none(&group, now_us)).unwrap_or_default();
        CheckOutError::LineFull { hostgroup, full, why }
    }

    /// What is said to who has waited in line in vain.
    pub(crate) fn time_is_over(
        &self,
        hostgroup: HostgroupId,
        in_line: &InLine,
        now_us: u64,
    ) -> CheckOutError {
        let why = self.group(hostgroup).map(|group| why_none(&group, now_us)).unwrap_or_default();
        CheckOutError::timeout(hostgroup, in_line.since_us(), now_us, why)
    }

    /// The same as [`Self::take_idle`] for who has the turn.
    pub(crate) fn take_in_turn(
        &self,
        hostgroup: HostgroupId,
        wanted: &Wanted<'_>,
        now_ms: u64,
        in_line: &InLine,
    ) -> Option<Box<Connection>> {
        self.with_group(wanted.worker.id, hostgroup, |group| {
            match in_line.place.is_in(&group.line) && !group.line.is_held() {
                true => take_idle_of(group, wanted, now_ms),
                false => None,
            }
        })
    }

    /// An idle connection of a server chosen as by [`Self::check_out`], if it has one that suits: without waiting.
    pub(crate) fn take_idle(
        &self,
        hostgroup: HostgroupId,
        wanted: &Wanted<'_>,
        now_ms: u64,
    ) -> Option<Box<Connection>> {
        self.with_group(wanted.worker.id, hostgroup, |group| match group.line.is_free() {
            true => take_idle_of(group, wanted, now_ms),
            false => None,
        })
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
            || connection.is_too_old()
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

fn take_idle_of(group: &Hostgroup, wanted: &Wanted<'_>, now_ms: u64) -> Option<Box<Connection>> {
    let (slow_start_ms, doubted) = (group.settings.slow_start_ms, Doubted::by(wanted.errand.is_again));
    let server = choose(&group.servers, slow_start_ms, now_ms, &[], wanted.need, doubted)?;
    let mut connection = take_idle(server, wanted, server.fit(now_ms))?;
    // Who holds the hostgroup from now on sees it.
    connection.count_as_lent();
    Some(connection)
}

impl Server {
    /// Any connection of the user, for a KILL. It goes before whatever waits for this server.
    pub(in crate::backend) async fn check_out_for_kill(
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
