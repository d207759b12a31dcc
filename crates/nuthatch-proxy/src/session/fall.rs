//! A panic ends its own session and nothing else; it is counted.

use crate::shared::Shared;

/// Counts the panic that unwinds through it.
pub(crate) struct PanicCounter<'a> {
    shared: &'a Shared,
    worker: usize,
}

impl<'a> PanicCounter<'a> {
    pub(crate) const fn new(shared: &'a Shared, worker: usize) -> Self {
        Self { shared, worker }
    }

    pub(crate) fn count(&self) {
        self.shared.count_panic();
        tracing::error!(worker = self.worker, "a session ended by a panic: please report it");
    }
}

impl Drop for PanicCounter<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.count();
        }
    }
}

/// A debug build panics at these queries, on the seat or in the task, so that tests can see what becomes of it.
pub(crate) fn trip(payload: &[u8], place: Fall) {
    let wanted: &[u8] = match place {
        Fall::OnSeat => b"\x03DO 'nuthatch debug build: panic on the seat'",
        Fall::InTask => b"\x03DO 'nuthatch debug build: panic in the task'",
    };
    assert!(!cfg!(debug_assertions) || payload != wanted, "asked for by a test");
}

/// Where a session is when it falls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fall {
    OnSeat,
    InTask,
}
