//! Servers that begin anew: with a crash they may lose what they acknowledged, so no exact answer that was stored before is served.
//!
//! A server numbers its connections in the order in which it accepts them. One that was begun when another had already been told its
//! number has a greater one: if not, the server has begun anew, or is another. Where the numbers do not tell (few connections before,
//! many after), the next look at its catalogue does, by its uptime.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::CatalogueStore;

/// The greatest number that each server has given, by host and port.
#[derive(Debug)]
pub(crate) struct Restarts {
    catalogues: Arc<CatalogueStore>,
    greatest: Mutex<HashMap<(String, u16), u32>>,
}

impl Restarts {
    pub(crate) fn new(catalogues: &Arc<CatalogueStore>) -> Self {
        Self { catalogues: Arc::clone(catalogues), greatest: Mutex::default() }
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
        if self.catalogues.forget_server(host, port) {
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
    use nuthatch_cache::{ClockOptions, Clocks};

    use super::*;

    impl Restarts {
        /// Of servers of which nothing is known.
        pub(crate) fn before_nothing() -> Arc<Self> {
            let clocks = Arc::new(Clocks::new(ClockOptions::default()));
            Arc::new(Self::new(&Arc::new(CatalogueStore::new(&clocks))))
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
