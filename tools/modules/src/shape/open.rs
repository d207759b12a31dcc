//! Which structs of a folder's parts show their fields.

use syn::Visibility;

use crate::shape::code::Code;
use crate::shape::limits::OfFolder;
use crate::tree::Crate;

/// Those that show a field and are not named, and those that are named and show none.
pub(crate) fn complaints(tree: &Crate, code: &Code<'_>, folder: &str, limits: &OfFolder) -> Vec<String> {
    let parts = format!("{folder}/{}", limits.parts);
    let mut open = Vec::new();
    let mut complaints = Vec::new();
    for (file, of) in code.structs.iter().filter(|(file, _)| tree.files[*file].is_in(&parts)) {
        let shows = |field: &syn::Field| !matches!(field.vis, Visibility::Inherited);
        if !of.fields.iter().any(shows) {
            continue;
        }
        let name = of.ident.to_string();
        if !limits.open_parts.contains(&name) {
            let place = tree.place(*file);
            complaints.push(format!("{place}: the struct {name} shows a field; open_parts does not name it"));
        }
        open.push(name);
    }
    let is_not_open = |name: &&String| !open.contains(name);
    let tell =
        |name: &String| format!("{}/{parts}: open_parts names {name}, which shows no field", tree.name);
    complaints.extend(limits.open_parts.iter().filter(is_not_open).map(tell));
    complaints
}
