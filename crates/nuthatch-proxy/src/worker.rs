//! The workers: one thread each, and the sessions that live there.
//!
//! A worker's thread attends to its [`Lobby`], where sessions wait, and polls the tasks of those that work ([`Executor`]). What
//! needs timers, or sockets that are not watched yet, has a single-threaded Tokio runtime beside it.
//!
//! Whoever accepts a connection gives it to the worker with the fewest sessions before its first byte ([`Workers::least`]);
//! then it stays there.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use nuthatch_net::{IdleStream, Stream, Watch};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinHandle as Task, unconstrained};

use crate::clock::Clock;
use crate::executor::Executor;
use crate::lobby::Lobby;
use crate::runner::{self, Runners};
use crate::session::{Memo, PinCounters, Pins, Session, SessionHandle};
use crate::stats::{CommandCounters, Counters, Totals};

/// One worker, as everybody may see it.
#[derive(Debug)]
pub(crate) struct Worker {
    /// Its number, from 0.
    pub(crate) id: usize,
    pub(crate) counters: Counters,
    /// How long statements of each kind took.
    pub(crate) commands: CommandCounters,
    /// For which reasons its sessions have kept connections.
    pub(crate) pinned_by: PinCounters,
    pub(crate) lobby: Arc<Lobby>,
    /// What it remembers of statements.
    pub(crate) memo: Memo,
    runners: Runners,
    executor: Executor,
    runtime: Handle,
    /// Sessions given to it that have not ended, those that are not logged in yet included.
    sessions: AtomicUsize,
    registry: Mutex<HashMap<u32, Arc<SessionHandle>>>,
}

/// A session's place on a worker. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) worker: Arc<Worker>,
    id: Option<u32>,
    seat: Option<usize>,
}

impl Worker {
    /// Sessions that it has.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::Acquire)
    }

    /// Runs `work` on its thread and its runtime; for other threads.
    pub(crate) fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Task<T> {
        let occupied = self.lobby.occupy();
        let task = self.runtime.spawn(async move {
            let _occupied = occupied;
            work.await
        });
        self.lobby.ring();
        task
    }

    /// Does `work` that waits for Tokio, in a session's task: everything with a timer, or a socket that is not watched.
    pub(crate) async fn with_tokio<T>(&self, work: impl Future<Output = T>) -> T {
        let _occupied = self.lobby.occupy();
        work.await
    }

    /// Makes a task of a session, on the worker's own thread.
    pub(crate) fn run(self: &Arc<Self>, session: Box<Session>) {
        if let Some(first) = self.runners.take_on(session) {
            self.executor.spawn(runner::run(Arc::clone(self), first));
        }
    }

    pub(crate) const fn runners(&self) -> &Runners {
        &self.runners
    }

    /// What its thread does until [`Lobby::close`].
    fn work(self: &Arc<Self>, runtime: &Runtime, watch: Watch, clock: Clock) {
        let attending = self.lobby.attend(watch, clock, &self.executor, |session| self.run(session));
        // Many sessions run in this one task of Tokio's.
        if let Err(error) = runtime.block_on(unconstrained(attending)) {
            tracing::error!(worker = self.id, %error, "a worker cannot watch its clients any more");
        }
    }

    /// Calls `visit` for each session.
    pub(crate) fn for_each_session(&self, mut visit: impl FnMut(&Arc<SessionHandle>)) {
        self.registry.lock().values().for_each(&mut visit);
    }

    pub(crate) fn session(&self, id: u32) -> Option<Arc<SessionHandle>> {
        self.registry.lock().get(&id).map(Arc::clone)
    }
}

impl Place {
    /// Makes the session known under its number.
    pub(crate) fn register(&mut self, handle: &Arc<SessionHandle>) {
        self.id = Some(handle.id);
        self.worker.registry.lock().insert(handle.id, Arc::clone(handle));
    }

    /// Watches the client's socket, on the worker's own thread.
    pub(crate) fn admit(&mut self, stream: IdleStream) -> io::Result<Stream> {
        let (stream, seat) = self.worker.lobby.admit(stream)?;
        self.seat = Some(seat);
        Ok(stream)
    }

    /// Where the session waits.
    pub(crate) const fn seat(&self) -> Option<usize> {
        self.seat
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            self.worker.lobby.vacate(seat);
        }
        if let Some(id) = self.id {
            self.worker.registry.lock().remove(&id);
        }
        self.worker.sessions.fetch_sub(1, Ordering::AcqRel);
    }
}

/// All workers, and their threads.
#[derive(Debug)]
pub(crate) struct Workers {
    workers: Vec<Arc<Worker>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// One connection is placed at a time, so that two do not choose the same worker.
    placing: Mutex<()>,
}

impl Workers {
    /// Starts `count` threads, at least one.
    pub(crate) fn start(count: usize, clock: Clock) -> io::Result<Self> {
        let mut workers = Vec::new();
        let mut threads = Vec::new();
        for id in 0..count.max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let watch = Watch::new()?;
            let worker = Arc::new(Worker {
                id,
                counters: Counters::default(),
                commands: CommandCounters::default(),
                pinned_by: PinCounters::default(),
                lobby: Arc::new(Lobby::new(&watch)),
                memo: Memo::default(),
                runners: Runners::default(),
                executor: Executor::new(watch.bell()),
                runtime: runtime.handle().clone(),
                sessions: AtomicUsize::new(0),
                registry: Mutex::default(),
            });
            workers.push(Arc::clone(&worker));
            let thread = std::thread::Builder::new().name(format!("worker-{id}"));
            threads.push(thread.spawn(move || worker.work(&runtime, watch, clock))?);
        }
        Ok(Self { workers, threads: Mutex::new(threads), placing: Mutex::new(()) })
    }

    /// Takes a place on the worker with the fewest sessions.
    pub(crate) fn least(&self) -> Option<Place> {
        let _one_at_a_time = self.placing.lock();
        let worker = self.workers.iter().min_by_key(|worker| worker.sessions())?;
        worker.sessions.fetch_add(1, Ordering::AcqRel);
        Some(Place { worker: Arc::clone(worker), id: None, seat: None })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Worker>> {
        self.workers.iter()
    }

    pub(crate) fn sessions(&self) -> usize {
        self.workers.iter().map(|worker| worker.sessions()).sum()
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.workers.iter().for_each(|worker| totals.add(&worker.counters));
        totals
    }

    /// How often sessions have kept connections, for each reason.
    pub(crate) fn pinned_by(&self) -> Vec<(&'static str, u64)> {
        let mut counts: Vec<_> = Pins::names().map(|reason| (reason, 0)).collect();
        for worker in &self.workers {
            counts.iter_mut().zip(worker.pinned_by.read()).for_each(|((_, sum), count)| *sum += count);
        }
        counts
    }

    /// Ends the threads, with whatever still runs on them.
    pub(crate) fn stop(&self) {
        self.workers.iter().for_each(|worker| worker.lobby.close());
        for thread in std::mem::take(&mut *self.threads.lock()) {
            if thread.join().is_err() {
                tracing::error!("a worker's thread ended by a panic");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_clients_on_four_workers_are_two_on_each() {
        let workers = Workers::start(4, Clock::start()).unwrap();
        let mut places: Vec<_> = (0..8).filter_map(|_| workers.least()).collect();
        assert!(workers.iter().all(|worker| worker.sessions() == 2));
        places.retain(|place| place.worker.id != 1);
        assert_eq!(workers.least().unwrap().worker.id, 1);
        workers.stop();
    }
}
