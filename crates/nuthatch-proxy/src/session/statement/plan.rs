//! A statement with all that was found out before it is sent anywhere.

use std::sync::Arc;

use nuthatch_config::{HostgroupId, MysqlVariables};

use crate::session::statement::named::may_use_names;
use crate::session::statement::{Caching, Facts, Named, SaidByRules, SaidToCache};
use crate::stats::DigestCounters;
use crate::stats::not_cached::NotCached;

/// A statement with all that was found out before it is sent anywhere. It is moved for every statement: what few have stands in boxes.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) facts: Facts,
    pub(crate) verdict: SaidByRules,
    pub(crate) digest: Option<Arc<DigestCounters>>,
    /// Where rules or the user's default send it.
    pub(crate) wanted: HostgroupId,
    /// Where it goes, open transactions and pins considered.
    pub(crate) hostgroup: HostgroupId,
    /// Of what a server answers that may be behind: the hostgroup whose writes that must show, and which answers if it does not.
    pub(crate) causal: Option<HostgroupId>,
    /// What it does with a statement that text has prepared.
    pub(crate) named: Option<Box<Named>>,
    /// What it says to the cache itself: no server is to hear it.
    pub(crate) said_to_cache: Option<Box<SaidToCache>>,
    /// The text that a server gets in the place of the client's.
    pub(crate) sent: Option<Box<[u8]>>,
    pub(crate) started_us: u64,
}

impl Plan {
    /// Whether anything is to be done for names before it.
    pub(crate) fn brings_names(&self) -> bool {
        match self.named.as_deref() {
            Some(Named::Execute { .. } | Named::Unknown { .. }) => true,
            Some(Named::Prepare { .. }) => false,
            None => may_use_names(self.facts.kind),
        }
    }

    /// Whether nobody but a server has anything to say to it, as of most.
    pub(crate) fn goes_to_a_server(&self) -> bool {
        self.facts.is_plain && !self.verdict.answers()
    }

    /// Whether the server that answers it may be behind who writes.
    pub(crate) fn may_be_behind(&self) -> bool {
        self.causal.is_some_and(|writer| writer != self.hostgroup)
    }

    /// Whether it is a read that was sent away from who writes, where the session's other statements go.
    pub(crate) fn is_split(&self) -> bool {
        self.may_be_behind() && self.verdict.destination_hostgroup.is_none()
    }

    /// It goes to who writes after all, who may not show yet what replicas have shown.
    pub(crate) fn go_to_writer(&mut self) {
        if let Some(writer) = self.causal {
            (self.wanted, self.hostgroup) = (writer, writer);
        }
    }

    /// For how many milliseconds a connection may work for it; a rule goes before the variable.
    pub(crate) fn time_limit_ms(&self, variables: &MysqlVariables) -> u64 {
        match self.verdict.timeout_ms {
            None | Some(0) => variables.default_query_timeout,
            Some(timeout_ms) => timeout_ms.into(),
        }
    }

    /// By how many milliseconds it is held back before a connection is looked for; a rule adds to the variable.
    pub(crate) fn delay_ms(&self, variables: &MysqlVariables) -> u64 {
        variables.default_query_delay + self.verdict.delay_ms.map_or(0, u64::from)
    }

    /// Until when its answer of that moment is kept.
    pub(crate) fn kept_until_ms(&self, caching: Caching, created_ms: u64) -> u64 {
        caching.expires_ms(created_ms).saturating_add(u64::from(caching.stale_if_error_ms(&self.verdict)))
    }

    /// How often it may be sent again; a rule goes before the variable.
    pub(crate) fn retries(&self, variables: &MysqlVariables) -> u64 {
        self.verdict.retries.map_or(variables.query_retries_on_failure, u64::from)
    }

    /// Counts the hits of the rules that matched; a hit of the cache counts them by itself.
    pub(crate) fn count_rules(&self) {
        self.verdict.matched.iter().for_each(|rule| rule.bump());
    }

    /// Counts a look-up that found nothing to serve.
    pub(crate) fn count_miss(&self) {
        if let Some(digest) = &self.digest {
            digest.cache().count_miss();
        }
    }

    /// Takes note of whether the answer of what [asks](crate::session::statement::TextFacts::asks_for_rows) was stored.
    pub(crate) fn count_fill(&self, stored: Result<(), NotCached>) {
        if let Some(digest) = self.digest.as_ref().filter(|_| self.facts.asks_for_rows()) {
            digest.cache().count_fill(stored);
        }
    }
}

impl Plan {
    /// Whether it says anything to the cache itself, alone or among other things.
    pub(crate) fn speaks_to_cache(&self) -> bool {
        self.said_to_cache.is_some() || self.facts.cache.own_type.is_some()
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_config::Verdict;

    use super::*;

    #[test]
    fn rule_goes_before_the_variables_of_time_and_tries_and_adds_to_that_of_delay() {
        let variables = MysqlVariables {
            default_query_timeout: 9_000,
            query_retries_on_failure: 1,
            default_query_delay: 30,
            ..MysqlVariables::default()
        };
        let limits = |plan: &Plan| {
            (plan.time_limit_ms(&variables), plan.retries(&variables), plan.delay_ms(&variables))
        };
        let mut plan = Plan::of_text("SELECT 1");
        assert_eq!(limits(&plan), (9_000, 1, 30));
        *plan.verdict =
            Verdict { timeout_ms: Some(0), retries: Some(0), delay_ms: Some(0), ..Verdict::NOTHING };
        assert_eq!(limits(&plan), (9_000, 0, 30), "a timeout of 0 says nothing");
        *plan.verdict =
            Verdict { timeout_ms: Some(10_000), retries: Some(7), delay_ms: Some(5), ..Verdict::NOTHING };
        assert_eq!(limits(&plan), (10_000, 7, 35));
    }
}
