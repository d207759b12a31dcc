//! What the pools need from time to time: idle connections are closed when they are old or too many, pinged when they have been silent
//! for long, and opened ahead of need where that is configured.
//!
//! Housekeeping decides; the work on sockets is done by the workers that watch them.

mod mirroring;

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{ServerStatus, Snapshot};
use nuthatch_net::BackendPassword;
use nuthatch_wire::{AnswerKind, Command, ErrPacket};
use tokio::time::timeout;

use crate::backend::check_out::connect;
use crate::backend::check_out::logging_in::login;
use crate::backend::hostgroup::Hostgroup;
use crate::backend::server::kind::Kind;
use crate::backend::upkeep::mirroring::Lane;
use crate::backend::{Connection, Hostgroups, Server, Wanted};
use crate::clock::Clock;
use crate::state::{Charset, SessionState};
use crate::worker::Worker;

/// For how long a connection beyond the share of idle ones is kept.
const SURPLUS_IDLE_MS: u64 = 1000;

/// Connections to one server that a round opens ahead of need.
const WARMED_PER_ROUND_MAX: usize = 10;

/// One round for all servers: who does the work, and by what.
pub(crate) struct Upkeep<'a> {
    pub(crate) workers: &'a [Arc<Worker>],
    pub(crate) clock: Clock,
    pub(crate) snapshot: &'a Arc<Snapshot>,
    /// How to log in as a user, if that is known.
    pub(crate) password: &'a dyn Fn(&str) -> Option<Arc<BackendPassword>>,
}

impl Upkeep<'_> {
    /// Does it.
    pub(crate) fn keep_pools(&self, hostgroups: &Arc<Hostgroups>) {
        let now_ms = self.clock.now_ms();
        hostgroups.mirrors.end_unwanted(now_ms);
        for group in hostgroups.all_groups() {
            for server in &group.servers {
                server.trim(now_ms);
                self.ping_silent(server, now_ms);
                self.mirror(hostgroups, server, now_ms);
                if group.settings.connection_warming && group.line.is_empty() {
                    self.warm(hostgroups, &group, server, now_ms);
                }
            }
        }
    }

    /// Has reads of others sent to it as long as it takes any.
    fn mirror(&self, hostgroups: &Arc<Hostgroups>, server: &Arc<Server>, now_ms: u64) {
        let begun = hostgroups.mirrors.keep(server, now_ms);
        for (intake, worker) in begun.into_iter().zip(self.workers.iter().cycle()) {
            let lane = Lane {
                server: Arc::clone(server),
                worker: Arc::clone(worker),
                snapshot: Arc::clone(self.snapshot),
                hostgroups: Arc::clone(hostgroups),
                clock: self.clock,
            };
            drop(worker.spawn(lane.run(Arc::clone(hostgroups.mirrors.counts()), intake)));
        }
    }

    fn ping_silent(&self, server: &Arc<Server>, now_ms: u64) {
        let settings = server.settings();
        let patience = Duration::from_millis(settings.ping_timeout_ms);
        for connection in server.pool.take_silent(now_ms.saturating_sub(settings.ping_interval_ms)) {
            let Some(worker) = self.workers.iter().find(|worker| worker.id == connection.worker) else {
                continue;
            };
            let (clock, under_way) = (self.clock, server.begin_ping());
            let _detached = worker.spawn(async move {
                if let Some(mut connection) = answers_ping(connection, patience).await {
                    connection.pinged_ms = clock.now_ms();
                    let server = Arc::clone(connection.server());
                    if server.status(connection.pinged_ms) == ServerStatus::Online {
                        server.pool.put(connection);
                        server.line.tell();
                    }
                }
                drop(under_way);
            });
        }
    }

    /// Opens connections of the kind that was opened last, up to the share that may lie idle.
    fn warm(&self, hostgroups: &Arc<Hostgroups>, group: &Hostgroup, server: &Arc<Server>, now_ms: u64) {
        let share = server.connections_max()
            * usize::try_from(group.settings.free_connections_pct).unwrap_or(0)
            / 100;
        let missing = share.saturating_sub(server.pool.len() + server.warming()).min(WARMED_PER_ROUND_MAX);
        let is_online = server.takes_new_work(now_ms);
        let Some(kind) = server.opened_last.lock().clone().filter(|_| is_online && missing > 0) else {
            return;
        };
        let Some(password) = (self.password)(&kind.user) else { return };
        for worker in self.workers.iter().cycle().take(missing) {
            if !group.throttle.admits(self.clock.now_us(), group.settings.connections_per_second) {
                return;
            }
            let Some(warming) = server.begin_warming() else { return };
            let (hostgroups, clock) = (Arc::clone(hostgroups), self.clock);
            let (here, kind, password) = (Arc::clone(worker), kind.clone(), Arc::clone(&password));
            let (server, snapshot) = (Arc::clone(server), Arc::clone(self.snapshot));
            let _detached = worker.spawn(async move {
                let life = server.known.caught_up.life();
                let opened = open_ahead(&server, &kind, &password, &here, &snapshot).await;
                hostgroups.suspect_if_anew(&server, life, clock.now_ms());
                drop(warming);
                if let Some(connection) = opened {
                    hostgroups.check_in(connection, clock.now_ms());
                }
            });
        }
    }
}

async fn open_ahead(
    server: &Arc<Server>,
    kind: &Kind,
    password: &BackendPassword,
    worker: &Worker,
    snapshot: &Snapshot,
) -> Option<Box<Connection>> {
    let slot = server.reserve()?;
    let (schema, charset) = (kind.schema.clone(), Charset::Collation(kind.collation));
    let state = SessionState::new(schema, charset);
    let wanted = Wanted::by(&kind.user, Some(password), kind.shape, &state, worker);
    let login = login(&wanted, &snapshot.mysql, server).ok()?;
    connect::open(slot, worker, &login).await.ok()
}

impl Server {
    /// Closes idle connections that the server has closed, that are too old, or that are too many and have been idle for a
    /// while.
    fn trim(&self, now_ms: u64) {
        let keep = self.keep_idle();
        let idle_before_ms = now_ms.saturating_sub(SURPLUS_IDLE_MS);
        self.pool.trim(keep, idle_before_ms, Connection::is_too_old);
    }

    /// Further connections of this kind may be opened ahead of need.
    pub(super) fn remember_kind(&self, connection: &Connection) {
        let kind = Kind {
            user: Arc::clone(&connection.user),
            shape: connection.shape,
            collation: connection.login_collation,
            schema: connection.state.schema.to_vec(),
        };
        *self.opened_last.lock() = Some(kind);
    }

    /// The server's refusal of `init_connect`, as the client is told; the log is told as well.
    pub(super) fn refused_init(&self, now_ms: u64, mut refusal: ErrPacket) -> ErrPacket {
        let message = format!("mysql-init_connect failed: {}", String::from_utf8_lossy(&refusal.message));
        self.warn_of_init(now_ms, &message);
        refusal.message = message.into_bytes();
        refusal
    }
}

/// The connection, if its server answers in time; closed otherwise.
async fn answers_ping(mut connection: Box<Connection>, patience: Duration) -> Option<Box<Connection>> {
    let ping = connection.order(Command::Ping, b"", AnswerKind::Single);
    match timeout(patience, ping).await {
        Ok(Ok(Ok(_))) => Some(connection),
        failed => {
            let server = &connection.server().address;
            tracing::debug!(%server, ?failed, "closed an idle connection that does not answer a ping");
            None
        }
    }
}
