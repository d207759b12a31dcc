//! What is asked of the numbers, and whether a run kept it.

use std::fmt;
use std::time::Duration;

use super::slice::{Slice, Stall, Switched};
use super::switchover::Switchover;

/// Statements a second through the proxy, by those of the direct slice beside it.
const THROUGHPUT_RATIO_MIN: f64 = 0.95;

/// The 99th percentile, likewise.
const P99_RATIO_MAX: f64 = 2.0;

/// How long a statement may take during a switchover, beside what the servers take.
const STALL_BELOW: Duration = Duration::from_secs(1);

/// A direct slice and the proxied one behind it.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) direct: Option<Slice>,
    pub(super) proxied: Slice,
}

/// One requirement.
#[derive(Debug)]
pub(super) struct Verdict {
    is_met: bool,
    text: String,
}

impl Verdict {
    pub(super) fn is_met(&self) -> bool {
        self.is_met
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.is_met { "met   " } else { "MISSED" }, self.text)
    }
}

/// All that can be judged. Counts are of the worst slice, ratios the median of the pairs.
pub(super) fn judge(pairs: &[Pair], backends_max: u64) -> Vec<Verdict> {
    let slices = || pairs.iter().flat_map(|pair| pair.direct.iter().chain([&pair.proxied]));
    let peak = pairs.iter().map(|pair| pair.proxied.connections_peak).max().unwrap_or(0);
    let wrong: u64 = slices().map(|slice| slice.tally.wrong_count).sum();
    let checked: u64 = slices().map(|slice| slice.tally.ids_checked).sum();
    let lost: u64 = slices().map(|slice| slice.tally.inserts.abs_diff(slice.rows)).sum();
    let mut verdicts = vec![
        Verdict {
            is_met: peak <= backends_max,
            text: format!("backend connections at once: {peak}, at most {backends_max}"),
        },
        Verdict {
            is_met: wrong == 0 && checked > 0,
            text: format!("wrong answers: {wrong}; ids that were right: {checked}"),
        },
        Verdict {
            is_met: lost == 0,
            text: format!("inserts acknowledged and not there, or the reverse: {lost}"),
        },
    ];
    let ratios = |figure: fn(&Slice) -> f64| ratios(pairs, figure);
    if let Some((median, range)) = ratios(|slice| slice.tally.per_second()) {
        let text = format!("throughput / direct: {median:.3} ({range}), at least {THROUGHPUT_RATIO_MIN}");
        verdicts.push(Verdict { is_met: median >= THROUGHPUT_RATIO_MIN, text });
    }
    if let Some((median, range)) = ratios(|slice| slice.tally.percentile_ms(0.99)) {
        let text = format!("p99 / direct: {median:.2} ({range}), at most {P99_RATIO_MAX}");
        verdicts.push(Verdict { is_met: median <= P99_RATIO_MAX, text });
    }
    verdicts
}

/// All that can be judged where the primary changes. Counts are of all slices, the stall is the longest.
pub(super) fn judge_switched(slices: &[Switched]) -> Vec<Verdict> {
    let sum = |figure: fn(&Switched) -> u64| slices.iter().map(figure).sum::<u64>();
    let switchovers: usize = slices.iter().map(|slice| slice.switchovers.len()).sum();
    let (errors, wrong) = (sum(|slice| slice.tally.errors), sum(|slice| slice.tally.wrong_count));
    let checked = sum(|slice| slice.tally.ids_checked);
    let lost = sum(|slice| slice.tally.inserts.saturating_sub(slice.rows));
    let doubled = sum(|slice| slice.rows.saturating_sub(slice.tally.inserts));
    let mut verdicts = vec![
        Verdict { is_met: errors == 0, text: format!("errors: {errors}, in {switchovers} switchovers") },
        Verdict {
            is_met: wrong == 0 && checked > 0,
            text: format!("wrong answers: {wrong}; ids that were right: {checked}"),
        },
        Verdict {
            is_met: lost == 0 && doubled == 0,
            text: format!(
                "inserts that were acknowledged and are lost: {lost}; there and not acknowledged, or twice: {doubled}"
            ),
        },
    ];
    let stalls: Vec<_> = slices.iter().flat_map(Switched::stalls).collect();
    let longest = |of: fn(&(&Switchover, Stall)) -> Duration| stalls.iter().map(of).max().unwrap_or_default();
    let beside_servers = longest(|(_, stall)| stall.beside_servers);
    verdicts.push(Verdict {
        is_met: beside_servers < STALL_BELOW && !stalls.is_empty(),
        text: format!(
            "the longest stall beside what the servers took: {} ms, below {} ms \
             (the longest statement {} ms; the servers took {} ms at most; without a switchover {} ms)",
            beside_servers.as_millis(),
            STALL_BELOW.as_millis(),
            longest(|(_, stall)| stall.longest).as_millis(),
            longest(|(switchover, _)| switchover.by_servers).as_millis(),
            slices.iter().map(Switched::longest_elsewhere).max().unwrap_or_default().as_millis(),
        ),
    });
    verdicts
}

/// The median and the range of a figure's ratio, over the pairs that have both.
fn ratios(pairs: &[Pair], figure: fn(&Slice) -> f64) -> Option<(f64, String)> {
    let mut ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|pair| Some(figure(&pair.proxied) / figure(pair.direct.as_ref()?)))
        .filter(|ratio| ratio.is_finite())
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (first, last) = (*ratios.first()?, *ratios.last()?);
    Some((ratios[ratios.len() / 2], format!("{first:.3} to {last:.3}, {} pairs", ratios.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multiplex::crowd::Tally;

    fn slice(connections_peak: u64, inserts: u64, rows: u64, wrong_count: u64) -> Slice {
        let tally = Tally { inserts, wrong_count, ids_checked: 10, ..Tally::default() };
        Slice { tally, connections_peak, connections_sampled: 0, rows }
    }

    fn missed(proxied: Slice) -> usize {
        let direct = Some(slice(600, 5, 5, 0));
        judge(&[Pair { direct, proxied }], 30).iter().filter(|verdict| !verdict.is_met()).count()
    }

    #[test]
    fn too_many_connections_wrong_ids_and_lost_inserts_are_missed() {
        assert_eq!(missed(slice(30, 5, 5, 0)), 0);
        assert_eq!(missed(slice(31, 5, 5, 0)), 1);
        assert_eq!(missed(slice(30, 5, 4, 0)), 1);
        assert_eq!(missed(slice(30, 5, 6, 0)), 1);
        assert_eq!(missed(slice(30, 5, 5, 1)), 1);
    }

    fn missed_switched(inserts: u64, rows: u64, errors: u64, longest_ms: u64) -> usize {
        let ms = Duration::from_millis;
        let slow = vec![(ms(100), ms(100 + longest_ms))];
        let tally = Tally { inserts, errors, wrong_count: errors, ids_checked: 10, slow, ..Tally::default() };
        let switchover = Switchover { began: ms(50), ended: ms(900), held: ms(510), by_servers: ms(500) };
        let slice = Switched { tally, switchovers: vec![switchover], rows };
        judge_switched(&[slice]).iter().filter(|verdict| !verdict.is_met()).count()
    }

    #[test]
    fn lost_and_doubled_inserts_errors_and_stalls_are_missed() {
        assert_eq!(missed_switched(5, 5, 0, 1499), 0);
        assert_eq!(missed_switched(5, 5, 0, 1500), 1, "1 s more than the servers took");
        assert_eq!(missed_switched(5, 4, 0, 10), 1);
        assert_eq!(missed_switched(5, 6, 0, 10), 1);
        assert_eq!(missed_switched(5, 5, 1, 10), 2, "an error is a wrong answer too");
    }
}
