//! What the head of a statement tells: its kind, and effects that follow from that.

use crate::statement::{Effects, Kind, PinReason, SetEffect, TransactionEnd};

/// What the head tells.
pub(super) struct Head<'q> {
    pub(super) kind: Kind,
    pub(super) effects: Effects<'q>,
    /// The rest may hold semicolons that end no statement: a routine's body.
    pub(super) has_routine: bool,
    /// It is a SELECT in the narrow sense, or a SHOW of definitions: a cache may hold its answer.
    pub(super) is_query: bool,
    /// The names and queries of WITH come first.
    pub(super) is_with: bool,
}

impl<'q> Head<'q> {
    /// A statement that neither writes nor ends a transaction.
    pub(super) fn reads(kind: Kind) -> Self {
        Self { kind, effects: Effects::default(), has_routine: false, is_query: false, is_with: false }
    }

    /// A statement that writes.
    pub(super) fn writes(kind: Kind, ends_transaction: TransactionEnd) -> Self {
        let mut head = Self::reads(kind);
        head.effects.writes = true;
        head.effects.ends_transaction = ends_transaction;
        head
    }

    pub(super) fn unknown() -> Self {
        let mut head = Self::writes(Kind::Other, TransactionEnd::Maybe);
        head.effects.runs_unseen_code = true;
        head
    }

    pub(super) fn ends(kind: Kind, ends_transaction: TransactionEnd) -> Self {
        let mut head = Self::reads(kind);
        head.effects.ends_transaction = ends_transaction;
        head
    }

    /// Whether it names no table where it has no FROM.
    pub(super) fn without_table(mut self, names_none: bool) -> Self {
        self.effects.names_no_table = names_none;
        self
    }

    pub(super) fn pinned(mut self, reason: PinReason) -> Self {
        self.effects.pin = Some(reason);
        self
    }

    /// A block of statements: any of them may set anything.
    pub(super) fn block() -> Self {
        let mut head = Self::unknown();
        head.effects.set = SetEffect::Unknown;
        Self { has_routine: true, ..head }
    }
}
