//! How each instance is, as it is listed.

use serde::Serialize;

use crate::backup::noted::Noted;
use crate::error::InstanceError;
use crate::life::state::{Doing, State};
use crate::name::InstanceName;
use crate::options::layers::Settings;
use crate::root::{Place, Root, read_if_there};
use crate::settling::{pool_mib, settle_in};

/// An instance in the list.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Its name.
    pub name: InstanceName,
    /// Where it listens.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What it is doing.
    pub state: Doing,
    /// Why, where that is worth a word.
    pub why: Option<String>,
    /// Since when, in seconds since 1970; `None` for one that never ran.
    pub since_s: Option<u64>,
    /// `mariadb` or `mysql`.
    pub server: nuthatch_server::Kind,
    /// As it said when it answered last; empty before.
    pub version: String,
    /// The template it is made from.
    pub template: String,
    /// Its server's process, if it runs.
    pub pid: Option<i32>,
    /// Its Unix socket.
    pub socket: String,
    /// Its number in replication.
    pub server_id: u32,
    /// Whether it is started with the host.
    pub enabled: bool,
    /// InnoDB's buffer pool, in MiB.
    pub buffer_pool_mib: u64,
    /// How often it crashed in the last ten minutes in which it crashed.
    pub crashes: usize,
    /// When its last backup was whole, in seconds since 1970; `None` where none was taken.
    pub last_backup_s: Option<u64>,
    /// Options that wait for the next start.
    pub pending: Vec<String>,
}

impl Summary {
    /// Of one instance.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`], [`ServerError::File`](nuthatch_server::ServerError::File).
    pub fn of(root: &Root, place: &Place) -> Result<Self, InstanceError> {
        let record = place.record()?;
        let state = State::load(place)?;
        // A template that is gone keeps nobody from seeing the rest.
        let settled = settle_in(root, place, &record);
        let trouble = settled.as_ref().err().map(|error| format!("failed to {error}"));
        let settings = settled.unwrap_or_default();
        let pid = state.live_server().map(nuthatch_server::ProcessMark::pid);
        Ok(Self {
            name: place.name().clone(),
            host: record.address.to_string(),
            port: record.port,
            state: state.doing(),
            why: state.why.clone().or_else(|| trouble.clone()),
            since_s: Some(state.since_s).filter(|since| *since > 0),
            server: record.server.kind,
            version: state.version.clone(),
            template: record.template.clone(),
            pid,
            socket: place.socket().display().to_string(),
            server_id: record.server_id,
            enabled: record.enabled,
            buffer_pool_mib: pool_mib(&settings)?,
            crashes: state.crashes.len(),
            last_backup_s: Noted::load(place)?.map(|backup| backup.ended_s),
            pending: if pid.is_some() && trouble.is_none() { pending(place, &settings)? } else { Vec::new() },
        })
    }

    /// Those that run, and those that are to.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`], [`ServerError::File`](nuthatch_server::ServerError::File).
    pub fn wanted_to_run(root: &Root) -> Result<Vec<InstanceName>, InstanceError> {
        let mut names = root.names()?;
        let mut wanted = Vec::new();
        for name in names.drain(..) {
            let place = root.find(&name)?;
            if State::load(&place)?.live_server().is_some() || place.record()?.enabled {
                wanted.push(name);
            }
        }
        Ok(wanted)
    }

    /// Of all instances, by name.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn all(root: &Root) -> Result<Vec<Self>, InstanceError> {
        root.names()?.iter().map(|name| Self::of(root, &root.find(name)?)).collect()
    }
}

/// The options that a running server will have from its next start on only.
pub(crate) fn pending(place: &Place, settings: &Settings) -> Result<Vec<String>, InstanceError> {
    let Some(text) = read_if_there(&place.option_file())? else { return Ok(Vec::new()) };
    Ok(settings.differences(&text).into_iter().map(|(name, _, _)| name).collect())
}
