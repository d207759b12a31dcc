//! What a backup says of itself, in `manifest.toml`: written last, so that what has one is whole.
//!
//! The same text is the last file in the stream, for a stream that goes into a pipe has nothing beside it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::record::Record;

/// Moves when an older program could not read the file any more.
const FORMAT: u32 = 1;

/// A backup of one instance at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// Its name in a store; sorts by time.
    pub id: String,
    /// Whose it is.
    pub instance: InstanceName,
    /// The backup without which this one is nothing; `None` for a full one.
    pub base: Option<String>,
    /// When it was begun, in seconds since 1970.
    pub began_s: u64,
    /// When it was whole. It holds what was committed a moment before.
    pub ended_s: u64,
    /// The server's version.
    pub server_version: String,
    /// In which form its files are streamed.
    pub archive: Archive,
    /// The server's GTID position. MySQL's clone plugin tells none: what was there when it began.
    pub gtid: String,
    /// The binlog from which on later changes are; empty where there is none.
    pub binlog_file: String,
    /// The place there.
    pub binlog_position: u64,
    /// When the server began that binlog, in seconds since 1970: its number may be given again.
    pub binlog_begun: u32,
    /// Which data directory it was: binlogs are numbered anew in another one.
    pub incarnation: String,
    /// Up to where InnoDB's log is in it; an incremental one begins there.
    pub to_lsn: Option<u64>,
    /// Bytes of the stream, before they were compressed.
    pub stream_bytes: u64,
    /// The file beside this one; `None` in the stream.
    pub stored: Option<Stored>,
    /// The instance as it was.
    pub record: Record,
}

/// In which form a data directory is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Archive {
    /// `mbstream -x` unpacks it, `mariadb-backup --prepare` makes it a data directory.
    Mbstream,
    /// `tar -x` unpacks it.
    Tar,
}

/// The file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// As it is called.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// Whether a key is wanted for it.
    pub encrypted: bool,
}

impl Manifest {
    /// Of a backup that is being begun.
    pub(crate) fn begin(
        id: String,
        instance: InstanceName,
        record: Record,
        archive: Archive,
        began_s: u64,
    ) -> Self {
        Self {
            format: FORMAT,
            id,
            instance,
            base: None,
            began_s,
            ended_s: 0,
            server_version: String::new(),
            archive,
            gtid: String::new(),
            binlog_file: String::new(),
            binlog_position: 0,
            binlog_begun: 0,
            incarnation: String::new(),
            to_lsn: None,
            stream_bytes: 0,
            stored: None,
            record,
        }
    }

    /// What the text says; `path` is where it is, for the error.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`].
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, InstanceError> {
        let bad = |what: String| InstanceError::BadFile { path: path.into(), what };
        let manifest: Self =
            toml::from_str(text).map_err(|error| bad(error.to_string().trim().to_owned()))?;
        if manifest.format == FORMAT {
            return Ok(manifest);
        }
        Err(bad(format!("format {} is not this program's {FORMAT}", manifest.format)))
    }

    /// The text.
    pub(crate) fn to_text(&self) -> Result<String, InstanceError> {
        toml::to_string(self)
            .map_err(|error| InstanceError::Refused(format!("write down the backup: {error}")))
    }

    /// `full` or `incremental`.
    #[must_use]
    pub fn form(&self) -> &'static str {
        if self.base.is_some() { "incremental" } else { "full" }
    }
}
