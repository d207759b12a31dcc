//! Whether a folder's parts are tested by themselves: without what it takes to run the whole.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Macro};

use crate::shape::limits::OfFolder;
use crate::tree::{Crate, Source};

/// Too few that are.
pub(crate) fn complaints(tree: &Crate, folder: &str, limits: &OfFolder) -> Vec<String> {
    let parts = format!("{folder}/{}", limits.parts);
    let of_parts = tree.files.iter().filter(|file| file.is_in(&parts) && file.unit != parts);
    let tested = of_parts.filter(|file| is_tested(file, &limits.tested_without)).count();
    if tested >= limits.tested_parts_min {
        return Vec::new();
    }
    vec![format!(
        "{}/{parts}: {tested} files have tests that name none of {}, {} at least",
        tree.name,
        limits.tested_without.join(", "),
        limits.tested_parts_min
    )]
}

fn is_tested(file: &Source, without: &[String]) -> bool {
    let mut reader = Reader { without, has_test: false, names_one: false };
    file.tests.iter().for_each(|item| reader.visit_item(item));
    reader.has_test && !reader.names_one
}

struct Reader<'w> {
    without: &'w [String],
    has_test: bool,
    names_one: bool,
}

impl Reader<'_> {
    fn read_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => self.visit_ident(&name),
                TokenTree::Group(group) => self.read_tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        self.has_test |= attribute.path().segments.last().is_some_and(|step| step.ident == "test");
        visit::visit_attribute(self, attribute);
    }

    fn visit_ident(&mut self, name: &Ident) {
        self.names_one |= self.without.iter().any(|without| name == without);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        self.read_tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }
}
