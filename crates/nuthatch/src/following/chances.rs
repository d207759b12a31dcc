//! How often a promise may be broken before it is not given any more.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// So many falls within so long are too many.
const FALLS_MAX: usize = 3;
const WITHIN: Duration = Duration::from_secs(600);

/// For so long it is not tried again then.
const REST: Duration = Duration::from_secs(3600);

/// See the module's doc.
#[derive(Debug, Default)]
pub(super) struct Chances {
    falls: VecDeque<Instant>,
    /// Until when it rests, and under which configuration that began.
    rests: Option<(Instant, u64)>,
}

impl Chances {
    /// It fell from its promise, under the configuration of that number.
    pub(super) fn note_fall(&mut self, now: Instant, epoch: u64) {
        self.falls.retain(|fall| now.duration_since(*fall) < WITHIN);
        self.falls.push_back(now);
        if self.falls.len() >= FALLS_MAX {
            self.falls.clear();
            self.rests = Some((now + REST, epoch));
        }
    }

    /// Whether it may be tried: also when an operator has spoken.
    pub(super) fn may_try(&self, now: Instant, epoch: u64) -> bool {
        self.rests.is_none_or(|(until, of)| now >= until || of != epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_falls_within_ten_minutes_cost_an_hour() {
        let (mut chances, start) = (Chances::default(), Instant::now());
        let at = |minutes: u64| start + Duration::from_secs(minutes * 60);
        [0, 6, 12].into_iter().for_each(|minute| chances.note_fall(at(minute), 1));
        assert!(chances.may_try(at(12), 1), "the first is too long ago");
        chances.note_fall(at(15), 1);
        assert!(!chances.may_try(at(15), 1) && !chances.may_try(at(74), 1) && chances.may_try(at(75), 1));
        assert!(chances.may_try(at(16), 2), "an operator has loaded another configuration");
        chances.note_fall(at(76), 1);
        assert!(chances.may_try(at(76), 1));
    }
}
