//! What a new primary lacks: transactions, by their ids, and how many.
//!
//! Pure. MySQL names every transaction. Of MariaDB's one server numbers its own transactions of a domain one by one, so that from the last
//! that is there to the last that was acknowledged all are missing.

use nuthatch_config::{LossMax, ServerName};
use nuthatch_sql::{Gtid, GtidPositions, GtidSet, KnownGtids};
use serde::{Deserialize, Serialize};

/// Transactions that are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lacking {
    /// Their ids; a range of MariaDB's as `0-1-5..0-1-7`.
    pub gtids: String,
    /// How many.
    pub count: u64,
}

impl Lacking {
    /// Those of a set that another one does not have.
    pub(crate) fn of_sets(set: &GtidSet, has: &GtidSet) -> Self {
        let rest = set.without(has);
        Self { gtids: rest.to_string(), count: rest.count() }
    }

    /// Those up to these transactions that are not among `has`. Where the binlog that they come from is that of one server (`writer`), a
    /// later transaction of that server tells of all that stand before it there.
    pub(crate) fn of_positions(last: &GtidPositions, has: &GtidPositions, writer: Option<u64>) -> Self {
        let mut lacking = Self::default();
        let known = has.gtids();
        for gtid in last.gtids() {
            if let Some(before) = before(gtid, has, &known, writer) {
                lacking.note(gtid, before);
            }
        }
        lacking
    }

    /// Those of them that are not among `has`; all where the ids are not understood.
    #[must_use]
    pub fn without(&self, has: &KnownGtids) -> Self {
        let rest = match has {
            KnownGtids::Set(has) => GtidSet::parse(&self.gtids).map(|set| Self::of_sets(&set, has)),
            KnownGtids::Positions(has) => self.without_positions(has),
        };
        rest.unwrap_or_else(|| self.clone())
    }

    fn without_positions(&self, has: &GtidPositions) -> Option<Self> {
        let one = |text: &str| GtidPositions::parse(text)?.gtids().first().copied();
        let mut rest = Self::default();
        for range in self.gtids.split(',').filter(|range| !range.is_empty()) {
            let (first, last) = range.split_once("..").unwrap_or((range, range));
            let (first, last) = (one(first)?, one(last)?);
            let known = has.last(first.domain, first.server).unwrap_or(0);
            let before = known.max(first.sequence.saturating_sub(1));
            if before < last.sequence {
                rest.note(last, before);
            }
        }
        Some(rest)
    }

    /// There are none.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.count == 0
    }

    fn note(&mut self, last: Gtid, before: u64) {
        let first = Gtid { sequence: before + 1, ..last };
        let separator = if self.gtids.is_empty() { "" } else { "," };
        let text = match first == last {
            true => format!("{separator}{last}"),
            false => format!("{separator}{first}..{last}"),
        };
        self.gtids.push_str(&text);
        self.count = self.count.saturating_add(last.sequence - before);
    }
}

/// Whether so much may be lost, of what was acknowledged and, at least, of what was seen; an error says why not. What is not known may be
/// anything.
pub(crate) fn allow(
    lost: Option<&Lacking>,
    of_seen: Option<&Lacking>,
    max: LossMax,
    old: &ServerName,
) -> Result<(), String> {
    match (max, lost) {
        (LossMax::Any, _) => Ok(()),
        (LossMax::Transactions(max), Some(lost)) if lost.count <= max => Ok(()),
        (LossMax::Transactions(max), Some(lost)) => Err(format!(
            "{} transactions that {old} has acknowledged would be lost ({}), and mysql-failover_max_loss allows {max}: \
             NUTHATCH FAILOVER goes on all the same",
            lost.count, lost.gtids
        )),
        (LossMax::Transactions(_), None) => Err(format!(
            "what {old} has acknowledged is not known, so what would be lost is not known either ({} transactions at \
             least), and mysql-failover_max_loss is not any: NUTHATCH FAILOVER goes on all the same",
            of_seen.map_or(0, |lost| lost.count)
        )),
    }
}

/// The number behind which transactions up to this one are missing; none if it is there.
fn before(gtid: Gtid, has: &GtidPositions, known: &[Gtid], writer: Option<u64>) -> Option<u64> {
    let own = has.last(gtid.domain, gtid.server);
    let of_writer = writer
        .and_then(|writer| has.last(gtid.domain, u32::try_from(writer).ok()?))
        .filter(|last| own.is_none() && *last > gtid.sequence);
    let before = match (own, of_writer) {
        (Some(last), _) | (None, Some(last)) => last,
        // None of that server's is there. Its first came behind those that are numbered lower.
        (None, None) => {
            let lower = known.iter().filter(|one| one.domain == gtid.domain && one.sequence < gtid.sequence);
            lower.map(|one| one.sequence).max().unwrap_or(0)
        }
    };
    (before < gtid.sequence).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_may_be_lost_only_where_anything_may() {
        let old = ServerName { host: "a".to_owned(), port: 3306 };
        let lost = |count| Some(Lacking { gtids: "0-1-7".to_owned(), count });
        for (lost, max, is_allowed) in [
            (None, LossMax::Any, true),
            (lost(9), LossMax::Any, true),
            (None, LossMax::Transactions(u64::MAX), false),
            (lost(0), LossMax::Transactions(0), true),
            (lost(1), LossMax::Transactions(0), false),
            (lost(3), LossMax::Transactions(3), true),
            (lost(4), LossMax::Transactions(3), false),
        ] {
            assert_eq!(allow(lost.as_ref(), None, max, &old).is_ok(), is_allowed, "{lost:?} {max}");
        }
    }

    #[test]
    fn what_is_lacking_of_positions_is_told_by_ranges() {
        let positions = |text| GtidPositions::parse(text).expect(text);
        for (last, has, writer, gtids, count) in [
            ("", "0-1-7", None, "", 0),
            ("0-1-7", "0-1-7", None, "", 0),
            ("0-1-7", "0-1-9", None, "", 0),
            ("0-1-10", "0-1-7", None, "0-1-8..0-1-10", 3),
            ("0-1-8", "0-1-7", None, "0-1-8", 1),
            ("0-1-10,3-1-2", "0-1-9,3-1-1", None, "0-1-10,3-1-2", 2),
            // The new primary has written since: that is no transaction of the old one.
            ("0-1-10", "0-1-7,0-2-50", None, "0-1-8..0-1-10", 3),
            // Nothing of a primary was received that has come after another one.
            ("0-2-12", "0-1-10", None, "0-2-11..0-2-12", 2),
            // Of an old binlog, what stands before the last that was received.
            ("0-3-4,0-1-10", "0-1-10,0-2-12", Some(1), "", 0),
            ("0-3-4,0-1-12", "0-1-10,0-2-11", Some(1), "0-1-11..0-1-12", 2),
            ("0-3-11,0-1-10", "0-1-10,0-2-20", Some(1), "0-3-11", 1),
        ] {
            let lacking = Lacking::of_positions(&positions(last), &positions(has), writer);
            assert_eq!(lacking, Lacking { gtids: gtids.to_owned(), count }, "{last} of {has}");
        }
    }
}
