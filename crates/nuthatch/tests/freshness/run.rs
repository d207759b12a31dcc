//! One run: all sessions at once against one place, until its time is over.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use parking_lot::Mutex;

use crate::client::{Address, Login};
use crate::deadline::Stopwatch;
use crate::definer::{Definer, Definition};
use crate::estate::{Arrivals, Estate, Group};
use crate::history::{History, Reads, Time, Wrong};
use crate::late::{Late, Waits};
use crate::question::Aim;
use crate::reader::Reader;
use crate::register::{GROUPS, Owner};
use crate::report::{Report, Tally, Violations};
use crate::schema;
use crate::session::Session;
use crate::writer::Writer;

/// Writes for each that is DDL, which is one of them.
const WRITES_PER_DEFINITION: u64 = 200;

/// How many read, and how fast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    /// Sessions that read.
    pub(crate) readers: usize,
    /// What each pauses at most, between two turns.
    pub(crate) pause_ms_max: usize,
    pub(crate) pace: Pace,
}

/// When a writer writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Once for so many statements.
    PerStatements(u64),
    /// Whatever others do, also while all of them are held up: so long at most behind what its witness was shown, who looks again as soon as it
    /// is acknowledged.
    ByItself { pause_ms_max: usize },
}

/// As many as there can be.
pub(crate) const DENSE: Crowd = Crowd { readers: 64, pause_ms_max: 0, pace: Pace::PerStatements(50) };

/// When a run ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    After(Duration),
    /// When it is told to.
    WhenTold,
    /// At the first violation of a kind, or after that time.
    Once(Wrong, Duration),
}

/// What becomes of the server that takes the writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primary {
    /// Nothing: a connection that breaks fails the test.
    Stays,
    /// It may die, and another takes its place; by then all that it has acknowledged or shown is there. Nothing is written to tables without
    /// transactions: what is in them is shown before another server has it.
    MayDie,
}

/// Which writers go past the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    All,
    EverySecond,
}

impl Past {
    /// Whether the writer of that number does.
    pub(crate) const fn is_of(self, number: usize) -> bool {
        matches!(self, Self::All) || number.is_multiple_of(2)
    }
}

/// Where sessions go.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) address: Address,
    /// The server itself, for those who go past the proxy.
    pub(crate) server: Address,
    /// Which writers do.
    pub(crate) past: Option<Past>,
    pub(crate) login: Login,
    /// The isolation level that every session asks for in place of its own, so that there is something to find.
    pub(crate) level: Option<&'static str>,
    pub(crate) primary: Primary,
    pub(crate) reads: Reads,
    pub(crate) crowd: Crowd,
    /// What is wrong with a read is judged when the run is over: less may be promised at times, no more than this.
    pub(crate) bound_at_times: Option<Duration>,
}

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) place: Place,
    pub(crate) history: History,
    end: End,
    is_told_to_end: AtomicBool,
    watch: Stopwatch,
    reads: AtomicU64,
    writes: AtomicU64,
    definitions: AtomicU64,
    breaks: Mutex<Vec<String>>,
    versions: AtomicI64,
    next_arrival: AtomicI64,
    written_group: AtomicI64,
    violations: Mutex<Violations>,
    lates: Mutex<Vec<Late>>,
    waits: Mutex<Waits>,
}

/// See [`Run::ending`].
pub(crate) struct Ending<'a>(&'a Run);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.is_told_to_end.store(true, Ordering::Relaxed);
    }
}

impl Run {
    /// Runs all sessions in a schema that was just made. The report lacks who answered.
    pub(crate) fn go(place: Place, end: End) -> Report {
        Self::go_while(place, end, |_| {})
    }

    /// The same while something else is done, which must end with the run.
    pub(crate) fn go_while(place: Place, end: End, meanwhile: impl FnOnce(&Self)) -> Report {
        let run = Self {
            history: History::new(&schema::contents(), place.reads),
            place,
            end,
            is_told_to_end: AtomicBool::new(false),
            watch: Stopwatch::start(),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            definitions: AtomicU64::new(0),
            breaks: Mutex::default(),
            versions: AtomicI64::new(2),
            next_arrival: AtomicI64::new(1),
            written_group: AtomicI64::new(0),
            violations: Mutex::default(),
            lates: Mutex::default(),
            waits: Mutex::default(),
        };
        let tally = run.sessions(meanwhile);
        Report {
            tally,
            took: run.watch.elapsed(),
            answered: [].into(),
            violations: run.violations.into_inner(),
            lates: run.lates.into_inner(),
            waits: run.waits.into_inner(),
        }
    }

    fn sessions(&self, meanwhile: impl FnOnce(&Self)) -> Tally {
        let mut tally = Tally::default();
        thread::scope(|scope| {
            let mut sessions = Vec::new();
            for number in 0..self.place.crowd.readers {
                let session = Session::new(self, "reader", number);
                sessions.push(scope.spawn(move || Reader::new(session).run()));
            }
            for group in 0..GROUPS {
                sessions.push(self.spawn_writer(scope, Group::new(group)));
            }
            sessions.push(self.spawn_writer(scope, Arrivals::new(self.place.primary)));
            for definition in self.definers() {
                let [session, witness] = self.pair(definition.owner());
                sessions.push(scope.spawn(move || Definer::new(session, witness, definition).run()));
            }
            meanwhile(self);
            for session in sessions {
                tally.add(&session.join().expect("no session panics"));
            }
        });
        tally
    }

    fn definers(&self) -> impl Iterator<Item = Definition> {
        let has_legacy = self.place.primary == Primary::Stays;
        Definition::ALL.into_iter().filter(move |definition| has_legacy || *definition != Definition::Rows)
    }

    fn spawn_writer<'scope, E: Estate + Send + 'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        estate: E,
    ) -> ScopedJoinHandle<'scope, Tally> {
        let [session, witness] = self.pair(estate.owner());
        scope.spawn(move || Writer::new(session, witness, estate).run())
    }

    /// A writer's session, and its witness's.
    fn pair(&self, owner: Owner) -> [Session<'_>; 2] {
        ["writer", "witness"].map(|role| Session::new(self, role, owner.index()))
    }

    pub(crate) fn now(&self) -> Time {
        self.watch.elapsed()
    }

    pub(crate) fn is_over(&self) -> bool {
        match self.end {
            End::After(time) => self.now() >= time,
            End::WhenTold => self.is_told_to_end.load(Ordering::Relaxed),
            End::Once(wrong, time) => {
                self.violations.lock().counts.contains_key(&wrong) || self.now() >= time
            }
        }
    }

    /// Ends one that ends when it is told to, when it is dropped: also if who holds it panics.
    pub(crate) const fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    /// A version that nobody has written before.
    pub(crate) fn next_version(&self) -> i64 {
        self.versions.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(crate) fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection has broken, as `account` says.
    pub(crate) fn note_break(&self, account: String) {
        self.breaks.lock().push(account);
    }

    /// The connections that have broken since this was asked last.
    pub(crate) fn take_breaks(&self) -> Vec<String> {
        std::mem::take(&mut self.breaks.lock())
    }

    pub(crate) fn count_definition(&self) {
        self.count_write();
        self.definitions.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the reads since the last write are enough for another.
    pub(crate) fn is_write_due(&self) -> bool {
        let Pace::PerStatements(statements_per_write) = self.place.crowd.pace else { return true };
        let writes = self.writes.load(Ordering::Relaxed);
        let statements = self.reads.load(Ordering::Relaxed) + writes;
        writes * statements_per_write <= statements
    }

    /// Whether the writes since the last change of a definition are enough for another.
    pub(crate) fn is_definition_due(&self) -> bool {
        let definitions = self.definitions.load(Ordering::Relaxed);
        definitions * WRITES_PER_DEFINITION <= self.writes.load(Ordering::Relaxed)
    }

    /// Tells readers where to look: the owner is about to commit.
    pub(crate) fn commits(&self, owner: Owner) {
        if let Some(group) = owner.group() {
            self.written_group.store(group, Ordering::Relaxed);
        }
    }

    /// The same: the server has given this key.
    pub(crate) fn arrives(&self, id: i64) {
        self.next_arrival.store(id + 1, Ordering::Relaxed);
    }

    /// Where readers look.
    pub(crate) fn aim(&self) -> Aim {
        Aim {
            group: self.written_group.load(Ordering::Relaxed),
            next_arrival: self.next_arrival.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn violation(&self, wrong: Wrong, account: impl FnOnce() -> String) {
        self.violations.lock().add(wrong, account);
    }

    /// A read that may be a violation.
    pub(crate) fn late(&self, late: Late) {
        self.lates.lock().push(late);
    }

    /// A commit past the proxy was acknowledged, which was sent at that moment.
    pub(crate) fn waited(&self, sent: Time) {
        self.waits.lock().note(sent, self.now());
    }
}
