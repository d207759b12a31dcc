//! How often connections were kept, for each reason.

use crate::stats::Counter;
use crate::stats::pins::Pins;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct PinCounters([Counter; Pins::COUNT]);

impl PinCounters {
    /// Counts each of these reasons.
    pub(crate) fn count(&self, reasons: Pins) {
        if reasons.is_empty() {
            return;
        }
        for ((reason, _), counter) in Pins::all().zip(&self.0) {
            if reasons.contains(reason) {
                counter.bump();
            }
        }
    }

    /// In the order of [`Pins::all`].
    pub(crate) fn read(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(Counter::read)
    }
}
