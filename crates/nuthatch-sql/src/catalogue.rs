//! What is known of a server's tables, as far as it decides which clocks a statement depends on and moves.
//!
//! A [`Catalogue`] is an immutable picture of one server's schemas, made by whoever asked the server. Names are folded: ASCII
//! letters to lower case, whatever the server does, so that two tables whose names differ in case only are one here (and are
//! never cached). A table that is not in it is *not known*: what reads it is not cached, what writes it moves all clocks.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rapidhash::fast::RandomState;
use std::fmt;

use crate::compared::ComparedColumns;
use crate::function::known_like;
use crate::words::{is_one_of, words};

/// The number of a table in the clocks: the same for one schema and name on all servers, for the life of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// The value of an integer primary key: its 64 bits, those of a negative one in two's complement. One column is either
/// signed or unsigned, so no two of its keys are equal here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowKey(pub u64);

/// A primary key of one integer column, by which rows can be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryKey {
    /// The column's name, folded.
    pub column: Box<[u8]>,
    /// The least value that the column holds: 0 or negative.
    pub min: i64,
    /// The greatest value that the column holds.
    pub max: u64,
    /// Where it stands among the columns that an INSERT without a list of columns gives values to, from 0; `None` where that
    /// is not certain.
    pub position: Option<u16>,
    /// The server gives the key if an INSERT does not.
    pub is_auto_increment: bool,
    /// No other unique index keeps a row from being added.
    pub is_only_unique: bool,
}

/// Why results that read a table are not cached as exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsuitable {
    /// Its engine is neither InnoDB nor MyISAM.
    Engine,
    /// It is a sequence.
    Sequence,
    /// It is system-versioned.
    SystemVersioned,
    /// A column is computed by an expression that is not known to be immutable.
    GeneratedColumn,
    /// Its text cannot be read: a privilege is missing. A SELECT of it may write.
    HiddenView,
    /// Its text, or that of a view that it reads, calls code that was not looked into: a SELECT of it may write.
    CallingView,
    /// Its text, or that of a view that it reads, is not known to be immutable or names tables that are not known.
    View,
    /// Another table's name differs from its own in the case of letters only.
    AmbiguousName,
}

/// What follows the table's name in a sentence for an operator.
impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Engine => "is of an engine other than InnoDB and MyISAM",
            Self::Sequence => "is a sequence",
            Self::SystemVersioned => "is system-versioned",
            Self::GeneratedColumn => "has a column whose expression may change by itself",
            Self::HiddenView => "is a view whose text may not be read",
            Self::CallingView => "is a view whose text calls code that may do anything",
            Self::View => "is a view whose text may give another answer although no table changes",
            Self::AmbiguousName => "has a name that differs from another table's in the case of letters only",
        })
    }
}

/// What else a write to a table may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideEffects {
    /// These tables, ascending: by triggers, and for a view all that it reads; transitively, empty for none.
    Tables(Box<[TableId]>),
    /// Nothing but what cascading foreign keys change: that depends on what becomes of the rows that they refer to.
    Cascades(Box<Cascades>),
    /// Anything: a trigger or the text of a view calls code that was not looked into, or the engine may keep its rows anywhere.
    Everything,
}

impl SideEffects {
    /// The tables that some write may change; none if that may be any.
    #[must_use]
    pub fn tables(&self) -> Option<Cow<'_, [TableId]>> {
        match self {
            Self::Tables(tables) => Some(Cow::Borrowed(tables)),
            Self::Cascades(cascades) => {
                let removal = cascades.of_removal.as_ref()?;
                let mut all = [&**removal, cascades.of_change.as_ref()?].concat();
                all.sort_unstable();
                all.dedup();
                Some(Cow::Owned(all))
            }
            Self::Everything => None,
        }
    }
}

/// What cascading foreign keys that refer to a table change besides it, transitively: the table itself too, if they lead back to it.
/// Nothing for rows that are added, or changed in other columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cascades {
    /// For rows that are removed; none if that may be anything.
    pub of_removal: Option<Box<[TableId]>>,
    /// For rows of which a column that is referred to is changed; none if that may be anything.
    pub of_change: Option<Box<[TableId]>>,
    /// The names, folded, of these columns.
    pub referenced: Box<[Box<[u8]>]>,
}

/// One table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its number in the clocks.
    pub id: TableId,
    /// It is a view.
    pub is_view: bool,
    /// Its key, if rows can be told apart by it. `None` for views and for tables with a trigger or several key columns.
    pub key: Option<PrimaryKey>,
    /// The names, folded, of its columns of type TIME; a view has them too.
    pub time_columns: Box<[Box<[u8]>]>,
    /// Its columns whose values can be told apart.
    pub compared: ComparedColumns,
    /// Itself, and for a view all views and base tables that it reads, transitively.
    pub reads: Box<[TableId]>,
    /// Why results that read it are not cached.
    pub unsuitable: Option<Unsuitable>,
    /// What else a write to it may change.
    pub side_effects: SideEffects,
    /// A ROLLBACK undoes what was written to it.
    pub is_transactional: bool,
    /// A number that is another, but for chance, when its columns, its indexes or its view's text are others.
    pub definition: u64,
}

impl Table {
    /// Whether a SELECT of it may write anything.
    pub(crate) fn reading_may_write(&self) -> bool {
        matches!(self.unsuitable, Some(Unsuitable::CallingView | Unsuitable::HiddenView))
    }
}

/// The tables of one server. See the module's doc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    schemas: HashMap<Box<[u8]>, Tables, RandomState>,
    /// Those of the tables that no ROLLBACK undoes.
    without_transactions: HashSet<TableId>,
    /// Views of which a SELECT may write anything: their texts call code that was not looked into.
    writing_views: HashSet<TableId>,
    /// Views whose columns may be others although no definition changes: their texts are not known to be immutable.
    unsteady_views: HashSet<TableId>,
    /// Names of known functions, folded, by which stored ones may be called.
    stored_functions: HashSet<&'static [u8]>,
    /// Words, folded, that stand in the texts of triggers and views.
    words_of_code: HashSet<Box<[u8]>, RandomState>,
    /// There is a trigger or a view whose text is not known whole.
    has_hidden_code: bool,
    /// None of the stored routines that are not the server's own changes definitions.
    routines_define_nothing: bool,
    /// One of them may have its session write past the binlog.
    routines_leave_binlog: bool,
}

/// The tables of one schema, by their folded names.
type Tables = HashMap<Box<[u8]>, Table, RandomState>;

/// Schemas whose routines come with the server. Most of those change definitions or run what they are told to.
const OWN_SCHEMAS: [&[u8]; 2] = [b"sys", b"mysql"];

/// No name of a server is longer: 64 characters of at most three bytes.
const NAME_BYTES_MAX: usize = 192;

/// The tables of one schema.
#[derive(Clone, Copy)]
pub(crate) struct Schema<'c>(&'c Tables);

impl<'c> Schema<'c> {
    /// What is known of a table, in whatever case its name is written.
    pub(crate) fn table(self, name: &[u8]) -> Option<&'c Table> {
        find(self.0, name)
    }
}

impl Catalogue {
    /// Adds a table; one of the same folded name is replaced.
    pub fn insert(&mut self, schema: &[u8], name: &[u8], table: Table) {
        self.remove(schema, name);
        if !table.is_transactional {
            self.without_transactions.insert(table.id);
        }
        if table.reading_may_write() {
            self.writing_views.insert(table.id);
        }
        if table.is_view && table.unsuitable.is_some() {
            self.unsteady_views.insert(table.id);
        }
        self.schemas.entry(fold(schema)).or_default().insert(fold(name), table);
    }

    /// Removes a table; what names it from then on is not known. Says whether it was there.
    pub fn remove(&mut self, schema: &[u8], name: &[u8]) -> bool {
        let removed = self.schemas.get_mut(&fold(schema)).and_then(|tables| tables.remove(&fold(name)));
        removed.is_some_and(|table| {
            self.without_transactions.remove(&table.id);
            self.writing_views.remove(&table.id);
            self.unsteady_views.remove(&table.id);
            true
        })
    }

    /// Takes note of a stored function, by its name in UTF-8; of whichever schema, because it can be called without one. Only one that
    /// may be taken for a function of the server's own is kept.
    pub fn add_stored_function(&mut self, name: &[u8]) {
        self.stored_functions.extend(known_like(name).map(str::as_bytes));
    }

    /// Whether a call of a function that is known may be one of a stored function.
    #[must_use]
    pub fn has_shadowing_functions(&self) -> bool {
        !self.stored_functions.is_empty()
    }

    /// Whether a call by this name, in any case, may be one of a stored function although the name is that of a known one.
    #[must_use]
    pub fn is_shadowed(&self, name: &[u8]) -> bool {
        !self.stored_functions.is_empty() && self.stored_functions.contains(&*fold(name))
    }

    /// The names of known functions, folded, by which stored ones may be called; in no order.
    pub fn stored_functions(&self) -> impl Iterator<Item = &'static [u8]> {
        self.stored_functions.iter().copied()
    }

    /// Whether a SELECT that calls none but known functions may write: by a view whose text calls others, or by a stored function
    /// that has the name of a known one.
    #[must_use]
    pub fn reads_may_write(&self) -> bool {
        self.has_writing_views() || self.has_shadowing_functions()
    }

    /// Whether `other` knows of all views and functions by which a SELECT may write.
    #[must_use]
    pub fn reads_that_may_write_are_known_by(&self, other: &Self) -> bool {
        self.writing_views.is_subset(&other.writing_views)
            && self.stored_functions.is_subset(&other.stored_functions)
    }

    pub(crate) fn has_unsteady_views(&self) -> bool {
        !self.unsteady_views.is_empty()
    }

    pub(crate) fn has_writing_views(&self) -> bool {
        !self.writing_views.is_empty()
    }

    /// Takes note of the text of a trigger or a view: what is named in it, there or not, is one of its words. An empty one is hidden.
    pub fn add_code(&mut self, text: &[u8]) {
        self.has_hidden_code |= text.is_empty();
        for word in text.split(|byte| !is_of_word(*byte)).filter(|word| !word.is_empty()) {
            self.words_of_code.insert(fold(word));
        }
    }

    /// Whether a trigger or a view that is there may name a table of this name, whether that is there or not.
    pub(crate) fn code_may_name(&self, name: &[u8]) -> bool {
        self.has_hidden_code || !is_plain(name) || self.words_of_code.contains(&fold(name))
    }

    /// From now on, stored routines of other schemas than `sys` and `mysql` are known to change no definition, and to call none of
    /// these.
    pub fn trust_routines(&mut self) {
        self.routines_define_nothing = true;
    }

    /// From now on a stored routine is known by which a session may write past the binlog.
    pub fn note_leaving_routine(&mut self) {
        self.routines_leave_binlog = true;
    }

    /// Whether there is a stored routine by which a session may write past the binlog.
    #[must_use]
    pub const fn routines_leave_binlog(&self) -> bool {
        self.routines_leave_binlog
    }

    /// Whether a stored routine that is called by `text`, in the default schema `schema`, may change definitions: so where nothing is
    /// known of them, and where it may be one of `sys` or `mysql`. Nothing is said of a statement that was prepared elsewhere.
    #[must_use]
    pub fn routines_may_define(&self, text: &[u8], schema: &[u8]) -> bool {
        !self.routines_define_nothing || is_own_schema(schema) || words(text).any(is_own_schema)
    }

    /// What is known of a table, in whatever case its name is written. Cost: two hashes, no allocation.
    #[must_use]
    pub fn table(&self, schema: &[u8], name: &[u8]) -> Option<&Table> {
        self.schema(schema)?.table(name)
    }

    /// The tables of a schema, in whatever case its name is written, if any of them is known.
    pub(crate) fn schema(&self, name: &[u8]) -> Option<Schema<'_>> {
        find(&self.schemas, name).map(Schema)
    }

    /// Whether a ROLLBACK undoes what was written to this table; so of one that is not known.
    #[must_use]
    pub fn is_transactional(&self, table: TableId) -> bool {
        !self.without_transactions.contains(&table)
    }

    /// All tables with schema and name, folded, in no order.
    pub fn tables(&self) -> impl Iterator<Item = (&[u8], &[u8], &Table)> {
        self.schemas.iter().flat_map(|(schema, tables)| {
            tables.iter().map(|(name, table)| (schema.as_ref(), name.as_ref(), table))
        })
    }

    /// How many tables are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.schemas.values().map(Tables::len).sum()
    }

    /// Whether none is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The name as clocks and catalogue have it: ASCII letters in lower case.
#[must_use]
pub fn fold(name: &[u8]) -> Box<[u8]> {
    name.to_ascii_lowercase().into()
}

/// Whether this is a schema whose routines come with the server, in any case.
#[must_use]
pub fn is_own_schema(name: &[u8]) -> bool {
    is_one_of(name, &OWN_SCHEMAS)
}

/// Whether a name consists of characters that stand in words, and is in any text as it is.
#[must_use]
pub fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii() && is_of_word(*byte))
}

/// Whether a byte may stand in a word, such as a name without quotes.
#[must_use]
pub const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// What stands under this name, folded; nothing under one that is too long for a name.
pub(crate) fn find<'m, V>(map: &'m HashMap<Box<[u8]>, V, RandomState>, name: &[u8]) -> Option<&'m V> {
    let mut buffer = [0; NAME_BYTES_MAX];
    let folded = buffer.get_mut(..name.len())?;
    folded.copy_from_slice(name);
    folded.make_ascii_lowercase();
    map.get(&*folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(is_transactional: bool) -> Table {
        Table {
            id: TableId(1),
            is_view: false,
            time_columns: [].into(),
            compared: ComparedColumns::default(),
            key: None,
            reads: [TableId(1)].into(),
            unsuitable: None,
            side_effects: SideEffects::Tables([].into()),
            is_transactional,
            definition: 0,
        }
    }

    #[test]
    fn tables_are_found_in_any_case_and_only_in_their_schema() {
        let table = table(true);
        let mut catalogue = Catalogue::default();
        catalogue.insert(b"Shop", b"Orders", table.clone());
        assert_eq!(catalogue.table(b"SHOP", b"orders"), Some(&table));
        assert_eq!(catalogue.table(b"shop2", b"orders"), None);
        assert!(catalogue.remove(b"shop", b"ORDERS") && catalogue.is_empty());
        assert_eq!(catalogue.table(&[b'a'; 1000], b"orders"), None);
    }

    #[test]
    fn reads_may_write_where_a_known_function_or_a_view_may_run_code_that_is_stored() {
        let mut catalogue = Catalogue::default();
        catalogue.add_stored_function(b"own_function");
        assert!(!catalogue.reads_may_write() && !catalogue.is_shadowed(b"own_function"));
        let far = Table { is_view: true, side_effects: SideEffects::Everything, ..table(true) };
        let view = Table { unsuitable: Some(Unsuitable::CallingView), ..far.clone() };
        catalogue.insert(b"s", b"far", Table { id: TableId(2), ..far });
        assert!(!catalogue.reads_may_write());
        catalogue.insert(b"s", b"v", view);
        assert!(catalogue.reads_may_write() && catalogue.remove(b"s", b"v") && !catalogue.reads_may_write());
        catalogue.add_stored_function("\u{f1}VL".as_bytes());
        assert!(
            catalogue.reads_may_write() && catalogue.is_shadowed(b"Nvl") && !catalogue.is_shadowed(b"nvl2")
        );
        assert_eq!(catalogue.stored_functions().collect::<Vec<_>>(), [b"nvl"]);
    }

    #[test]
    fn code_may_name_its_words_whatever_is_not_one_and_all_once_some_is_hidden() {
        let mut catalogue = Catalogue::default();
        assert!(!catalogue.code_may_name(b"t"));
        catalogue.add_code(b"INSERT INTO`Log$1`VALUES(NEW.a,'it''s')");
        for (name, expected) in [("log$1", true), ("LOG$1", true), ("log", false), ("s", true), ("a b", true)]
        {
            assert_eq!(catalogue.code_may_name(name.as_bytes()), expected, "{name}");
        }
        assert!(catalogue.code_may_name("gr\u{f6}\u{df}e".as_bytes()));
        catalogue.add_code(b"");
        assert!(catalogue.code_may_name(b"log"));
    }

    #[test]
    fn routines_may_define_until_they_are_trusted_and_those_of_the_server_also_then() {
        let mut catalogue = Catalogue::default();
        assert!(catalogue.routines_may_define(b"CALL p()", b"shop"));
        catalogue.trust_routines();
        for (text, schema, expected) in [
            ("CALL p()", "shop", false),
            ("CALL p(sysdate())", "", false),
            ("CALL my_sys.p()", "shop", false),
            ("CALL p()", "SYS", true),
            ("CALL p()", "mysql", true),
            ("CALL sys.p()", "shop", true),
            ("CALL`Mysql`.p()", "shop", true),
        ] {
            assert_eq!(catalogue.routines_may_define(text.as_bytes(), schema.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn tables_without_transactions_are_known_by_their_number() {
        let mut catalogue = Catalogue::default();
        assert!(catalogue.is_transactional(TableId(1)));
        catalogue.insert(b"s", b"t", table(false));
        assert!(!catalogue.is_transactional(TableId(1)));
        catalogue.insert(b"s", b"t", table(true));
        assert!(catalogue.is_transactional(TableId(1)));
    }
}
