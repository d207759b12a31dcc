//! What is known of the stored code behind each hostgroup, and since when.
//!
//! It rests on a look at all servers of a hostgroup, and is not known any more as soon as code may be made, until they are looked at anew.
//! Nobody is asked before a statement needs to know ([`Exact::want_stored_code`](crate::exact::Exact::want_stored_code)).

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_sql::{Leaves, StoredCode};
use rapidhash::fast::RapidHasher;

use crate::exact::definitions::Makes;

/// That of each hostgroup that was looked at; none where no account may see it.
pub type StoredCodes =
    HashMap<HostgroupId, Option<Arc<StoredCode>>, BuildHasherDefault<RapidHasher<'static>>>;

/// What is known, and whether it still is so.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownCode {
    codes: Arc<StoredCodes>,
    /// How often code may have been made, or what was known forgotten, in beginnings and ends.
    changes: u64,
    /// The same without what was forgotten.
    times_made: u64,
    /// Some was made through the proxy since.
    was_made: bool,
    /// How often it had been when the servers were looked at.
    known_at: Option<u64>,
    /// Rises with each change of what is known.
    version: u64,
}

/// What is known of the code behind a hostgroup.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CodeOf<'c> {
    /// All of it; the number is that of this knowledge.
    Known(&'c StoredCode, u64),
    /// Some was made through the proxy since it was looked at.
    Changed,
    /// Some may have been made out of sight since it was this.
    Stale(&'c StoredCode),
    /// Nobody has looked yet, or may.
    Unknown,
}

impl KnownCode {
    pub(super) fn changed_by(&self, makes: Makes) -> Self {
        match makes {
            Makes::Code | Makes::Views => Self { was_made: true, ..self.changed() },
            Makes::Maybe => self.changed(),
            Makes::Tables | Makes::PlainViews { .. } => self.clone(),
        }
    }

    fn changed(&self) -> Self {
        Self { changes: self.changes + 1, times_made: self.times_made + 1, ..self.clone() }
    }

    /// What a change makes that begins now: views run no code as long as what they name is what it was.
    pub(super) fn made_by(&self, makes: Makes) -> Makes {
        match makes {
            Makes::PlainViews { times_made } if times_made != self.times_made || !self.is_current() => {
                Makes::Views
            }
            _ => makes,
        }
    }

    /// As if nobody had looked.
    pub(super) fn forgotten(&self) -> Self {
        Self { codes: Arc::default(), changes: self.changes + 1, known_at: None, ..self.clone() }
    }

    /// What is known of the code behind a hostgroup.
    pub(super) fn of(&self, hostgroup: HostgroupId) -> CodeOf<'_> {
        let is_current = self.is_current();
        match self.codes.get(&hostgroup) {
            Some(Some(code)) if is_current => CodeOf::Known(code, self.version),
            None | Some(Some(_)) if self.was_made => CodeOf::Changed,
            Some(Some(code)) => CodeOf::Stale(code),
            _ => CodeOf::Unknown,
        }
    }

    /// Whether that of each hostgroup is known, and is `such`.
    pub(super) fn is_all(&self, such: impl Fn(&StoredCode) -> bool) -> bool {
        let mut codes = self.codes.values();
        self.is_current() && !self.codes.is_empty() && codes.all(|code| code.as_deref().is_some_and(&such))
    }

    fn is_current(&self) -> bool {
        self.known_at == Some(self.changes)
    }

    /// How often code may have been made, or what was known forgotten, in beginnings and ends.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    /// How often code may have been made, in beginnings and ends.
    pub(super) const fn times_made(&self) -> u64 {
        self.times_made
    }

    /// What was read since there had been so many changes, and whether connections may carry what code has left of which nothing was known.
    pub(super) fn learn(&self, changes: u64, codes: StoredCodes) -> (Self, bool) {
        if self.changes != changes {
            return (self.clone(), false);
        }
        let is_known = self.known_at == Some(changes);
        let is_news = codes.iter().any(|(hostgroup, code)| match self.codes.get(hostgroup) {
            Some(known) if known == code => false,
            // None was made through the proxy in between.
            Some(_) if is_known => true,
            _ => code.as_ref().is_some_and(|code| code.most() >= Leaves::Untold),
        });
        let version = self.version + u64::from(*self.codes != codes);
        let (codes, known_at) = (Arc::new(codes), Some(changes));
        (Self { codes, changes, times_made: self.times_made, was_made: false, known_at, version }, is_news)
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::Runs;

    use super::*;

    fn codes(leaves: Leaves) -> StoredCodes {
        let mut code = StoredCode::default();
        code.add(b"f", Runs::Called, leaves);
        StoredCodes::from_iter([(HostgroupId(0), Some(Arc::new(code)))])
    }

    #[test]
    fn code_is_news_if_it_may_have_run_unknown() {
        let first = |leaves| KnownCode::default().learn(0, codes(leaves));
        assert!(!first(Leaves::Told).1 && first(Leaves::Untold).1);
        let (known, _) = first(Leaves::Told);
        assert!(!known.learn(0, codes(Leaves::Told)).1);
        assert!(known.learn(0, codes(Leaves::Nothing)).1, "made past the proxy");
        let changed = known.changed_by(Makes::Code);
        assert!(!changed.learn(1, codes(Leaves::Nothing)).1 && changed.learn(1, codes(Leaves::Lasting)).1);
        let (outdated, is_news) = changed.learn(0, codes(Leaves::Lasting));
        assert!(!is_news && outdated.known_at == Some(0) && *outdated.codes == codes(Leaves::Told));
        assert_eq!(known.changed_by(Makes::Tables).changes, 0);
    }
}
