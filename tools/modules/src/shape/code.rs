//! What a crate's files have: structs, `impl` blocks and functions, each with where it stands.

use std::collections::HashMap;

use syn::visit::{self, Visit};
use syn::{
    GenericParam, ImplItem, ImplItemFn, Item, ItemImpl, ItemMod, ItemStruct, ItemType, Path, Signature, Type,
};

use crate::tree::{Crate, Target, attributes, is_test};

/// A type by the file that defines it and its name there.
pub(crate) type Named<'a> = (usize, &'a str);

/// See the module's doc. Tests are left out.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    tree: &'a Crate,
    pub(crate) structs: Vec<(usize, &'a ItemStruct)>,
    pub(crate) implementations: Vec<Implementation<'a>>,
    pub(crate) functions: Vec<Function<'a>>,
    /// With the module in which each stands.
    aliases: HashMap<Named<'a>, (usize, &'a Type)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Implementation<'a> {
    pub(crate) file: usize,
    module: usize,
    block: &'a ItemImpl,
}

#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) file: usize,
    pub(crate) module: usize,
    pub(crate) signature: &'a Signature,
    /// The block that it stands in.
    pub(crate) of: Option<Implementation<'a>>,
}

/// An alias of more aliases is none.
const ALIASES_MAX: usize = 8;

impl<'a> Code<'a> {
    pub(crate) fn of(tree: &'a Crate) -> Self {
        let mut code = Self {
            tree,
            structs: Vec::new(),
            implementations: Vec::new(),
            functions: Vec::new(),
            aliases: HashMap::new(),
        };
        for (file, source) in tree.files.iter().enumerate() {
            let mut reader = Reader { code: &mut code, file, module: source.module, of: None };
            source.items.iter().for_each(|item| reader.visit_item(item));
        }
        code
    }

    /// The type that a path names, if the crate defines it.
    pub(crate) fn named(&self, module: usize, path: &Path) -> Option<Named<'a>> {
        self.named_by(module, path, ALIASES_MAX)
    }

    fn named_by(&self, module: usize, path: &Path, aliases: usize) -> Option<Named<'a>> {
        let steps: Vec<_> = path.segments.iter().map(|step| step.ident.to_string()).collect();
        let Some(Target::In(file, name)) = self.tree.resolve(module, &steps) else { return None };
        match self.aliases.get(&(file, name)) {
            None => Some((file, name)),
            Some((module, Type::Path(aliased))) => {
                self.named_by(*module, &aliased.path, aliases.checked_sub(1)?)
            }
            Some(_) => None,
        }
    }

    /// The type that a block is for, if the crate defines it.
    pub(crate) fn implemented(&self, of: Implementation<'_>) -> Option<Named<'a>> {
        let path = path_of(&of.block.self_ty)?;
        let is_parameter = of.block.generics.params.iter().any(|parameter| match parameter {
            GenericParam::Type(parameter) => path.is_ident(&parameter.ident),
            _ => false,
        });
        if is_parameter { None } else { self.named(of.module, path) }
    }
}

/// The path of a type, or of what it refers to.
fn path_of(of: &Type) -> Option<&Path> {
    match of {
        Type::Path(of) => Some(&of.path),
        Type::Reference(of) => path_of(&of.elem),
        Type::Paren(of) => path_of(&of.elem),
        Type::Group(of) => path_of(&of.elem),
        _ => None,
    }
}

struct Reader<'a, 'c> {
    code: &'c mut Code<'a>,
    file: usize,
    module: usize,
    of: Option<Implementation<'a>>,
}

impl<'a> Visit<'a> for Reader<'a, '_> {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'a ImplItem) {
        if !matches!(item, ImplItem::Fn(ImplItemFn { attrs, .. }) if is_test(attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, inner: &'a ItemMod) {
        // What stands in another file is read as that file.
        if inner.content.is_none() {
            return;
        }
        let outer = self.module;
        if let Some(Target::Module(below)) = self.code.tree.resolve(outer, &[inner.ident.to_string()]) {
            self.module = below;
        }
        visit::visit_item_mod(self, inner);
        self.module = outer;
    }

    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.code.structs.push((self.file, item));
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        let implementation = Implementation { file: self.file, module: self.module, block };
        self.code.implementations.push(implementation);
        let outer = self.of.replace(implementation);
        visit::visit_item_impl(self, block);
        self.of = outer;
    }

    fn visit_item_type(&mut self, alias: &'a ItemType) {
        let name = [alias.ident.to_string()];
        if let Some(Target::In(file, name)) = self.code.tree.resolve(self.module, &name) {
            self.code.aliases.insert((file, name), (self.module, &alias.ty));
        }
    }

    fn visit_signature(&mut self, signature: &'a Signature) {
        let Self { file, module, of, .. } = *self;
        self.code.functions.push(Function { file, module, signature, of });
        visit::visit_signature(self, signature);
    }
}
