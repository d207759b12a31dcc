//! What is known of servers, in however many hostgroups each stands, and however often configurations name it anew.

pub(crate) mod acknowledged;
pub(crate) mod caught_up;
pub(crate) mod life;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_config::ServerName;
use parking_lot::Mutex;

use crate::backend::server::known::acknowledged::Acknowledged;
use crate::backend::server::known::caught_up::CaughtUp;
use crate::backend::server::known::life::Life;

/// Of one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// What it is known to show.
    pub(crate) caught_up: Arc<CaughtUp>,
    /// What it has acknowledged, as far as it tells.
    pub(crate) acknowledged: Arc<Acknowledged>,
    /// Since when it runs.
    pub(crate) life: Arc<Life>,
}

/// Of all servers that there were. A configuration names few.
#[derive(Debug, Default)]
pub(crate) struct KnownServers(Mutex<Vec<(ServerName, Known)>>);

impl KnownServers {
    /// Of all servers: how often one was held for being cold, has begun a dump of its buffer pool, and has refused one.
    pub(crate) fn warmings(&self) -> [u64; 3] {
        self.0.lock().iter().fold([0; 3], |[closed, begun, refused], (_, known)| {
            let dumps = known.life.dumps();
            let gates_closed = known.life.gates_closed.load(Ordering::Relaxed);
            [closed + gates_closed, begun + dumps.begun, refused + dumps.refused]
        })
    }

    pub(crate) fn of(&self, host: &str, port: u16) -> Known {
        let mut servers = self.0.lock();
        let is_it = |(name, _): &&(ServerName, Known)| (name.host.as_str(), name.port) == (host, port);
        if let Some((_, known)) = servers.iter().find(is_it) {
            return known.clone();
        }
        let known = Known::default();
        servers.push((ServerName { host: host.to_owned(), port }, known.clone()));
        known
    }
}
