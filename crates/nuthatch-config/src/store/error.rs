//! What can go wrong with the layers.

use crate::variables::VariableFault;
use crate::verb::Module;

/// Why a layer could not be opened or copied.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data directory or its file cannot be used.
    #[error("use {path}")]
    Datadir {
        /// What was tried.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file cannot be used as a database.
    #[error("open the database {path}")]
    Database {
        /// The file.
        path: String,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The file was written by a later version of the program.
    #[error("open the database {path}: it has schema {found}, this program knows up to {known}")]
    Newer {
        /// The file.
        path: String,
        /// Its schema.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The key of the secrets on disk cannot be used.
    #[error("use the key file {path}: {reason}")]
    Key {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Secrets on disk cannot be opened.
    #[error(
        "open {count} secrets in {database}: {why}; put the key file they were sealed with in its \
         place or name it with --secrets-key, or start once with --forget-lost-secrets, which locks those users and \
         puts those variables back to their defaults"
    )]
    Lost {
        /// How many.
        count: usize,
        /// The file they are in.
        database: String,
        /// What is the matter with the key.
        why: String,
    },
    /// A sealed value that this program's key does not open must not go to the disk.
    #[error("write {what} to disk: it was sealed with another key, or is damaged; set it anew")]
    Sealed {
        /// Whose it is.
        what: String,
    },
    /// A row of the configuration file or command line is not one.
    #[error("take {place} of the configuration: {reason}")]
    Seed {
        /// Which row, as `mysql_users row 2`.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A variable cannot be set.
    #[error("set the variable \"{name}\": it {reason}")]
    Variable {
        /// Full name.
        name: String,
        /// Why not.
        reason: VariableFault,
    },
    /// What is to be loaded was never saved.
    #[error("load {} from disk: nothing of it was saved there; memory stays as it is", module.as_str())]
    NothingSaved {
        /// The module.
        module: Module,
    },
    /// SQLite refused.
    #[error("run SQL on the configuration")]
    Sqlite(#[from] rusqlite::Error),
}
