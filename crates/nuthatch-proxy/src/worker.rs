//! A worker, as everybody may see it: a thread, what its sessions count, and how work comes to it.
//!
//! What happens on the thread is told above ([`crate::floor::lobby`]).

pub(crate) mod executor;
pub(crate) mod slumber;

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nuthatch_net::{Bell, Registrar, Watch};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::JoinHandle as Task;

use crate::stats::pins::Pins;
use crate::stats::{CommandCounters, Counters, PinCounters, Totals};
use crate::worker::slumber::Slumber;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Worker {
    /// Its number, from 0.
    pub(crate) id: usize,
    pub(crate) counters: Counters,
    /// How long statements of each kind took.
    pub(crate) commands: CommandCounters,
    /// For which reasons its sessions have kept connections.
    pub(crate) pinned_by: PinCounters,
    registrar: Registrar,
    bell: Arc<Bell>,
    slumber: Arc<Slumber>,
    runtime: Handle,
    /// Seats whose sessions are wanted by others.
    called: Mutex<Vec<usize>>,
    /// What waits for Tokio.
    occupants: AtomicUsize,
}

/// Something on Tokio, counted while this lives.
struct Occupied<W: Deref<Target = Worker>>(W);

impl<W: Deref<Target = Worker>> Occupied<W> {
    fn new(worker: W) -> Self {
        worker.occupants.fetch_add(1, Ordering::AcqRel);
        Self(worker)
    }
}

impl<W: Deref<Target = Worker>> Drop for Occupied<W> {
    fn drop(&mut self) {
        self.0.occupants.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Worker {
    /// Number `id`, whose thread sleeps in `watch` or, while something needs Tokio, in `runtime`.
    pub(crate) fn new(id: usize, watch: &Watch, runtime: Handle) -> Self {
        Self {
            id,
            counters: Counters::default(),
            commands: CommandCounters::default(),
            pinned_by: PinCounters::default(),
            registrar: watch.registrar(),
            bell: watch.bell(),
            slumber: Arc::new(Slumber::new(watch.bell())),
            runtime,
            called: Mutex::default(),
            occupants: AtomicUsize::new(0),
        }
    }

    /// For having it watch a socket.
    pub(crate) const fn registrar(&self) -> &Registrar {
        &self.registrar
    }

    /// What wakes its thread.
    pub(crate) const fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// Whether its thread sleeps.
    pub(crate) const fn slumber(&self) -> &Arc<Slumber> {
        &self.slumber
    }

    /// Has the session on a seat look at what it is wanted for, from any thread: it has its turn, is told to end, or to look at what it
    /// holds.
    pub(crate) fn call(&self, seat: usize) {
        self.called.lock().push(seat);
        self.slumber.disturb();
    }

    /// Takes the seats that were called since the last time into `calls`, which is empty.
    pub(crate) fn take_calls(&self, calls: &mut Vec<usize>) {
        debug_assert!(calls.is_empty(), "calls of an earlier time");
        std::mem::swap(&mut *self.called.lock(), calls);
    }

    /// Whether something waits for Tokio: a task on its runtime, a timer, a socket of Tokio's.
    pub(crate) fn is_occupied(&self) -> bool {
        self.occupants.load(Ordering::Acquire) > 0
    }

    /// Runs `work` on its thread and its runtime; for other threads.
    pub(crate) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        let occupied = Occupied::new(Arc::clone(self));
        let task = self.runtime.spawn(async move {
            let _occupied = occupied;
            work.await
        });
        self.bell.ring();
        task
    }

    /// Does `work` that waits for Tokio, in a session's task: everything with a timer, or a socket that is not watched.
    pub(crate) async fn with_tokio<T>(&self, work: impl Future<Output = T>) -> T {
        let _occupied = Occupied::new(self);
        work.await
    }
}

/// The counters of all.
pub(crate) fn totals(workers: &[Arc<Worker>]) -> Totals {
    let mut totals = Totals::default();
    workers.iter().for_each(|worker| totals.add(&worker.counters));
    totals
}

/// How often sessions have kept connections, for each reason.
pub(crate) fn pinned_by(workers: &[Arc<Worker>]) -> Vec<(&'static str, u64)> {
    let mut counts: Vec<_> = Pins::all().map(|(_, reason)| (reason, 0)).collect();
    for worker in workers {
        counts.iter_mut().zip(worker.pinned_by.read()).for_each(|((_, sum), count)| *sum += count);
    }
    counts
}
