//! Servers that the monitor did not reach when it looked last.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_config::ServerName;
use nuthatch_failover::Silence;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// See the module's doc. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Suspicions(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    of: Mutex<HashMap<ServerName, Silence>>,
    news: Notify,
}

impl Suspicions {
    /// A server is not there, or so many of its pings have failed that its silence counts.
    pub(crate) fn note(&self, server: &ServerName, silence: Silence) {
        let mut of = self.0.of.lock();
        let known = of.entry(server.clone()).or_insert(silence);
        if silence == Silence::Counts {
            *known = silence;
        }
        self.0.news.notify_one();
    }

    /// A server has answered.
    pub(crate) fn clear(&self, server: &ServerName) {
        self.0.of.lock().remove(server);
    }

    /// What was seen is old.
    pub(crate) fn forget_all(&self) {
        self.0.of.lock().clear();
    }

    /// Whether it was not reached, and whether its silence counts.
    pub(crate) fn of(&self, server: &ServerName) -> Option<Silence> {
        self.0.of.lock().get(server).copied()
    }

    /// Returns when a server was not reached since this returned last.
    pub(crate) async fn news(&self) {
        self.0.news.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_counts_until_the_server_answers() {
        let server = ServerName { host: "a".to_owned(), port: 1 };
        let suspicions = Suspicions::default();
        assert_eq!(suspicions.of(&server), None);
        for (silence, expected) in [
            (Silence::DoesNotCount, Silence::DoesNotCount),
            (Silence::Counts, Silence::Counts),
            (Silence::DoesNotCount, Silence::Counts),
        ] {
            suspicions.note(&server, silence);
            assert_eq!(suspicions.of(&server), Some(expected));
        }
        suspicions.clear(&server);
        assert_eq!(suspicions.of(&server), None);
    }
}
