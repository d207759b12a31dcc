//! What is to become of a statement: its digest, its class, what the rules say, where it goes.

use std::sync::Arc;

use nuthatch_config::{RuleInput, Verdict};
use nuthatch_sql::ServerFlavor;

use crate::exact::Tenure;
use crate::session::decide::split::{Way, way};
use crate::session::decide::stored_code::code_run;
use crate::session::parts::{Account, CacheUse, Context, Dealings, Ground, Statement};
use crate::session::statement::{Caching, Facts, Known, Looked, Plan, SaidByRules, look};
use crate::shared::answers::{HitPlan, Terms};
use crate::state::Found;
use crate::stats::{DigestCounters, HOSTGROUP_CACHE, Observed};

/// Looks at the statement as the client sent it. What it says of the cache is not in it yet: see [`plan_for_cache`](super::query_cache::plan_for_cache).
pub(crate) fn plan(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &CacheUse,
    dealings: &Dealings,
    text: &[u8],
) -> Plan {
    let known = known(ground, context, text);
    plan_of_known(ground, account, context, cache, dealings, text, &known)
}

/// What is known of a text before it is known whose it is.
fn known(ground: &Ground, context: &Context, text: &[u8]) -> Arc<Known> {
    let (lexing, variables) = (context.lexing, &ground.snapshot.mysql);
    ground.memo.known(text, lexing, variables, ground.snapshot.epoch, || look(text, lexing, &ground.snapshot))
}

/// The same of a prepared statement, which is not looked at again while it would be found to be the same.
pub(crate) fn plan_of_prepared(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &CacheUse,
    dealings: &Dealings,
    statement: &mut Statement,
) -> Plan {
    let (epoch, lexing) = (ground.snapshot.epoch, context.lexing);
    let text = &statement.key().text;
    if let Some(known) = statement.looked().and_then(|looked| looked.known(epoch, lexing)) {
        return plan_of_known(ground, account, context, cache, dealings, text, known);
    }
    let known = known(ground, context, text);
    let plan = plan_of_known(ground, account, context, cache, dealings, text, &known);
    statement.remember(Looked::new(epoch, lexing, known));
    plan
}

fn plan_of_known(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &CacheUse,
    dealings: &Dealings,
    text: &[u8],
    known: &Known,
) -> Plan {
    let variables = &ground.snapshot.mysql;
    let verdict = judge(ground, account, context, cache, text, known.digest, &known.digest_text);
    let mut facts = Facts::of_text(Arc::clone(&known.facts), verdict.multiplex);
    let Way { wanted, hostgroup, causal } = way(ground, account, context, dealings, &verdict, &facts);
    // What others were told before it came is to be shown (`lease/causal.rs`): so it came no earlier than that.
    let started_us = if causal.is_some() { ground.shared.clock.now_us() } else { ground.latest_us };
    facts.is_plain = known.is_plain;
    facts.code = code_run(ground, context, text, known, hostgroup);
    let digest = variables
        .query_digests
        .then(|| {
            digest_row(ground, account, context, i64::from(hostgroup.0), known.digest, &known.digest_text)
        })
        .flatten();
    let (named, said_to_cache, sent) = (None, None, None);
    let verdict = SaidByRules::of(verdict);
    Plan { facts, verdict, digest, wanted, hostgroup, causal, named, said_to_cache, sent, started_us }
}

pub(crate) fn judge(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &CacheUse,
    query: &[u8],
    digest: u64,
    digest_text: &[u8],
) -> Verdict {
    let rules = &ground.snapshot.rules;
    if rules.is_empty() {
        return Verdict::default();
    }
    let address = &ground.handle.address();
    rules.evaluate(&RuleInput {
        user: account.name().as_bytes(),
        schema: &context.state.schema,
        client_addr: &address.host,
        proxy_addr: &address.proxy_host,
        proxy_port: address.proxy_port,
        digest,
        digest_text,
        query,
        flag_in: cache.next_flag_in(),
    })
}

/// What a hit on the statement's answer will bump.
pub(crate) fn hit_plan(
    ground: &Ground,
    account: &Account,
    context: &Context,
    plan: &Plan,
    caching: Caching,
    found_rows: Option<Found>,
    tenure: Option<Tenure>,
) -> HitPlan {
    let digest = plan.digest.as_ref().and_then(|row| {
        let find = || digest_row(ground, account, context, HOSTGROUP_CACHE, row.digest(), row.digest_text());
        row.hit_row(find)
    });
    let leaves_diagnostics =
        matches!(context.lexing.server, ServerFlavor::MariaDb(_)) && plan.facts.tables.none;
    HitPlan {
        digest,
        rules: plan.verdict.matched.as_slice().into(),
        found_rows,
        terms: Terms::of(
            plan.facts.counts_all_rows(),
            tenure,
            caching.ageing(&plan.verdict, &ground.snapshot.mysql),
        ),
        leaves_diagnostics,
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
    let (schema, user) = (&context.state.schema[..], &**account.name());
    let observed = Observed { hostgroup, schema, user, client_addr, digest, digest_text };
    ground.shared.answers.digests.row(&observed, variables.query_digests_max_entries)
}
