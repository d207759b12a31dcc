//! Medians over slices, and ratios inside a repetition.
//!
//! Disturbed slices are left out wherever a clean one is left; `pairs` says how many repetitions a ratio rests on.

use std::collections::BTreeSet;

use serde::Serialize;

use super::contestant::Contestant;
use super::plan::Driver;
use super::slice::Slice;
use crate::median::median;

/// One contestant under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) driver: Driver,
    pub(super) connections: usize,
    pub(super) contestant: Contestant,
    /// Median.
    pub(super) queries_per_second: f64,
    /// Median CPU time of the contestant a query.
    pub(super) total_us: f64,
    /// Its part in user space: all slices' user time over all their queries, since it is sampled by ticks.
    pub(super) user_us: f64,
    /// Median share of its core that the contestant used.
    pub(super) utilisation: f64,
    /// Median CPU time of the load generator a query.
    pub(super) load_us: f64,
    /// To the floor over TCP.
    pub(super) to_floor: Option<Ratio>,
    /// Slices that were not disturbed.
    pub(super) clean: usize,
    /// All slices.
    pub(super) slices: usize,
}

/// A ratio of two contestants' CPU time a query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Ratio {
    pub(super) median: f64,
    pub(super) lowest: f64,
    pub(super) highest: f64,
    /// Repetitions in which both slices were clean; 0 if there was none and disturbed ones are used.
    pub(super) pairs: usize,
}

/// One load.
pub(super) type Load = (Driver, usize);

/// A row for each contestant under each load, in that order.
pub(super) fn rows(slices: &[Slice]) -> Vec<Row> {
    let keys: BTreeSet<_> =
        slices.iter().map(|slice| (slice.driver, slice.connections, slice.contestant)).collect();
    keys.into_iter()
        .map(|(driver, connections, contestant)| row(slices, (driver, connections), contestant))
        .collect()
}

fn row(slices: &[Slice], load: Load, contestant: Contestant) -> Row {
    let all: Vec<_> = of(slices, load, contestant).collect();
    let used = clean_or_all(&all);
    let median_of = |value: fn(&Slice) -> f64| median(used.iter().map(|slice| value(slice)));
    let user_us: f64 = used.iter().map(|slice| slice.user_us).sum();
    let queries: f64 = used.iter().map(|slice| slice.queries as f64).sum();
    Row {
        driver: load.0,
        connections: load.1,
        contestant,
        queries_per_second: median_of(|slice| slice.queries as f64 / slice.seconds),
        total_us: median_of(Slice::query_us),
        user_us: user_us / queries,
        utilisation: median_of(|slice| slice.total_us / slice.seconds / 1e6),
        load_us: median_of(|slice| slice.load_us / slice.queries as f64),
        to_floor: ratio(slices, load, contestant, Contestant::FLOOR),
        clean: all.iter().filter(|slice| !slice.is_disturbed).count(),
        slices: all.len(),
    }
}

fn of(slices: &[Slice], load: Load, contestant: Contestant) -> impl Iterator<Item = &Slice> {
    slices
        .iter()
        .filter(move |slice| (slice.driver, slice.connections) == load && slice.contestant == contestant)
}

fn clean_or_all<'a>(all: &[&'a Slice]) -> Vec<&'a Slice> {
    let clean: Vec<_> = all.iter().copied().filter(|slice| !slice.is_disturbed).collect();
    if clean.is_empty() { all.to_vec() } else { clean }
}

/// `above` to `below`, each pair of one repetition. `None` if either was not measured.
pub(super) fn ratio(slices: &[Slice], load: Load, above: Contestant, below: Contestant) -> Option<Ratio> {
    let pairs: Vec<(&Slice, &Slice)> = of(slices, load, above)
        .filter_map(|a| of(slices, load, below).find(|b| b.repetition == a.repetition).map(|b| (a, b)))
        .collect();
    let is_clean = |(a, b): &&(&Slice, &Slice)| !a.is_disturbed && !b.is_disturbed;
    let clean = pairs.iter().filter(is_clean).count();
    let used = pairs.iter().filter(|pair| clean == 0 || is_clean(pair));
    let ratios: Vec<f64> = used.map(|(a, b)| a.query_us() / b.query_us()).collect();
    if ratios.is_empty() {
        return None;
    }
    Some(Ratio {
        median: median(ratios.iter().copied()),
        lowest: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        highest: ratios.iter().copied().fold(0.0, f64::max),
        pairs: clean,
    })
}

impl Slice {
    /// CPU time of the contestant a query.
    pub(super) fn query_us(&self) -> f64 {
        self.total_us / self.queries as f64
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::contestant::{Candidate, Transport};
    use super::*;

    pub(crate) const HIT: Contestant = Contestant { candidate: Candidate::Hit, transport: Transport::Tcp };

    pub(crate) fn slice(contestant: Contestant, repetition: usize, query_us: f64) -> Slice {
        Slice {
            contestant,
            driver: Driver::Own,
            connections: 64,
            repetition,
            queries: 1000,
            seconds: 2.0,
            total_us: query_us * 1000.0,
            user_us: 100.0,
            load_us: 5000.0,
            foreign_share: 0.0,
            is_disturbed: false,
            all_queries: 1000,
        }
    }

    fn disturbed(slice: Slice) -> Slice {
        Slice { is_disturbed: true, foreign_share: 0.5, ..slice }
    }

    #[test]
    fn ratio_is_taken_inside_a_repetition() {
        // The host got twice as slow in the second repetition; the contestants did not change.
        let slices = [
            slice(Contestant::FLOOR, 0, 4.0),
            slice(HIT, 0, 4.4),
            slice(HIT, 1, 8.8),
            slice(Contestant::FLOOR, 1, 8.0),
        ];
        let ratio = ratio(&slices, (Driver::Own, 64), HIT, Contestant::FLOOR).unwrap();
        assert!((ratio.median - 1.1).abs() < 1e-9 && ratio.pairs == 2, "{ratio:?}");
        assert!((ratio.highest - ratio.lowest).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn disturbed_slices_are_left_out_while_clean_ones_are_left() {
        let mut slices = vec![slice(Contestant::FLOOR, 0, 4.0), slice(HIT, 0, 5.0)];
        slices.push(disturbed(slice(HIT, 1, 50.0)));
        slices.push(slice(Contestant::FLOOR, 1, 4.0));
        let rows = rows(&slices);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[1].total_us, rows[1].clean, rows[1].slices), (5.0, 1, 2));
        assert_eq!(rows[1].to_floor.unwrap().pairs, 1);

        let all_disturbed = slices.into_iter().map(disturbed).collect::<Vec<_>>();
        let ratio = ratio(&all_disturbed, (Driver::Own, 64), HIT, Contestant::FLOOR).unwrap();
        assert_eq!((ratio.pairs, ratio.highest), (0, 12.5));
    }

    #[test]
    fn user_time_is_pooled_over_slices() {
        let slices = [
            Slice { user_us: 0.0, queries: 3000, ..slice(HIT, 0, 4.0) },
            Slice { user_us: 400.0, queries: 1000, ..slice(HIT, 1, 4.0) },
        ];
        assert_eq!(rows(&slices)[0].user_us, 0.1);
        assert_eq!(rows(&slices)[0].to_floor, None);
    }
}
