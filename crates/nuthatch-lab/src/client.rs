//! Statements sent through the server's own command-line client, over the Unix socket, as root.
//!
//! Cost: one process a call. The client is ended after a time limit, so that a stopped server cannot hold up
//! whoever asks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::error::LabError;
use crate::role::Role;

/// Seconds after which the client is ended.
const STATEMENT_S_MAX: &str = "120";

/// Seconds after which it is ended when only the server's health is asked for.
const LOOK_S_MAX: &str = "5";

/// The answer to a statement, as text. NULL is `NULL`, as the command-line client prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Names of the columns; none when there is no row.
    pub columns: Vec<String>,
    /// One value for each column.
    pub rows: Vec<Vec<String>>,
}

impl Rows {
    /// The first column of the first row.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        Some(self.rows.first()?.first()?.as_str())
    }

    /// The named column of the first row.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<&str> {
        let index = self.columns.iter().position(|name| name == column)?;
        Some(self.rows.first()?.get(index)?.as_str())
    }

    /// Parses what the client prints with `--batch`: a line of names, then lines of values, tabs between.
    fn parse(text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.split('\t').map(unescape).collect::<Vec<_>>());
        Self { columns: lines.next().unwrap_or_default(), rows: lines.collect() }
    }
}

/// Undoes the client's own escapes in batch mode: `\n`, `\t`, `\0`, `\\`.
fn unescape(field: &str) -> String {
    let mut plain = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => plain.push(c),
            (_, true) => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('0') => plain.push('\0'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
        }
    }
    plain
}

/// How to reach one server with the command-line client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) role: Role,
    pub(crate) program: PathBuf,
    /// Option file with the login.
    pub(crate) config: PathBuf,
    pub(crate) socket: PathBuf,
}

impl Client {
    /// The answer to these statements; with several result sets their lines follow each other.
    pub(crate) fn run(&self, sql: &str) -> Result<Rows, LabError> {
        self.run_within(sql, STATEMENT_S_MAX)
    }

    /// The same with a short time limit, for questions that a healthy server answers at once.
    pub(crate) fn look(&self, sql: &str) -> Result<Rows, LabError> {
        self.run_within(sql, LOOK_S_MAX)
    }

    fn run_within(&self, sql: &str, limit_s: &str) -> Result<Rows, LabError> {
        let output =
            spawn_and_feed(&mut self.command(limit_s), sql).map_err(LabError::file("run", &self.program))?;
        if output.status.success() {
            return Ok(Rows::parse(&String::from_utf8_lossy(&output.stdout)));
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let message =
            if said.is_empty() { format!("no answer within {limit_s} s ({})", output.status) } else { said };
        Err(LabError::Statement { role: self.role, message })
    }

    fn command(&self, limit_s: &str) -> Command {
        let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=1", limit_s])
            .arg(&self.program)
            .arg(option("defaults-file", &self.config))
            .arg(option("socket", &self.socket))
            .args(["--batch", "--default-character-set=utf8mb4"]);
        command
    }
}

/// Runs the command with `input`; one that ends without reading all of it is judged by its exit status.
fn spawn_and_feed(command: &mut Command, input: &str) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take()
        && let Err(error) = stdin.write_all(input.as_bytes())
    {
        tracing::debug!(%error, "the client did not read its input");
    }
    child.wait_with_output()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_output_is_parsed_with_its_escapes() {
        let rows = Rows::parse("a\tb\n1\tx\\ty\\\\\nNULL\t\n");
        assert_eq!(rows.columns, ["a", "b"]);
        assert_eq!(rows.rows, [["1", "x\ty\\"], ["NULL", ""]]);
        assert_eq!(rows.value("b"), Some("x\ty\\"));
        assert_eq!(Rows::parse(""), Rows::default());
    }

    #[test]
    fn missing_server_gives_the_clients_words() {
        let client = Client {
            role: Role::Primary,
            program: "/bin/false".into(),
            config: "/nonexistent".into(),
            socket: "/nonexistent".into(),
        };
        assert!(matches!(client.run("SELECT 1"), Err(LabError::Statement { .. })));
    }
}
