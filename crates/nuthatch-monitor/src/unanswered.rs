//! Looks in a row that had no answer.

use crate::check::{Absence, Outcome};

/// See the module's doc. Any other outcome ends the row.
#[derive(Debug, Default)]
pub(crate) struct Unanswered(u64);

impl Unanswered {
    /// Takes one more. Once there are so many in a row, it says so in words, the same each time: that is no news.
    pub(crate) fn judge(&mut self, outcome: &Outcome, max: u64) -> Option<String> {
        let Outcome::Failed { how: Absence::NoAnswer, why } = outcome else {
            self.0 = 0;
            return None;
        };
        self.0 += 1;
        (self.0 >= max).then(|| format!("{max} looks in a row had no answer ({why})"))
    }
}
