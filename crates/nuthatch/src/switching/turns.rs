//! Who changes roles now: any number at a time, but none of whose servers another one changes too.

use std::collections::HashSet;
use std::sync::Arc;

use nuthatch_config::ServerName;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// See the module's doc.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    busy: HashSet<ServerName>,
    is_closed: bool,
}

/// The right to change the roles of these servers, as long as it lives.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    servers: Vec<ServerName>,
}

impl Turns {
    /// The turn for these servers.
    ///
    /// # Errors
    /// A sentence: somebody else has one of them, or none is given any more.
    pub(super) fn take(self: &Arc<Self>, servers: &[ServerName]) -> Result<Turn, String> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err("the proxy is stopping".to_owned());
        }
        if let Some(busy) = servers.iter().find(|server| state.busy.contains(server)) {
            return Err(format!("a switchover or failover is under way already, of {busy}"));
        }
        state.busy.extend(servers.iter().cloned());
        Ok(Turn { turns: Arc::clone(self), servers: servers.to_vec() })
    }

    /// Gives none any more, and returns when nobody has one.
    pub(super) async fn close(&self) {
        self.state.lock().is_closed = true;
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.state.lock().busy.is_empty() {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state.lock();
        state.busy.retain(|busy| !self.servers.contains(busy));
        drop(state);
        self.turns.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_change_roles_at_a_time_unless_they_share_a_server_and_none_behind_the_end() {
        let turns = Arc::new(Turns::default());
        let names = |ports: [u16; 2]| ports.map(|port| ServerName { host: "h".to_owned(), port });
        let first = turns.take(&names([1, 2])).expect("nobody has one");
        let second = turns.take(&names([3, 4])).expect("these are other servers");
        assert!(turns.take(&names([4, 5])).expect_err("one is shared").ends_with("of h:4"));
        drop(second);
        drop(turns.take(&names([4, 5])).expect("nobody has these any more"));
        let ends = async {
            tokio::task::yield_now().await;
            assert_eq!(turns.take(&names([6, 7])).expect_err("it ends"), "the proxy is stopping");
            drop(first);
        };
        tokio::join!(turns.close(), ends);
    }
}
