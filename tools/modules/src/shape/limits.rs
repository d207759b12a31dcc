//! The part `[shape]` of `modules.toml`: limits of crates and of folders.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use toml::{Table, Value};

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Limits {
    crates: BTreeMap<String, OfCrate>,
    /// By crate and folder.
    folders: BTreeMap<String, OfFolder>,
}

#[derive(Debug)]
pub(crate) struct OfCrate {
    /// Files in which one type has `impl` blocks.
    pub(crate) impl_files_max: usize,
    /// What stands in one folder.
    pub(crate) folder_files_max: usize,
}

#[derive(Debug)]
pub(crate) struct OfFolder {
    /// Fields of one struct.
    pub(crate) fields_max: usize,
    /// The path of the type that only the composing units take, from the folder's own module.
    pub(crate) whole: Vec<String>,
    /// What stands in the folder and may take the whole.
    pub(crate) composing: Vec<String>,
    /// The folder in the folder whose files are to have tests without what is named below.
    pub(crate) parts: String,
    /// The structs of the parts that may show fields.
    pub(crate) open_parts: Vec<String>,
    pub(crate) tested_parts_min: usize,
    pub(crate) tested_without: Vec<String>,
}

impl Limits {
    /// # Errors
    /// When a limit is missing or is something else, or there is one that is not known.
    pub(crate) fn parse(table: &Table) -> Result<Self> {
        let mut limits = Self { crates: BTreeMap::new(), folders: BTreeMap::new() };
        for (name, value) in table {
            let context = || format!("[shape] of {name}");
            let mut keys = Keys(value.as_table().cloned().with_context(context)?);
            if name.contains('/') {
                limits.folders.insert(name.clone(), OfFolder::read(&mut keys).with_context(context)?);
            } else {
                limits.crates.insert(name.clone(), OfCrate::read(&mut keys).with_context(context)?);
            }
            keys.end().with_context(context)?;
        }
        Ok(limits)
    }

    /// The crates that it speaks of.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let of_folders = self.folders.keys().filter_map(|name| name.split('/').next());
        self.crates.keys().map(String::as_str).chain(of_folders)
    }

    pub(crate) fn of_crate(&self, name: &str) -> Option<&OfCrate> {
        self.crates.get(name)
    }

    /// The folders below the crate's `src`.
    pub(crate) fn of_folders_in(&self, name: &str) -> impl Iterator<Item = (&str, &OfFolder)> {
        self.folders.iter().filter_map(move |(folder, limits)| {
            let (of, folder) = folder.split_once('/')?;
            (of == name).then_some((folder, limits))
        })
    }
}

impl OfCrate {
    fn read(keys: &mut Keys) -> Result<Self> {
        Ok(Self {
            impl_files_max: keys.number("impl_files_max")?,
            folder_files_max: keys.number("folder_files_max")?,
        })
    }
}

impl OfFolder {
    fn read(keys: &mut Keys) -> Result<Self> {
        Ok(Self {
            fields_max: keys.number("fields_max")?,
            whole: keys.text("whole")?.split("::").map(str::to_owned).collect(),
            composing: keys.texts("composing")?,
            parts: keys.text("parts")?,
            open_parts: keys.texts("open_parts")?,
            tested_parts_min: keys.number("tested_parts_min")?,
            tested_without: keys.texts("tested_without")?,
        })
    }
}

/// What has not been read yet.
struct Keys(Table);

impl Keys {
    fn number(&mut self, key: &str) -> Result<usize> {
        let number = self.take(key)?.as_integer().with_context(|| format!("{key} is no number"))?;
        usize::try_from(number).with_context(|| format!("{key} is below 0"))
    }

    fn text(&mut self, key: &str) -> Result<String> {
        text(&self.take(key)?, key)
    }

    fn texts(&mut self, key: &str) -> Result<Vec<String>> {
        let value = self.take(key)?;
        value
            .as_array()
            .with_context(|| format!("{key} is no list"))?
            .iter()
            .map(|value| text(value, key))
            .collect()
    }

    fn take(&mut self, key: &str) -> Result<Value> {
        self.0.remove(key).with_context(|| format!("{key} is missing"))
    }

    fn end(&self) -> Result<()> {
        let left: Vec<_> = self.0.keys().collect();
        ensure!(left.is_empty(), "these are not known: {left:?}");
        Ok(())
    }
}

fn text(value: &Value, key: &str) -> Result<String> {
    Ok(value.as_str().with_context(|| format!("{key} is no string"))?.to_owned())
}
