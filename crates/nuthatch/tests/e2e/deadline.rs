//! Waiting for a state: look until it is there, with a deadline. No test sleeps for a state.
//!
//! Processes and sockets know no paused clock, so this is the one place of the suite that reads the machine's.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// After which a state that has not come counts as one that never comes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The same where servers wait for each other first: a group expels a member only after some ten seconds.
const LONG_PATIENCE: Duration = Duration::from_secs(90);

/// How long to pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Measures how long something took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "processes run on the machine's clock, not on Tokio's")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// What `look` gives, as soon as it gives something. Panics with `what` if it does not in 20 s.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, what, look)
}

#[track_caller]
fn within<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let watch = Stopwatch::start();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(watch.elapsed() < patience, "this did not come to be: {what}");
        sleep(PAUSE);
    }
}

/// Returns as soon as `is_so`, for which servers of a cluster wait for each other. Panics with `what` if it is not in 90 s.
#[track_caller]
pub(crate) fn await_agreement(what: &str, mut is_so: impl FnMut() -> bool) {
    within(LONG_PATIENCE, what, || is_so().then_some(()));
}

/// Returns as soon as `is_so`. Panics with `what` if it is not in 20 s.
#[track_caller]
pub(crate) fn await_that(what: &str, mut is_so: impl FnMut() -> bool) {
    eventually(what, || is_so().then_some(()));
}
