//! How often a server is asked: a few times at once, but only so often in the long run. Where it writes thousands of transactions a second
//! one answer proves many, and each question takes its time.

use tokio::time::{Duration, Instant};

/// See the module's doc.
#[derive(Debug)]
pub(super) struct Pace {
    every: Duration,
    at_once: u32,
    /// When it would have been asked for the last time, had it been asked evenly.
    even: Instant,
}

impl Pace {
    /// Once in that time on an average, so many times at once.
    pub(super) fn new(every: Duration, at_once: u32) -> Self {
        Self { every, at_once, even: Instant::now() }
    }

    /// From when on it may be asked again.
    pub(super) fn next(&self) -> Instant {
        let ahead = self.every * self.at_once;
        self.even.checked_sub(ahead).unwrap_or(self.even)
    }

    /// It is asked at that moment.
    pub(super) fn note(&mut self, now: Instant) {
        self.even = self.even.max(now) + self.every;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_few_questions_come_at_once_and_others_evenly() {
        let every = Duration::from_millis(2);
        let mut pace = Pace::new(every, 3);
        let begun = Instant::now();
        let mut now = begun;
        let mut asked = Vec::new();
        for _ in 0..6 {
            now = now.max(pace.next());
            pace.note(now);
            asked.push(now - begun);
        }
        let even = |number: u32| every * number;
        assert!(asked[..3].iter().all(Duration::is_zero), "{asked:?}");
        assert!(
            asked[4..].iter().zip(1..).all(|(at, number)| *at <= even(number) && *at > even(number - 1)),
            "{asked:?}"
        );
        // Behind a rest a few come at once again.
        now += every * 10;
        assert!(pace.next() <= now);
    }
}
