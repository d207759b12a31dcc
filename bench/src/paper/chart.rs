//! One drawing of a case, as SVG: throughput, and what a cache makes of it beside what was published.
//!
//! Loads stand side by side at equal distances, those of the article among them. What was published is dashed.

use anyhow::{Result, anyhow};
use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement};
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::{Color, RGBColor, ShapeStyle, WHITE};

use super::case::Case;
use super::contestant::Contestant;
use super::summary::Row;

const SIZE: (u32, u32) = (960, 360);

/// Of the height below the legend, for each line of it.
const LEGEND_SHARE: f64 = 0.1;

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Axes<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Something that changes with the load.
struct Line {
    name: String,
    colour: RGBColor,
    stroke: Stroke,
    /// Place on the axis, and value.
    points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stroke {
    Measured,
    Published,
}

/// The drawing of a case that was measured.
pub(super) fn svg(case: &Case, rows: &[Row]) -> Result<String> {
    let rows: Vec<_> = rows.iter().filter(|row| row.case == case.name).collect();
    let xs = places(case, &rows);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        let (left, right) = area.split_horizontally(SIZE.0 / 2);
        let label = case.axis.label();
        draw(&left, &format!("{}: queries a second", case.word()), label, &xs, &throughput(&rows, &xs))?;
        draw(&right, "times the throughput without a cache", label, &xs, &gains(case, &rows, &xs))?;
        area.present().map_err(|error| anyhow!("{error}"))?;
    }
    Ok(text)
}

/// All loads that were measured or published.
fn places(case: &Case, rows: &[&Row]) -> Vec<u32> {
    let mut xs: Vec<_> = rows.iter().map(|row| row.x).collect();
    let published = case.published.map_or(&[][..], |published| published.rows);
    xs.extend(published.iter().map(|row| row.x / case.published_x(1)));
    xs.sort_unstable();
    xs.dedup();
    xs
}

fn place(xs: &[u32], x: u32) -> f64 {
    xs.iter().position(|&one| one == x).unwrap_or(0) as f64
}

fn throughput(rows: &[&Row], xs: &[u32]) -> Vec<Line> {
    let line = |contestant: Contestant| Line {
        name: contestant.to_string(),
        colour: colour(contestant),
        stroke: Stroke::Measured,
        points: of(rows, contestant).map(|row| (place(xs, row.x), row.queries_per_second)).collect(),
    };
    ORDER.into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

fn gains(case: &Case, rows: &[&Row], xs: &[u32]) -> Vec<Line> {
    let measured = |above: Contestant, below: Contestant| {
        let point = |row: &Row| {
            let base = of(rows, below).find(|base| base.x == row.x)?;
            Some((place(xs, row.x), row.queries_per_second / base.queries_per_second))
        };
        let name = format!("{above} / {below}");
        let colour = if below == Contestant::Direct { colour(above) } else { colour(below) };
        Line { name, colour, stroke: Stroke::Measured, points: of(rows, above).filter_map(point).collect() }
    };
    let mut lines = vec![
        measured(Contestant::On, Contestant::Direct),
        measured(Contestant::On, Contestant::Off),
        measured(Contestant::Native, Contestant::Direct),
    ];
    if let Some(published) = case.published {
        let at = |x: u32| place(xs, x / case.published_x(1));
        let fast = published.rows.iter().map(|row| (at(row.x), row.fast_ratio())).collect();
        let native = published.rows.iter().filter_map(|row| Some((at(row.x), row.native_ratio()?))).collect();
        let line = |name: &str, contestant, points| Line {
            name: name.to_owned(),
            colour: colour(contestant),
            stroke: Stroke::Published,
            points,
        };
        lines.push(line("published: Fast Query Cache", Contestant::On, fast));
        lines.push(line("published: MySQL's own", Contestant::Native, native));
    }
    lines.retain(|line| !line.points.is_empty());
    lines
}

fn of<'a>(rows: &'a [&Row], contestant: Contestant) -> impl Iterator<Item = &'a Row> {
    rows.iter().copied().filter(move |row| row.contestant == contestant)
}

const ORDER: [Contestant; 7] = [
    Contestant::Floor,
    Contestant::On,
    Contestant::Peer,
    Contestant::Native,
    Contestant::Direct,
    Contestant::FastForward,
    Contestant::Off,
];

/// Told apart by the colour-blind too (Okabe and Ito).
fn colour(contestant: Contestant) -> RGBColor {
    match contestant {
        Contestant::On => RGBColor(0, 114, 178),
        Contestant::Off => RGBColor(86, 180, 233),
        Contestant::Direct => RGBColor(0, 0, 0),
        Contestant::Native => RGBColor(213, 94, 0),
        Contestant::Floor => RGBColor(0, 158, 115),
        Contestant::Peer => RGBColor(204, 121, 167),
        Contestant::FastForward => RGBColor(230, 159, 0),
    }
}

fn draw(panel: &Panel<'_>, title: &str, label: &str, xs: &[u32], lines: &[Line]) -> Result<()> {
    let room = 1.1 + LEGEND_SHARE * lines.len() as f64;
    let values = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let highest = values.fold(0.0, f64::max).max(f64::MIN_POSITIVE) * room;
    let last = xs.len().saturating_sub(1) as f64;
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(-0.3..last + 0.3, 0.0..highest)
        .map_err(|error| anyhow!("{error}"))?;
    let name_of = |at: &f64| {
        let is_a_place = (at - at.round()).abs() < 0.01 && *at >= 0.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place of the axis")]
        let x = is_a_place.then(|| xs.get(at.round() as usize)).flatten();
        x.map_or_else(String::new, u32::to_string)
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(2 * xs.len() + 1)
        .x_label_formatter(&name_of)
        .x_desc(label)
        .y_label_formatter(&|value| number(*value))
        .label_style(("sans-serif", 12))
        .draw()
        .map_err(|error| anyhow!("{error}"))?;
    lines.iter().try_for_each(|line| draw_line(&mut chart, line))?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 12))
        .draw()
        .map_err(|error| anyhow!("{error}"))
}

fn draw_line(chart: &mut Axes<'_, '_>, line: &Line) -> Result<()> {
    let style = ShapeStyle::from(line.colour).stroke_width(2);
    let points = line.points.iter().copied();
    let drawn = match line.stroke {
        Stroke::Measured => chart.draw_series(LineSeries::new(points.clone(), style)),
        Stroke::Published => chart.draw_series(DashedLineSeries::new(points.clone(), 5, 4, style)),
    };
    let is_measured = line.stroke == Stroke::Measured;
    drawn.map_err(|error| anyhow!("{error}"))?.label(line.name.as_str()).legend(move |(x, y)| {
        let end = if is_measured { x + 18 } else { x + 8 };
        PathElement::new([(x, y), (end, y)], style)
    });
    if is_measured {
        let dots = points.map(|point| Circle::new(point, 3, style.color.filled()));
        chart.draw_series(dots).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(())
}

fn number(value: f64) -> String {
    if value >= 1_000.0 { format!("{:.0}k", value / 1_000.0) } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::super::summary::{rows, tests::slice};
    use super::*;

    /// An error names the place at which a tag has no partner.
    fn require_well_formed(text: &str) -> Result<usize> {
        let (mut open, mut tags, mut rest) = (Vec::new(), 0, text);
        while let Some((before, after)) = rest.split_once('<') {
            anyhow::ensure!(!before.contains('>') || tags > 0, "text before the first tag");
            let (tag, behind) = after.split_once('>').ok_or_else(|| anyhow!("a tag without end: {after}"))?;
            anyhow::ensure!(tag.matches('"').count() % 2 == 0, "an open quote in {tag}");
            tags += 1;
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            if tag.starts_with('/') {
                anyhow::ensure!(open.pop() == Some(name), "</{name}> closes another");
            } else if !tag.ends_with('/') && !tag.starts_with(['!', '?']) {
                open.push(name);
            }
            rest = behind;
        }
        anyhow::ensure!(open.is_empty(), "never closed: {open:?}");
        Ok(tags)
    }

    #[test]
    fn a_drawing_is_well_formed_and_names_its_lines() {
        let slices = [
            slice(Contestant::Direct, 0, 10_000.0),
            slice(Contestant::Native, 0, 9_000.0),
            slice(Contestant::Off, 0, 8_000.0),
            slice(Contestant::On, 0, 20_000.0),
        ];
        let case = cases::ALL.iter().find(|case| case.name == super::super::summary::tests::CASE).unwrap();
        let text = svg(case, &rows(&slices)).unwrap();
        assert!(text.starts_with("<svg"), "{text}");
        assert!(require_well_formed(&text).unwrap() > 50);
        for name in ["on / direct", "published: Fast Query Cache", "1024", "connections"] {
            assert!(text.contains(name), "{name}");
        }
    }

    #[test]
    fn a_drawing_that_is_cut_off_is_not_well_formed() {
        for text in ["<svg><g></svg>", "<svg><g", "<svg><a b=\"></a></svg>", "<svg>"] {
            require_well_formed(text).unwrap_err();
        }
    }
}
