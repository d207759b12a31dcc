//! What one slice showed.

use std::time::Duration;

use super::crowd::Tally;
use super::switchover::Switchover;

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

/// What one slice showed in which the primary changed.
#[derive(Debug)]
pub(super) struct Switched {
    pub(super) tally: Tally,
    pub(super) switchovers: Vec<Switchover>,
    /// Inserts that every server has.
    pub(super) rows: u64,
}

/// The longest statement that was under way during a switchover, and how much of it the servers did not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stall {
    pub(super) beside_servers: Duration,
    pub(super) longest: Duration,
}

impl Switched {
    /// The longest statement that no switchover had to do with: what the machine makes of it by itself.
    pub(super) fn longest_elsewhere(&self) -> Duration {
        let meets = |sent: Duration, answered: Duration| {
            self.switchovers.iter().any(|switchover| sent <= switchover.ended && answered >= switchover.began)
        };
        let elsewhere = self.tally.slow.iter().filter(|(sent, answered)| !meets(*sent, *answered));
        elsewhere.map(|(sent, answered)| *answered - *sent).max().unwrap_or_default()
    }

    /// Of each switchover.
    pub(super) fn stalls(&self) -> impl Iterator<Item = (&Switchover, Stall)> {
        self.switchovers.iter().map(|switchover| {
            let longest = self.tally.longest_within(switchover.began, switchover.ended);
            let beside_servers = longest.saturating_sub(switchover.by_servers);
            (switchover, Stall { beside_servers, longest })
        })
    }
}

impl std::fmt::Display for Switched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tally = &self.tally;
        write!(
            f,
            "{:8.1} statements/s  p50 {:6.2} ms  p99 {:7.2} ms  max {:7.2} ms  \
             ids checked {}, wrong {}, errors {}  inserts acknowledged {}, there {}; \
             the longest statement without a switchover {} ms",
            tally.per_second(),
            tally.percentile_ms(0.50),
            tally.percentile_ms(0.99),
            tally.percentile_ms(1.0),
            tally.ids_checked,
            tally.wrong_count,
            tally.errors,
            tally.inserts,
            self.rows,
            self.longest_elsewhere().as_millis(),
        )?;
        for wrong in tally.wrong.iter().take(5) {
            write!(f, "\n  wrong: {wrong}")?;
        }
        for (switchover, stall) in self.stalls() {
            let ms = |time: Duration| time.as_millis();
            write!(
                f,
                "\n  switchover: {} ms, statements held for {} ms, {} ms of that by the servers; the longest statement {} ms, \
                 {} ms of it beside the servers",
                ms(switchover.ended - switchover.began),
                ms(switchover.held),
                ms(switchover.by_servers),
                ms(stall.longest),
                ms(stall.beside_servers),
            )?;
        }
        Ok(())
    }
}
