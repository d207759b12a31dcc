//! `modules.toml`: the crates that are looked at, what stands above what in their folders, what shape they keep, and what is still to
//! be mended.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use toml::{Table, Value};

use crate::shape::Limits;

/// How an order names the file of the folder's own module.
pub(crate) const OWN: &str = ".";

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Order {
    crates: BTreeMap<String, String>,
    /// By crate and folder: what stands in it, from above to below.
    folders: BTreeMap<String, Vec<String>>,
    known: BTreeMap<String, Debt>,
    pub(crate) limits: Limits,
}

/// What a crate has of what there should be none of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Debt {
    /// Arrows that point upward.
    pub(crate) upward: usize,
    /// Files that stand in a circle.
    pub(crate) in_circles: usize,
}

impl Order {
    /// # Errors
    /// When it is no TOML, or a part of it is missing or is something else.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse()?;
        let part = |name: &str| {
            table.get(name).and_then(Value::as_table).with_context(|| format!("[{name}] is missing"))
        };
        let crates = part("crates")?.iter().map(|(name, folder)| {
            let folder = folder.as_str().with_context(|| format!("{name} has no folder"))?;
            Ok((name.clone(), folder.to_owned()))
        });
        let folders = part("order")?.iter().map(|(folder, units)| {
            let units = units.as_array().with_context(|| format!("{folder} is no list"))?;
            let units = units.iter().map(|unit| Ok(unit.as_str().context("a unit is no string")?.to_owned()));
            Ok((folder.clone(), units.collect::<Result<_>>()?))
        });
        let known = part("known")?.iter().map(|(name, debt)| Ok((name.clone(), Debt::read(debt)?)));
        let order = Self {
            crates: crates.collect::<Result<_>>()?,
            folders: folders.collect::<Result<_>>()?,
            known: known.collect::<Result<_>>()?,
            limits: Limits::parse(part("shape")?)?,
        };
        let stranger = order.limits.names().find(|name| !order.crates.contains_key(*name));
        ensure!(stranger.is_none(), "[shape] speaks of a crate that is not in [crates]: {stranger:?}");
        Ok(order)
    }

    /// Names and folders.
    pub(crate) fn crates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.crates.iter().map(|(name, folder)| (name.as_str(), folder.as_str()))
    }

    /// What stands in a folder, from above to below.
    pub(crate) fn of_folder(&self, folder: &str) -> Option<&[String]> {
        self.folders.get(folder).map(Vec::as_slice)
    }

    pub(crate) fn known_of(&self, name: &str) -> Debt {
        self.known.get(name).copied().unwrap_or_default()
    }
}

impl Debt {
    fn read(value: &Value) -> Result<Self> {
        let of = |key: &str| {
            let number = value.get(key).and_then(Value::as_integer).unwrap_or_default();
            usize::try_from(number).with_context(|| format!("{key} is below 0"))
        };
        Ok(Self { upward: of("upward")?, in_circles: of("in_circles")? })
    }
}
