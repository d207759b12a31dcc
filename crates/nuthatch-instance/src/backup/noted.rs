//! What an instance remembers of its last backup, wherever that is: so that somebody hears when there is none any more.

use serde::{Deserialize, Serialize};

use crate::backup::store::Backup;
use crate::error::InstanceError;
use crate::root::{Place, read_if_there};

/// The last backup of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// When it was whole, in seconds since 1970.
    pub(crate) ended_s: u64,
    /// Its directory.
    pub(crate) dir: String,
    /// Its size there.
    pub(crate) bytes: u64,
}

impl Noted {
    pub(crate) fn of(backup: &Backup) -> Self {
        Self {
            ended_s: backup.manifest.ended_s,
            dir: backup.dir.display().to_string(),
            bytes: backup.manifest.stored.as_ref().map_or(0, |stored| stored.bytes),
        }
    }

    pub(crate) fn save(&self, place: &Place) -> Result<(), InstanceError> {
        let text = toml::to_string(self)
            .map_err(|error| InstanceError::Refused(format!("take note of the backup: {error}")))?;
        place.write(&place.backup_file(), &text)
    }

    /// `None` where none was taken.
    pub(crate) fn load(place: &Place) -> Result<Option<Self>, InstanceError> {
        let path = place.backup_file();
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        toml::from_str(&text)
            .map(Some)
            .map_err(|error| InstanceError::BadFile { path, what: error.to_string().trim().to_owned() })
    }
}
