//! What tells connections apart from their login on.

use std::sync::Arc;

use nuthatch_wire::CapabilityFlags;

/// What tells connections apart from their login on.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    pub(super) user: Arc<str>,
    pub(super) shape: CapabilityFlags,
    pub(super) collation: u8,
    pub(super) schema: Vec<u8>,
}
