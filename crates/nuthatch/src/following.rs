//! Follows the binlogs of servers, so that what is written past the proxy goes through the clocks: see `exact/follow.rs` in nuthatch-proxy.
//!
//! Each server that is followed has a thread of its own, which takes no lock that a worker holds for long: where the server waits for the
//! proxy, every commit there waits for this thread. On it run, side by side: the reading of events ([`reading`]), the proving of what the
//! server shows and where its binlog ends ([`proving`]), and where it is asked for, the lease ([`leasing`]). What they share is in [`carry`].
//!
//! Whatever goes wrong ends all of them: nothing is served from the cache, and after a pause the server is followed anew, from where its
//! binlog ends then, with everything forgotten.

mod aim;
mod carry;
mod chances;
mod ends;
mod follower;
mod leasing;
mod pace;
mod patience;
mod proving;
mod reading;
mod transaction;
mod unproven;
mod xa;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use nuthatch_config::{Follow, HostgroupId, Secret, ServerName};
use nuthatch_proxy::{Followed, Proxy};
use nuthatch_source::TableIds;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use follower::Follower;

/// Between two looks at which servers are to be followed: which those are is known once they were looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// By what it is known that a server is followed as before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    follow: Follow,
    account: (String, Secret),
    marker: String,
    times: [u64; 4],
}

/// A thread that follows.
struct Running {
    setting: Setting,
    followed: Arc<Followed>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// Follows what the configuration in force asks for, until `stop`.
pub(crate) async fn keep(proxy: Arc<Proxy>, ids: Arc<TableIds>, stop: CancellationToken) {
    let mut running: BTreeMap<ServerName, Running> = BTreeMap::new();
    let mut hostgroups = BTreeMap::new();
    loop {
        hostgroups = proxy.exact().wanted_follows(&hostgroups);
        let wanted = settings(&proxy, &hostgroups);
        let is_as_before = wanted.len() == running.len()
            && wanted
                .iter()
                .all(|(name, setting)| running.get(name).is_some_and(|known| known.is_of(setting)));
        if !is_as_before {
            running.retain(|name, known| wanted.get(name).is_some_and(|setting| known.is_of(setting)));
            for (name, setting) in wanted {
                running.entry(name.clone()).or_insert_with(|| Running::begin(name, setting, &proxy, &ids));
            }
            proxy.exact().follow(running.values().map(|one| Arc::clone(&one.followed)));
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(PAUSE) => {}
        }
    }
}

fn settings(
    proxy: &Proxy,
    hostgroups: &BTreeMap<HostgroupId, (ServerName, Follow)>,
) -> BTreeMap<ServerName, Setting> {
    let snapshot = proxy.snapshot();
    let variables = &snapshot.mysql;
    let setting = |follow| Setting {
        follow,
        account: (
            variables.query_cache_follow_username.clone(),
            variables.query_cache_follow_password.clone(),
        ),
        marker: variables.query_cache_follow_marker.clone(),
        times: [
            variables.query_cache_max_staleness_ms,
            variables.query_cache_follow_lease_ms,
            variables.query_cache_follow_timeout_max_ms,
            variables.query_cache_follow_event_wait_ms,
        ],
    };
    let mut wanted: BTreeMap<ServerName, Setting> = BTreeMap::new();
    for (name, follow) in hostgroups.values() {
        let known = wanted.get(name).map_or(Follow::Off, |known| known.follow);
        wanted.insert(name.clone(), setting(known.max(*follow)));
    }
    wanted
}

impl Running {
    /// Whether it goes on, and so.
    fn is_of(&self, setting: &Setting) -> bool {
        let is_over = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        !is_over && self.setting == *setting
    }

    fn begin(name: ServerName, setting: Setting, proxy: &Arc<Proxy>, ids: &Arc<TableIds>) -> Self {
        tracing::info!(server = %name, follow = setting.follow.word(), "its binlog is to be followed: nothing is served from the cache before it is");
        let followed = Arc::new(Followed::new(name.clone(), setting.follow));
        let stop = CancellationToken::new();
        let follower = Follower {
            proxy: Arc::clone(proxy),
            followed: Arc::clone(&followed),
            ids: Arc::clone(ids),
            stop: stop.clone(),
        };
        let thread = std::thread::Builder::new().name("nuthatch-follow".to_owned()).spawn(|| follower.run());
        if let Err(error) = &thread {
            tracing::error!(server = %name, %error, "could not start the thread that follows its binlog");
        }
        Self { setting, followed, stop, thread: thread.ok() }
    }
}

/// The thread is not waited for: it ends within one question.
impl Drop for Running {
    fn drop(&mut self) {
        self.followed.close();
        self.stop.cancel();
    }
}
