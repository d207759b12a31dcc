//! How many transactions a replica has fetched and not applied yet, by its GTIDs. Pure.

use std::collections::BTreeMap;

use nuthatch_sql::{GtidPositions, GtidSet};

/// By MariaDB's `Gtid_IO_Pos` and `Gtid_Slave_Pos`; `None` where they are not understood.
pub(crate) fn of_positions(fetched: &str, applied: &str) -> Option<u64> {
    let last = |text: &str| {
        let mut last = BTreeMap::new();
        for gtid in GtidPositions::parse(text)?.gtids() {
            let known: &mut u64 = last.entry(gtid.domain).or_default();
            *known = (*known).max(gtid.sequence);
        }
        Some(last)
    };
    let applied = last(applied)?;
    let behind = |(domain, fetched): (u32, u64)| {
        fetched.saturating_sub(applied.get(&domain).copied().unwrap_or_default())
    };
    Some(last(fetched)?.into_iter().map(behind).sum())
}

/// By MySQL's `Retrieved_Gtid_Set` and `Executed_Gtid_Set`.
pub(crate) fn of_sets(fetched: &str, applied: &str) -> Option<u64> {
    Some(GtidSet::parse(fetched)?.without(&GtidSet::parse(applied)?).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_and_not_applied_is_counted() {
        assert_eq!(of_positions("1-1-9,2-2-5", "1-1-7,2-3-5"), Some(2));
        assert_eq!(of_positions("1-1-9", ""), Some(9));
        assert_eq!(of_positions("", "1-1-9"), Some(0));
        assert_eq!(of_positions("nonsense", ""), None);
        let uuid = "00000001-0000-0000-0000-000000000000";
        assert_eq!(of_sets(&format!("{uuid}:3-9"), &format!("{uuid}:1-7")), Some(2));
        assert_eq!(of_sets("", &format!("{uuid}:1-7")), Some(0));
    }
}
