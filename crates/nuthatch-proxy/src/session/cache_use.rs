//! Whether the session may use the cache now, or why not; and what that and the statement come to.
//!
//! Worked out after each command off the hit path; the hit path looks at two flags.

use nuthatch_config::{CacheMode, QueryCacheType, Snapshot, User, Verdict};
use nuthatch_sql::CacheWish;

use crate::answers::Answers;
use crate::pins::Pins;

use super::Session;
use super::exact::Caching;
use super::lease::Held;
use super::plan::{Facts, Plan};
use crate::not_cached::NotCached;

/// Why a session is off the cache, where it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Off {
    /// Wholly.
    pub(super) cache: Option<NotCached>,
    /// As far as what is cached until it is written.
    pub(super) exact: Option<NotCached>,
}

impl Off {
    pub(super) const fn wholly(why: NotCached) -> Self {
        Self { cache: Some(why), exact: Some(why) }
    }

    /// Of a session in its first state, that has set `own` for its type.
    pub(super) fn by_configuration(
        user: &User,
        own: Option<QueryCacheType>,
        snapshot: &Snapshot,
        answers: &Answers,
    ) -> Self {
        let kind = own.unwrap_or(snapshot.mysql.query_cache_type);
        let is_type_off = kind == QueryCacheType::Off;
        match () {
            () if user.fast_forward => Self::wholly(NotCached::FastForward),
            () if own == Some(QueryCacheType::Off) => Self::wholly(NotCached::OwnTypeOff),
            () if is_type_off && !snapshot.rules.caches() && !answers.are_asked_for() => {
                Self::wholly(NotCached::TypeOff)
            }
            () => {
                let is_off = is_type_off && !snapshot.rules.caches_exact();
                Self { cache: None, exact: is_off.then_some(NotCached::TypeOff) }
            }
        }
    }
}

/// How the answer to a statement may be cached, as far as it, the rules and the session say.
pub(super) fn caching(facts: &Facts, verdict: &Verdict, kind: QueryCacheType, off: &Off) -> Caching {
    if let Err(why) = facts.cacheable {
        return Caching::No(NotCached::Statement(why));
    }
    let (mode, asks) = (verdict.cache_mode, facts.cache_hint.wish == CacheWish::Cache);
    let not_wanted = match (mode, kind) {
        (Some(CacheMode::Exact | CacheMode::Both), _) => None,
        (_, QueryCacheType::Off) => Some(NotCached::TypeOff),
        (_, QueryCacheType::Demand) if !asks => Some(NotCached::NotDemanded),
        (_, QueryCacheType::Demand | QueryCacheType::On) => None,
    };
    let exact = |ttl_ms| {
        let why_not = off.exact.or(facts.volatile.map(NotCached::Volatile)).or(not_wanted);
        why_not.map_or(Caching::Exact { ttl_ms }, Caching::No)
    };
    match (mode, verdict.cache_ttl_ms.filter(|ttl_ms| *ttl_ms > 0)) {
        (Some(CacheMode::Off), _) if !asks => Caching::No(NotCached::RuleOff),
        (Some(CacheMode::Ttl), None) => Caching::No(NotCached::RuleWithoutTime),
        (Some(CacheMode::Both), ttl_ms) => exact(ttl_ms),
        (None | Some(CacheMode::Ttl), Some(ttl_ms)) => off.cache.map_or(Caching::Ttl(ttl_ms), Caching::No),
        (None | Some(CacheMode::Exact | CacheMode::Off), _) => exact(None),
    }
}

impl Session {
    /// Works out *may use the cache* anew.
    pub(super) fn judge_cache_use(&mut self) {
        let mut off = self.off_by_configuration();
        off.cache = off.cache.or_else(|| self.state_off_cache());
        off.exact = off.cache.or(off.exact).or_else(|| self.transaction_off_exact());
        self.take_cache_use(off);
    }

    /// Has the session, or the statement at hand, off the cache for that, or on it.
    pub(super) fn take_cache_use(&mut self, off: Off) {
        self.may_use_cache = off.cache.is_none();
        self.may_use_exact = off.exact.is_none() && !self.may_open_snapshot();
        let sticky = self.held.iter().find(|held| held.pins.is_sticky());
        self.answers_from = self.open_transaction().or(sticky.map(|held| held.hostgroup));
        self.off = off;
    }

    fn off_by_configuration(&self) -> Off {
        Off::by_configuration(&self.account.user, self.query_cache_type, &self.snapshot, &self.shared.answers)
    }

    pub(super) fn state_off_cache(&self) -> Option<NotCached> {
        let is_blocked =
            |held: &&Held| held.pins.blocks_cache() || held.pins.without(Pins::PASSING) != held.pins;
        match () {
            () if self.environment.is_none() => Some(NotCached::TooManyEnvironments),
            () if self.next_flag_in != 0 => Some(NotCached::UnderFlag),
            () if self.has_odd_isolation() => Some(NotCached::OddIsolation),
            () if self.wrote_in_transaction && self.is_in_transaction() => {
                Some(NotCached::WroteInTransaction)
            }
            () => self.held.iter().find(is_blocked).map(|held| NotCached::Pinned(held.pins)),
        }
    }

    fn transaction_off_exact(&self) -> Option<NotCached> {
        match () {
            () if self.reads_one_moment() => None,
            () if !self.touched.is_empty() => Some(NotCached::WroteInTransaction),
            () => Some(NotCached::UnknownMoment),
        }
    }

    /// How the answer may be cached, as far as statement, rules and session say.
    pub(super) fn caching(&self, plan: &Plan) -> Caching {
        caching(&plan.facts, &plan.verdict, self.query_cache_type(), &self.off)
    }
}
