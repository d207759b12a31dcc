//! When a rule matches: all its tests that are set must hold.

use super::{Rule, RuleFault, RuleInput, pattern::Pattern};

/// The tests of one rule, compiled. The flag is tested by the walk.
pub(super) struct Conditions {
    username: Option<Box<[u8]>>,
    schemaname: Option<Box<[u8]>>,
    client_addr: Option<AddrTest>,
    proxy_addr: Option<Box<str>>,
    proxy_port: Option<u16>,
    digest: Option<u64>,
    match_digest: Option<Pattern>,
    match_pattern: Option<Pattern>,
    /// What a pattern must answer: false under `negate_match_pattern`.
    wanted: bool,
}

enum AddrTest {
    Exact(Box<str>),
    /// What stands before the first `%`.
    Prefix(Box<str>),
}

impl Conditions {
    pub(super) fn new(rule: &Rule) -> Result<Self, RuleFault> {
        let pattern = |column, text: &Option<String>| compile(rule, column, text.as_deref());
        Ok(Self {
            username: not_empty(&rule.username).map(|text| text.as_bytes().into()),
            schemaname: not_empty(&rule.schemaname).map(|text| text.as_bytes().into()),
            client_addr: not_empty(&rule.client_addr).map(AddrTest::new),
            proxy_addr: not_empty(&rule.proxy_addr).map(Box::from),
            proxy_port: rule.proxy_port,
            digest: not_empty(&rule.digest)
                .map(|text| parse_digest(text).ok_or(RuleFault::Digest { rule_id: rule.rule_id }))
                .transpose()?,
            match_digest: pattern("match_digest", &rule.match_digest)?,
            match_pattern: pattern("match_pattern", &rule.match_pattern)?,
            wanted: !rule.negate_match_pattern,
        })
    }

    /// Cheap tests first, patterns last.
    pub(super) fn matches(&self, input: &RuleInput<'_>) -> bool {
        self.username.as_deref().is_none_or(|name| name == input.user)
            && self.schemaname.as_deref().is_none_or(|name| name == input.schema)
            && self.client_addr.as_ref().is_none_or(|addr| addr.matches(input.client_addr))
            && self.proxy_addr.as_deref().is_none_or(|addr| addr == input.proxy_addr)
            && self.proxy_port.is_none_or(|port| port == input.proxy_port)
            && self.digest.is_none_or(|digest| digest == input.digest)
            && self
                .match_digest
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(input.digest_text) == self.wanted)
            && self.match_pattern.as_ref().is_none_or(|pattern| pattern.is_match(input.query) == self.wanted)
    }

    pub(super) fn looks_at_client_addr(&self) -> bool {
        self.client_addr.is_some()
    }

    pub(super) fn looks_at_proxy_addr(&self) -> bool {
        self.proxy_addr.is_some() || self.proxy_port.is_some()
    }
}

impl AddrTest {
    fn new(text: &str) -> Self {
        match text.split_once('%') {
            Some((prefix, _)) => Self::Prefix(prefix.into()),
            None => Self::Exact(text.into()),
        }
    }

    fn matches(&self, addr: &str) -> bool {
        match self {
            Self::Exact(wanted) => **wanted == *addr,
            Self::Prefix(prefix) => addr.starts_with(&**prefix),
        }
    }
}

/// An empty string says as little as NULL.
fn not_empty(column: &Option<String>) -> Option<&str> {
    column.as_deref().filter(|text| !text.is_empty())
}

fn compile(rule: &Rule, column: &'static str, text: Option<&str>) -> Result<Option<Pattern>, RuleFault> {
    text.filter(|text| !text.is_empty())
        .map(|text| Pattern::compile(text, rule.re_modifiers.caseless))
        .transpose()
        .map_err(|reason| RuleFault::Pattern { rule_id: rule.rule_id, column, reason })
}

/// `0x` and one to 16 hexadecimal digits in either case: the form in which `stats_mysql_query_digest` shows it.
fn parse_digest(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}
