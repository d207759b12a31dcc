//! Taking one instance out of the proxies' hostgroups, and bringing it back, while its neighbours go on.

use std::time::Duration;

use crate::ask::wait_for;
use crate::error::InstanceError;
use crate::host::ProxyAdmin;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::proxies::Idle;
use crate::record::Record;
use crate::root::Root;

/// Whether a hostgroup may be left without a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// It may not.
    Refuse,
    /// It may: clients get errors.
    Take,
}

/// No proxy sends anything new to the instance, and what was running there has ended. It is so until [`end_maintenance`], or until a proxy is
/// started anew.
///
/// # Errors
/// [`InstanceError::Refused`] where a hostgroup would have nobody else, or a proxy cannot be told: then none was told. After `within` too, where
/// something still runs; nothing new comes then.
pub fn begin_maintenance(
    root: &Root,
    name: &InstanceName,
    last: Last,
    within: Duration,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let (proxies, record) = who_and_where(root, name)?;
    for proxy in &proxies {
        for listed in wait_for(proxy.listed(&record))? {
            if listed.status == "ONLINE" && listed.others_online == 0 && last == Last::Refuse {
                return Err(InstanceError::Refused(format!(
                    "take {name} out: it is the last one ONLINE in hostgroup {} of the proxy at {} (--last takes it nevertheless, and clients \
                     get errors)",
                    listed.hostgroup, proxy.admin
                )));
            }
        }
    }
    for proxy in &proxies {
        wait_for(proxy.turn(&record, "ONLINE", "OFFLINE_SOFT"))?;
        progress.step(&Step::Note(format!("the proxy at {} sends nothing new to {name}", proxy.admin)));
    }
    for proxy in &proxies {
        if wait_for(async { Ok(proxy.await_idle(&record, within).await) })? == Idle::NotYet {
            return Err(InstanceError::Refused(format!(
                "wait for what {name} still does for the proxy at {}: it has not ended after {} s; nothing new comes to it",
                proxy.admin,
                within.as_secs()
            )));
        }
    }
    progress.step(&Step::Note(format!(
        "{name} is out: nuthatch instance maintenance {name} --over brings it back"
    )));
    Ok(())
}

/// The proxies send to the instance again, wherever they had it.
///
/// # Errors
/// [`InstanceError::Refused`] where a proxy cannot be told; the others were.
pub fn end_maintenance(
    root: &Root,
    name: &InstanceName,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let (proxies, record) = who_and_where(root, name)?;
    let mut failed = None;
    for proxy in &proxies {
        match wait_for(proxy.turn(&record, "OFFLINE_SOFT", "ONLINE")) {
            Ok(()) => {
                progress.step(&Step::Note(format!("the proxy at {} sends to {name} again", proxy.admin)));
            }
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(()), Err)
}

fn who_and_where(root: &Root, name: &InstanceName) -> Result<(Vec<ProxyAdmin>, Record), InstanceError> {
    let record = root.find(name)?.record()?;
    let proxies = root.host()?.proxies;
    if proxies.is_empty() {
        return Err(InstanceError::Refused(format!(
            "take {name} out of the proxies' hostgroups: no proxy is known here (nuthatch instance host --proxy HOST:PORT --proxy-password-file FILE)"
        )));
    }
    Ok((proxies, record))
}
