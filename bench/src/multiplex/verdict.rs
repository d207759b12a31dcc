//! What issue 4 asks of the numbers, and whether a run kept it.

use std::fmt;

use super::slice::Slice;

/// Statements a second through the proxy, by those of the direct slice beside it.
const THROUGHPUT_RATIO_MIN: f64 = 0.95;

/// The 99th percentile, likewise.
const P99_RATIO_MAX: f64 = 2.0;

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
}
