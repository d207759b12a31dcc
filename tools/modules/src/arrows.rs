//! The arrows that leave each file of a crate.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ImplItem, Item, ItemUse, Macro, Path, Visibility};

use crate::tree::{Crate, Target, attributes, flattened, is_test};

/// For each file that has some, by its unit: those that it points at, each with a path that does.
pub(crate) type Arrows = BTreeMap<String, BTreeMap<String, String>>;

/// All arrows of the crate.
pub(crate) fn arrows(tree: &Crate) -> Arrows {
    let mut arrows = Arrows::new();
    for (file, source) in tree.files.iter().enumerate() {
        let mut reader = Reader { tree, file, module: source.module, found: BTreeSet::new() };
        source.items.iter().for_each(|item| reader.visit_item(item));
        for (target, path) in reader.found {
            let there = arrows.entry(source.unit.clone()).or_default();
            there.entry(tree.files[target].unit.clone()).or_insert(path);
        }
    }
    arrows
}

struct Reader<'t> {
    tree: &'t Crate,
    file: usize,
    module: usize,
    found: BTreeSet<(usize, String)>,
}

impl Reader<'_> {
    fn follow(&mut self, path: &[String]) {
        if let Some(Target::In(target, _)) = self.tree.resolve(self.module, path)
            && target != self.file
        {
            self.found.insert((target, path.join("::")));
        }
    }

    /// Paths in what a macro is given.
    fn follow_tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 || path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() && colons < 2 => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    self.follow_path(&std::mem::replace(&mut path, vec![name.to_string()]));
                    colons = 0;
                    continue;
                }
                TokenTree::Group(group) => self.follow_tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            self.follow_path(&std::mem::take(&mut path));
            colons = 0;
        }
        self.follow_path(&path);
    }

    /// One name by itself stands in a `use`, if it stands elsewhere.
    fn follow_path(&mut self, path: &[String]) {
        if path.len() > 1 {
            self.follow(path);
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            _ if is_test(attributes(item)) => {}
            // Those of an inline module are read as the file's own: its names are the file's, but for `super`.
            item => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        let is_test = match item {
            ImplItem::Fn(item) => is_test(&item.attrs),
            ImplItem::Const(item) => is_test(&item.attrs),
            _ => false,
        };
        if !is_test {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &'a ItemUse) {
        // What is only passed on is not used.
        if let Visibility::Inherited = import.vis {
            flattened(&import.tree, &mut Vec::new()).iter().for_each(|(path, _)| self.follow(path));
        }
    }

    fn visit_visibility(&mut self, _: &'a Visibility) {}

    fn visit_path(&mut self, path: &'a Path) {
        let steps: Vec<_> = path.segments.iter().map(|step| step.ident.to_string()).collect();
        if path.leading_colon.is_none() {
            self.follow_path(&steps);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        self.follow_tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }
}
