//! The queries of a run, and the first answer seen for each.

use anyhow::{Result, ensure};

use super::Statement;
use crate::reply::is_same_answer;

/// Place of an id among a run's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IdIndex(usize);

/// Query packets by id, with what they were answered first; hands the ids out in turn.
pub(super) struct Answers {
    queries: Vec<Vec<u8>>,
    /// Empty until the id was answered.
    answers: Vec<Vec<u8>>,
    unanswered: usize,
    next: usize,
}

impl Answers {
    /// For ids 1 to `ids`.
    pub(super) fn new(statement: Statement, ids: u32) -> Self {
        let queries: Vec<_> = (1..=ids.max(1)).map(|id| statement.packet(id)).collect();
        Self { answers: vec![Vec::new(); queries.len()], unanswered: queries.len(), queries, next: 0 }
    }

    /// True once every id was answered.
    pub(super) fn is_complete(&self) -> bool {
        self.unanswered == 0
    }

    /// The next id in turn.
    #[inline]
    pub(super) fn next_id(&mut self) -> IdIndex {
        let index = self.next;
        self.next = if index + 1 == self.queries.len() { 0 } else { index + 1 };
        IdIndex(index)
    }

    #[inline]
    pub(super) fn query(&self, id: IdIndex) -> &[u8] {
        &self.queries[id.0]
    }

    /// True if `reply` is byte for byte what this id was answered before.
    #[inline]
    pub(super) fn is_known(&self, id: IdIndex, reply: &[u8]) -> bool {
        self.answers[id.0] == reply
    }

    /// Takes a complete reply that is not known. An error if it is another answer than the first.
    pub(super) fn learn(&mut self, id: IdIndex, reply: &[u8]) -> Result<()> {
        let known = &mut self.answers[id.0];
        if known.is_empty() {
            self.unanswered -= 1;
        } else {
            let query = String::from_utf8_lossy(&self.queries[id.0][5..]);
            ensure!(
                is_same_answer(known, reply),
                "wrong answer to {query:?}: {known:?} before, now {reply:?}"
            );
        }
        known.clear();
        known.extend_from_slice(reply);
        Ok(())
    }
}
