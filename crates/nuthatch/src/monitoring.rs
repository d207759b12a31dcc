//! The monitor at work: it looks at the servers of the configuration in force, and the data plane is told what it finds.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::MysqlVariables;
use nuthatch_monitor::{CheckTimes, Lag, Monitor, PingFinding, ServerName, Settings, Target, Ward};
use nuthatch_net::{AskerLogin, BackendPassword};
use nuthatch_proxy::{LagOutcome, MonitoredServer, PingOutcome, Proxy};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A monitor that looks at nothing yet, whose checks are among these tasks.
pub(crate) fn monitor(proxy: &Arc<Proxy>, tasks: &TaskTracker) -> Monitor {
    Monitor::new(Arc::new(DataPlane(Arc::clone(proxy))), tasks.clone())
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
struct DataPlane(Arc<Proxy>);

impl Ward for DataPlane {
    fn pinged(&self, server: &ServerName, finding: &PingFinding) {
        let outcome = match finding {
            PingFinding::Answered { took } => {
                PingOutcome::Answered { latency_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX) }
            }
            PingFinding::Refused => PingOutcome::Refused,
            PingFinding::Silent { why } => PingOutcome::Silent { why: why.clone() },
            PingFinding::NotAsked => PingOutcome::NotAsked,
        };
        self.0.note_ping(&server.host, server.port, &outcome);
    }

    fn is_behind(&self, server: &ServerName, lag: Lag) {
        let outcome = match lag {
            Lag::Behind(seconds) => LagOutcome::Behind(seconds),
            Lag::Unknown => LagOutcome::Unknown,
            Lag::NoReplica | Lag::NotAsked => LagOutcome::None,
        };
        self.0.note_lag(&server.host, server.port, outcome);
    }
}

fn settings(variables: &MysqlVariables) -> Settings {
    let ms = Duration::from_millis;
    Settings {
        is_enabled: variables.monitor_enabled,
        history: ms(variables.monitor_history),
        connect: CheckTimes {
            interval: ms(variables.monitor_connect_interval),
            timeout: ms(variables.monitor_connect_timeout),
        },
        ping: CheckTimes {
            interval: ms(variables.monitor_ping_interval),
            timeout: ms(variables.monitor_ping_timeout),
        },
        ping_failures_max: variables.monitor_ping_max_failures,
        lag: CheckTimes {
            interval: ms(variables.monitor_replication_lag_interval),
            timeout: ms(variables.monitor_replication_lag_timeout),
        },
        heartbeat: variables.monitor_replication_lag_use_percona_heartbeat.clone(),
        lag_when_null_s: variables.monitor_slave_lag_when_null,
    }
}

fn target(server: MonitoredServer, variables: &MysqlVariables) -> Target {
    let MonitoredServer { host, port, address, tls, clear_passwords, may_be_behind } = server;
    let login = tls.map(|tls| AskerLogin {
        user: variables.monitor_username.clone(),
        password: BackendPassword::of(variables.monitor_password.expose()),
        tls: tls.map(|tls| (tls, host.clone())),
        clear_passwords,
    });
    Target { name: ServerName { host, port }, address, login, may_be_behind }
}
