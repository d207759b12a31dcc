//! Who takes the whole that a folder's parts make.

use syn::visit::{self, Visit};
use syn::{Path, Receiver};

use crate::shape::code::{Code, Function, Named};
use crate::shape::limits::OfFolder;
use crate::tree::{Crate, Target};

/// Functions of the folder that take it and do not stand in a composing unit.
pub(crate) fn complaints(tree: &Crate, code: &Code<'_>, folder: &str, limits: &OfFolder) -> Vec<String> {
    let Some(whole) = whole(tree, folder, &limits.whole) else {
        return vec![format!("{}/{folder}: {} is nowhere", tree.name, limits.whole.join("::"))];
    };
    let composes = |unit: &String| format!("{folder}/{unit}");
    let composing: Vec<_> = limits.composing.iter().map(composes).collect();
    let may_not = |file: usize| {
        let file = &tree.files[file];
        file.is_in(folder) && !composing.iter().any(|unit| file.is_in(unit))
    };
    let taking =
        code.functions.iter().filter(|function| may_not(function.file) && takes(code, function, whole));
    let tell = |function: &Function<'_>| {
        let (place, name) = (tree.place(function.file), &function.signature.ident);
        format!("{place}: `{name}` takes the whole {}; only {} may", whole.1, limits.composing.join(", "))
    };
    taking.map(tell).collect()
}

fn whole<'t>(tree: &'t Crate, folder: &str, path: &[String]) -> Option<Named<'t>> {
    let own = tree.files.iter().find(|file| file.unit == folder)?;
    match tree.resolve(own.module, path)? {
        Target::In(file, name) => Some((file, name)),
        Target::Module(_) => None,
    }
}

/// Whether a parameter, or what is asked of a parameter's type, names it.
fn takes(code: &Code<'_>, function: &Function<'_>, whole: Named<'_>) -> bool {
    let is_of_whole = function.of.and_then(|of| code.implemented(of)) == Some(whole);
    let mut search = Search { code, module: function.module, whole, is_of_whole, found: false };
    search.visit_generics(&function.signature.generics);
    function.signature.inputs.iter().for_each(|input| search.visit_fn_arg(input));
    search.found
}

struct Search<'a, 'c> {
    code: &'c Code<'a>,
    module: usize,
    whole: Named<'c>,
    /// Whether the whole is `Self` here.
    is_of_whole: bool,
    found: bool,
}

impl<'ast> Visit<'ast> for Search<'_, '_> {
    fn visit_receiver(&mut self, _: &'ast Receiver) {
        self.found |= self.is_of_whole;
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.found |= self.code.named(self.module, path) == Some(self.whole);
        self.found |= self.is_of_whole && path.is_ident("Self");
        visit::visit_path(self, path);
    }
}
