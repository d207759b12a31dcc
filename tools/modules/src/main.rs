//! Holds the order of modules that `modules.toml` writes down: within a folder, arrows between files and folders run from above to below,
//! and no files stand in a circle; and the shape: how large a struct and a folder may be, over how many files a type is spread, which
//! functions take a whole session, and how many of its parts are tested without one.
//!
//! An **arrow** is a path, in a `use` or in a body, from the file that it stands in to the file that defines what it names, through
//! re-exports and renames. `mod` lines, re-exports and tests make none; nor do methods, whose types are named anyway.
//!
//! A folder and the file of its module (`session/` and `session.rs`) are one unit to those beside it. What is too large or in the wrong
//! place is told in a line that names the file and the limit.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it finds is what a run is for")]

mod arrows;
mod circles;
mod judge;
mod map;
mod order;
mod sentence;
mod shape;
mod tree;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use judge::Findings;
use order::Order;
use shape::Shape;
use tree::Crate;

const ORDER: &str = "modules.toml";
const MAP: &str = "docs/code-map.md";

fn main() -> ExitCode {
    let writes = std::env::args().skip(1).any(|argument| argument == "--write");
    match complaints(writes) {
        Ok(lines) if lines.is_empty() => ExitCode::SUCCESS,
        Ok(lines) => {
            lines.iter().for_each(|line| println!("{line}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("modules: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What is wrong, and in the end what there is.
fn complaints(writes: bool) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(ORDER).with_context(|| format!("reading {ORDER}"))?;
    let order = Order::parse(&text)?;
    let (mut lines, mut measures) = (Vec::new(), String::new());
    let (mut arrows, mut upward, mut in_circles) = (0, 0, 0);
    let crates = order
        .crates()
        .map(|(name, folder)| Crate::read(name, Path::new(folder)))
        .collect::<Result<Vec<_>>>()?;
    for known in &crates {
        let (name, findings) = (&known.name, Findings::of(known, &order));
        lines.extend(findings.complaints(name, order.known_of(name)));
        let debt = findings.debt();
        (arrows, upward, in_circles) =
            (arrows + findings.arrows, upward + debt.upward, in_circles + debt.in_circles);
        let shape = Shape::of(known, &order.limits);
        lines.extend(shape.complaints);
        shape.measures.iter().for_each(|measure| measures += &format!("; {measure}"));
    }
    let page = map::page(&crates, &order);
    if writes {
        std::fs::write(MAP, page).with_context(|| format!("writing {MAP}"))?;
    } else if std::fs::read_to_string(MAP).unwrap_or_default() != page {
        lines.push(format!(
            "{MAP} is not what the files say of themselves: cargo run -p nuthatch-modules -- --write"
        ));
    }
    println!(
        "modules: {arrows} arrows within folders, {upward} upward; {in_circles} files in circles{measures}"
    );
    Ok(lines)
}
