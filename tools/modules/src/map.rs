//! The page that lists all files with the first sentence of what each says of itself.

use crate::order::{OWN, Order};
use crate::tree::{Crate, Source};

const HEAD: &str = "\
# Code map

Every file with the first sentence of its `//!`, by crate and folder; in a folder what stands above uses what stands below.
Made by `cargo run -p nuthatch-modules -- --write`, and held by `make check`.
";

/// The page.
pub(crate) fn page(crates: &[Crate], order: &Order) -> String {
    let mut page = HEAD.to_owned();
    for known in crates {
        let root = known.files.iter().find(|file| file.unit.is_empty());
        page += &format!("\n## {}\n\n{}\n\n", known.name, root.map_or("", |root| &root.sentence));
        list(&mut page, known, order, "", 0);
    }
    page
}

/// The units of a folder, each with what stands in it.
fn list(page: &mut String, of: &Crate, order: &Order, folder: &str, depth: usize) {
    let name = if folder.is_empty() { of.name.clone() } else { format!("{}/{folder}", of.name) };
    let place = |file: &&Source| {
        let unit = own_name(&file.unit);
        let listed = order.of_folder(&name).and_then(|units| units.iter().position(|known| known == unit));
        (listed.unwrap_or(usize::MAX), unit.to_owned())
    };
    let mut files: Vec<_> = of.files.iter().filter(|file| is_in(&file.unit, folder)).collect();
    files.sort_by_key(place);
    for file in files {
        let indent = "  ".repeat(depth);
        *page += &format!("{indent}- `{}` {}\n", own_name(&file.unit), file.sentence);
        list(page, of, order, &file.unit, depth + 1);
    }
}

fn own_name(unit: &str) -> &str {
    debug_assert_ne!(unit, OWN, "a folder's own file is listed under its name");
    unit.rsplit('/').next().unwrap_or(unit)
}

fn is_in(unit: &str, folder: &str) -> bool {
    !unit.is_empty() && unit.rsplit_once('/').map_or("", |(above, _)| above) == folder
}
