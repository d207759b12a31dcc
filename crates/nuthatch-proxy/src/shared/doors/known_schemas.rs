//! Schemas that a server has let a user into under the configuration in force, so that a login need not ask again.
//!
//! A schema that is dropped later is found missing by the first statement, and asked for again then. The table is bounded; past the bound a login
//! asks each time.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

const SCHEMAS_MAX: usize = 4096;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct KnownSchemas(Mutex<HashSet<(Arc<str>, Vec<u8>)>>);

impl KnownSchemas {
    pub(crate) fn has(&self, user: &Arc<str>, schema: &[u8]) -> bool {
        self.0.lock().contains(&(Arc::clone(user), schema.to_vec()))
    }

    pub(crate) fn add(&self, user: &Arc<str>, schema: Vec<u8>) {
        let mut known = self.0.lock();
        if known.len() < SCHEMAS_MAX {
            known.insert((Arc::clone(user), schema));
        }
    }

    /// A server does not know it any more.
    pub(crate) fn remove(&self, user: &Arc<str>, schema: &[u8]) {
        self.0.lock().remove(&(Arc::clone(user), schema.to_vec()));
    }

    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
