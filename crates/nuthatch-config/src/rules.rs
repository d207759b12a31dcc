//! The query rules in force: which statement goes where, what is cached, what the proxy answers itself.
//!
//! Rules are walked in the order of `rule_id` as ProxySQL walks them. A rule is looked at only while the current flag
//! equals its `flagIN`; a match overrides the fields that it sets, later matches win, `apply` ends the walk. `flagOUT`
//! changes the flag for the rules that follow; up to `mysql-query_processor_iterations` times the walk also
//! starts again from the first rule. Patterns match anywhere in the text, on bytes.
//!
//! Evaluating takes no lock and changes nothing. Cost: one pass over the rules; no allocation unless a rule matches
//! (a regex engine allocates its scratch space at each thread's first use).

mod conditions;
mod hits;
mod input;
mod pattern;
mod rule;
mod verdict;

use std::{fmt, sync::Arc};

use self::conditions::Conditions;
pub use self::{
    hits::RuleHits,
    input::RuleInput,
    pattern::PatternError,
    rule::{CacheMode, Rule, RuleFault, RuleModifiers},
    verdict::Verdict,
};
use crate::server::HostgroupId;

/// All active rules, compiled, in the order of `rule_id`. Cheap to clone.
#[derive(Clone, Default)]
pub struct Rules {
    compiled: Arc<[Compiled]>,
    /// How often the walk may start again after a `flagOUT`.
    restarts_max: u64,
    looks_at_client_addr: bool,
    looks_at_proxy_addr: bool,
    caches: Caches,
}

struct Compiled {
    rule: Rule,
    conditions: Conditions,
    error_msg: Option<Arc<str>>,
    ok_msg: Option<Arc<str>>,
    hits: Arc<RuleHits>,
}

impl Rules {
    /// The active ones of `rules`, sorted and compiled, with hit counters at 0, and what is wrong with the rest.
    /// A rule with a fault is left out: it matches nothing.
    pub fn compile(rules: impl IntoIterator<Item = Rule>, restarts_max: u64) -> (Self, Vec<RuleFault>) {
        let mut rules: Vec<Rule> = rules.into_iter().filter(|rule| rule.active).collect();
        rules.sort_by_key(|rule| rule.rule_id);
        let mut faults = Vec::new();
        let compiled: Arc<[Compiled]> = rules
            .into_iter()
            .filter_map(|rule| Compiled::new(rule).map_err(|fault| faults.push(fault)).ok())
            .collect();
        let looks_at_client_addr = compiled.iter().any(|each| each.conditions.looks_at_client_addr());
        let looks_at_proxy_addr = compiled.iter().any(|each| each.conditions.looks_at_proxy_addr());
        let caches = compiled.iter().map(|each| Caches::by(&each.rule)).max().unwrap_or_default();
        (Self { compiled, restarts_max, looks_at_client_addr, looks_at_proxy_addr, caches }, faults)
    }

    /// The same rules and counters with another bound on restarts.
    #[must_use]
    pub fn with_restarts_max(&self, restarts_max: u64) -> Self {
        Self { restarts_max, ..self.clone() }
    }

    /// What the rules say of one statement. Bumps nothing: the verdict lists the counters of the rules that matched
    /// (a rule once for each match), and the caller bumps them.
    pub fn evaluate(&self, input: &RuleInput<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        let mut flag = input.flag_in;
        let mut restarts_left = self.restarts_max;
        while let Walk::Restart = self.walk(input, &mut flag, &mut verdict, restarts_left > 0) {
            restarts_left -= 1;
        }
        verdict
    }

    /// One pass from the first rule on.
    fn walk(&self, input: &RuleInput<'_>, flag: &mut u32, verdict: &mut Verdict, may_restart: bool) -> Walk {
        for each in &*self.compiled {
            if each.rule.flag_in != *flag || !each.conditions.matches(input) {
                continue;
            }
            each.apply_to(verdict);
            if let Some(flag_out) = each.rule.flag_out {
                *flag = flag_out;
            }
            if each.rule.apply {
                return Walk::Done;
            }
            if each.rule.flag_out.is_some() && may_restart {
                return Walk::Restart;
            }
        }
        Walk::Done
    }

    /// A rule compares the client's address: the cache's key must hold it.
    pub fn looks_at_client_addr(&self) -> bool {
        self.looks_at_client_addr
    }

    /// A rule compares the address or port that the client connected to: the cache's key must hold both.
    pub fn looks_at_proxy_addr(&self) -> bool {
        self.looks_at_proxy_addr
    }

    /// Some rule wants answers cached: without one no look-up is of use.
    pub fn caches(&self) -> bool {
        self.caches != Caches::Nothing
    }

    /// Some rule wants answers cached until what they read is written.
    pub fn caches_exact(&self) -> bool {
        self.caches == Caches::UntilWritten
    }

    /// The shortest time, in milliseconds, that a rule gives statements.
    pub fn timeout_ms_min(&self) -> Option<u32> {
        self.iter().filter_map(|rule| rule.timeout_ms).filter(|timeout_ms| *timeout_ms > 0).min()
    }

    /// Hostgroups whose writes some rule has other hostgroups show.
    pub fn gtid_hostgroups(&self) -> impl Iterator<Item = HostgroupId> {
        self.iter().filter_map(|rule| rule.gtid_from_hostgroup)
    }

    /// No rule is active: [`Rules::evaluate`] need not be called.
    pub fn is_empty(&self) -> bool {
        self.compiled.is_empty()
    }

    /// Number of each rule and how often it matched since it was loaded.
    pub fn hits(&self) -> impl Iterator<Item = (u32, u64)> {
        self.compiled.iter().map(|each| (each.rule.rule_id, each.hits.count()))
    }

    /// The rules as they were given, in the order of the walk.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.compiled.iter().map(|each| &each.rule)
    }
}

/// What some rule at least asks of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Caches {
    #[default]
    Nothing,
    ForATime,
    UntilWritten,
}

impl Caches {
    fn by(rule: &Rule) -> Self {
        match (rule.cache_mode, rule.cache_ttl_ms) {
            (Some(mode), _) if mode.is_exact() => Self::UntilWritten,
            (_, Some(1..)) => Self::ForATime,
            _ => Self::Nothing,
        }
    }
}

enum Walk {
    Done,
    Restart,
}

impl Compiled {
    fn new(rule: Rule) -> Result<Self, RuleFault> {
        Ok(Self {
            conditions: Conditions::new(&rule)?,
            error_msg: rule.error_msg.as_deref().map(Arc::from),
            ok_msg: rule.ok_msg.as_deref().map(Arc::from),
            hits: Arc::new(RuleHits::new(rule.rule_id)),
            rule,
        })
    }

    fn apply_to(&self, verdict: &mut Verdict) {
        fn set<T: Clone>(field: &mut Option<T>, value: &Option<T>) {
            if value.is_some() {
                field.clone_from(value);
            }
        }
        set(&mut verdict.destination_hostgroup, &self.rule.destination_hostgroup);
        set(&mut verdict.gtid_from_hostgroup, &self.rule.gtid_from_hostgroup);
        set(&mut verdict.cache_ttl_ms, &self.rule.cache_ttl_ms);
        set(&mut verdict.cache_mode, &self.rule.cache_mode);
        set(&mut verdict.cache_empty_result, &self.rule.cache_empty_result);
        set(&mut verdict.cache_timeout_ms, &self.rule.cache_timeout_ms);
        set(&mut verdict.cache_stale_if_error_ms, &self.rule.cache_stale_if_error_ms);
        set(&mut verdict.timeout_ms, &self.rule.timeout_ms);
        set(&mut verdict.retries, &self.rule.retries);
        set(&mut verdict.delay_ms, &self.rule.delay_ms);
        set(&mut verdict.error_msg, &self.error_msg);
        set(&mut verdict.ok_msg, &self.ok_msg);
        set(&mut verdict.multiplex, &self.rule.multiplex);
        set(&mut verdict.next_query_flag_in, &self.rule.next_query_flag_in);
        verdict.matched.push(Arc::clone(&self.hits));
    }
}

impl PartialEq for Rules {
    /// Equal rules and bounds; counters do not count.
    fn eq(&self, other: &Self) -> bool {
        self.restarts_max == other.restarts_max && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests;
