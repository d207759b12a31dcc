//! What must happen from time to time: idle clients and connections, expired entries, the servers' greeting.

mod statements;
mod transactions;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nuthatch_config::MysqlVariables;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

pub use statements::keep_time;

use crate::Proxy;
use crate::backend::{Start, Upkeep, Wanted};
use crate::housekeeping::transactions::end_old_transactions;
use crate::roster::{EndReason, Roster};
use crate::shared::Shared;
use crate::shared::doors::scouts;
use crate::state::{Charset, SessionState};

/// The pause between two rounds.
const ROUND: Duration = Duration::from_millis(500);

/// Entries of the cache that a round looks at.
const EXPIRE_BUDGET: usize = 100_000;

/// Entries of the cache after which a round copies those of no other shard.
const COPY_BUDGET: usize = 20_000;

/// Rounds between two looks at servers that have not been seen.
const SCOUT_EVERY: u64 = 4;

/// Rounds between two judgements of which digests' answers are worth a copy.
const JUDGE_EVERY: u64 = 2;

/// Keeps house until `stop`.
pub async fn keep_house(proxy: Arc<Proxy>, stop: CancellationToken) {
    let mut rounds = interval(ROUND);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for round in 0_u64.. {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = rounds.tick() => {}
        }
        let shared = &proxy.shared;
        let now_ms = shared.clock.now_ms();
        let variables = shared.configuration.snapshot();
        end_idle_sessions(&shared.roster, now_ms, variables.mysql.wait_timeout);
        end_old_transactions(&shared.roster, now_ms, &variables.mysql);
        shared.roster.for_each(|_, handle| handle.look_at_delay(now_ms));
        let password = |user: &str| shared.doors.backend_password(&variables, user);
        let (workers, clock) = (&shared.workers, shared.clock);
        Upkeep { workers, clock, snapshot: &variables, password: &password }.keep_pools(&shared.hostgroups);
        shared.hostgroups.look_for_servers(shared.clock.now_us());
        shared.orders.end_those_until(now_ms);
        let _sweep = shared.answers.cache.expire(now_ms, EXPIRE_BUDGET);
        shared.answers.cache.defragment(COPY_BUDGET);
        if round % JUDGE_EVERY == 0 {
            judge_digests(shared, &variables.mysql, now_ms);
        }
        shared.greetings.learn(&shared.hostgroups);
        if round % SCOUT_EVERY == 0 && shared.hostgroups.greeting().is_none() {
            scout(&proxy).await;
        }
    }
}

/// Keeps the lines of those who wait for connections until `stop`.
pub async fn keep_lines(proxy: Arc<Proxy>, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = crate::backend::keep_lines(&proxy.shared.hostgroups, &proxy.shared.clock) => {}
    }
}

fn judge_digests(shared: &Shared, variables: &MysqlVariables, now_ms: u64) {
    let digests = &shared.answers.digests;
    if variables.query_cache_admission {
        digests.judge(|table| shared.exact.table_counters.read(table).writes, now_ms);
    } else {
        digests.admit_all();
    }
}

fn end_idle_sessions(roster: &Roster, now_ms: u64, wait_timeout_ms: u64) {
    roster.for_each(|_, handle| {
        let patience_ms = handle.patience_ms(wait_timeout_ms);
        if patience_ms == 0 {
            return;
        }
        let idle_ms = now_ms.saturating_sub(handle.last_active_ms.load(Ordering::Relaxed));
        let waits = matches!(handle.view.lock().command, "Sleep");
        if waits && idle_ms > patience_ms {
            handle.end(EndReason::Idle);
        }
    });
}

/// Logs in to a server once, so that the first client can be greeted as the server would.
pub async fn scout(proxy: &Arc<Proxy>) {
    let shared = Arc::clone(&proxy.shared);
    let snapshot = shared.configuration.snapshot();
    let Some((hostgroup, user, password)) = scouts(&snapshot).into_iter().find_map(|(hostgroup, user)| {
        let password = shared.doors.backend_password(&snapshot, &user)?;
        Some((hostgroup, user, password))
    }) else {
        return;
    };
    let Some(worker) = shared.workers.first().map(Arc::clone) else { return };
    let task = {
        let here = Arc::clone(&worker);
        async move {
            let mut variables = snapshot.mysql.clone();
            variables.connect_timeout_server_max = variables.connect_timeout_server;
            variables.hold_for_writer_ms = 0;
            let state = SessionState::new(Vec::new(), Charset::Collation(45));
            let shape = crate::state::capability::SHAPE;
            let wanted = Wanted::by(&user, Some(&password), shape, &state, &here);
            let start = Start::New { bytes: 0 };
            match shared.hostgroups.check_out(hostgroup, &wanted, &variables, &shared.clock, start).await {
                // Of a shape that no client has: of no further use.
                Ok(connection) => drop(connection),
                Err(error) => {
                    let error = describe(&error);
                    tracing::warn!(hostgroup = hostgroup.0, user = %user, error,
                        "no server could be reached yet: clients get a default greeting until one is");
                }
            }
            shared.greetings.learn(&shared.hostgroups);
        }
    };
    drop(worker.spawn(task).await);
}

fn describe(error: &crate::backend::CheckOutError) -> String {
    match error {
        crate::backend::CheckOutError::Refused(refusal) => {
            format!("{error}: {} {}", refusal.code, String::from_utf8_lossy(&refusal.message))
        }
        error => error.to_string(),
    }
}
