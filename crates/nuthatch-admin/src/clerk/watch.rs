//! The time limit of a statement: a thread that interrupts SQLite when a client's statement has run for too long.
//!
//! All operators wait for the clerk, so one of them must not keep it with a runaway join.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, InterruptHandle};
use tokio::time::Instant;

/// The longest that a client's statement may run.
pub(super) const STATEMENT_MAX: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing runs.
    Idle,
    /// A statement runs, and may until then.
    Until(std::time::Instant),
    /// The clerk is gone.
    Over,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The clerk's end of the watch; dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Watch {
    shared: Arc<Shared>,
    statement_max: Duration,
}

impl Watch {
    /// Starts the thread, for statements that may run that long.
    pub(super) fn start(connection: &Connection, statement_max: Duration) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::new(State::Idle), changed: Condvar::new() });
        let watched = Arc::clone(&shared);
        let handle = connection.get_interrupt_handle();
        std::thread::Builder::new()
            .name("nuthatch-watch".to_owned())
            .spawn(move || watched.keep_watch(&handle))?;
        Ok(Self { shared, statement_max })
    }

    /// Runs `work` under the time limit.
    pub(super) fn limit<T>(&self, work: impl FnOnce() -> T) -> T {
        self.set(State::Until((Instant::now() + self.statement_max).into_std()));
        let done = work();
        self.set(State::Idle);
        done
    }

    fn set(&self, state: State) {
        *self.shared.state.lock() = state;
        self.shared.changed.notify_one();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.set(State::Over);
    }
}

impl Shared {
    fn keep_watch(&self, handle: &InterruptHandle) {
        let mut state = self.state.lock();
        loop {
            match *state {
                State::Over => return,
                State::Idle => self.changed.wait(&mut state),
                State::Until(deadline) => {
                    let waited = self.changed.wait_until(&mut state, deadline);
                    // The lock is held: the statement that is interrupted is the one that was watched.
                    if waited.timed_out() && *state == State::Until(deadline) {
                        handle.interrupt();
                        *state = State::Idle;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n";

    #[test]
    fn a_runaway_statement_is_interrupted_and_the_next_runs() {
        let connection = Connection::open_in_memory().unwrap();
        let watch = Watch::start(&connection, Duration::from_millis(50)).unwrap();
        let count = |sql: &str| watch.limit(|| connection.query_row(sql, [], |row| row.get::<_, i64>(0)));
        assert_eq!(count(ENDLESS).unwrap_err().to_string(), "interrupted");
        assert_eq!(count("SELECT 1"), Ok(1));
    }
}
