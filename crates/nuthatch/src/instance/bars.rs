//! How far something has come that moves bytes: a bar for each on a terminal, a line now and then elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use nuthatch_instance::{Moved, Progress, Step};
use parking_lot::Mutex;

use crate::log::{print_beside, print_line};

/// Elsewhere than on a terminal, a line so often at most.
const LINE_EVERY: Duration = Duration::from_secs(10);

const KNOWN: &str =
    "{prefix:24} [{bar:30}] {percent:>3} % {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const UNKNOWN: &str = "{prefix:24} {spinner} {bytes}, {bytes_per_sec}";

/// What is shown while work goes on.
pub(super) struct Bars {
    all: MultiProgress,
    bars: HashMap<String, ProgressBar>,
    is_terminal: bool,
    /// Nothing is printed but to standard error: standard output is for the bytes.
    is_quiet: bool,
}

impl Bars {
    pub(super) fn new() -> Self {
        Self::with(false)
    }

    /// While standard output is for something else.
    pub(super) fn beside_output() -> Self {
        Self::with(true)
    }

    fn with(is_quiet: bool) -> Self {
        let target = ProgressDrawTarget::stderr();
        Self {
            all: MultiProgress::with_draw_target(target),
            bars: HashMap::new(),
            is_terminal: std::io::stderr().is_terminal(),
            is_quiet,
        }
    }

    fn line(&self, text: &str) {
        if self.is_terminal {
            drop(self.all.println(text));
        } else if self.is_quiet {
            print_beside(text);
        } else {
            // A closed pipe must not keep anybody from his work.
            drop(print_line(text));
        }
    }

    fn moved(&mut self, moved: &Moved) {
        let all = &self.all;
        let bar = self.bars.entry(moved.what.clone()).or_insert_with(|| {
            let style = if moved.total.is_some() { KNOWN } else { UNKNOWN };
            let style =
                ProgressStyle::with_template(style).unwrap_or_else(|_bad| ProgressStyle::default_bar());
            let bar = all.add(ProgressBar::new(moved.total.unwrap_or(0)).with_prefix(moved.what.clone()));
            bar.set_style(style.progress_chars("#> "));
            bar
        });
        // What it is likely to be is a guess.
        bar.set_length(moved.total.unwrap_or(0).max(moved.done));
        let said = bar.message().parse::<u64>().unwrap_or(0);
        bar.set_position(moved.done);
        let took = bar.elapsed();
        let is_due = took.as_secs() / LINE_EVERY.as_secs() > said;
        if !self.is_terminal && is_due && !moved.over {
            bar.set_message((took.as_secs() / LINE_EVERY.as_secs()).to_string());
            let line = format!("{moved}, {}", rate(moved, took));
            self.line(&line);
        }
        if moved.over
            && let Some(bar) = self.bars.remove(&moved.what)
        {
            let took = bar.elapsed();
            bar.finish_and_clear();
            self.all.remove(&bar);
            self.line(&format!("{moved}, {}", rate(moved, took)));
        }
    }
}

/// `12.3 MiB/s, 40 s left`.
fn rate(moved: &Moved, took: Duration) -> String {
    let seconds = took.as_secs_f64().max(0.001);
    #[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
    let (done, left) = (moved.done as f64, moved.total.unwrap_or(0).saturating_sub(moved.done) as f64);
    let per_s = done / seconds;
    let rate = format!("{:.1} MiB/s", per_s / f64::from(1 << 20));
    if moved.over || left == 0.0 || per_s == 0.0 {
        return format!("{rate}, {seconds:.1} s");
    }
    format!("{rate}, {:.0} s left", left / per_s)
}

impl Progress for Bars {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Moved(moved) => self.moved(moved),
            step => self.line(&step.to_string()),
        }
    }
}

/// Bars that several threads tell of their work.
pub(super) struct Shared<'a>(&'a Mutex<Bars>);

impl<'a> Shared<'a> {
    pub(super) fn of(bars: &'a Mutex<Bars>) -> Self {
        Self(bars)
    }
}

impl Progress for Shared<'_> {
    fn step(&mut self, step: &Step) {
        self.0.lock().step(step);
    }
}
