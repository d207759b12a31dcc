//! The directory that survives a restart, and the file in it.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use super::StoreError;

/// The database's name in the directory.
const FILE_NAME: &str = "nuthatch.db";

/// Makes the directory (mode 0700) and the file (0600) where they are not there, and closes the file to others where
/// it is. Returns the file's path. A directory that exists keeps its mode: it may be shared on purpose.
pub(super) fn prepare(datadir: &Path) -> Result<PathBuf, StoreError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source: io::Error| StoreError::Datadir { path, source }
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(datadir).map_err(failed(datadir))?;
    let path = datadir.join(FILE_NAME);
    // SQLite would make it readable for all; it holds passwords.
    let file = fs::OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path);
    let file = file.map_err(failed(&path))?;
    let mode = file.metadata().map_err(failed(&path))?.permissions().mode();
    if mode & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed(&path))?;
    }
    Ok(path)
}
