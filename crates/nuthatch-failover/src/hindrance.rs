//! What would hinder a switchover: judged by what servers say of themselves, before anything is touched.

use std::fmt;

use nuthatch_sql::ServerFlavor;

use crate::survey::{Binlog, Channel, Survey};
use crate::traffic::Work;

/// A replica that is farther behind is not waited for.
const BEHIND_MAX_S: u64 = 30;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It forbids the switchover.
    Refused,
    /// It is to be known, and hinders nothing.
    Warning,
    /// As it should be.
    Fine,
}

impl Weight {
    /// Its word in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Warning => "warning",
            Self::Fine => "ok",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it weighs.
    pub weight: Weight,
    /// A sentence for an operator.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.weight.as_str(), self.what)
    }
}

pub(crate) fn refused(what: impl Into<String>) -> Finding {
    Finding { weight: Weight::Refused, what: what.into() }
}

pub(crate) fn warning(what: impl Into<String>) -> Finding {
    Finding { weight: Weight::Warning, what: what.into() }
}

pub(crate) fn fine(what: impl Into<String>) -> Finding {
    Finding { weight: Weight::Fine, what: what.into() }
}

/// What the old primary, the new one and the other replicas say.
pub(crate) fn of_servers(old: &Survey, new: &Survey, others: &[Survey]) -> Vec<Finding> {
    let mut findings = of_primary(old);
    findings.extend(of_heir(old, new));
    for other in others {
        findings.extend(of_other(old, new, other));
    }
    findings
}

fn of_primary(old: &Survey) -> Vec<Finding> {
    let name = &old.name;
    let mut findings = Vec::new();
    if old.binlog == Binlog::Unfit {
        findings
            .push(refused(format!("{name} writes no binlog with GTIDs: {}", what_gtids_take(old.flavor))));
    }
    if old.is_read_only {
        findings.push(refused(format!("{name} is read-only already: it is no primary")));
    }
    let follows =
        |channel: &&Channel| channel.fetches != "No" || channel.applies != "No" || !channel.name.is_empty();
    if let Some(source) = old.follows.iter().find(follows) {
        findings.push(refused(format!("{name} itself follows {}: circles are not changed", source.source)));
    }
    if old.runs_events {
        findings.push(fine(format!("events run on {name}: they end there and begin on the new primary")));
    }
    findings
}

fn what_gtids_take(flavor: ServerFlavor) -> &'static str {
    match flavor {
        ServerFlavor::MariaDb(_) => "log_bin is off",
        ServerFlavor::MySql(_) => "it takes log_bin and gtid_mode = ON",
    }
}

fn of_heir(old: &Survey, new: &Survey) -> Vec<Finding> {
    let name = &new.name;
    let mut findings = Vec::new();
    let is_mariadb = |of: &Survey| matches!(of.flavor, ServerFlavor::MariaDb(_));
    if is_mariadb(old) != is_mariadb(new) {
        return vec![refused(format!("{name} is of another kind than {}", old.name))];
    }
    if new.binlog != Binlog::All {
        findings.push(refused(format!(
            "{name} does not write what it applies into its binlog (log_bin, log_slave_updates or log_replica_updates): \
             others could not follow it"
        )));
    }
    if name.port == 0 {
        findings.push(refused(format!("{name} is known by its socket only: others cannot follow it there")));
    }
    if !new.is_read_only {
        findings.push(refused(format!("{name} takes writes already: read_only is off there")));
    }
    let channel = match &new.follows[..] {
        [one] => one,
        [] => return with(findings, refused(format!("{name} follows nobody"))),
        _ => return with(findings, refused(format!("{name} follows several servers"))),
    };
    findings.extend(of_channel(name, channel));
    if !channel.leads_to(old) {
        findings.push(refused(format!("{name} follows {}, which is not {}", channel.source, old.name)));
    }
    if !old.has.has_all_of(&new.has) {
        findings.push(refused(format!(
            "{name} has transactions that {} does not have: {} there, {} here",
            old.name, new.has, old.has
        )));
    }
    match channel.behind_s {
        Some(seconds) if seconds > BEHIND_MAX_S => {
            findings.push(refused(format!(
                "{name} is {seconds} s behind, and {BEHIND_MAX_S} are waited for at most"
            )));
        }
        Some(seconds) => findings.push(fine(format!("{name} is {seconds} s behind"))),
        None => {}
    }
    findings
}

/// What keeps a replica from having all that its source has.
fn of_channel(name: &nuthatch_config::ServerName, channel: &Channel) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !channel.runs() {
        let (fetches, applies, error) = (&channel.fetches, &channel.applies, &channel.error);
        findings.push(refused(format!(
            "{name} does not replicate: its threads say {fetches} and {applies}{}{error}",
            if error.is_empty() { "" } else { ", " }
        )));
    }
    if !channel.by_gtid {
        findings
            .push(refused(format!("{name} does not follow by GTID (MASTER_USE_GTID, SOURCE_AUTO_POSITION)")));
    }
    if channel.filters {
        findings.push(refused(format!("{name} leaves something out: it has replication filters")));
    }
    if channel.delay_s > 0 {
        findings.push(refused(format!("{name} stays {} s behind on purpose (SQL_Delay)", channel.delay_s)));
    }
    findings
}

/// What keeps another replica from following the new primary. It is left behind then, which hinders nothing.
fn of_other(old: &Survey, new: &Survey, other: &Survey) -> Option<Finding> {
    let name = &other.name;
    let follows = other.follows.iter().find(|channel| channel.leads_to(old));
    match follows {
        None => Some(warning(format!("{name} does not follow {}: it is left as it is", old.name))),
        Some(channel) if !channel.by_gtid => {
            Some(warning(format!("{name} does not follow by GTID: it will not follow {}", new.name)))
        }
        Some(_) if other.follows.len() > 1 => {
            Some(warning(format!("{name} follows several servers: it will not follow {}", new.name)))
        }
        Some(channel) if !channel.name.is_empty() => Some(warning(format!(
            "{name} follows by a connection with a name ({}): it will not follow {}",
            channel.name, new.name
        ))),
        Some(channel) if !channel.runs() => Some(warning(format!(
            "{name} does not replicate now, and is left as it is: it will not follow {}",
            new.name
        ))),
        Some(_) => None,
    }
}

/// What sessions have open.
pub(crate) fn of_work(work: &[Work]) -> Vec<Finding> {
    work.iter()
        .map(|one| {
            let who = match one.session {
                Some(session) => format!("session {session} of '{}'", one.user),
                None => format!("a connection of '{}'", one.user),
            };
            match one.is_transaction() {
                true => warning(format!(
                    "{who} has a statement or transaction under way: it is waited for, or ended"
                )),
                false => warning(format!(
                    "{who} holds its connection for {}: it is waited for, or ended",
                    one.pins
                )),
            }
        })
        .collect()
}

fn with(mut findings: Vec<Finding>, one: Finding) -> Vec<Finding> {
    findings.push(one);
    findings
}

#[cfg(test)]
mod tests {
    use nuthatch_config::ServerName;

    use super::*;
    use crate::gtid::Gtids;

    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);

    fn survey(host: &str, server_id: u64, has: &str) -> Survey {
        Survey {
            name: ServerName { host: host.to_owned(), port: 3306 },
            flavor: MARIADB,
            server_id,
            uuid: String::new(),
            is_read_only: true,
            binlog: Binlog::All,
            has: Gtids::parse(MARIADB, has).expect("a position"),
            history: Gtids::parse(MARIADB, has).expect("a position"),
            runs_events: false,
            follows: Vec::new(),
        }
    }

    fn pair() -> (Survey, Survey) {
        let old = Survey { is_read_only: false, ..survey("a", 1, "0-1-9") };
        let channel = Channel {
            name: String::new(),
            source: old.name.clone(),
            source_id: 1,
            source_uuid: String::new(),
            fetches: "Yes".to_owned(),
            applies: "Yes".to_owned(),
            behind_s: Some(0),
            delay_s: 0,
            received: Gtids::parse(MARIADB, "0-1-9").expect("a position"),
            by_gtid: true,
            filters: false,
            over_tls: false,
            error: String::new(),
        };
        let new = Survey { follows: vec![channel], ..survey("b", 2, "0-1-7") };
        (old, new)
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Survey, &mut Survey), expected: &str) {
        let (mut old, mut new) = pair();
        change(&mut old, &mut new);
        let refusals: Vec<_> =
            of_servers(&old, &new, &[]).into_iter().filter(|one| one.weight == Weight::Refused).collect();
        match expected {
            "" => assert_eq!(refusals, []),
            expected => assert!(
                matches!(&refusals[..], [one] if one.what.contains(expected)),
                "{expected}: {refusals:?}"
            ),
        }
    }

    #[test]
    fn switchover_is_refused_where_the_new_primary_could_lack_something() {
        check(|_, _| {}, "");
        check(|old, _| old.binlog = Binlog::Unfit, "writes no binlog");
        check(|old, _| old.is_read_only = true, "read-only already");
        check(|_, new| new.binlog = Binlog::Own, "others could not follow it");
        check(|_, new| new.is_read_only = false, "takes writes already");
        check(|_, new| new.follows.clear(), "follows nobody");
        check(|_, new| new.follows.push(new.follows[0].clone()), "several");
        check(|_, new| new.follows[0].source_id = 7, "which is not a:3306");
        check(|_, new| new.follows[0].applies = "No".to_owned(), "does not replicate");
        check(|_, new| new.follows[0].by_gtid = false, "by GTID");
        check(|_, new| new.follows[0].filters = true, "filters");
        check(|_, new| new.follows[0].delay_s = 9, "9 s behind on purpose");
        check(|_, new| new.follows[0].behind_s = Some(31), "31 s behind");
        check(
            |_, new| new.has = Gtids::parse(MARIADB, "0-2-9").expect("a position"),
            "has transactions that",
        );
        check(|_, new| new.flavor = ServerFlavor::MySql(90_704), "another kind");
        check(|old, new| old.follows.push(new.follows[0].clone()), "circles");
    }

    #[test]
    fn other_replicas_that_cannot_follow_are_told_of() {
        let (old, new) = pair();
        let other = Survey { follows: new.follows.clone(), ..survey("c", 3, "0-1-9") };
        assert_eq!(of_servers(&old, &new, std::slice::from_ref(&other)), of_servers(&old, &new, &[]));
        let apart = Survey { follows: Vec::new(), ..other };
        let told = of_servers(&old, &new, &[apart]);
        assert!(
            told.iter().any(|one| one.weight == Weight::Warning && one.what.contains("c:3306")),
            "{told:?}"
        );
    }
}
