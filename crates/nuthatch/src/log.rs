//! Where the program's words go: log lines and the last sentence before it gives up, both to standard error.

use std::io::{IsTerminal, Write};

use anyhow::Context;
use tracing_subscriber::EnvFilter;

/// Starts logging at `level` (`error` … `trace`, or a filter such as `info,nuthatch_proxy=debug`).
pub(crate) fn start(level: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(level)
        .with_context(|| format!("`{level}` is no log level: use error, warn, info, debug or trace"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(wants_color())
        .try_init()
        .map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))
}

fn wants_color() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}

/// Says why the program ends: the error and its causes in one line.
pub(crate) fn say_error(error: &anyhow::Error) {
    // There is nowhere left to complain to if standard error is closed.
    drop(writeln!(std::io::stderr(), "nuthatch: {error:#}"));
}

/// Prints a line beside what goes to standard output.
pub(crate) fn print_beside(line: &str) {
    // As with errors.
    drop(writeln!(std::io::stderr(), "{line}"));
}

/// Prints a line for the person at the terminal, or the script behind a pipe.
pub(crate) fn print_line(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("cannot write to standard output")
}
