//! Statements that may have run stored code on a connection of which nothing was known.

use nuthatch_sql::{Class, Leaves, Lexing};

use crate::stats::pins::Pins;

/// A statement that may have run stored code of which nothing was known.
#[derive(Debug)]
pub(crate) struct Doubt {
    pub(crate) text: Box<[u8]>,
    pub(crate) class: Class,
    pub(crate) lexing: Lexing,
    pub(crate) schema: Box<[u8]>,
    /// How often code had been made then.
    pub(crate) changes: u64,
    pub(crate) least: Leaves,
}

/// The statements on a connection that are in doubt.
///
/// Invariant: while there are any, the connection is kept for [`Pins::UNSEEN_CODE`].
#[derive(Debug, Default)]
pub(crate) struct Doubts(Vec<Doubt>);

impl Doubts {
    pub(crate) fn add(&mut self, doubt: Doubt) {
        self.0.push(doubt);
    }

    pub(crate) fn all(&self) -> &[Doubt] {
        &self.0
    }
}

/// Reasons to keep a connection because of stored code.
pub(crate) const CODE: Pins = Pins::STORED_CODE.with(Pins::UNSEEN_CODE);
