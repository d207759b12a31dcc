//! What is wrong with the instances of a host, and what of it is mended without a risk.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::geteuid;

use crate::account::Account;
use crate::error::InstanceError;
use crate::life::check::room_on_disk;
use crate::life::state::{Doing, State};
use crate::name::InstanceName;
use crate::replication::repair;
use crate::root::{Place, Root};
use crate::settling::{memory_beside, pool_mib, settle, settle_in};
use crate::summary::pending;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whose it is; `None` for the host's.
    pub name: Option<InstanceName>,
    /// What is wrong, and what to do.
    pub what: String,
    /// Whether [`mend`] does that.
    pub is_mended_here: bool,
}

/// All that is found, without touching anything.
///
/// # Errors
/// [`ServerError::File`](nuthatch_server::ServerError::File) where not even the root can be read.
pub fn examine(root: &Root) -> Result<Vec<Finding>, InstanceError> {
    let mut findings = Vec::new();
    for leftover in root.leftovers()? {
        findings.push(Finding {
            name: leftover.name.parse().ok(),
            what: format!(
                "{} was left half made, or half removed, by a command that was ended; nothing else refers to it",
                leftover.dir.display()
            ),
            is_mended_here: true,
        });
    }
    let found = |name: Option<&InstanceName>, what: String| Finding {
        name: name.cloned(),
        what,
        is_mended_here: false,
    };
    for name in root.names()? {
        match root.find(&name).and_then(|place| look_at(root, &place)) {
            Ok(whats) => findings.extend(whats.into_iter().map(|what| found(Some(&name), what))),
            Err(error) => findings.push(found(Some(&name), format!("failed to {error}"))),
        }
    }
    match ports_twice(root).and_then(|mut whats| {
        whats.extend(too_much_memory(root)?);
        Ok(whats)
    }) {
        Ok(whats) => findings.extend(whats.into_iter().map(|what| found(None, what))),
        Err(error) => findings.push(found(None, format!("failed to {error}"))),
    }
    Ok(findings)
}

/// Mends what is safe to mend; gives what it has mended.
///
/// # Errors
/// [`ServerError::File`](nuthatch_server::ServerError::File).
pub fn mend(root: &Root) -> Result<Vec<Finding>, InstanceError> {
    let _lock = root.lock()?;
    let mut mended = Vec::new();
    for leftover in root.leftovers()? {
        let kept = root.clear(&leftover.dir)?;
        mended.push(Finding {
            name: leftover.name.parse().ok(),
            what: match kept {
                Some(kept) => {
                    format!("the data in {} are kept in {}", leftover.dir.display(), kept.display())
                }
                None => format!("{} is removed", leftover.dir.display()),
            },
            is_mended_here: true,
        });
    }
    Ok(mended)
}

fn look_at(root: &Root, place: &Place) -> Result<Vec<String>, InstanceError> {
    let mut whats = Vec::new();
    let (host, record, state) = (root.host()?, place.record()?, State::load(place)?);
    let account = Account::of(&host)?;
    let uid = account.map_or(geteuid().as_raw(), |account| account.uid);
    match fs::metadata(place.data()) {
        Err(error) => whats.push(format!("its data directory {}: {error}", place.data().display())),
        Ok(found) if found.uid() != uid => whats.push(format!(
            "its data directory belongs to user {}, and its server is to be user {uid}",
            found.uid()
        )),
        Ok(_) => {}
    }
    let name = place.name();
    match state.doing() {
        Doing::Vanished => whats.push(format!(
            "its server has vanished with its supervisor, as after a power cut: nuthatch instance start {name}"
        )),
        Doing::Unsupervised => whats.push(format!(
            "its server runs, and nobody would bring it back: nuthatch instance start {name} gives it a supervisor"
        )),
        Doing::Failed => whats.push(format!(
            "it is not started again by itself: {} (see {})",
            state.why.as_deref().unwrap_or("nobody knows why"),
            place.error_log().display()
        )),
        _ => {}
    }
    if record.address != host.address {
        whats.push(format!("it listens on {}, and the host's address is {}", record.address, host.address));
    }
    if state.live_server().is_some() {
        let pending = pending(place, &settle_in(root, place, &record)?)?;
        if !pending.is_empty() {
            whats.push(format!("these options wait for its next start: {}", pending.join(", ")));
        }
    }
    // One that does not answer is told above, or starts.
    whats.extend(repair::of_place(place).ok().flatten().into_iter().flatten().map(|ailment| {
        let how = ailment.remedy.map_or_else(String::new, |remedy| {
            format!(" (nuthatch instance replication --repair {name}: {remedy})")
        });
        format!("{}{how}", ailment.what)
    }));
    if let Err(error) = room_on_disk(place) {
        whats.push(format!("failed to {error}"));
    }
    if let Err(error) = record.server.find(record.server.kind.server()) {
        whats.push(format!("failed to {error}"));
    }
    Ok(whats)
}

fn ports_twice(root: &Root) -> Result<Vec<String>, InstanceError> {
    let mut ports: Vec<(u16, InstanceName)> = Vec::new();
    let mut whats = Vec::new();
    for place in root.claimed()? {
        let Ok(record) = place.record() else { continue };
        if let Some((_, other)) = ports.iter().find(|(port, _)| *port == record.port) {
            whats.push(format!("{other} and {} have the same port {}", place.name(), record.port));
        }
        ports.push((record.port, place.name().clone()));
    }
    Ok(whats)
}

fn too_much_memory(root: &Root) -> Result<Option<String>, InstanceError> {
    let Some(name) = root.names()?.into_iter().next() else { return Ok(None) };
    let memory = memory_beside(root, &name)?;
    let pool = pool_mib(&settle(root, &root.find(&name)?.record()?)?)?;
    Ok(memory
        .check(pool)
        .err()
        .map(|error| format!("together they take more than the host allows; failed to {error}")))
}
