//! What must hold of the samples of a run, and of what is there before the load and behind it.
//!
//! No sample has a figure above its limit. Memory does not grow: the median of the run's last sixth is that of its second sixth, but for
//! [`GROWTH_PERCENT`] and [`GROWTH_BYTES`]; the first sixth fills the cache. Behind the load there are as many threads and files as before it,
//! and those of the pool. And what is to be soaked did happen.

#[cfg(test)]
mod tests;

use crate::sample::{BOUNDS, Figures, Process, Sample};

/// By how much the resident memory of two sixths of a run may differ. Over runs of six minutes it was 0.6 and 1.4 %, of 40 MiB.
pub(crate) const GROWTH_PERCENT: u64 = 3;
pub(crate) const GROWTH_BYTES: u64 = 2 << 20;

/// What a soak without which shows nothing.
const DONE: [&str; 6] = [
    "Query_Cache_count_GET_OK",
    "Query_Cache_Refreshes",
    "Query_Cache_Evicted",
    "Query_Cache_Invalidated",
    "Query_Cache_Flushed",
    "Query_Digest_Dropped",
];

/// Whether a run is long enough to tell growth from a cache that fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    Judged,
    TooShort,
}

/// While nobody is there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest {
    pub(crate) process: Process,
    /// Connections to servers.
    pub(crate) pooled: u64,
}

/// Where figures were above their limits. A limit that has been lowered holds from the second sample on.
pub(crate) fn crossed(samples: &[Sample]) -> Vec<String> {
    let mut findings = Vec::new();
    for (place, bound) in BOUNDS.iter().enumerate() {
        let excess = |pair: &[Sample]| {
            let [before, now] = [pair[0], pair[1]].map(|sample| sample.levels[place]);
            now.is.saturating_sub(now.limit.max(before.limit))
        };
        let over: Vec<_> = samples.windows(2).filter(|pair| excess(pair) > 0).collect();
        if let Some(worst) = over.iter().max_by_key(|pair| excess(pair)) {
            let (level, at) = (worst[1].levels[place], worst[1].at);
            findings.push(format!(
                "{} is above its limit in {} samples, at most by {}: {} of {} after {} s",
                bound.figure,
                over.len(),
                excess(worst),
                level.is,
                level.limit,
                at.as_secs()
            ));
        }
    }
    findings
}

/// The medians of resident memory in the second sixth and in the last.
pub(crate) fn medians(samples: &[Sample]) -> (u64, u64) {
    let sixth = samples.len() / 6;
    let median = |samples: &[Sample]| {
        let mut bytes: Vec<_> = samples.iter().map(|sample| sample.process.resident_bytes).collect();
        bytes.sort_unstable();
        bytes[bytes.len() / 2]
    };
    (median(&samples[sixth..2 * sixth]), median(&samples[5 * sixth..]))
}

pub(crate) fn grown(samples: &[Sample]) -> Option<String> {
    let (early, late) = medians(samples);
    let allowed = early + early * GROWTH_PERCENT / 100 + GROWTH_BYTES;
    (late > allowed)
        .then(|| format!("memory grows: from {early} to {late} bytes, {} more than may be", late - allowed))
}

/// What stays behind the load.
pub(crate) fn left(before: Rest, after: Rest) -> Vec<String> {
    let own = |rest: Rest| rest.process.descriptors.saturating_sub(rest.pooled);
    let mut findings = Vec::new();
    for (what, before, after) in
        [("files", own(before), own(after)), ("threads", before.process.threads, after.process.threads)]
    {
        if after > before {
            findings.push(format!("{what} are left: {before} before, {after} behind"));
        }
    }
    findings
}

/// What did not happen at all.
pub(crate) fn undone(figures: &Figures) -> Vec<String> {
    let undone = DONE.into_iter().filter(|name| figures[*name] == 0);
    undone.map(|name| format!("the run shows nothing: {name} is 0")).collect()
}

/// What the proxy says of itself.
pub(crate) fn confessed(log: &str, figures: &Figures) -> Vec<String> {
    let said = log.lines().filter(|line| line.contains("panicked") || line.contains("ERROR "));
    let mut findings: Vec<_> = said.take(20).map(|line| format!("the log: {line}")).collect();
    if figures["Worker_Panics"] > 0 {
        findings.push(format!("{} sessions ended by a panic", figures["Worker_Panics"]));
    }
    findings
}
