//! What an admin should know after a command.

/// At most this many are kept; a table of a hundred thousand bad rows must not fill the memory twice.
const WARNINGS_MAX: usize = 200;

/// Sentences for the admin, bounded in number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Warnings {
    kept: Vec<String>,
    dropped: usize,
}

impl Warnings {
    /// Adds one, and logs it.
    pub(crate) fn push(&mut self, warning: String) {
        tracing::warn!(target: "nuthatch::config", "{warning}");
        self.keep(warning);
    }

    pub(crate) fn append(&mut self, others: Self) {
        self.dropped += others.dropped;
        for warning in others.kept {
            self.keep(warning);
        }
    }

    fn keep(&mut self, warning: String) {
        if self.kept.len() < WARNINGS_MAX {
            self.kept.push(warning);
        } else {
            self.dropped += 1;
        }
    }

    /// Those that were kept, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(String::as_str)
    }

    /// How many there were, with those that were not kept.
    pub fn count(&self) -> usize {
        self.kept.len() + self.dropped
    }

    /// There were none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}
