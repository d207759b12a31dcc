//! What was lost with old primaries, as far as it is known: the rows of `stats_nuthatch_lost_transactions`.

use nuthatch_admin::rows::LostTransactionsRow;
use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::{Lacking, Promoted};
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
    /// What is lost if who was told to take the writes of a pair does: of each pair the latest.
    expected: Vec<(HostgroupId, Promoted)>,
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

    /// That is lost if the heir takes writes, which nobody knows.
    pub(in crate::switching) fn expect(&self, hostgroup: HostgroupId, promoted: Promoted) {
        let expected = &mut self.0.lock().expected;
        expected.retain(|(other, _)| *other != hostgroup);
        expected.push((hostgroup, promoted));
    }

    /// Another failover has told what is lost.
    pub(in crate::switching) fn expect_nothing(&self, hostgroup: HostgroupId) {
        self.0.lock().expected.retain(|(other, _)| *other != hostgroup);
    }

    /// What is known to be lost by now: the heir takes writes, as `writer_of` its pair says. Where another one does, nothing is
    /// expected any more.
    pub(in crate::switching) fn take_found(
        &self,
        writer_of: impl Fn(HostgroupId) -> Option<ServerName>,
    ) -> Vec<(HostgroupId, Promoted)> {
        let mut found = Vec::new();
        self.0.lock().expected.retain(|(hostgroup, promoted)| {
            let writer = writer_of(*hostgroup);
            if writer.as_ref() == Some(&promoted.new) {
                found.push((*hostgroup, promoted.clone()));
            }
            writer.is_none()
        });
        found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_failover_without_a_known_end_wait_for_who_takes_writes() {
        let server = |port| ServerName { host: "a".into(), port };
        let (old, heir, pair) = (server(1), server(2), HostgroupId(10));
        let promoted = Promoted {
            old: old.clone(),
            new: heir.clone(),
            is_certain: false,
            lost: None,
            lost_of_seen: None,
            over_tls: false,
        };
        let losses = Losses::default();
        losses.expect(pair, promoted.clone());
        assert_eq!(losses.take_found(|_| None).len(), 0, "nobody knows yet");
        assert_eq!(losses.take_found(|_| Some(heir.clone())).len(), 1);
        assert_eq!(losses.take_found(|_| Some(heir.clone())).len(), 0, "it is told once");
        losses.expect(pair, promoted);
        assert_eq!(losses.take_found(|_| Some(old.clone())).len(), 0, "nothing is lost");
        assert_eq!(losses.take_found(|_| Some(heir.clone())).len(), 0);
    }
}
