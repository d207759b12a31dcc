//! What has to be done for a host to be as its text says.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use nuthatch_server::Installation;

use crate::add::{Wanted, add, choose};
use crate::change::{Change, Changed, When, change, differences_to, plan as plan_change};
use crate::converge::described::{Described, DescribedInstance};
use crate::converge::stage::{Stage, write_layers};
use crate::error::InstanceError;
use crate::host::Host;
use crate::life::check::options_are_known;
use crate::life::start::{enable, start};
use crate::life::state::State;
use crate::life::stop::stop;
use crate::name::InstanceName;
use crate::options::option_file::OptionFile;
use crate::progress::{Progress, Step};
use crate::record::Record;
use crate::replication::dialect::OF_PAIRS;
use crate::replication::link::Link;
use crate::root::{Place, Root};
use crate::settling::{settings_of, settle};

/// A step of a plan. `Display` says it in a line or more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Action {
    /// What holds for the host is settled anew.
    SettleHost(Vec<String>),
    /// `defaults.cnf`, or a template, is written.
    WriteLayer(String),
    /// Options of an instance change.
    Change(InstanceName, Change, Vec<Changed>),
    /// An instance is added.
    Add(Box<Wanted>, u16),
    /// It starts with the host from now on, or not.
    Enable(InstanceName, bool),
    /// It is started.
    Start(InstanceName),
    /// It is stopped.
    Stop(InstanceName),
}

/// What has to be done, in this order.
#[derive(Debug)]
pub struct Plan {
    wanted: Described,
    /// The steps.
    pub actions: Vec<Action>,
    /// What is there and not wanted, and is left alone.
    pub left_alone: Vec<InstanceName>,
    /// What the text would have otherwise and stays as it is, in words.
    pub kept: Vec<String>,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SettleHost(lines) => write!(f, "settle the host: {}", lines.join(", ")),
            Self::WriteLayer(name) => write!(f, "write {name}"),
            Self::Change(name, change, changed) => {
                write!(f, "change {name}")?;
                if let Some(template) = &change.template {
                    write!(f, ", made from {template} from now on")?;
                }
                for one in changed {
                    let line = |line: &Option<String>| line.clone().unwrap_or_else(|| "nothing".into());
                    write!(f, "\n    {} -> {}", line(&one.before), line(&one.after))?;
                }
                Ok(())
            }
            Self::Add(wanted, port) => {
                write!(
                    f,
                    "add {} from {} on port {port}, {}",
                    wanted.name,
                    wanted.template,
                    wanted.server.name()
                )?;
                wanted.own.iter().try_for_each(|own| write!(f, "\n    {own}"))
            }
            Self::Enable(name, true) => write!(f, "start {name} with the host"),
            Self::Enable(name, false) => write!(f, "do not start {name} with the host"),
            Self::Start(name) => write!(f, "start {name}"),
            Self::Stop(name) => write!(f, "stop {name}"),
        }
    }
}

impl Plan {
    /// From what is there to what is wanted. Nothing is touched.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] for what cannot be had: another port of one that is there, more memory than the host has.
    pub fn make(root: &Root, wanted: Described) -> Result<Self, InstanceError> {
        let mut actions = Vec::new();
        let before = Described::of(root)?;
        let lines = host_lines(&before, &wanted)?;
        if !lines.is_empty() {
            actions.push(Action::SettleHost(lines));
        }
        actions.extend(layers(&before, &wanted)?);
        let stage = Stage::of(root, &wanted)?;
        let mut kept = Vec::new();
        for (name, instance) in &wanted.instances {
            if before.instances.contains_key(name) {
                actions.extend(of_existing(root, &stage, name, instance, &mut kept)?);
            }
        }
        // Behind the changes: one of them may have made room.
        let mut new: Vec<_> =
            wanted.instances.iter().filter(|(name, _)| !before.instances.contains_key(*name)).collect();
        // Who names no port takes none that another names.
        new.sort_by_key(|(_, instance)| instance.port.is_none());
        for (name, instance) in new {
            actions.extend(of_new(root, &stage, name, instance)?);
        }
        let is_unknown = |name: &&InstanceName| !wanted.instances.contains_key(*name);
        let left_alone = before.instances.keys().filter(is_unknown).cloned().collect();
        Ok(Self { wanted, actions, left_alone, kept })
    }

    /// Does it, and stops at the first step that fails: done again, it goes on from there.
    ///
    /// # Errors
    /// The step's.
    pub fn carry_out(
        &self,
        root: &Root,
        program: &Path,
        within: Duration,
        progress: &mut dyn Progress,
    ) -> Result<(), InstanceError> {
        let root = &Root::create(root.dir())?;
        for action in &self.actions {
            match action {
                Action::SettleHost(_) => root.settle_host(&self.wanted.host.clone().unwrap_or_default())?,
                Action::WriteLayer(_) => write_layers(root, &self.wanted)?,
                Action::Change(name, wanted, _) => {
                    for one in change(root, &root.find(name)?, wanted)? {
                        let when = match one.when {
                            When::Now => "is in force",
                            When::AtStart | When::AtNextStart => "waits for its next start",
                        };
                        progress.step(&Step::Note(format!("{name}: {} {when}", one.name)));
                    }
                }
                Action::Add(wanted, _) => add(root, wanted, progress)?,
                Action::Enable(name, enabled) => enable(root, name, *enabled)?,
                Action::Start(name) => start(root, name, program, within, progress)?,
                Action::Stop(name) => stop(root, name, within, progress)?,
            }
        }
        Ok(())
    }
}

fn host_lines(before: &Described, wanted: &Described) -> Result<Vec<String>, InstanceError> {
    let lines = |host: &Host| -> Result<Vec<String>, InstanceError> {
        Ok(host.to_text()?.lines().map(str::to_owned).collect())
    };
    let (Some(before), Some(wanted)) = (&before.host, &wanted.host) else { return Ok(Vec::new()) };
    let (before, mut wanted) = (lines(before)?, lines(wanted)?);
    let are_gone = before.iter().any(|line| !wanted.contains(line));
    wanted.retain(|line| !before.contains(line) && !line.is_empty());
    if wanted.is_empty() && are_gone {
        wanted.push("fewer proxies".into());
    }
    Ok(wanted)
}

/// Which option files differ; each is looked at for mistakes.
fn layers(before: &Described, wanted: &Described) -> Result<Vec<Action>, InstanceError> {
    let read = |name: &str, text: &str| {
        OptionFile::parse(text)
            .map(drop)
            .map_err(|what| InstanceError::Refused(format!("take {name} as it is written: {what}")))
    };
    let mut actions = Vec::new();
    let defaults = wanted.defaults.as_deref();
    read("defaults", defaults.unwrap_or_default())?;
    if defaults.is_some_and(|text| before.defaults.as_deref().unwrap_or_default() != text) {
        actions.push(Action::WriteLayer("defaults.cnf".into()));
    }
    for (name, text) in &wanted.templates {
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_plain || name.is_empty() {
            return Err(InstanceError::Refused(format!(
                "take {name:?} for a template: letters, digits, _ and - are possible"
            )));
        }
        read(&format!("the template {name}"), text)?;
        if before.templates.get(name) != Some(text) {
            actions.push(Action::WriteLayer(format!("the template {name}")));
        }
    }
    Ok(actions)
}

fn of_existing(
    root: &Root,
    stage: &Stage,
    name: &InstanceName,
    wanted: &DescribedInstance,
    kept: &mut Vec<String>,
) -> Result<Vec<Action>, InstanceError> {
    let place = root.find(name)?;
    let record = place.record()?;
    let refuse = |what: String| Err(InstanceError::Refused(format!("have {name} so: {what}")));
    let server = Installation::named(&wanted.server)?;
    if server != record.server {
        return refuse(format!(
            "its server is {}, and {} is wanted: nuthatch instance upgrade does that, which is tried on a copy first",
            record.server.name(),
            server.name()
        ));
    }
    if let Some(port) = wanted.port.filter(|port| *port != record.port) {
        return refuse(format!(
            "its port is {}, and {port} is wanted: an instance keeps its port",
            record.port
        ));
    }
    let mut actions = Vec::new();
    let wish = own_options(&place, &record, wanted, kept)?;
    let (next, settings) = plan_change(stage.root(), &place, &wish)?;
    options_are_known(&next, &settle(stage.root(), &next)?.to_text(), stage.root().dir())?;
    stage.put(name, &next)?;
    // What waits for a start is no news.
    if next != record || settings != settings_of(root, &place)? {
        actions.push(Action::Change(name.clone(), wish, differences_to(&place, &settings)?));
    }
    if record.enabled != wanted.enabled {
        actions.push(Action::Enable(name.clone(), wanted.enabled));
    }
    match (State::load(&place)?.live_server().is_some(), wanted.running) {
        (false, true) => actions.push(Action::Start(name.clone())),
        (true, false) => actions.push(Action::Stop(name.clone())),
        _ => {}
    }
    Ok(actions)
}

/// What the text says of its own options and its template. What replication has set stays as long as it replicates, whatever the text says: a
/// replica would be written to, or both sides of a pair would give the same numbers.
fn own_options(
    place: &Place,
    record: &Record,
    wanted: &DescribedInstance,
    kept: &mut Vec<String>,
) -> Result<Change, InstanceError> {
    let name = place.name();
    let own = wanted.own()?;
    let is_replica = Link::load(place)?.is_some();
    let is_kept = |option: &str| is_replica && OF_PAIRS.contains(&option);
    let differs = |(option, value): &(&String, &String)| record.own.get(*option) != Some(*value);
    let (stay, set): (Vec<_>, Vec<_>) = own.iter().filter(differs).partition(|(option, _)| is_kept(option));
    for (option, value) in stay {
        let has = record
            .own
            .get(option)
            .map_or_else(|| "none of its own".to_owned(), |has| format!("{option}={has}"));
        kept.push(format!(
            "{name} keeps {has}, and is not given {option}={value}: it replicates (nuthatch instance set {name} {option}={value} says otherwise)"
        ));
    }
    let is_gone = |option: &&String| !own.contains_key(*option) && !is_kept(option);
    Ok(Change {
        set: assignments(set.into_iter()),
        unset: record.own.keys().filter(is_gone).cloned().collect(),
        template: Some(wanted.template.clone()).filter(|template| *template != record.template),
    })
}

fn of_new(
    root: &Root,
    stage: &Stage,
    name: &InstanceName,
    wanted: &DescribedInstance,
) -> Result<Vec<Action>, InstanceError> {
    // One that is no instance of ours is in the way.
    if root.place(name).dir().exists() {
        root.find(name)?;
    }
    let server = Installation::named(&wanted.server)?;
    server.find(server.kind.server())?;
    let add = Wanted {
        name: name.clone(),
        server,
        template: wanted.template.clone(),
        own: assignments(wanted.own()?.iter()),
        port: wanted.port,
        server_id: None,
        enabled: wanted.enabled,
    };
    let record = choose(stage.root(), &add)?;
    options_are_known(&record, &settle(stage.root(), &record)?.to_text(), stage.root().dir())?;
    stage.put(name, &record)?;
    let mut actions = vec![Action::Add(Box::new(add), record.port)];
    if wanted.running {
        actions.push(Action::Start(name.clone()));
    }
    Ok(actions)
}

fn assignments<'a>(own: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    own.map(|(option, value)| format!("{option}={value}")).collect()
}
