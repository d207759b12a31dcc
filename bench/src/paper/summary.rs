//! Medians over slices, and ratios inside a round.

use std::collections::BTreeSet;

use serde::Serialize;

use super::case::{Case, CaseName};
use super::contestant::Contestant;
use super::slice::{Cost, Slice};
use crate::median::{interval, median};

/// Of a transaction's statements in `oltp_read_only`: 14 reads, a BEGIN and a COMMIT.
const READS_SHARE: f64 = 14.0 / 16.0;

/// One contestant under one load; medians.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) case: CaseName,
    pub(super) x: u32,
    pub(super) contestant: Contestant,
    pub(super) queries_per_second: f64,
    pub(super) p95_ms: f64,
    pub(super) cost: Cost,
    pub(super) hit_ratio: Option<f64>,
    /// CPU time of others, as a share of one core.
    pub(super) foreign_share: f64,
    pub(super) slices: usize,
}

/// One contestant to another, each pair of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Ratio {
    pub(super) median: f64,
    /// Where the true median is with 95 %; the lowest and highest of fewer than six.
    pub(super) lowest: f64,
    pub(super) highest: f64,
    pub(super) pairs: usize,
}

/// What a cache that costs nothing could come to at the hits that were measured, in terms of direct.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Ceiling {
    pub(super) x: u32,
    /// By the core of the load.
    pub(super) load: f64,
    /// By the core of the servers, which have only the misses and each transaction's ends.
    pub(super) server: f64,
}

/// A row for each contestant under each load.
pub(super) fn rows(slices: &[Slice]) -> Vec<Row> {
    let keys: BTreeSet<_> = slices.iter().map(|slice| (slice.case, slice.x, slice.contestant)).collect();
    keys.into_iter().map(|(case, x, contestant)| row(slices, case, x, contestant)).collect()
}

fn row(slices: &[Slice], case: CaseName, x: u32, contestant: Contestant) -> Row {
    let used: Vec<_> = of(slices, case, x, contestant).collect();
    let median_of = |value: fn(&Slice) -> f64| median(used.iter().map(|slice| value(slice)));
    let hits: Vec<_> = used.iter().filter_map(|slice| slice.hit_ratio).collect();
    Row {
        case,
        x,
        contestant,
        queries_per_second: median_of(|slice| slice.queries_per_second),
        p95_ms: median_of(|slice| slice.p95_ms),
        cost: Cost {
            load_us: median_of(|slice| slice.cost.load_us),
            proxy_us: median_of(|slice| slice.cost.proxy_us),
            server_us: median_of(|slice| slice.cost.server_us),
        },
        hit_ratio: (!hits.is_empty()).then(|| median(hits)),
        foreign_share: median_of(|slice| slice.foreign_share),
        slices: used.len(),
    }
}

fn of(slices: &[Slice], case: CaseName, x: u32, contestant: Contestant) -> impl Iterator<Item = &Slice> {
    slices.iter().filter(move |slice| slice.case == case && slice.x == x && slice.contestant == contestant)
}

/// `above` to `below` in something; `None` if no round has both.
pub(super) fn ratio(
    slices: &[Slice],
    (case, x): (CaseName, u32),
    (above, below): (Contestant, Contestant),
    value: fn(&Slice) -> f64,
) -> Option<Ratio> {
    let ratios: Vec<f64> = of(slices, case, x, above)
        .filter_map(|a| of(slices, case, x, below).find(|b| b.round == a.round).map(|b| value(a) / value(b)))
        .collect();
    let (lowest, highest) = interval(ratios.iter().copied())?;
    Some(Ratio { median: median(ratios.iter().copied()), lowest, highest, pairs: ratios.len() })
}

/// For each load of a case of read-only transactions, while load and servers have a core each.
pub(super) fn ceilings(case: &Case, rows: &[Row]) -> Vec<Ceiling> {
    let find = |x, contestant| {
        rows.iter().find(|row| row.case == case.name && row.x == x && row.contestant == contestant)
    };
    let on = rows.iter().filter(|row| row.case == case.name && row.contestant == Contestant::On);
    on.filter_map(|on| {
        let direct = find(on.x, Contestant::Direct)?;
        let missed = 1.0 - on.hit_ratio? * READS_SHARE;
        let of_direct = |query_us: f64| 1e6 / query_us / direct.queries_per_second;
        Some(Ceiling {
            x: on.x,
            load: of_direct(on.cost.load_us),
            server: of_direct(direct.cost.server_us * missed),
        })
    })
    .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::cases;
    use super::*;

    pub(crate) const CASE: CaseName = CaseName::Hits80;

    pub(crate) fn slice(contestant: Contestant, round: usize, queries_per_second: f64) -> Slice {
        Slice {
            case: CASE,
            x: 16,
            contestant,
            round,
            queries_per_second,
            p95_ms: 2.0,
            cost: Cost { load_us: 10.0, proxy_us: 5.0, server_us: 20.0 },
            hit_ratio: None,
            foreign_share: 0.0,
        }
    }

    #[test]
    fn ratio_is_taken_inside_a_round() {
        // The host got twice as slow in the second round; the contestants did not change.
        let slices = [
            slice(Contestant::Off, 0, 100.0),
            slice(Contestant::On, 0, 200.0),
            slice(Contestant::On, 1, 100.0),
            slice(Contestant::Off, 1, 50.0),
            slice(Contestant::On, 2, 1.0),
        ];
        let ratio =
            ratio(&slices, (CASE, 16), (Contestant::On, Contestant::Off), |slice| slice.queries_per_second);
        assert_eq!(ratio, Some(Ratio { median: 2.0, lowest: 2.0, highest: 2.0, pairs: 2 }));
        let rows = rows(&slices);
        let on = rows.iter().find(|row| row.contestant == Contestant::On).unwrap();
        assert_eq!((on.queries_per_second, on.slices, on.hit_ratio), (100.0, 3, None));
    }

    #[test]
    fn ceiling_is_what_either_core_allows() {
        let on = Slice { hit_ratio: Some(0.8), ..slice(Contestant::On, 0, 60_000.0) };
        let rows = rows(&[slice(Contestant::Direct, 0, 40_000.0), on]);
        let case = cases::ALL.iter().find(|case| case.name == CASE).unwrap();
        let ceilings = ceilings(case, &rows);
        // 10 us of the load are 100,000 a second; 20 us of the server for 30 % of the statements are 166,667.
        let [Ceiling { x: 16, load, server }] = ceilings[..] else { panic!("{ceilings:?}") };
        assert!((load - 2.5).abs() < 1e-9 && (server - 4.1667).abs() < 1e-3, "{ceilings:?}");
    }
}
