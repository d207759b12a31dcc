//! Another server in the place of a primary that is gone: by order of an operator, or by the proxy itself.

use std::time::Duration;

use nuthatch_admin::{FailoverOrder, SwitchoverMode};
use nuthatch_config::{CheckType, HostgroupId, ServerName};
use nuthatch_failover::{
    Cause, Cluster, Demand, FenceCommand, Outcome, Report, Silence, check_failover, fail_over,
};

use super::memory::{Attempt, By, Came, Kind, Witness};
use super::{Answer, Switching, answer, is_equipped, replication};

/// How long a server may take for one answer.
pub(super) const ANSWER: Duration = Duration::from_secs(2);

/// `mysql-failover` says who may put another server in the place of a primary.
pub(super) const OFF: &str = "off";
pub(super) const AUTO: &str = "auto";

impl Switching {
    /// Does what an operator has ordered, to its end, whether somebody waits for it or not.
    pub(crate) async fn fail_over(self, order: FailoverOrder) -> Answer {
        let hostgroup = HostgroupId(order.hostgroup);
        let is_check = order.mode == SwitchoverMode::Check;
        let variables = &self.proxy.snapshot().mysql;
        if variables.failover == OFF && !is_check {
            return Err(
                "mysql-failover is off: set it to manual or auto, and LOAD MYSQL VARIABLES TO RUNTIME"
                    .to_owned(),
            );
        }
        // What would be done is what the proxy would do itself.
        let cause = if is_check && variables.failover == AUTO { Cause::Auto } else { Cause::Order };
        let to = order.to.map(|(host, port)| ServerName { host, port });
        let (demand, check) = self.demand(hostgroup, to, cause, Silence::Counts)?;
        if is_check {
            let findings = check_failover(&self.statements(check), &demand).await;
            return Ok(findings.into_iter().map(|one| (one.weight.as_str().to_owned(), one.what)).collect());
        }
        let turn = self.begin(&demand.cluster)?;
        let attempt = self.attempt(Kind::Failover, By::Operator, hostgroup);
        let done = self.tasks.clone().spawn(async move {
            let report = fail_over(&self.statements(check), &demand).await;
            drop(turn);
            self.note(attempt, &demand, &report);
            answer("failover", &report.outcome, report.steps)
        });
        done.await
            .unwrap_or_else(|_panic| Err("the failover hit a fault of the program: see the log".to_owned()))
    }

    /// Puts another server in the place of that pair's primary, which seems gone. An error says that nothing could be tried.
    pub(super) async fn fail_over_alone(
        &self,
        hostgroup: HostgroupId,
        silence: Silence,
    ) -> Result<Report, String> {
        let (demand, check) = self.demand(hostgroup, None, Cause::Auto, silence)?;
        let turn = self.begin(&demand.cluster)?;
        let attempt = self.attempt(Kind::Failover, By::Proxy, hostgroup);
        let report = fail_over(&self.statements(check), &demand).await;
        drop(turn);
        self.note(attempt, &demand, &report);
        Ok(report)
    }

    /// Whose primary is to be replaced by the proxy itself once it is gone, and who that is.
    pub(super) fn guarded(&self) -> Vec<(HostgroupId, ServerName)> {
        match self.proxy.snapshot().mysql.failover == AUTO {
            true => self.replaceable(),
            false => Vec::new(),
        }
    }

    /// Whose primary may be replaced once it is gone, by the proxy itself or by order, and who that is.
    pub(super) fn replaceable(&self) -> Vec<(HostgroupId, ServerName)> {
        let snapshot = self.proxy.snapshot();
        if snapshot.mysql.failover == OFF || is_equipped(&snapshot.mysql).is_err() {
            return Vec::new();
        }
        let pairs = snapshot.clusters.pairs.iter();
        pairs
            .filter_map(|pair| {
                let known = self.proxy.pair(pair.writer)?;
                Some((pair.writer, known.writer.or(known.last_writer)?))
            })
            .collect()
    }

    fn demand(
        &self,
        hostgroup: HostgroupId,
        to: Option<ServerName>,
        cause: Cause,
        silence: Silence,
    ) -> Result<(Demand, CheckType), String> {
        let snapshot = self.proxy.snapshot();
        let variables = &snapshot.mysql;
        let pair = self.equipped_pair(hostgroup, variables)?;
        if cause == Cause::Auto && pair.configured < SERVERS_MIN {
            return Err(format!(
                "mysql-failover = auto does not act for hostgroup {hostgroup}: it has {} servers, and a majority takes \
                 {SERVERS_MIN}",
                pair.configured
            ));
        }
        let ms = Duration::from_millis;
        let cluster = Cluster {
            hostgroup,
            writer: pair.writer.or(pair.last_writer),
            servers: self.servers(&pair.servers, variables),
        };
        let demand = Demand {
            cluster,
            configured: pair.configured,
            may_write: pair.weights,
            kept_out: self.memory.fenced.kept_out(hostgroup),
            to,
            cause,
            silence,
            replication: replication(variables),
            fence: FenceCommand::parse(
                &variables.failover_fence_command,
                ms(variables.failover_fence_timeout_ms),
            )?,
            max_loss: variables.failover_max_loss,
            look: ms(variables.monitor_ping_timeout),
            answer: ANSWER,
            catch_up: ms(variables.failover_catch_up_ms),
        };
        Ok((demand, pair.check))
    }

    fn note(&self, attempt: Attempt, demand: &Demand, report: &Report) {
        let hostgroup = demand.cluster.hostgroup;
        let new = report.promoted.as_ref().map(|promoted| &promoted.new).or(demand.to.as_ref());
        let primaries = [demand.cluster.writer.as_ref(), new];
        self.memory.history.note(attempt, primaries, Came::of(&report.outcome, &report.steps));
        match &report.outcome {
            Outcome::Done => tracing::warn!(hostgroup = hostgroup.0, "failed over"),
            Outcome::Refused(_) => {}
            Outcome::RolledBack(why) => {
                tracing::warn!(hostgroup = hostgroup.0, why, "a failover failed and was taken back");
            }
            Outcome::Unfinished { why, left } => {
                tracing::error!(
                    hostgroup = hostgroup.0,
                    why,
                    ?left,
                    "a failover is not finished: somebody must"
                );
            }
        }
    }

    /// Tells what was lost by failovers of which nobody knew whether the heir takes writes, be it that the proxy ended meanwhile, once it is
    /// found to.
    pub(super) fn tell_expected_losses(&self) {
        let found = |hostgroup| {
            let writer = self.found_writer(hostgroup)?;
            let witness = match self.memory.seen.of(&writer) {
                Some(seen) => Witness::Has(seen),
                None if self.replaceable().contains(&(hostgroup, writer.clone())) => Witness::NotYet,
                None => Witness::Nobody,
            };
            Some((writer, witness))
        };
        self.memory.losses.tell_found(found, self.proxy.unix_seconds_now());
    }

    /// Who takes the writes of that pair, if it was seen to. Who is only loaded as writer need not.
    pub(super) fn found_writer(&self, hostgroup: HostgroupId) -> Option<ServerName> {
        let writer = self.proxy.pair(hostgroup)?.writer?;
        let placed = self.proxy.placed_servers();
        placed
            .iter()
            .any(|server| server.name == writer && server.is_read_only == Some(false))
            .then_some(writer)
    }
}

/// How many servers a pair must have for the proxy to act by itself.
const SERVERS_MIN: usize = 3;
