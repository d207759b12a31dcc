//! What tells connections apart from their login on.

use std::sync::Arc;

use nuthatch_wire::CapabilityFlags;

/// What tells connections apart from their login on.
#[derive(Debug, Clone)]
pub(in crate::backend) struct Kind {
    pub(in crate::backend) user: Arc<str>,
    pub(in crate::backend) shape: CapabilityFlags,
    pub(in crate::backend) collation: u8,
    pub(in crate::backend) schema: Vec<u8>,
}
