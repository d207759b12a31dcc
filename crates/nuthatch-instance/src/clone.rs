//! A running instance becomes another one, by a backup that goes through a pipe and is kept nowhere.

use std::io::{ErrorKind, pipe};

use nuthatch_server::ServerError;

use crate::add::Wanted;
use crate::backup::fill::{Filled, Origin, Using};
use crate::backup::job::data_bytes;
use crate::backup::restore::restore_new;
use crate::backup::take::{Taking, take_to_pipe};
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::replication::copy::copy;
use crate::replication::end::End;
use crate::replication::fitness::BothWays;
use crate::replication::link::Via;
use crate::replication::replicate::{Bond, Found, Writable, connect, options_of};
use crate::replication::request::Which;
use crate::replication::ssh::Ssh;
use crate::root::Root;

/// The new instance has the data that the old one had a moment ago, another root's password, and was not started yet.
///
/// # Errors
/// As [`take_to_pipe`] and [`restore_new`]; nothing of the new one is left then.
pub fn clone(
    root: &Root,
    name: &InstanceName,
    wanted: &Wanted,
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
        let using = Using { is_another: true, ..Using::default() };
        let origin = Origin::Stream(Box::new(from), Some(total));
        let filled = restore_new(root, wanted, origin, &using, progress);
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
    wanted: &Wanted,
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    progress.step(&Step::Note(format!("copying {name} to {} as {}", there.host(), wanted.name)));
    copy(root, name, there, wanted, taking, progress)
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

fn is_broken_pipe(error: &InstanceError) -> bool {
    matches!(error, InstanceError::Server(ServerError::File { source, .. }) if source.kind() == ErrorKind::BrokenPipe)
}
