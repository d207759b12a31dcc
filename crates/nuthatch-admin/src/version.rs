//! What the interface says of itself to clients.
//!
//! Drivers read a MySQL version out of the greeting and refuse what looks too old, so the text begins with the version
//! that ProxySQL shows by default; ours stands behind it.

/// `@@version`, and the version in the greeting.
pub(crate) const SERVER_VERSION: &str = concat!("8.0.11-nuthatch-", env!("CARGO_PKG_VERSION"));

/// `@@version_comment`.
pub(crate) const VERSION_COMMENT: &str = "(Nuthatch Admin Module)";
