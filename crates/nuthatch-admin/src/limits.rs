//! What operators may take at most.

/// The most sessions at one time, over all listeners.
pub(crate) const SESSIONS_MAX: usize = 256;

/// The longest packet that a client may send.
pub(crate) const STATEMENT_BYTES_MAX: usize = 16 << 20;
