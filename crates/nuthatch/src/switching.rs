//! Changes of the primary at work: who is asked for one, planned or because it is gone; and who watches for the second.

mod crew;
mod failing_over;
mod guard;
mod interrupted;
mod memory;
mod rejoining;
mod sightings;
mod statements;
mod stragglers;
mod suspicions;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_admin::{SwitchoverMode, SwitchoverOrder};
use nuthatch_config::{CheckType, HostgroupId, MysqlVariables, ServerName};
use nuthatch_failover::{Account, Cluster, KnownServer, Limits, Order, Outcome, Step, Traffic};
use nuthatch_net::{AskerLogin, BackendPassword};
use nuthatch_proxy::{Pair, Proxy};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

pub(crate) use guard::keep as guard;
pub(crate) use interrupted::keep as take_back;
use memory::{Attempt, By, Came, Kind, Memory};
pub(crate) use memory::{Ended, WritersFile};
pub(crate) use rejoining::keep as rejoin;
pub(crate) use sightings::keep as see;
use statements::Statements;
pub(crate) use stragglers::keep as look_for_stragglers;
pub(crate) use suspicions::Suspicions;
use turns::{Turn, Turns};

/// How long a server may take for one answer.
const ANSWER: Duration = Duration::from_secs(5);

/// How long a stop waits for a switchover, which has limits of its own.
const FINISH_MAX: Duration = Duration::from_secs(120);

/// Begins changes of primaries.
#[derive(Clone, Debug)]
pub(crate) struct Switching {
    proxy: Arc<Proxy>,
    tasks: TaskTracker,
    turns: Arc<Turns>,
    memory: Arc<Memory>,
}

/// What came of an order: rows, or sentences that say why not.
type Answer = Result<Vec<(String, String)>, String>;

impl Switching {
    /// What former runs have left in `directory`, if there is one, is known.
    pub(crate) fn new(proxy: &Arc<Proxy>, tasks: &TaskTracker, directory: Option<&Path>) -> Self {
        let memory = Memory::open(directory);
        for old in memory.fenced.all() {
            let why = "a failover replaced it, before the proxy was started anew";
            proxy.fence(old.hostgroup, &old.name, why);
        }
        Self {
            proxy: Arc::clone(proxy),
            tasks: tasks.clone(),
            turns: Arc::default(),
            memory: Arc::new(memory),
        }
    }

    /// Does what an operator has ordered, to its end, whether somebody waits for it or not.
    pub(crate) async fn act(self, order: SwitchoverOrder) -> Answer {
        let (made, check) = self.order(&order)?;
        let traffic = self.statements(check);
        if order.mode == SwitchoverMode::Check {
            let findings = nuthatch_failover::check(&traffic, &made).await;
            return Ok(findings.into_iter().map(|one| (one.weight.as_str().to_owned(), one.what)).collect());
        }
        let turn = self.begin(&made.cluster)?;
        let attempt = self.attempt(Kind::Switchover, By::Operator, made.cluster.hostgroup);
        let done = self.tasks.clone().spawn(async move {
            let (outcome, steps) = nuthatch_failover::switch_over(&traffic, &made).await;
            if !matches!(outcome, Outcome::Unfinished { .. }) {
                self.memory.ledger.end(made.cluster.hostgroup);
            }
            drop(turn);
            tell(&made, &outcome);
            if let (Outcome::Done, Some(old)) = (&outcome, &made.cluster.writer) {
                self.proxy.forget_acknowledged(old);
            }
            let primaries = [made.cluster.writer.as_ref(), Some(&made.to)];
            self.memory.history.note(attempt, primaries, Came::of(&outcome, &steps));
            answer("switchover", &outcome, steps)
        });
        done.await
            .unwrap_or_else(|_panic| Err("the switchover hit a fault of the program: see the log".to_owned()))
    }

    fn statements(&self, check: CheckType) -> Arc<dyn Traffic> {
        Arc::new(Statements::new(&self.proxy, check, &self.memory))
    }

    /// One at a time for each server.
    fn begin(&self, cluster: &Cluster) -> Result<Turn, String> {
        let names: Vec<_> = cluster.servers.iter().map(|(name, ..)| name.clone()).collect();
        self.turns.take(&names)
    }

    /// Begins none any more, and returns when those that are under way have come to their end.
    pub(crate) async fn finish(&self) {
        if timeout(FINISH_MAX, self.turns.close()).await.is_err() {
            tracing::error!(
                "the proxy stops in the middle of a switchover or failover: look which server takes writes, and who follows"
            );
        }
    }

    /// The pair of that hostgroup, whose primary can be changed by what the variables say.
    fn equipped_pair(&self, hostgroup: HostgroupId, variables: &MysqlVariables) -> Result<Pair, String> {
        let pair = self.proxy.pair(hostgroup).ok_or_else(|| {
            format!("hostgroup {hostgroup} is the writer_hostgroup of no row in mysql_replication_hostgroups")
        })?;
        is_equipped(variables).map(|()| pair)
    }

    fn order(&self, order: &SwitchoverOrder) -> Result<(Order, CheckType), String> {
        let hostgroup = HostgroupId(order.hostgroup);
        let snapshot = self.proxy.snapshot();
        let variables = &snapshot.mysql;
        let pair = self.equipped_pair(hostgroup, variables)?;
        let cluster =
            Cluster { hostgroup, writer: pair.writer, servers: self.servers(&pair.servers, variables) };
        let to = ServerName { host: order.hostname.clone(), port: order.port };
        if pair.servers.contains(&to) && !pair.online.contains(&to) {
            return Err(format!("{to} is ONLINE in no hostgroup of the pair: nothing would be sent to it"));
        }
        if self.memory.fenced.has(hostgroup, &to) {
            return Err(format!(
                "{to} is kept out since a failover replaced it: it can take the writes when it follows again \
                 (stats_nuthatch_servers)"
            ));
        }
        Ok((
            Order { cluster, to, replication: replication(variables), limits: limits(variables) },
            pair.check,
        ))
    }

    fn attempt(&self, kind: Kind, by: By, hostgroup: HostgroupId) -> Attempt {
        Attempt::begin(kind, by, hostgroup, self.proxy.unix_seconds_now())
    }

    /// What is remembered of it.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// That server of the pair, as the account that changes roles reaches it.
    fn server(&self, hostgroup: HostgroupId, name: &ServerName) -> Option<KnownServer> {
        let pair = self.proxy.pair(hostgroup)?;
        let servers = self.servers(&pair.servers, &self.proxy.snapshot().mysql);
        servers.into_iter().find(|(known, ..)| known == name)
    }

    /// All servers of the pair of that writer hostgroup.
    fn servers_of(&self, hostgroup: HostgroupId) -> Vec<ServerName> {
        self.proxy.pair(hostgroup).map_or_else(Vec::new, |pair| pair.servers)
    }

    fn servers(&self, names: &[ServerName], variables: &MysqlVariables) -> Vec<KnownServer> {
        let user = &variables.failover_username;
        let known = self.proxy.reachable_as(user);
        let login = |tls: Result<Option<nuthatch_net::BackendTls>, String>, host: &str, clear_passwords| {
            tls.map(|tls| AskerLogin {
                user: user.clone(),
                password: BackendPassword::of(variables.failover_password.expose()),
                tls: tls.map(|tls| (tls, host.to_owned())),
                clear_passwords,
            })
        };
        known
            .into_iter()
            .filter(|server| names.contains(&server.name))
            .map(|server| {
                let login = login(server.tls, &server.name.host, server.clear_passwords);
                (server.name, server.address, login)
            })
            .collect()
    }
}

/// Whether there is all that a change of a primary takes.
fn is_equipped(variables: &MysqlVariables) -> Result<(), String> {
    if !variables.monitor_enabled {
        return Err("the monitor is off (mysql-monitor_enabled): nobody knows who writes".to_owned());
    }
    if variables.failover_username.is_empty() {
        return Err("an account is needed that may change roles: set mysql-failover_username and \
                    mysql-failover_password, and LOAD MYSQL VARIABLES TO RUNTIME"
            .to_owned());
    }
    Ok(())
}

fn replication(variables: &MysqlVariables) -> Account {
    Account { user: variables.replication_username.clone(), password: variables.replication_password.clone() }
}

fn limits(variables: &MysqlVariables) -> Limits {
    let ms = Duration::from_millis;
    Limits {
        transactions: ms(variables.switchover_transactions_ms),
        pins: ms(variables.switchover_pins_ms),
        answer: ANSWER,
        catch_up: ms(variables.switchover_catch_up_ms),
    }
}

/// `of_what` is its word.
fn answer(of_what: &str, outcome: &Outcome, steps: Vec<Step>) -> Answer {
    let why = outcome.why().unwrap_or_default();
    match outcome {
        Outcome::Done => Ok(steps.into_iter().map(|step| (step.at_ms.to_string(), step.what)).collect()),
        Outcome::Refused(_) => Err(format!("the {of_what} is refused, and nothing was touched: {why}")),
        Outcome::RolledBack(_) => {
            Err(format!("the {of_what} failed, and everything is as it was before: {why}"))
        }
        Outcome::Unfinished { .. } => Err(format!("the {of_what} is not finished: {why}")),
    }
}

fn tell(order: &Order, outcome: &Outcome) {
    let (hostgroup, to) = (order.cluster.hostgroup.0, &order.to);
    match outcome {
        Outcome::Done => tracing::info!(hostgroup, %to, "switched over"),
        Outcome::Refused(_) => tracing::info!(hostgroup, %to, "a switchover was refused"),
        Outcome::RolledBack(why) => {
            tracing::warn!(hostgroup, %to, why, "a switchover failed and was taken back");
        }
        Outcome::Unfinished { why, left } => {
            tracing::error!(hostgroup, %to, why, ?left, "a switchover is not finished: somebody must");
        }
    }
}
