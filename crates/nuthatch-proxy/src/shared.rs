//! What all sessions share, by subject: each of these rooms stands for itself, and knows nothing of those beside it.

pub(crate) mod answers;
pub(crate) mod doors;
pub(crate) mod greetings;
pub(crate) mod orders;
pub(crate) mod places;
pub(crate) mod purge;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_config::{AccessFinding, CheckType, HostgroupId, Member, ServerName, Snapshot};
use parking_lot::Mutex;

use crate::backend::{Hostgroups, Restarts};
use crate::clock::Clock;
use crate::configuration::Configuration;
use crate::exact::{CatalogueStore, Exact, Follows};
use crate::roster::Roster;
use crate::shared::answers::Answers;
use crate::shared::doors::Doors;
use crate::shared::greetings::Greetings;
use crate::shared::orders::Orders;
use crate::shared::places::{Moves, Places, Told};
use crate::stats::Totals;
use crate::worker::{self, Worker};

/// See the module's doc. Everything in it is for concurrent use.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) greetings: Greetings,
    pub(crate) doors: Doors,
    pub(crate) roster: Arc<Roster>,
    pub(crate) hostgroups: Arc<Hostgroups>,
    /// Those that an operator holds.
    pub(crate) orders: Orders,
    pub(crate) answers: Answers,
    pub(crate) exact: Arc<Exact>,
    pub(crate) workers: Box<[Arc<Worker>]>,
    /// Held while a configuration is put in force: one is at a time.
    pub(crate) places: Mutex<Places>,
    panics: AtomicU64,
}

impl Shared {
    /// Under a first configuration.
    pub(crate) fn new(clock: Clock, workers: Box<[Arc<Worker>]>, snapshot: &Arc<Snapshot>) -> Self {
        let clocks = Arc::new(Exact::clocks_for(snapshot));
        let catalogues = Arc::new(CatalogueStore::new(&clocks));
        let follows = Arc::new(Follows::default());
        let (forgetting, followed) = (Arc::clone(&catalogues), Arc::clone(&follows));
        let restarts = Restarts::new(move |host, port| {
            // Who follows it begins anew.
            followed.of_server(host, port).inspect(|followed| followed.close());
            forgetting.forget_server(host, port)
        });
        let hostgroups = Arc::new(Hostgroups::new(workers.len(), Arc::new(restarts)));
        let configuration = Arc::new(Configuration::new(Arc::clone(snapshot)));
        let (known, in_force) = (Arc::clone(&hostgroups), Arc::clone(&configuration));
        let shared = Self {
            clock,
            configuration,
            greetings: Greetings::default(),
            doors: Doors::default(),
            roster: Arc::new(Roster::new(workers.len())),
            hostgroups,
            orders: Orders::default(),
            answers: Answers::new(&snapshot.mysql),
            exact: Arc::new(Exact::new(clocks, catalogues, follows, known, in_force, clock)),
            workers,
            places: Mutex::new(Places::new(Arc::clone(snapshot))),
            panics: AtomicU64::new(0),
        };
        shared.hostgroups.publish(snapshot, clock.now_us());
        shared.exact.note_type(snapshot);
        shared
    }

    /// Puts a configuration in force: when this returns, every statement that begins is judged by it.
    pub(crate) fn publish(&self, configured: Arc<Snapshot>) {
        let mut places = self.places.lock();
        places.configure(configured);
        self.put_in_force(&mut places);
    }

    /// Takes note of whether a server takes writes, and has it stand where it belongs by that.
    pub(crate) fn note_access(
        &self,
        server: &ServerName,
        check: CheckType,
        finding: &AccessFinding,
        told: Told,
    ) {
        let others = {
            let mut places = self.places.lock();
            if !places.note_access(server, check, finding, told) {
                return;
            }
            self.replace(&mut places);
            places.others_of_its_clusters(server)
        };
        // Where one has changed its role another has, as a rule.
        for other in others {
            self.hostgroups.alarm.ring(&other.host, other.port);
        }
    }

    /// Takes note of what a server is in its cluster, and has it stand where it belongs by that.
    pub(crate) fn note_member(&self, server: &ServerName, member: Member) {
        let mut places = self.places.lock();
        if places.note_member(server, member) {
            self.replace(&mut places);
        }
    }

    /// Nobody looks any more at what a server is: it stands where the configuration has it.
    pub(crate) fn forget_place(&self, server: &ServerName) {
        let mut places = self.places.lock();
        if places.forget(server) {
            self.replace(&mut places);
        }
    }

    /// The same as [`Self::put_in_force`] where the configuration is as before: nothing is done if all servers stand where they stood.
    fn replace(&self, places: &mut Places) {
        let in_force = self.configuration.snapshot();
        let (snapshot, moves) = places.place(&in_force, self.clock.now_ms());
        match snapshot.hostgroups == in_force.hostgroups {
            true => moves.tell(),
            false => self.move_servers(snapshot, &moves),
        }
    }

    fn put_in_force(&self, places: &mut Places) {
        let (snapshot, moves) = places.place(&self.configuration.snapshot(), self.clock.now_ms());
        self.move_servers(snapshot, &moves);
    }

    /// Nothing is sent to that server any more in the pair of that writer hostgroup: its connections have been cut when this returns.
    pub(crate) fn fence(&self, hostgroup: HostgroupId, server: &ServerName, why: &str) {
        let mut places = self.places.lock();
        places.fence(hostgroup, server, why);
        self.replace(&mut places);
    }

    /// These servers wrote in their clusters last, in another run.
    pub(crate) fn remember_writers(&self, writers: impl IntoIterator<Item = (HostgroupId, ServerName)>) {
        let mut places = self.places.lock();
        for (hostgroup, server) in writers {
            places.remember_writer(hostgroup, server);
        }
        self.replace(&mut places);
    }

    /// It stands again where it belongs by what it is found to be.
    pub(crate) fn readmit(&self, hostgroup: HostgroupId, server: &ServerName) {
        let mut places = self.places.lock();
        places.readmit(hostgroup, server);
        self.replace(&mut places);
    }

    /// Where a server does not take a hostgroup's writes any more, its connections are cut first; then all is forgotten that is exact, so
    /// that nothing is stored of what was under way there; and only then another one takes them. That one may have applied since what
    /// was read from it before.
    fn move_servers(&self, snapshot: Snapshot, moves: &Moves) {
        for (hostgroup, server) in &moves.deposed {
            self.hostgroups.cut_off(*hostgroup, server, self.clock.now_ms());
        }
        if !moves.deposed.is_empty() || moves.has_new_writer {
            self.exact.forget_all();
        }
        if self.hostgroups.publish(&snapshot, self.clock.now_us()) {
            // No SET says what an init_connect has set.
            self.exact.forget_all();
            self.answers.cache.flush();
        }
        self.answers.keep_to(&snapshot.mysql);
        // Nothing is stored by it before all that is written is watched.
        self.exact.note_type(&snapshot);
        let snapshot = self.configuration.put_in_force(snapshot);
        self.doors.known_schemas.clear();
        self.exact.forget_catalogues(&snapshot);
        self.greetings.learn(&self.hostgroups);
        moves.tell();
    }

    /// The counters of all workers.
    pub(crate) fn totals(&self) -> Totals {
        worker::totals(&self.workers)
    }

    /// A session has ended by a panic.
    pub(crate) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// The answer to COM_STATISTICS, in MySQL's form.
    pub(crate) fn statistics_line(&self) -> String {
        let (totals, uptime) = (self.totals(), (self.clock.now_ms() / 1000).max(1));
        format!(
            "Uptime: {uptime}  Threads: {}  Questions: {}  Slow queries: {}  Opens: 0  Open tables: 0  \
             Queries per second avg: {}.{:03}",
            self.roster.len(),
            totals.questions,
            totals.slow_queries,
            totals.questions / uptime,
            totals.questions % uptime * 1000 / uptime,
        )
    }
}
