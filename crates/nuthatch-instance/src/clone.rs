//! A running instance becomes another one, by a backup that goes through a pipe and is kept nowhere.

use std::io::pipe;

use nuthatch_server::ServerError;

use crate::add::Wanted;
use crate::backup::fill::{Filled, Origin, Role, Using};
use crate::backup::job::data_bytes;
use crate::backup::restore::restore_new;
use crate::backup::take::{Taking, take_to_pipe};
use crate::error::InstanceError;
use crate::life::check::series;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::record::free_server_id;
use crate::replication::copy::{copy, is_broken_pipe};
use crate::replication::end::End;
use crate::replication::fitness::{BothWays, fits};
use crate::replication::link::Via;
use crate::replication::replicate::{Bond, Found, Writable, connect, options_of, trust_in};
use crate::replication::request::{Known, Which};
use crate::replication::route;
use crate::replication::ssh::Ssh;
use crate::root::Root;

/// The new instance has the data that the old one had a moment ago, another root's password, and was not started yet.
///
/// # Errors
/// As [`take_to_pipe`] and [`restore_new`]; nothing of the new one is left then.
pub fn clone(
    root: &Root,
    name: &InstanceName,
    (wanted, role): (&Wanted, Role),
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<Filled, InstanceError> {
    let total = data_bytes(&root.find(name)?.data());
    let (from, to) = pipe().map_err(ServerError::file("make a pipe for", root.dir()))?;
    std::thread::scope(|scope| {
        let taken = scope.spawn(|| {
            // Who unpacks tells how far it has come.
            let mut nobody = |_: &Step| {};
            take_to_pipe(root, name, Box::new(to), taking, &mut nobody)
        });
        let using = Using { is_another: true, role, ..Using::default() };
        let origin = Origin::Stream(Box::new(from), Some(total));
        let filled = restore_new(root, &as_what(wanted, role), origin, &using, progress);
        match taken.join() {
            // What was not sent was not received either; but nobody sends to who has given up.
            Ok(Err(error)) if filled.is_err() && !is_broken_pipe(&error) => Err(error),
            Ok(_) => filled,
            Err(_panic) => Err(InstanceError::Refused(format!("clone {name}: a thread of ours panicked"))),
        }
    })
}

/// The same on another host; `wanted` is the instance there, which runs then.
///
/// # Errors
/// As [`take_to_pipe`], and what the other host refuses; nothing of the new one is left then.
pub fn clone_to(
    root: &Root,
    name: &InstanceName,
    there: &Ssh,
    (wanted, role): (&Wanted, Role),
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    progress.step(&Step::Note(format!("copying {name} to {} as {}", there.host(), wanted.name)));
    copy(root, name, there, (&as_what(wanted, role), role), taking, progress)
}

/// Nobody writes to a replica between its start and its following.
fn as_what(wanted: &Wanted, role: Role) -> Wanted {
    let mut wanted = wanted.clone();
    if role == Role::Replica {
        wanted.own.push("read_only=ON".to_owned());
    }
    wanted
}

/// A clone on this host could follow the instance, as far as that is known before anything is copied.
///
/// # Errors
/// [`InstanceError::Refused`] with what is in the way.
pub fn check_beside(root: &Root, name: &InstanceName, over_tls: bool) -> Result<(), InstanceError> {
    let source = End::Here(root.clone()).look(Which::Named(name.clone()))?;
    can_be_followed(&source, over_tls)
}

fn can_be_followed(source: &Known, over_tls: bool) -> Result<(), InstanceError> {
    fits(&source.standing)
        .map_err(|what| InstanceError::Refused(format!("replicate from {}: it {what}", source.name)))?;
    trust_in(source, over_tls).map(drop)
}

/// The clone as it would be on the other host, with a number in replication that nobody has; what is in the way of it, and of its following
/// the instance (`over_tls` says how, if it is to), is found before anything is copied.
///
/// # Errors
/// [`InstanceError::Refused`] with what is in the way.
pub fn check_there(
    root: &Root,
    name: &InstanceName,
    ssh: &Ssh,
    wanted: Wanted,
    over_tls: Option<bool>,
) -> Result<Wanted, InstanceError> {
    let (here, there) = (End::Here(root.clone()), End::There(ssh.clone()));
    let refuse = |what: String| InstanceError::Refused(format!("clone {name} to {}: {what}", ssh.host()));
    let (own, others) = (here.survey()?, there.survey()?);
    if others.instances.contains_key(&wanted.name) {
        return Err(refuse(format!("add {}: it is there already", wanted.name)));
    }
    let port = wanted.port.unwrap_or_default();
    if let Some((other, _)) = others.instances.iter().find(|(_, other)| other.port == port) {
        return Err(refuse(format!("its port {port} is that of {other} there")));
    }
    let (source, version) = (here.look(Which::Named(name.clone()))?, there.version_of(&wanted.server)?);
    if series(&version) != series(&source.standing.version) {
        return Err(refuse(format!(
            "its server is {}, and the one there is {version}: a copy needs one of the same series",
            source.standing.version
        )));
    }
    if let Some(over_tls) = over_tls {
        can_be_followed(&source, over_tls)?;
        route::to_source(source.host, others.address).map_err(refuse)?;
        let from = there.reach(&source.host.to_string(), source.port)?;
        route::is_another(source.host, from).map_err(refuse)?;
    }
    let taken = own.server_ids().chain(others.server_ids()).collect();
    Ok(Wanted { server_id: Some(free_server_id(others.address, port, &taken)), ..wanted })
}

/// The clone on another host follows the one here.
///
/// # Errors
/// As [`replicate`](crate::replicate); the clone stays.
pub fn follow_from(
    root: &Root,
    name: &InstanceName,
    there: &Ssh,
    new: &InstanceName,
    over_tls: bool,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let (here, there) = (End::Here(root.clone()), End::There(there.clone()));
    let source = here.look(Which::Named(name.clone()))?;
    let replica = there.look(Which::Named(new.clone()))?;
    let bond = Bond {
        via: Via::Origin(name.clone()),
        both_ways: BothWays::Refused,
        over_tls,
        options: options_of(&replica, &source.standing, Writable::Source)?,
    };
    connect(&Found { end: &there, known: &replica }, &Found { end: &here, known: &source }, bond, progress)
}
