//! One server whose binlog is followed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_cache::{Marks, Sequence};
use nuthatch_config::{Follow, ServerName};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::exact::follow::delay::Delays;
use crate::exact::follow::held::Held;
use crate::exact::follow::{DelayFigures, FollowRow, Horizon, Standing};

/// See the module's doc.
#[derive(Debug)]
pub struct Followed {
    name: ServerName,
    wanted: Follow,
    horizon: Arc<Horizon>,
    standing: Mutex<Standing>,
    delays: Delays,
    held: Held,
    held_news: Notify,
    /// All events that are read show what is learnt up to that generation; those that do not had settled at that moment.
    learnt: Mutex<(u64, Sequence)>,
    narrowed: AtomicU64,
    late: AtomicU64,
    file: AtomicU64,
    offset: AtomicU64,
    transactions: AtomicU64,
    unproven: AtomicU64,
    begun_anew: AtomicU64,
    falls: AtomicU64,
}

impl Followed {
    /// Nothing of it is served yet.
    #[must_use]
    pub fn new(name: ServerName, wanted: Follow) -> Self {
        Self {
            name,
            wanted,
            horizon: Arc::default(),
            standing: Mutex::new(Standing { why: "it has not begun yet".to_owned(), ..Standing::default() }),
            delays: Delays::default(),
            held: Held::default(),
            held_news: Notify::new(),
            learnt: Mutex::default(),
            narrowed: AtomicU64::new(0),
            late: AtomicU64::new(0),
            file: AtomicU64::new(0),
            offset: AtomicU64::new(0),
            transactions: AtomicU64::new(0),
            unproven: AtomicU64::new(0),
            begun_anew: AtomicU64::new(0),
            falls: AtomicU64::new(0),
        }
    }

    /// Which server it is.
    #[must_use]
    pub const fn name(&self) -> &ServerName {
        &self.name
    }

    /// What is asked for.
    #[must_use]
    pub const fn wanted(&self) -> Follow {
        self.wanted
    }

    /// Until when what is stored of it may be served.
    #[must_use]
    pub const fn horizon(&self) -> &Arc<Horizon> {
        &self.horizon
    }

    /// How it stands now.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing.lock().clone()
    }

    /// From that moment on, which is now, it promises this, and no more for that reason. Says whether that is news.
    pub fn stand(&self, mode: Follow, why: &str, now_ms: u64) -> bool {
        let mut standing = self.standing.lock();
        let is_news = standing.mode != mode || standing.why != why;
        if standing.mode > mode {
            self.falls.fetch_add(1, Ordering::Relaxed);
        }
        if standing.mode != mode || standing.since_ms == 0 {
            standing.since_ms = now_ms;
        }
        if is_news {
            (standing.mode, standing.why) = (mode, why.to_owned());
        }
        is_news
    }

    /// It has been carried up to that byte of the file of that number. Whoever reads it finds what was noted before, too.
    pub fn note_position(&self, file: u64, offset: u64) {
        self.file.store(file, Ordering::Release);
        self.offset.store(offset, Ordering::Release);
    }

    fn position(&self) -> String {
        let offset = self.offset.load(Ordering::Acquire);
        format!("{:06}:{offset}", self.file.load(Ordering::Acquire))
    }

    /// What was written before so many microseconds has come to be carried only now.
    pub fn note_delay(&self, us: u64) {
        self.delays.note(us);
    }

    /// One more transaction is carried.
    pub fn note_transaction(&self) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
    }

    /// So many are carried and not proven now.
    pub fn note_unproven(&self, count: usize) {
        self.unproven.store(count as u64, Ordering::Relaxed);
    }

    /// From now on what writes through the proxy do not tell may wait for their events.
    pub fn open(&self) {
        self.held.open();
    }

    /// What waits for its event moves, and nothing more can wait.
    pub fn close(&self) {
        self.horizon.close();
        self.held.close();
    }

    /// Holds what a write has not told of itself until its event is carried.
    pub(crate) fn hold(&self, marks: Marks) {
        if self.held.hold(marks) {
            self.held_news.notify_one();
        }
    }

    /// A snapshot has been opened by then, which is to be given what is stored.
    pub(crate) fn await_snapshot(&self, opened_ms: u64, by_replica: bool) {
        if self.horizon.await_snapshot(opened_ms, by_replica) {
            self.held_news.notify_one();
        }
    }

    /// A replica's answer is stored that was complete by then, and is to be given to others.
    pub(crate) fn await_answer(&self, created_ms: u64) {
        if self.horizon.await_answer(created_ms) {
            self.held_news.notify_one();
        }
    }

    /// Completes when something begins to be held, or a snapshot to wait for what it shows.
    pub async fn held_news(&self) {
        self.held_news.notified().await;
    }

    /// Whether no write waits for its event, as far as is known without waiting for anybody.
    #[must_use]
    pub fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether its stream goes on, and nobody has closed it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.held.is_open()
    }

    /// All that was written before that moment is carried, so what had been held by then is held no more.
    pub fn release_held(&self, before_ns: u64) {
        let carried = self.held.take_before(before_ns);
        self.narrowed.fetch_add(carried.len() as u64, Ordering::Relaxed);
        carried.into_iter().for_each(Marks::release);
    }

    /// What has been held since before that moment has waited for too long, and moves.
    pub fn settle_late(&self, before_ns: u64) {
        let late = self.held.take_before(before_ns);
        self.late.fetch_add(late.len() as u64, Ordering::Relaxed);
        late.into_iter().for_each(Marks::settle);
    }

    /// Up to which generation all events show what is learnt.
    #[must_use]
    pub fn learnt(&self) -> u64 {
        self.learnt.lock().0
    }

    /// All events that are read show what was learnt up to that generation; those that do not have settled by that moment.
    pub fn note_learnt(&self, generation: u64, since: Sequence) {
        *self.learnt.lock() = (generation, since);
    }

    /// Whether what is learnt since that generation is shown by each event that may change an answer asked for at that moment.
    pub(crate) fn shows_learnt(&self, generation: u64, since: Sequence) -> bool {
        let (learnt, from) = *self.learnt.lock();
        generation <= learnt && from <= since
    }

    /// It begins at another place, so everything is forgotten.
    pub fn note_begun_anew(&self) {
        self.begun_anew.fetch_add(1, Ordering::Relaxed);
    }

    /// What is told of its delays.
    #[must_use]
    pub fn delays(&self) -> DelayFigures {
        self.delays.figures()
    }

    /// For operators; `unix_ms` makes Unix time of a moment since the start.
    pub(crate) fn row(&self, unix_ms: impl Fn(u64) -> u64) -> FollowRow {
        let standing = self.standing();
        FollowRow {
            server: self.name.clone(),
            wanted: self.wanted,
            since_unix_ms: unix_ms(standing.since_ms),
            standing,
            position: self.position(),
            left_ms: self.horizon.left_ms(),
            transactions: self.transactions.load(Ordering::Relaxed),
            unproven: self.unproven.load(Ordering::Relaxed),
            narrowed: self.narrowed.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
            begun_anew: self.begun_anew.load(Ordering::Relaxed),
            falls: self.falls.load(Ordering::Relaxed),
            delay: self.delays(),
        }
    }

    /// In a sentence for EXPLAIN CACHE.
    pub(crate) fn told(&self) -> String {
        let (Standing { mode, why, .. }, position) = (self.standing(), self.position());
        let promise = match mode {
            Follow::Off => "nothing of it is served".to_owned(),
            Follow::Bounded => "bounded: what was written past the proxy is seen within the bound".to_owned(),
            Follow::Exact => {
                "exact: what was written past the proxy is seen before anybody has its OK".to_owned()
            }
        };
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(" ({} is asked for: {why})", self.wanted.word())
        };
        if mode == Follow::Off {
            return promise + &why;
        }
        let DelayFigures { p50_us, p99_us, .. } = self.delays();
        format!(
            "{promise}{why}; at {position}, half of it within {p50_us} us, 99 % within {p99_us} us; {} ms are left",
            self.horizon.left_ms()
        )
    }
}
