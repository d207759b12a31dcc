//! The directory that survives a restart, the file in it, and the key of the file's secrets.
//!
//! After [`attach`] no secret stands on disk in clear, and every one there opens with the key.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::Connection;

use super::{
    StoreError, Warnings, schema, sealing,
    vault::{KeyFile, KeyFileError, Vault, VaultError},
};

/// The database's name in the directory.
const FILE_NAME: &str = "nuthatch.db";

/// Where the disk layer is kept.
#[derive(Clone, Debug)]
pub struct Datadir {
    directory: PathBuf,
    key: KeyFile,
    forgets_lost_secrets: bool,
}

impl Datadir {
    /// The database `nuthatch.db` in `directory`, and beside it the key of its secrets, `nuthatch-secrets.key`.
    pub fn new(directory: &Path) -> Self {
        let key = KeyFile::in_directory(directory);
        Self { directory: directory.to_owned(), key, forgets_lost_secrets: false }
    }

    /// With the key in another file.
    #[must_use]
    pub fn with_key(self, path: PathBuf) -> Self {
        Self { key: KeyFile::at(path), ..self }
    }

    /// Secrets that the key does not open are taken off the disk, instead of a refusal to start.
    #[must_use]
    pub fn forgetting_lost_secrets(self) -> Self {
        Self { forgets_lost_secrets: true, ..self }
    }
}

/// Attaches every schema and gives back what seals secrets. Without a directory all is in memory, under a key of this run.
pub(super) fn attach(
    connection: &Connection,
    datadir: Option<&Datadir>,
    warnings: &mut Warnings,
) -> Result<Arc<Vault>, StoreError> {
    // What an admin's temporary table or a large sort holds must not go to a file.
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    let Some(datadir) = datadir else {
        schema::attach(connection, None)?;
        let refused =
            |error: VaultError| StoreError::Key { path: "of this run".to_owned(), reason: error.to_string() };
        let vault = Arc::new(Vault::for_this_run().map_err(refused)?);
        sealing::install(connection, &vault)?;
        return Ok(vault);
    };
    let file = prepare(&datadir.directory)?;
    let before = schema::attach(connection, Some(&file))?;
    let vault = Arc::new(key_for(connection, datadir, &file, warnings)?);
    sealing::install(connection, &vault)?;
    if datadir.forgets_lost_secrets {
        if sealing::forget_lost(connection, warnings)? == 0 {
            warnings.push("no secret is lost: take --forget-lost-secrets off the command line".to_owned());
        }
    } else if let [first, others @ ..] = sealing::lost_on_disk(connection)?.as_slice() {
        let key = datadir.key.path().display();
        let why = format!("they (first {first}) were not sealed with the key in {key}");
        return Err(lost(others.len() + 1, &file, why));
    }
    if sealing::seal_disk(connection)? > 0 || before.is_some_and(schema::held_secrets_in_clear) {
        // Pages that are free now may still hold what stood there.
        connection.execute_batch("VACUUM disk")?;
        tracing::info!(target: "nuthatch::config", file = %file.display(), "sealed the secrets that were there in clear");
    }
    schema::stamp(connection)?;
    Ok(vault)
}

/// The key in its file, which is made if there is none and nothing was sealed yet.
fn key_for(
    connection: &Connection,
    datadir: &Datadir,
    file: &Path,
    warnings: &mut Warnings,
) -> Result<Vault, StoreError> {
    let path = datadir.key.path().display();
    let refused = |error: KeyFileError| StoreError::Key { path: path.to_string(), reason: error.to_string() };
    if let Some(vault) = datadir.key.read().map_err(refused)? {
        if datadir.key.is_open_to_all() {
            warnings.push(format!(
                "everybody on this host can read the key file {path}: close it with chmod 600"
            ));
        }
        return Ok(vault);
    }
    let sealed = sealing::count_on_disk(connection)?;
    if sealed > 0 && !datadir.forgets_lost_secrets {
        return Err(lost(sealed, file, format!("the key file {path} is not there")));
    }
    let vault = datadir.key.make().map_err(refused)?;
    tracing::info!(target: "nuthatch::config", file = %path, "made a key for the secrets on disk: keep a copy of it");
    Ok(vault)
}

fn lost(count: usize, file: &Path, why: String) -> StoreError {
    StoreError::Lost { count, database: file.display().to_string(), why }
}

/// Makes the directory (mode 0700) and the file (0600) where they are not there, and closes the file to others where
/// it is. Returns the file's path. A directory that exists keeps its mode: it may be shared on purpose.
fn prepare(datadir: &Path) -> Result<PathBuf, StoreError> {
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
