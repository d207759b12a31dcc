//! The data plane as a whole: what sessions share, what the program and the admin interface do with it.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use nuthatch_cache::{Cache, ClockOptions, Clocks, Limits, Usage};
use nuthatch_config::{HostgroupId, MysqlVariables, Snapshot, User};
use nuthatch_net::{BackendPassword, OldestVersion, Proof, ServerTls};
use nuthatch_sql::{Lexing, ServerFlavor};
use nuthatch_wire::{CapabilityFlags, Greeting, Nonce, SHA256_LEN, StatusFlags};
use parking_lot::{Mutex, RwLock};

use crate::backend::{Hostgroups, PoolRow, Restarts, Server};
use crate::capability::{COMPRESSION, OWN, SUPPORTED, UNTIL_LEARNED};
use crate::clock::Clock;
use crate::environment::{ENVIRONMENTS_MAX, Environments};
use crate::exact::{Binlogs, CatalogueStore, Delayed, ExactLevels, TableCounters};
use crate::keeper::ConfigurationKeeper;
use crate::known_schemas::KnownSchemas;
use crate::log_limit::LogLimit;
use crate::passwords::Passwords;
use crate::session::{EndReason, HitPlan};
use crate::stats::{CommandRow, DigestReading, DigestRow, Digests, ErrorRow, Totals, command_rows};
use crate::worker::Workers;

/// Refused logins that are logged in a second.
const REFUSAL_LINES_PER_SECOND_MAX: u32 = 5;

/// What ProxySQL says it is; only until a server has been seen.
const VERSION_UNTIL_LEARNED: &str = "8.0.11";

/// How statements are read before any server has been seen.
const UNSEEN_SERVER: Lexing = Lexing::of(ServerFlavor::MySql(80_011));

/// The numbers of sessions have this bit: neither servers, which count their connections, nor a signed integer come there. So a number of a session
/// is never taken for a server's, or the reverse.
pub(crate) const SESSION_IDS_BEGIN: u32 = 1 << 30;

/// Another one in each process, and no secret.
fn random_number() -> u32 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The data plane. Cheap to share; everything in it is for concurrent use.
#[derive(Debug)]
pub struct Proxy {
    pub(crate) clock: Clock,
    pub(crate) workers: Workers,
    pub(crate) hostgroups: Hostgroups,
    pub(crate) cache: Cache<Arc<HitPlan>>,
    pub(crate) environments: Environments,
    pub(crate) digests: Digests,
    pub(crate) refusal_log: LogLimit,
    pub(crate) known_schemas: KnownSchemas,
    pub(crate) clocks: Arc<Clocks>,
    pub(crate) catalogues: Arc<CatalogueStore>,
    pub(crate) table_counters: TableCounters,
    pub(crate) binlogs: Binlogs,
    pub(crate) delayed: Delayed,
    pub(crate) exact_is_wanted: AtomicBool,
    /// Somebody needed to know what stored code leaves.
    pub(crate) stored_code_is_wanted: AtomicBool,
    pub(crate) tables_max: u32,
    snapshot: ArcSwap<Snapshot>,
    epoch: AtomicU64,
    learned: RwLock<Learned>,
    /// Counts up from a random start: two proxies one behind the other do not give the same numbers.
    next_session_id: AtomicU32,
    users: Mutex<HashMap<Arc<str>, u32>>,
    passwords: Passwords,
    tls: ArcSwapOption<ServerTls>,
    paused: AtomicBool,
    panics: AtomicU64,
    keeper: OnceLock<Arc<dyn ConfigurationKeeper>>,
    /// A statement has asked to be cached, whatever rules say.
    is_asked_to_cache: AtomicBool,
}

/// What has been learned of the servers.
#[derive(Debug, Clone)]
struct Learned {
    greeting: Option<Greeting>,
    lexing: Lexing,
}

/// Where the admin interface's figures come from, besides [`Totals`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after the statistic that it becomes")]
pub struct Levels {
    pub uptime_seconds: u64,
    pub clients_connected: u64,
    pub clients_non_idle: u64,
    pub active_transactions: u64,
    pub sessions_pinned: u64,
    pub servers_created: u64,
    pub servers_failed: u64,
    pub servers_connected: u64,
    pub sessions_per_worker: Vec<u64>,
    pub digests: u64,
    pub digests_max: u64,
    pub digests_dropped: u64,
    /// Shapes of statements that the workers remember.
    pub shapes: u64,
    /// The most that they do.
    pub shapes_max: u64,
    /// Sessions that wait for a connection.
    pub waiting: u64,
    pub environments: u64,
    pub environments_max: u64,
    pub max_connections: u64,
    pub cache: Usage,
    pub exact: ExactLevels,
    pub panics: u64,
}

/// A row of `stats_mysql_processlist`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of ProxySQL's table under their names")]
pub struct ProcessRow {
    pub worker: u64,
    pub session_id: u32,
    pub user: String,
    pub db: Vec<u8>,
    pub cli_host: String,
    pub cli_port: u16,
    pub hostgroup: Option<u32>,
    pub command: &'static str,
    pub time_ms: u64,
    pub info: Option<Vec<u8>>,
    pub server_host: Option<String>,
    pub server_port: Option<u16>,
    pub local_host: Option<String>,
    pub local_port: Option<u16>,
    pub pins: String,
}

impl Proxy {
    /// Starts the workers under a first configuration. Nobody is let in before a [`crate::Listener`] serves.
    ///
    /// # Errors
    /// When threads or runtimes cannot be made.
    pub fn start(workers: usize, snapshot: Arc<Snapshot>) -> io::Result<Arc<Self>> {
        let workers_count = workers.max(1);
        let clock = Clock::start();
        let tables_max = u32::try_from(snapshot.mysql.query_cache_tables_max).unwrap_or(u32::MAX);
        let clocks = Arc::new(Clocks::new(ClockOptions { tables_max, ..ClockOptions::default() }));
        let catalogues = Arc::new(CatalogueStore::new(&clocks));
        let forgetting = Arc::clone(&catalogues);
        let restarts = Restarts::new(move |host, port| forgetting.forget_server(host, port));
        let learned = Learned { greeting: None, lexing: UNSEEN_SERVER };
        let proxy = Arc::new(Self {
            clock,
            workers: Workers::start(workers_count, clock)?,
            hostgroups: Hostgroups::new(workers_count, Arc::new(restarts)),
            cache: Cache::new(cache_limits(&snapshot.mysql)),
            environments: Environments::default(),
            digests: Digests::new(),
            refusal_log: LogLimit::new(REFUSAL_LINES_PER_SECOND_MAX),
            known_schemas: KnownSchemas::default(),
            catalogues,
            clocks,
            tables_max,
            table_counters: TableCounters::new(tables_max),
            binlogs: Binlogs::default(),
            delayed: Delayed::default(),
            exact_is_wanted: AtomicBool::new(false),
            stored_code_is_wanted: AtomicBool::new(false),
            epoch: AtomicU64::new(snapshot.epoch.0),
            snapshot: ArcSwap::new(Arc::clone(&snapshot)),
            learned: RwLock::new(learned),
            next_session_id: AtomicU32::new(random_number()),
            users: Mutex::default(),
            passwords: Passwords::default(),
            tls: ArcSwapOption::empty(),
            paused: AtomicBool::new(false),
            panics: AtomicU64::new(0),
            keeper: OnceLock::new(),
            is_asked_to_cache: AtomicBool::new(false),
        });
        proxy.hostgroups.publish(&snapshot);
        proxy.note_type(&snapshot);
        Ok(proxy)
    }

    /// Puts a configuration in force: when this returns, every statement that begins is judged by it.
    pub fn publish(&self, snapshot: Arc<Snapshot>) {
        self.hostgroups.publish(&snapshot);
        self.cache.set_limits(cache_limits(&snapshot.mysql));
        let epoch = snapshot.epoch.0;
        self.snapshot.store(snapshot);
        self.epoch.store(epoch, Ordering::Release);
        self.known_schemas.clear();
        let snapshot = self.snapshot();
        self.note_type(&snapshot);
        self.forget_catalogues(&snapshot);
        self.learn_greeting();
    }

    /// The configuration in force.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// The collation that a server gives a client which asks for that number: its own default where it does not know it.
    pub(crate) fn collation_for(&self, asked: u8) -> u8 {
        /// `utf8mb4_0900_ai_ci`, which clients of MySQL 8 ask for.
        const OF_MYSQL_8: u8 = 255;
        /// From then on MariaDB has it under another name.
        const MARIADB_WITH_IT: u32 = 110_405;
        match self.lexing().server {
            ServerFlavor::MariaDb(version) if asked == OF_MYSQL_8 && version < MARIADB_WITH_IT => {
                self.default_collation().unwrap_or(asked)
            }
            _ => asked,
        }
    }

    /// The collation that the servers give a connection which names none.
    pub(crate) fn default_collation(&self) -> Option<u8> {
        self.learned.read().greeting.as_ref().map(|greeting| greeting.collation)
    }

    pub(crate) fn lexing(&self) -> Lexing {
        self.learned.read().lexing
    }

    /// Looks at how the servers greet now.
    pub(crate) fn learn_greeting(&self) {
        let Some((greeting, status)) = self.hostgroups.greeting() else { return };
        let mut learned = self.learned.write();
        if learned.greeting.as_ref().is_none_or(|known| known.version != greeting.version) {
            let version = String::from_utf8_lossy(&greeting.version).into_owned();
            tracing::info!(version, "learned how the servers greet");
        }
        learned.lexing = lexing_after(learned.lexing, status);
        learned.lexing.server = ServerFlavor::of_version(&greeting.version);
        learned.greeting = Some(greeting);
    }

    /// The greeting for a new client: the servers' own, as far as the proxy can keep its promises.
    pub(crate) fn greeting(&self, snapshot: &Snapshot, id: u32, nonce: Nonce) -> Greeting {
        let learned = self.learned.read().greeting.clone();
        let configured = &snapshot.mysql.server_version;
        let learned_version = learned.as_ref().map(|greeting| greeting.version.clone());
        let version = match configured.is_empty() {
            true => learned_version.unwrap_or_else(|| VERSION_UNTIL_LEARNED.into()),
            false => configured.clone().into_bytes(),
        };
        let offered = learned.as_ref().map_or(UNTIL_LEARNED, |greeting| greeting.capabilities);
        let mut supported = SUPPORTED;
        if !snapshot.mysql.enable_load_data_local_infile {
            supported.remove(CapabilityFlags::CLIENT_LOCAL_FILES);
        }
        let mut own = OWN;
        own.set(COMPRESSION, snapshot.mysql.have_compress);
        own.set(CapabilityFlags::CLIENT_SSL, self.tls(snapshot).is_some());
        Greeting {
            version,
            connection_id: id,
            nonce,
            capabilities: offered & supported | own,
            collation: learned.as_ref().map_or(45, |greeting| greeting.collation),
            status: StatusFlags::SERVER_STATUS_AUTOCOMMIT,
            auth_plugin: snapshot.mysql.default_authentication_plugin.as_bytes().to_vec(),
        }
    }

    pub(crate) fn next_session_id(&self) -> u32 {
        SESSION_IDS_BEGIN | (self.next_session_id.fetch_add(1, Ordering::Relaxed) % SESSION_IDS_BEGIN)
    }

    /// Counts a session against its user's limit; `false` when there is no room.
    pub(crate) fn enter_user(&self, name: &str, connections_max: u32) -> bool {
        let mut users = self.users.lock();
        let count = users.entry(Arc::from(name)).or_default();
        let has_room = *count < connections_max;
        *count += u32::from(has_room);
        has_room
    }

    pub(crate) fn leave_user(&self, name: &str) {
        let mut users = self.users.lock();
        if let Some(count) = users.get_mut(name) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                users.remove(name);
            }
        }
    }

    /// Sessions of each user.
    #[must_use]
    pub fn users(&self) -> Vec<(Arc<str>, u32)> {
        self.users.lock().iter().map(|(name, count)| (Arc::clone(name), *count)).collect()
    }

    /// Remembers what a login revealed of the user's password, for logins to servers.
    pub(crate) fn learn_password(&self, user: &User, proof: Proof) {
        self.passwords.learn(user, proof);
    }

    /// `SHA256(SHA256(password))` of the user, if a login has revealed it.
    pub(crate) fn known_double(&self, user: &User) -> Option<[u8; SHA256_LEN]> {
        self.passwords.double(user)
    }

    /// How to log in to servers as `name`.
    pub(crate) fn backend_password(&self, snapshot: &Snapshot, name: &str) -> Option<Arc<BackendPassword>> {
        let user = snapshot.users.backend(name.as_bytes())?;
        self.passwords.towards_servers(user).map(Arc::new)
    }

    /// Offers clients that TLS from now on; `None` offers none.
    pub fn offer_tls(&self, tls: Option<ServerTls>) {
        self.tls.store(tls.map(Arc::new));
    }

    /// What is offered to clients under that configuration.
    pub(crate) fn tls(&self, snapshot: &Snapshot) -> Option<(Arc<ServerTls>, OldestVersion)> {
        let oldest = match snapshot.mysql.ssl_min_version.as_str() {
            "TLSv1.3" => OldestVersion::Tls13,
            _ => OldestVersion::Tls12,
        };
        let tls = if snapshot.mysql.have_ssl { self.tls.load_full() } else { None };
        tls.map(|tls| (tls, oldest))
    }

    /// Takes no new clients until [`Self::resume`].
    pub fn pause(&self) {
        self.paused.store(true, Ordering::Release);
    }

    /// Takes new clients again.
    pub fn resume(&self) {
        self.paused.store(false, Ordering::Release);
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    pub(crate) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// The session for which the connection of that number to the server works, or that holds it.
    pub(crate) fn session_of(
        &self,
        server: &Server,
        thread_id: u32,
    ) -> Option<Arc<crate::session::SessionHandle>> {
        let mut found = None;
        for worker in self.workers.iter() {
            worker.for_each_session(|handle| {
                if handle.view.lock().has_connection(server, thread_id) {
                    found = Some(Arc::clone(handle));
                }
            });
        }
        found
    }

    /// The session of that number.
    pub(crate) fn session(&self, session_id: u32) -> Option<Arc<crate::session::SessionHandle>> {
        self.workers.iter().find_map(|worker| worker.session(session_id))
    }

    /// Ends the session of that number; `false` when there is none.
    #[must_use]
    pub fn kill(&self, session_id: u32) -> bool {
        self.session(session_id).map(|handle| handle.end(EndReason::Killed)).is_some()
    }

    /// Tells who keeps the configuration; the first word stands.
    pub fn is_kept_by(&self, keeper: Arc<dyn ConfigurationKeeper>) {
        drop(self.keeper.set(keeper));
    }

    pub(crate) fn keeper(&self) -> Option<&Arc<dyn ConfigurationKeeper>> {
        self.keeper.get()
    }

    /// From now on sessions look their statements up, though no rule caches anything.
    pub(crate) fn ask_to_cache(&self) {
        if !self.is_asked_to_cache() {
            self.is_asked_to_cache.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_asked_to_cache(&self) -> bool {
        self.is_asked_to_cache.load(Ordering::Relaxed)
    }

    /// Purges the query cache and returns how many entries were in it.
    pub fn flush_query_cache(&self) -> u64 {
        self.cache.flush()
    }

    /// Ends all sessions: those without anything open at once, the others when they have nothing open any more or when
    /// `patience` is over. Listeners must have stopped. Returns how many had to be cut off.
    pub async fn drain(&self, patience: Duration) -> usize {
        let drained = async {
            while self.workers.sessions() > 0 {
                self.for_each_session(|handle| {
                    if handle.busy.load(Ordering::Acquire) == 0 {
                        handle.end(EndReason::Drained);
                    }
                });
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(patience, drained).await.is_ok() {
            return 0;
        }
        let left = self.workers.sessions();
        self.stop_sessions().await;
        left
    }

    /// Ends all sessions at once.
    pub async fn stop_sessions(&self) {
        let ended = async {
            while self.workers.sessions() > 0 {
                self.for_each_session(|handle| handle.end(EndReason::Stopped));
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        drop(tokio::time::timeout(Duration::from_secs(2), ended).await);
    }

    /// Ends the workers' threads.
    pub fn stop(&self) {
        self.workers.stop();
    }

    pub(crate) fn for_each_session(&self, mut visit: impl FnMut(&Arc<crate::session::SessionHandle>)) {
        self.workers.iter().for_each(|worker| worker.for_each_session(&mut visit));
    }

    /// The counters of all workers.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.workers.totals()
    }

    /// The rows of `stats_mysql_commands_counters`.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandRow> {
        command_rows(self.workers.iter().map(|worker| &worker.commands), self.totals().cache_get_ok)
    }

    /// How often sessions began to keep a connection, by the reason's name.
    #[must_use]
    pub fn pinned_by(&self) -> Vec<(&'static str, u64)> {
        self.workers.pinned_by()
    }

    /// Everything that rises and falls.
    #[must_use]
    pub fn levels(&self) -> Levels {
        let (mut non_idle, mut in_transaction, mut pinned) = (0, 0, 0);
        self.for_each_session(|handle| {
            let view = handle.view.lock();
            non_idle += u64::from(view.command != "Sleep");
            in_transaction += u64::from(view.pins.split(',').any(|pin| pin == "transaction"));
            pinned += u64::from(!view.pins.is_empty());
        });
        let (servers_created, servers_failed) = self.hostgroups.connects();
        let pools = self.connection_pool();
        let variables = self.snapshot();
        Levels {
            uptime_seconds: self.clock.now_ms() / 1000,
            clients_connected: self.workers.sessions() as u64,
            clients_non_idle: non_idle,
            active_transactions: in_transaction,
            sessions_pinned: pinned,
            servers_created,
            servers_failed,
            servers_connected: pools.iter().map(|row| row.conn_used + row.conn_free).sum(),
            sessions_per_worker: self.workers.iter().map(|worker| worker.sessions() as u64).collect(),
            digests: self.digests.len() as u64,
            digests_max: variables.mysql.query_digests_max_entries,
            digests_dropped: self.digests.dropped(),
            shapes: self.workers.iter().map(|worker| worker.memo.len() as u64).sum(),
            shapes_max: 2 * variables.mysql.shapes_max_entries * self.workers.iter().count() as u64,
            waiting: self.hostgroups.waiting(),
            environments: self.environments.len() as u64,
            environments_max: ENVIRONMENTS_MAX as u64,
            max_connections: variables.mysql.max_connections,
            cache: self.cache.usage(),
            exact: self.exact_levels(),
            panics: self.panics.load(Ordering::Relaxed),
        }
    }

    /// The rows of `stats_mysql_query_digest`.
    #[must_use]
    pub fn query_digests(&self, reading: DigestReading) -> Vec<DigestRow> {
        let mut rows = self.digests.read(reading);
        rows.retain(|row| row.count_star > 0);
        rows
    }

    /// The rows of `stats_mysql_errors`.
    #[must_use]
    pub fn errors(&self, reading: DigestReading) -> Vec<ErrorRow> {
        match reading {
            DigestReading::Keep => self.hostgroups.errors.rows(),
            DigestReading::Reset => self.hostgroups.errors.take_rows(),
        }
    }

    /// Seconds since 1970 of a time in milliseconds since the start.
    #[must_use]
    pub fn unix_seconds_at(&self, ms: u64) -> u64 {
        self.clock.unix_seconds_at(ms)
    }

    /// The rows of `stats_mysql_connection_pool`.
    #[must_use]
    pub fn connection_pool(&self) -> Vec<PoolRow> {
        let now_ms = self.clock.now_ms();
        let mut rows: Vec<_> =
            self.hostgroups.servers().iter().map(|server| server.pool_row(now_ms)).collect();
        rows.sort_by(|a, b| {
            (a.hostgroup, &a.srv_host, a.srv_port).cmp(&(b.hostgroup, &b.srv_host, b.srv_port))
        });
        rows
    }

    /// Starts the counters of `stats_mysql_connection_pool` anew.
    pub fn reset_connection_pool(&self) {
        self.hostgroups.servers().iter().for_each(|server| server.reset_counters());
    }

    /// The rows of `stats_mysql_processlist`.
    #[must_use]
    pub fn processlist(&self) -> Vec<ProcessRow> {
        let now_ms = self.clock.now_ms();
        let mut rows = Vec::new();
        for worker in self.workers.iter() {
            worker.for_each_session(|handle| {
                let view = handle.view.lock().clone();
                let idle_since_ms = handle.last_active_ms.load(Ordering::Relaxed);
                let since_ms = if view.command == "Sleep" { idle_since_ms } else { view.since_ms };
                let info = view.shown_info();
                rows.push(ProcessRow {
                    worker: worker.id as u64,
                    session_id: handle.id,
                    user: view.user.map(|user| user.to_string()).unwrap_or_default(),
                    db: view.schema,
                    cli_host: handle.address().host.to_string(),
                    cli_port: handle.address().port,
                    hostgroup: view.hostgroup.filter(|_| view.command != "Sleep" || !view.pins.is_empty()),
                    command: view.command,
                    time_ms: now_ms.saturating_sub(since_ms),
                    info,
                    server_host: view.server.as_ref().map(|server| server.host.clone()),
                    server_port: view.server.as_ref().map(|server| server.port),
                    local_host: None,
                    local_port: None,
                    pins: view.pins,
                });
            });
        }
        rows.sort_by_key(|row| row.session_id);
        rows
    }

    /// The answer to COM_STATISTICS, in MySQL's form.
    pub(crate) fn statistics_line(&self) -> String {
        let (totals, uptime) = (self.totals(), (self.clock.now_ms() / 1000).max(1));
        format!(
            "Uptime: {uptime}  Threads: {}  Questions: {}  Slow queries: {}  Opens: 0  Open tables: 0  \
             Queries per second avg: {}.{:03}",
            self.workers.sessions(),
            totals.questions,
            totals.slow_queries,
            totals.questions / uptime,
            totals.questions % uptime * 1000 / uptime,
        )
    }

    /// The lowest hostgroup of an active user's default, with that user: whom to log in as to learn the greeting.
    pub(crate) fn scouts(&self, snapshot: &Snapshot) -> Vec<(HostgroupId, Arc<str>)> {
        let mut scouts: Vec<_> = snapshot
            .users
            .iter()
            .filter(|user| user.backend && user.active)
            .map(|user| (user.default_hostgroup, Arc::from(user.name.as_str())))
            .collect();
        scouts.sort();
        scouts
    }
}

fn cache_limits(variables: &MysqlVariables) -> Limits {
    let bytes = variables.query_cache_size.bytes();
    Limits { bytes, entry_bytes_max: variables.threshold_resultset_size }
}

/// How a server with these status flags reads statements. MariaDB tells of both modes, MySQL of one.
pub(crate) fn lexing_after(before: Lexing, status: StatusFlags) -> Lexing {
    Lexing {
        ansi_quotes: status.contains(StatusFlags::SERVER_STATUS_ANSI_QUOTES),
        no_backslash_escapes: status.contains(StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES),
        ..before
    }
}
