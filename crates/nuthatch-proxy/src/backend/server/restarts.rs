//! Servers that begin anew: with a crash they may lose what they acknowledged, so no exact answer that was stored before is served.
//!
//! A server numbers its connections in the order in which it accepts them. One that was begun when another had already been told its
//! number has a greater one: if not, the server has begun anew, or is another. Where the numbers do not tell (few connections before,
//! many after), the next look at its catalogue does, by its uptime.

use std::collections::HashMap;
use std::fmt;

use parking_lot::Mutex;

/// Called with host and port.
type OfServer = dyn Fn(&str, u16) -> bool + Send + Sync;

/// Has all be forgotten that a server has told, and says whether there was anything.
struct Forget(Box<OfServer>);

impl fmt::Debug for Forget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Forget")
    }
}

/// The greatest number that each server has given, by host and port.
#[derive(Debug)]
pub(crate) struct Restarts {
    forget: Forget,
    greatest: Mutex<HashMap<(String, u16), u32>>,
}

impl Restarts {
    /// `forget` is called for a server that is no more, and says whether it had told anything.
    pub(crate) fn new(forget: impl Fn(&str, u16) -> bool + Send + Sync + 'static) -> Self {
        Self { forget: Forget(Box::new(forget)), greatest: Mutex::default() }
    }

    /// To be asked before a connection is begun: what its number must be greater than.
    pub(crate) fn greatest(&self, host: &str, port: u16) -> u32 {
        self.greatest.lock().get(&(host.to_owned(), port)).copied().unwrap_or(0)
    }

    /// A connection was given this number, that must be greater than `before`. When this returns, no exact answer is served that a
    /// server gave which is no more. Says whether the server has begun anew.
    pub(crate) fn accepted(&self, host: &str, port: u16, before: u32, number: u32) -> bool {
        let mut all = self.greatest.lock();
        let greatest = all.entry((host.to_owned(), port)).or_default();
        if number > before {
            *greatest = number.max(*greatest);
            return false;
        }
        *greatest = number;
        drop(all);
        if (self.forget.0)(host, port) {
            tracing::warn!(
                host,
                port,
                "the server has begun anew, or is another: all exact answers are forgotten"
            );
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    impl Restarts {
        /// Of servers of which nothing is known.
        pub(crate) fn before_nothing() -> Arc<Self> {
            Arc::new(Self::new(|_, _| false))
        }
    }

    #[test]
    fn number_that_is_not_greater_than_one_before_tells_of_another_life() {
        let restarts = Restarts::before_nothing();
        let greatest = || restarts.greatest("db", 3306);
        restarts.accepted("db", 3306, greatest(), 7);
        // Two that were begun together are told theirs in any order.
        let together = greatest();
        restarts.accepted("db", 3306, together, 9);
        restarts.accepted("db", 3306, together, 8);
        restarts.accepted("other", 3306, restarts.greatest("other", 3306), 3);
        assert_eq!(greatest(), 9);
        restarts.accepted("db", 3306, 9, 5);
        assert_eq!(greatest(), 5);
    }
}
