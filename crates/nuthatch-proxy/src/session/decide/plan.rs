//! What is to become of a statement: its digest, its class, what the rules say, where it goes.

use std::sync::Arc;

use nuthatch_config::{HostgroupId, RuleInput, Verdict};
use nuthatch_sql::ServerFlavor;

use crate::session::ask::lease::destination;
use crate::session::decide::stored_code::code_run;
use crate::session::parts::{Account, Context, Ground};
use crate::session::statement::{Facts, Plan, look};
use crate::session::{Session, look_at_clock};
use crate::shared::answers::HitPlan;
use crate::state::Found;
use crate::stats::{DigestCounters, Observed};

impl Session {
    /// Looks at the statement as the client sent it.
    pub(crate) fn plan(&self, text: &[u8]) -> Plan {
        let started_us = self.ground.latest_us;
        let variables = &self.ground.snapshot.mysql;
        let known =
            self.ground.memo.known(text, self.context.lexing, variables, self.ground.snapshot.epoch, || {
                look(text, self.context.lexing, &self.ground.snapshot)
            });
        let verdict = self.judge(text, known.digest, &known.digest_text);
        let mut facts = Facts { multiplex: verdict.multiplex, ..known.facts.clone() };
        let wanted = verdict.destination_hostgroup.unwrap_or(self.account.user.default_hostgroup);
        let hostgroup = self.hostgroup_for(wanted, &facts);
        facts.code = code_run(&self.ground, &self.context, text, &known, hostgroup);
        facts.reads_insert_id |= facts.code.asks_for_insert_id;
        let digest = variables
            .query_digests
            .then(|| {
                digest_row(
                    &self.ground,
                    &self.account,
                    &self.context,
                    i64::from(hostgroup.0),
                    known.digest,
                    &known.digest_text,
                )
            })
            .flatten();
        let (named, said_to_cache, sent) = (None, None, None);
        let mut plan =
            Plan { facts, verdict, digest, wanted, hostgroup, named, said_to_cache, sent, started_us };
        self.plan_for_cache(&mut plan, text);
        plan
    }

    /// Where a statement goes that is wanted in hostgroup `wanted`.
    pub(crate) fn hostgroup_for(&self, wanted: HostgroupId, facts: &Facts) -> HostgroupId {
        match self.hands.open_transaction(&self.transaction) {
            Some(open) if facts.ends_transaction || facts.change.sets_autocommit() => open,
            _ => destination(
                &self.account,
                &self.hands,
                self.transaction.beginning.hostgroup().unwrap_or(wanted),
            ),
        }
    }

    fn judge(&self, query: &[u8], digest: u64, digest_text: &[u8]) -> Verdict {
        let rules = &self.ground.snapshot.rules;
        if rules.is_empty() {
            return Verdict::default();
        }
        let address = &self.ground.handle.address();
        rules.evaluate(&RuleInput {
            user: self.account.name.as_bytes(),
            schema: &self.context.state.schema,
            client_addr: &address.host,
            proxy_addr: &address.proxy_host,
            proxy_port: address.proxy_port,
            digest,
            digest_text,
            query,
            flag_in: self.cache.next_flag_in,
        })
    }

    /// Counts the statement, which has its answer now.
    pub(crate) fn observe(&mut self, plan: &Plan, rows_affected: u64, rows_sent: u64) {
        let now_us = look_at_clock(&mut self.ground);
        self.ground.observe_at(now_us, plan, rows_affected, rows_sent);
    }

    /// What a hit on the statement's answer will bump.
    pub(crate) fn hit_plan(&self, plan: &Plan, found_rows: Found) -> Arc<HitPlan> {
        let digest = plan.digest.as_ref().and_then(|row| {
            digest_row(
                &self.ground,
                &self.account,
                &self.context,
                crate::stats::HOSTGROUP_CACHE,
                row.digest(),
                row.digest_text(),
            )
        });
        let leaves_diagnostics =
            matches!(self.context.lexing.server, ServerFlavor::MariaDb(_)) && plan.facts.names_no_table;
        Arc::new(HitPlan {
            digest,
            rules: plan.verdict.matched.as_slice().into(),
            found_rows,
            leaves_diagnostics,
        })
    }
}

fn digest_row(
    ground: &Ground,
    account: &Account,
    context: &Context,
    hostgroup: i64,
    digest: u64,
    digest_text: &[u8],
) -> Option<Arc<DigestCounters>> {
    let variables = &ground.snapshot.mysql;
    let client_addr =
        if variables.query_digests_track_hostname { &*ground.handle.address().host } else { "" };
    let (schema, user) = (context.state.schema.as_slice(), &*account.name);
    let observed = Observed { hostgroup, schema, user, client_addr, digest, digest_text };
    ground.shared.answers.digests.row(&observed, variables.query_digests_max_entries)
}
