//! Questions to the person at the terminal; who is not at one says it on the command line.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::{Context, bail};
use nuthatch_instance::InstanceName;

/// Goes on only where the name was said again, or is typed now.
pub(super) fn named_again(yes: Option<&str>, does: &str, name: &InstanceName) -> anyhow::Result<()> {
    match yes {
        Some(yes) if yes == name.as_str() => Ok(()),
        Some(yes) => bail!("--yes {yes} is another name than {name}: nothing was changed"),
        None => type_again(does, name.as_str()),
    }
}

/// Goes on only where the name is typed again.
fn type_again(does: &str, name: &str) -> anyhow::Result<()> {
    let typed = ask(&format!("this {does} {name}; type its name to go on: "), &format!("--yes {name}"))?;
    if typed == name {
        return Ok(());
    }
    bail!("{typed:?} is another name than {name}: nothing was changed")
}

/// Goes on only with a yes.
pub(super) fn confirm(question: &str) -> anyhow::Result<()> {
    if agrees(question)? {
        return Ok(());
    }
    bail!("nothing was changed")
}

/// Whether a yes is the answer.
pub(super) fn agrees(question: &str) -> anyhow::Result<bool> {
    let answer = ask(&format!("{question} [y/N] "), "--yes")?;
    Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()))
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
