//! The last of what was noted: of more than may be kept the oldest go.

use std::collections::VecDeque;

/// So many are kept.
pub(super) const KEPT_MAX: usize = 1_000;

/// See the module's doc.
#[derive(Debug)]
pub(super) struct Latest<T>(VecDeque<T>);

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Latest<T> {
    pub(super) fn push(&mut self, one: T) {
        self.0.push_back(one);
        while self.0.len() > KEPT_MAX {
            self.0.pop_front();
        }
    }

    /// The oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// The newest first.
    pub(super) fn newest_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().rev()
    }
}
