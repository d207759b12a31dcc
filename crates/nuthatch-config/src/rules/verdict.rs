//! What the rules say of one statement.

use std::sync::Arc;

use super::{CacheMode, RuleHits};
use crate::server::HostgroupId;

/// The fields set by the rules that matched; `None` where no rule said anything.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Where to send the statement.
    pub destination_hostgroup: Option<HostgroupId>,
    /// Whose writes a server of that hostgroup must show to answer it; else this hostgroup does.
    pub gtid_from_hostgroup: Option<HostgroupId>,
    /// How long its result may be served from the cache, in milliseconds; never 0.
    pub cache_ttl_ms: Option<u32>,
    /// Until when its result may be served; `None` leaves it to `cache_ttl_ms` and the session's `query_cache_type`.
    pub cache_mode: Option<CacheMode>,
    /// Whether a result without rows is cached; `None` leaves it to `mysql-query_cache_stores_empty_result`.
    pub cache_empty_result: Option<bool>,
    /// How many milliseconds it waits for somebody else's answer to it; 0 for none; `None` leaves it to `mysql-query_cache_wait_max_ms`.
    pub cache_timeout_ms: Option<u32>,
    /// For how many milliseconds past its time a result may be served while no server answers; `None` and 0 for none.
    pub cache_stale_if_error_ms: Option<u32>,
    /// How long it may run, in milliseconds; `None` and 0 leave it to `mysql-default_query_timeout`.
    pub timeout_ms: Option<u32>,
    /// How often it may be sent again; `None` leaves it to `mysql-query_retries_on_failure`.
    pub retries: Option<u32>,
    /// Milliseconds by which it is held back, besides `mysql-default_query_delay`.
    pub delay_ms: Option<u32>,
    /// Answer with this error instead of asking a backend.
    pub error_msg: Option<Arc<str>>,
    /// Answer OK with this message instead of asking a backend.
    pub ok_msg: Option<Arc<str>>,
    /// 0 pins the session, 1 releases it, 2 does not pin for an `@` in this statement.
    pub multiplex: Option<u8>,
    /// Flag with which the session's next statement starts.
    pub next_query_flag_in: Option<u32>,
    /// Counters of the rules that matched, in order of the matches; the caller bumps each.
    pub matched: Vec<Arc<RuleHits>>,
}

impl Default for Verdict {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Verdict {
    /// That of no rule.
    pub const NOTHING: Self = Self {
        destination_hostgroup: None,
        gtid_from_hostgroup: None,
        cache_ttl_ms: None,
        cache_mode: None,
        cache_empty_result: None,
        cache_timeout_ms: None,
        cache_stale_if_error_ms: None,
        timeout_ms: None,
        retries: None,
        delay_ms: None,
        error_msg: None,
        ok_msg: None,
        multiplex: None,
        next_query_flag_in: None,
        matched: Vec::new(),
    };

    /// Whether a rule has the statement answered without a server.
    #[must_use]
    pub const fn answers(&self) -> bool {
        self.error_msg.is_some() || self.ok_msg.is_some()
    }
}
