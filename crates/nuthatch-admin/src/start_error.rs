//! Why there is no admin interface.

use thiserror::Error;

/// Why the admin interface could not be set up.
#[derive(Debug, Error)]
pub enum StartError {
    /// The tables of statistics could not be added to the configuration's database.
    #[error("set up the tables of the admin interface")]
    Sqlite(#[from] rusqlite::Error),
    /// The layers refused.
    #[error("set up the tables of the admin interface")]
    Layers(#[from] nuthatch_config::StoreError),
    /// The clerk's thread could not be started.
    #[error("start the thread of the admin interface")]
    Thread(#[from] std::io::Error),
}
