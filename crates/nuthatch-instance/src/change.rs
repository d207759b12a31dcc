//! Changing an instance's options: at once where its server can, else at its next start.
//!
//! A change is tried in this order: the names and values, the room in memory, the server's own check of the whole, `SET GLOBAL` on a server
//! that runs. It is written down when all of that went well; a value that the server refuses leaves everything as it was.

use std::collections::BTreeMap;
use std::fs;

use nuthatch_server::ServerError;

use crate::ask::{PATIENTLY, Session, wait_for};
use crate::error::InstanceError;
use crate::life::check;
use crate::life::state::{Doing, State};
use crate::options::layers::{POOL, Settings};
use crate::options::option_file::check_name;
use crate::options::size::parse_bytes;
use crate::record::Record;
use crate::root::{Place, Root, read_if_there};
use crate::settling::{choose_pool, memory_beside, parse_assignment, pool_mib, settle, settle_in};
use crate::template::Template;

/// What becomes of an option that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The option.
    pub name: String,
    /// Its line in the option file before; `None` where it had none.
    pub before: Option<String>,
    /// And now.
    pub after: Option<String>,
    /// When that is in force.
    pub when: When,
}

/// When a change is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Since now.
    Now,
    /// The server does not run.
    AtStart,
    /// The server runs, and takes it from its option file only.
    AtNextStart,
}

/// What is wanted to be different.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Own options, `name=value` each.
    pub set: Vec<String>,
    /// Own options that are to be those of the layers below again.
    pub unset: Vec<String>,
    /// Another template.
    pub template: Option<String>,
}

/// What a change would make different, against what the server was started with and was told since. Nothing is touched.
///
/// # Errors
/// [`InstanceError::Refused`] for what cannot be set.
pub fn preview(root: &Root, place: &Place, change: &Change) -> Result<Vec<Changed>, InstanceError> {
    let _lock = root.lock()?;
    let (_, settings) = plan(root, place, change)?;
    differences_to(place, &settings)
}

/// Has it so.
///
/// # Errors
/// [`InstanceError::Refused`], [`InstanceError::Statement`] for a value that the server refuses: nothing is changed then.
pub fn change(root: &Root, place: &Place, change: &Change) -> Result<Vec<Changed>, InstanceError> {
    let _lock = place.lock()?;
    let _chosen = root.lock()?;
    let (record, settings) = plan(root, place, change)?;
    check::options_are_known(&record, &settle(root, &record)?.to_text(), &place.run_dir())?;
    let mut changed = differences_to(place, &settings)?;
    let state = State::load(place)?;
    if state.live_server().is_some() && matches!(state.doing(), Doing::Running | Doing::Unsupervised) {
        wait_for(set_all(place, &settings, &mut changed))?;
    }
    place.write(&place.record_file(), &record.to_text()?)?;
    note_in_option_file(place, &changed)?;
    Ok(changed)
}

/// The record and the settings that the change comes to; the buffer pool is chosen anew only where the change is about it.
pub(crate) fn plan(root: &Root, place: &Place, change: &Change) -> Result<(Record, Settings), InstanceError> {
    let mut record = place.record()?;
    for name in &change.unset {
        let name =
            check_name(name).map_err(|what| InstanceError::Refused(format!("unset {name}: {what}")))?;
        if record.own.remove(&name).is_none() {
            return Err(InstanceError::Refused(format!(
                "unset {name}: {} has none of its own{}",
                place.name(),
                own_words(&record)
            )));
        }
    }
    for assignment in &change.set {
        let (name, value) = parse_assignment(assignment)?;
        record.own.insert(name, value);
    }
    if let Some(template) = &change.template {
        Template::find(root, template)?;
        record.template.clone_from(template);
    }
    if pool_said(root, &record)? != pool_said(root, &place.record()?)? {
        choose_pool(root, place.name(), &mut record)?;
    }
    let mut settings = settle_in(root, place, &record)?;
    if settings.pool_share().is_some() {
        // The layers say a share where they said a size.
        choose_pool(root, place.name(), &mut record)?;
        settings = settle_in(root, place, &record)?;
    } else if is_another_pool(place, &settings)? {
        memory_beside(root, place.name())?.check(pool_mib(&settings)?)?;
    }
    Ok((record, settings))
}

/// Whether the server was told another size: the layers may have changed since.
fn is_another_pool(place: &Place, settings: &Settings) -> Result<bool, InstanceError> {
    let text = read_if_there(&place.option_file())?.unwrap_or_default();
    Ok(settings.differences(&text).iter().any(|(name, _, _)| name == POOL))
}

/// What the layers say of the buffer pool, which may be a share.
fn pool_said(root: &Root, record: &Record) -> Result<Option<String>, InstanceError> {
    let mut unchosen = record.clone();
    unchosen.buffer_pool_mib = None;
    Ok(settle(root, &unchosen)?.value(POOL).map(str::to_owned))
}

fn own_words(record: &Record) -> String {
    if record.own.is_empty() {
        return ", nor any other".into();
    }
    let names: Vec<&str> = record.own.keys().map(String::as_str).collect();
    format!("; it has {}", names.join(", "))
}

/// What the settings say otherwise than the server was told.
pub(crate) fn differences_to(place: &Place, settings: &Settings) -> Result<Vec<Changed>, InstanceError> {
    let text = read_if_there(&place.option_file())?.unwrap_or_default();
    let is_running = State::load(place)?.live_server().is_some();
    let when = if is_running { When::AtNextStart } else { When::AtStart };
    let differences = settings.differences(&text).into_iter();
    Ok(differences.map(|(name, before, after)| Changed { name, before, after, when }).collect())
}

/// Sets what the server takes at run time. What it has taken is taken back if it refuses a later one.
async fn set_all(place: &Place, settings: &Settings, changed: &mut [Changed]) -> Result<(), InstanceError> {
    /// `ER_INCORRECT_GLOBAL_LOCAL_VAR`: the variable is read only.
    const READ_ONLY: u16 = 1238;
    /// `ER_UNKNOWN_SYSTEM_VARIABLE`: it is an option of the start alone.
    const UNKNOWN: u16 = 1193;
    let mut session = Session::open(place).await?;
    let mut taken: Vec<(String, Option<String>)> = Vec::new();
    for one in changed.iter_mut() {
        let value = settings.value(&one.name);
        let literal = value.map_or_else(|| "DEFAULT".to_owned(), literal);
        let before = session.in_force(&one.name).await;
        match session.ask(&format!("SET GLOBAL {} = {literal}", one.name), PATIENTLY).await {
            Ok(_) => {
                one.when = When::Now;
                taken.push((one.name.clone(), before));
            }
            Err(InstanceError::Statement { code: READ_ONLY | UNKNOWN, .. }) => {}
            Err(error) => {
                take_back(&mut session, taken).await;
                return Err(error);
            }
        }
    }
    Ok(())
}

async fn take_back(session: &mut Session, taken: Vec<(String, Option<String>)>) {
    for (name, before) in taken {
        let before = before.as_deref().map_or_else(|| "DEFAULT".to_owned(), literal);
        if let Err(error) = session.ask(&format!("SET GLOBAL {name} = {before}"), PATIENTLY).await {
            tracing::error!(name, %error, "a value that was set could not be taken back");
        }
    }
}

/// Options as they were before a change: what was written down of them, and what was in force.
pub(crate) struct OptionsBefore(Vec<OptionBefore>);

struct OptionBefore {
    name: String,
    own: Option<String>,
    /// Its line in the option file.
    line: Option<String>,
    in_force: Option<String>,
}

impl OptionsBefore {
    /// Of these, `name=value` each, on a server that runs.
    pub(crate) fn note(place: &Place, set: &[String]) -> Result<Self, InstanceError> {
        let own = place.record()?.own;
        let lines = Settings::lines_of(&read_if_there(&place.option_file())?.unwrap_or_default());
        let names: Result<Vec<String>, _> =
            set.iter().map(|one| parse_assignment(one).map(|(name, _)| name)).collect();
        wait_for(async {
            let mut session = Session::open(place).await?;
            let mut options = Vec::new();
            for name in names? {
                let in_force = session.in_force(&name).await;
                let (own, line) = (own.get(&name).cloned(), lines.get(&name).cloned());
                options.push(OptionBefore { name, own, line, in_force });
            }
            Ok(Self(options))
        })
    }

    /// They are so again. What was in force beside what is written down, as where somebody has fenced the server by `SET GLOBAL read_only`, is in
    /// force again without ever having been lifted.
    pub(crate) fn take_back(&self, root: &Root, place: &Place) -> Result<(), InstanceError> {
        let _lock = place.lock()?;
        let _chosen = root.lock()?;
        let mut record = place.record()?;
        for option in &self.0 {
            match &option.own {
                Some(own) => record.own.insert(option.name.clone(), own.clone()),
                None => record.own.remove(&option.name),
            };
        }
        place.write(&place.record_file(), &record.to_text()?)?;
        note_lines(place, self.0.iter().map(|option| (&option.name, option.line.as_ref())))?;
        wait_for(self.set(place))
    }

    async fn set(&self, place: &Place) -> Result<(), InstanceError> {
        let mut session = Session::open(place).await?;
        // Only by a fence of MySQL's, which SET GLOBAL read_only = OFF would lift too.
        let is_fenced = session.in_force("super_read_only").await.is_some_and(|value| value == "1");
        for option in &self.0 {
            let Some(before) = &option.in_force else { continue };
            let is_so = session.in_force(&option.name).await.as_ref() == Some(before);
            if is_so || (is_fenced && option.name == "read_only") {
                continue;
            }
            session.ask(&format!("SET GLOBAL {} = {}", option.name, literal(before)), PATIENTLY).await?;
        }
        Ok(())
    }
}

/// A value of an option file as SQL.
pub(crate) fn literal(value: &str) -> String {
    let is_number = value.parse::<f64>().is_ok() && !value.contains(['n', 'N', 'i', 'I']);
    match parse_bytes(value) {
        Some(bytes) => bytes.to_string(),
        None if is_number => value.to_owned(),
        None => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''")),
    }
}

/// The option file tells what is in force: what was set at run time too, what waits for the next start not.
fn note_in_option_file(place: &Place, changed: &[Changed]) -> Result<(), InstanceError> {
    let now = changed.iter().filter(|one| one.when == When::Now);
    note_lines(place, now.map(|one| (&one.name, one.after.as_ref())))
}

/// The option file has these lines, and none of what has none.
fn note_lines<'a>(
    place: &Place,
    changed: impl Iterator<Item = (&'a String, Option<&'a String>)>,
) -> Result<(), InstanceError> {
    let path = place.option_file();
    let text = fs::read_to_string(&path).map_err(ServerError::file("read", &path))?;
    let mut lines: BTreeMap<String, String> = Settings::lines_of(&text);
    for (name, line) in changed {
        match line {
            Some(line) => lines.insert(name.clone(), line.clone()),
            None => lines.remove(name),
        };
    }
    let head: String =
        text.lines().take_while(|line| line.starts_with(['#', '['])).flat_map(|line| [line, "\n"]).collect();
    let lines: String = lines.values().flat_map(|line| [line.as_str(), "\n"]).collect();
    place.write(&path, &(head + &lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_sql() {
        let literals = ["64M", "100", "0.5", "ON", "it's", "inf", "REPEATABLE-READ"].map(literal);
        assert_eq!(literals, ["67108864", "100", "0.5", "'ON'", "'it''s'", "'inf'", "'REPEATABLE-READ'"]);
    }
}
