//! What one slice showed.

use super::crowd::Tally;

/// What one slice showed.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) tally: Tally,
    /// The most connections that the server had at once, without ours that watches: by its own count, and as sampled.
    pub(super) connections_peak: u64,
    pub(super) connections_sampled: u64,
    /// Inserts that the server has and that it acknowledged, both of this slice.
    pub(super) rows: u64,
}

impl std::fmt::Display for Slice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tally = &self.tally;
        write!(
            f,
            "{:8.1} statements/s  p50 {:6.2} ms  p99 {:7.2} ms  max {:7.2} ms  \
             connections {} (sampled {})  ids checked {}, wrong {}  inserts acknowledged {}, there {}",
            tally.per_second(),
            tally.percentile_ms(0.50),
            tally.percentile_ms(0.99),
            tally.percentile_ms(1.0),
            self.connections_peak,
            self.connections_sampled,
            tally.ids_checked,
            tally.wrong_count,
            tally.inserts,
            self.rows,
        )
    }
}
