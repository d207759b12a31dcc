//! The options of both sides of a pair. They are their own from then on: `config` shows them.

use std::collections::BTreeMap;

use nuthatch_server::Kind;

use crate::replication::request::Known;

/// One side of a pair.
pub(crate) struct Side<'a> {
    pub(crate) of: &'a Known,
    pub(crate) with: &'a Known,
    /// Whether it is the one that is read-only, where one is.
    pub(crate) is_second: bool,
}

impl Side<'_> {
    /// What it is to have.
    pub(crate) fn options(&self, both_writable: bool) -> Vec<(&'static str, String)> {
        let offset = match (offset(self.of), offset(self.with)) {
            (Some(own), Some(other)) if own != other => own,
            (Some(own), None) => own,
            (None, Some(other)) => 3 - other,
            _ => 1 + u64::from(self.is_second),
        };
        let mut options =
            vec![("auto_increment_increment", "2".to_owned()), ("auto_increment_offset", offset.to_string())];
        let standing = &self.of.standing;
        if standing.kind == Kind::MariaDb
            && (standing.domain == 0 || standing.domain == self.with.standing.domain)
        {
            options.push(("gtid_domain_id", standing.server_id.to_string()));
        }
        match (both_writable, self.is_second) {
            (false, true) => options.push(("read_only", "ON".to_owned())),
            (true, _) if standing.read_only => options.push(("read_only", "OFF".to_owned())),
            _ => {}
        }
        options
    }
}

/// The one that it has, if it is one of a pair's.
fn offset(known: &Known) -> Option<u64> {
    let own = known.own.get("auto_increment_offset")?.parse().ok()?;
    (1..=2).contains(&own).then_some(own)
}

/// Those that an instance does not have so yet, `name=value` each.
pub(crate) fn missing(own: &BTreeMap<String, String>, wanted: Vec<(&'static str, String)>) -> Vec<String> {
    let is_missing = |(name, value): &(&str, String)| own.get(*name) != Some(value);
    wanted.into_iter().filter(is_missing).map(|(name, value)| format!("{name}={value}")).collect()
}
