//! What somebody who looks on is shown: one line that changes on a terminal, a line for each cell elsewhere; colours.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::time::Duration;

use super::case::{Case, Cell};
use super::contestant::Contestant;
use crate::clock::monotonic;

/// How far a run is.
#[derive(Debug)]
pub(super) struct Progress {
    began: Duration,
    slices: usize,
    done: usize,
    is_terminal: bool,
}

impl Progress {
    /// Of so many slices.
    pub(super) fn of(slices: usize) -> Self {
        Self { began: monotonic(), slices, done: 0, is_terminal: stderr().is_terminal() }
    }

    /// Something that is no slice is done.
    pub(super) fn tell(&self, what: &str) {
        if self.is_terminal {
            self.show(what);
        } else {
            eprintln!("... {what}");
        }
    }

    /// A cell begins.
    pub(super) fn enter(&self, case: &Case, cell: Cell) {
        if !self.is_terminal {
            eprintln!("... {} at {} {}, {}", case.word(), cell.x, case.axis.label(), self.left());
        }
    }

    /// A slice begins.
    pub(super) fn take(&mut self, case: &Case, cell: Cell, contestant: Contestant) {
        if self.is_terminal {
            let (word, label) = (case.word(), case.axis.label());
            self.show(&format!("{word} at {} {label}: {contestant}, {}", cell.x, self.left()));
        }
        self.done += 1;
    }

    /// Nothing is left of it on the terminal.
    pub(super) fn clear(&self) {
        if self.is_terminal {
            self.show("");
        }
    }

    fn show(&self, text: &str) {
        // The line is for somebody who looks on; if it cannot be written, nobody does.
        drop(write!(stderr(), "\r\x1b[2K{text}"));
        drop(stderr().flush());
    }

    fn left(&self) -> String {
        let at = format!("slice {} of {}", self.done + 1, self.slices);
        if self.done == 0 {
            return at;
        }
        let each = (monotonic() - self.began).as_secs_f64() / self.done as f64;
        let minutes = each * self.slices.saturating_sub(self.done) as f64 / 60.0;
        format!("{at}, {minutes:.0} min left")
    }
}

/// Whether standard output is shown in colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tint {
    Plain,
    Coloured,
}

impl Tint {
    /// Colours for a terminal, unless `NO_COLOR` refuses them.
    pub(super) fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if stdout().is_terminal() && !refused { Self::Coloured } else { Self::Plain }
    }

    /// Something good.
    pub(super) fn good(self, word: &str) -> String {
        self.tinted(32, word)
    }

    /// Something bad.
    pub(super) fn bad(self, word: &str) -> String {
        self.tinted(31, word)
    }

    fn tinted(self, colour: u8, word: &str) -> String {
        match self {
            Self::Plain => word.to_owned(),
            Self::Coloured => format!("\x1b[{colour}m{word}\x1b[0m"),
        }
    }
}
