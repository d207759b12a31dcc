//! The tables that a person reads, as Markdown.

use std::fmt::Write;

use super::case::{Case, CaseName, Mode, Script};
use super::contestant::Contestant;
use super::slice::Slice;
use super::summary::{self, Row};

/// A case's tables: throughput beside what was published, and what it cost.
pub(super) fn markdown(case: &Case, rows: &[Row], slices: &[Slice]) -> String {
    let rows: Vec<_> = rows.iter().filter(|row| row.case == case.name).collect();
    let source = case.published.map_or("", |published| published.source);
    let mut text = format!("### `{}`: {}\n\n{}", case.word(), case.title, scaling(case));
    if !source.is_empty() {
        write!(text, " Published: {source}.").expect("writing to a string does not fail");
    }
    text + "\n\n" + &throughput(case, &rows, slices) + "\n" + &costs(case, &rows)
}

/// What sysbench was told.
fn scaling(case: &Case) -> String {
    let script = match case.script {
        Script::PointSelect => "`oltp_point_select`",
        Script::ReadOnly => "`oltp_read_only`",
        Script::Ranges => "one range select of `oltp_read_only`, no transaction",
        Script::ReadWrite => "`oltp_read_write`",
    };
    let mode = match case.mode {
        Mode::Text => "as text",
        Mode::Prepared => "prepared",
    };
    let ids = match case.ids {
        super::case::Ids::Uniform => "all ids alike".to_owned(),
        super::case::Ids::Hot { percent } => format!("{percent} % of the ids have 75 % of the reads"),
    };
    format!("{script} {mode}, {} tables of {} rows, {ids}.", case.tables, case.rows)
}

/// Columns in this order, of contestants that took part.
fn throughput(case: &Case, rows: &[&Row], slices: &[Slice]) -> String {
    let who = contestants(rows);
    let label = case.axis.label();
    let mut head = format!("| {label} |");
    let mut rule = "|---:|".to_owned();
    let pairs: Vec<_> =
        RATIOS.iter().filter(|(above, below)| who.contains(above) && who.contains(below)).collect();
    for one in &who {
        write!(head, " {one} q/s |").expect("writing to a string does not fail");
    }
    for (above, below) in &pairs {
        write!(head, " {above} / {below} |").expect("writing to a string does not fail");
    }
    let published = ["published native / none", "published Fast / none"];
    let published = if case.published.is_some() { &published[..] } else { &[] };
    for title in ["hits wanted", "hits"].iter().chain(published) {
        write!(head, " {title} |").expect("writing to a string does not fail");
    }
    rule += &"---:|".repeat(who.len() + pairs.len() + 2 + published.len());
    let mut text = format!("{head}\n{rule}\n");
    for x in xs(rows) {
        let mut cells = vec![x.to_string()];
        let find = |contestant| rows.iter().find(|row| row.x == x && row.contestant == contestant);
        cells.extend(
            who.iter().map(|&one| find(one).map_or_else(dash, |row| thousands(row.queries_per_second))),
        );
        cells.extend(pairs.iter().map(|&&pair| {
            let by_round = summary::ratio(slices, (case.name, x), pair, |slice| slice.queries_per_second);
            by_round.map_or_else(dash, |ratio| format!("{:.2}", ratio.median))
        }));
        let row = case.published.and_then(|published| published.at(case.published_x(x)));
        let wanted = case.hits_percent.or_else(|| row.and_then(|row| row.hits_percent));
        cells.push(wanted.map_or_else(dash, |percent| format!("{percent} %")));
        let hits = find(Contestant::On).and_then(|row| row.hit_ratio);
        cells.push(hits.map_or_else(dash, percent));
        if case.published.is_some() {
            let native = row.and_then(|row| row.native_ratio());
            cells.extend([native, row.map(|row| row.fast_ratio())].map(ratio));
        }
        writeln!(text, "| {} |", cells.join(" | ")).expect("writing to a string does not fail");
    }
    text
}

/// What is compared with what.
const RATIOS: [(Contestant, Contestant); 6] = [
    (Contestant::On, Contestant::Off),
    (Contestant::On, Contestant::Direct),
    (Contestant::Native, Contestant::Direct),
    (Contestant::On, Contestant::Floor),
    (Contestant::FastForward, Contestant::Off),
    (Contestant::Peer, Contestant::On),
];

fn costs(case: &Case, rows: &[&Row]) -> String {
    let mut text = format!(
        "| {} | | p95 ms | CPU us a query: load | proxy | server | hits | others on the machine |\n\
         |---:|---|---:|---:|---:|---:|---:|---:|\n",
        case.axis.label()
    );
    for row in rows {
        writeln!(
            text,
            "| {} | {} | {:.2} | {:.1} | {:.1} | {:.1} | {} | {} |",
            row.x,
            row.contestant,
            row.p95_ms,
            row.cost.load_us,
            row.cost.proxy_us,
            row.cost.server_us,
            row.hit_ratio.map_or_else(dash, percent),
            percent(row.foreign_share),
        )
        .expect("writing to a string does not fail");
    }
    text
}

/// What a cache could come to at best, of the case that asks for it.
pub(super) fn ceilings(case: &Case, rows: &[Row]) -> Option<String> {
    (case.name == CaseName::Hits80).then(|| {
        let line = |ceiling: summary::Ceiling| {
            format!(
                "At {} connections a cache that costs nothing could have {:.2} of direct by the core of the load, {:.2} by that of the servers.\n",
                ceiling.x, ceiling.load, ceiling.server
            )
        };
        summary::ceilings(case, rows).into_iter().map(line).collect()
    })
}

fn contestants(rows: &[&Row]) -> Vec<Contestant> {
    let mut who: Vec<_> = rows.iter().map(|row| row.contestant).collect();
    who.sort_unstable();
    who.dedup();
    who
}

fn xs(rows: &[&Row]) -> Vec<u32> {
    let mut xs: Vec<_> = rows.iter().map(|row| row.x).collect();
    xs.sort_unstable();
    xs.dedup();
    xs
}

fn dash() -> String {
    "-".to_owned()
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(dash, |ratio| format!("{ratio:.2}"))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    match digits.len() {
        0..=3 => digits,
        length => format!("{},{}", &digits[..length - 3], &digits[length - 3..]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::super::summary::tests::{CASE, slice};
    use super::*;

    #[test]
    fn measured_and_published_stand_in_one_line() {
        let case = cases::ALL.iter().find(|case| case.name == CASE).unwrap();
        let on = Slice { hit_ratio: Some(0.81), ..slice(Contestant::On, 0, 20_000.0) };
        let slices = [slice(Contestant::Direct, 0, 10_000.0), slice(Contestant::Off, 0, 8_000.0), on];
        let text = markdown(case, &summary::rows(&slices), &slices);
        let line = text.lines().find(|line| line.starts_with("| 16 | 10,000")).unwrap();
        // 31,099 and 66,770 by 35,333.
        assert_eq!(line, "| 16 | 10,000 | 8,000 | 20,000 | 2.50 | 2.00 | 80 % | 81 % | 0.88 | 1.89 |");
        let columns = |line: &str| line.matches('|').count();
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(columns(lines[0]), columns(line));
        assert_eq!(columns(lines[1]), columns(line));
    }

    #[test]
    fn thousands_are_told_apart() {
        for (value, text) in [(7.0, "7"), (999.4, "999"), (1_000.0, "1,000"), (221_659.0, "221,659")] {
            assert_eq!(thousands(value), text);
        }
    }
}
