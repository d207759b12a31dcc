//! The server's binlog, of which the proxy is a replica: what is written, carried, acknowledged and proven.
//!
//! A write stands in the binlog before others see it. Who follows raises its clocks in that order; who proves settles them when
//! the server shows it.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::SeqCst;

use shuttle::sync::Mutex;
use shuttle::thread;

use crate::atomic::AtomicU64;
use crate::clocks::Marks;

/// What is promised of writes past the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// Nothing is older than what was written before that moment of which all is carried.
    Bounded,
    /// The server waits for the follower: nothing is older than what was acknowledged.
    Exact,
}

/// For how many turns a server waits for the follower. The lease is over before.
const PATIENCE: usize = 3;

/// See the module's doc.
pub(super) struct Stream {
    /// The numbers of the writes, in order.
    binlog: Mutex<Vec<usize>>,
    /// Of how many the clocks are raised, or will never be.
    carried: AtomicU64,
    /// Which the follower has acknowledged.
    acknowledged: AtomicU64,
    unproven: Mutex<VecDeque<(usize, Marks)>>,
    lease_is_over: AtomicU64,
    /// What had been acknowledged to clients at a moment of which all that was written by then is carried.
    horizon: AtomicU64,
    /// How often the end was asked for, and which of these times all has been carried up to the end.
    asked: AtomicU64,
    reached: AtomicU64,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            binlog: Mutex::new(Vec::new()),
            carried: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            unproven: Mutex::new(VecDeque::new()),
            lease_is_over: AtomicU64::new(0),
            horizon: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            reached: AtomicU64::new(0),
        }
    }

    pub(super) fn log(&self, number: usize) {
        self.binlog.lock().expect("nobody panics with it").push(number);
    }

    pub(super) fn end(&self) -> usize {
        self.binlog.lock().expect("nobody panics with it").len()
    }

    /// The write at that place, once there is one.
    pub(super) fn next(&self, place: usize) -> usize {
        loop {
            let written = self.binlog.lock().expect("nobody panics with it").get(place).copied();
            match written {
                Some(number) => return number,
                None => thread::yield_now(),
            }
        }
    }

    pub(super) fn acknowledge(&self, number: usize) {
        self.acknowledged.fetch_or(1 << number, SeqCst);
    }

    /// The server waits for the follower, but not for ever.
    pub(super) fn wait_for_follower(&self, number: usize) {
        for _ in 0..PATIENCE {
            if self.acknowledged.load(SeqCst) >> number & 1 == 1 {
                return;
            }
            thread::yield_now();
        }
        self.lease_is_over.store(1, SeqCst);
    }

    pub(super) fn is_leased(&self) -> bool {
        self.lease_is_over.load(SeqCst) == 0
    }

    /// The clocks of one more are raised.
    pub(super) fn carry(&self, number: usize, marks: Marks) {
        self.unproven.lock().expect("nobody panics with it").push_back((number, marks));
        self.carried.fetch_add(1, SeqCst);
    }

    pub(super) fn wait_until_carried(&self, end: usize) {
        while !self.is_carried(end) {
            thread::yield_now();
        }
    }

    /// Whether it is before somebody has lost patience.
    pub(super) fn is_carried_soon(&self, end: usize) -> bool {
        for _ in 0..PATIENCE {
            if self.is_carried(end) {
                return true;
            }
            thread::yield_now();
        }
        self.is_carried(end)
    }

    fn is_carried(&self, end: usize) -> bool {
        self.carried.load(SeqCst) >= end as u64
    }

    /// The first write that is carried and not proven.
    pub(super) fn take_unproven(&self) -> (usize, Marks) {
        loop {
            let first = self.unproven.lock().expect("nobody panics with it").pop_front();
            match first {
                Some(first) => return first,
                None => thread::yield_now(),
            }
        }
    }

    pub(super) fn note_horizon(&self, acknowledged: u64) {
        self.horizon.store(acknowledged, SeqCst);
    }

    /// The end is to be asked for; which time it is, from 1.
    pub(super) fn begin_asking(&self) -> u64 {
        self.asked.fetch_add(1, SeqCst) + 1
    }

    /// A moment: what is asked for later has a greater number.
    pub(super) fn moment(&self) -> u64 {
        self.asked.load(SeqCst)
    }

    pub(super) fn note_reached(&self, asked: u64) {
        self.reached.store(asked, SeqCst);
    }

    /// Whether all is carried that was written at that moment.
    pub(super) fn has_reached_past(&self, moment: u64) -> bool {
        self.reached.load(SeqCst) > moment
    }

    pub(super) fn horizon(&self) -> u64 {
        self.horizon.load(SeqCst)
    }
}
