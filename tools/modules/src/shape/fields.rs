//! How many fields the structs of a folder have.

use syn::ItemStruct;

use crate::shape::code::Code;
use crate::tree::Crate;

/// Those that have too many.
pub(crate) fn complaints(tree: &Crate, code: &Code<'_>, folder: &str, max: usize) -> Vec<String> {
    let too_large = structs(tree, code, folder).filter(|(_, of)| of.fields.len() > max);
    let tell = |(file, of): (usize, &ItemStruct)| {
        let (place, fields) = (tree.place(file), of.fields.len());
        format!("{place}: the struct {} has {fields} fields, {max} at most", of.ident)
    };
    too_large.map(tell).collect()
}

/// The one that has the most.
pub(crate) fn largest(tree: &Crate, code: &Code<'_>, folder: &str) -> Option<String> {
    let (_, of) = structs(tree, code, folder).max_by_key(|(_, of)| of.fields.len())?;
    Some(format!("largest struct of {}/{folder}: {} fields ({})", tree.name, of.fields.len(), of.ident))
}

fn structs<'a>(tree: &Crate, code: &Code<'a>, folder: &str) -> impl Iterator<Item = (usize, &'a ItemStruct)> {
    code.structs.iter().copied().filter(move |(file, _)| tree.files[*file].is_in(folder))
}
