//! Whether the session may use the cache now, or why not; and what that and the statement come to.
//!
//! Worked out after each command off the hit path; the hit path looks at two flags.

use crate::session::parts::{Account, CacheUse, Ground, Held, Off, caching};
use crate::session::statement::{Caching, Plan};
use crate::session::{Session, is_in_transaction};
use crate::stats::not_cached::NotCached;
use crate::stats::pins::Pins;

impl Session {
    /// Works out *may use the cache* anew.
    pub(crate) fn judge_cache_use(&mut self) {
        let mut off = off_by_configuration(&self.ground, &self.account, &self.cache);
        off.cache = off.cache.or_else(|| self.state_off_cache());
        off.exact = off.cache.or(off.exact).or_else(|| self.transaction_off_exact());
        self.take_cache_use(off);
    }

    /// Has the session, or the statement at hand, off the cache for that, or on it.
    pub(crate) fn take_cache_use(&mut self, off: Off) {
        self.cache.may_use_any = off.cache.is_none();
        self.cache.may_use_exact = off.exact.is_none() && !self.may_open_snapshot();
        let sticky = self.hands.held.iter().find(|held| held.pins.is_sticky());
        self.cache.answers_from =
            self.hands.open_transaction(&self.transaction).or(sticky.map(|held| held.hostgroup));
        self.cache.off = off;
    }

    pub(crate) fn state_off_cache(&self) -> Option<NotCached> {
        let is_blocked =
            |held: &&Held| held.pins.blocks_cache() || held.pins.without(Pins::PASSING) != held.pins;
        match () {
            () if self.cache.environment.is_none() => Some(NotCached::TooManyEnvironments),
            () if self.cache.next_flag_in != 0 => Some(NotCached::UnderFlag),
            () if self.context.has_odd_isolation() => Some(NotCached::OddIsolation),
            () if self.transaction.has_written && is_in_transaction(&self.transaction, &self.hands) => {
                Some(NotCached::WroteInTransaction)
            }
            () => self.hands.held.iter().find(is_blocked).map(|held| NotCached::Pinned(held.pins)),
        }
    }

    fn transaction_off_exact(&self) -> Option<NotCached> {
        match () {
            () if self.reads_one_moment() => None,
            () if !self.transaction.touched.is_empty() => Some(NotCached::WroteInTransaction),
            () => Some(NotCached::UnknownMoment),
        }
    }

    /// How the answer may be cached, as far as statement, rules and session say.
    pub(crate) fn caching(&self, plan: &Plan) -> Caching {
        caching(
            &plan.facts,
            &plan.verdict,
            self.cache.query_cache_type(&self.ground.snapshot),
            &self.cache.off,
        )
    }
}

fn off_by_configuration(ground: &Ground, account: &Account, cache: &CacheUse) -> Off {
    Off::by_configuration(&account.user, cache.own_type, &ground.snapshot, &ground.shared.answers)
}
