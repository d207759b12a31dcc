//! Writes `docs/variables.md` to standard output.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().write_all(nuthatch_config::variables_markdown().as_bytes())
}
