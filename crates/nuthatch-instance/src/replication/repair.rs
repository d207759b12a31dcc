//! Replicas that do not replicate: what of it is repaired without a risk, and what a person has to decide.
//!
//! Safe is what loses nothing and skips nothing: by GTID, a replica asks for what it has not applied, however often it is started anew. No
//! transaction is ever left out here.

pub(crate) mod remedy;

use nuthatch_server::Kind;

use crate::ask::{PATIENTLY, Session, wait_for};
use crate::error::InstanceError;
use crate::life::state::State;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::replication::dialect;
use crate::replication::end::End;
use crate::replication::fitness::BothWays;
use crate::replication::follow::{self, await_running};
use crate::replication::link::{Link, Via};
use crate::replication::repair::remedy::{Remedy, judge};
use crate::replication::replicate::{Bond, Found, connect};
use crate::replication::request::Which;
use crate::root::{Place, Root};

/// A source that an instance does not replicate from as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ailment {
    /// Whose.
    pub name: InstanceName,
    /// What is wrong, and what to do.
    pub what: String,
    /// What is done about it here; `None` where a person has to decide.
    pub remedy: Option<Remedy>,
}

/// What is wrong with the replication of an instance; `None` where it does not run.
///
/// # Errors
/// [`InstanceError::Unreachable`].
pub fn ailments(root: &Root, name: &InstanceName) -> Result<Option<Vec<Ailment>>, InstanceError> {
    of_place(&root.find(name)?)
}

pub(crate) fn of_place(place: &Place) -> Result<Option<Vec<Ailment>>, InstanceError> {
    if State::load(place)?.live_server().is_none() {
        return Ok(None);
    }
    let kind = place.record()?.server.kind;
    let table = wait_for(async { Session::open(place).await?.ask(dialect::status(kind), PATIENTLY).await })?;
    let via = Link::load(place)?.map(|link| link.via);
    let judged = dialect::statuses(&table).into_iter().filter_map(|status| judge(&status, via.as_ref()));
    let ailment = |(what, remedy)| Ailment { name: place.name().clone(), what, remedy };
    Ok(Some(judged.map(ailment).collect()))
}

/// The instance replicates again.
///
/// # Errors
/// What keeps it from that; it is as it was then, but for having been tried.
pub fn heal(root: &Root, ailment: &Ailment, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let (name, place) = (&ailment.name, root.find(&ailment.name)?);
    match ailment.remedy {
        None => return Err(InstanceError::Refused(format!("repair {name}: {}", ailment.what))),
        Some(Remedy::GoOn) => follow::start(&place)?,
        Some(Remedy::FetchAgain) => fetch_again(&place)?,
        Some(Remedy::RenewLogin) => return renew_login(root, &place, progress),
    }
    progress.step(&Step::Note(format!("{name} replicates")));
    Ok(())
}

fn fetch_again(place: &Place) -> Result<(), InstanceError> {
    let kind: Kind = place.record()?.server.kind;
    wait_for(async {
        let mut session = Session::open(place).await?;
        for statement in [dialect::stop(kind), dialect::fetch_again(kind), dialect::start(kind)] {
            session.ask(statement, PATIENTLY).await?;
        }
        await_running(&mut session, place, kind).await
    })
}

fn renew_login(root: &Root, place: &Place, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let (name, here) = (place.name(), End::Here(root.clone()));
    let gone = || InstanceError::Refused(format!("repair {name}: nothing is remembered of its source"));
    let link = Link::load(place)?.ok_or_else(gone)?;
    let (end, source) = match &link.via {
        Via::Here(source) => (here.clone(), source),
        Via::There(ssh, source) => (End::There(ssh.clone()), source),
        Via::Peer(_) | Via::Origin(_) | Via::Foreign => return Err(gone()),
    };
    let (own, other) = (here.look(Which::Named(name.clone()))?, end.look(Which::Named(source.clone()))?);
    let bond = Bond {
        via: link.via.clone(),
        both_ways: BothWays::Wanted,
        over_tls: link.over_tls,
        options: Vec::new(),
    };
    connect(&Found { end: &here, known: &own }, &Found { end: &end, known: &other }, bond, progress)
}
