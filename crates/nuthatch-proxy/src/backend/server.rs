//! One server of a hostgroup at run time: its settings, its health, its counters, its connections.

pub(crate) mod ahead;
pub(crate) mod control;
pub(crate) mod defaults;
pub(crate) mod growth;
pub(crate) mod health;
pub(crate) mod kind;
pub(crate) mod known;
pub(crate) mod line;
pub(crate) mod pool;
pub(crate) mod refusal;
pub(crate) mod restarts;
pub(crate) mod room;
pub(crate) mod shortage;
pub(crate) mod throttle;
pub(crate) mod tls;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use nuthatch_config::{HealthLimits, HostgroupId, PoolSettings, ServerStatus, Snapshot, Warming};
use nuthatch_net::{BackendAddress, BackendTls, NetError};
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{ErrPacket, Greeting, StatusFlags};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::backend::server::ahead::Accepted;
use crate::backend::server::control::Control;
use crate::backend::server::defaults::{Defaults, Era, ServerDefaults};
use crate::backend::server::growth::Growth;
use crate::backend::server::health::gate::{Gate, GateChange, GateView, Others, PoolLook};
use crate::backend::server::health::rise::Rise;
use crate::backend::server::health::{Health, LagChange, LagOutcome};
use crate::backend::server::kind::Kind;
use crate::backend::server::known::Known;
use crate::backend::server::known::life::Sight;
use crate::backend::server::line::Line;
use crate::backend::server::pool::{Fit, Pool, Pooled};
use crate::backend::server::refusal::{Proof, told_of};
use crate::backend::server::restarts::Restarts;
use crate::backend::server::room::{Room, Whom};
use crate::backend::server::tls::TlsOfServer;
use crate::log_limit::LogLimit;

/// Of each server. It is tried again and again while statements wait.
const LINES_PER_SECOND_MAX: u32 = 1;

/// A server as the data plane knows it. Lives as long as the configuration names it or a connection to it is open.
#[derive(Debug)]
pub(crate) struct Server<C: Pooled> {
    /// Hostgroup that it stands in; the same host in two hostgroups is two servers.
    pub hostgroup: HostgroupId,
    /// Host as configured.
    pub host: String,
    /// Port as configured; 0 for a Unix socket.
    pub port: u16,
    pub(super) address: BackendAddress,
    health: Health,
    /// No configuration names it any more.
    is_retired: AtomicBool,
    weight: AtomicU32,
    rise: Rise,
    /// How much of its share it gets while it is cold.
    gate: Gate,
    compresses: AtomicBool,
    connections_max: AtomicUsize,
    pub(super) room: Room,
    greeting: Mutex<Option<(Greeting, StatusFlags)>>,
    open: AtomicUsize,
    /// KILLs that wait for a connection; nobody else is given one meanwhile.
    urged: AtomicUsize,
    /// Resets of its connections that are under way.
    resets: Arc<AtomicUsize>,
    /// Connections that are being opened ahead of need.
    warming: Arc<AtomicUsize>,
    /// Idle connections that are being pinged: on no shelf, but still idle.
    pings: Arc<AtomicUsize>,
    pub(super) pool: Pool<C>,
    controls: Mutex<Vec<Arc<Control>>>,
    pub(super) growth: Growth,
    /// What it has been told before of the state of sessions.
    pub(crate) accepted: Accepted,
    /// How it is connected to over TLS; empty in the clear.
    tls: ArcSwapOption<TlsOfServer>,
    log: LogLimit,
    used: AtomicUsize,
    counters: ServerCounters,
    /// Who waits for a connection of the hostgroup.
    pub(super) line: Arc<Line>,
    /// Who is told of each connection's number.
    pub(super) restarts: Arc<Restarts>,
    /// How its connections are kept.
    settings: ArcSwap<PoolSettings>,
    /// What every statement asks of that.
    keeping: Keeping,
    /// When what accounts may do was changed last: a connection keeps the privileges of its login.
    privileges_since: ArcSwapOption<Instant>,
    /// Whether that was ever.
    has_changed_privileges: AtomicBool,
    /// What its sessions begin with.
    pub(crate) defaults: Arc<ServerDefaults>,
    /// What is known of it, in whichever hostgroup.
    pub(crate) known: Known,
    /// Whether connections to it are to tell that.
    tells_gtids: AtomicBool,
    /// Whose connections were opened last, and how.
    pub(super) opened_last: Mutex<Option<Kind>>,
    /// Logging in anew over a connection did not make it as after its login.
    doubts_new_logins: AtomicBool,
}

/// Of [`PoolSettings`], what is asked at each check-out and check-in: of numbers that stand alone, no reader needs all of one configuration.
#[derive(Debug, Default)]
struct Keeping {
    free_connections_pct: AtomicU64,
    connections_before_change: AtomicU64,
    connection_age_ms_max: AtomicU64,
}

impl Keeping {
    fn take_over(&self, settings: &PoolSettings) {
        self.free_connections_pct.store(settings.free_connections_pct, Ordering::Relaxed);
        self.connections_before_change.store(settings.connections_before_change, Ordering::Relaxed);
        self.connection_age_ms_max.store(settings.connection_age_ms_max, Ordering::Relaxed);
    }
}

/// Something that is done to a connection in the background, counted while this lives.
#[derive(Debug)]
pub(crate) struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The right to have one connection to a server. Dropping it lets somebody else connect.
#[derive(Debug)]
pub(crate) struct Slot<C: Pooled> {
    pub(super) server: Arc<Server<C>>,
}

impl<C: Pooled> Drop for Slot<C> {
    fn drop(&mut self) {
        self.server.release_slot();
    }
}

/// See [`Server::urge`].
#[derive(Debug)]
pub(super) struct Urging<'a> {
    urged: &'a AtomicUsize,
    line: &'a Line,
}

impl Drop for Urging<'_> {
    fn drop(&mut self) {
        self.urged.fetch_sub(1, Ordering::AcqRel);
        self.line.tell();
    }
}

/// What happened with a server. All only grow, but for `used_max`.
#[derive(Debug, Default)]
pub(crate) struct ServerCounters {
    /// Connects that came to a login.
    pub connects_ok: AtomicU64,
    /// Connects that failed.
    pub connects_failed: AtomicU64,
    /// The most connections that were in use at one time.
    pub used_max: AtomicUsize,
    /// Statements sent.
    pub queries: AtomicU64,
    /// Of those, the ones that only a server could answer which shows what their session has seen.
    pub causal: AtomicU64,
    /// Bytes sent to the server.
    pub bytes_sent: AtomicU64,
    /// Bytes received from the server.
    pub bytes_received: AtomicU64,
    /// Microseconds that the last connect took.
    pub latency_us: AtomicU64,
}

/// A row of `stats_mysql_connection_pool`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of ProxySQL's table under their names")]
pub struct PoolRow {
    pub hostgroup: u32,
    pub srv_host: String,
    pub srv_port: u16,
    pub status: &'static str,
    pub conn_used: u64,
    pub conn_free: u64,
    pub conn_ok: u64,
    pub conn_err: u64,
    pub max_conn_used: u64,
    pub queries: u64,
    pub queries_gtid_sync: u64,
    pub bytes_data_sent: u64,
    pub bytes_data_recv: u64,
    pub latency_us: u64,
    /// Empty without TLS; else how far the certificate is believed: `unverified`, `ca`, `hostname`.
    pub tls: &'static str,
}

impl<C: Pooled> Server<C> {
    /// Whether both lead to one server: it may stand in several hostgroups.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        (&self.host, self.port) == (&other.host, other.port)
    }

    pub(super) fn new(
        config: &nuthatch_config::Server,
        workers: usize,
        line: Arc<Line>,
        restarts: Arc<Restarts>,
        defaults: Arc<ServerDefaults>,
        known: Known,
    ) -> Self {
        let settings = Arc::new(Snapshot::default().pool_settings(config.hostgroup));
        let server = Self {
            hostgroup: config.hostgroup,
            host: config.host.clone(),
            port: config.port,
            address: BackendAddress::new(&config.host, config.port),
            health: Health::default(),
            is_retired: AtomicBool::new(false),
            weight: AtomicU32::new(0),
            rise: Rise::default(),
            gate: Gate::default(),
            compresses: AtomicBool::new(false),
            connections_max: AtomicUsize::new(0),
            room: Room::default(),
            greeting: Mutex::default(),
            open: AtomicUsize::new(0),
            urged: AtomicUsize::new(0),
            resets: Arc::default(),
            warming: Arc::default(),
            pings: Arc::default(),
            pool: Pool::new(workers),
            controls: Mutex::default(),
            growth: Growth::default(),
            accepted: Accepted::default(),
            tls: ArcSwapOption::empty(),
            log: LogLimit::new(LINES_PER_SECOND_MAX),
            used: AtomicUsize::new(0),
            counters: ServerCounters::default(),
            line,
            restarts,
            settings: ArcSwap::from(Arc::clone(&settings)),
            keeping: Keeping::default(),
            privileges_since: ArcSwapOption::empty(),
            has_changed_privileges: AtomicBool::new(false),
            defaults,
            known,
            tells_gtids: AtomicBool::new(false),
            opened_last: Mutex::default(),
            doubts_new_logins: AtomicBool::new(false),
        };
        server.keeping.take_over(&settings);
        server.configure(config);
        server
    }

    /// Takes over what the configuration says now. OFFLINE_HARD cuts every connection before this returns.
    pub(super) fn configure(&self, config: &nuthatch_config::Server) {
        self.weight.store(config.weight, Ordering::Release);
        self.doubts_new_logins.store(false, Ordering::Relaxed);
        self.connections_max.store(config.max_connections as usize, Ordering::Release);
        if self.compresses.swap(config.compression, Ordering::AcqRel) != config.compression {
            self.pool.clear();
        }
        self.set_status(config.status);
    }

    /// Whether connections to it are to be compressed.
    pub(super) fn compresses(&self) -> bool {
        self.compresses.load(Ordering::Acquire)
    }

    /// Connects by `tls` from now on; idle connections that were made otherwise are closed.
    pub(super) fn use_tls(&self, tls: Option<Arc<TlsOfServer>>) {
        let before = self.tls.swap(tls.clone());
        if before != tls {
            self.pool.clear();
        }
    }

    /// Keeps connections so from now on; idle ones that were begun otherwise are closed, and what others answer is not stored. Says whether
    /// they begin otherwise from now on.
    pub(super) fn use_settings(&self, settings: &Arc<PoolSettings>) -> bool {
        self.keeping.take_over(settings);
        let before = self.settings.swap(Arc::clone(settings));
        let begins_otherwise = before.init_connect != settings.init_connect;
        if begins_otherwise {
            self.note_privileges();
        }
        begins_otherwise
    }

    /// Connections to it tell of what was committed from now on, or do not; idle ones that were begun otherwise are closed.
    pub(super) fn tell_gtids(&self, tells: bool) {
        if self.tells_gtids.swap(tells, Ordering::AcqRel) != tells {
            self.pool.clear();
        }
    }

    /// Whether they do.
    pub(crate) fn tells_gtids(&self) -> bool {
        self.tells_gtids.load(Ordering::Acquire)
    }

    /// How its connections are kept.
    pub(super) fn settings(&self) -> Arc<PoolSettings> {
        self.settings.load_full()
    }

    /// What accounts may do has been changed: idle connections are closed, the others when they are put back.
    pub(super) fn note_privileges(&self) {
        self.privileges_since.store(Some(Arc::new(Instant::now())));
        self.has_changed_privileges.store(true, Ordering::Release);
        self.close_idle();
    }

    /// Whether a connection that was opened then may have privileges of before their last change.
    pub(crate) fn has_older_privileges(&self, opened: Instant) -> bool {
        self.has_changed_privileges.load(Ordering::Acquire)
            && self.privileges_since.load().as_ref().is_some_and(|since| opened < **since)
    }

    /// What sessions begin with has been changed to these values, or to unknown ones: idle connections are closed, the others when they
    /// are put back.
    pub(crate) fn change_defaults(&self, values: Option<Defaults>) {
        self.defaults.change(values);
        self.close_idle();
    }

    /// The same where the server has begun anew: what sessions began with before counts no more.
    pub(super) fn begin_defaults_anew(&self) {
        self.defaults.begin_anew();
        self.close_idle();
    }

    /// Whether a connection that was opened then, and began with that, is to be closed.
    pub(super) fn is_too_old(&self, opened: Instant, era: &Era) -> bool {
        let max_ms = self.keeping.connection_age_ms_max.load(Ordering::Relaxed);
        let is_aged = max_ms > 0 && opened.elapsed() > Duration::from_millis(max_ms);
        is_aged || self.has_older_privileges(opened) || self.defaults.is_later_than(era)
    }

    /// Logging in anew over one of its connections came to nothing: that is not tried again until the next configuration.
    pub(crate) fn doubt_new_logins(&self) {
        self.doubts_new_logins.store(true, Ordering::Relaxed);
    }

    /// Whether a connection can be logged in anew.
    pub(crate) fn takes_new_logins(&self) -> bool {
        !self.doubts_new_logins.load(Ordering::Relaxed)
    }

    /// How it is connected to over TLS.
    pub(super) fn tls(&self) -> Option<Arc<TlsOfServer>> {
        self.tls.load_full()
    }

    /// The configuration names it no more: nothing new is sent to it, what runs may finish.
    pub(super) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
        if !self.is_cut_off() {
            self.set_status(ServerStatus::OfflineSoft);
        }
    }

    /// Nothing is sent to it any more, and its connections are cut before this returns.
    pub(super) fn cut_off(&self) {
        self.set_status(ServerStatus::OfflineHard);
    }

    /// Whether it is OFFLINE_HARD.
    pub(super) fn is_cut_off(&self) -> bool {
        self.health.status(0) == ServerStatus::OfflineHard
    }

    /// Whether no configuration names it any more.
    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }

    fn set_status(&self, status: ServerStatus) {
        if !self.health.ask_for(status) {
            self.pool.clear();
        }
        if status == ServerStatus::OfflineHard {
            self.controls.lock().iter().for_each(|control| control.cut());
        }
        self.line.tell();
    }

    /// The status asked for, or `Shunned` while it is shunned.
    pub(crate) fn status(&self, now_ms: u64) -> ServerStatus {
        self.health.status(now_ms)
    }

    /// Whether nothing more is sent to it, nor was left to run: it was taken offline, and its connections cut.
    pub(crate) fn is_fenced(&self, now_ms: u64) -> bool {
        self.status(now_ms) == ServerStatus::OfflineHard
    }

    /// Whether a statement may be sent to it that could go to another.
    pub(super) fn takes_new_work(&self, now_ms: u64) -> bool {
        self.weight() > 0 && self.status(now_ms) == ServerStatus::Online && !self.health.is_slow()
    }

    /// Whether it would take statements if it could be reached: who is sent nothing anyway misses nothing by being cold.
    pub(crate) fn is_in_service(&self, now_ms: u64) -> bool {
        self.weight() > 0 && matches!(self.status(now_ms), ServerStatus::Online | ServerStatus::Shunned)
    }

    /// Its share of the statements that could go to others too, in no unit; `None` if it takes none. One that comes back rises to its
    /// whole share in `slow_start_ms`.
    pub(super) fn share(&self, now_ms: u64, slow_start_ms: u64) -> Option<u64> {
        let weight = u64::from(self.weight());
        match (self.takes_new_work(now_ms), slow_start_ms) {
            (true, 0) => Some(weight),
            (true, _) => Some(weight * self.rise.steps(now_ms, slow_start_ms)),
            (false, 0) => None,
            (false, _) => {
                self.rise.is_away();
                None
            }
        }
    }

    /// It gets nothing of its share for now.
    pub(super) fn is_held_back(&self) {
        self.rise.is_away();
    }

    /// Where it is.
    pub(crate) const fn address(&self) -> &BackendAddress {
        &self.address
    }

    /// TLS for connections as `user`, if it is used.
    ///
    /// # Errors
    /// Why it is to be used and cannot be.
    pub(crate) fn tls_of(&self, user: &str) -> Result<Option<BackendTls>, NetError> {
        self.tls().as_deref().map(|tls| tls.of(user).connector().cloned()).transpose()
    }

    /// Its family and version, if it was ever logged in to.
    pub(crate) fn flavor(&self) -> Option<ServerFlavor> {
        let greeting = self.greeting.lock();
        greeting.as_ref().map(|(greeting, _)| ServerFlavor::of_version(&greeting.version))
    }

    pub(super) fn weight(&self) -> u32 {
        self.weight.load(Ordering::Acquire)
    }

    pub(super) const fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    /// The greeting of the last login and the status flags after it, if there was one.
    pub(crate) fn greeting(&self) -> Option<(Greeting, StatusFlags)> {
        self.greeting.lock().clone()
    }

    /// A login worked: the server is healthy, and this is how it greets.
    pub(super) fn connected(&self, greeting: Greeting, status: StatusFlags, latency_us: u64) {
        self.counters.connects_ok.fetch_add(1, Ordering::Relaxed);
        self.counters.latency_us.store(latency_us, Ordering::Relaxed);
        self.health.connected();
        *self.greeting.lock() = Some((greeting, status));
    }

    /// A connect failed, for whatever reason.
    pub(super) fn count_failure(&self) {
        self.counters.connects_failed.fetch_add(1, Ordering::Relaxed);
    }

    /// A connect failed, which proves the server ill. After `failures_max` of them within a second the server is shunned for `recovery_ms`.
    pub(super) fn failed(&self, now_ms: u64, failures_max: u64, recovery_ms: u64, why: &str) {
        tracing::debug!(server = %self.address, why, "could not connect");
        if let Some(failures) = self.health.failed(now_ms, failures_max, recovery_ms, why) {
            self.pool.clear();
            tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, recovery_ms, why,
                "shunned a server after {failures} failed connects within a second");
        }
    }

    /// It could not be reached, whoever tries: no more is asked of it for a while than must be, and it may be another server then.
    pub(super) fn falter(&self, now_ms: u64) {
        self.accepted.forget_all();
        self.health.falter(now_ms);
    }

    /// A connection to it was lost under a statement: for a moment what is asked again is asked of others first, where there are any.
    pub(super) fn doubt(&self, now_ms: u64) {
        self.health.doubt(now_ms);
    }

    /// Whether others are to be asked first.
    pub(super) fn is_doubted(&self, now_ms: u64) -> bool {
        self.health.is_doubted(now_ms)
    }

    /// It lets in no more, by its own limit: nobody connects for a while, and what is there is waited for.
    pub(super) fn has_no_room(&self, now_ms: u64, user: &Arc<str>, proof: Proof, why: &str) {
        let whom = if proof == Proof::FullForUser { Whom::Account(user) } else { Whom::Anybody };
        self.room.is_denied(now_ms, whom);
        if let Some(suppressed) = self.log.admit(now_ms) {
            tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, %user, why, suppressed,
                open = self.open.load(Ordering::Relaxed),
                "a server lets in no more connections: statements wait for those that there are; \
                 mysql_servers.max_connections should be below the server's own limit");
        }
    }

    /// Logs why it refuses the proxy's logins as `user`.
    pub(super) fn warn_of_login(&self, now_ms: u64, user: &str, why: &str) {
        if let Some(suppressed) = self.log.admit(now_ms) {
            tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, user, why, suppressed,
                "a server refused the proxy's login: compare the user's row in mysql_users with the account there");
        }
    }

    /// The server's refusal of the proxy's login, as the client is told, whose own password was right.
    pub(super) fn refused_login(&self, user: &str, mut refusal: ErrPacket) -> ErrPacket {
        let message = format!(
            "Access denied on the way to the server: {} refused the proxy's login as '{user}' with {}; compare the \
             password in mysql_users with that of the account there",
            self.address,
            told_of(&refusal)
        );
        refusal.message = message.into_bytes();
        refusal
    }

    /// Why it can be used for nothing new; `None` where it can.
    pub(crate) fn why_not(&self, now_ms: u64) -> Option<String> {
        let is_left_out = self.weight() == 0 && self.status(now_ms) == ServerStatus::Online;
        let why = if is_left_out { Some("has weight 0".to_owned()) } else { self.health.why_not(now_ms) };
        why.map(|why| format!("{} {why}", self.address))
    }

    /// Logs why there is no TLS with it: unlike a server that is down, this does not mend itself.
    pub(super) fn warn_of_tls(&self, now_ms: u64, error: &NetError) {
        if let Some(suppressed) = self.log.admit(now_ms) {
            tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, %error, suppressed,
                "cannot connect to a server with use_ssl");
        }
    }

    /// How much an idle connection may have to be changed. While there are few, one more is rather opened, if it may be kept and
    /// none has failed of late.
    pub(super) fn fit(&self, now_ms: u64) -> Fit {
        let has_room = || self.room.is_there(now_ms);
        let open = self.open.load(Ordering::Relaxed);
        let are_few = || open as u64 <= self.keeping.connections_before_change.load(Ordering::Relaxed);
        match are_few() && open < self.keep_idle() && self.health.is_well(now_ms) && has_room() {
            true => Fit::AsItIs,
            false => Fit::Any,
        }
    }

    /// How many idle connections are kept.
    pub(super) fn keep_idle(&self) -> usize {
        let percent = self.keeping.free_connections_pct.load(Ordering::Relaxed).min(100);
        let keep = self.connections_max() as u64 * percent / 100;
        usize::try_from(keep).unwrap_or(usize::MAX)
    }

    /// Takes the right to connect, unless `max_connections` are there already.
    pub(super) fn reserve(self: &Arc<Self>) -> Option<Slot<C>> {
        self.reserve_beside(0)
    }

    /// The same, and leaves so many to others.
    pub(super) fn reserve_beside(self: &Arc<Self>, others: usize) -> Option<Slot<C>> {
        let max = self.connections_max.load(Ordering::Acquire).saturating_sub(others);
        self.open
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |open| (open < max).then_some(open + 1))
            .ok()
            .map(|_| Slot { server: Arc::clone(self) })
    }

    pub(super) fn release_slot(&self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
        self.line.tell();
    }

    /// Counts a reset of a connection for as long as what it returns lives, unless `resets_max` are under way.
    pub(crate) fn begin_reset(&self, resets_max: u64) -> Option<UnderWay> {
        let is_free = |under_way: usize| ((under_way as u64) < resets_max).then_some(under_way + 1);
        let counted = self.resets.fetch_update(Ordering::AcqRel, Ordering::Acquire, is_free);
        counted.ok().map(|_| UnderWay(Arc::clone(&self.resets)))
    }

    /// Counts the ping of an idle connection for as long as what it returns lives.
    pub(super) fn begin_ping(&self) -> UnderWay {
        self.pings.fetch_add(1, Ordering::AcqRel);
        UnderWay(Arc::clone(&self.pings))
    }

    /// Connections that are being opened ahead of need.
    pub(super) fn warming(&self) -> usize {
        self.warming.load(Ordering::Acquire)
    }

    /// Counts one for as long as what it returns lives, if there is room for one.
    pub(super) fn begin_warming(&self) -> Option<UnderWay> {
        let has_room = self.open.load(Ordering::Acquire) < self.connections_max() && !self.is_urged();
        has_room.then(|| {
            self.warming.fetch_add(1, Ordering::AcqRel);
            UnderWay(Arc::clone(&self.warming))
        })
    }

    /// Logs why `init_connect` was refused.
    pub(super) fn warn_of_init(&self, now_ms: u64, error: &str) {
        if let Some(suppressed) = self.log.admit(now_ms) {
            tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, error, suppressed,
                "closed a new connection");
        }
    }

    /// Keeps connections and slots that become free for who calls, while what it returns lives.
    pub(super) fn urge(&self) -> Urging<'_> {
        self.urged.fetch_add(1, Ordering::AcqRel);
        Urging { urged: &self.urged, line: &self.line }
    }

    /// Whether a KILL waits for a connection.
    pub(super) fn is_urged(&self) -> bool {
        self.urged.load(Ordering::Acquire) > 0
    }

    pub(super) fn connections_max(&self) -> usize {
        self.connections_max.load(Ordering::Acquire)
    }

    /// Whether it has been shunned, and no login has worked since.
    pub(super) fn was_shunned(&self) -> bool {
        self.health.was_shunned()
    }

    /// A login to the same server has worked in another hostgroup.
    pub(super) fn unshun(&self) {
        self.health.connected();
        self.line.tell();
    }

    /// The monitor's ping came back after so long.
    pub(super) fn answers_pings(&self, latency_us: u64) {
        if self.health.answers(latency_us) {
            tracing::info!(server = %self.address, hostgroup = self.hostgroup.0, "a server answers pings again");
            self.line.tell();
        }
    }

    /// It is there, and does not let the monitor in.
    pub(super) fn refuses_pings(&self) {
        if self.health.refuses_pings() {
            tracing::info!(server = %self.address, hostgroup = self.hostgroup.0, "a server can be reached again");
            self.line.tell();
        }
    }

    /// The monitor's pings do not come back: nothing new is sent to it, and its connections are cut.
    pub(super) fn leaves_pings_unanswered(&self, why: &str) {
        if self.health.is_silent(why) {
            tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, why,
                "shunned a server that does not answer pings, and cut its connections");
        }
        self.pool.clear();
        self.controls.lock().iter().for_each(|control| control.cut());
        self.line.tell();
    }

    /// Nobody pings it any more.
    pub(super) fn forget_pings(&self) {
        self.health.forget_pings();
        self.line.tell();
    }

    /// By what it is passed over though it is online.
    pub(super) fn limit_health(&self, limits: HealthLimits) {
        self.health.limit(limits);
    }

    /// It is the same server in a further hostgroup: how it greets is known, and what the monitor has found counts at once. Its limits are
    /// known.
    pub(super) fn inherit(&self, other: &Self) {
        self.health.inherit(&other.health);
        let greeting = other.greeting();
        *self.greeting.lock() = greeting;
    }

    /// How much of its share it gets, in percent: less than all while it is cold.
    pub(super) fn part(&self) -> u64 {
        self.gate.part()
    }

    /// Whether nothing is held back from it for being cold.
    pub(super) fn is_gate_open(&self) -> bool {
        self.gate.is_open()
    }

    /// Whether it was started anew and is not known to be warm since, though it may have its whole share.
    pub(super) fn is_cold(&self) -> bool {
        self.gate.is_cold()
    }

    /// Reads of others in a second that it is to be sent too; none where none are.
    pub(super) fn mirrored_reads_per_second(&self) -> Option<u64> {
        self.gate.reads_per_second()
    }

    /// How cold it is, as tables show it.
    pub(crate) fn gate(&self) -> GateView {
        self.gate.view()
    }

    /// How it gets warm before it gets its share.
    pub(super) fn keep_gate(&self, warming: Warming, now_ms: u64) {
        let change = self.gate.keep_to(warming, now_ms);
        self.tell_of_gate(change, now_ms);
    }

    /// It has come into the hostgroup, or back. Says whether somebody is to look whether it was started anew: not if it is known to have run
    /// for long.
    pub(super) fn enters(&self, is_among_others: bool, now_ms: u64) -> bool {
        let is_known = self.known.life.has_run_for(self.gate.ms_max(), now_ms);
        if !is_known {
            self.gate.enters(is_among_others, now_ms);
        }
        !is_known
    }

    /// It could not be reached, and may have been started anew.
    pub(super) fn suspect(&self, now_ms: u64) {
        self.gate.suspect(now_ms);
    }

    /// Somebody has looked at its buffer pool.
    pub(super) fn judge_gate(&self, sight: Sight, look: Option<&PoolLook>, others: Others, now_ms: u64) {
        let change = self.gate.judge(sight, look, others, now_ms);
        self.tell_of_gate(change, now_ms);
    }

    /// Opens its gate if that was closed for too long, or no other server takes new work.
    pub(super) fn look_after_gate(&self, others: Others, now_ms: u64) {
        let change = self.gate.look_after(others, now_ms);
        self.tell_of_gate(change, now_ms);
    }

    fn tell_of_gate(&self, change: Option<GateChange>, now_ms: u64) {
        let change = change.filter(|_| self.is_in_service(now_ms));
        let (server, hostgroup) = (&self.address, self.hostgroup.0);
        match change {
            Some(GateChange::Closed { why }) => {
                self.known.life.gates_closed.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(%server, hostgroup, why, part_pct = self.gate.part(),
                    "a server was started anew: until it is warm it gets so much of its share");
            }
            Some(GateChange::Opened { why, held_ms: Some(held_ms) }) => {
                tracing::info!(%server, hostgroup, why, held_ms, "a server gets its whole share again");
            }
            Some(GateChange::Opened { why, held_ms: None }) => {
                tracing::info!(%server, hostgroup, why, "a server was started anew, and gets its whole share at once");
            }
            None => {}
        }
    }

    /// How far the monitor has found it behind.
    pub(super) fn note_lag(&self, lag: LagOutcome) {
        match self.health.note_lag(lag) {
            Some(LagChange::TooFar { lag_s, max_s }) => {
                tracing::warn!(server = %self.address, hostgroup = self.hostgroup.0, lag_s, max_s,
                    "a server is too far behind its source: nothing new is sent to it (max_replication_lag)");
            }
            Some(LagChange::Near) => {
                tracing::info!(server = %self.address, hostgroup = self.hostgroup.0,
                    "a server is near enough to its source again");
                self.line.tell();
            }
            None => {}
        }
    }

    /// Seconds that it is behind its source, by the monitor's last look that told.
    pub(crate) fn lag_s(&self) -> Option<u64> {
        self.health.lag_s()
    }

    /// Microseconds of the monitor's last ping.
    pub(crate) fn ping_us(&self) -> Option<u64> {
        self.health.latency_us()
    }

    /// Remembers a connection, so that it can be cut.
    pub(super) fn remember(&self, control: &Arc<Control>) {
        self.controls.lock().push(Arc::clone(control));
    }

    /// A connection is closed.
    pub(super) fn forget(&self, control: &Arc<Control>) {
        let mut controls = self.controls.lock();
        if let Some(place) = controls.iter().position(|known| Arc::ptr_eq(known, control)) {
            controls.swap_remove(place);
        }
    }

    /// Looks at each connection that is open.
    pub(super) fn visit_connections(&self, mut visit: impl FnMut(&Control)) {
        self.controls.lock().iter().for_each(|control| visit(control));
    }

    /// Connections that are open or being opened.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Connections that are in use, and those that are being opened.
    pub(super) fn in_use(&self) -> usize {
        let opening = self.open().saturating_sub(self.controls.lock().len());
        opening + self.used.load(Ordering::SeqCst)
    }

    /// Connections that work for a statement, and those that are being opened.
    pub(super) fn under_way(&self) -> usize {
        let controls = self.controls.lock();
        let opening = self.open.load(Ordering::Acquire).saturating_sub(controls.len());
        opening + controls.iter().filter(|control| control.is_at_work()).count()
    }

    pub(super) fn count_lent(&self) {
        let used = self.used.fetch_add(1, Ordering::SeqCst) + 1;
        if used > self.counters.used_max.load(Ordering::Relaxed) {
            self.counters.used_max.fetch_max(used, Ordering::Relaxed);
        }
    }

    pub(super) fn count_given_back(&self) {
        self.used.fetch_sub(1, Ordering::AcqRel);
    }

    /// Closes the idle connections.
    pub(crate) fn close_idle(&self) {
        self.pool.clear();
    }

    /// Its status in ProxySQL's words, or ours while its gate is closed.
    fn status_word(&self, now_ms: u64) -> &'static str {
        let is_held = self.gate.is_closed() && self.status(now_ms) == ServerStatus::Online;
        if is_held { "WARMING" } else { self.health.status_word(now_ms) }
    }

    /// The server's row in `stats_mysql_connection_pool`.
    pub(crate) fn pool_row(&self, now_ms: u64) -> PoolRow {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PoolRow {
            hostgroup: self.hostgroup.0,
            srv_host: self.host.clone(),
            srv_port: self.port,
            status: self.status_word(now_ms),
            conn_used: self.used.load(Ordering::Acquire) as u64,
            conn_free: (self.pool.len() + self.pings.load(Ordering::Acquire)) as u64,
            conn_ok: of(&self.counters.connects_ok),
            conn_err: of(&self.counters.connects_failed),
            max_conn_used: self.counters.used_max.load(Ordering::Relaxed) as u64,
            queries: of(&self.counters.queries),
            queries_gtid_sync: of(&self.counters.causal),
            bytes_data_sent: of(&self.counters.bytes_sent),
            bytes_data_recv: of(&self.counters.bytes_received),
            latency_us: self.health.latency_us().unwrap_or_else(|| of(&self.counters.latency_us)),
            tls: self.tls().map_or("", |tls| tls.for_all.verification()),
        }
    }

    /// Starts the counters anew; levels stay.
    pub(crate) fn reset_counters(&self) {
        let counters = &self.counters;
        for counter in [
            &counters.connects_ok,
            &counters.connects_failed,
            &counters.queries,
            &counters.bytes_sent,
            &counters.bytes_received,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
        counters.used_max.store(self.used.load(Ordering::Acquire), Ordering::Relaxed);
    }
}

#[cfg(test)]
impl<C: Pooled> Server<C> {
    /// One that nobody connects to.
    pub(crate) fn at(host: &str, port: u16) -> Arc<Self> {
        Self::of(&nuthatch_config::Server::new(HostgroupId(0), host, port))
    }

    /// The same, as configured.
    pub(crate) fn of(config: &nuthatch_config::Server) -> Arc<Self> {
        let defaults = defaults::AllDefaults::default().of("", 0);
        Arc::new(Self::new(config, 1, Arc::default(), Restarts::before_nothing(), defaults, Known::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Server;

    #[test]
    fn slots_never_exceed_max_connections() {
        let mut config = nuthatch_config::Server::new(HostgroupId(0), "127.0.0.1", 1);
        config.max_connections = 2;
        let server = Server::of(&config);
        let first = server.reserve();
        let second = server.reserve();
        assert!(first.is_some() && second.is_some());
        assert!(server.reserve().is_none());
        drop(first);
        assert!(server.reserve().is_some());
    }
}
