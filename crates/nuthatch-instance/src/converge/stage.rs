//! A copy of a host's settings, templates and records, on which a plan is tried.

use std::fs;

use nuthatch_server::{ServerError, make_private_dir, write_private};

use crate::converge::described::Described;
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::record::Record;
use crate::root::Root;

/// A root without data, which is gone at its end.
pub(crate) struct Stage {
    root: Root,
    _dir: tempfile::TempDir,
}

impl Stage {
    /// With the records of `root`, and the settings and templates that are wanted.
    pub(crate) fn of(root: &Root, wanted: &Described) -> Result<Self, InstanceError> {
        let dir = tempfile::Builder::new().prefix("nuthatch-plan").tempdir();
        let dir = dir.map_err(ServerError::file("make a directory in", std::env::temp_dir()))?;
        let stage = Self { root: Root::create(dir.path())?, _dir: dir };
        stage.root.settle_host(&wanted.host.clone().map_or_else(|| root.host(), Ok)?)?;
        // What the text does not name stays as it is.
        let before = Described::of(root)?;
        write_layers(&stage.root, &before)?;
        write_layers(&stage.root, wanted)?;
        for place in root.claimed()? {
            stage.put(place.name(), &place.record()?)?;
        }
        Ok(stage)
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// The instance counts as being so, from now on.
    pub(crate) fn put(&self, name: &InstanceName, record: &Record) -> Result<(), InstanceError> {
        let place = self.root.place(name);
        make_private_dir(place.dir()).map_err(ServerError::file("make the directory", place.dir()))?;
        Ok(write_private(&place.record_file(), &record.to_text()?)?)
    }
}

/// The root's `defaults.cnf` and templates are those; a template that is not wanted any more stays.
pub(crate) fn write_layers(root: &Root, wanted: &Described) -> Result<(), InstanceError> {
    match wanted.defaults.as_deref() {
        None => {}
        Some("") => nuthatch_server::remove_file(&root.defaults_file())?,
        Some(text) => write_private(&root.defaults_file(), text)?,
    }
    let dir = root.templates_dir();
    if !wanted.templates.is_empty() {
        fs::create_dir_all(&dir).map_err(ServerError::file("make the directory", &dir))?;
    }
    for (name, text) in &wanted.templates {
        write_private(&dir.join(format!("{name}.cnf")), text)?;
    }
    Ok(())
}
