//! Starting an instance: from the command line, until its server answers.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nuthatch_server::{Deadline, ProcessMark, ServerError, errors_or_tail, open_to_append};

use crate::account::Account;
use crate::certificates;
use crate::error::InstanceError;
use crate::life::state::{Doing, Phase, State};
use crate::life::systemd;
use crate::life::{check, pending};
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::root::{Place, Root};
use crate::settling::{settle, settle_in};

/// The instance's server answers. `program` is this program, whose process supervises it.
///
/// # Errors
/// [`InstanceError::Refused`] before anything is touched, [`InstanceError::NotStarted`] with the end of its log.
pub fn start(
    root: &Root,
    name: &InstanceName,
    program: &Path,
    within: Duration,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    start_locked(root, &place, program, within, progress)
}

pub(crate) fn start_locked(
    root: &Root,
    place: &Place,
    program: &Path,
    within: Duration,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let name = place.name();
    pending::settle(place)?;
    let state = State::load(place)?;
    match state.doing() {
        Doing::Running | Doing::Starting | Doing::Restarting => {
            progress.step(&Step::Already(name.clone(), "runs"));
            return await_answer(place, within, progress);
        }
        Doing::Stopping => {
            return Err(InstanceError::Refused(format!("start {name}: it is being stopped; wait for that")));
        }
        Doing::Unsupervised => {
            progress.step(&Step::Note(format!("{name} runs without a supervisor: it gets one")));
        }
        Doing::Stopped | Doing::Failed | Doing::Vanished => {
            let account = Account::of(&root.host()?)?;
            check::before_start(place, &place.record()?, &state, account.as_ref())?;
            write_options(root, place)?;
        }
    }
    progress.step(&Step::Starting(name.clone()));
    if systemd::is_in_charge() {
        systemd::control("start", name)?;
        return await_answer(place, within, progress);
    }
    let supervisor = spawn_supervisor(root, place, program)?;
    // It writes itself down.
    let is_known = || {
        let state = State::load(place).ok()?;
        (state.supervisor.as_ref() == Some(&supervisor) || !supervisor.is_alive()).then_some(())
    };
    if Deadline::after(within).poll(is_known).is_none() {
        return Err(not_started(place, "its supervisor does not begin"));
    }
    await_answer(place, within, progress)
}

/// Whether it could be started as the layers say now: looked at before it is stopped.
///
/// # Errors
/// [`InstanceError::Refused`], [`InstanceError::BadFile`].
pub fn check_options(root: &Root, name: &InstanceName) -> Result<(), InstanceError> {
    let place = root.find(name)?;
    let record = place.record()?;
    Account::of(&root.host()?)?;
    check::options_are_known(&record, &settle(root, &record)?.to_text(), &place.run_dir())
}

/// The option file is written anew, as the layers say now.
///
/// # Errors
/// [`InstanceError::BadFile`], [`ServerError::File`].
pub fn write_options(root: &Root, place: &Place) -> Result<(), InstanceError> {
    let record = place.record()?;
    certificates::ensure(root, place, &record)?;
    let text = settle_in(root, place, &record)?.to_text();
    place.write(&place.option_file(), &text)
}

fn spawn_supervisor(root: &Root, place: &Place, program: &Path) -> Result<ProcessMark, InstanceError> {
    let account = Account::of(&root.host()?)?;
    let path = place.supervisor_log();
    let log = open_to_append(&path, 0o640);
    let log = log.map_err(ServerError::file("open", &path))?;
    place.give(&path)?;
    let mut command = Command::new(program);
    command
        .args(["instance", "--root"])
        .arg(root.dir())
        .args(["supervise", place.name().as_str()])
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(ServerError::file("open", &path))?)
        .stderr(log)
        .current_dir("/")
        .process_group(0);
    if let Some(account) = &account {
        command.uid(account.uid).gid(account.gid);
    }
    let child = command.spawn().map_err(|error| {
        let user = account.as_ref().map_or(String::new(), |account| format!(" as user {}", account.name));
        InstanceError::Refused(format!("run {}{user}: {error}", program.display()))
    })?;
    ProcessMark::of(child.id()).ok_or_else(|| not_started(place, "its supervisor ended at once"))
}

/// Waits until the supervisor says that the server answers.
fn await_answer(place: &Place, within: Duration, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    let look = || {
        let mut state = State::load(place).ok()?;
        if state.doing() == Doing::Vanished {
            // It may have written down why and ended since.
            state = State::load(place).ok()?;
        }
        match (state.doing(), state.phase) {
            (Doing::Running, _) => Some(Ok(())),
            (Doing::Failed | Doing::Stopped | Doing::Vanished | Doing::Unsupervised, _) => {
                Some(Err(state.why.unwrap_or_else(|| "its supervisor ended".into())))
            }
            (_, Phase::Restarting) if !state.crashes.is_empty() => Some(Err(state.why.unwrap_or_default())),
            _ => None,
        }
    };
    match Deadline::after(within).poll(look) {
        Some(Ok(())) => {
            let record = place.record()?;
            progress.step(&Step::Ready(place.name().clone(), format!("{}:{}", record.address, record.port)));
            Ok(())
        }
        Some(Err(why)) => Err(not_started(place, &why)),
        None => Err(not_started(
            place,
            &format!("it does not answer after {} s, and goes on starting", within.as_secs()),
        )),
    }
}

fn not_started(place: &Place, what: &str) -> InstanceError {
    let supervisor = errors_or_tail(&place.supervisor_log());
    let server = place.error_log();
    let log_tail = if server.exists() { errors_or_tail(&server) } else { supervisor };
    InstanceError::NotStarted { name: place.name().clone(), what: what.to_owned(), log_tail }
}

/// The instance is started with the host from now on, or not.
///
/// # Errors
/// [`InstanceError::NoInstance`], [`InstanceError::Refused`] where systemd does not do it.
pub fn enable(root: &Root, name: &InstanceName, enabled: bool) -> Result<(), InstanceError> {
    let place = root.find(name)?;
    let _lock = place.lock()?;
    let mut record = place.record()?;
    record.enabled = enabled;
    place.write(&place.record_file(), &record.to_text()?)?;
    if systemd::is_in_charge() {
        systemd::control(if enabled { "enable" } else { "disable" }, name)?;
    }
    Ok(())
}
