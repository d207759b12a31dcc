//! Ending the replication of an instance: for now, or for good.

use std::net::IpAddr;

use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::replication::end::End;
use crate::replication::follow;
use crate::replication::link::{Link, Via};
use crate::replication::request::{Request, Which};
use crate::root::Root;

/// The instance follows nobody any more; its account at the source is dropped where that can be done.
///
/// # Errors
/// [`InstanceError::Refused`] where it follows nobody.
pub fn forget_source(
    root: &Root,
    name: &InstanceName,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let place = root.find(name)?;
    let known = End::Here(root.clone()).look(Which::Named(name.clone()))?;
    let link = Link::load(&place)?;
    if known.standing.sources.is_empty() && link.is_none() {
        return Err(InstanceError::Refused(format!("end the replication of {name}: it follows nobody")));
    }
    follow::forget(&place)?;
    let sources = known.standing.sources.join(" and ");
    progress.step(&Step::Note(format!("{name} follows {sources} no more, and keeps what it has")));
    if let Some(link) = link {
        drop_account(root, &link, known.host, progress);
    }
    if known.standing.read_only {
        progress.step(&Step::Note(format!(
            "{name} stays read-only: nuthatch instance set {name} read_only=OFF has it written to"
        )));
    }
    Ok(())
}

/// The replica's account at its source is gone; where it cannot be, that is said.
fn drop_account(root: &Root, link: &Link, own: IpAddr, progress: &mut dyn Progress) {
    let request = |name: &InstanceName| Request::DropAccount {
        name: name.clone(),
        user: link.user.clone(),
        from: link.from,
    };
    let dropped = match &link.via {
        Via::Here(name) => End::Here(root.clone()).tell(&request(name)),
        Via::There(ssh, name) => End::There(ssh.clone()).tell(&request(name)),
        Via::Peer(name) | Via::Origin(name) => Err(InstanceError::Refused(format!(
            "reach it from here; on its host: nuthatch instance client {name} -- --execute \"SET sql_log_bin = 0; DROP USER '{}'@'{}'\"",
            link.user,
            link.from.unwrap_or(own)
        ))),
        Via::Foreign => Err(InstanceError::Refused("reach it from here".into())),
    };
    if let Err(error) = dropped {
        progress.step(&Step::Note(format!(
            "its account {} at {} is still there: failed to {error}",
            link.user, link.source
        )));
    }
}

/// The instance fetches and applies nothing more, until it goes on or its server is started again.
///
/// # Errors
/// [`InstanceError::Refused`] where it follows nobody.
pub fn pause(root: &Root, name: &InstanceName, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let known = End::Here(root.clone()).look(Which::Named(name.clone()))?;
    if known.standing.sources.is_empty() {
        return Err(InstanceError::Refused(format!("stop the replication of {name}: it follows nobody")));
    }
    follow::stop(&root.find(name)?)?;
    progress.step(&Step::Note(format!(
        "{name} fetches and applies nothing until its server is started anew, or: nuthatch instance replicate {name} --go-on"
    )));
    Ok(())
}

/// The instance goes on where it was.
///
/// # Errors
/// [`InstanceError::Refused`] where it follows nobody, or cannot go on.
pub fn go_on(root: &Root, name: &InstanceName, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let known = End::Here(root.clone()).look(Which::Named(name.clone()))?;
    if known.standing.sources.is_empty() {
        return Err(InstanceError::Refused(format!("have {name} replicate: it follows nobody")));
    }
    follow::start(&root.find(name)?)?;
    progress.step(&Step::Note(format!("{name} goes on")));
    Ok(())
}
