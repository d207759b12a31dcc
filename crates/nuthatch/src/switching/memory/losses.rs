//! What was lost with old primaries, as far as it is known: the rows of `stats_nuthatch_lost_transactions`.

use nuthatch_admin::rows::LostTransactionsRow;
use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::Lacking;
use parking_lot::Mutex;

use super::latest::Latest;

/// Ids that a finding keeps; the log has all of them.
const GTIDS_BYTES_MAX: usize = 64 << 10;

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::switching) enum KnownBy {
    /// Clients of this proxy were told that they are committed.
    Acknowledged,
    /// The old primary had them when it was seen last.
    Seen,
    /// The old primary had them when it came back.
    Surplus,
}

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Losses(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    rows: Latest<LostTransactionsRow>,
    /// How many that were acknowledged, in all.
    acknowledged: u64,
}

impl Losses {
    /// One more finding: none where it is not known what was lost.
    pub(in crate::switching) fn note(
        &self,
        hostgroup: HostgroupId,
        [old, new]: [&ServerName; 2],
        known_by: KnownBy,
        lost: Option<&Lacking>,
        time: u64,
    ) {
        let row = LostTransactionsRow {
            hostgroup: hostgroup.0,
            time,
            old_primary: old.to_string(),
            new_primary: new.to_string(),
            known_by: match known_by {
                KnownBy::Acknowledged => "acknowledged",
                KnownBy::Seen => "seen",
                KnownBy::Surplus => "surplus",
            }
            .to_owned(),
            count: lost.map(|lost| lost.count),
            gtids: lost.map(|lost| lost.gtids.chars().take(GTIDS_BYTES_MAX).collect()),
        };
        let mut kept = self.0.lock();
        if known_by == KnownBy::Acknowledged {
            kept.acknowledged += row.count.unwrap_or_default();
        }
        kept.rows.push(row);
    }

    /// All, the oldest first.
    pub(crate) fn rows(&self) -> Vec<LostTransactionsRow> {
        self.0.lock().rows.iter().cloned().collect()
    }

    /// How many transactions that were acknowledged through this proxy are lost, as far as that is known.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.0.lock().acknowledged
    }
}
