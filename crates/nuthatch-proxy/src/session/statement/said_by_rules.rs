//! What the rules said of a statement, in as little room as most need: nothing.

use std::ops::{Deref, DerefMut};

use nuthatch_config::Verdict;

/// A [`Verdict`], which stands in a box where a rule matched.
#[derive(Debug, Default)]
pub(crate) struct SaidByRules(Option<Box<Verdict>>);

/// That of no rule.
static NOTHING: Verdict = Verdict::NOTHING;

impl SaidByRules {
    pub(crate) fn of(verdict: Verdict) -> Self {
        Self((!verdict.matched.is_empty()).then(|| Box::new(verdict)))
    }
}

impl Deref for SaidByRules {
    type Target = Verdict;

    fn deref(&self) -> &Verdict {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for SaidByRules {
    fn deref_mut(&mut self) -> &mut Verdict {
        self.0.get_or_insert_default()
    }
}
