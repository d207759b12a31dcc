//! Whether a session may use the cache, as what, or why not.

use nuthatch_config::{CacheMode, HostgroupId, QueryCacheType, Snapshot, User, Verdict};
use nuthatch_sql::CacheWish;

use crate::session::statement::{Caching, Facts};
use crate::shared::answers::Answers;
use crate::stats::not_cached::NotCached;

/// How far a session is off the cache, and why.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Off {
    #[default]
    Not,
    /// As far as what is cached until it is written.
    Exact(NotCached),
    Wholly(NotCached),
}

/// Whether the session may use the cache, as what.
#[derive(Debug, Default)]
pub(crate) struct CacheUse {
    may_use_any: bool,
    may_use_exact: bool,
    answers_from: Option<HostgroupId>,
    off: Off,
    is_judged: bool,
    next_flag_in: u32,
}

impl CacheUse {
    /// *May use the cache*: tested first by the hit path, worked out anew by `judge_cache_use`.
    #[inline]
    pub(crate) const fn may_use_any(&self) -> bool {
        self.may_use_any
    }

    /// The same for exact entries.
    #[inline]
    pub(crate) const fn may_use_exact(&self) -> bool {
        self.may_use_exact
    }

    /// The hostgroup that all its statements go to at present, whatever the rules say.
    #[inline]
    pub(crate) const fn answers_from(&self) -> Option<HostgroupId> {
        self.answers_from
    }

    /// Why it may not, where it may not.
    pub(crate) const fn off(&self) -> &Off {
        &self.off
    }

    /// It is off the cache so far; and a statement of a session that `opens_snapshot` asks a server, which opens it. All statements go to
    /// the hostgroup that it is `bound` to.
    pub(crate) fn take(&mut self, off: Off, opens_snapshot: bool, bound: Option<HostgroupId>) {
        self.may_use_any = off.wholly().is_none();
        self.may_use_exact = off.exact().is_none() && !opens_snapshot;
        (self.answers_from, self.off) = (bound, off);
    }

    /// It was judged while nothing was held, and by the configuration in force.
    pub(crate) const fn is_judged(&self) -> bool {
        self.is_judged
    }

    pub(crate) const fn note_judged(&mut self, is_judged: bool) {
        self.is_judged = is_judged;
    }

    /// The flag under which the next statement's rules are walked.
    pub(crate) const fn next_flag_in(&self) -> u32 {
        self.next_flag_in
    }

    pub(crate) const fn set_next_flag_in(&mut self, next: u32) {
        self.next_flag_in = next;
    }

    /// Sets it, and returns what it was.
    pub(crate) const fn replace_next_flag_in(&mut self, next: u32) -> u32 {
        std::mem::replace(&mut self.next_flag_in, next)
    }
}

impl Off {
    /// Why it is off it wholly, if it is.
    pub(crate) const fn wholly(&self) -> Option<NotCached> {
        if let Self::Wholly(why) = self { Some(*why) } else { None }
    }

    /// Why it is off what is cached until it is written, if it is.
    pub(crate) const fn exact(&self) -> Option<NotCached> {
        match self {
            Self::Not => None,
            Self::Exact(why) | Self::Wholly(why) => Some(*why),
        }
    }

    /// Unless it is so already, it is off it wholly if there is a reason for that.
    pub(crate) fn or_wholly(self, why: impl FnOnce() -> Option<NotCached>) -> Self {
        if self.wholly().is_some() { self } else { why().map_or(self, Self::Wholly) }
    }

    /// Unless it is off it in any way, it is off what is cached until it is written if there is a reason for that.
    pub(crate) fn or_exact(self, why: impl FnOnce() -> Option<NotCached>) -> Self {
        if self.exact().is_some() { self } else { why().map_or(self, Self::Exact) }
    }

    /// The same for a statement that asks for a time in a comment, which goes before the type.
    pub(crate) const fn when_asked_for_a_time(self) -> Self {
        match self {
            Self::Wholly(NotCached::TypeOff) => Self::Exact(NotCached::TypeOff),
            other => other,
        }
    }

    /// Of a session in its first state, that has set `own` for its type.
    pub(crate) fn by_configuration(
        user: &User,
        own: Option<QueryCacheType>,
        snapshot: &Snapshot,
        answers: &Answers,
    ) -> Self {
        let kind = own.unwrap_or(snapshot.mysql.query_cache_type);
        let is_type_off = kind == QueryCacheType::Off;
        match () {
            () if user.fast_forward => Self::Wholly(NotCached::FastForward),
            () if own == Some(QueryCacheType::Off) => Self::Wholly(NotCached::OwnTypeOff),
            () if is_type_off && !snapshot.rules.caches() && !answers.are_asked_for() => {
                Self::Wholly(NotCached::TypeOff)
            }
            () if is_type_off && !snapshot.rules.caches_exact() => Self::Exact(NotCached::TypeOff),
            () => Self::Not,
        }
    }
}

/// How the answer to a statement may be cached, as far as it, the rules and the session say.
pub(crate) fn caching(facts: &Facts, verdict: &Verdict, kind: QueryCacheType, off: &Off) -> Caching {
    if let Err(why) = facts.cache.allowed {
        return Caching::No(NotCached::Statement(why));
    }
    let (mode, asks) = (verdict.cache_mode, facts.cache.hint.wish == CacheWish::Cache);
    let not_wanted = match (mode, kind) {
        (Some(CacheMode::Exact | CacheMode::Both), _) => None,
        (_, QueryCacheType::Off) => Some(NotCached::TypeOff),
        (_, QueryCacheType::Demand) if !asks => Some(NotCached::NotDemanded),
        (_, QueryCacheType::Demand | QueryCacheType::On) => None,
    };
    let exact = |ttl_ms| {
        let why_not = off.exact().or(facts.cache.volatile.map(NotCached::Volatile)).or(not_wanted);
        why_not.map_or(Caching::Exact { ttl_ms }, Caching::No)
    };
    match (mode, verdict.cache_ttl_ms.filter(|ttl_ms| *ttl_ms > 0)) {
        (Some(CacheMode::Off), _) if !asks => Caching::No(NotCached::RuleOff),
        (Some(CacheMode::Ttl), None) => Caching::No(NotCached::RuleWithoutTime),
        (Some(CacheMode::Both), ttl_ms) => exact(ttl_ms),
        (None | Some(CacheMode::Ttl), Some(ttl_ms)) => off.wholly().map_or(Caching::Ttl(ttl_ms), Caching::No),
        (None | Some(CacheMode::Exact | CacheMode::Off), _) => exact(None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nuthatch_sql::{Lexing, classify};

    use super::*;
    use crate::session::statement::TextFacts;

    fn facts(text: &str) -> Facts {
        let lexing = Lexing::of(nuthatch_sql::ServerFlavor::MariaDb(101_119));
        Facts::of_text(Arc::new(TextFacts::of(&classify(text.as_bytes(), lexing))), None)
    }

    fn verdict(cache_mode: Option<CacheMode>, cache_ttl_ms: Option<u32>) -> Verdict {
        Verdict { cache_mode, cache_ttl_ms, ..Verdict::default() }
    }

    #[test]
    fn rules_go_before_the_type_and_what_is_off_before_both() {
        let (off, on) = (Off::default(), QueryCacheType::On);
        let of = |mode, ttl_ms, kind, off: &Off| {
            caching(&facts("SELECT a FROM t"), &verdict(mode, ttl_ms), kind, off)
        };
        assert_eq!(of(None, None, on, &off), Caching::Exact { ttl_ms: None });
        assert_eq!(of(None, Some(5), on, &off), Caching::Ttl(5));
        assert_eq!(of(Some(CacheMode::Both), Some(5), on, &off), Caching::Exact { ttl_ms: Some(5) });
        assert_eq!(of(Some(CacheMode::Off), Some(5), on, &off), Caching::No(NotCached::RuleOff));
        assert_eq!(of(Some(CacheMode::Ttl), None, on, &off), Caching::No(NotCached::RuleWithoutTime));
        assert_eq!(of(None, None, QueryCacheType::Off, &off), Caching::No(NotCached::TypeOff));
        assert_eq!(
            of(Some(CacheMode::Exact), None, QueryCacheType::Off, &off),
            Caching::Exact { ttl_ms: None }
        );
        assert_eq!(of(None, None, QueryCacheType::Demand, &off), Caching::No(NotCached::NotDemanded));
        let wholly = Off::Wholly(NotCached::FastForward);
        assert_eq!(of(None, Some(5), on, &wholly), Caching::No(NotCached::FastForward));
        assert_eq!(of(None, None, on, &wholly), Caching::No(NotCached::FastForward));
    }

    #[test]
    fn statement_that_may_not_be_cached_is_not_whatever_is_configured() {
        let written = caching(
            &facts("UPDATE t SET a = 1"),
            &verdict(None, Some(5)),
            QueryCacheType::On,
            &Off::default(),
        );
        assert!(matches!(written, Caching::No(NotCached::Statement(_))), "{written:?}");
    }
}
