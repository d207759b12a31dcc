//! The sequences that a session has advanced on a connection: schemas and names.

use std::collections::HashSet;

/// See the module's doc.
pub(crate) type Advanced = HashSet<(Vec<u8>, Vec<u8>)>;
