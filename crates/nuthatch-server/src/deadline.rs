//! A moment after which waiting is given up, and polling until then.
//!
//! Processes know no paused clock, so this is the one place of the crate that reads the machine's.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long to pause between two looks at a state.
const PAUSE: Duration = Duration::from_millis(10);

/// The moment at which a wait ends without success.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// So much from now on.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "processes run on the machine's clock, not on Tokio's")]
    pub fn after(wait: Duration) -> Self {
        Self(Instant::now() + wait)
    }

    /// Whether it has passed.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "processes run on the machine's clock, not on Tokio's")]
    pub fn is_over(self) -> bool {
        Instant::now() >= self.0
    }

    /// Looks until `look` gives something, at least once; `None` when the deadline passed first.
    pub fn poll<T>(self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            if let Some(found) = look() {
                return Some(found);
            }
            if self.is_over() {
                return None;
            }
            sleep(PAUSE);
        }
    }
}
