//! How often a server may crash before it is left alone.

use std::time::Duration;

/// So many crashes within [`WITHIN_S`] end it.
const CRASHES_MAX: usize = 5;
const WITHIN_S: u64 = 600;
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// What to do behind a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Start it again after a pause.
    StartAfter(Duration),
    /// Leave it, and say why.
    GiveUp(String),
}

/// Notes a crash, and says what to do. The first pause is a second, and each is twice the one before.
pub(crate) fn note(crashes: &mut Vec<u64>, now_s: u64) -> Next {
    crashes.retain(|crash| *crash + WITHIN_S > now_s);
    crashes.push(now_s);
    if crashes.len() >= CRASHES_MAX {
        return Next::GiveUp(format!("it crashed {} times within {} minutes", crashes.len(), WITHIN_S / 60));
    }
    let doublings = u32::try_from(crashes.len() - 1).unwrap_or(u32::MAX).min(10);
    Next::StartAfter(Duration::from_secs(1 << doublings).min(PAUSE_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifth_crash_within_ten_minutes_is_the_last() {
        let mut crashes = Vec::new();
        let pauses: Vec<Next> = (0..5).map(|n| note(&mut crashes, 1000 + n)).collect();
        let seconds = |s| Next::StartAfter(Duration::from_secs(s));
        assert_eq!(pauses[..4], [seconds(1), seconds(2), seconds(4), seconds(8)]);
        assert!(matches!(&pauses[4], Next::GiveUp(why) if why.contains("5 times")));
        assert_eq!(note(&mut crashes, 5000), seconds(1), "older ones do not count");
    }
}
