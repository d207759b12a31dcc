//! The servers that are looked at, each by tasks of its own.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_config::ServerName;
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::judge::{PingFinding, PingJudge};
use crate::lag::Lag;
use crate::log::Log;
use crate::lookout::Lookout;
use crate::patrol::Patrol;
use crate::pool::{DumpClock, PoolFinding};
use crate::refusals::Refusals;
use crate::settings::Settings;
use crate::target::Target;
use crate::ward::Ward;

/// See the module's doc. Dropping it ends all checks.
pub struct Monitor {
    ward: Arc<dyn Ward>,
    log: Arc<Log>,
    refusals: Arc<Refusals>,
    /// Dropping a guard ends the checks of its server.
    watched: HashMap<ServerName, Watched>,
    lookout: Lookout,
    checks: TaskTracker,
}

/// What is known of a server also before its settings were changed.
type Remembered = (Arc<Mutex<PingJudge>>, Arc<Mutex<DumpClock>>);

struct Watched {
    target: Target,
    settings: Settings,
    pings: Arc<Mutex<PingJudge>>,
    dumps: Arc<Mutex<DumpClock>>,
    _checks: tokio_util::sync::DropGuard,
}

impl Monitor {
    /// One that looks at nothing yet, whose checks will be among these tasks.
    #[must_use]
    pub fn new(ward: Arc<dyn Ward>, checks: TaskTracker) -> Self {
        let (log, refusals) = (Arc::default(), Arc::default());
        Self { ward, log, refusals, watched: HashMap::new(), lookout: Lookout::default(), checks }
    }

    /// What checks came to.
    #[must_use]
    pub const fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// By whom it is called to a server at once.
    #[must_use]
    pub const fn lookout(&self) -> &Lookout {
        &self.lookout
    }

    /// Looks at these servers from now on, so. Checks of servers of which nothing has changed go on; what pings have said of those
    /// that are not looked at any more is taken back.
    pub fn watch(&mut self, settings: &Settings, targets: Vec<Target>) {
        let mut before = std::mem::take(&mut self.watched);
        for target in targets.into_iter().filter(|_| settings.is_enabled) {
            let known = before.remove(&target.name);
            let is_as_before =
                |known: &Watched| known.settings == *settings && is_same(&known.target, &target);
            let watched = match known {
                Some(known) if is_as_before(&known) => known,
                Some(known) => {
                    if !has_same_account(&known.target, &target) {
                        self.refusals.forget_all(&target.name);
                    }
                    if target.pool.is_none() {
                        self.ward.pool(&target.name, &PoolFinding::NotTold, Instant::now());
                    }
                    self.begin(settings, &target, (Arc::clone(&known.pings), Arc::clone(&known.dumps)))
                }
                None => self.begin(settings, &target, Default::default()),
            };
            self.watched.insert(target.name, watched);
        }
        for (server, watched) in before {
            drop(watched);
            self.refusals.forget_all(&server);
            self.ward.pinged(&server, &PingFinding::NotAsked);
            self.ward.is_behind(&server, Lag::NotAsked);
            self.ward.pool(&server, &PoolFinding::NotTold, Instant::now());
            self.ward.leaves_place(&server);
            self.lookout.forget(&server);
        }
    }

    fn begin(&self, settings: &Settings, target: &Target, known: Remembered) -> Watched {
        let (pings, dumps) = known;
        let end = CancellationToken::new();
        let patrol = Arc::new(Patrol {
            target: target.clone(),
            settings: settings.clone(),
            log: Arc::clone(&self.log),
            refusals: Arc::clone(&self.refusals),
            ward: Arc::clone(&self.ward),
            pings: Arc::clone(&pings),
            dumps: Arc::clone(&dumps),
            calls: self.lookout.calls(&target.name),
            end: end.clone(),
        });
        let (connecting, pinging) = (Arc::clone(&patrol), Arc::clone(&patrol));
        self.spawn(&end, async move { connecting.connect().await });
        self.spawn(&end, async move { pinging.ping().await });
        if target.may_be_behind {
            let patrol = Arc::clone(&patrol);
            self.spawn(&end, async move { patrol.lag().await });
        }
        if let Some(check) = target.pool {
            let patrol = Arc::clone(&patrol);
            self.spawn(&end, async move { patrol.pool(check).await });
        }
        for check in target.roles.access.iter().copied() {
            let patrol = Arc::clone(&patrol);
            self.spawn(&end, async move { patrol.access(check).await });
        }
        if let Some(check) = target.roles.member {
            self.spawn(&end, async move { patrol.member(check).await });
        }
        let (target, settings) = (target.clone(), settings.clone());
        Watched { target, settings, pings, dumps, _checks: end.drop_guard() }
    }

    fn spawn(&self, end: &CancellationToken, check: impl Future<Output = ()> + Send + 'static) {
        let end = end.clone();
        let _detached = self.checks.spawn(async move { end.run_until_cancelled(check).await });
    }
}

/// Whether both are looked at in the same way.
fn is_same(one: &Target, other: &Target) -> bool {
    let logins = match (&one.login, &other.login) {
        (Ok(one), Ok(other)) => {
            // Whether TLS is the same is not told.
            one.tls.is_none() && other.tls.is_none() && one.clear_passwords == other.clear_passwords
        }
        (Err(one), Err(other)) => one == other,
        _ => false,
    };
    let what =
        |target: &Target| (target.name.clone(), target.may_be_behind, target.pool, target.roles.clone());
    let is_same_server = what(one) == what(other);
    logins && is_same_server && has_same_account(one, other)
}

/// Whether it is logged in to both as the same account.
fn has_same_account(one: &Target, other: &Target) -> bool {
    match (&one.login, &other.login) {
        (Ok(one), Ok(other)) => one.user == other.user && one.password == other.password,
        (Err(_), Err(_)) => true,
        _ => false,
    }
}
