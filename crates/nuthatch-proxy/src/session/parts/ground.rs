//! Where a session lives, and what it goes by.

use std::sync::Arc;

use nuthatch_config::Snapshot;

use crate::roster::SessionHandle;
use crate::session::statement::Memo;
use crate::shared::Shared;
use crate::worker::Worker;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) shared: Arc<Shared>,
    pub(crate) worker: Arc<Worker>,
    /// What its worker remembers of statements.
    pub(crate) memo: Arc<Memo>,
    pub(crate) handle: Arc<SessionHandle>,
    /// The configuration that it goes by.
    pub(crate) snapshot: Arc<Snapshot>,
    /// When the clock was looked at last.
    pub(crate) latest_us: u64,
}
