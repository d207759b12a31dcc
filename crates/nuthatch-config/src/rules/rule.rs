//! One row of `mysql_query_rules`, typed, as far as its columns act.

use super::pattern::PatternError;
use crate::server::HostgroupId;

/// A rule as the admin wrote it. Columns that are stored but do not act yet stay in the table.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    missing_docs,
    reason = "the columns of ProxySQL's table, named alike; docs of the table say what they do"
)]
pub struct Rule {
    pub rule_id: u32,
    pub active: bool,
    pub username: Option<String>,
    pub schemaname: Option<String>,
    pub flag_in: u32,
    pub client_addr: Option<String>,
    pub proxy_addr: Option<String>,
    pub proxy_port: Option<u16>,
    pub digest: Option<String>,
    pub match_digest: Option<String>,
    pub match_pattern: Option<String>,
    pub negate_match_pattern: bool,
    pub re_modifiers: RuleModifiers,
    pub flag_out: Option<u32>,
    pub destination_hostgroup: Option<HostgroupId>,
    pub gtid_from_hostgroup: Option<HostgroupId>,
    pub cache_ttl_ms: Option<u32>,
    pub cache_empty_result: Option<bool>,
    pub cache_mode: Option<CacheMode>,
    pub cache_timeout_ms: Option<u32>,
    pub cache_stale_if_error_ms: Option<u32>,
    pub timeout_ms: Option<u32>,
    pub retries: Option<u32>,
    pub delay_ms: Option<u32>,
    pub error_msg: Option<String>,
    pub ok_msg: Option<String>,
    pub multiplex: Option<u8>,
    pub next_query_flag_in: Option<u32>,
    pub apply: bool,
}

impl Rule {
    /// An active rule that matches every statement under flag 0 and sets nothing.
    pub fn new(rule_id: u32) -> Self {
        Self {
            rule_id,
            active: true,
            username: None,
            schemaname: None,
            flag_in: 0,
            client_addr: None,
            proxy_addr: None,
            proxy_port: None,
            digest: None,
            match_digest: None,
            match_pattern: None,
            negate_match_pattern: false,
            re_modifiers: RuleModifiers::default(),
            flag_out: None,
            destination_hostgroup: None,
            gtid_from_hostgroup: None,
            cache_ttl_ms: None,
            cache_empty_result: None,
            cache_mode: None,
            cache_timeout_ms: None,
            cache_stale_if_error_ms: None,
            timeout_ms: None,
            retries: None,
            delay_ms: None,
            error_msg: None,
            ok_msg: None,
            multiplex: None,
            next_query_flag_in: None,
            apply: false,
        }
    }
}

/// The key `cache` of a rule's `attributes`: until when what it matches may be served from the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheMode {
    /// Until its `cache_ttl` is over, and no longer than that; not at all without one.
    Ttl,
    /// Until something is written that it depends on, whatever `query_cache_type` the server has; `cache_ttl` says nothing.
    Exact,
    /// As [`Self::Exact`], but no longer than `cache_ttl`.
    Both,
    /// Never.
    Off,
}

impl CacheMode {
    /// By its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "ttl" => Self::Ttl,
            "exact" => Self::Exact,
            "both" => Self::Both,
            "off" => Self::Off,
            _ => return None,
        })
    }

    /// Whether answers are kept by what is written.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::Both)
    }
}

/// `re_modifiers`, understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleModifiers {
    /// Letters match in either case.
    pub caseless: bool,
    /// A replacement replaces every match, not only the first.
    pub global: bool,
}

impl Default for RuleModifiers {
    /// CASELESS, as the column's default says.
    fn default() -> Self {
        Self { caseless: true, global: false }
    }
}

impl RuleModifiers {
    /// Understands a comma-separated list; words it does not know are given back beside the result.
    pub fn parse(list: &str) -> (Self, Vec<&str>) {
        let mut modifiers = Self { caseless: false, global: false };
        let mut unknown = Vec::new();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match () {
                () if word.eq_ignore_ascii_case("CASELESS") => modifiers.caseless = true,
                () if word.eq_ignore_ascii_case("GLOBAL") => modifiers.global = true,
                () => unknown.push(word),
            }
        }
        (modifiers, unknown)
    }
}

/// Why a rule cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleFault {
    /// The digest is not `0x` and up to 16 hexadecimal digits.
    #[error("rule {rule_id}: column \"digest\" is not 0x and up to 16 hexadecimal digits")]
    Digest {
        /// The rule.
        rule_id: u32,
    },
    /// A pattern does not compile.
    #[error("rule {rule_id}: column \"{column}\" is not a usable regular expression: {reason}")]
    Pattern {
        /// The rule.
        rule_id: u32,
        /// `match_digest` or `match_pattern`.
        column: &'static str,
        /// What the regex engine says.
        reason: PatternError,
    },
}

impl RuleFault {
    /// The rule.
    pub fn rule_id(&self) -> u32 {
        match self {
            Self::Digest { rule_id } | Self::Pattern { rule_id, .. } => *rule_id,
        }
    }
}
