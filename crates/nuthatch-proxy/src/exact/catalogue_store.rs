//! The picture of all catalogues in force, who replaces it, and who is told that it must be taken anew.
//!
//! A change of a definition replaces the picture *before* it is sent, by one in which its tables are not known, and ends the
//! [turn](Turn): its marks stay until the last statement has ended that was looked at before. So whatever such a statement may do
//! under the new definition (fire a trigger that it did not know of) stays unseen by the cache. Until the change has ended, no new
//! picture makes its tables known.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use nuthatch_cache::{ClockList, Clocks, Marks};
use nuthatch_config::HostgroupId;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::exact::catalogues::{Catalogues, Domain, Domains};
use crate::exact::clocks_of::of_definition;
use crate::exact::definitions::{Changed, Makes};
use crate::exact::replica::NoDomain;
use crate::exact::stored_code::StoredCodes;
use crate::exact::turn::Turn;

/// What became of a new picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// It is in force.
    Done,
    /// It is in force, and what was known is no more so, though no change of a definition was seen.
    ChangedBehindOurBack,
    /// A definition was changed meanwhile: look again.
    Outdated,
}

/// A change of definitions that is under way.
#[derive(Debug)]
pub(super) struct Change {
    id: u64,
    /// The one that it ended.
    turn: Arc<Turn>,
    makes: Makes,
}

/// What is said of a change while it is under way.
#[derive(Debug)]
struct UnderWay {
    id: u64,
    changed: Changed,
    /// How often code had changed when it began, if it makes views of which it was known then that they run none.
    rests_on: Option<u64>,
}

impl UnderWay {
    /// Whether it makes views that may run what has been made since they were judged.
    fn has_lost_its_ground(&self, code_changes: u64) -> bool {
        self.rests_on.is_some_and(|then| then != code_changes)
    }
}

/// The changes that are under way.
#[derive(Debug, Default)]
struct Running {
    last_id: u64,
    changes: Vec<UnderWay>,
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct CatalogueStore {
    clocks: Arc<Clocks>,
    current: ArcSwap<Catalogues>,
    running: Mutex<Running>,
    is_outdated: Notify,
    /// There is a view or a stored function by which a SELECT may write that seems to read.
    reads_may_write: AtomicBool,
    /// Some hostgroup has replicas whose answers may be stored.
    has_replicas: AtomicBool,
}

impl CatalogueStore {
    pub(crate) fn new(clocks: &Arc<Clocks>) -> Self {
        Self {
            clocks: Arc::clone(clocks),
            current: ArcSwap::default(),
            running: Mutex::default(),
            is_outdated: Notify::new(),
            reads_may_write: AtomicBool::new(false),
            has_replicas: AtomicBool::new(false),
        }
    }

    pub(crate) fn current(&self) -> Arc<Catalogues> {
        self.current.load_full()
    }

    /// The same for a short look.
    pub(crate) fn look(&self) -> impl Deref<Target = Arc<Catalogues>> {
        self.current.load()
    }

    /// Whether a change of a definition has begun since so many had.
    pub(crate) fn has_left_behind(&self, changes_begun: u64) -> bool {
        changes_begun != self.current.load().changes_begun
    }

    /// Whether a SELECT may write that seems to read: see [`nuthatch_sql::Catalogue::reads_may_write`].
    pub(crate) fn reads_may_write(&self) -> bool {
        self.reads_may_write.load(Ordering::SeqCst)
    }

    /// Whether answers of some replica may be stored.
    pub(crate) fn has_replicas(&self) -> bool {
        self.has_replicas.load(Ordering::Relaxed)
    }

    /// Completes when a definition was changed, or somebody asked for it, since this completed last.
    pub(crate) async fn outdated(&self) {
        self.is_outdated.notified().await;
    }

    /// Asks for a new look at all servers.
    pub(crate) fn ask_for_a_look(&self) {
        self.is_outdated.notify_one();
    }

    /// The number to give with what is read from now on; see [`Self::replace`].
    pub(crate) fn generation(&self) -> u64 {
        self.current.load().generation
    }

    /// Puts what was read in force, unless a definition was changed since `generation` was asked for. What is being changed stays
    /// unknown.
    pub(crate) fn replace(&self, generation: u64, mut domains: Domains) -> Replaced {
        let running = self.running.lock();
        let current = self.current();
        if current.generation != generation {
            return Replaced::Outdated;
        }
        for (hostgroup, domain) in &mut domains {
            if let (Ok(domain), Ok(known)) = (&mut *domain, current.domain(*hostgroup)) {
                note_isolation(domain, known);
            }
        }
        let is_behind_our_back = current.domains.iter().any(|(hostgroup, known)| {
            let Ok(known) = known else { return false };
            match domains.get(hostgroup) {
                Some(Ok(found)) => !known.is_part_of(found),
                // What replicas showed was their primary's, which is known by itself.
                _ => known.takes_writes,
            }
        });
        for one in &running.changes {
            domains = without(&domains, &one.changed);
        }
        let is_whole = running.changes.is_empty();
        let look = current.look + 1;
        let mut next = Catalogues { domains, is_whole, look, ..Catalogues::clone(&current) };
        // To a snapshot that is older than a table its rows are not there.
        let appeared = next.tables_beyond(&current);
        if !appeared.is_empty() {
            let moved = appeared.into_iter().flat_map(|table| of_definition(&self.clocks, table));
            self.clocks.raise(moved.chain([self.clocks.definitions()]).collect::<ClockList>()).settle();
        }
        if is_behind_our_back || !next.reads_that_may_write_are_known_by(&current) {
            // Statements in flight were looked at by what is not so, or were not because they seemed to read: they count as having
            // written everything.
            current.turn.park(self.clocks.raise(vec![self.clocks.everything()]));
            (next.turn, next.changes_begun) = (current.turn.end(), current.changes_begun + 1);
        }
        self.put(next);
        if is_behind_our_back { Replaced::ChangedBehindOurBack } else { Replaced::Done }
    }

    /// Puts in force what was read of stored code since there had been so many changes, unless there were more. Says whether connections may
    /// carry what code has left of which nothing was known.
    pub(super) fn replace_code(&self, changes: u64, codes: StoredCodes) -> bool {
        let running = self.running.lock();
        let current = self.current();
        let now = current.code.changes();
        // A view that is being made may run what has been made since it was judged, and what was read shows the one before it.
        if running.changes.iter().any(|one| one.has_lost_its_ground(now)) {
            return false;
        }
        let (code, is_news) = current.code.learn(changes, codes);
        self.put(Catalogues { code, ..Catalogues::clone(&current) });
        is_news
    }

    /// Nothing is known any more of hostgroups of which `is_kept` does not say otherwise, and no exact answer is served that was stored
    /// before, if anything was known of them.
    pub(crate) fn forget_hostgroups(&self, is_kept: impl Fn(HostgroupId, &Domain) -> bool) {
        let _one_at_a_time = self.running.lock();
        let current = self.current();
        let mut domains = current.domains.clone();
        domains.retain(|hostgroup, domain| domain.as_ref().is_ok_and(|domain| is_kept(*hostgroup, domain)));
        let known = current.domains.values().filter(|domain| domain.is_ok()).count();
        let forgets = domains.len() < known;
        let (generation, code) = (current.generation + 1, current.code.forgotten());
        self.put(Catalogues { domains, generation, code, ..Catalogues::clone(&current) });
        if forgets {
            self.clocks.raise(vec![self.clocks.everything()]).settle();
        }
    }

    /// A server has begun anew, or is another: nothing is known of it any more, and no exact answer is served that was stored before.
    /// Says whether anything was known.
    pub(crate) fn forget_server(&self, host: &str, port: u16) -> bool {
        let is_of = |domain: &Domain| {
            let mut replicas = domain.replicas.iter();
            (domain.host.as_str(), domain.port) == (host, port)
                || replicas.any(|replica| (replica.host.as_str(), replica.port) == (host, port))
        };
        let is_known = self.current.load().domains().any(|domain| is_of(domain));
        if is_known {
            self.forget_hostgroups(|_, domain| !is_of(domain));
            self.ask_for_a_look();
        }
        is_known
    }

    /// What was written until now was not watched, and counts as having written everything; what is still in flight holds the turn that
    /// ends here, or one before it. Whoever looks at a later picture knows that he has to watch.
    pub(super) fn begin_watching(&self) {
        let _one_at_a_time = self.running.lock();
        let current = self.current();
        current.turn.park(self.clocks.raise(vec![self.clocks.everything()]));
        self.put(Catalogues { turn: current.turn.end(), ..Catalogues::clone(&current) });
    }

    /// A change begins: from now on its tables are not known. Which those are, and what it writes, was judged by `judged_by`; what has
    /// become known since then, its marks may not hold.
    pub(super) fn begin_change(&self, changed: Changed, makes: Makes, judged_by: &Catalogues) -> Change {
        let mut running = self.running.lock();
        let current = self.current();
        if current.version != judged_by.version {
            current.turn.park(self.clocks.raise(vec![self.clocks.everything()]));
        }
        running.last_id += 1;
        let id = running.last_id;
        let makes = current.code.made_by(makes);
        self.put(Catalogues {
            domains: without(&current.domains, &changed),
            generation: current.generation + 1,
            changes_begun: current.changes_begun + 1,
            turn: current.turn.end(),
            version: 0,
            look: current.look,
            is_whole: false,
            code: current.code.changed_by(makes),
        });
        let rests_on = matches!(makes, Makes::PlainViews { .. }).then(|| current.code.changes());
        running.changes.push(UnderWay { id, changed, rests_on });
        Change { id, turn: Arc::clone(&current.turn), makes }
    }

    /// A statement has ended that may have written all that `marks` hold, and changed definitions if it has begun a change.
    pub(super) fn finish(&self, marks: Marks, change: Option<Change>) {
        let Some(Change { id, turn, mut makes }) = change else {
            marks.settle();
            return;
        };
        turn.park(marks);
        drop(turn);
        let mut running = self.running.lock();
        let current = self.current();
        let is_it = |one: &UnderWay| one.id == id;
        if running.changes.iter().any(|one| is_it(one) && one.has_lost_its_ground(current.code.changes())) {
            makes = Makes::Views;
        }
        running.changes.retain(|one| !is_it(one));
        // Who reads the server from now on sees what became of it.
        let (generation, code) = (current.generation + 1, current.code.changed_by(makes));
        self.put(Catalogues { generation, code, ..Catalogues::clone(&current) });
        drop(running);
        self.ask_for_a_look();
    }

    /// Puts `next` in force. Whoever makes it has the lock.
    fn put(&self, mut next: Catalogues) {
        next.version = self.current.load().version + 1;
        // Before they can be looked at by it, statements must be watched.
        let reads_may_write = next.reads_may_write();
        self.reads_may_write.fetch_or(reads_may_write, Ordering::SeqCst);
        let has_replicas =
            next.domains().any(|domain| domain.replicas.iter().any(|one| one.standing.is_ok()));
        self.has_replicas.store(has_replicas, Ordering::Relaxed);
        self.current.store(Arc::new(next));
        self.reads_may_write.store(reads_may_write, Ordering::SeqCst);
    }
}

/// The domains, with what is being changed unknown.
fn without(domains: &Domains, changed: &Changed) -> Domains {
    let domain = |domain: &Result<Arc<Domain>, NoDomain>| match (domain, changed) {
        (Ok(domain), Changed::Tables(named)) => Ok(Arc::new(domain.without(named))),
        (Ok(_), Changed::All) => Err("a definition has just been changed".into()),
        (Err(why), _) => Err(Arc::clone(why)),
    };
    domains.iter().map(|(hostgroup, known)| (*hostgroup, domain(known))).collect()
}

/// Has the domain say since when its isolation is as it is.
fn note_isolation(domain: &mut Arc<Domain>, known: &Domain) {
    let since =
        if domain.isolation == known.isolation { known.isolation_since } else { Some(Instant::now()) };
    if domain.isolation_since != since {
        *domain = Arc::new(Domain { isolation_since: since, ..Domain::clone(domain) });
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks, Standing};
    use nuthatch_sql::{Catalogue, SideEffects, Table, TableId};

    use super::*;
    use crate::exact::{Began, CodeOf};

    const HOSTGROUP: HostgroupId = HostgroupId(0);

    fn table(number: u32) -> Table {
        Table {
            id: TableId(number),
            is_view: false,
            time_columns: [].into(),
            compared: nuthatch_sql::ComparedColumns::default(),
            key: None,
            reads: [TableId(number)].into(),
            unsuitable: None,
            side_effects: SideEffects::Tables([].into()),
            is_transactional: true,
            definition: 0,
        }
    }

    fn domains(tables: &[&str]) -> Domains {
        let mut catalogue = Catalogue::default();
        for (number, name) in (0..).zip(tables) {
            catalogue.insert(b"shop", name.as_bytes(), table(number));
        }
        Domains::from_iter([(HOSTGROUP, Ok(Arc::new(Domain::before(catalogue))))])
    }

    fn named(name: &str) -> Changed {
        Changed::Tables(vec![(b"shop".as_slice().into(), name.as_bytes().into())])
    }

    fn store() -> (CatalogueStore, Arc<Clocks>) {
        let clocks = Arc::new(Clocks::new(ClockOptions::default()));
        (CatalogueStore::new(&clocks), clocks)
    }

    fn knows(store: &CatalogueStore, name: &str) -> bool {
        let current = store.current();
        current
            .domain(HOSTGROUP)
            .is_ok_and(|domain| domain.catalogue.table(b"shop", name.as_bytes()).is_some())
    }

    #[test]
    fn a_table_is_not_known_from_the_beginning_of_its_change_until_it_was_read_anew() {
        let (store, clocks) = store();
        assert_eq!(store.replace(store.generation(), domains(&["a", "b"])), Replaced::Done);
        let read_before = store.generation();
        let replaced = store.begin_change(named("A"), Makes::Code, &store.current());
        assert!(!knows(&store, "a") && knows(&store, "b"));
        assert_eq!(store.replace(store.generation(), domains(&["a", "b"])), Replaced::Done);
        assert!(!knows(&store, "a"), "it is still being changed");
        let read_meanwhile = store.generation();
        store.finish(clocks.raise(vec![clocks.everything()]), Some(replaced));
        for outdated in [read_before, read_meanwhile] {
            assert_eq!(store.replace(outdated, domains(&["a", "b"])), Replaced::Outdated);
        }
        assert!(!knows(&store, "a"));
        assert_eq!(store.replace(store.generation(), domains(&["a", "b"])), Replaced::Done);
        assert!(knows(&store, "a"));
    }

    #[test]
    fn marks_of_a_change_stay_while_a_statement_is_in_flight_that_was_looked_at_before_it() {
        let (store, clocks) = store();
        let all = clocks.everything();
        let now = clocks.now();
        let Catalogues { turn: in_flight, changes_begun, .. } = Catalogues::clone(&store.current());
        let unrelated = store.begin_change(named("b"), Makes::Code, &store.current());
        store.finish(clocks.raise(Vec::new()), Some(unrelated));
        let replaced = store.begin_change(Changed::All, Makes::Code, &store.current());
        assert!(store.has_left_behind(changes_begun));
        store.finish(clocks.raise(vec![all]), Some(replaced));
        assert_eq!(clocks.standing([all], now), Standing::Pending);
        drop(in_flight);
        assert_eq!(clocks.standing([all], now), Standing::Moved);
        assert_eq!(clocks.pending(), 0);
    }

    /// The store, in which it is known what code there is.
    fn store_that_knows_code() -> (CatalogueStore, Arc<Clocks>) {
        let (store, clocks) = store();
        learn(&store);
        (store, clocks)
    }

    fn learn(store: &CatalogueStore) {
        store.replace_code(store.current().code_changes(), codes());
    }

    fn codes() -> StoredCodes {
        StoredCodes::from_iter([(HOSTGROUP, Some(Arc::default()))])
    }

    fn knows_code(store: &CatalogueStore) -> bool {
        matches!(store.current().stored_code(HOSTGROUP), CodeOf::Known(..))
    }

    fn plain_view(store: &CatalogueStore, times_made: u64) -> Change {
        store.begin_change(named("v"), Makes::PlainViews { times_made }, &store.current())
    }

    #[test]
    fn views_that_run_no_code_leave_known_what_code_there_is() {
        let (store, clocks) = store_that_knows_code();
        let finish = |change| store.finish(clocks.raise(Vec::new()), Some(change));
        let plain = plain_view(&store, 0);
        assert!(knows_code(&store));
        finish(plain);
        assert!(knows_code(&store));
        finish(store.begin_change(named("v"), Makes::Views, &store.current()));
        assert!(!knows_code(&store));
        learn(&store);
        assert!(knows_code(&store));
        finish(plain_view(&store, 1));
        assert!(!knows_code(&store), "it was judged before the last code was made");
    }

    #[test]
    fn views_are_not_known_to_run_no_code_while_code_is_made_beside_them() {
        let (store, clocks) = store_that_knows_code();
        let finish = |change| store.finish(clocks.raise(Vec::new()), Some(change));
        let plain = plain_view(&store, 0);
        let function = store.begin_change(Changed::All, Makes::Code, &store.current());
        finish(function);
        learn(&store);
        assert!(!knows_code(&store), "the view may call it");
        finish(plain);
        assert!(!knows_code(&store), "what was read does not show the view");
        learn(&store);
        assert!(knows_code(&store));
    }

    #[test]
    fn what_is_in_flight_when_watching_begins_keeps_everything_pending_until_it_has_landed() {
        let (store, clocks) = store();
        let (all, before) = (clocks.everything(), clocks.now());
        let unwatched = Arc::clone(&store.current().turn);
        store.begin_watching();
        assert_eq!(clocks.standing([all], before), Standing::Pending);
        assert!(!Arc::ptr_eq(&unwatched, &store.current().turn), "later ones are watched, and hold another");
        drop(unwatched);
        assert_eq!(clocks.standing([all], before), Standing::Moved, "what began before shows none of it");
        assert_eq!(clocks.standing([all], clocks.now()), Standing::Holds);
    }

    #[test]
    fn a_change_that_was_judged_by_an_older_picture_may_be_of_anything() {
        let (store, clocks) = store();
        let (all, now, judged_by) = (clocks.everything(), clocks.now(), store.current());
        assert_eq!(store.replace(store.generation(), domains(&["a"])), Replaced::Done);
        assert_eq!(clocks.standing([all], now), Standing::Holds);
        let change = store.begin_change(named("a"), Makes::Code, &judged_by);
        assert_eq!(clocks.standing([all], now), Standing::Pending);
        store.finish(clocks.raise(Vec::new()), Some(change));
        drop(judged_by);
        assert_eq!(clocks.standing([all], now), Standing::Moved);
    }

    #[test]
    fn what_changed_without_being_seen_is_told_but_not_what_became_known() {
        let (store, clocks) = store();
        let replace = |tables| store.replace(store.generation(), domains(tables));
        assert_eq!(replace(&["a"]), Replaced::Done);
        assert_eq!(replace(&["a", "b"]), Replaced::Done);
        let (now, before) = (clocks.now(), store.current().changes_begun);
        assert_eq!(replace(&["b"]), Replaced::ChangedBehindOurBack);
        assert!(store.has_left_behind(before), "what a transaction did under it is not known");
        assert_eq!(clocks.standing([clocks.everything()], now), Standing::Moved);
    }

    #[test]
    fn columns_that_were_changed_without_being_seen_are_told() {
        let (store, _clocks) = store();
        let replace = |definition| {
            let mut catalogue = Catalogue::default();
            catalogue.insert(b"shop", b"a", Table { definition, ..table(0) });
            let domain = Domain::before(catalogue);
            store.replace(store.generation(), Domains::from_iter([(HOSTGROUP, Ok(Arc::new(domain)))]))
        };
        assert_eq!([1, 1].map(replace), [Replaced::Done; 2]);
        assert_eq!(replace(2), Replaced::ChangedBehindOurBack);
    }

    #[test]
    fn stored_function_with_the_name_of_a_known_one_that_was_made_without_being_seen_is_told() {
        let (store, clocks) = store();
        let replace = |functions: &[&str]| {
            let mut catalogue = Catalogue::default();
            functions.iter().for_each(|name| catalogue.add_stored_function(name.as_bytes()));
            let domain = Domain::before(catalogue);
            store.replace(store.generation(), Domains::from_iter([(HOSTGROUP, Ok(Arc::new(domain)))]))
        };
        let now = clocks.now();
        assert_eq!(replace(&["f"]), Replaced::Done);
        assert!(!store.reads_may_write());
        assert_eq!(replace(&["f", "g"]), Replaced::Done);
        assert_eq!(clocks.standing([clocks.everything()], now), Standing::Holds);
        assert_eq!(replace(&["f", "nvl"]), Replaced::ChangedBehindOurBack);
        assert!(store.reads_may_write());
        assert_eq!(replace(&[]), Replaced::Done);
    }

    #[test]
    fn reads_in_flight_when_it_becomes_known_that_reads_may_write_count_as_writes() {
        let (store, clocks) = store();
        let shadowing = || {
            let mut catalogue = Catalogue::default();
            catalogue.add_stored_function(b"nvl");
            Domains::from_iter([(HOSTGROUP, Ok(Arc::new(Domain::before(catalogue))))])
        };
        let (all, now, read) = (clocks.everything(), clocks.now(), store.current());
        assert_eq!(store.replace(store.generation(), shadowing()), Replaced::Done);
        assert_eq!(clocks.standing([all], now), Standing::Pending);
        drop(read);
        assert_eq!(clocks.standing([all], now), Standing::Moved);
        let now = clocks.now();
        assert_eq!(store.replace(store.generation(), shadowing()), Replaced::Done);
        assert_eq!(clocks.standing([all], now), Standing::Holds);
    }

    #[test]
    fn table_that_appears_is_newer_than_any_snapshot_before() {
        let (store, clocks) = store();
        let any = |number| clocks.any(number).expect("there are clocks enough");
        assert_eq!(store.replace(store.generation(), domains(&["a"])), Replaced::Done);
        let snapshot = clocks.now();
        assert_eq!(store.replace(store.generation(), domains(&["a", "b"])), Replaced::Done);
        assert_eq!(clocks.standing([any(0)], snapshot), Standing::Holds);
        assert_eq!(clocks.standing([any(1)], snapshot), Standing::Moved);
        let now = clocks.now();
        let mut both = domains(&["a", "b"]);
        both.insert(HostgroupId(1), both[&HOSTGROUP].clone());
        assert_eq!(store.replace(store.generation(), both), Replaced::Done);
        assert_eq!(clocks.standing([any(0), any(1)], now), Standing::Holds, "it is the same elsewhere");
    }

    #[test]
    fn server_that_tells_of_a_later_beginning_is_told() {
        let (store, _clocks) = store();
        let replace = |began: Option<i64>| {
            let domain = Domain { began: began.map(Began), ..Domain::before(Catalogue::default()) };
            store.replace(store.generation(), Domains::from_iter([(HOSTGROUP, Ok(Arc::new(domain)))]))
        };
        for (began, expected) in [
            (None, Replaced::Done),
            (Some(-7_000), Replaced::Done),
            (Some(-5_500), Replaced::Done),
            (None, Replaced::Done),
            (Some(60_000), Replaced::Done),
            (Some(63_000), Replaced::ChangedBehindOurBack),
        ] {
            assert_eq!(replace(began), expected, "{began:?}");
        }
    }

    #[test]
    fn server_that_began_anew_is_known_no_more() {
        let (store, clocks) = store();
        assert_eq!(store.replace(store.generation(), domains(&["a"])), Replaced::Done);
        let (now, read_before) = (clocks.now(), store.generation());
        assert!(
            !store.forget_server("db", 3307) && !store.forget_server("other", 3306) && knows(&store, "a")
        );
        assert_eq!(clocks.standing([clocks.everything()], now), Standing::Holds);
        assert!(store.forget_server("db", 3306) && !knows(&store, "a"));
        assert_eq!(clocks.standing([clocks.everything()], now), Standing::Moved);
        assert_eq!(store.replace(read_before, domains(&["a"])), Replaced::Outdated);
    }

    #[test]
    fn hostgroups_whose_server_is_not_theirs_any_more_are_forgotten() {
        let (store, clocks) = store();
        assert_eq!(store.replace(store.generation(), domains(&["a"])), Replaced::Done);
        let now = clocks.now();
        store.forget_hostgroups(|_, domain| domain.host == "db");
        assert!(knows(&store, "a") && clocks.standing([clocks.everything()], now) == Standing::Holds);
        store.forget_hostgroups(|_, domain| domain.host != "db");
        assert!(!knows(&store, "a") && clocks.standing([clocks.everything()], now) == Standing::Moved);
    }
}
