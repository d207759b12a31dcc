//! Why nothing is known.

use std::sync::Arc;

/// Why nothing that a hostgroup answers is cached as exact: a sentence for an operator.
pub type NoDomain = Arc<str>;
