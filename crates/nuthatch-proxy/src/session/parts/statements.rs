//! The statements that a client has prepared, by number and by name, and the execution at hand.

use crate::session::parts::{Names, Prepared};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    pub(crate) prepared: Option<Box<Prepared>>,
    pub(crate) names: Option<Box<Names>>,
    /// The execution at hand, as the cache knows it.
    pub(crate) execution: Vec<u8>,
    /// The same as other clients would send it: of a client whose statements come with attributes.
    pub(crate) plain_execution: Vec<u8>,
}
