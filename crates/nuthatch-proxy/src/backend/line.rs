//! The line of those who wait for a connection of a hostgroup: first come, first served.
//!
//! Only the first in line looks for something free, when it is told that there may be, and leaves the line as soon as it has the
//! right to connect; then the next is told. Whoever comes while somebody waits stands behind.
//!
//! Cost: one load for each connection put back while nobody waits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

/// See the module's doc.
#[derive(Debug, Default)]
pub(super) struct Line {
    waiting: Mutex<VecDeque<Arc<Notify>>>,
    count: AtomicUsize,
}

/// A place in a line. Dropping it leaves the line.
#[derive(Debug)]
pub(super) struct Place {
    line: Arc<Line>,
    bell: Arc<Notify>,
}

impl Line {
    /// Whether nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Takes the last place.
    pub(super) fn join(self: &Arc<Self>) -> Place {
        self.enter(VecDeque::push_back)
    }

    /// Takes the first place, for who had it before.
    pub(super) fn join_in_front(self: &Arc<Self>) -> Place {
        self.enter(VecDeque::push_front)
    }

    fn enter(self: &Arc<Self>, push: impl FnOnce(&mut VecDeque<Arc<Notify>>, Arc<Notify>)) -> Place {
        let bell = Arc::new(Notify::new());
        let mut waiting = self.waiting.lock();
        push(&mut waiting, Arc::clone(&bell));
        self.count.store(waiting.len(), Ordering::SeqCst);
        drop(waiting);
        fence(Ordering::SeqCst);
        // What became free before it stood here was told to nobody.
        self.tell();
        Place { line: Arc::clone(self), bell }
    }

    /// Something may have become free.
    pub(super) fn tell(&self) {
        // Either who puts something back sees who waits, or who joins sees what was put back.
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::SeqCst) > 0
            && let Some(first) = self.waiting.lock().front()
        {
            first.notify_one();
        }
    }
}

impl Place {
    /// Waits until it is worth a look: as the first in line, when something may be free, after `wait` at the latest.
    pub(super) async fn turn(&self, wait: Duration) {
        if self.is_first() {
            drop(timeout(wait, self.bell.notified()).await);
        } else {
            self.bell.notified().await;
        }
    }

    /// Whether it stands in that line.
    pub(super) fn is_in(&self, line: &Arc<Line>) -> bool {
        Arc::ptr_eq(&self.line, line)
    }

    fn is_first(&self) -> bool {
        self.line.waiting.lock().front().is_some_and(|first| Arc::ptr_eq(first, &self.bell))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.line.waiting.lock();
        waiting.retain(|bell| !Arc::ptr_eq(bell, &self.bell));
        self.line.count.store(waiting.len(), Ordering::SeqCst);
        drop(waiting);
        self.line.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_told(place: &Place) -> bool {
        timeout(Duration::from_millis(1), place.bell.notified()).await.is_ok()
    }

    #[tokio::test]
    async fn the_first_is_told_and_the_next_when_it_leaves() {
        let line = Arc::new(Line::default());
        let places = [line.join(), line.join(), line.join()];
        assert!(is_told(&places[0]).await, "it looks once when it is the first");
        assert!(!is_told(&places[1]).await);
        line.tell();
        assert!(is_told(&places[0]).await && !is_told(&places[1]).await);
        let [first, second, third] = places;
        drop(first);
        assert!(is_told(&second).await && !is_told(&third).await);
        drop(third);
        let urgent = line.join_in_front();
        assert!(is_told(&urgent).await);
        assert_eq!(line.len(), 2);
        drop((urgent, second));
        assert!(line.is_empty());
    }
}
