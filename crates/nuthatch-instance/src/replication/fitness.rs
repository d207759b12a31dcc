//! Whether one server can follow another, judged by what both say of themselves. Pure.
//!
//! What is not seen here, because a foreign source does not tell it, is seen when replication starts, and taken back then.

use nuthatch_server::Kind;
use nuthatch_sql::{GtidPositions, GtidSet};

use crate::error::InstanceError;
use crate::life::check::series;
use crate::replication::standing::Standing;

/// A server that is looked at: as it is called, where it is, and what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked<'a> {
    pub(crate) name: &'a str,
    /// HOST:PORT.
    pub(crate) address: &'a str,
    pub(crate) standing: &'a Standing,
}

/// Whether the source may follow the replica in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BothWays {
    /// It may: that is what is wanted.
    Wanted,
    /// It would be a mistake.
    Refused,
}

/// From where a replica goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Beginning {
    /// From what it has replicated last.
    AsItStands,
    /// From all that it has, its own transactions too, which the source has as well: MariaDB is told so.
    FromAllItHas,
}

/// From where the replica would go on.
///
/// # Errors
/// [`InstanceError::Refused`] with what is in the way, and what to do.
pub(crate) fn judge(
    replica: Looked<'_>,
    source: Looked<'_>,
    both_ways: BothWays,
) -> Result<Beginning, InstanceError> {
    let refuse = |what: String| {
        InstanceError::Refused(format!("replicate {} from {}: {what}", replica.name, source.name))
    };
    are_alike(replica, source).map_err(refuse)?;
    let is_mutual = follows(source, replica);
    if is_mutual && both_ways == BothWays::Refused {
        return Err(refuse(format!(
            "it follows {} itself; both ways is what --both-writable and `nuthatch instance pair` are for",
            replica.name
        )));
    }
    // What the source has not, but follows, is on its way to it.
    if !is_mutual {
        refuse_errant(replica, source)?;
    }
    let beginning = match replica.standing.kind {
        Kind::MariaDb => position(replica.standing, source.standing),
        Kind::MySql => set(replica.standing, source.standing),
    };
    beginning.map_err(refuse)?.ok_or_else(|| {
        refuse(format!(
            "the source's binlogs do not hold what {} lacks any more; clone it from there first (nuthatch instance clone)",
            replica.name
        ))
    })
}

/// Refuses a replica that has transactions of its own, with which.
pub(crate) fn refuse_errant(replica: Looked<'_>, source: Looked<'_>) -> Result<(), InstanceError> {
    let refuse = |what: String| {
        InstanceError::Refused(format!("replicate {} from {}: {what}", replica.name, source.name))
    };
    let errant = match replica.standing.kind {
        Kind::MariaDb => errant_positions(replica.standing, source.standing),
        Kind::MySql => errant_set(replica.standing, source.standing),
    }
    .map_err(refuse)?;
    if errant.is_empty() {
        return Ok(());
    }
    Err(refuse(format!(
        "{} has transactions of its own that the source has not: {errant}; look at them (with mariadb-binlog or mysqlbinlog), write to the \
         source what is of worth, and clone it anew from there (nuthatch instance clone)",
        replica.name
    )))
}

/// Whether the replica has nothing of the source's yet, and is to have all of it from its binlogs.
pub(crate) fn is_blank(replica: &Standing, source: &Standing) -> bool {
    match replica.kind {
        Kind::MariaDb => {
            let [own, other] =
                [[&replica.executed, &replica.replicated], [&source.known, &source.replicated]].map(
                    |texts| texts.map(|text| GtidPositions::parse(text).unwrap_or_default().gtids()).concat(),
                );
            !own.iter().any(|own| other.iter().any(|other| own.domain == other.domain))
        }
        Kind::MySql => {
            let [own, other] = [replica, source].map(|one| GtidSet::parse(&one.executed).unwrap_or_default());
            own.without(&other).count() == own.count()
        }
    }
}

/// Whether the one follows the other.
pub(crate) fn follows(one: Looked<'_>, other: Looked<'_>) -> bool {
    one.standing.sources.iter().any(|followed| followed == other.address)
}

/// Whether both are servers of which one could follow the other, whatever they hold.
pub(crate) fn are_alike(replica: Looked<'_>, source: Looked<'_>) -> Result<(), String> {
    let (own, other) = (replica.standing, source.standing);
    let word = |kind| if kind == Kind::MariaDb { "MariaDB" } else { "MySQL" };
    if own.kind != other.kind {
        return Err(format!(
            "it is {}, and {} is {}; both have to be of one kind",
            word(other.kind),
            replica.name,
            word(own.kind)
        ));
    }
    if own.server_id == other.server_id || (!own.uuid.is_empty() && own.uuid == other.uuid) {
        return Err(format!(
            "it is {} itself, or has the same server_id {}; replicas tell each other apart by that",
            replica.name, own.server_id
        ));
    }
    if series(&other.version) > series(&own.version) {
        return Err(format!(
            "it is {}, and {} is {}: a source must not be newer than its replica",
            other.version, replica.name, own.version
        ));
    }
    for one in [source, replica] {
        fits(one.standing).map_err(|what| format!("{} {what}", one.name))?;
    }
    Ok(())
}

/// Whether a server is set as a source and a replica have to be.
pub(crate) fn fits(standing: &Standing) -> Result<(), String> {
    match standing.misfits.as_slice() {
        [] => Ok(()),
        misfits => Err(format!("cannot take part as it is set: {} is wanted there", misfits.join(", "))),
    }
}

fn parse_positions(text: &str) -> Result<GtidPositions, String> {
    GtidPositions::parse(text).ok_or_else(|| format!("the GTIDs {text:?} are not understood"))
}

fn parse_set(text: &str) -> Result<GtidSet, String> {
    GtidSet::parse(text).ok_or_else(|| format!("the GTIDs {text:?} are not understood"))
}

/// What the replica has and the source has not.
fn errant_positions(own: &Standing, other: &Standing) -> Result<String, String> {
    let (other_known, other_replicated) =
        (parse_positions(&other.known)?, parse_positions(&other.replicated)?);
    let mut own_all = parse_positions(&own.known)?;
    own_all.add(&parse_positions(&own.executed)?);
    let mut errant = Vec::new();
    for gtid in own_all.gtids() {
        let single = parse_positions(&gtid.to_string())?;
        if !single.is_known_in(&other_known) && !other_replicated.is_up_to(&single) {
            errant.push(gtid.to_string());
        }
    }
    Ok(errant.join(", "))
}

fn errant_set(own: &Standing, other: &Standing) -> Result<String, String> {
    Ok(parse_set(&own.executed)?.without(&parse_set(&other.executed)?).to_string())
}

/// How it begins; `None` where the source cannot give it what it lacks.
fn position(own: &Standing, other: &Standing) -> Result<Option<Beginning>, String> {
    let (executed, replicated) = (parse_positions(&own.executed)?, parse_positions(&own.replicated)?);
    let (other_known, other_replicated) =
        (parse_positions(&other.known)?, parse_positions(&other.replicated)?);
    let mut begins_behind = parse_positions(other.purged.as_deref().unwrap_or_default())?;
    // What it was cloned with was never in its own binlogs.
    for gtid in other_replicated.gtids() {
        if !other_known.gtids().iter().any(|known| known.domain == gtid.domain) {
            begins_behind.add(&parse_positions(&gtid.to_string())?);
        }
    }
    let (beginning, at) = match () {
        () if replicated.is_up_to(&begins_behind) => (Beginning::AsItStands, replicated),
        () if executed.is_up_to(&begins_behind) => (Beginning::FromAllItHas, executed),
        () => return Ok(None),
    };
    refuse_again(own, &at)?;
    Ok(Some(beginning))
}

/// What is in its binlogs already, and neither its own nor behind where it begins, would come to it a second time.
fn refuse_again(own: &Standing, begins_at: &GtidPositions) -> Result<(), String> {
    for gtid in parse_positions(&own.known)?.gtids() {
        let single = parse_positions(&gtid.to_string())?;
        if gtid.server != own.server_id && !begins_at.is_up_to(&single) {
            return Err(format!(
                "it has {gtid} already, but takes itself not to have replicated it (gtid_slave_pos), as after a restore by hand; if its data are \
                 those of that moment, say so first: SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos"
            ));
        }
    }
    Ok(())
}

fn set(own: &Standing, other: &Standing) -> Result<Option<Beginning>, String> {
    let purged = parse_set(other.purged.as_deref().unwrap_or_default())?;
    Ok(parse_set(&own.executed)?.contains(&purged).then_some(Beginning::AsItStands))
}

#[cfg(test)]
mod tests;
