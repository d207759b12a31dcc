//! The table that a person reads.

use std::fmt::Write;

use super::summary::{Ratio, Row};

const HEAD: &str = "\
| load | conns | contestant | q/s | CPU us/q | user | system | core used | load us/q | to TCP floor (range, pairs) |
|---|---:|---|---:|---:|---:|---:|---:|---:|---|";

/// All rows as one Markdown table. A row with disturbed slices only is marked with `!`.
pub(super) fn markdown(rows: &[Row]) -> String {
    rows.iter().fold(HEAD.to_owned(), |mut table, row| {
        write!(table, "\n{}", line(row)).expect("writing to a string does not fail");
        table
    })
}

fn line(row: &Row) -> String {
    let mark = if row.clean == 0 { " !" } else { "" };
    format!(
        "| {} | {} | {}{mark} | {:.0} | {:.2} | {:.2} | {:.2} | {:.0}% | {:.2} | {} |",
        row.driver,
        row.connections,
        row.contestant,
        row.queries_per_second,
        row.total_us,
        row.user_us,
        row.total_us - row.user_us,
        row.utilisation * 100.0,
        row.load_us,
        row.to_floor.map_or_else(|| "-".to_owned(), ratio)
    )
}

fn ratio(ratio: Ratio) -> String {
    format!("{:.2} ({:.2}-{:.2}, {})", ratio.median, ratio.lowest, ratio.highest, ratio.pairs)
}

#[cfg(test)]
mod tests {
    use super::super::contestant::Contestant;
    use super::super::summary::rows;
    use super::super::summary::tests::{HIT, slice};
    use super::*;

    #[test]
    fn table_has_a_line_for_each_contestant() {
        let slices = [slice(Contestant::FLOOR, 0, 4.0), slice(HIT, 0, 4.4)];
        let table = markdown(&rows(&slices));
        let lines: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| own | 64 | floor TCP | 500 | 4.00 | 0.10 | 3.90 | 0% | 5.00 | 1.00 (1.00-1.00, 1) |",
                "| own | 64 | hit TCP | 500 | 4.40 | 0.10 | 4.30 | 0% | 5.00 | 1.10 (1.10-1.10, 1) |",
            ]
        );
    }
}
