//! What came of a run, in lines.

use std::collections::BTreeMap;
use std::fmt;

use crate::sample::{BOUNDS, Figures, Sample};
use crate::verdict::{Rest, medians};

/// Figures that tell what the load came to.
const TOLD: [&str; 14] = [
    "Questions",
    "Query_Cache_count_GET_OK",
    "Query_Cache_count_SET",
    "Query_Cache_Evicted",
    "Query_Cache_Expired",
    "Query_Cache_Invalidated",
    "Query_Cache_Flushed",
    "Query_Cache_Refreshes",
    "Query_Cache_Refreshes_failed",
    "Query_Cache_Refreshes_refused",
    "Query_Cache_Captures_refused",
    "Query_Digest_Dropped",
    "Line_Refused",
    "Client_Connections_created",
];

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) samples: Vec<Sample>,
    pub(crate) before: Rest,
    pub(crate) after: Rest,
    pub(crate) figures: Figures,
    pub(crate) refused: BTreeMap<u16, u64>,
    pub(crate) findings: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, bound) in BOUNDS.iter().enumerate() {
            let levels = self.samples.iter().map(|sample| sample.levels[place]);
            let most = levels.max_by_key(|level| level.is).expect("samples");
            writeln!(f, "{:>32}: {} of {} at most", bound.figure, most.is, most.limit)?;
        }
        for name in TOLD {
            writeln!(f, "{name:>32}: {}", self.figures[name])?;
        }
        writeln!(f, "refused, as expected: {:?}", self.refused)?;
        for (when, rest) in [("before", self.before), ("behind", self.after)] {
            writeln!(f, "{when} the load: {:?}, {} connections to servers", rest.process, rest.pooled)?;
        }
        for finding in &self.findings {
            writeln!(f, "FINDING: {finding}")?;
        }
        let (early, late) = medians(&self.samples);
        write!(
            f,
            "{} s: {} queries, {} hits, resident {} KiB in the second sixth, {} KiB in the last, {} findings",
            self.samples.last().map_or(0, |sample| sample.at.as_secs()),
            self.figures["Questions"],
            self.figures["Query_Cache_count_GET_OK"],
            early >> 10,
            late >> 10,
            self.findings.len()
        )
    }
}
