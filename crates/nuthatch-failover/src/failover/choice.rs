//! Which replica takes the place of a primary that is gone: one that has received all that any other server of the pair has.
//!
//! Of several the heaviest, and of equal ones the first by name, so that every proxy chooses the same. None is chosen that could lose
//! something which another one has, or that does not apply what it has received: that is told in words, and somebody must decide.
//!
//! Pure.

use std::cmp::Reverse;

use nuthatch_config::ServerName;

use super::evidence::Primary;
use crate::hindrance::{Finding, refused};
use crate::order::KeptOut;
use crate::survey::{Binlog, Channel, Survey};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) old: Primary<'a>,
    /// Who may take statements at all, and how heavy each is.
    pub(crate) may_write: &'a [(ServerName, u64)],
    /// Those that were replaced before.
    pub(crate) kept_out: &'a [KeptOut],
    /// An operator's choice.
    pub(crate) to: Option<&'a ServerName>,
}

/// The heir, by its place among the servers; or why there is none.
pub(crate) fn choose(servers: &[&Survey], wanted: &Wanted<'_>) -> Result<usize, Vec<Finding>> {
    // One that was replaced before is made read-only before another one takes writes.
    let is_kept_out = |name: &ServerName| wanted.kept_out.iter().any(|one| one.name == *name);
    if let Some(writer) = servers.iter().find(|survey| !survey.is_read_only && !is_kept_out(&survey.name)) {
        return Err(vec![refused(format!(
            "{} takes writes already (read_only is off there): nobody else may",
            writer.name
        ))]);
    }
    let is_asked_for = |survey: &Survey| wanted.to.is_none_or(|to| survey.name == *to);
    let (fit, unfit): (Vec<_>, Vec<_>) = (0..)
        .zip(servers)
        .filter(|(_, survey)| is_asked_for(survey))
        .map(|(place, survey)| (place, *survey, faults(survey, wanted)))
        .partition(|(.., faults)| faults.is_empty());
    let mut heirs = Vec::new();
    let mut lacking = Vec::new();
    for (place, survey, _) in fit {
        match lacks(survey, servers, wanted.kept_out) {
            None => heirs.push((place, survey)),
            Some(what) => lacking.push(refused(what)),
        }
    }
    let weight = |survey: &Survey| {
        let known = wanted.may_write.iter().find(|(name, _)| *name == survey.name);
        known.map_or(0, |(_, weight)| *weight)
    };
    heirs.sort_by_key(|(_, survey)| (Reverse(weight(survey)), survey.name.clone()));
    if let Some((place, _)) = heirs.first() {
        return Ok(*place);
    }
    lacking.extend(unfit.into_iter().flat_map(|(.., faults)| faults));
    if lacking.is_empty() {
        lacking.push(match wanted.to {
            Some(to) => refused(format!("{to} cannot be asked, or does not stand in the pair")),
            None => refused("no other server of the pair can be asked"),
        });
    }
    Err(lacking)
}

/// What another server has that this one does not, in words. What was given up with a server is not missed again.
fn lacks(survey: &Survey, servers: &[&Survey], kept_out: &[KeptOut]) -> Option<String> {
    let everything = survey.everything();
    let is_given_up = |name: &ServerName| kept_out.iter().any(|one| one.is_given_up && one.name == *name);
    let others = servers.iter().filter(|other| other.name != survey.name && !is_given_up(&other.name));
    let ahead = others.into_iter().find(|other| !everything.holds(&other.come_to(), survey.server_id))?;
    Some(format!(
        "{} does not have all that {} has: {} there, {} here",
        survey.name,
        ahead.name,
        ahead.come_to(),
        survey.come_to()
    ))
}

/// Why a server cannot be the heir, whatever it has.
fn faults(survey: &Survey, wanted: &Wanted<'_>) -> Vec<Finding> {
    let name = &survey.name;
    let mut faults = Vec::new();
    if !wanted.may_write.iter().any(|(known, _)| known == name) {
        faults.push(refused(format!("{name} is not ONLINE with a weight in a hostgroup of the pair")));
    }
    // Who asks for it by name has seen to it.
    if wanted.to.is_none() && wanted.kept_out.iter().any(|one| one.name == *name) {
        faults.push(refused(format!(
            "{name} is kept out since a failover replaced it, and does not follow again yet"
        )));
    }
    if survey.binlog != Binlog::All {
        faults.push(refused(format!(
            "{name} does not write what it applies into its binlog (log_bin, log_slave_updates or log_replica_updates): \
             others could not follow it"
        )));
    }
    if name.port == 0 {
        faults.push(refused(format!("{name} is known by its socket only: others cannot follow it there")));
    }
    match &survey.follows[..] {
        [one] if wanted.old.is_source_of(one) => faults.extend(of_channel(name, one)),
        [one] => {
            faults.push(refused(format!("{name} follows {}, which is not {}", one.source, wanted.old.name)));
        }
        [] => faults.push(refused(format!("{name} follows nobody"))),
        _ => faults.push(refused(format!("{name} follows several servers"))),
    }
    faults
}

/// What keeps a replica from having, or applying, all that its source has sent.
fn of_channel(name: &ServerName, channel: &Channel) -> Vec<Finding> {
    let mut faults = Vec::new();
    if channel.applies != "Yes" {
        let error = if channel.error.is_empty() { String::new() } else { format!(", {}", channel.error) };
        faults.push(refused(format!(
            "{name} does not apply what it has received: its SQL thread says {}{error}",
            channel.applies
        )));
    }
    if !channel.by_gtid {
        faults
            .push(refused(format!("{name} does not follow by GTID (MASTER_USE_GTID, SOURCE_AUTO_POSITION)")));
    }
    if channel.filters {
        faults.push(refused(format!("{name} leaves something out: it has replication filters")));
    }
    if channel.delay_s > 0 {
        faults.push(refused(format!("{name} stays {} s behind on purpose (SQL_Delay)", channel.delay_s)));
    }
    faults
}

#[cfg(test)]
mod tests;
