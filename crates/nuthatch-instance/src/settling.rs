//! What is in force for an instance: the layers put together, and the buffer pool from what the host has left.

use crate::certificates;
use crate::error::InstanceError;
use crate::memory::{Memory, total_mib};
use crate::name::InstanceName;
use crate::options::built_in::DEFAULTS;
use crate::options::layers::{POOL, Settings, Source};
use crate::options::option_file::OptionFile;
use crate::options::size::parse_bytes;
use crate::options::{fixed, option_file};
use crate::record::Record;
use crate::root::{Place, Root, read_if_there};
use crate::template::Template;

/// A buffer pool where nothing is said of one: the servers' own default, in MiB.
const POOL_MIB_DEFAULT: u64 = 128;

/// The options of an instance but for those of its place; a buffer pool that is a share stays one until it was chosen.
pub(crate) fn settle(root: &Root, record: &Record) -> Result<Settings, InstanceError> {
    let kind = record.server.kind;
    let mut settings = Settings::default();
    let bad = |what: String| InstanceError::BadFile { path: root.defaults_file(), what };
    settings.lay(&OptionFile::parse(DEFAULTS).map_err(bad)?, kind, &Source::BuiltIn);
    if let Some(text) = read_if_there(&root.defaults_file())? {
        settings.lay(&OptionFile::parse(&text).map_err(bad)?, kind, &Source::Host);
    }
    let template = Template::find(root, &record.template)?;
    settings.lay(&template.options()?, kind, &Source::Template(template.name));
    for (name, value) in &record.own {
        settings.put(name, Some(value.clone()).filter(|value| !value.is_empty()), Source::Own);
    }
    if settings.pool_share().is_some()
        && let Some(pool_mib) = record.buffer_pool_mib
    {
        settings.settle_pool(pool_mib);
    }
    Ok(settings)
}

/// All of what its server is started with.
pub(crate) fn settle_in(root: &Root, place: &Place, record: &Record) -> Result<Settings, InstanceError> {
    let mut settings = settle(root, record)?;
    for (name, value) in fixed::of_place(place, record, &root.host()?.user)? {
        settings.put(&name, Some(value), Source::Place);
    }
    certificates::lay(place, &mut settings);
    Ok(settings)
}

/// Chooses the buffer pool of an instance, if it has a share, and refuses what does not fit beside the others.
pub(crate) fn choose_pool(
    root: &Root,
    name: &InstanceName,
    record: &mut Record,
) -> Result<(), InstanceError> {
    record.buffer_pool_mib = None;
    let settings = settle(root, record)?;
    let memory = memory_beside(root, name)?;
    match settings.pool_share() {
        Some(share) => record.buffer_pool_mib = Some(memory.pool_of_share(share)?),
        None => memory.check(pool_mib(&settings)?)?,
    }
    Ok(())
}

/// What the host has, and what all others than that one take of it.
pub(crate) fn memory_beside(root: &Root, name: &InstanceName) -> Result<Memory, InstanceError> {
    let host = root.host()?;
    let mut pools = Vec::new();
    for place in root.claimed()?.into_iter().filter(|place| place.name() != name) {
        pools.push((place.name().clone(), pool_mib(&settle(root, &place.record()?)?)?));
    }
    pools.sort();
    Ok(Memory { total_mib: total_mib(), share_pct: host.memory_pct, instance_mib: host.instance_mib, pools })
}

/// The size of the buffer pool, in MiB.
pub(crate) fn pool_mib(settings: &Settings) -> Result<u64, InstanceError> {
    let Some(text) = settings.value(POOL) else { return Ok(POOL_MIB_DEFAULT) };
    let bytes = parse_bytes(text).ok_or_else(|| {
        InstanceError::Refused(format!(
            "take {text:?} for {POOL}: a size such as 512M or 4G, or a share of the memory that is left, such as 25%, is possible"
        ))
    })?;
    Ok(bytes.div_ceil(1 << 20))
}

/// An option as a person gives it: `name=value`.
pub(crate) fn parse_assignment(text: &str) -> Result<(String, String), InstanceError> {
    let refuse = |what: String| InstanceError::Refused(format!("set {text:?}: {what}"));
    let (name, value) = text.split_once('=').ok_or_else(|| refuse("NAME=VALUE is wanted".to_owned()))?;
    let name = option_file::check_name(name).map_err(refuse)?;
    let value = value.trim().to_owned();
    option_file::check_value(&name, &value).map_err(refuse)?;
    Ok((name, value))
}

/// All options of an instance, each with where it comes from.
///
/// # Errors
/// [`InstanceError::BadFile`], [`ServerError::File`](nuthatch_server::ServerError::File).
pub fn settings_of(root: &Root, place: &Place) -> Result<Settings, InstanceError> {
    settle_in(root, place, &place.record()?)
}
