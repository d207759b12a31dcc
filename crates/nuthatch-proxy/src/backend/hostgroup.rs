//! The table of hostgroups and their servers, kept across configurations.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use nuthatch_config::{HostgroupId, PoolSettings, ServerName, Snapshot, TlsSettings};
use nuthatch_wire::{Greeting, StatusFlags};
use parking_lot::Mutex;
use rapidhash::fast::RapidHasher;
use tokio::sync::Notify;

use crate::backend::Server;
use crate::backend::alarm::Alarm;
use crate::backend::catch_up::CatchUps;
use crate::backend::mirror::Mirrors;
use crate::backend::server::defaults::{AllDefaults, Defaults, Era};
use crate::backend::server::health::LagOutcome;
use crate::backend::server::health::gate::{Others, PoolLook};
use crate::backend::server::known::KnownServers;
use crate::backend::server::known::caught_up::Need;
use crate::backend::server::known::life::{PoolOutcome, PoolTraffic, Sight};
use crate::backend::server::line::Line;
use crate::backend::server::line::holding::Servers;
use crate::backend::server::restarts::Restarts;
use crate::backend::server::shortage::Shortage;
use crate::backend::server::throttle::Throttle;
use crate::backend::server::tls::{TlsOfServer, TlsToServers};
use crate::stats::Errors;

/// The servers of one hostgroup. One that was there stays, without servers: somebody may stand in its line.
#[derive(Debug)]
pub(super) struct Hostgroup {
    pub(super) id: HostgroupId,
    pub(super) servers: Vec<Arc<Server>>,
    /// A row of a `mysql_*_hostgroups` table names it: servers may come.
    pub(super) is_named: bool,
    pub(super) settings: Arc<PoolSettings>,
    /// Who waits for a connection to one of its servers.
    pub(super) line: Arc<Line>,
    pub(super) throttle: Arc<Throttle>,
    /// When it was said last why who waits gets nothing, and in which words.
    pub(super) said: Mutex<Option<(u64, Arc<str>)>>,
}

impl Hostgroup {
    /// Whether no configuration knows of it any more.
    pub(super) const fn is_gone(&self) -> bool {
        self.servers.is_empty() && !self.is_named
    }

    /// Whether one of its servers takes statements now.
    fn has_taker(&self, now_us: u64) -> bool {
        self.servers.iter().any(|server| server.takes_new_work(now_us / 1000))
    }

    /// The servers besides that one which take statements now and are not known to be cold.
    fn others_than(&self, server: &Arc<Server>, now_ms: u64) -> Others {
        let is_other = |other: &&Arc<Server>| {
            !other.is_same_as(server) && other.takes_new_work(now_ms) && !other.is_cold()
        };
        let mut others = self.servers.iter().filter(is_other).peekable();
        if others.peek().is_none() {
            return Others::None;
        }
        let traffic = others.map(|other| other.known.life.traffic());
        Others::Some(traffic.fold(PoolTraffic::default(), PoolTraffic::and))
    }

    /// Opens gates that have been closed for too long, and all where no server is left that is warm.
    fn look_after_gates(&self, now_ms: u64) {
        for server in self.servers.iter().filter(|server| !server.is_gate_open()) {
            server.look_after_gate(self.others_than(server, now_ms), now_ms);
        }
    }

    /// Looks whether servers take statements, as who stands in line is to know where others may come.
    pub(super) fn look_for_servers(&self, now_us: u64) {
        self.look_after_gates(now_us / 1000);
        let servers = match self.is_named && !self.has_taker(now_us) {
            true => Servers::None,
            false => Servers::Some,
        };
        if self.line.note_servers(servers, now_us) {
            self.log(servers);
        }
    }

    fn log(&self, servers: Servers) {
        let hostgroup = self.id.0;
        match servers {
            Servers::None => {
                tracing::warn!(hostgroup, "no server of a hostgroup takes statements: they wait");
            }
            Servers::Some => {
                tracing::info!(hostgroup, "a server of the hostgroup takes statements again");
            }
        }
    }
}

/// By their numbers, which an operator gives.
pub(super) type Groups = HashMap<HostgroupId, Arc<Hostgroup>, BuildHasherDefault<RapidHasher<'static>>>;

/// The groups as one worker saw them last: every statement asks for one, several times, and nobody else is in its way here.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Seen(Mutex<(u64, Arc<Groups>)>);

/// What became of the monitor's pings of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PingOutcome {
    /// One came back after so long.
    Answered {
        /// Microseconds.
        latency_us: u64,
    },
    /// The server is there, and does not let the monitor in: nothing is known of how fast it is.
    Refused,
    /// So many in a row did not that the server counts as gone.
    Silent {
        /// In words behind "because of".
        why: String,
    },
    /// Nobody pings it any more: what pings have said of it counts no more.
    NotAsked,
}

/// Whether a server shows what is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhoShows {
    /// One does.
    Somebody,
    /// None does; there are servers that may.
    NobodyYet,
    /// No server takes statements.
    Nobody,
}

/// All servers, by hostgroup.
#[derive(Debug)]
pub(crate) struct Hostgroups {
    groups: ArcSwap<Groups>,
    /// How often they have been changed.
    edition: AtomicU64,
    /// What each worker saw of them last.
    seen: Box<[Seen]>,
    /// Rung when somebody begins to wait for a connection.
    keeper: Arc<Notify>,
    shortage: Arc<Shortage>,
    /// Only one configuration is taken over at a time.
    publishing: Mutex<()>,
    workers: usize,
    restarts: Arc<Restarts>,
    /// What sessions begin with.
    pub(crate) defaults: AllDefaults,
    /// What is known of servers, in whichever hostgroups.
    pub(crate) known: KnownServers,
    /// Who waits until servers show what was seen.
    pub(crate) catch_ups: CatchUps,
    /// What servers have refused.
    pub(crate) errors: Errors,
    /// Rings when a server could not be reached.
    pub(crate) alarm: Alarm,
    /// Cold servers that are sent reads of others.
    pub(crate) mirrors: Mirrors,
    /// Somebody looks at servers' buffer pools.
    has_looked_at_pools: AtomicBool,
}

impl Hostgroups {
    pub(crate) fn new(workers: usize, restarts: Arc<Restarts>) -> Self {
        Self {
            groups: ArcSwap::default(),
            edition: AtomicU64::new(0),
            seen: (0..workers).map(|_| Seen::default()).collect(),
            keeper: Arc::default(),
            shortage: Arc::default(),
            publishing: Mutex::new(()),
            workers,
            restarts,
            defaults: AllDefaults::default(),
            known: KnownServers::default(),
            catch_ups: CatchUps::default(),
            errors: Errors::default(),
            alarm: Alarm::default(),
            mirrors: Mirrors::default(),
            has_looked_at_pools: AtomicBool::new(false),
        }
    }

    /// Takes over what the configuration says. Servers that it still names keep their connections and counters. Says whether connections
    /// to one of them begin otherwise from now on.
    pub(crate) fn publish(&self, snapshot: &Snapshot, now_us: u64) -> bool {
        let _one_at_a_time = self.publishing.lock();
        let old = self.groups.load_full();
        let mut tls = TlsOfAll::default();
        let mut groups = Groups::default();
        let mut begin_otherwise = false;
        for id in all_ids(&old, snapshot) {
            let known = old.get(&id);
            let line = known.map_or_else(
                || Arc::new(Line::new(&self.keeper, &self.shortage)),
                |group| Arc::clone(&group.line),
            );
            let throttle = known.map_or_else(Arc::default, |group| Arc::clone(&group.throttle));
            let settings = Arc::new(snapshot.pool_settings(id));
            line.limit(&snapshot.mysql);
            let is_named = snapshot.named_hostgroups.contains(&id);
            let servers = snapshot
                .hostgroups
                .servers(id)
                .iter()
                .map(|config| {
                    let same =
                        |server: &&Arc<Server>| server.host == config.host && server.port == config.port;
                    let before = known.and_then(|group| group.servers.iter().find(same));
                    let was_away = before.is_none_or(|server| server.is_cut_off());
                    let server = match before {
                        Some(server) => {
                            server.configure(config);
                            Arc::clone(server)
                        }
                        None => self.new_server(config, &line),
                    };
                    server.use_tls(tls.of(snapshot, config));
                    begin_otherwise |= server.use_settings(&settings) && before.is_some();
                    server.tell_gtids(snapshot.asks_for_gtids());
                    server.limit_health(snapshot.health_limits(config));
                    server.keep_gate(snapshot.warming(id), now_us / 1000);
                    let elsewhere = || all_servers(&old).find(|other| same(&other));
                    if before.is_none()
                        && let Some(elsewhere) = elsewhere()
                    {
                        server.inherit(&elsewhere);
                    }
                    if was_away && !server.is_cut_off() {
                        self.bring_in(&server, known, now_us / 1000);
                    }
                    server
                })
                .collect();
            groups.insert(
                id,
                Arc::new(Hostgroup {
                    id,
                    servers,
                    is_named,
                    settings,
                    line,
                    throttle,
                    said: Mutex::default(),
                }),
            );
        }
        let gone: Vec<_> = all_servers(&old).filter(|server| !is_in(&groups, server)).collect();
        self.put_in_force(groups);
        gone.iter().for_each(|server| server.retire());
        self.mirrors.end_unwanted(now_us / 1000);
        self.look_for_servers(now_us);
        self.all_groups().iter().filter(|group| group.is_gone()).for_each(|group| group.line.tell_all());
        begin_otherwise
    }

    fn new_server(&self, config: &nuthatch_config::Server, line: &Arc<Line>) -> Arc<Server> {
        let (line, restarts) = (Arc::clone(line), Arc::clone(&self.restarts));
        let defaults = self.defaults.of(&config.host, config.port);
        let known = self.known.of(&config.host, config.port);
        Arc::new(Server::new(config, self.workers, line, restarts, defaults, known))
    }

    /// A server that a hostgroup has not had, or that was cut off there, may have been started a moment ago.
    fn bring_in(&self, server: &Server, into: Option<&Arc<Hostgroup>>, now_ms: u64) {
        let is_another = |other: &Arc<Server>| !other.is_same_as(server) && !other.is_cut_off();
        let is_among_others = into.is_some_and(|group| group.servers.iter().any(is_another));
        if self.has_looked_at_pools.load(Ordering::Relaxed) && server.enters(is_among_others, now_ms) {
            self.alarm.ring(&server.host, server.port);
        }
    }

    fn put_in_force(&self, groups: Groups) {
        self.groups.store(Arc::new(groups));
        self.edition.fetch_add(1, Ordering::Release);
    }

    /// Looks in which hostgroups servers take statements.
    pub(crate) fn look_for_servers(&self, now_us: u64) {
        self.all_groups().iter().for_each(|group| group.look_for_servers(now_us));
    }

    /// The hostgroup of that number, which is there from now on.
    pub(super) fn group_or_make(&self, id: HostgroupId) -> Arc<Hostgroup> {
        let _one_at_a_time = self.publishing.lock();
        if let Some(group) = self.group(id) {
            return group;
        }
        let group = Arc::new(Hostgroup {
            id,
            servers: Vec::new(),
            is_named: false,
            settings: Arc::new(Snapshot::default().pool_settings(id)),
            line: Arc::new(Line::new(&self.keeper, &self.shortage)),
            throttle: Arc::default(),
            said: Mutex::default(),
        });
        let mut groups = Groups::clone(&self.groups.load());
        groups.insert(id, Arc::clone(&group));
        self.put_in_force(groups);
        group
    }

    /// Why no server of the hostgroup takes statements, for as long as that is so.
    pub(crate) fn tell_why_without_server(&self, id: HostgroupId, why: Option<&str>, now_us: u64) {
        if let Some(group) = self.group(id) {
            group.look_for_servers(now_us);
            group.line.tell_why(why);
        }
    }

    /// A connection to that server was lost: what is asked again is asked of others first for a moment, and somebody looks at it at once.
    pub(crate) fn note_lost(&self, server: &Server, now_ms: u64) {
        server.doubt(now_ms);
        self.suspect(server, now_ms);
    }

    /// That server could not be reached, or is another process than before: somebody looks at it at once, and until that has told whether
    /// it still has in memory what it had, it gets little where there are others.
    pub(super) fn suspect(&self, server: &Server, now_ms: u64) {
        self.suspect_at(&server.host, server.port, now_ms);
        self.alarm.ring(&server.host, server.port);
    }

    /// The same of one that has been connected to, if it was found to be another process than in that life.
    pub(super) fn suspect_if_anew(&self, server: &Server, life: u64, now_ms: u64) {
        if server.known.caught_up.life() != life {
            self.suspect(server, now_ms);
        }
    }

    fn suspect_at(&self, host: &str, port: u16, now_ms: u64) {
        if self.known.of(host, port).life.suspect(now_ms) {
            self.servers_at(host, port).for_each(|server| server.suspect(now_ms));
        }
    }

    /// What a look at a server's buffer pool came to, which was begun then. Says whether it is warm in all hostgroups that it stands in.
    pub(crate) fn note_pool(
        &self,
        host: &str,
        port: u16,
        outcome: &PoolOutcome,
        began_ms: u64,
        now_ms: u64,
    ) -> bool {
        self.has_looked_at_pools.store(true, Ordering::Relaxed);
        let life = self.known.of(host, port).life;
        let sight = life.note(outcome, began_ms);
        let look = match outcome {
            PoolOutcome::Told { figures, loads_at_start, .. } => Some(PoolLook {
                figures: *figures,
                loads_at_start: *loads_at_start,
                traffic: life.traffic(),
                come_back: life.come_back(),
            }),
            PoolOutcome::Gone | PoolOutcome::NoAnswer | PoolOutcome::NotTold => None,
        };
        let is_gone = *outcome == PoolOutcome::Gone;
        let mut is_warm = sight != Sight::Unclear;
        for server in self.servers_at(host, port) {
            if is_gone && life.is_suspected() {
                server.suspect(now_ms);
            }
            let group = self.group(server.hostgroup);
            let others = group.map_or(Others::None, |group| group.others_than(&server, now_ms));
            server.judge_gate(sight, look.as_ref(), others, now_ms);
            is_warm &= server.is_gate_open() && !server.is_cold();
        }
        is_warm
    }

    /// Returns when each worker has taken what it was about to take: what it takes next, it takes by what is in force now.
    pub(super) fn await_takers(&self) {
        self.seen.iter().for_each(|Seen(seen)| drop(seen.lock()));
    }

    /// Whether the hostgroup is held.
    pub(crate) fn is_held(&self, worker: usize, id: HostgroupId) -> bool {
        self.with_group(worker, id, |group| group.line.is_held().then_some(())).is_some()
    }

    /// Whether a server of the hostgroup that takes statements shows what is needed.
    pub(crate) fn who_shows(&self, worker: usize, id: HostgroupId, need: &Need, now_ms: u64) -> WhoShows {
        let shown = self.with_group(worker, id, |group| {
            let mut takers = group.servers.iter().filter(|server| server.takes_new_work(now_ms)).peekable();
            takers.peek()?;
            Some(match takers.any(|server| need.is_met_by(&server.known.caught_up)) {
                true => WhoShows::Somebody,
                false => WhoShows::NobodyYet,
            })
        });
        shown.unwrap_or(WhoShows::Nobody)
    }

    /// Whether a server of the hostgroup takes statements, or somebody holds it, who will have it go on.
    pub(crate) fn takes_statements(&self, id: HostgroupId, now_us: u64) -> bool {
        self.group(id).is_some_and(|group| group.line.is_held() || group.has_taker(now_us))
    }

    /// Whether a server of the hostgroup takes statements, or one is waited for.
    pub(crate) fn has_or_awaits_server(&self, id: HostgroupId, now_us: u64) -> bool {
        self.group(id).is_some_and(|group| group.is_named || group.line.is_held() || group.has_taker(now_us))
    }

    /// Does something with a hostgroup on a worker's own thread, under a lock that no other worker takes.
    pub(super) fn with_group<T>(
        &self,
        worker: usize,
        id: HostgroupId,
        act: impl FnOnce(&Hostgroup) -> Option<T>,
    ) -> Option<T> {
        let Some(Seen(seen)) = self.seen.get(worker) else { return act(&*self.group(id)?) };
        let mut seen = seen.lock();
        let edition = self.edition.load(Ordering::Acquire);
        if seen.0 != edition {
            *seen = (edition, self.groups.load_full());
        }
        act(seen.1.get(&id)?)
    }

    pub(super) fn group(&self, id: HostgroupId) -> Option<Arc<Hostgroup>> {
        self.groups.load().get(&id).map(Arc::clone)
    }

    /// See [`crate::backend::keep_lines`].
    pub(super) fn keeper(&self) -> &Notify {
        &self.keeper
    }

    /// Whether waiting is the machine's doing.
    pub(super) fn shortage(&self) -> &Shortage {
        &self.shortage
    }

    /// Every hostgroup.
    pub(super) fn all_groups(&self) -> Vec<Arc<Hostgroup>> {
        self.groups.load().values().map(Arc::clone).collect()
    }

    /// The servers of that host and port, in whichever hostgroup.
    pub(crate) fn servers_at(&self, host: &str, port: u16) -> impl Iterator<Item = Arc<Server>> {
        let at = move |server: &Arc<Server>| (server.host.as_str(), server.port) == (host, port);
        self.servers().into_iter().filter(at)
    }

    /// Nothing is sent to the server in that hostgroup any more, and its connections there are cut before this returns: also those that are
    /// being opened.
    pub(crate) fn cut_off(&self, hostgroup: HostgroupId, name: &ServerName, now_ms: u64) {
        let group = self.group(hostgroup);
        let servers = group.iter().flat_map(|group| &group.servers);
        let is_it = |server: &&Arc<Server>| (&server.host, server.port) == (&name.host, name.port);
        servers.filter(is_it).for_each(|server| server.cut_off());
        self.mirrors.end_unwanted(now_ms);
    }

    /// A login to the server has worked: it is shunned in no hostgroup any more.
    pub(super) fn unshun(&self, host: &str, port: u16) {
        self.servers_at(host, port).filter(|server| server.was_shunned()).for_each(|server| server.unshun());
    }

    /// What the monitor's ping of a server came to.
    pub(crate) fn note_ping(&self, host: &str, port: u16, ping: &PingOutcome, now_ms: u64) {
        for server in self.servers_at(host, port) {
            let was_shunned = server.was_shunned();
            match ping {
                PingOutcome::Answered { latency_us } => server.answers_pings(*latency_us),
                PingOutcome::Refused => server.refuses_pings(),
                PingOutcome::Silent { why } => server.leaves_pings_unanswered(why),
                PingOutcome::NotAsked => server.forget_pings(),
            }
            // Whether it was started anew meanwhile is to be known before it gets much.
            if was_shunned && !server.was_shunned() {
                self.alarm.ring(host, port);
            }
        }
        if matches!(ping, PingOutcome::Silent { .. }) {
            self.suspect_at(host, port, now_ms);
        }
    }

    /// How far the monitor has found a server behind.
    pub(crate) fn note_lag(&self, host: &str, port: u16, lag: LagOutcome) {
        self.servers_at(host, port).for_each(|server| server.note_lag(lag));
    }

    /// Every server, in no order.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>> {
        all_servers(&self.groups.load()).collect()
    }

    /// What accounts may do has been changed on a server: all log in anew, as others may follow that one.
    pub(crate) fn note_privileges(&self) {
        self.servers().iter().for_each(|server| server.note_privileges());
    }

    /// What sessions of that era begin with on the hostgroup's first server, if that is known.
    pub(crate) fn defaults_of(&self, hostgroup: HostgroupId, era: &Era) -> Option<Arc<Defaults>> {
        self.groups.load().get(&hostgroup)?.servers.first()?.defaults.at(era)
    }

    /// How the servers greet: of those seen, the one in the lowest hostgroup.
    pub(crate) fn greeting(&self) -> Option<(Greeting, StatusFlags)> {
        let mut servers = self.servers();
        servers.sort_by(|a, b| (a.hostgroup, &a.host, a.port).cmp(&(b.hostgroup, &b.host, b.port)));
        servers.iter().find_map(|server| server.greeting())
    }

    /// Connections to all servers that were opened and that failed.
    pub(crate) fn connects(&self) -> (u64, u64) {
        self.servers().iter().fold((0, 0), |(ok, failed), server| {
            let counters = server.counters();
            let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            (ok + load(&counters.connects_ok), failed + load(&counters.connects_failed))
        })
    }
}

/// TLS for all servers of one configuration: equal settings are made once. What is doubtful about them is logged once.
#[derive(Default)]
struct TlsOfAll(HashMap<TlsSettings, Arc<TlsToServers>>);

impl TlsOfAll {
    /// That for a server, if it asks for it.
    fn of(&mut self, snapshot: &Snapshot, server: &nuthatch_config::Server) -> Option<Arc<TlsOfServer>> {
        if !server.use_ssl || server.port == 0 {
            return None;
        }
        let for_all = self.by(snapshot.tls_settings(server, ""), &server.host);
        let for_users = snapshot
            .users_with_ssl_params(server)
            .map(|user| (user.into(), self.by(snapshot.tls_settings(server, user), &server.host)))
            .collect();
        Some(Arc::new(TlsOfServer { for_all, for_users }))
    }

    fn by(&mut self, settings: TlsSettings, server: &str) -> Arc<TlsToServers> {
        let made = self.0.entry(settings).or_insert_with_key(|settings| {
            let tls = TlsToServers::new(settings);
            warn_of_doubts(&tls, server);
            Arc::new(tls)
        });
        Arc::clone(made)
    }
}

fn warn_of_doubts(tls: &TlsToServers, server: &str) {
    if let Some(fault) = tls.fault() {
        tracing::warn!(server, "a server with use_ssl cannot be connected to: {fault}");
    } else if tls.verification() == "unverified" {
        tracing::warn!(
            server,
            "use_ssl without verification: connections are encrypted, but anyone could pose as the server; \
             name its authority (mysql-ssl_p2s_ca) and have it verified (mysql-ssl_p2s_verify, ssl_verify)"
        );
    }
}

/// Hostgroups in which servers stand, those that are named, and those that were there.
fn all_ids(old: &Groups, snapshot: &Snapshot) -> BTreeSet<HostgroupId> {
    let with_servers = snapshot.hostgroups.iter().map(|(id, _)| id);
    with_servers.chain(snapshot.named_hostgroups.iter().copied()).chain(old.keys().copied()).collect()
}

fn is_in(groups: &Groups, server: &Arc<Server>) -> bool {
    let group = groups.get(&server.hostgroup);
    group.is_some_and(|group| group.servers.iter().any(|kept| Arc::ptr_eq(kept, server)))
}

fn all_servers(groups: &Groups) -> impl Iterator<Item = Arc<Server>> + use<'_> {
    groups.values().flat_map(|group| group.servers.iter().map(Arc::clone))
}
