//! Stopping an instance: its server ends as it does when asked to, and is never killed for taking long.

use std::time::Duration;

use nuthatch_server::{Deadline, ProcessMark};
use rustix::process::Signal;

use crate::error::InstanceError;
use crate::life::state::{Phase, State};
use crate::life::systemd;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::root::{Place, Root};

/// How often a person hears that it still stops.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// The instance's server and supervisor have ended.
///
/// # Errors
/// [`InstanceError::StillRunning`] after `within`: it goes on stopping.
pub fn stop(
    root: &Root,
    name: &InstanceName,
    within: Duration,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    stop_locked(&place, within, progress)
}

pub(crate) fn stop_locked(
    place: &Place,
    within: Duration,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let name = place.name();
    let state = State::load(place)?;
    let processes: Vec<ProcessMark> =
        [state.live_supervisor(), state.live_server()].into_iter().flatten().cloned().collect();
    let Some(first) = processes.first() else {
        progress.step(&Step::Already(name.clone(), "is stopped"));
        return forget_what_vanished(place, state);
    };
    progress.step(&Step::Stopping(name.clone()));
    if systemd::is_in_charge() && state.live_supervisor().is_some() {
        systemd::control("stop", name)?;
    } else {
        first.signal(Signal::TERM);
        first.signal(Signal::CONT);
    }
    let mut waited = Duration::ZERO;
    while waited < within {
        let pause = SAY_EVERY.min(within - waited);
        let gone = || processes.iter().all(|process| !process.is_alive()).then_some(());
        if Deadline::after(pause).poll(gone).is_some() {
            progress.step(&Step::Stopped(name.clone()));
            return forget_what_vanished(place, State::load(place)?);
        }
        waited += pause;
        progress.step(&Step::StillStopping(name.clone(), waited.as_secs()));
    }
    let pid = processes.last().map_or(0, ProcessMark::pid);
    Err(InstanceError::StillRunning { name: name.clone(), pid, waited_s: within.as_secs() })
}

/// One that vanished, or whose supervisor did, counts as stopped from now on.
fn forget_what_vanished(place: &Place, mut state: State) -> Result<(), InstanceError> {
    if state.phase == Phase::Stopped {
        return Ok(());
    }
    state.enter(Phase::Stopped, None);
    state.crashes.clear();
    (state.server, state.supervisor) = (None, None);
    state.save(place)
}
