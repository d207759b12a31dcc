//! What a server has acknowledged through this proxy, by the ids of its transactions: what a new primary must have.
//!
//! Servers tell in OK packets what was committed, where they were asked to (`session_track_gtids`, `last_gtid`). It is noted before the
//! client hears of it. Cost: one short copy under a lock for each commit; sets are made of many at once.

use std::sync::atomic::{AtomicBool, Ordering};

use nuthatch_sql::{GtidPositions, GtidSet, KnownGtids};
use parking_lot::Mutex;

/// So many are noted before they are put together.
const NOTED_MAX: usize = 1024;

/// So many ranges of a MySQL's ids are kept; the oldest are let go of, which replicas have long since.
const RANGES_MAX: usize = 20_000;

/// Of one server, in however many hostgroups it stands.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    is_told: AtomicBool,
    gtids: Mutex<Gtids>,
}

#[derive(Debug, Default)]
struct Gtids {
    /// As they came.
    noted: Vec<Box<[u8]>>,
    set: GtidSet,
    positions: GtidPositions,
}

impl Acknowledged {
    /// The server tells from now on.
    pub(crate) fn is_told(&self) {
        self.is_told.store(true, Ordering::Release);
    }

    /// It has acknowledged these, or is about to.
    pub(crate) fn note(&self, gtids: &[u8]) {
        let mut known = self.gtids.lock();
        known.noted.push(gtids.into());
        if known.noted.len() >= NOTED_MAX {
            known.put_together();
        }
    }

    /// It is the primary no more: what it has acknowledged has been accounted for, and is old when it is primary again.
    pub(crate) fn forget(&self) {
        *self.gtids.lock() = Gtids::default();
    }

    /// All that it has; none if it does not tell.
    pub(crate) fn gtids(&self) -> Option<KnownGtids> {
        self.is_told.load(Ordering::Acquire).then_some(())?;
        let mut known = self.gtids.lock();
        known.put_together();
        Some(match known.positions == GtidPositions::default() {
            true => KnownGtids::Set(known.set.clone()),
            false => KnownGtids::Positions(known.positions.clone()),
        })
    }
}

impl Gtids {
    fn put_together(&mut self) {
        if self.noted.is_empty() {
            return;
        }
        let noted = std::mem::take(&mut self.noted);
        // One that nobody understands takes no others with it.
        if !self.add(&noted.join(b",".as_slice())) {
            for gtids in &noted {
                let _is_understood = self.add(gtids);
            }
        }
    }

    /// Whether that is understood.
    fn add(&mut self, gtids: &[u8]) -> bool {
        let text = String::from_utf8_lossy(gtids);
        // Both kinds of ids have a form of their own.
        if let Some(set) = GtidSet::parse(&text) {
            self.set.add(&set);
            self.set.keep_last(RANGES_MAX);
            return true;
        }
        let positions = GtidPositions::parse(&text);
        positions.as_ref().map(|positions| self.positions.add(positions)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_takes_nothing_with_it_and_a_primary_no_more_begins_anew() {
        let mariadb = Acknowledged::default();
        mariadb.is_told();
        ["0-1-7", "nonsense", "0-1-9"].iter().for_each(|gtid| mariadb.note(gtid.as_bytes()));
        let last = GtidPositions::parse("0-1-9").expect("positions");
        assert_eq!(mariadb.gtids(), Some(KnownGtids::Positions(last)));
        mariadb.forget();
        assert_eq!(mariadb.gtids(), Some(KnownGtids::Set(GtidSet::default())), "it tells as before");
    }

    #[test]
    fn what_was_noted_is_known_once_the_server_is_known_to_tell() {
        let mysql = Acknowledged::default();
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        (1..=3000).for_each(|number| mysql.note(format!("{uuid}:{number}").as_bytes()));
        assert_eq!(mysql.gtids(), None);
        mysql.is_told();
        let set = GtidSet::parse(&format!("{uuid}:1-3000")).expect("a set");
        assert_eq!(mysql.gtids(), Some(KnownGtids::Set(set)));
        let mariadb = Acknowledged::default();
        mariadb.is_told();
        assert_eq!(mariadb.gtids(), Some(KnownGtids::Set(GtidSet::default())), "nothing of any kind");
        ["0-1-7", "0-1-9", "3-1-2,0-1-8"].iter().for_each(|gtid| mariadb.note(gtid.as_bytes()));
        let last = GtidPositions::parse("0-1-9,3-1-2").expect("positions");
        assert_eq!(mariadb.gtids(), Some(KnownGtids::Positions(last)));
    }
}
