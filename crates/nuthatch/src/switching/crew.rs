//! Work that goes on beside other work, once at a time for each of what it is for: what takes long for one makes no other wait.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// See the module's doc. Dropping it leaves what is at work alone.
#[derive(Debug)]
pub(super) struct Crew<K> {
    tasks: TaskTracker,
    at_work: HashMap<K, JoinHandle<()>>,
}

impl<K: Eq + Hash> Crew<K> {
    pub(super) fn new(tasks: &TaskTracker) -> Self {
        Self { tasks: tasks.clone(), at_work: HashMap::new() }
    }

    /// Whether somebody is at work for that.
    pub(super) fn is_at_work(&self, key: &K) -> bool {
        self.at_work.get(key).is_some_and(|work| !work.is_finished())
    }

    /// Has that done, unless the same is under way.
    pub(super) fn begin(&mut self, key: K, work: impl Future<Output = ()> + Send + 'static) {
        self.at_work.retain(|_, work| !work.is_finished());
        self.at_work.entry(key).or_insert_with(|| self.tasks.spawn(work));
    }
}
