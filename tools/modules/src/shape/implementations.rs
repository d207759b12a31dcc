//! In how many files a type has `impl` blocks.

use std::collections::{BTreeMap, BTreeSet};

use crate::shape::code::Code;
use crate::tree::Crate;

/// Types that are spread over too many.
pub(crate) fn complaints(tree: &Crate, code: &Code<'_>, max: usize) -> Vec<String> {
    let mut files_of: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
    for block in &code.implementations {
        if let Some(of) = code.implemented(*block) {
            files_of.entry(of).or_default().insert(block.file);
        }
    }
    let spread = files_of.iter().filter(|(_, files)| files.len() > max);
    let tell = |((file, name), files): ((usize, &str), &BTreeSet<usize>)| {
        let places: Vec<_> = files.iter().map(|file| tree.place(*file)).collect();
        let (place, count) = (tree.place(file), files.len());
        format!("{place}: {name} has impl blocks in {count} files, {max} at most: {}", places.join(", "))
    };
    spread.map(|(of, files)| tell((*of, files))).collect()
}
