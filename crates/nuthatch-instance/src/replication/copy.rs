//! An instance of this host copied to another one while it runs: a backup that goes through ssh and is kept nowhere.
//!
//! What is wanted goes before it, as one line: its options may hold what is nobody's business, and an argument can be read by all.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};

use nuthatch_server::ServerError;
use serde::{Deserialize, Serialize};

use crate::add::Wanted;
use crate::backup::fill::{Origin, Role, Using};
use crate::backup::restore::restore_new;
use crate::backup::take::{Taking, take_to_pipe};
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::replication::answer::run;
use crate::replication::end::understood;
use crate::replication::request::Answer;
use crate::replication::ssh::Ssh;
use crate::root::Root;

/// The line is never longer, in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// What is to come of a copy.
#[derive(Debug, Serialize, Deserialize)]
struct Incoming {
    wanted: Wanted,
    role: Role,
}

/// The wanted instance is there, with the data of the one here, and runs.
pub(crate) fn copy(
    root: &Root,
    name: &InstanceName,
    there: &Ssh,
    (wanted, role): (&Wanted, Role),
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let line = serde_json::to_string(&Incoming { wanted: wanted.clone(), role })
        .map_err(|error| InstanceError::Refused(format!("write down what {name} is to be: {error}")))?;
    let (fed, said) = there.send(|mut input| {
        input.write_all(format!("{line}\n").as_bytes()).map_err(ServerError::file("write to", "ssh"))?;
        take_to_pipe(root, name, Box::new(input), taking, progress).map(drop)
    });
    match (fed, said.and_then(|said| understood(there, &said))) {
        // Who does not take it any more says why.
        (Some(Err(error)), Err(_)) if !is_broken_pipe(&error) => Err(error),
        (_, Err(theirs)) => Err(theirs),
        (fed, Ok(_)) => fed.unwrap_or(Ok(())),
    }
}

/// What another host sends becomes an instance, which runs then.
///
/// # Errors
/// As [`restore_new`]; nothing of it is left then.
pub fn receive(root: &Root, from: Box<dyn Read + Send>) -> Result<Answer, InstanceError> {
    let mut from = BufReader::new(from);
    let mut line = String::new();
    from.by_ref()
        .take(LINE_BYTES_MAX)
        .read_line(&mut line)
        .map_err(ServerError::file("read what is wanted from", "the other host"))?;
    // What is wrong with it is not told: it may hold a secret.
    let incoming: Incoming = serde_json::from_str(&line).map_err(|_bad| {
        InstanceError::Refused("understand what is wanted: are both hosts of the same version?".into())
    })?;
    let Incoming { wanted, role } = incoming;
    Root::create(root.dir())?;
    let using = Using { is_another: true, role, ..Using::default() };
    let origin = Origin::Stream(Box::new(from), None);
    restore_new(root, &wanted, origin, &using, &mut |_: &Step| {})?;
    run(root, &wanted.name)
}

pub(crate) fn is_broken_pipe(error: &InstanceError) -> bool {
    matches!(error, InstanceError::Server(ServerError::File { source, .. }) if source.kind() == ErrorKind::BrokenPipe)
}
