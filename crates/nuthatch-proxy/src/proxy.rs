//! The data plane as a whole: what the program and the admin interface do with it.

mod cache_advice;
mod cached_entries;
mod cached_tables;
mod causal;
mod defaults;
mod holding;
mod levels;
mod monitored;
mod placed;
mod processlist;
mod query_cache;
mod source;
mod tables;
mod warming;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub use cache_advice::CacheAdvice;
pub use cached_entries::CachedEntryRow;
pub use cached_tables::CachedTableRow;
pub use causal::CausalCluster;
pub use levels::Levels;
pub use monitored::MonitoredServer;
use nuthatch_config::{AccessFinding, CheckType, HostgroupId, Member, ServerName, ServerStatus, Snapshot};
use nuthatch_net::ServerTls;
use nuthatch_sql::{KnownGtids, ServerFlavor};
pub use placed::{Pair, PlacedServer, Warmth};
pub use processlist::ProcessRow;
pub use query_cache::QueryCacheRow;
pub use source::{Source, SourceAccount};
use tokio::sync::watch;
use tokio::time::Instant;
pub use warming::WarmingFigures;

use crate::backend::{CatchUp, LagOutcome, PingOutcome, PoolOutcome};
use crate::clock::Clock;
use crate::configuration::keeper::ConfigurationKeeper;
use crate::exact::{Domain, Exact, FollowRow, LearntFigures, NoDomain, Replaced};
use crate::floor::Floor;
use crate::roster::EndReason;
use crate::session::{self, Finding};
use crate::shared::Shared;
use crate::shared::places::Told;
use crate::shared::purge::{self, Purged};

/// The data plane: what sessions share, and the threads that they live on. Cheap to share.
#[derive(Debug)]
pub struct Proxy {
    pub(crate) shared: Arc<Shared>,
    pub(crate) floor: Floor,
}

impl Proxy {
    /// Starts the workers under a first configuration. Nobody is let in before a [`crate::Listener`] serves.
    ///
    /// # Errors
    /// When threads or runtimes cannot be made.
    pub fn start(workers: usize, snapshot: &Arc<Snapshot>) -> io::Result<Arc<Self>> {
        let clock = Clock::start();
        let floor = Floor::start(workers, clock)?;
        let shared = Arc::new(Shared::new(clock, floor.workers(), snapshot));
        Ok(Arc::new(Self { shared, floor }))
    }

    /// Puts a configuration in force: when this returns, every statement that begins is judged by it.
    pub fn publish(&self, snapshot: Arc<Snapshot>) {
        self.shared.publish(snapshot);
    }

    /// The configuration in force.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.configuration.snapshot()
    }

    /// Tells who keeps the configuration; the first word stands.
    pub fn is_kept_by(&self, keeper: Arc<dyn ConfigurationKeeper>) {
        self.shared.configuration.is_kept_by(keeper);
    }

    /// What is known of tables, for whoever looks at servers.
    #[must_use]
    pub fn exact(&self) -> &Arc<Exact> {
        &self.shared.exact
    }

    /// For each hostgroup its servers, whose catalogues are to be read, or why one cannot be reached.
    #[must_use]
    pub fn sources(&self) -> Vec<(HostgroupId, Vec<Result<Source, NoDomain>>)> {
        source::sources(&self.shared)
    }

    /// What the configuration says of the server that takes a hostgroup's writes, if it stands in it.
    #[must_use]
    pub fn server_status(
        &self,
        hostgroup: HostgroupId,
        domain: &Result<Arc<Domain>, NoDomain>,
    ) -> Option<ServerStatus> {
        source::server_status(&self.shared, hostgroup, domain)
    }

    /// The servers that the monitor is to look at.
    #[must_use]
    pub fn monitored_servers(&self) -> Vec<MonitoredServer> {
        let user = self.snapshot().mysql.monitor_username.clone();
        monitored::monitored(&self.shared, &user)
    }

    /// The same servers, as this user reaches them.
    #[must_use]
    pub fn reachable_as(&self, user: &str) -> Vec<MonitoredServer> {
        monitored::monitored(&self.shared, user)
    }

    /// The clusters of which some statement is answered by servers that may be behind, as this user reaches their servers.
    #[must_use]
    pub fn causal_clusters(&self, user: &str) -> Vec<CausalCluster> {
        causal::clusters(&self.shared, user)
    }

    /// Whether statements that write in the hostgroup are sent to that server now.
    #[must_use]
    pub fn writes(&self, hostgroup: HostgroupId, server: &ServerName) -> bool {
        causal::writes(&self.shared, hostgroup, server)
    }

    /// Microseconds since the start, by the clock of which moments are told.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        self.shared.clock.now_us()
    }

    /// How often the server was found to have begun anew: to be asked before it is asked what it shows.
    #[must_use]
    pub fn life_of(&self, server: &ServerName) -> u64 {
        self.shared.hostgroups.known.of(&server.host, server.port).caught_up.life()
    }

    /// In that life the server shows all that any server of the cluster had acknowledged or shown before that moment. Returns whether it is
    /// the one at hand; what was found in another one counts for nothing.
    pub fn note_caught_up(&self, cluster: &CatchUp, server: &ServerName, life: u64, until_us: u64) -> bool {
        let known = self.shared.hostgroups.known.of(&server.host, server.port);
        let counts = known.caught_up.prove(life, until_us);
        cluster.tell();
        counts
    }

    /// What the server has acknowledged to clients of this proxy; none if it does not tell.
    #[must_use]
    pub fn acknowledged(&self, server: &ServerName) -> Option<KnownGtids> {
        self.shared.hostgroups.known.of(&server.host, server.port).acknowledged.gtids()
    }

    /// The server is the primary no more, and what it has acknowledged is accounted for.
    pub fn forget_acknowledged(&self, server: &ServerName) {
        self.shared.hostgroups.known.of(&server.host, server.port).acknowledged.forget();
    }

    /// The server may have been started anew: what it shows is to be proven again.
    pub fn note_begun_anew(&self, server: &ServerName) {
        self.shared.hostgroups.known.of(&server.host, server.port).caught_up.begin_anew();
    }

    /// Takes note of what the monitor's pings of a server came to, in all hostgroups that it stands in.
    pub fn note_ping(&self, host: &str, port: u16, ping: &PingOutcome) {
        self.shared.hostgroups.note_ping(host, port, ping, self.shared.clock.now_ms());
    }

    /// Takes note of what a look at a server's buffer pool came to, which was begun then, in all hostgroups that it stands in. Says
    /// whether it is warm in all of them: nothing is held back from it.
    #[must_use]
    pub fn note_pool(&self, server: &ServerName, outcome: &PoolOutcome, began: Instant) -> bool {
        let now_ms = self.shared.clock.now_ms();
        let ago_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let began_ms = now_ms.saturating_sub(ago_ms);
        self.shared.hostgroups.note_pool(&server.host, server.port, outcome, began_ms, now_ms)
    }

    /// Takes note of what a server made of the wish for a dump of its buffer pool: none, or why it does not.
    pub fn note_dump(&self, server: &ServerName, refused: Option<String>) {
        let now_ms = self.shared.clock.now_ms();
        self.shared.hostgroups.known.of(&server.host, server.port).life.note_dump(refused, now_ms);
    }

    /// Takes note of how far the monitor has found a server behind, in all hostgroups that it stands in.
    pub fn note_lag(&self, host: &str, port: u16, lag: LagOutcome) {
        self.shared.hostgroups.note_lag(host, port, lag);
    }

    /// Has somebody told at once of servers that could not be reached. It must not wait; the first one stays.
    pub fn when_unreachable(&self, listener: impl Fn(&ServerName) + Send + Sync + 'static) {
        self.shared.hostgroups.alarm.tell(listener);
    }

    /// Takes note of whether the monitor has found a server to take writes, by a look that was begun then: it stands where it belongs by
    /// that when this returns. A look that was begun before somebody changed the server counts for nothing.
    pub fn note_access(
        &self,
        server: &ServerName,
        check: CheckType,
        finding: &AccessFinding,
        began: Instant,
    ) {
        self.shared.note_access(server, check, finding, Told::Looked(began));
    }

    /// Somebody has changed whether a server takes writes: it stands where it belongs by that when this returns.
    pub fn has_become(&self, server: &ServerName, check: CheckType, finding: &AccessFinding) {
        self.shared.note_access(server, check, finding, Told::Changed);
    }

    /// Nothing is sent to that server any more in the pair of that writer hostgroup, whatever it is found to be: its connections there
    /// have been cut when this returns, and what was under way is not stored.
    pub fn fence(&self, hostgroup: HostgroupId, server: &ServerName, why: &str) {
        self.shared.fence(hostgroup, server, why);
    }

    /// These servers wrote in their clusters last, in another run, by writer hostgroup: each stands there until it is found not to write.
    pub fn remember_writers(&self, writers: impl IntoIterator<Item = (HostgroupId, ServerName)>) {
        self.shared.remember_writers(writers);
    }

    /// Who is the one writer of each cluster, or was when it last had one, by writer hostgroup.
    #[must_use]
    pub fn sole_writers(&self) -> BTreeMap<HostgroupId, ServerName> {
        self.shared.places.lock().sole_writers()
    }

    /// It stands again where it belongs by what it is found to be.
    pub fn readmit(&self, hostgroup: HostgroupId, server: &ServerName) {
        self.shared.readmit(hostgroup, server);
    }

    /// Takes note of what the monitor has found a server to be in its cluster: it stands where it belongs by that when this returns.
    pub fn note_member(&self, server: &ServerName, member: Member) {
        self.shared.note_member(server, member);
    }

    /// Nobody looks any more at what a server is: it stands where the configuration has it when this returns.
    pub fn forget_place(&self, server: &ServerName) {
        self.shared.forget_place(server);
    }

    /// Told of each configuration that is put in force; holds how many there were.
    #[must_use]
    pub fn configurations(&self) -> watch::Receiver<u64> {
        self.shared.configuration.subscribe()
    }

    /// The number of the last change of what sessions of a server begin with, to give to [`Self::note_defaults`] with what is read from now
    /// on.
    #[must_use]
    pub fn defaults_changes(&self, host: &str, port: u16) -> u64 {
        defaults::defaults_changes(&self.shared, host, port)
    }

    /// Takes note of a server's global variables, unless a change of them was seen meanwhile. If they were changed past the proxy, no
    /// answer is served any more that was stored before: it may have been of sessions of either kind.
    pub fn note_defaults<'a>(
        &self,
        host: &str,
        port: u16,
        changes: u64,
        flavor: ServerFlavor,
        variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Replaced {
        defaults::note_defaults(&self.shared, host, port, changes, flavor, variables)
    }

    /// The rows of `stats_query_cache_follow`.
    #[must_use]
    pub fn follows(&self) -> Vec<FollowRow> {
        let unix_ms = |ms| self.shared.clock.unix_ms_at(ms);
        let mut rows: Vec<_> = self.shared.exact.follows.all().iter().map(|one| one.row(unix_ms)).collect();
        rows.sort_by(|one, other| one.server.cmp(&other.server));
        rows
    }

    /// How servers get warm.
    #[must_use]
    pub fn warming(&self) -> WarmingFigures {
        warming::figures(&self.shared)
    }

    /// What is learnt of columns that reads compare with constants.
    #[must_use]
    pub fn learnt(&self) -> LearntFigures {
        self.shared.exact.learnt_figures()
    }

    /// Offers clients that TLS from now on; `None` offers none.
    pub fn offer_tls(&self, tls: Option<ServerTls>) {
        self.shared.doors.offer_tls(tls);
    }

    /// Takes no new clients until [`Self::resume`].
    pub fn pause(&self) {
        self.shared.doors.close(true);
    }

    /// Takes new clients again.
    pub fn resume(&self) {
        self.shared.doors.close(false);
    }

    /// Ends the session of that number; `false` when there is none.
    #[must_use]
    pub fn kill(&self, session_id: u32) -> bool {
        self.shared.roster.session(session_id).map(|handle| handle.end(EndReason::Killed)).is_some()
    }

    /// Ends the session of that number, as what it holds stands in the way of a switchover.
    pub fn end_for_switchover(&self, session_id: u32) {
        if let Some(handle) = self.shared.roster.session(session_id) {
            handle.end(EndReason::SwitchedOver);
        }
    }

    /// The pair of that writer hostgroup, if there is one: by which checks its servers are judged, and who writes there.
    #[must_use]
    pub fn pair(&self, writer_hostgroup: HostgroupId) -> Option<Pair> {
        placed::pair(&self.shared, writer_hostgroup)
    }

    /// Purges the query cache and returns how many entries were in it.
    pub fn flush_query_cache(&self) -> u64 {
        self.shared.answers.cache.flush()
    }

    /// Does what an operator's `PURGE QUERY CACHE DIGEST … | TABLE … | SCHEMA … | USER … | RULE …` says.
    ///
    /// # Errors
    /// A sentence: it is not of that form, or the table is not known.
    pub fn purge_by_order(&self, order: &[u8]) -> Result<Purged, String> {
        purge::purge_by_order(&self.shared, order)
    }

    /// What the cache would do with the statement that an operator's `EXPLAIN CACHE [FOR USER 'u'] [IN SCHEMA s] …` is about, for a new
    /// session. Without them, it is the first active user's, in its default schema.
    ///
    /// # Errors
    /// A sentence: it is not of that form, or there is no such user.
    pub fn explain_cache(&self, question: &[u8]) -> Result<Vec<Finding>, String> {
        session::explain_for_operator(&self.shared, question)
    }

    /// Ends all sessions: those without anything open at once, the others when they have nothing open any more or when
    /// `patience` is over. Listeners must have stopped. Returns how many had to be cut off.
    pub async fn drain(&self, patience: Duration) -> usize {
        let drained = async {
            while self.floor.taken() > 0 {
                self.shared.roster.for_each(|_, handle| {
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
        let left = self.floor.taken();
        self.stop_sessions().await;
        left
    }

    /// Ends all sessions at once.
    pub async fn stop_sessions(&self) {
        let ended = async {
            while self.floor.taken() > 0 {
                self.shared.roster.for_each(|_, handle| handle.end(EndReason::Stopped));
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        drop(tokio::time::timeout(Duration::from_secs(2), ended).await);
    }

    /// Ends the workers' threads.
    pub fn stop(&self) {
        self.floor.stop();
    }
}
