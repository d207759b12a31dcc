//! How the parts of the program are told to stop.

use tokio_util::sync::CancellationToken;

/// Tells of a stop: soon (drain first), or now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stops {
    pub(crate) soon: CancellationToken,
    pub(crate) now: CancellationToken,
}
