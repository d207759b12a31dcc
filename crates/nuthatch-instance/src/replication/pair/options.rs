//! The options of both sides of a pair. They are their own from then on: `config` shows them.

use nuthatch_server::Kind;

use crate::error::InstanceError;
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
        let says_on = |own: &String| ["ON", "1", "TRUE"].contains(&own.to_ascii_uppercase().as_str());
        let is_read_only = standing.read_only || self.of.own.get("read_only").is_some_and(says_on);
        match (both_writable, self.is_second) {
            (false, true) => options.push(("read_only", "ON".to_owned())),
            _ if is_read_only => options.push(("read_only", "OFF".to_owned())),
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

/// Those that an instance does not have so yet, as its own or at run time, `name=value` each.
pub(crate) fn missing(known: &Known, wanted: Vec<(&'static str, String)>) -> Vec<String> {
    let standing = &known.standing;
    let is_in_force = |name: &str, value: &str| match name {
        "auto_increment_increment" => standing.auto_increment.0.to_string() == value,
        "auto_increment_offset" => standing.auto_increment.1.to_string() == value,
        "gtid_domain_id" => standing.domain.to_string() == value,
        _ => standing.read_only == (value == "ON"),
    };
    let is_missing =
        |(name, value): &(&str, String)| known.own.get(*name) != Some(value) || !is_in_force(name, value);
    wanted.into_iter().filter(is_missing).map(|(name, value)| format!("{name}={value}")).collect()
}

/// What takes a change of these options back: which are to be set again, and which are to be no own ones any more.
pub(crate) fn reverse(before: &Known, changed: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut options, mut unset) = (Vec::new(), Vec::new());
    for name in changed.iter().filter_map(|option| Some(option.split_once('=')?.0)) {
        match before.own.get(name) {
            Some(value) => options.push(format!("{name}={value}")),
            // What was so at run time alone goes on being so: nobody writes who could not before.
            None if name == "read_only" && before.standing.read_only => {
                options.push("read_only=ON".to_owned());
            }
            None => unset.push(name.to_owned()),
        }
    }
    (options, unset)
}

/// Sessions keep the steps of AUTO_INCREMENT and the GTID domain that they began with: where both sides are written to, such a one would give
/// the numbers of the other side.
pub(crate) fn refuse_old_sessions(known: &Known) -> Result<(), InstanceError> {
    if known.clients == 0 {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "have both sides of {0} written to: {1} clients are connected to it at {2}, and keep counting rows as they began until they leave: have \
         them leave (nuthatch instance maintenance {0}), then pair with --both-writable",
        known.name,
        known.clients,
        known.address()
    )))
}
