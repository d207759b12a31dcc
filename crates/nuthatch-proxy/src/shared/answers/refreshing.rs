//! How many entries are read anew at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many may be. Each takes a connection to a server for as long as that takes.
pub(crate) const REFRESHES_MAX: usize = 32;

/// One that is being read anew, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Refreshing(Arc<AtomicUsize>);

impl Refreshing {
    /// One more among these, if there may be.
    pub(crate) fn begin(under_way: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |count: usize| (count < REFRESHES_MAX).then_some(count + 1);
        under_way.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Self(Arc::clone(under_way)))
    }
}

impl Drop for Refreshing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_read_anew_at_a_time_than_may_be() {
        let under_way = Arc::default();
        let mut all: Vec<_> = (0..REFRESHES_MAX).filter_map(|_| Refreshing::begin(&under_way)).collect();
        assert_eq!(all.len(), REFRESHES_MAX);
        assert!(Refreshing::begin(&under_way).is_none());
        all.pop();
        assert!(Refreshing::begin(&under_way).is_some());
    }
}
