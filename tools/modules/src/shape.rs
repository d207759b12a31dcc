//! What shape a crate and a folder keep: how much stands in one place, and who takes a whole.
//!
//! Tests do not count. An alias is what it stands for.

mod code;
mod fields;
mod folders;
mod implementations;
mod limits;
mod open;
mod tested;
mod whole;

pub(crate) use limits::Limits;

use crate::tree::Crate;
use code::Code;
use limits::{OfCrate, OfFolder};

/// What was found in one crate.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// What is wrong, where, and what the limit is.
    pub(crate) complaints: Vec<String>,
    /// The largest of what has a limit.
    pub(crate) measures: Vec<String>,
}

impl Shape {
    /// Looks at a crate and at the folders in it, where they have limits.
    pub(crate) fn of(tree: &Crate, limits: &Limits) -> Self {
        let mut shape = Self::default();
        let code = Code::of(tree);
        for (folder, limits) in limits.of_folders_in(&tree.name) {
            shape.look_at_folder(tree, &code, folder, limits);
        }
        if let Some(limits) = limits.of_crate(&tree.name) {
            shape.look_at_crate(tree, &code, limits);
        }
        shape
    }

    fn look_at_folder(&mut self, tree: &Crate, code: &Code<'_>, folder: &str, limits: &OfFolder) {
        if !tree.files.iter().any(|file| file.is_in(folder)) {
            self.complaints
                .push(format!("{}/{folder}: [shape] speaks of it, and it is not there", tree.name));
            return;
        }
        self.complaints.extend(fields::complaints(tree, code, folder, limits.fields_max));
        self.complaints.extend(whole::complaints(tree, code, folder, limits));
        self.complaints.extend(open::complaints(tree, code, folder, limits));
        self.complaints.extend(tested::complaints(tree, folder, limits));
        self.measures.extend(fields::largest(tree, code, folder));
    }

    fn look_at_crate(&mut self, tree: &Crate, code: &Code<'_>, limits: &OfCrate) {
        self.complaints.extend(implementations::complaints(tree, code, limits.impl_files_max));
        self.complaints.extend(folders::complaints(tree, limits.folder_files_max));
        self.measures.extend(folders::largest(tree));
    }
}
