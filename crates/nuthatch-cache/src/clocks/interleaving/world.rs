//! The server, the cache in front of it, the sessions' steps and the checker.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use shuttle::sync::Mutex;
use shuttle::thread;

use super::query::Query;
use super::rule::Rule;
use super::stream::{Follow, Stream};
use super::write::Write;
use crate::atomic::AtomicU64;
use crate::cache::Cache;
use crate::clocks::{Clock, ClockOptions, Clocks, Marks, Sequence, Standing};
use crate::entry::Entry;
use crate::fill::Fill;
use crate::key::{Key, Protocol};
use crate::limits::Limits;

/// For how many turns a reader waits for what another asks.
const PATIENCE: usize = 8;

/// What the checker remembers is no step of any schedule.
type Unscheduled = std::sync::atomic::AtomicU64;

const OPTIONS: ClockOptions = ClockOptions { tables_max: 1, row_stripes: 8, block_stripes: 2 };
const LIMITS: Limits = Limits { bytes: 64 << 10, entry_bytes_max: 1 << 10 };

/// A set of writes is a bit each; an answer is the set that it shows.
pub(super) struct World {
    clocks: Arc<Clocks>,
    /// Of each answer whether a replica gave it.
    cache: Cache<bool>,
    writes: &'static [Write],
    left_out: Option<Rule>,
    follow: Option<Follow>,
    stream: Stream,
    /// Since when all events show what rows hold, once it is known.
    learnt_since: Mutex<Option<Sequence>>,
    /// What the server shows.
    visible: AtomicU64,
    /// What a replica of the server shows, and how many writes it tells of: later, so that is a step of its own.
    applied: AtomicU64,
    applied_count: AtomicU64,
    /// All that could be seen at that moment is known to be applied there.
    proven_of_replica: Mutex<Option<Sequence>>,
    /// What clients of writers have been told.
    acknowledged: Unscheduled,
    /// What clients of readers have been shown.
    shown: Unscheduled,
    pub(super) coverage: Coverage,
}

/// How often things happened: a test in which nothing was served shows nothing.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    pub(super) served: Unscheduled,
    pub(super) served_to_snapshots: Unscheduled,
    pub(super) served_of_replica: Unscheduled,
    pub(super) stored: Unscheduled,
    pub(super) refused: Unscheduled,
    pub(super) invalidated: Unscheduled,
}

impl World {
    pub(super) fn new(
        writes: &'static [Write],
        seeds: &[Query],
        left_out: Option<Rule>,
        follow: Option<Follow>,
    ) -> Self {
        let clocks = Arc::new(Clocks::new(OPTIONS));
        clocks.begin_values();
        assert_ne!(clocks.row(0, 1), clocks.row(0, 2), "rows that share a stripe hide what is missing");
        let world = Self {
            clocks,
            cache: Cache::new(LIMITS),
            writes,
            left_out,
            follow,
            stream: Stream::new(),
            learnt_since: Mutex::new((!writes.contains(&Write::PastUnlearnt1)).then(Sequence::default)),
            visible: AtomicU64::new(0),
            applied: AtomicU64::new(0),
            applied_count: AtomicU64::new(0),
            proven_of_replica: Mutex::new(None),
            acknowledged: Unscheduled::new(0),
            shown: Unscheduled::new(0),
            coverage: Coverage::default(),
        };
        for query in seeds {
            let since = Sequence::default();
            world.insert(*query, 0, &world.dependencies(*query, 0, since), since, false);
        }
        world
    }

    /// One write, from its client's command to its answer.
    pub(super) fn write(self: &Arc<Self>, number: usize) {
        let write = self.writes[number];
        while !self.may_begin(write) {
            thread::yield_now();
        }
        match write {
            Write::RolledBack => self.clocks.raise(write.raises(&self.clocks)).release(),
            Write::Lost => self.lose(number),
            _ if write.is_past() => self.write_past(number),
            _ => self.commit(number),
        }
    }

    fn may_begin(&self, write: Write) -> bool {
        if !self.writes.iter().any(|other| write.follows(*other)) {
            return true;
        }
        let visible = self.visible.load(SeqCst);
        self.members(visible).any(|other| write.follows(other))
    }

    fn commit(&self, number: usize) {
        let raised = self.writes[number].raises(&self.clocks);
        match self.left_out {
            Some(Rule::RaiseBeforeSending) => {
                self.become_visible(number);
                self.settle(number, self.clocks.raise(raised));
            }
            Some(Rule::DrawAfterAcknowledgement) => {
                let held = self.clocks.raise(raised.clone());
                self.settle(number, self.clocks.raise(raised));
                self.become_visible(number);
                held.release();
            }
            _ if self.follow.is_some() => return self.commit_followed(number, self.clocks.raise(raised)),
            _ => {
                let marks = self.clocks.raise(raised);
                self.become_visible(number);
                self.settle(number, marks);
            }
        }
        self.acknowledged.fetch_or(1 << number, Relaxed);
    }

    /// The same where its event will show what is not known of it.
    fn commit_followed(&self, number: usize, marks: Marks) {
        let early = (self.left_out == Some(Rule::AskForEndPastAnswer)).then(|| self.stream.end());
        self.stream.log(number);
        if self.follow == Some(Follow::Exact) {
            self.stream.wait_for_follower(number);
        }
        self.become_visible(number);
        let written = self.writes[number].learns(&self.clocks).unwrap_or_else(|| marks.clocks().to_vec());
        let is_open = |clock: Clock| self.clocks.is_open(clock);
        let names_rows =
            !written.iter().any(|clock| is_open(*clock) && Some(*clock) != self.clocks.valued(0));
        let is_kept = |clock: Clock| is_open(clock) || !names_rows && Some(clock) == self.clocks.any(0);
        let moved: Vec<Clock> = written.iter().copied().filter(|clock| !is_kept(*clock)).collect();
        let written_open = |clock: Clock| is_kept(clock) && written.contains(&clock);
        let held = marks.settle_but(&moved, written_open);
        if self.left_out == Some(Rule::HoldPastAnswer) {
            held.release();
            self.acknowledged.fetch_or(1 << number, Relaxed);
            return;
        }
        self.acknowledged.fetch_or(1 << number, Relaxed);
        thread::yield_now();
        let end = early.unwrap_or_else(|| self.stream.end());
        match self.stream.is_carried_soon(end) || self.left_out == Some(Rule::MoveWhatIsLate) {
            true => held.release(),
            false => held.settle(),
        }
    }

    fn settle(&self, number: usize, marks: Marks) {
        let learned = self.writes[number].learns(&self.clocks);
        match (self.left_out, learned) {
            (Some(Rule::MoveByMaximum), _) => self.settle_by_store(marks),
            (Some(Rule::MoveNarrowBeforeLoweringWide), Some(moved)) => {
                let late = self.clocks.raise(vec![moved[0], moved[3]]);
                marks.release();
                late.settle_only(&moved);
            }
            (_, Some(moved)) => marks.settle_only(&moved),
            (_, None) => marks.settle(),
        }
    }

    /// Leaves the clock at the version of whoever comes last.
    fn settle_by_store(&self, marks: Marks) {
        let version = self.clocks.draw();
        for clock in marks.clocks() {
            self.clocks.update(*clock, |word| word.without_version().moved(version));
        }
        marks.release();
    }

    /// The connection breaks, the server goes on; whoever waits for its thread to be gone settles.
    fn lose(self: &Arc<Self>, number: usize) {
        let marks = self.clocks.raise(self.writes[number].raises(&self.clocks));
        let world = self.clone();
        let server = thread::spawn(move || world.become_visible(number));
        if self.left_out == Some(Rule::HoldUntilKnown) {
            marks.settle();
            server.join().expect("it does not panic");
        } else {
            server.join().expect("it does not panic");
            marks.settle();
        }
    }

    /// A write past the proxy, from its client's command to its answer.
    fn write_past(&self, number: usize) {
        self.stream.log(number);
        if self.left_out == Some(Rule::WaitBeforeVisible) {
            self.become_visible(number);
        }
        if self.follow == Some(Follow::Exact) {
            self.stream.wait_for_follower(number);
        }
        self.become_visible(number);
        self.acknowledged.fetch_or(1 << number, Relaxed);
    }

    /// The writes that do not go through the proxy: the others are known to it whatever is promised of these.
    fn past(&self) -> u64 {
        let numbers = (0..self.writes.len()).filter(|number| self.writes[*number].is_past());
        numbers.map(|number| 1 << number).sum()
    }

    /// How many writes will stand in the binlog.
    fn logged(&self) -> usize {
        self.writes.iter().filter(|write| !matches!(write, Write::RolledBack)).count()
    }

    /// Follows the binlog to its end.
    pub(super) fn carry(&self) {
        for place in 0..self.logged() {
            let number = self.stream.next(place);
            if self.left_out == Some(Rule::RaiseBeforeAcknowledging) {
                self.stream.acknowledge(number);
            }
            let marks = self.clocks.raise(self.writes[number].shows(&self.clocks));
            self.stream.acknowledge(number);
            self.stream.carry(number, marks);
        }
    }

    /// Settles what is carried when the server shows it.
    pub(super) fn prove(&self) {
        for _ in 0..self.logged() {
            let (number, marks) = self.stream.take_unproven();
            let is_shown = || self.visible.load(SeqCst) >> number & 1 == 1;
            while self.left_out != Some(Rule::ProveVisible) && !is_shown() {
                thread::yield_now();
            }
            marks.settle();
            if self.writes[number] == Write::PastUnlearnt1 {
                *self.learnt_since.lock().expect("nobody panics with it") = Some(self.clocks.now());
            }
        }
    }

    /// Finds again and again up to which moment all that was written is carried.
    pub(super) fn find_horizon(&self) {
        (0..3).for_each(|_| self.find_horizon_once());
    }

    fn find_horizon_once(&self) {
        let asked = self.stream.begin_asking();
        let noted = self.acknowledged.load(Relaxed);
        thread::yield_now();
        let end = self.stream.end();
        let moment = match self.left_out {
            Some(Rule::NoteBeforeAskingForEnd) => {
                thread::yield_now();
                self.acknowledged.load(Relaxed)
            }
            _ => noted,
        };
        if self.left_out != Some(Rule::CarryToTheEnd) {
            self.stream.wait_until_carried(end);
        }
        self.stream.note_horizon(moment);
        self.stream.note_reached(asked);
    }

    /// Applies on the replica what the server logs, whether it shows it already or not.
    pub(super) fn apply(&self) {
        for place in 0..self.logged() {
            let number = self.stream.next(place);
            self.applied.fetch_or(1 << number, SeqCst);
            self.applied_count.fetch_add(1, SeqCst);
        }
    }

    /// Proves again and again what the replica has applied.
    pub(super) fn prove_replica(&self) {
        for _ in 0..3 {
            let noted = self.clocks.now();
            let end = self.stream.end() as u64;
            while self.applied_count.load(SeqCst) < end {
                thread::yield_now();
            }
            let moment =
                if self.left_out == Some(Rule::NoteBeforeProvingReplica) { self.clocks.now() } else { noted };
            *self.proven_of_replica.lock().expect("nobody panics with it") = Some(moment);
        }
    }

    /// One query that is sent to the replica, whose client is shown what the replica has; and what is served of it afterwards.
    pub(super) fn read_at_replica(&self, query: Query) {
        let since = loop {
            match *self.proven_of_replica.lock().expect("nobody panics with it") {
                Some(since) => break since,
                None => thread::yield_now(),
            }
        };
        thread::yield_now();
        let answer = self.applied.load(SeqCst) & self.mask(query);
        self.store(query, answer, since, true);
        for _ in 0..2 {
            self.read_or(query, || (), || None);
            self.find_horizon_once();
            self.read_or(query, || (), || None);
        }
    }

    fn become_visible(&self, number: usize) {
        self.visible.fetch_or(1 << number, SeqCst);
    }

    /// One query, from its client's command to its answer and the entry that is left behind.
    pub(super) fn read(&self, query: Query) {
        self.read_or(query, || (), || Some(self.ask(query)));
    }

    /// The same of a client who waits for what another is asking, as long as that is not stored.
    pub(super) fn read_together(&self, query: Query) {
        let wait = || {
            for _ in 0..PATIENCE {
                if self.cache.get(&key(query)).is_some() {
                    return;
                }
                thread::yield_now();
            }
        };
        self.read_or(query, wait, || Some(self.ask(query)));
    }

    /// The same of a client who waits so, and asks so where nothing is served, or goes away.
    fn read_or(&self, query: Query, wait: impl FnOnce(), ask: impl FnOnce() -> Option<(u64, Sequence)>) {
        let looks_late = self.left_out != Some(Rule::LookAtLeaseLast);
        let was_leased = self.is_leased();
        thread::yield_now();
        let is_bounded = self.follow == Some(Follow::Bounded);
        let acknowledged = self.acknowledged.load(Relaxed);
        let acknowledged =
            if is_bounded { self.stream.horizon() | acknowledged & !self.past() } else { acknowledged };
        let shown_to_others = if is_bounded { 0 } else { self.shown.load(Relaxed) };
        wait();
        let is_leased = if looks_late { self.is_leased() } else { was_leased };
        let served = match self.left_out {
            Some(Rule::LookUpPastWaiting) => self.cache.get(&key(query)).map(|entry| answer_of(&entry)),
            _ if is_leased => self.serve(query),
            _ => None,
        };
        let asked = if served.is_none() { ask() } else { None };
        let Some(answer) = served.or(asked.map(|(answer, _)| answer)) else { return };
        for (what, writes) in [("acknowledged", acknowledged), ("shown to others", shown_to_others)] {
            let missing = writes & self.mask(query) & !answer;
            let source = if served.is_some() { "cache" } else { "server" };
            assert!(missing == 0, "{query:?} from the {source} lacks {missing:b}, {what} before: {answer:b}");
        }
        self.shown.fetch_or(answer, Relaxed);
        if let Some((answer, since)) = asked {
            self.store(query, answer, since, false);
        }
    }

    /// One query in a transaction whose snapshot is opened first: its answer is of that moment, whoever gives it.
    pub(super) fn read_in_snapshot(&self, query: Query) {
        let since = self.clocks.now();
        let right = self.visible.load(SeqCst) & self.mask(query);
        let opened = self.stream.moment();
        for _ in 0..4 {
            thread::yield_now();
            if let Some(served) = self.serve_snapshot(query, since, opened) {
                assert_eq!(served, right, "{query:?} from the cache is not of the snapshot");
            }
        }
        self.store(query, right, since, false);
    }

    fn serve_snapshot(&self, query: Query, snapshot: Sequence, opened: u64) -> Option<u64> {
        let entry = self.cache.get(&key(query))?;
        let is_carried = || match self.left_out {
            Some(Rule::CarryPastSnapshot) => self.stream.has_reached_past(entry.created_ms()),
            Some(Rule::CarryPastAnswer) => self.stream.has_reached_past(opened),
            _ => self.stream.has_reached_past(opened.max(entry.created_ms())),
        };
        let holds = || {
            // What was found was not there before, perhaps.
            let absent = self.clocks.absent(0);
            // What rows hold may not have been shown then.
            let is_told_by_value = entry.clocks().any(|clock| Some(clock) == self.clocks.valued(0));
            let is_older = snapshot < entry.since() && self.left_out != Some(Rule::DependOnAnyBeforeAnswer);
            let any = self.clocks.any(0).filter(|_| is_older && is_told_by_value);
            let dependencies = absent.into_iter().chain(any).chain(entry.clocks());
            self.standing(dependencies, snapshot.min(entry.since())) == Standing::Holds
        };
        let is_served = match self.left_out {
            Some(Rule::LookAtCarriedFirst) => holds() && is_carried(),
            _ => is_carried() && holds(),
        };
        self.coverage.served_to_snapshots.fetch_add(u64::from(is_served), Relaxed);
        is_served.then(|| answer_of(&entry))
    }

    /// Whether the cache may be looked into.
    fn is_leased(&self) -> bool {
        let is_followed = self.follow == Some(Follow::Exact) && self.left_out != Some(Rule::HoldLease);
        !is_followed || self.stream.is_leased()
    }

    fn serve(&self, query: Query) -> Option<u64> {
        let entry = self.cache.get(&key(query))?;
        let must_be_carried = *entry.plan() && self.left_out != Some(Rule::CarryPastReplica);
        if must_be_carried && !self.stream.has_reached_past(entry.created_ms()) {
            return None;
        }
        match self.standing(entry.clocks(), entry.since()) {
            Standing::Holds => {
                self.coverage.served.fetch_add(1, Relaxed);
                self.coverage.served_of_replica.fetch_add(u64::from(*entry.plan()), Relaxed);
                Some(answer_of(&entry))
            }
            Standing::Pending => None,
            Standing::Moved => {
                self.coverage.invalidated.fetch_add(1, Relaxed);
                self.cache.remove_invalidated(&key(query), &entry);
                None
            }
        }
    }

    fn ask(&self, query: Query) -> (u64, Sequence) {
        let ask = || self.visible.load(SeqCst) & self.mask(query);
        if self.left_out == Some(Rule::NoteBeforeSending) {
            let answer = ask();
            return (answer, self.clocks.now());
        }
        let since = self.clocks.now();
        (ask(), since)
    }

    fn store(&self, query: Query, answer: u64, since: Sequence, is_of_replica: bool) {
        let mut dependencies = self.dependencies(query, answer, since);
        dependencies.sort_unstable();
        if self.standing(dependencies.iter().copied(), since) == Standing::Holds {
            thread::yield_now();
            self.insert(query, answer, &dependencies, since, is_of_replica);
            self.coverage.stored.fetch_add(1, Relaxed);
        } else {
            self.coverage.refused.fetch_add(1, Relaxed);
        }
    }

    fn standing(&self, dependencies: impl Iterator<Item = Clock>, since: Sequence) -> Standing {
        let mut dependencies: Vec<_> = dependencies.collect();
        if self.left_out == Some(Rule::LoadWideFirst) {
            dependencies.reverse();
        }
        match self.clocks.standing(dependencies, since) {
            Standing::Pending if self.left_out == Some(Rule::RefusePending) => Standing::Holds,
            standing => standing,
        }
    }

    fn insert(
        &self,
        query: Query,
        answer: u64,
        dependencies: &[Clock],
        since: Sequence,
        is_of_replica: bool,
    ) {
        let stored = self.cache.insert(&Fill {
            created_ms: self.stream.moment(),
            clocks: dependencies,
            since,
            ..Fill::new(key(query), b"", &answer.to_le_bytes(), is_of_replica)
        });
        stored.expect("there is room for all entries");
    }

    /// When all sessions are over: nothing is pending, so what would be served now would be served for ever.
    pub(super) fn check_end(&self) {
        assert_eq!((self.clocks.pending(), self.clocks.stranded()), (0, 0));
        let visible = self.visible.load(SeqCst);
        for query in Query::ALL {
            let Some(entry) = self.cache.get(&key(query)) else { continue };
            let (answer, right) = (answer_of(&entry), visible & self.mask(query));
            let standing = self.clocks.standing(entry.clocks(), entry.since());
            assert!(
                standing != Standing::Holds || answer == right,
                "{query:?} stays stale for ever: {answer:b} for {right:b}"
            );
        }
    }

    fn dependencies(&self, query: Query, answer: u64, since: Sequence) -> Vec<Clock> {
        let learnt_since = *self.learnt_since.lock().expect("nobody panics with it");
        let is_learnt = learnt_since.is_some_and(|learnt| learnt <= since);
        let is_learnt = is_learnt || self.left_out == Some(Rule::SettleUnlearntFirst);
        query.dependencies(
            &self.clocks,
            self.has_row2(answer),
            is_learnt && self.follow.is_some(),
            self.left_out,
        )
    }

    fn has_row2(&self, answer: u64) -> bool {
        let has = |which: fn(Write) -> bool| self.members(answer).any(which);
        let is_deleted = has(|write| write == Write::Delete2);
        has(|write| write == Write::InsertAgain) || (has(Write::inserts_row2) && !is_deleted)
    }

    /// The writes that the query can show.
    fn mask(&self, query: Query) -> u64 {
        let shows = |number: &usize| query.shows(self.writes[*number]);
        (0..self.writes.len()).filter(shows).map(|number| 1 << number).sum()
    }

    fn members(&self, set: u64) -> impl Iterator<Item = Write> {
        self.writes
            .iter()
            .enumerate()
            .filter(move |(number, _)| set >> number & 1 == 1)
            .map(|(_, write)| *write)
    }
}

impl Coverage {
    pub(super) fn add(&self, other: &Self) {
        let pairs = [
            (&self.served, &other.served),
            (&self.served_to_snapshots, &other.served_to_snapshots),
            (&self.served_of_replica, &other.served_of_replica),
            (&self.stored, &other.stored),
            (&self.refused, &other.refused),
            (&self.invalidated, &other.invalidated),
        ];
        for (sum, part) in pairs {
            sum.fetch_add(part.load(Relaxed), Relaxed);
        }
    }
}

fn key(query: Query) -> Key<'static> {
    Key::new(b"app", b"shop", 0, Protocol::Text, query.statement())
}

fn answer_of(entry: &Entry<bool>) -> u64 {
    u64::from_le_bytes(entry.all_packets().try_into().expect("answers are eight bytes"))
}
