//! The monitor at work: it looks at the servers of the configuration in force, and the data plane is told what it finds.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{AccessFinding, CheckType, Member, MysqlVariables, ServerName};
use nuthatch_failover::Silence;
use nuthatch_monitor::{
    CheckTimes, DumpFinding, Lag, MemberCheck, MemberPatience, Monitor, PingFinding, PoolCare, PoolCheck,
    PoolFinding, Roles, Settings, Target, Ward,
};
use nuthatch_net::{AskerLogin, BackendPassword};
use nuthatch_proxy::{LagOutcome, MonitoredServer, PingOutcome, PoolOutcome, Proxy};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::switching::Suspicions;

/// A monitor that looks at nothing yet, whose checks are among these tasks.
pub(crate) fn monitor(proxy: &Arc<Proxy>, suspicions: Suspicions, tasks: &TaskTracker) -> Monitor {
    let ward = DataPlane { proxy: Arc::clone(proxy), suspicions };
    let monitor = Monitor::new(Arc::new(ward), tasks.clone());
    let lookout = monitor.lookout().clone();
    proxy.when_unreachable(move |server| lookout.look_at(server));
    monitor
}

/// Keeps the monitor to the configuration in force until `stop`.
pub(crate) async fn keep(proxy: Arc<Proxy>, mut monitor: Monitor, stop: CancellationToken) {
    let mut configurations = proxy.configurations();
    loop {
        configurations.mark_unchanged();
        let snapshot = proxy.snapshot();
        let target = |server| target(server, &snapshot.mysql);
        let targets = proxy.monitored_servers().into_iter().map(target).collect();
        monitor.watch(&settings(&snapshot.mysql), targets);
        tokio::select! {
            () = stop.cancelled() => return,
            changed = configurations.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// Hands on what the monitor finds.
struct DataPlane {
    proxy: Arc<Proxy>,
    /// Who is told of servers that are not there.
    suspicions: Suspicions,
}

impl Ward for DataPlane {
    fn pinged(&self, server: &ServerName, finding: &PingFinding) {
        match finding {
            PingFinding::Silent { .. } => self.suspicions.note(server, Silence::Counts),
            _ => self.suspicions.clear(server),
        }
        let outcome = match finding {
            PingFinding::Answered { took } => {
                PingOutcome::Answered { latency_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX) }
            }
            PingFinding::Refused => PingOutcome::Refused,
            PingFinding::Silent { why } => PingOutcome::Silent { why: why.clone() },
            PingFinding::NotAsked => PingOutcome::NotAsked,
        };
        self.proxy.note_ping(&server.host, server.port, &outcome);
    }

    fn is_behind(&self, server: &ServerName, lag: Lag) {
        let outcome = match lag {
            Lag::Behind(seconds) => LagOutcome::Behind(seconds),
            Lag::Unknown => LagOutcome::Unknown,
            Lag::NoReplica | Lag::NotAsked => LagOutcome::None,
        };
        self.proxy.note_lag(&server.host, server.port, outcome);
    }

    fn access(&self, server: &ServerName, check: CheckType, finding: &AccessFinding, began: Instant) {
        match finding {
            AccessFinding::Gone { .. } => self.suspicions.note(server, Silence::DoesNotCount),
            AccessFinding::Writable | AccessFinding::ReadOnly => self.suspicions.clear(server),
            AccessFinding::Silent { .. } => {}
        }
        self.proxy.note_access(server, check, finding, began);
    }

    fn member(&self, server: &ServerName, member: Member) {
        self.proxy.note_member(server, member);
    }

    fn pool(&self, server: &ServerName, finding: &PoolFinding, began: Instant) -> PoolCare {
        let outcome = match finding {
            PoolFinding::Told { figures, loads_at_start, is_continued } => PoolOutcome::Told {
                figures: *figures,
                loads_at_start: *loads_at_start,
                is_continued: *is_continued,
            },
            PoolFinding::Gone => PoolOutcome::Gone,
            PoolFinding::NoAnswer => PoolOutcome::NoAnswer,
            PoolFinding::NotTold => PoolOutcome::NotTold,
        };
        match self.proxy.note_pool(server, &outcome, began) {
            true => PoolCare::Warm,
            false => PoolCare::Cold,
        }
    }

    fn dumped(&self, server: &ServerName, finding: &DumpFinding) {
        let refused = match finding {
            DumpFinding::Begun => None,
            DumpFinding::Refused { why } => Some(why.clone()),
        };
        self.proxy.note_dump(server, refused);
    }

    fn leaves_place(&self, server: &ServerName) {
        self.suspicions.clear(server);
        self.proxy.forget_place(server);
    }
}

fn settings(variables: &MysqlVariables) -> Settings {
    let ms = Duration::from_millis;
    let times = |interval, timeout| CheckTimes { interval: ms(interval), timeout: ms(timeout) };
    let v = variables;
    Settings {
        is_enabled: v.monitor_enabled,
        history: ms(v.monitor_history),
        connect: times(v.monitor_connect_interval, v.monitor_connect_timeout),
        ping: times(v.monitor_ping_interval, v.monitor_ping_timeout),
        ping_failures_max: v.monitor_ping_max_failures,
        lag: times(v.monitor_replication_lag_interval, v.monitor_replication_lag_timeout),
        heartbeat: v.monitor_replication_lag_use_percona_heartbeat.clone(),
        lag_when_null_s: v.monitor_slave_lag_when_null,
        pool: times(v.monitor_warm_interval, v.monitor_warm_timeout),
        access: times(v.monitor_read_only_interval, v.monitor_read_only_timeout),
        access_timeouts_max: v.monitor_read_only_max_timeout_count,
        group: times(
            v.monitor_groupreplication_healthcheck_interval,
            v.monitor_groupreplication_healthcheck_timeout,
        ),
        group_patience: MemberPatience {
            timeouts_max: v.monitor_groupreplication_healthcheck_max_timeout_count,
            behind_count: v.monitor_groupreplication_max_transactions_behind_count,
        },
        galera: times(v.monitor_galera_healthcheck_interval, v.monitor_galera_healthcheck_timeout),
        galera_patience: MemberPatience {
            timeouts_max: v.monitor_galera_healthcheck_max_timeout_count,
            behind_count: 1,
        },
    }
}

pub(crate) fn target(server: MonitoredServer, variables: &MysqlVariables) -> Target {
    let dump_interval = |interval_ms| Some(Duration::from_millis(interval_ms)).filter(|it| !it.is_zero());
    let pool = server
        .pool_dump_interval_ms
        .map(|interval_ms| PoolCheck { dump_interval: dump_interval(interval_ms) });
    let MonitoredServer { name, address, tls, clear_passwords, may_be_behind, access, member, .. } = server;
    let login = tls.map(|tls| AskerLogin {
        user: variables.monitor_username.clone(),
        password: BackendPassword::of(variables.monitor_password.expose()),
        tls: tls.map(|tls| (tls, name.host.clone())),
        clear_passwords,
    });
    let member = member.map(|(kind, behind_max)| MemberCheck { kind, behind_max });
    Target { name, address, login, may_be_behind, pool, roles: Roles { access, member } }
}
