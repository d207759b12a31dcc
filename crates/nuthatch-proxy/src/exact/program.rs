//! What the exact cache knows, and what the program and the configuration have to do with it: whether anybody wants it, when servers' tables
//! are to be read, and what was read of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use nuthatch_cache::{ClockOptions, Clocks, Sequence};
use nuthatch_config::{Follow, HostgroupId, QueryCacheType, ServerName, Snapshot};
use nuthatch_sql::{ReadFootprint, ServerFlavor, TableRead, leaves_binlog};

use crate::backend::Hostgroups;
use crate::clock::Clock;
use crate::configuration::Configuration;
use crate::exact::{
    Binlogs, Carried, CatalogueStore, Catalogues, Delayed, Domain, Domains, Followed, Follows, Learnt,
    LearntColumns, LearntFigures, Moment, Replaced, StoredCodes, Written,
};
use crate::stats::TableCounters;
use crate::stats::not_cached::NotCached;

/// What is known of tables and of what is written in them.
#[derive(Debug)]
pub struct Exact {
    pub(crate) clocks: Arc<Clocks>,
    pub(crate) catalogues: Arc<CatalogueStore>,
    pub(crate) table_counters: TableCounters,
    pub(crate) binlogs: Binlogs,
    pub(crate) delayed: Delayed,
    pub(crate) follows: Arc<Follows>,
    pub(crate) learnt: Learnt,
    pub(super) hostgroups: Arc<Hostgroups>,
    pub(super) configuration: Arc<Configuration>,
    pub(super) clock: Clock,
    is_wanted: AtomicBool,
    /// What is written is watched: from before that on.
    is_watched: AtomicBool,
    begin: Once,
    /// Somebody needed to know what stored code leaves.
    stored_code_is_wanted: AtomicBool,
    tables_max: u32,
    /// The fault that [`Exact::believe_events`] makes.
    #[cfg(debug_assertions)]
    believes_events: AtomicBool,
}

/// What the exact cache knows and waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after the statistic that it becomes")]
pub struct ExactLevels {
    pub tables: u64,
    pub tables_max: u64,
    pub clock_bytes: u64,
    pub clock_moves: u64,
    pub writes_pending: u64,
    pub writes_stranded: u64,
}

impl Exact {
    /// With room for the tables that the configuration in force says.
    pub(crate) fn new(
        clocks: Arc<Clocks>,
        catalogues: Arc<CatalogueStore>,
        follows: Arc<Follows>,
        hostgroups: Arc<Hostgroups>,
        configuration: Arc<Configuration>,
        clock: Clock,
    ) -> Self {
        let tables_max = tables_max(&configuration.snapshot());
        Self {
            clocks,
            catalogues,
            table_counters: TableCounters::new(tables_max),
            binlogs: Binlogs::default(),
            delayed: Delayed::default(),
            follows,
            learnt: Learnt::default(),
            hostgroups,
            configuration,
            clock,
            is_wanted: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
            begin: Once::new(),
            stored_code_is_wanted: AtomicBool::new(false),
            tables_max,
            #[cfg(debug_assertions)]
            believes_events: AtomicBool::new(false),
        }
    }

    /// Clocks for as many tables as the configuration says.
    pub(crate) fn clocks_for(snapshot: &Snapshot) -> Clocks {
        Clocks::new(ClockOptions { tables_max: tables_max(snapshot), ..ClockOptions::default() })
    }

    /// From now on the exact cache serves what is stale: a fault, for tests that must find it. Release builds have no such thing.
    #[cfg(debug_assertions)]
    pub fn stop_clocks(&self) {
        self.clocks.stop();
    }

    /// From now on what stands in a binlog counts as shown: a fault, for tests that must find it. Release builds have no such thing.
    #[cfg(debug_assertions)]
    pub fn believe_events(&self) {
        self.believes_events.store(true, Ordering::SeqCst);
    }

    /// Whether what stands in a binlog counts as shown.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn believes_events(&self) -> bool {
        self.believes_events.load(Ordering::SeqCst)
    }

    /// Completes when the servers' catalogues are to be read anew: a definition was changed, or the configuration.
    pub async fn catalogues_outdated(&self) {
        self.catalogues.outdated().await;
    }

    /// Whether somebody wants answers cached as exact, or to know what stored code leaves: then the catalogues are to be read.
    #[must_use]
    pub fn wants_catalogues(&self) -> bool {
        self.wants_exact() || self.stored_code_is_wanted.load(Ordering::Acquire)
    }

    /// Whether somebody wants answers cached as exact.
    #[must_use]
    pub fn wants_exact(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }

    /// From now on somebody wants to know what stored code leaves.
    pub(crate) fn want_stored_code(&self) {
        if !self.stored_code_is_wanted.swap(true, Ordering::AcqRel) {
            self.catalogues.ask_for_a_look();
        }
    }

    /// Whether what is written may go unwatched. To be asked with the picture in hand whose turn a write holds then.
    pub(crate) fn looks_away(&self) -> bool {
        !self.is_watched.load(Ordering::Acquire) && !self.stored_code_is_wanted.load(Ordering::Acquire)
    }

    /// From now on somebody wants answers cached as exact. What was written before has moved all clocks when this returns; what is still in
    /// flight unwatched keeps them pending.
    pub(crate) fn want_catalogues(&self) {
        self.begin.call_once(|| {
            self.is_watched.store(true, Ordering::SeqCst);
            self.catalogues.begin_watching();
            self.is_wanted.store(true, Ordering::Release);
            self.catalogues.ask_for_a_look();
        });
    }

    /// What is known of a hostgroup, if anything is.
    #[must_use]
    pub fn known_domain(&self, hostgroup: HostgroupId) -> Option<Arc<Domain>> {
        self.catalogues.current().domain(hostgroup).ok().map(Arc::clone)
    }

    /// Of how many tables changes can be followed.
    #[must_use]
    pub const fn tables_max(&self) -> u32 {
        self.tables_max
    }

    /// The binlogs of these servers are followed from now on, and no others. What was stored before is served no more when this returns.
    pub fn follow(&self, followed: impl IntoIterator<Item = Arc<Followed>>) {
        let followed: Vec<_> = followed.into_iter().collect();
        if !followed.is_empty() && self.clocks.begin_values() {
            // What is on its way has not raised them: everything is pending until it has landed.
            self.catalogues.begin_watching();
        }
        self.follows.set(followed);
        self.forget_entries();
    }

    /// The server's binlog is followed from a place that it has told by now: what was stored and known of it before counts no more, also what is
    /// being looked at. Between that and the place anything may have been defined otherwise.
    pub fn begin_following(&self, server: &ServerName) {
        let is_of = |domain: &Domain| (&domain.host, domain.port) == (&server.host, server.port);
        self.catalogues.forget_hostgroups(|_, domain| !is_of(domain));
        self.forget_entries();
        self.ask_for_a_look();
    }

    /// No exact answer is served any more that was stored before.
    pub fn forget_entries(&self) {
        self.clocks.raise(vec![self.clocks.everything()]).settle();
    }

    /// What a transaction of that server's binlog has written: nothing yet.
    #[must_use]
    pub fn begin_written(&self, server: &ServerName) -> Written {
        let learnt = self.learnt.known();
        Written::begin(&self.clocks, &self.catalogues, &self.hostgroups, learnt, server)
    }

    /// How often something was learnt of columns that reads compare.
    #[must_use]
    pub fn learnt(&self) -> u64 {
        self.learnt.known().generation
    }

    /// By what each write that may change an answer asked for at that moment shows that it does; none if not each shows it. `teller`: who
    /// follows the server's binlog, if anybody does.
    pub(crate) fn shown(
        &self,
        teller: Option<&Followed>,
        read: &TableRead,
        asked: Sequence,
    ) -> Option<LearntColumns> {
        let teller = teller?;
        self.learnt.known().narrowest(read, |since| teller.shows_learnt(since, asked)).cloned()
    }

    /// What is learnt of columns that reads compare.
    pub(crate) fn learnt_figures(&self) -> LearntFigures {
        self.learnt.figures()
    }

    /// All events that a follower reads show what was learnt up to that generation, and those that do not have settled by now.
    pub fn note_learnt(&self, followed: &Followed, generation: u64) {
        followed.note_learnt(generation, self.clocks.now());
    }

    /// Everything is pending until it is settled.
    pub fn hold_everything(&self) -> Carried {
        let nowhere = ServerName { host: String::new(), port: 0 };
        let mut written = self.begin_written(&nowhere);
        written.add_everything();
        written.raise()
    }

    /// The server whose writes are seen in a hostgroup that asks that its binlog is followed, with what is asked for. Which server that is is
    /// known once it was looked at; until then, and while that is not known, it is the one that `before` says.
    #[must_use]
    pub fn wanted_follows(
        &self,
        before: &BTreeMap<HostgroupId, (ServerName, Follow)>,
    ) -> BTreeMap<HostgroupId, (ServerName, Follow)> {
        let snapshot = self.configuration.snapshot();
        let catalogues = self.catalogues.current();
        let server = |hostgroup| match catalogues.known_domain(hostgroup) {
            Some(domain) => Some(ServerName { host: domain.host.clone(), port: domain.port }),
            None => before.get(&hostgroup).map(|(server, _)| server.clone()),
        };
        let wanted = |hostgroup| match snapshot.follow(hostgroup) {
            Follow::Off => None,
            follow => Some((hostgroup, (server(hostgroup)?, follow))),
        };
        snapshot.hostgroups.iter().filter_map(|(hostgroup, _)| wanted(hostgroup)).collect()
    }

    /// How many times the servers had been looked at for what is known of them.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.catalogues.look().look
    }

    /// The number to give to [`Self::use_catalogues`] with what is read from now on.
    #[must_use]
    pub fn catalogue_generation(&self) -> u64 {
        self.catalogues.generation()
    }

    /// Puts what was read of servers' tables in force, unless a definition was changed since `generation` was asked for.
    #[must_use]
    pub fn use_catalogues(&self, generation: u64, domains: Domains) -> Replaced {
        let mut known = domains.values().flatten();
        if known.any(|domain| domain.takes_writes && domain.catalogue.routines_leave_binlog()) {
            self.binlogs.doubt("a stored routine");
        }
        self.catalogues.replace(generation, domains)
    }

    /// Takes note of a configuration that wants answers cached as exact, or to know which tables have transactions.
    pub(crate) fn note_type(&self, snapshot: &Snapshot) {
        if leaves_binlog(snapshot.mysql.init_connect.as_bytes()) {
            self.binlogs.leave();
        }
        if snapshot.mysql.transaction_replay
            || snapshot.mysql.query_cache_type != QueryCacheType::Off
            || snapshot.rules.caches_exact()
        {
            self.want_catalogues();
        }
    }

    /// Forgets all that is exact: what was stored, what is under way, and what is known of tables.
    pub(crate) fn forget_all(&self) {
        self.catalogues.forget_hostgroups(|_, _| false);
        self.catalogues.ask_for_a_look();
    }

    /// Forgets the catalogues of hostgroups that have other servers than before, or whose replicas follow one that is forgotten.
    pub(crate) fn forget_catalogues(&self, snapshot: &Snapshot) {
        let servers = |hostgroup| -> Vec<(&str, u16)> {
            let servers = snapshot.hostgroups.usable(hostgroup);
            servers.map(|server| (server.host.as_str(), server.port)).collect()
        };
        let is_as_before = |hostgroup, domain: &Domain| domain.is_of_all(&servers(hostgroup));
        let current = self.catalogues.current();
        let is_source = |(hostgroup, domain): (&HostgroupId, &Arc<Domain>), of: &Domain| {
            domain.takes_writes
                && (&domain.host, domain.port) == (&of.host, of.port)
                && is_as_before(*hostgroup, domain)
        };
        let has_source = |of: &Domain| current.hostgroups().any(|known| is_source(known, of));
        self.catalogues
            .forget_hostgroups(|hostgroup, domain| is_as_before(hostgroup, domain) && has_source(domain));
        self.catalogues.ask_for_a_look();
    }

    /// The levels now.
    pub(crate) fn levels(&self) -> ExactLevels {
        ExactLevels {
            tables: self.catalogues.current().tables() as u64,
            tables_max: self.tables_max.into(),
            clock_bytes: self.clocks.bytes(),
            clock_moves: self.clocks.moves(),
            writes_pending: self.clocks.pending(),
            writes_stranded: self.clocks.stranded(),
        }
    }

    /// Now, in the order of writes: to be noted before a primary is asked for its position, or for its tables.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment(self.clocks.now())
    }

    /// Whether a session may have written something that no replica will be told of.
    #[must_use]
    pub fn has_left_binlog(&self) -> bool {
        self.binlogs.are_left()
    }

    /// Has the servers looked at again.
    pub fn ask_for_a_look(&self) {
        self.catalogues.ask_for_a_look();
    }

    /// The number to give to [`Self::use_stored_code`] with what is read from now on.
    #[must_use]
    pub fn code_changes(&self) -> u64 {
        self.catalogues.look().code_changes()
    }

    /// How often stored code may have been made through the proxy, in beginnings and ends.
    #[must_use]
    pub fn times_code_was_made(&self) -> u64 {
        self.catalogues.look().times_code_was_made()
    }

    /// Puts in force what was read of stored code since `changes` was asked for, unless some was made meanwhile.
    pub fn use_stored_code(&self, changes: u64, codes: StoredCodes) {
        if self.catalogues.replace_code(changes, codes) {
            self.hostgroups.note_privileges();
        }
    }

    /// Whether each change of what is read is known by a clock; `followed` is what server it is whose binlog is followed, if it is.
    pub(crate) fn may_rest_on(
        &self,
        read: &ReadFootprint,
        domain: &Domain,
        catalogues: &Catalogues,
        followed: Option<ServerFlavor>,
    ) -> Result<(), NotCached> {
        let asked = read.definitions.unwrap_or_default();
        let is_mariadb_followed = matches!(followed, Some(ServerFlavor::MariaDb(_)));
        match () {
            () if asked.columns && !catalogues.is_whole() => Err(NotCached::DefinedJustNow),
            () if asked.tables && is_mariadb_followed => Err(NotCached::TablesBeingMade),
            () if self.delayed.may_add_to(read, &domain.catalogue) => Err(NotCached::Delayed),
            () => Ok(()),
        }
    }
}

fn tables_max(snapshot: &Snapshot) -> u32 {
    u32::try_from(snapshot.mysql.query_cache_tables_max).unwrap_or(u32::MAX)
}
