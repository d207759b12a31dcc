//! The sessions that there are, as others see them: to list them, to find the one of a number, to end it.

mod address;
mod end;
mod handle;
mod secrecy;
mod view;

use std::collections::HashMap;
use std::sync::Arc;

pub use address::ClientAddress;
pub(crate) use end::{EndReason, SessionEnd};
pub(crate) use handle::SessionHandle;
use parking_lot::Mutex;
pub(crate) use secrecy::{HIDDEN, may_hold_password};
pub(crate) use view::{Running, TimeLimit, View};

use crate::backend::Server;

/// The sessions of a worker, by their numbers.
type OfWorker = Mutex<HashMap<u32, Arc<SessionHandle>>>;

/// All sessions: for each worker those that live there.
#[derive(Debug)]
pub(crate) struct Roster(Box<[OfWorker]>);

/// A session is in the roster as long as this lives.
#[derive(Debug)]
pub(crate) struct Entry {
    roster: Arc<Roster>,
    worker: usize,
    session: u32,
}

impl Roster {
    /// An empty one for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Mutex::default()).collect())
    }

    /// Makes a session of that worker known under its number.
    pub(crate) fn enter(self: &Arc<Self>, worker: usize, handle: &Arc<SessionHandle>) -> Entry {
        if let Some(sessions) = self.0.get(worker) {
            sessions.lock().insert(handle.id, Arc::clone(handle));
        }
        Entry { roster: Arc::clone(self), worker, session: handle.id }
    }

    /// Calls `visit` for each session, with its worker's number.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize, &Arc<SessionHandle>)) {
        for (worker, sessions) in self.0.iter().enumerate() {
            sessions.lock().values().for_each(|handle| visit(worker, handle));
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|sessions| sessions.lock().len()).sum()
    }

    /// The session of that number.
    pub(crate) fn session(&self, id: u32) -> Option<Arc<SessionHandle>> {
        self.0.iter().find_map(|sessions| sessions.lock().get(&id).map(Arc::clone))
    }

    /// The session for which the connection of that number to the server works, or that holds it.
    pub(crate) fn session_of(&self, server: &Server, thread_id: u32) -> Option<Arc<SessionHandle>> {
        let mut found = None;
        self.for_each(|_, handle| {
            if handle.view.lock().has_connection(server, thread_id) {
                found = Some(Arc::clone(handle));
            }
        });
        found
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(sessions) = self.roster.0.get(self.worker) {
            sessions.lock().remove(&self.session);
        }
    }
}
