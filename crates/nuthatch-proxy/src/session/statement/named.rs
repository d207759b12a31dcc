//! What a statement does with one that text has prepared.

use std::sync::Arc;

/// What a statement does with one name.
#[derive(Debug)]
pub(crate) enum Named {
    Prepare {
        name: Arc<[u8]>,
        text: Arc<[u8]>,
        /// The statement to be sent, where it is not the client's.
        sent: Option<Arc<[u8]>>,
    },
    Execute {
        name: Arc<[u8]>,
    },
    /// Neither the session nor, then, the connection knows it.
    Unknown {
        name: Arc<[u8]>,
    },
}
