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
use crate::replication::account::user_of;
use crate::replication::copy::copy;
use crate::replication::end::End;
use crate::replication::fitness::BothWays;
use crate::replication::link::Via;
use crate::replication::pair::options::{Side, missing, refuse_old_sessions, reverse};
use crate::replication::pair::plan::{Other, Pairing, Plan, Seed};
use crate::replication::replicate::{Bond, Found, Writable, connect, follows};
use crate::replication::request::{Known, Request, Which};

/// All pairs of the plan replicate in both directions.
///
/// # Errors
/// What kept one from it: what had been begun of that one's replication is taken back. An instance that was added, and options, stay. Behind all
/// of them, [`InstanceError::Refused`] with those that follow each other and do not replicate.
pub fn pair(plan: &Plan, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let mut left = Vec::new();
    for pairing in &plan.pairings {
        let name = &pairing.here.name;
        let (here, there) = if pairing.is_done {
            (pairing.here.clone(), pairing.there.known(&pairing.here))
        } else {
            carry_out(plan, pairing, progress)?;
            (look(&plan.here, name)?, look(&plan.there, name)?)
        };
        let found = left.len();
        for (end, known) in [(&plan.here, &here), (&plan.there, &there)] {
            if !known.is_running() {
                let now = known.standing.following.as_ref();
                let how = now.map_or("it follows nobody".to_owned(), ToString::to_string);
                left.push(format!("{name} on {}: {how}", end.name()));
            }
        }
        if pairing.is_done && left.len() == found {
            progress.step(&Step::Already(name.clone(), "is paired"));
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "have all replicate: {} (there: nuthatch instance replication --repair)",
        left.join("; ")
    )))
}

fn look(end: &End, name: &InstanceName) -> Result<Known, InstanceError> {
    end.look(Which::Named(name.clone()))
}

fn carry_out(plan: &Plan, pairing: &Pairing, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let (name, there) = (&pairing.here.name, plan.there.name());
    if let Other::Missing(wanted, seed, _) = &pairing.there {
        progress.step(&Step::Note(format!("adding {name} on {there}")));
        match seed {
            Seed::Binlogs => plan.there.tell(&Request::Add(wanted.clone()))?,
            Seed::Copy => copy_there(plan, name, wanted, progress)?,
        }
    }
    for end in [&plan.here, &plan.there] {
        if plan.over_tls && !look(end, name)?.standing.has_tls {
            progress.step(&Step::Note(format!("restarting {name} on {}, for its certificate", end.name())));
            end.tell(&Request::Restart(name.clone()))?;
        }
    }
    let (here, there) = (look(&plan.here, name)?, look(&plan.there, name)?);
    set_options(plan, pairing, (&here, &there), progress)?;
    bind(plan, &here, &there, progress)
}

/// Both sides have their options, and no session goes on without them where both are written to.
fn set_options(
    plan: &Plan,
    pairing: &Pairing,
    (here, there): (&Known, &Known),
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let both_writable = plan.writable == Writable::Both;
    let name = &here.name;
    let mut changes = Vec::new();
    for (end, side) in [
        (&plan.here, Side { of: here, with: there, is_second: pairing.is_second_here }),
        (&plan.there, Side { of: there, with: here, is_second: !pairing.is_second_here }),
    ] {
        let options = missing(side.of, side.options(both_writable));
        if !options.is_empty() {
            changes.push((end, side.of, options));
        }
    }
    let matters = both_writable && !changes.is_empty();
    let no_old_sessions = |here, there| refuse_old_sessions(here).and_then(|()| refuse_old_sessions(there));
    if matters {
        no_old_sessions(here, there)?;
    }
    for (end, _, options) in &changes {
        progress.step(&Step::Note(format!("{name} on {}: {}", end.name(), options.join(", "))));
        end.tell(&Request::Set { name: name.clone(), options: options.clone(), unset: Vec::new() })?;
    }
    if !matters {
        return Ok(());
    }
    // Who has come between the look and the change may have begun before it.
    let (here, there) = (look(&plan.here, name)?, look(&plan.there, name)?);
    no_old_sessions(&here, &there).inspect_err(|_| {
        for (end, before, options) in &changes {
            let (options, unset) = reverse(before, options);
            // Who is connected is told, and not this.
            drop(end.tell(&Request::Set { name: name.clone(), options, unset }));
        }
    })
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
    copy(root, name, ssh, (wanted, Role::Replica), &Taking::for_a_copy(), progress)
}

/// Both follow each other; where the second cannot, the first does no more what it has just begun.
fn bind(plan: &Plan, here: &Known, there: &Known, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let End::There(ssh) = &plan.there else { return Ok(()) };
    let name = &here.name;
    let bond = |via| Bond { via, both_ways: BothWays::Wanted, over_tls: plan.over_tls, options: Vec::new() };
    let near = Found { end: &plan.here, known: here };
    let far = Found { end: &plan.there, known: there };
    let has_followed = follows(there, &here.address())?;
    let from = plan.there.reach(&here.host.to_string(), here.port)?;
    connect(&far, &near, bond(Via::Peer(name.clone())), progress)?;
    let bound = look(&plan.there, name).and_then(|there| {
        let far = Found { end: &plan.there, known: &there };
        connect(&near, &far, bond(Via::There(ssh.clone(), there.name.clone())), progress)
    });
    // What has failed says more than what cannot be taken back behind it. Who may go on following keeps his account.
    if bound.is_err() && !has_followed && plan.there.tell(&Request::Forget(name.clone())).is_ok() {
        let user = user_of(there.standing.server_id);
        drop(plan.here.tell(&Request::DropAccount { name: name.clone(), user, from: Some(from) }));
    }
    bound
}
