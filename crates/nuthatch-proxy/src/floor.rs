//! All workers' threads, and which of them a new client goes to.
//!
//! Whoever accepts a connection gives it to the worker with the fewest sessions before its first byte ([`Floor::least`]);
//! then it stays there.

pub(crate) mod lobby;
pub(crate) mod posts;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use nuthatch_net::Watch;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;

use crate::clock::Clock;
use crate::floor::lobby::{Lobby, Place};
use crate::worker::Worker;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Floor {
    lobbies: Vec<Arc<Lobby>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// One connection is placed at a time, so that two do not choose the same worker.
    placing: Mutex<()>,
}

impl Floor {
    /// Starts `count` threads, at least one.
    pub(crate) fn start(count: usize, clock: Clock) -> io::Result<Self> {
        let (mut lobbies, mut threads) = (Vec::new(), Vec::new());
        for id in 0..count.max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let watch = Watch::new()?;
            let lobby = Arc::new(Lobby::new(Arc::new(Worker::new(id, &watch, runtime.handle().clone()))));
            lobbies.push(Arc::clone(&lobby));
            let thread = std::thread::Builder::new().name(format!("worker-{id}"));
            threads.push(thread.spawn(move || work(&lobby, &runtime, watch, clock))?);
        }
        Ok(Self { lobbies, threads: Mutex::new(threads), placing: Mutex::new(()) })
    }

    /// Takes a place on the worker with the fewest sessions. Where so many are taken, it is one of a client that is to be refused there: such
    /// are not among those that are taken, so that who asks again and again keeps nobody out.
    pub(crate) fn least(&self, clients_max: u64) -> Option<Place> {
        let _one_at_a_time = self.placing.lock();
        let lobby = self.lobbies.iter().min_by_key(|lobby| lobby.taken())?;
        Some(if (self.taken() as u64) < clients_max { Place::take(lobby) } else { Place::beside(lobby) })
    }

    /// The lobbies, in the order of their workers' numbers.
    pub(crate) fn lobbies(&self) -> &[Arc<Lobby>] {
        &self.lobbies
    }

    /// The workers, in the same order.
    pub(crate) fn workers(&self) -> Box<[Arc<Worker>]> {
        self.lobbies.iter().map(|lobby| Arc::clone(&lobby.worker)).collect()
    }

    /// How many places are taken.
    pub(crate) fn taken(&self) -> usize {
        self.lobbies.iter().map(|lobby| lobby.taken()).sum()
    }

    /// Ends the threads, with whatever still runs on them.
    pub(crate) fn stop(&self) {
        self.lobbies.iter().for_each(|lobby| lobby.close());
        for thread in std::mem::take(&mut *self.threads.lock()) {
            if thread.join().is_err() {
                tracing::error!("a worker's thread ended by a panic");
            }
        }
    }
}

/// What a worker's thread does until [`Lobby::close`].
fn work(lobby: &Arc<Lobby>, runtime: &Runtime, watch: Watch, clock: Clock) {
    // Many sessions run in this one task of Tokio's.
    if let Err(error) = runtime.block_on(unconstrained(lobby.attend(watch, clock))) {
        tracing::error!(worker = lobby.worker.id, %error, "a worker cannot watch its clients any more");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_clients_on_four_workers_are_two_on_each() {
        let floor = Floor::start(4, Clock::start()).unwrap();
        let mut places: Vec<_> = (0..8).filter_map(|_| floor.least(100)).collect();
        assert!(floor.lobbies().iter().all(|lobby| lobby.taken() == 2));
        places.retain(|place| place.lobby.worker.id != 1);
        assert_eq!(floor.least(100).unwrap().lobby.worker.id, 1);
        floor.stop();
    }

    #[test]
    fn those_who_are_refused_keep_nobody_out_when_one_has_left() {
        let floor = Floor::start(2, Clock::start()).unwrap();
        let mut places: Vec<_> = (0..2).filter_map(|_| floor.least(2)).collect();
        assert!(places.iter().all(Place::is_taken));
        let refused: Vec<_> = (0..5).filter_map(|_| floor.least(2)).collect();
        assert!(!refused.iter().any(Place::is_taken));
        assert_eq!(floor.taken(), 2);
        places.pop();
        assert!(floor.least(2).unwrap().is_taken());
        drop(refused);
        assert_eq!(floor.taken(), 1);
        floor.stop();
    }
}
