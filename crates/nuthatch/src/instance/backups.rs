//! `backup`, `backups`, `verify`, `restore` and `archive`.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use nuthatch_instance::{
    Backup, Data, Filled, InstanceName, Life, Origin, Pace, Progress, Retention, Root, Seal, Step, Store,
    Summary, Taking, USUAL_TEMPLATE, Until, Using, Wanted,
};
use nuthatch_server::Installation;
use parking_lot::Mutex;

use super::ask_person::named_again;
use super::bars::{Bars, Shared};
use super::said::failed;
use super::shown;
use super::starting::{WITHIN, start_one};
use crate::cli::{
    InstanceArchiveArguments, InstanceBackupArguments, InstanceBackupsArguments, InstancePaceArguments,
    InstanceRestoreArguments, InstanceSealArguments, InstanceVerifyArguments,
};
use crate::log::print_line;

/// `nuthatch instance backup`.
pub(super) fn backup(root: &Root, arguments: &InstanceBackupArguments) -> anyhow::Result<()> {
    let names = those_that_run(root, &arguments.names, arguments.all)?;
    let taking = Taking {
        incremental: arguments.incremental,
        seal: seal(&arguments.seal),
        pace: pace(&arguments.pace),
        retention: Retention { keep: arguments.keep, keep_days: arguments.keep_days },
    };
    if arguments.to == Path::new("-") {
        let [name] = names.as_slice() else { bail!("one instance at a time goes to standard output") };
        if arguments.incremental {
            bail!("an incremental backup rests on another one: it goes to a directory of backups");
        }
        let out = Box::new(std::io::stdout());
        nuthatch_instance::take_to_pipe(root, name, out, &taking, &mut Bars::beside_output())
            .map_err(failed)?;
        return Ok(());
    }
    let store = Store::open(&arguments.to).map_err(failed)?;
    let bars = Mutex::new(Bars::new());
    in_parallel(&names, arguments.parallel.into(), |name| {
        let mut progress = Shared::of(&bars);
        let backup = nuthatch_instance::take(root, name, &store, &taking, &mut progress).map_err(failed)?;
        progress.step(&Step::Note(format!("{name}: {}", shown::backup_in_words(&backup))));
        Ok(())
    })
}

/// `nuthatch instance backups`.
pub(super) fn list(arguments: &InstanceBackupsArguments) -> anyhow::Result<()> {
    let store = Store::open(&arguments.dir).map_err(failed)?;
    shown::backups(&store.backups(arguments.name.as_ref()).map_err(failed)?, arguments.output.json)
}

/// `nuthatch instance verify`.
pub(super) fn verify(root: &Root, arguments: &InstanceVerifyArguments) -> anyhow::Result<()> {
    let using = Using { identity: arguments.identity.identity.clone(), ..Using::default() };
    let backups = match Backup::at(&arguments.backup).map_err(failed)? {
        Some(backup) => vec![backup],
        None => last_of_each(&Store::open(&arguments.backup).map_err(failed)?)?,
    };
    if backups.is_empty() {
        bail!("{} is no backup, and has none", arguments.backup.display());
    }
    Root::create(root.dir()).map_err(failed)?;
    let mut bad = 0;
    for backup in &backups {
        match nuthatch_instance::verify(root, backup, &using, &mut Bars::new()) {
            Ok(verified) => print_line(&format!(
                "{} is good: {} tables, GTID position {}",
                backup.dir.display(),
                verified.tables,
                position(&verified.filled)
            ))?,
            Err(error) if backups.len() == 1 => return Err(failed(error)),
            Err(error) => {
                crate::log::say_error(&failed(error).context(backup.dir.display().to_string()));
                bad += 1;
            }
        }
    }
    match bad {
        0 => Ok(()),
        1 => bail!("one backup is not to be trusted"),
        several => bail!("{several} backups are not to be trusted"),
    }
}

fn last_of_each(store: &Store) -> anyhow::Result<Vec<Backup>> {
    let mut last: Vec<Backup> = Vec::new();
    for backup in store.backups(None).map_err(failed)? {
        last.retain(|one| one.manifest.instance != backup.manifest.instance);
        last.push(backup);
    }
    Ok(last)
}

/// `nuthatch instance restore`.
pub(super) fn restore(root: &Root, arguments: &InstanceRestoreArguments) -> anyhow::Result<()> {
    let name = &arguments.one.name;
    let until = arguments.until.as_deref().map(parse_until).transpose()?;
    let origin = origin(name, &arguments.from, until.as_ref())?;
    let using = Using {
        identity: arguments.identity.identity.clone(),
        until,
        is_another: arguments.another,
        ..Using::default()
    };
    Root::create(root.dir()).map_err(failed)?;
    let is_there = root.names().map_err(failed)?.contains(name);
    if !is_there {
        let wanted = wanted(arguments, &origin)?;
        let filled = nuthatch_instance::restore_new(root, &wanted, origin, &using, &mut Bars::new());
        say(&filled.map_err(failed)?)?;
        return if arguments.no_start { Ok(()) } else { start_one(root, name, WITHIN) };
    }
    if arguments.another {
        bail!("failed to add {name}: it is there already");
    }
    if arguments.port.is_some()
        || arguments.template.is_some()
        || arguments.server.is_some()
        || !arguments.set.is_empty()
    {
        bail!("{name} is there already: --port, --template, --server and --set are of a new instance");
    }
    named_again(arguments.yes.as_deref(), "puts a backup in the place of the data of", name)?;
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let life = Life { program: &program, within: WITHIN };
    let own = if arguments.destroy_data { Data::Destroy } else { Data::Keep };
    let outcome = nuthatch_instance::restore_over(root, name, origin, &using, own, &life, &mut Bars::new());
    let (filled, kept) = outcome.map_err(failed)?;
    say(&filled)?;
    match kept {
        Some(kept) => print_line(&format!("its data from before are in {}", kept.display())),
        None => Ok(()),
    }
}

fn say(filled: &Filled) -> anyhow::Result<()> {
    let manifest = &filled.manifest;
    print_line(&format!(
        "restored {} of {}, GTID position {}",
        manifest.id,
        manifest.instance,
        position(filled)
    ))
}

pub(super) fn position(filled: &Filled) -> &str {
    if filled.gtid.is_empty() { "none" } else { &filled.gtid }
}

/// Which backup is meant.
fn origin(name: &InstanceName, from: &Path, until: Option<&Until>) -> anyhow::Result<Origin> {
    if from == Path::new("-") {
        return Ok(Origin::Stream(Box::new(std::io::stdin()), None));
    }
    if from.is_file() {
        let file = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
        return Ok(Origin::Stream(Box::new(file), None));
    }
    if let Some(backup) = Backup::at(from).map_err(failed)? {
        return Ok(Origin::Store(Box::new(backup)));
    }
    let backups = Store::open(from).map_err(failed)?.backups(Some(name)).map_err(failed)?;
    let is_before = |backup: &Backup| match until {
        Some(Until::Time(wanted)) => backup.manifest.ended_s < *wanted,
        _ => true,
    };
    match backups.into_iter().rev().find(is_before) {
        Some(backup) => Ok(Origin::Store(Box::new(backup))),
        None => bail!(
            "{} has no whole backup of {name}{} (nuthatch instance backups {0} shows all)",
            from.display(),
            if matches!(until, Some(Until::Time(_))) { " from before that moment" } else { "" }
        ),
    }
}

fn wanted(arguments: &InstanceRestoreArguments, origin: &Origin) -> anyhow::Result<Wanted> {
    let record = match origin {
        Origin::Store(backup) => Some(&backup.manifest.record),
        Origin::Stream(..) => None,
    };
    let server = match (&arguments.server, record) {
        (Some(server), _) => Installation::named(server).map_err(failed)?,
        (None, Some(record)) => record.server.clone(),
        (None, None) => Installation::debian_mariadb(),
    };
    let own = match record {
        Some(record) if arguments.set.is_empty() => {
            record.own.iter().map(|(option, value)| format!("{option}={value}")).collect()
        }
        _ => arguments.set.clone(),
    };
    let template = arguments.template.clone().or_else(|| record.map(|record| record.template.clone()));
    Ok(Wanted {
        name: arguments.one.name.clone(),
        server,
        template: template.unwrap_or_else(|| USUAL_TEMPLATE.to_owned()),
        own,
        port: arguments.port,
        server_id: None,
        enabled: true,
    })
}

/// `end`, a GTID (`0-1-5`), or a time as date(1) reads it: in the zone of who asks, if it names none.
fn parse_until(text: &str) -> anyhow::Result<Until> {
    let is_gtid = |one: &str| {
        let parts: Vec<&str> = one.split('-').collect();
        parts.len() == 3 && parts.iter().all(|part| part.parse::<u64>().is_ok())
    };
    if text == "end" {
        return Ok(Until::End);
    }
    // 2026-11-29 is a day, and no GTID.
    let is_day = text.len() == 10 && text.split('-').next().is_some_and(|year| year.len() == 4);
    if !is_day && text.split(',').all(is_gtid) {
        return Ok(Until::Gtid(text.to_owned()));
    }
    let said = Command::new("date").arg("-d").arg(text).arg("+%s").stdin(Stdio::null()).output();
    let said = said.context("cannot run date")?;
    match String::from_utf8_lossy(&said.stdout).trim().parse() {
        Ok(seconds) => Ok(Until::Time(seconds)),
        Err(_) => bail!(
            "{text:?} is no moment: a time such as '2026-11-29 10:15:00', a GTID such as 0-1-5, or `end`"
        ),
    }
}

/// `nuthatch instance archive`.
pub(super) fn archive(root: &Root, arguments: &InstanceArchiveArguments) -> anyhow::Result<()> {
    let store = Store::open(&arguments.to).map_err(failed)?;
    let seal = seal(&arguments.seal);
    loop {
        let names =
            those_that_run(root, &arguments.names, arguments.all).or_else(|error| match arguments.every {
                // What is wrong with one today may be mended tomorrow.
                Some(_) => {
                    crate::log::say_error(&error);
                    Ok(Vec::new())
                }
                None => Err(error),
            })?;
        let done = in_parallel(&names, names.len().max(1), |name| {
            let now = nuthatch_instance::archive(root, name, &store, &seal).map_err(failed)?;
            if now.is_another_history {
                print_line(&format!(
                    "{name}: its binlogs do not follow those that are archived (RESET MASTER, or long not archived): take a backup, older ones lead \
                     only to the end of those"
                ))?;
            }
            for lost in &now.lost {
                print_line(&format!("{name}: {lost} is lost: the server removed it before it was archived"))?;
            }
            let tail = now.tail.iter().map(|tail| format!("{tail} so far"));
            let archived: Vec<String> = now.whole.iter().cloned().chain(tail).collect();
            if archived.is_empty() {
                return Ok(());
            }
            print_line(&format!("{name}: archived {}", archived.join(", ")))
        });
        let Some(every) = arguments.every else { return done };
        // One that is down today is there again tomorrow.
        if let Err(error) = done {
            crate::log::say_error(&error);
        }
        std::thread::sleep(Duration::from_secs(every));
    }
}

/// Those that are named; else all that run, and all that are to: that one of these is down has to be heard of.
pub(super) fn those_that_run(
    root: &Root,
    names: &[InstanceName],
    all: bool,
) -> anyhow::Result<Vec<InstanceName>> {
    if all { Summary::wanted_to_run(root).map_err(failed) } else { Ok(names.to_vec()) }
}

fn seal(arguments: &InstanceSealArguments) -> Seal {
    Seal { level: arguments.level, recipient_files: arguments.recipients.clone() }
}

/// One pace for all; this process, and whom it starts, is as polite to the disk as was said.
pub(super) fn pace(arguments: &InstancePaceArguments) -> Arc<Pace> {
    let class = match arguments.io.as_str() {
        "idle" => &["-c", "3"][..],
        "low" => &["-c", "2", "-n", "7"],
        _ => &[],
    };
    if !class.is_empty() {
        let process = std::process::id().to_string();
        let told = Command::new("ionice").args(class).args(["-p", &process]).stdin(Stdio::null()).status();
        if let Err(error) = told {
            tracing::debug!(%error, "the I/O priority stays as it was");
        }
    }
    Arc::new(Pace::new(arguments.limit))
}

/// Does it to each, so many at the same time; what fails for one keeps no other from it.
fn in_parallel(
    names: &[InstanceName],
    threads: usize,
    one: impl Fn(&InstanceName) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let left = Mutex::new(names.iter());
    let next = || left.lock().next();
    let errors = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(names.len()) {
            scope.spawn(|| {
                while let Some(name) = next() {
                    if let Err(error) = one(name) {
                        errors.lock().push(error);
                    }
                }
            });
        }
    });
    let mut errors = errors.into_inner().into_iter();
    let Some(first) = errors.next() else { return Ok(()) };
    errors.for_each(|error| crate::log::say_error(&error));
    Err(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_from_positions() {
        assert_eq!(parse_until("end").unwrap(), Until::End);
        assert_eq!(parse_until("0-1-5,1-2-9").unwrap(), Until::Gtid("0-1-5,1-2-9".into()));
        assert_eq!(parse_until("2026-11-29 09:52:26 UTC").unwrap(), Until::Time(1_795_945_946));
        assert!(matches!(parse_until("2026-11-29").unwrap(), Until::Time(_)));
        assert!(parse_until("the other day").unwrap_err().to_string().contains("no moment"));
    }
}
