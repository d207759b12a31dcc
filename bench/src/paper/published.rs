//! The published numbers, as they were printed.
//!
//! Queries a second of Alibaba's Fast Query Cache on a dedicated RDS instance of 4 cores and 8 GB with sysbench ("Fast query cache",
//! ApsaraDB RDS for MySQL, tables 1 to 5; the article in Chinese has the same). Gains are worked out here, as two of MySQL's
//! own are misprinted: -238.22 % is -38.22 % (10 % hits, 32 connections, in Chinese only), -22.10 % is -21.10 % (80 %, 1,024 connections). Of ProxySQL only hits are in the text, its throughput is in pictures.

use serde::Serialize;

/// One table of an article.
#[derive(Debug)]
pub(super) struct Published {
    /// Which.
    pub(super) source: &'static str,
    pub(super) rows: &'static [PublishedRow],
}

/// Queries a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct PublishedRow {
    /// Connections, or the cache's size in MB.
    pub(super) x: u32,
    /// Without a query cache.
    pub(super) off: u32,
    /// With MySQL's own.
    pub(super) native: Option<u32>,
    /// With Alibaba's.
    pub(super) fast: u32,
    pub(super) hits_percent: Option<u32>,
}

impl Published {
    /// What was published of that many connections, or that size.
    pub(super) fn at(&self, x: u32) -> Option<&PublishedRow> {
        self.rows.iter().find(|row| row.x == x)
    }
}

impl PublishedRow {
    /// Alibaba's by none.
    pub(super) fn fast_ratio(&self) -> f64 {
        f64::from(self.fast) / f64::from(self.off)
    }

    /// MySQL's own by none.
    pub(super) fn native_ratio(&self) -> Option<f64> {
        Some(f64::from(self.native?) / f64::from(self.off))
    }
}

const fn three(x: u32, off: u32, native: u32, fast: u32) -> PublishedRow {
    PublishedRow { x, off, native: Some(native), fast, hits_percent: None }
}

const fn two(x: u32, off: u32, fast: u32) -> PublishedRow {
    PublishedRow { x, off, native: None, fast, hits_percent: None }
}

const fn sized(x: u32, fast: u32, hits_percent: u32) -> PublishedRow {
    PublishedRow { x, off: 98_236, native: None, fast, hits_percent: Some(hits_percent) }
}

/// `oltp_point_select`, 25 tables of 40,000 rows, 512 MB.
pub(super) const HITS_100: Published = Published {
    source: "RDS, table 1",
    rows: &[
        three(1, 8_093, 8_771, 9_261),
        three(8, 62_262, 65_686, 75_313),
        three(16, 97_083, 73_027, 139_323),
        three(32, 97_337, 60_567, 200_978),
        three(64, 106_283, 60_216, 221_659),
        three(128, 107_781, 62_844, 231_409),
        three(256, 106_694, 63_832, 222_187),
        three(512, 101_733, 64_866, 203_789),
        three(1024, 89_548, 62_291, 203_542),
    ],
};

/// `oltp_read_only`, the same data, 512 MB.
pub(super) const HITS_80: Published = Published {
    source: "RDS, table 2",
    rows: &[
        three(1, 5_099, 6_467, 7_022),
        three(8, 28_782, 28_651, 45_017),
        three(16, 35_333, 31_099, 66_770),
        three(32, 34_864, 27_610, 67_623),
        three(64, 35_503, 27_518, 75_981),
        three(128, 35_744, 27_733, 80_396),
        three(256, 35_685, 27_738, 80_925),
        three(512, 35_308, 27_398, 79_323),
        three(1024, 34_044, 26_861, 75_742),
    ],
};

/// `oltp_read_only`, the same data, 16 MB.
pub(super) const HITS_10: Published = Published {
    source: "RDS, table 3",
    rows: &[
        three(1, 5_004, 4_727, 5_199),
        three(8, 28_795, 22_542, 28_578),
        three(16, 35_455, 24_064, 35_682),
        three(32, 34_526, 21_330, 35_871),
        three(64, 35_514, 19_791, 36_051),
        three(128, 35_983, 19_519, 36_253),
        three(256, 35_695, 19_168, 36_337),
        three(512, 35_182, 18_420, 35_972),
        three(1024, 33_915, 20_168, 34_546),
    ],
};

/// `oltp_read_write`, the same data, 512 MB.
pub(super) const READ_WRITE: Published = Published {
    source: "RDS, table 4",
    rows: &[
        two(1, 4_152, 4_098),
        two(8, 21_359, 21_195),
        two(16, 26_020, 25_548),
        two(32, 27_595, 26_996),
        two(64, 29_229, 28_733),
        two(128, 29_265, 28_828),
        two(256, 29_911, 29_616),
        two(512, 29_148, 28_816),
        two(1024, 29_204, 28_824),
    ],
};

/// `oltp_point_select` on 64 connections, 100 tables of 400,000 rows of which 20 % are hot, by the cache's size.
pub(super) const SIZES: Published = Published {
    source: "RDS, table 5",
    rows: &[
        sized(64, 99_440, 22),
        sized(128, 114_155, 45),
        sized(256, 140_668, 72),
        sized(512, 151_260, 82),
        sized(1024, 153_866, 84),
        sized(2048, 159_597, 87),
        sized(4096, 169_412, 92),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The gains that the articles print, in percent, from above to below.
    #[test]
    fn gains_are_the_printed_ones_and_misprints_are_mended() {
        let native = |table: &Published| -> Vec<f64> {
            table.rows.iter().map(|row| percent(row.native_ratio().unwrap())).collect()
        };
        let fast = |table: &Published| -> Vec<f64> {
            table.rows.iter().map(|row| percent(row.fast_ratio())).collect()
        };
        // Printed as -238.22.
        assert_eq!(native(&HITS_10)[3], -38.22);
        assert_eq!(native(&HITS_10)[0..3], [-5.54, -21.72, -32.13]);
        // The last is printed as -22.10.
        assert_eq!(native(&HITS_80), [26.83, -0.46, -11.98, -20.81, -22.49, -22.41, -22.27, -22.40, -21.10]);
        assert_eq!(fast(&HITS_80), [37.71, 56.41, 88.97, 93.96, 114.01, 124.92, 126.78, 124.66, 122.48]);
        assert_eq!(fast(&HITS_100), [14.43, 20.96, 43.51, 106.48, 108.56, 114.70, 108.25, 100.32, 127.30]);
        assert_eq!(fast(&READ_WRITE), [-1.30, -0.77, -1.81, -2.17, -1.70, -1.49, -0.99, -1.14, -1.30]);
    }

    fn percent(ratio: f64) -> f64 {
        ((ratio - 1.0) * 1e4).round() / 100.0
    }
}
