//! The line of those who wait for a connection of a hostgroup: first come, first served.
//!
//! Only the first in line looks for something free: when it is rung for, because something was put back or because a
//! millisecond is over (it may have waited long enough for a connection of its own). Whoever comes while somebody waits
//! stands behind. Nobody in line has a timer: [`keep_lines`](crate::backend::keep_lines()) rings and ends what waits in vain, so that waiting for a moment, as
//! on a busy server every statement does, costs little.
//!
//! Cost: one load for each connection put back while nobody waits; else a lock to join, to be rung for and to leave.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::task::{Context, Poll, Waker};

use nuthatch_config::MysqlVariables;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::backend::server::shortage::Shortage;

/// See the module's doc.
#[derive(Debug, Default)]
pub(in crate::backend) struct Line {
    queue: Mutex<Queue>,
    count: AtomicUsize,
    /// Rung when somebody joins while nobody waits.
    keeper: Arc<Notify>,
    /// Whether waiting is the machine's doing.
    pub(in crate::backend) shortage: Arc<Shortage>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiter>,
    next_id: u64,
    /// What was put back and nobody has looked for yet.
    unseen: usize,
    /// Since when somebody has been waiting all the time.
    standing_since_us: u64,
    /// When it was rung last.
    ticked_us: u64,
    /// When somebody left it last, as the rings tell.
    moved_us: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    until_us: u64,
    told: Option<Turn>,
    waker: Option<Waker>,
}

/// How long somebody waits.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct Stay {
    /// Since when, in microseconds of the clock.
    pub(in crate::backend) since_us: u64,
    /// Until when at most.
    pub(in crate::backend) until_us: u64,
}

impl Stay {
    /// As long as the variables let a statement wait.
    pub(in crate::backend) fn at_most(since_us: u64, variables: &MysqlVariables) -> Self {
        let until_us = since_us + variables.connect_timeout_server_max.saturating_mul(1000);
        Self { since_us, until_us }
    }
}

/// A place in a line. Dropping it leaves the line.
#[derive(Debug)]
pub(in crate::backend) struct Place {
    line: Arc<Line>,
    id: u64,
}

/// What a place in line has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is the first, and something may be free.
    Look,
    /// Its time is over.
    Over,
}

impl Line {
    /// One that has `keeper` rung when somebody begins to wait.
    pub(in crate::backend) fn new(keeper: &Arc<Notify>, shortage: &Arc<Shortage>) -> Self {
        Self { keeper: Arc::clone(keeper), shortage: Arc::clone(shortage), ..Self::default() }
    }

    /// Whether nobody waits.
    pub(in crate::backend) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// How many wait.
    pub(in crate::backend) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Since when somebody has been waiting all the time.
    pub(in crate::backend) fn standing_since_us(&self) -> Option<u64> {
        let queue = self.queue.lock();
        (!queue.waiting.is_empty()).then_some(queue.standing_since_us)
    }

    /// When somebody left it last, to within a ring.
    pub(in crate::backend) fn moved_us(&self) -> u64 {
        self.queue.lock().moved_us
    }

    /// Takes the last place.
    pub(in crate::backend) fn join(self: &Arc<Self>, stay: Stay) -> Place {
        self.enter(stay, None, VecDeque::push_back)
    }

    /// The same where somebody waits already; who takes the place is woken by `waker` when its turn comes.
    pub(in crate::backend) fn join_others(self: &Arc<Self>, stay: Stay, waker: Waker) -> Place {
        self.enter(stay, Some(waker), VecDeque::push_back)
    }

    /// Takes the first place, for who found nobody waiting.
    pub(in crate::backend) fn join_in_front(self: &Arc<Self>, stay: Stay) -> Place {
        self.enter(stay, None, VecDeque::push_front)
    }

    fn enter(
        self: &Arc<Self>,
        stay: Stay,
        waker: Option<Waker>,
        push: impl FnOnce(&mut VecDeque<Waiter>, Waiter),
    ) -> Place {
        let Stay { since_us, until_us } = stay;
        let mut queue = self.queue.lock();
        let id = queue.next_id;
        queue.next_id += 1;
        let is_only = queue.waiting.is_empty();
        if is_only {
            queue.standing_since_us = since_us;
        }
        // What became free before it stood here was told to nobody: it looks once more.
        let told = is_only.then_some(Turn::Look);
        push(&mut queue.waiting, Waiter { id, until_us, told, waker });
        self.count.store(queue.waiting.len(), Ordering::SeqCst);
        // They have gone meanwhile.
        let alone =
            if is_only { queue.waiting.front_mut().and_then(|waiter| waiter.waker.take()) } else { None };
        drop(queue);
        wake(alone);
        // Either who puts something back sees who waits, or who joins sees what was put back.
        fence(Ordering::SeqCst);
        if is_only {
            self.keeper.notify_one();
        }
        Place { line: Arc::clone(self), id }
    }

    /// Something may have become free.
    pub(in crate::backend) fn tell(&self) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::SeqCst) > 0 {
            let waker = {
                let mut queue = self.queue.lock();
                queue.unseen += 1;
                queue.ring_first()
            };
            wake(waker);
        }
    }

    /// Rings for the first, and ends what has waited until `now_us`.
    pub(in crate::backend) fn tick(&self, now_us: u64) {
        let (first, over) = {
            let mut queue = self.queue.lock();
            queue.ticked_us = now_us;
            (queue.ring_first(), queue.end_those_until(now_us))
        };
        wake(first);
        over.into_iter().for_each(Waker::wake);
    }
}

impl Queue {
    fn ring_first(&mut self) -> Option<Waker> {
        let first = self.waiting.front_mut()?;
        first.told.get_or_insert(Turn::Look);
        first.waker.take()
    }

    fn end_those_until(&mut self, now_us: u64) -> Vec<Waker> {
        let over = self.waiting.iter_mut().filter(|waiter| waiter.until_us <= now_us);
        over.filter_map(|waiter| {
            waiter.told = Some(Turn::Over);
            waiter.waker.take()
        })
        .collect()
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

impl Place {
    /// Waits until it is worth a look, or until its time is over.
    pub(in crate::backend) async fn turn(&self) -> Turn {
        poll_fn(|cx| self.poll_turn(cx)).await
    }

    /// One poll of [`Self::turn`].
    pub(in crate::backend) fn poll_turn(&self, cx: &Context<'_>) -> Poll<Turn> {
        let mut queue = self.line.queue.lock();
        let Some(waiter) = queue.place_of(self.id).and_then(|place| queue.waiting.get_mut(place)) else {
            return Poll::Ready(Turn::Over);
        };
        if let Some(told) = waiter.told.take() {
            if told == Turn::Look {
                queue.unseen = queue.unseen.saturating_sub(1);
            }
            return Poll::Ready(told);
        }
        if waiter.waker.as_ref().is_none_or(|known| !known.will_wake(cx.waker())) {
            waiter.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Whether it stands in that line.
    pub(in crate::backend) fn is_in(&self, line: &Arc<Line>) -> bool {
        Arc::ptr_eq(&self.line, line)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let waker = {
            let mut queue = self.line.queue.lock();
            let Some(place) = queue.place_of(self.id) else { return };
            let left = if place == 0 { queue.waiting.pop_front() } else { queue.waiting.remove(place) };
            queue.moved_us = queue.ticked_us;
            self.line.count.store(queue.waiting.len(), Ordering::SeqCst);
            // What it was told of and did not look for is for the next.
            let has_not_looked = left.is_some_and(|waiter| waiter.told == Some(Turn::Look));
            if queue.waiting.is_empty() {
                queue.unseen = 0;
                None
            } else if place == 0 && (queue.unseen > 0 || has_not_looked) {
                queue.ring_first()
            } else {
                None
            }
        };
        wake(waker);
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONG: Stay = Stay { since_us: 7, until_us: u64::MAX };

    const fn until(until_us: u64) -> Stay {
        Stay { until_us, ..LONG }
    }

    /// What it is told, if anything.
    async fn told(place: &Place) -> Option<Turn> {
        tokio::time::timeout(Duration::from_millis(1), place.turn()).await.ok()
    }

    #[tokio::test]
    async fn the_first_is_rung_for_and_the_next_for_what_is_left() {
        let line = Arc::new(Line::default());
        let [first, second, third] = [line.join(LONG), line.join(LONG), line.join(LONG)];
        assert_eq!(told(&first).await, Some(Turn::Look), "it looks once when it is the first");
        assert_eq!(told(&second).await, None);
        line.tell();
        line.tell();
        assert_eq!((told(&first).await, told(&second).await), (Some(Turn::Look), None));
        drop(first);
        assert_eq!((told(&second).await, told(&third).await), (Some(Turn::Look), None));
        drop(second);
        assert_eq!(told(&third).await, None, "both were looked for");
        let before = line.join_in_front(LONG);
        line.tell();
        assert_eq!((told(&third).await, line.len()), (None, 2));
        drop(before);
        assert_eq!(told(&third).await, Some(Turn::Look), "the one before it had not looked");
        drop(third);
        assert!(line.is_empty());
    }

    #[test]
    fn a_line_stands_since_somebody_began_to_wait() {
        let line = Arc::new(Line::default());
        assert_eq!(line.standing_since_us(), None);
        let first = line.join(LONG);
        let second = line.join(Stay { since_us: 9, ..LONG });
        drop(first);
        assert_eq!(line.standing_since_us(), Some(7));
        drop(second);
        assert_eq!(line.standing_since_us(), None);
    }

    #[tokio::test]
    async fn ticks_ring_for_the_first_and_end_what_waits_too_long() {
        let line = Arc::new(Line::default());
        let [first, second, third] = [50, 20, 50].map(|until_us| line.join(until(until_us)));
        assert_eq!(told(&first).await, Some(Turn::Look));
        line.tick(20);
        assert_eq!(told(&first).await, Some(Turn::Look));
        assert_eq!((told(&second).await, told(&third).await), (Some(Turn::Over), None));
        drop(second);
        line.tick(50);
        assert_eq!((told(&first).await, told(&third).await), (Some(Turn::Over), Some(Turn::Over)));
    }
}
