//! Clocks: whether what a stored answer was made from has been written since.
//!
//! A table has four wide clocks: `any` moves at each write, `broad` at writes whose rows are not known, `absent` when
//! rows of unknown keys appear, `valued` at writes of which it is not known what the rows hold. Each row has a clock by its
//! integer key, and each block of neighbouring keys; so has what rows hold in some of their columns, by its hash. One more
//! stands for `everything`, and one for `definitions`. A write moves its clocks, whatever the number of entries; an entry
//! names the clocks that it depends on, and whoever would serve it asks for their [`Standing`] since the answer was asked
//! for.
//!
//! # The order of steps
//!
//! A writer raises its clocks (they are *pending*) before it sends, and holds them in [`Marks`]. Once the server has
//! acknowledged, it draws its version from the one global sequence, moves each clock to it *by maximum*, as two writers may
//! settle in either order, and lowers them last; only then its client hears of it. A reader notes [`Clocks::now`] before
//! it sends. Serving and storing, it loads the wide clocks before the narrow ones; both are refused while one is
//! pending. So:
//!
//! - a read that begins after a write was acknowledged is never given what stood there before it;
//! - nobody is given the new value and then somebody the old one;
//! - no entry stays stale: what was read before a write became visible was asked for before its version was drawn.
//!
//! Each of these steps is needed: `interleaving` leaves each out in turn and finds who is given what is too old.
//!
//! # Memory
//!
//! All clocks are words of one array, whose size follows from [`ClockOptions`] alone. Rows and blocks of all tables share
//! their stripes, so a write now and then takes an entry that it did not touch with it; never the reverse.
//!
//! # Memory order
//!
//! Every operation on a clock or the sequence is `SeqCst`. The promise spans two sockets and a server between a writer's
//! step and a reader's, of which the memory model knows nothing, so no pairing of acquire and release could be argued
//! for; and the proofs (the model, the interleaving tests) are of sequential consistency. On x86 it costs what weaker
//! orders cost: a load is a plain load, and the others are read-modify-write operations.

mod layout;
mod marks;
mod tally;
mod word;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use smallvec::SmallVec;

use crate::atomic::{AtomicU64, zeros};
use crate::line::Line;

pub use layout::{BLOCK_KEYS, Clock, ClockOptions};
pub use marks::Marks;
pub use word::Sequence;

use layout::{Column, Layout};
use tally::Tally;
use word::{Version, Word};

/// All clocks of a cache. Share them by `Arc`.
pub struct Clocks {
    words: Box<[AtomicU64]>,
    layout: Layout,
    /// How many versions have been drawn.
    drawn: Line<AtomicU64>,
    tally: Line<Tally>,
    /// Something depends on what rows hold, or may.
    values_matter: AtomicBool,
    /// The fault that [`Clocks::stop`] makes.
    #[cfg(debug_assertions)]
    are_stopped: AtomicBool,
}

/// Some clocks. Those of a write of one row, one of them wide, need no allocation.
pub type ClockList = SmallVec<[Clock; 4]>;

/// What became of dependencies since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// None has moved and none is pending.
    Holds,
    /// None has moved, one is pending: it may hold again.
    Pending,
    /// One has moved: it will never hold again.
    Moved,
}

impl Clocks {
    /// Clocks that have never moved. Their memory is taken page by page as they are first raised.
    pub fn new(options: ClockOptions) -> Self {
        let layout = Layout::new(options);
        Self {
            words: zeros(layout.words()),
            layout,
            drawn: Line(AtomicU64::new(0)),
            tally: Line(Tally::default()),
            values_matter: AtomicBool::new(false),
            #[cfg(debug_assertions)]
            are_stopped: AtomicBool::new(false),
        }
    }

    /// From now on no write moves a clock, so that entries outlive what they were made from: a fault, for tests that must find it.
    /// Release builds have no such thing.
    #[cfg(debug_assertions)]
    pub fn stop(&self) {
        self.are_stopped.store(true, SeqCst);
    }

    /// This moment. A reader notes it *before* it sends: what its answer cannot show yet moves later than this.
    #[inline]
    pub fn now(&self) -> Sequence {
        Sequence::after(self.drawn.0.load(SeqCst))
    }

    /// The clock that every exact entry depends on; moved by writes of unknown extent.
    pub fn everything(&self) -> Clock {
        Clock::EVERYTHING
    }

    /// Moved when a definition changes: of a table, a view, an index, whether it is known or not.
    pub fn definitions(&self) -> Clock {
        Clock::DEFINITIONS
    }

    /// Moved by every write to the table; none for tables past the configured number.
    pub fn any(&self, table: u32) -> Option<Clock> {
        self.layout.wide(Column::Any, table)
    }

    /// Moved by writes to the table whose rows are not known; none for tables past the configured number.
    pub fn broad(&self, table: u32) -> Option<Clock> {
        self.layout.wide(Column::Broad, table)
    }

    /// Moved when rows appear in the table whose keys were not known; none for tables past the configured number.
    pub fn absent(&self, table: u32) -> Option<Clock> {
        self.layout.wide(Column::Absent, table)
    }

    /// From now on [`Self::valued`] gives clocks. Says whether it did not before: writes that are on their way have not raised them.
    pub fn begin_values(&self) -> bool {
        !self.values_matter.swap(true, SeqCst)
    }

    /// Moved by writes to the table of which it is not known which values its rows hold, before or after; none for tables past the configured
    /// number, and while nothing depends on what rows hold.
    pub fn valued(&self, table: u32) -> Option<Clock> {
        if self.do_values_matter() { self.layout.wide(Column::Valued, table) } else { None }
    }

    /// Whether anything may depend on what rows hold.
    pub fn do_values_matter(&self) -> bool {
        self.values_matter.load(SeqCst)
    }

    /// Moved by writes to rows of the table that hold that, before or after: a hash of some columns and their values. Others may share it.
    pub fn value(&self, table: u32, hash: u64) -> Clock {
        self.layout.value(table, hash)
    }

    /// Whether it stands for more than what a write is known to have changed: for rows that are not known, or values. Not so `any`, nor what
    /// stands for all tables.
    pub fn is_open(&self, clock: Clock) -> bool {
        [Column::Broad, Column::Absent, Column::Valued].iter().any(|column| self.layout.is_of(*column, clock))
    }

    /// Whose wide clock it is; none of a clock that tables share.
    pub fn table_of(&self, clock: Clock) -> Option<u32> {
        self.layout.table_of(clock)
    }

    /// Moved by writes to the row of that key; other rows may share it.
    pub fn row(&self, table: u32, key: u64) -> Clock {
        self.layout.row(table, key)
    }

    /// Moved by writes to rows whose key divided by [`BLOCK_KEYS`] is `block`; other blocks may share it.
    pub fn block(&self, table: u32, block: u64) -> Clock {
        self.layout.block(table, block)
    }

    /// What became of `dependencies` since that moment. They are loaded in the order given, which must be wide before
    /// narrow, as clocks are ordered: a writer moves narrow ones before it lowers the wide one it held for them.
    ///
    /// Cost: one load each, up to the first that has moved; no allocation.
    #[inline]
    pub fn standing(&self, dependencies: impl IntoIterator<Item = Clock>, since: Sequence) -> Standing {
        let mut standing = Standing::Holds;
        for clock in dependencies {
            let word = Word(self.words[clock.index()].load(SeqCst));
            if word.has_moved_since(since) {
                return Standing::Moved;
            }
            if word.is_pending() {
                standing = Standing::Pending;
            }
        }
        standing
    }

    /// How many marks are held now, stranded ones included.
    pub fn pending(&self) -> u64 {
        self.tally.0.pending_now()
    }

    /// How many marks were dropped unresolved; they are pending for ever.
    pub fn stranded(&self) -> u64 {
        self.tally.0.stranded_so_far()
    }

    /// How many writes have moved clocks.
    pub fn moves(&self) -> u64 {
        self.drawn.0.load(SeqCst)
    }

    /// What the array takes of memory at most, in bytes; pages that were never raised take none.
    pub fn bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }

    fn draw(&self) -> Version {
        Version::next_after(self.drawn.0.fetch_add(1, SeqCst))
    }

    fn raise_one(&self, clock: Clock) {
        self.update(clock, Word::raised);
    }

    fn move_one(&self, clock: Clock, version: Version) {
        #[cfg(debug_assertions)]
        if self.are_stopped.load(SeqCst) {
            return;
        }
        self.update(clock, |word| word.moved(version));
    }

    fn lower_one(&self, clock: Clock) {
        self.update(clock, Word::lowered);
    }

    /// Changes one clock in one step, or leaves it where the change says so.
    fn update(&self, clock: Clock, change: impl Fn(Word) -> Option<Word>) {
        let word = &self.words[clock.index()];
        let _unchanged =
            word.fetch_update(SeqCst, SeqCst, |word| change(Word(word)).map(|changed| changed.0));
    }
}

impl fmt::Debug for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clocks")
            .field("layout", &self.layout)
            .field("moves", &self.moves())
            .field("pending", &self.pending())
            .field("stranded", &self.stranded())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod interleaving;
