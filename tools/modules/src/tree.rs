//! The modules of a crate with the names in them, read from its sources.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta, MetaNameValue, UseTree};

use crate::sentence::first_sentence;

/// A crate's modules; the first is its root.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) files: Vec<Source>,
    modules: Vec<Module>,
}

/// A file and what stands in it.
#[derive(Debug)]
pub(crate) struct Source {
    /// Below `src`, without its ending; empty for the root.
    pub(crate) unit: String,
    pub(crate) module: usize,
    pub(crate) items: Vec<Item>,
    /// What stands in its modules that are there in tests only.
    pub(crate) tests: Vec<Item>,
    /// The first sentence of what it says of itself.
    pub(crate) sentence: String,
}

#[derive(Debug)]
struct Module {
    parent: Option<usize>,
    file: usize,
    names: HashMap<String, Name>,
    /// Paths whose names are all in scope.
    globs: Vec<Vec<String>>,
}

#[derive(Debug, Clone)]
enum Name {
    Module(usize),
    Item,
    /// What stands elsewhere under this path.
    Import(Vec<String>),
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target<'t> {
    /// A module itself.
    Module(usize),
    /// Something that stands in that file under that name.
    In(usize, &'t str),
}

/// More steps of one path lead nowhere.
const STEPS_MAX: usize = 64;

impl Crate {
    /// Reads `src/lib.rs`, or `src/main.rs`, and all that belongs to it.
    pub(crate) fn read(name: &str, folder: &Path) -> Result<Self> {
        let source = folder.join("src");
        let root = ["lib.rs", "main.rs"].map(|file| source.join(file)).into_iter().find(|file| file.exists());
        let root = root.with_context(|| format!("{} has neither lib.rs nor main.rs", source.display()))?;
        let mut tree = Self { name: name.to_owned(), files: Vec::new(), modules: Vec::new() };
        tree.read_file(&source, &root, None)?;
        Ok(tree)
    }

    fn read_file(&mut self, source: &Path, path: &Path, parent: Option<usize>) -> Result<usize> {
        let parsed = parse(path)?;
        let is_root = parent.is_none();
        let unit = path.strip_prefix(source)?.with_extension("").to_string_lossy().into_owned();
        let file = self.files.len();
        let module = self.modules.len();
        let unit = if is_root { String::new() } else { unit };
        let sentence = first_sentence(&documentation(&parsed.attrs));
        self.files.push(Source { unit, module, items: Vec::new(), tests: Vec::new(), sentence });
        let folder = if is_root { source.to_owned() } else { path.with_extension("") };
        self.read_module(source, &folder, file, parent, &parsed.items)?;
        self.files[file].items = parsed.items;
        Ok(module)
    }

    fn read_module(
        &mut self,
        source: &Path,
        folder: &Path,
        file: usize,
        parent: Option<usize>,
        items: &[Item],
    ) -> Result<usize> {
        let module = self.modules.len();
        self.modules.push(Module { parent, file, names: HashMap::new(), globs: Vec::new() });
        for item in items {
            match item {
                Item::Mod(tests) if is_test(&tests.attrs) => self.read_tests(folder, file, tests)?,
                item if is_test(attributes(item)) => {}
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let below = match &inner.content {
                        Some((_, items)) => {
                            self.read_module(source, &folder.join(&name), file, Some(module), items)?
                        }
                        None => {
                            let path = file_of(folder, &name, &inner.attrs);
                            self.read_file(source, &path, Some(module))?
                        }
                    };
                    self.modules[module].names.insert(name, Name::Module(below));
                }
                Item::Use(import) => self.import(module, &import.tree, &mut Vec::new()),
                item => {
                    if let Some(name) = name_of(item) {
                        self.modules[module].names.insert(name, Name::Item);
                    }
                }
            }
        }
        Ok(module)
    }

    fn read_tests(&mut self, folder: &Path, file: usize, tests: &ItemMod) -> Result<()> {
        let items = match &tests.content {
            Some((_, items)) => items.clone(),
            None => parse(&file_of(folder, &tests.ident.to_string(), &tests.attrs))?.items,
        };
        self.files[file].tests.extend(items);
        Ok(())
    }

    fn import(&mut self, module: usize, tree: &UseTree, path: &mut Vec<String>) {
        for (path, name) in flattened(tree, path) {
            let scope = &mut self.modules[module];
            match name {
                Some(name) => drop(scope.names.entry(name).or_insert(Name::Import(path))),
                None => scope.globs.push(path),
            }
        }
    }

    /// How a file is named to whoever mends it: after the crate and below its `src`.
    pub(crate) fn place(&self, file: usize) -> String {
        match self.files[file].unit.as_str() {
            "" => self.name.clone(),
            unit => format!("{}/{unit}.rs", self.name),
        }
    }

    /// Where the path leads that stands in a module; none outside of the crate.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> Option<Target<'_>> {
        self.walk(module, path, STEPS_MAX)
    }

    fn walk(&self, module: usize, path: &[String], steps: usize) -> Option<Target<'_>> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(0, rest, steps),
            "self" => self.descend(module, rest, steps),
            "super" => self.descend_from(self.modules[module].parent?, rest, steps),
            _ => self.descend(module, path, steps),
        }
    }

    fn descend_from(&self, module: usize, rest: &[String], steps: usize) -> Option<Target<'_>> {
        if rest.first().is_some_and(|next| next == "super") {
            return self.walk(module, rest, steps);
        }
        self.descend(module, rest, steps)
    }

    fn descend(&self, module: usize, path: &[String], steps: usize) -> Option<Target<'_>> {
        let Some((first, rest)) = path.split_first() else { return Some(Target::Module(module)) };
        let scope = &self.modules[module];
        match scope.names.get_key_value(first) {
            Some((_, Name::Module(below))) => self.descend(*below, rest, steps),
            Some((name, Name::Item)) => Some(Target::In(scope.file, name)),
            Some((_, Name::Import(path))) => match self.walk(module, path, steps)? {
                Target::Module(below) => self.descend(below, rest, steps.checked_sub(1)?),
                target @ Target::In(..) => Some(target),
            },
            None => scope.globs.iter().find_map(|glob| match self.walk(module, glob, steps)? {
                Target::Module(below) if below != module => self.descend(below, path, steps.checked_sub(1)?),
                _ => None,
            }),
        }
    }
}

impl Source {
    /// Whether it stands in the folder, or is the file of the folder's module.
    pub(crate) fn is_in(&self, folder: &str) -> bool {
        self.unit.strip_prefix(folder).is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }
}

fn parse(path: &Path) -> Result<syn::File> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    syn::parse_file(&text).with_context(|| format!("parsing {}", path.display()))
}

/// The lines of documentation.
fn documentation(attributes: &[Attribute]) -> Vec<String> {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(MetaNameValue { path, value: Expr::Lit(literal), .. }) if path.is_ident("doc") => {
            match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            }
        }
        _ => None,
    };
    attributes.iter().filter_map(line).collect()
}

/// The paths of a `use`, each with the name under which what it leads to is in scope; none for all names.
pub(crate) fn flattened(tree: &UseTree, path: &mut Vec<String>) -> Vec<(Vec<String>, Option<String>)> {
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            let found = flattened(&step.tree, path);
            path.pop();
            found
        }
        UseTree::Name(last) if last.ident == "self" => vec![(path.clone(), path.last().cloned())],
        UseTree::Name(last) => vec![(with(path, last.ident.to_string()), Some(last.ident.to_string()))],
        UseTree::Rename(last) if last.ident == "self" => vec![(path.clone(), Some(last.rename.to_string()))],
        UseTree::Rename(last) => {
            vec![(with(path, last.ident.to_string()), Some(last.rename.to_string()))]
        }
        UseTree::Glob(_) => vec![(path.clone(), None)],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| flattened(tree, path)).collect(),
    }
}

fn with(path: &[String], last: String) -> Vec<String> {
    path.iter().cloned().chain([last]).collect()
}

fn file_of(folder: &Path, name: &str, attributes: &[Attribute]) -> PathBuf {
    let said = attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    });
    match said {
        Some(path) => folder.parent().unwrap_or(folder).join(path),
        None => folder.join(name).with_extension("rs"),
    }
}

/// Whether it is there in tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_for_tests =
            || attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"));
        attribute.path().is_ident("test") || attribute.path().is_ident("cfg") && is_for_tests()
    })
}

pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}
