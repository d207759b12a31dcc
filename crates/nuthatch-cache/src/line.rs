//! Room between values that different threads write.

/// Keeps neighbours off each other's cache lines (two lines, as they are fetched in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Line<L>(pub(crate) L);
