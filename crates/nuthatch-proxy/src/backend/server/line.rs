//! The line of those who wait for a connection of a hostgroup: first come, first served.
//!
//! Only the first in line looks for something free: when it is rung for, because something was put back or because a
//! millisecond is over (it may have waited long enough for a connection of its own). Whoever comes while somebody waits
//! stands behind. Nobody in line has a timer: [`keep_lines`](crate::backend::keep_lines()) rings and ends what waits in vain, so that waiting for a moment, as
//! on a busy server every statement does, costs little.
//!
//! While the hostgroup is held nobody is rung for, and whoever comes stands in line though nobody else does. When that is over, or a
//! server comes where there was none, all who stand there look at once, one behind the other.
//!
//! Cost: one load for each connection put back while nobody waits; else a lock to join, to be rung for and to leave.

pub(in crate::backend) mod holding;
pub(crate) mod limits;
mod queue;
pub(in crate::backend) mod stay;

#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::task::{Context, Poll, Waker};

use nuthatch_config::MysqlVariables;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::backend::server::line::holding::{Servers, Wait};
use crate::backend::server::line::limits::{Full, Limits};
pub(crate) use crate::backend::server::line::queue::Turn;
use crate::backend::server::line::queue::{End, Queue};
use crate::backend::server::line::stay::{Awaited, Stay};
use crate::backend::server::shortage::Shortage;

/// Beside how many wait: the hostgroup is held.
const HELD: usize = 1 << (usize::BITS - 1);

/// See the module's doc.
#[derive(Debug, Default)]
pub(in crate::backend) struct Line {
    queue: Mutex<Queue>,
    /// How many wait, and [`HELD`].
    count: AtomicUsize,
    /// Rung when somebody joins while nobody waits.
    keeper: Arc<Notify>,
    /// Whether waiting is the machine's doing.
    pub(in crate::backend) shortage: Arc<Shortage>,
    limits: Limits,
    refused: AtomicU64,
}

/// A place in a line. Dropping it leaves the line.
#[derive(Debug)]
pub(in crate::backend) struct Place {
    line: Arc<Line>,
    id: u64,
}

/// What is to be told of a line.
#[derive(Debug, Clone)]
pub(in crate::backend) struct LineView {
    pub(in crate::backend) waiting: u64,
    pub(in crate::backend) waiting_bytes: u64,
    /// The most that have waited at one time.
    pub(in crate::backend) waiting_max: u64,
    /// Of statements, and of their bytes; 0 for none.
    pub(in crate::backend) limits: (u64, u64),
    /// Since when who has waited longest does.
    pub(in crate::backend) oldest_since_us: Option<u64>,
    /// What is awaited besides a connection.
    pub(in crate::backend) wait: Option<Wait>,
    /// Statements that it was too full for.
    pub(in crate::backend) refused: u64,
}

impl Line {
    /// One that has `keeper` rung when somebody begins to wait.
    pub(in crate::backend) fn new(keeper: &Arc<Notify>, shortage: &Arc<Shortage>) -> Self {
        Self { keeper: Arc::clone(keeper), shortage: Arc::clone(shortage), ..Self::default() }
    }

    /// Whether who comes may look at once: nobody waits, and the hostgroup is not held.
    pub(in crate::backend) fn is_free(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Whether nobody waits.
    pub(in crate::backend) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many wait.
    pub(in crate::backend) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire) & !HELD
    }

    /// Whether the hostgroup is held.
    pub(in crate::backend) fn is_held(&self) -> bool {
        self.count.load(Ordering::SeqCst) & HELD != 0
    }

    /// Whether it is connections that are waited for: servers are there, and the hostgroup is not held.
    pub(in crate::backend) fn awaits_connections(&self) -> bool {
        self.queue.lock().holding.awaited() == Awaited::Connection
    }

    /// Since when somebody has been waiting all the time, and since when a connection is what is waited for.
    pub(in crate::backend) fn standing_since_us(&self) -> (Option<u64>, u64) {
        let queue = self.queue.lock();
        let since_us = (!queue.waiting.is_empty()).then_some(queue.standing_since_us);
        (since_us, queue.holding.awaited_since_us())
    }

    /// When somebody left it last, to within a ring.
    pub(in crate::backend) fn moved_us(&self) -> u64 {
        self.queue.lock().moved_us
    }

    /// Until when who stays so may wait, as things are.
    pub(in crate::backend) fn until_us(&self, stay: Stay) -> u64 {
        self.queue.lock().until_us(stay)
    }

    /// What is to be told of it.
    pub(in crate::backend) fn view(&self) -> LineView {
        let queue = self.queue.lock();
        LineView {
            waiting: queue.waiting.len() as u64,
            waiting_bytes: queue.bytes,
            waiting_max: queue.most as u64,
            limits: self.limits.shown(),
            oldest_since_us: queue.waiting.iter().map(|waiter| waiter.stay.since_us).min(),
            wait: queue.holding.shown(),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Keeps to what the variables allow from now on.
    pub(in crate::backend) fn limit(&self, variables: &MysqlVariables) {
        self.limits.take_over(variables);
    }

    /// Takes the last place.
    ///
    /// # Errors
    /// The line is full.
    pub(in crate::backend) fn join(self: &Arc<Self>, stay: Stay) -> Result<Place, Full> {
        self.join_last(stay, None)
    }

    /// The same for who is no task: `waker` wakes it when its turn comes.
    pub(in crate::backend) fn join_others(self: &Arc<Self>, stay: Stay, waker: Waker) -> Result<Place, Full> {
        self.join_last(stay, Some(waker))
    }

    fn join_last(self: &Arc<Self>, stay: Stay, waker: Option<Waker>) -> Result<Place, Full> {
        let queue = self.queue.lock();
        match self.limits.admit(queue.waiting.len() as u64, queue.bytes, stay.bytes()) {
            Ok(()) => Ok(self.enter(queue, stay, waker, End::Last)),
            Err(full) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Err(full)
            }
        }
    }

    /// Takes the first place, for who found nobody waiting or comes back: it is never too full for that.
    pub(in crate::backend) fn join_in_front(self: &Arc<Self>, stay: Stay) -> Place {
        self.enter(self.queue.lock(), stay, None, End::First)
    }

    fn enter(
        self: &Arc<Self>,
        mut queue: MutexGuard<'_, Queue>,
        stay: Stay,
        waker: Option<Waker>,
        end: End,
    ) -> Place {
        let is_only = queue.waiting.is_empty();
        let id = queue.stand(stay, waker, end);
        self.recount(&queue);
        // They have gone meanwhile.
        let alone = if is_only { queue.ring_first() } else { None };
        drop(queue);
        wake(alone);
        // Either who puts something back sees who waits, or who joins sees what was put back.
        fence(Ordering::SeqCst);
        if is_only {
            self.keeper.notify_one();
        }
        Place { line: Arc::clone(self), id }
    }

    fn recount(&self, queue: &Queue) {
        let held = if queue.holding.is_held() { HELD } else { 0 };
        self.count.store(queue.waiting.len() | held, Ordering::SeqCst);
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

    /// Things have changed for all who stand in it.
    pub(in crate::backend) fn tell_all(&self) {
        let waker = self.queue.lock().ring_all();
        wake(waker);
    }

    /// Rings for the first, and ends what has waited too long by `now_us`.
    pub(in crate::backend) fn tick(&self, now_us: u64) {
        let (first, over) = self.queue.lock().tick(now_us);
        wake(first);
        over.into_iter().for_each(Waker::wake);
    }

    /// Holds the hostgroup from now on, for that reason. Returns the number of the hold.
    pub(in crate::backend) fn hold(&self, reason: &str, now_us: u64) -> u64 {
        let mut queue = self.queue.lock();
        let hold = queue.holding.hold(reason.into(), now_us);
        queue.renew_limits();
        self.recount(&queue);
        hold
    }

    /// The hold of that number is for another reason now.
    pub(in crate::backend) fn reword(&self, hold: u64, reason: &str) {
        self.queue.lock().holding.reword(hold, reason.into());
    }

    /// Ends the hold of that number.
    pub(in crate::backend) fn release(&self, hold: u64, now_us: u64) {
        let mut queue = self.queue.lock();
        let is_over = queue.holding.release(hold, now_us);
        self.recount(&queue);
        let waker = if is_over { queue.await_other(now_us) } else { None };
        drop(queue);
        wake(waker);
    }

    /// Takes note of whether servers of the hostgroup take statements. Returns whether something else is awaited now.
    pub(in crate::backend) fn note_servers(&self, servers: Servers, now_us: u64) -> bool {
        let mut queue = self.queue.lock();
        let is_other = queue.holding.note_servers(servers, now_us);
        let waker = if is_other { queue.await_other(now_us) } else { None };
        drop(queue);
        wake(waker);
        is_other
    }

    /// Why no server is there, for as long as none is.
    pub(in crate::backend) fn tell_why(&self, why: Option<&str>) {
        self.queue.lock().holding.tell_why(why.map(Into::into));
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
        let is_held = queue.holding.is_held();
        let Some(waiter) = queue.waiter(self.id) else { return Poll::Ready(Turn::Over) };
        match waiter.told.take() {
            // It is told again when the hostgroup is released.
            Some(Turn::Look) if is_held => {}
            Some(Turn::Look) => {
                queue.unseen = queue.unseen.saturating_sub(1);
                return Poll::Ready(Turn::Look);
            }
            Some(Turn::Over) => return Poll::Ready(Turn::Over),
            None => {}
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
            let waker = queue.leave(self.id);
            self.line.recount(&queue);
            waker
        };
        wake(waker);
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
