//! A bound on the rate of a log line that strangers can cause.

use parking_lot::Mutex;

/// Lets at most `lines_per_second_max` lines through in each second and counts the rest.
#[derive(Debug)]
pub(crate) struct LogLimit {
    lines_per_second_max: u32,
    window: Mutex<Window>,
}

#[derive(Debug, Default)]
struct Window {
    second: u64,
    lines: u32,
    suppressed: u64,
}

impl LogLimit {
    pub(crate) fn new(lines_per_second_max: u32) -> Self {
        Self { lines_per_second_max, window: Mutex::default() }
    }

    /// Whether a line may be written now, and how many were not since the last that was.
    pub(crate) fn admit(&self, now_ms: u64) -> Option<u64> {
        let mut window = self.window.lock();
        let second = now_ms / 1000;
        if window.second != second {
            window.second = second;
            window.lines = 0;
        }
        if window.lines >= self.lines_per_second_max {
            window.suppressed += 1;
            return None;
        }
        window.lines += 1;
        Some(std::mem::take(&mut window.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_past_the_limit_are_counted_into_the_next() {
        let limit = LogLimit::new(2);
        let admitted: Vec<_> = (0..5).map(|_| limit.admit(10)).collect();
        assert_eq!(admitted, [Some(0), Some(0), None, None, None]);
        assert_eq!(limit.admit(1_010), Some(3));
    }
}
