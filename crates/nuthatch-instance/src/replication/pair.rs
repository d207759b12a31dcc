//! Pairs: each instance here with the one of the same name and port on another host, in both directions.
//!
//! A [plan](plan::Plan) is made first, from what is on both sides, and nothing is touched for it. It is then carried out instance by instance;
//! an instance that is paired is left alone, so that it can be carried out again where it was kept from its end.

pub(crate) mod options;
pub(crate) mod plan;

use crate::add::Wanted;
use crate::backup::fill::Role;
use crate::backup::take::Taking;
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::replication::copy::copy;
use crate::replication::end::End;
use crate::replication::fitness::BothWays;
use crate::replication::link::Via;
use crate::replication::pair::options::{Side, missing};
use crate::replication::pair::plan::{Other, Pairing, Plan, Seed};
use crate::replication::replicate::{Bond, Found, Writable, connect, follows};
use crate::replication::request::{Known, Request, Which};

/// All pairs of the plan replicate in both directions.
///
/// # Errors
/// What kept one from it: what had been begun of that one's replication is taken back. An instance that was added, and options, stay.
pub fn pair(plan: &Plan, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    for pairing in &plan.pairings {
        if pairing.is_done {
            progress.step(&Step::Already(pairing.here.name.clone(), "is paired"));
        } else {
            carry_out(plan, pairing, progress)?;
        }
    }
    Ok(())
}

fn carry_out(plan: &Plan, pairing: &Pairing, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let (name, there) = (&pairing.here.name, plan.there.name());
    if let Other::Missing(wanted, seed) = &pairing.there {
        progress.step(&Step::Note(format!("adding {name} on {there}")));
        match seed {
            Seed::Binlogs => plan.there.tell(&Request::Add(wanted.clone()))?,
            Seed::Copy => copy_there(plan, name, wanted, progress)?,
        }
    }
    let look = |end: &End| end.look(Which::Named(name.clone()));
    for end in [&plan.here, &plan.there] {
        if plan.over_tls && !look(end)?.standing.has_tls {
            progress.step(&Step::Note(format!("restarting {name} on {}, for its certificate", end.name())));
            end.tell(&Request::Restart(name.clone()))?;
        }
    }
    let (here, there) = (look(&plan.here)?, look(&plan.there)?);
    for (end, known, side) in [
        (&plan.here, &here, Side { of: &here, with: &there, is_second: pairing.is_second_here }),
        (&plan.there, &there, Side { of: &there, with: &here, is_second: !pairing.is_second_here }),
    ] {
        let options = missing(&known.own, side.options(plan.writable == Writable::Both));
        if !options.is_empty() {
            progress.step(&Step::Note(format!("{name} on {}: {}", end.name(), options.join(", "))));
            end.tell(&Request::Set { name: name.clone(), options, unset: Vec::new() })?;
        }
    }
    bind(plan, &here, &there, progress)
}

/// The other host gets a copy of the one here.
fn copy_there(
    plan: &Plan,
    name: &InstanceName,
    wanted: &Wanted,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let (End::Here(root), End::There(ssh)) = (&plan.here, &plan.there) else {
        return Err(InstanceError::Refused(format!("copy {name}: it goes from here to another host")));
    };
    // Nobody writes to it between its start and its following.
    let mut wanted = wanted.clone();
    wanted.own.push("read_only=ON".to_owned());
    copy(root, name, ssh, (&wanted, Role::Replica), &Taking::for_a_copy(), progress)
}

/// Both follow each other; where the second cannot, the first does no more what it has just begun.
fn bind(plan: &Plan, here: &Known, there: &Known, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let name = &here.name;
    let bond = |via| Bond { via, both_ways: BothWays::Wanted, over_tls: plan.over_tls, options: Vec::new() };
    let near = Found { end: &plan.here, known: here };
    let far = Found { end: &plan.there, known: there };
    let has_followed = follows(there, &here.address())?;
    connect(&far, &near, bond(Via::Peer(name.clone())), progress)?;
    let End::There(ssh) = &plan.there else { return Ok(()) };
    let there = plan.there.look(Which::Named(name.clone()))?;
    let far = Found { end: &plan.there, known: &there };
    let bound = connect(&near, &far, bond(Via::There(ssh.clone(), there.name.clone())), progress);
    if bound.is_err() && !has_followed {
        // What has failed says more than what cannot be taken back behind it.
        drop(plan.there.tell(&Request::Forget(name.clone())));
        let user = crate::replication::account::user_of(there.standing.server_id);
        drop(plan.here.tell(&Request::DropAccount { name: name.clone(), user, from: None }));
    }
    bound
}
