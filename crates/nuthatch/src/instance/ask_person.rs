//! Questions to the person at the terminal; who is not at one says it on the command line.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};

/// Goes on only where the name is typed again.
pub(super) fn type_again(name: &str) -> anyhow::Result<()> {
    let typed = ask(&format!("this removes {name}; type its name to go on: "), &format!("--yes {name}"))?;
    if typed == name {
        return Ok(());
    }
    bail!("{typed:?} is another name than {name}: nothing was removed")
}

/// Goes on only with a yes.
pub(super) fn confirm(question: &str) -> anyhow::Result<()> {
    let answer = ask(&format!("{question} [y/N] "), "--yes")?;
    if ["y", "yes"].contains(&answer.to_lowercase().as_str()) {
        return Ok(());
    }
    bail!("nothing was changed")
}

fn ask(question: &str, instead: &str) -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        bail!("nobody is there to be asked: say {instead}");
    }
    let mut out = std::io::stdout();
    write!(out, "{question}").and_then(|()| out.flush()).context("cannot write to standard output")?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("cannot read the answer")?;
    Ok(line.trim().to_owned())
}
