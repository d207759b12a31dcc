//! Who stands in a line, in order, and what each has been told. The line's lock is around it.

use std::collections::VecDeque;
use std::task::Waker;

use crate::backend::server::line::holding::Holding;
use crate::backend::server::line::stay::{Awaited, Stay};

/// See the module's doc. Times are in microseconds of the clock.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiter>,
    next_id: u64,
    /// What was put back and nobody has looked for yet.
    pub(super) unseen: usize,
    /// Since when somebody has been waiting all the time.
    pub(super) standing_since_us: u64,
    /// When it was rung last.
    pub(super) ticked_us: u64,
    /// When somebody left it last, as the rings tell.
    pub(super) moved_us: u64,
    /// Until then nobody's time is over.
    earliest_us: u64,
    /// Of the statements that wait.
    pub(super) bytes: u64,
    /// The most that have waited at one time.
    pub(super) most: usize,
    pub(super) holding: Holding,
}

#[derive(Debug)]
pub(super) struct Waiter {
    id: u64,
    pub(super) stay: Stay,
    /// As things are.
    until_us: u64,
    pub(super) told: Option<Turn>,
    pub(super) waker: Option<Waker>,
}

/// What a place in line has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is the first, and something may be free.
    Look,
    /// Its time is over.
    Over,
}

/// Where somebody takes a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    First,
    Last,
}

impl Queue {
    /// Somebody takes a place. Returns its number.
    pub(super) fn stand(&mut self, stay: Stay, waker: Option<Waker>, end: End) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let is_only = self.waiting.is_empty();
        if is_only {
            self.standing_since_us = stay.since_us;
        }
        // What became free before it stood here was told to nobody: it looks once more.
        let told = (is_only && !self.holding.is_held()).then_some(Turn::Look);
        let until_us = self.until_us(stay);
        self.earliest_us = if is_only { until_us } else { self.earliest_us.min(until_us) };
        let waiter = Waiter { id, stay, until_us, told, waker };
        match end {
            End::First => self.waiting.push_front(waiter),
            End::Last => self.waiting.push_back(waiter),
        }
        self.bytes += stay.bytes();
        self.most = self.most.max(self.waiting.len());
        id
    }

    /// Somebody leaves. Returns whom to wake: what it was told of and did not look for is for the next.
    pub(super) fn leave(&mut self, id: u64) -> Option<Waker> {
        let place = self.place_of(id)?;
        let left = if place == 0 { self.waiting.pop_front() } else { self.waiting.remove(place) };
        self.moved_us = self.ticked_us;
        self.bytes -= left.as_ref().map_or(0, |waiter| waiter.stay.bytes());
        if self.waiting.is_empty() {
            self.unseen = 0;
            return None;
        }
        let has_not_looked = left.is_some_and(|waiter| waiter.told == Some(Turn::Look));
        (place == 0 && (self.unseen > 0 || has_not_looked)).then(|| self.ring_first())?
    }

    pub(super) fn ring_first(&mut self) -> Option<Waker> {
        if self.holding.is_held() {
            return None;
        }
        let first = self.waiting.front_mut()?;
        first.told.get_or_insert(Turn::Look);
        first.waker.take()
    }

    /// All may look, one behind the other.
    pub(super) fn ring_all(&mut self) -> Option<Waker> {
        self.unseen = self.waiting.len();
        self.ring_first()
    }

    /// The time is `now_us`. Returns whom to wake.
    pub(super) fn tick(&mut self, now_us: u64) -> (Option<Waker>, Vec<Waker>) {
        self.ticked_us = now_us;
        let first = match self.holding.awaited() {
            Awaited::Connection => self.ring_first(),
            // It is told when that is there.
            Awaited::Server | Awaited::Release => None,
        };
        (first, self.end_those_until(now_us))
    }

    /// Something else is awaited from now on. Returns whom to wake.
    pub(super) fn await_other(&mut self, now_us: u64) -> Option<Waker> {
        self.renew_limits();
        self.standing_since_us = self.standing_since_us.max(now_us);
        self.ring_all()
    }

    /// Something else is awaited: how long each may wait is worked out anew.
    pub(super) fn renew_limits(&mut self) {
        let (awaited, since_us) = (self.holding.awaited(), self.holding.awaited_since_us());
        for waiter in &mut self.waiting {
            waiter.until_us = waiter.stay.until_us(awaited, since_us);
        }
        self.look_who_is_first_over();
    }

    fn look_who_is_first_over(&mut self) {
        let all = self.waiting.iter().map(|waiter| waiter.until_us);
        self.earliest_us = all.min().unwrap_or(u64::MAX);
    }

    /// Until when who stays so may wait, as things are.
    pub(super) fn until_us(&self, stay: Stay) -> u64 {
        stay.until_us(self.holding.awaited(), self.holding.awaited_since_us())
    }

    fn end_those_until(&mut self, now_us: u64) -> Vec<Waker> {
        if now_us < self.earliest_us {
            return Vec::new();
        }
        let over = self.waiting.iter_mut().filter(|waiter| waiter.until_us <= now_us);
        let over = over.filter_map(|waiter| {
            waiter.told = Some(Turn::Over);
            waiter.waker.take()
        });
        let over = over.collect();
        self.look_who_is_first_over();
        over
    }

    pub(super) fn waiter(&mut self, id: u64) -> Option<&mut Waiter> {
        let place = self.place_of(id)?;
        self.waiting.get_mut(place)
    }

    /// Where somebody stands: nearly always at one of the ends.
    fn place_of(&self, id: u64) -> Option<usize> {
        let is_it = |waiter: &Waiter| waiter.id == id;
        match (self.waiting.front(), self.waiting.back()) {
            (Some(first), _) if is_it(first) => Some(0),
            (_, Some(last)) if is_it(last) => Some(self.waiting.len() - 1),
            _ => self.waiting.iter().position(is_it),
        }
    }
}
