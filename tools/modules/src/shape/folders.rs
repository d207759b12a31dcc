//! How much stands in each folder of a crate; a folder and the file of its module are one.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Crate;

/// Folders in which too much stands.
pub(crate) fn complaints(tree: &Crate, max: usize) -> Vec<String> {
    let folders = folders(tree);
    let crowded = folders.iter().filter(|(_, units)| units.len() > max);
    crowded
        .map(|(folder, units)| {
            format!("{folder}: {} files and folders stand in it, {max} at most", units.len())
        })
        .collect()
}

/// The one in which the most stands.
pub(crate) fn largest(tree: &Crate) -> Option<String> {
    let folders = folders(tree);
    let (folder, units) = folders.iter().rev().max_by_key(|(_, units)| units.len())?;
    Some(format!("largest folder: {} ({folder})", units.len()))
}

/// What stands in each; a crate's own file stands in none.
fn folders(tree: &Crate) -> BTreeMap<String, BTreeSet<&str>> {
    let mut folders: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for file in tree.files.iter().filter(|file| !file.unit.is_empty()) {
        let mut folder = tree.name.clone();
        for unit in file.unit.split('/') {
            folders.entry(folder.clone()).or_default().insert(unit);
            folder = format!("{folder}/{unit}");
        }
    }
    folders
}
