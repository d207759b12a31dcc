//! A replica that is told to follow the source that it follows already: whether that is done, and is as it is wanted.

use std::time::Duration;

use nuthatch_server::Deadline;

use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::replication::end::End;
use crate::replication::fitness::BothWays;
use crate::replication::request::{Known, Which};
use crate::replication::standing::FollowingNow;
use crate::replication::status::Following;

/// How long a replica that tries to reach its source is waited for.
const CONNECTS_WITHIN: Duration = Duration::from_secs(15);

/// Who may write to a replica that follows the source already is not changed by saying it again; `options` are what it would have got.
pub(crate) fn refuse_other_writers(
    own: &Known,
    address: &str,
    both_ways: BothWays,
    options: &[String],
) -> Result<(), InstanceError> {
    let (is, set) = match (both_ways, own.standing.read_only) {
        (BothWays::Refused, false) => ("is written to too", "read_only=ON".to_owned()),
        (BothWays::Wanted, true) => ("is read-only", options.join(" ")),
        _ => return Ok(()),
    };
    Err(InstanceError::Refused(format!(
        "replicate {0} from {address}: it follows it already, and {is}; nuthatch instance set {0} {set} changes that",
        own.name
    )))
}

/// Whether nothing is to be changed of how it follows.
pub(crate) fn is_as_wanted(own: &Known, over_tls: bool) -> bool {
    let is_over_tls = own.standing.following.as_ref().is_some_and(|now| now.over_tls);
    !own.standing.login_fails && is_over_tls == over_tls
}

/// It replicates already; else what it does instead.
pub(crate) fn tell_already(
    end: &End,
    name: &InstanceName,
    address: &str,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let look = || end.look(Which::Named(name.clone())).map(|own| own.standing.following);
    let is_connecting =
        |now: &Option<FollowingNow>| now.as_ref().is_some_and(|now| now.state == Following::Connecting);
    let settled = || match look() {
        Ok(now) if is_connecting(&now) => None,
        settled => Some(settled),
    };
    let now = Deadline::after(CONNECTS_WITHIN).poll(settled).unwrap_or_else(look)?;
    let (state, why) = now.map_or((Following::Stopped, None), |now| (now.state, now.why));
    if state == Following::Running {
        progress.step(&Step::Already(name.clone(), "follows it"));
        return Ok(());
    }
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    Err(InstanceError::Refused(format!(
        "replicate {name} from {address}: it follows it already, and is {state}{why}: nuthatch instance replication --repair {name} tells what to do"
    )))
}
