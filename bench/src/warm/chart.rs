//! One drawing: the 99th percentile and the throughput of each second after a restart.

use anyhow::{Result, anyhow};
use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, SeriesLabelPosition};
use plotters::coord::Shift;
use plotters::coord::combinators::IntoLogRange;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::PathElement;
use plotters::series::LineSeries;
use plotters::style::{Color, RGBColor, ShapeStyle, WHITE};

use super::second::Second;

const SIZE: (u32, u32) = (960, 360);

/// Told apart by the colour-blind too (Okabe and Ito).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 0, 0), RGBColor(213, 94, 0), RGBColor(230, 159, 0), RGBColor(0, 114, 178)];

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Line<'a> = (&'a str, RGBColor, Vec<(f64, f64)>);

/// The drawing of these, each under its name.
pub(super) fn svg(ways: &[(String, Vec<Second>); 4]) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        let (left, right) = area.split_horizontally(SIZE.0 / 2);
        let latencies = lines(ways, |second| second.p99_ms.max(0.1));
        draw(&left, "99th percentile, ms", (0.1..highest(&latencies) * 4.0).log_scale(), &latencies)?;
        let rates = lines(ways, |second| second.per_second);
        draw(&right, "statements a second", 0.0..highest(&rates) * 1.4, &rates)?;
        area.present().map_err(|error| anyhow!("{error}"))?;
    }
    Ok(text)
}

fn lines(ways: &[(String, Vec<Second>); 4], what: fn(&Second) -> f64) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for ((name, seconds), colour) in ways.iter().zip(COLOURS) {
        let points = (1_u32..).zip(seconds).map(|(at, second)| (f64::from(at), what(second)));
        lines.push((name.as_str(), colour, points.collect()));
    }
    lines
}

fn highest(lines: &[Line<'_>]) -> f64 {
    lines.iter().flat_map(|line| &line.2).map(|point| point.1).fold(1.0, f64::max)
}

fn draw<Y>(panel: &Panel<'_>, title: &str, values: Y, lines: &[Line<'_>]) -> Result<()>
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let last = lines.iter().map(|line| line.2.len()).max().unwrap_or(1) as f64;
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d::<std::ops::Range<f64>, Y>(0.0..last, values)
        .map_err(|error| anyhow!("{error}"))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_desc("seconds after the restart")
        .label_style(("sans-serif", 12))
        .draw()
        .map_err(|error| anyhow!("{error}"))?;
    for (name, colour, points) in lines {
        let style = ShapeStyle::from(*colour).stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))
            .map_err(|error| anyhow!("{error}"))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .label_font(("sans-serif", 12))
        .draw()
        .map_err(|error| anyhow!("{error}"))
}
