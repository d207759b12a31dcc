//! The file that holds the key: 32 random bytes, for the owner only.
//!
//! It is made when it is wanted and not there, wholly or not at all, and is on the disk before anything is sealed with it.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::private_file::replace_private_file;

use super::{KEY_LEN, Vault, VaultError, random_key};

/// Its name in the data directory, where no other place is given.
const FILE_NAME: &str = "nuthatch-secrets.key";

/// Where the key is kept.
#[derive(Clone, Debug)]
pub(crate) struct KeyFile(PathBuf);

/// Why the file is of no use. Reads after its path.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFileError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it holds {0} bytes, and a key has 32")]
    Length(usize),
    #[error("{0}")]
    NoRandomness(#[from] VaultError),
}

impl KeyFile {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self(directory.join(FILE_NAME))
    }

    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The key, if the file is there.
    pub(crate) fn read(&self) -> Result<Option<Vault>, KeyFileError> {
        let bytes = match fs::read(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        let key: [u8; KEY_LEN] =
            bytes.try_into().map_err(|bytes: Vec<u8>| KeyFileError::Length(bytes.len()))?;
        Ok(Some(Vault::new(&key)))
    }

    /// Whether everybody on this host can read it.
    pub(crate) fn is_open_to_all(&self) -> bool {
        fs::metadata(&self.0).is_ok_and(|metadata| metadata.permissions().mode() & 0o007 != 0)
    }

    /// Makes the file with a new key. It must not be there.
    pub(crate) fn make(&self) -> Result<Vault, KeyFileError> {
        let key = random_key()?;
        replace_private_file(&self.0, &key)?;
        Ok(Vault::new(&key))
    }
}
