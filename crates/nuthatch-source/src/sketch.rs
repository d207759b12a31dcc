//! From definitions to a catalogue: what each table is on its own first, then what it has to do with others.
//!
//! Tables are known by their place in the sketch until all is known; those that get no number leave traces in the others: a
//! view that reads one is not understood, and a trigger's effects go on behind it.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use nuthatch_sql::{
    Cascades, Catalogue, ComparedColumns, PrimaryKey, ServerFlavor, SideEffects, Table, TableId, Unsuitable,
    calls_stored_function, fold, may_rest_on_today,
};

use crate::TableIds;
use crate::compared_columns::Columns;
use crate::definitions::{
    ColumnDefinition, ColumnShape, Definitions, ForeignKey, KeyColumn, TableDefinition, TableNumber,
    TableRef, TriggerDefinition, ViewDefinition,
};
use crate::effects::reach;
use crate::generated_column::{canonical, is_immutable};
use crate::named::Named;
use crate::primary_key::primary_key;
use crate::routines::catalogue_with;
use crate::trigger_body::TriggerBody;
use crate::view_text::read_view;

/// Engines of which a write to a table changes that table alone. Others may keep rows in tables of other names, or elsewhere.
const WRITES_OWN_ROWS_ONLY: [&[u8]; 8] =
    [b"InnoDB", b"MyISAM", b"Aria", b"MEMORY", b"CSV", b"ARCHIVE", b"BLACKHOLE", b"ROCKSDB"];

/// The catalogue, and how many tables are left out of it for want of a number.
pub(crate) fn draw(definitions: &Definitions, server: ServerFlavor, ids: &TableIds) -> (Catalogue, usize) {
    let mut catalogue = catalogue_with(&definitions.routines);
    definitions.triggers.iter().for_each(|trigger| catalogue.add_code(&trigger.body));
    definitions.views.iter().for_each(|view| catalogue.add_code(&view.text));
    let mut sketch = Sketch { server, catalogue, schemas: Named::default(), drafts: Vec::new() };
    definitions.tables.iter().for_each(|table| sketch.add_table(table));
    definitions.keys.iter().for_each(|key| sketch.add_key_column(key));
    definitions.uniquely_indexed.iter().for_each(|table| sketch.note_unique_index(table));
    definitions.numbers.iter().for_each(|number| sketch.add_number(number));
    definitions.columns.iter().for_each(|column| sketch.note_column(column));
    definitions.columns.iter().for_each(|column| sketch.add_column(column));
    definitions.shapes.iter().for_each(|shape| sketch.add_shape(shape));
    definitions.triggers.iter().for_each(|trigger| sketch.add_trigger(trigger));
    definitions.foreign_keys.iter().for_each(|key| sketch.add_foreign_key(key));
    definitions.views.iter().for_each(|view| sketch.add_view(view));
    sketch.into_catalogue(ids)
}

struct Sketch {
    server: ServerFlavor,
    /// Without tables so far.
    catalogue: Catalogue,
    /// By schema and name, the index of the draft.
    schemas: Named<Named<usize>>,
    drafts: Vec<Draft>,
}

/// What is known of one table so far.
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one table")]
struct Draft {
    table: TableRef,
    /// Of its primary key.
    key_columns: Vec<Vec<u8>>,
    has_invisible_column: bool,
    has_trigger: bool,
    /// Besides its primary key.
    has_unique_index: bool,
    key: Option<PrimaryKey>,
    /// The names, folded, of its columns of type TIME.
    time_columns: Vec<Box<[u8]>>,
    columns: Columns,
    unsuitable: Option<Unsuitable>,
    is_view: bool,
    is_transactional: bool,
    /// Of a view, what its text names.
    reads: Vec<usize>,
    /// What a write to it may write as well, at one remove, but for foreign keys.
    writes: Vec<usize>,
    /// Tables with a foreign key to it that cascades when a row is removed.
    removes: Vec<usize>,
    /// Those with one that cascades when what it refers to is changed.
    changes: Vec<usize>,
    /// The names, folded, of the columns that these refer to; an empty one for any.
    referenced: Vec<Box<[u8]>>,
    /// The names, folded, of columns that may change without being assigned to.
    follows: Vec<Box<[u8]>>,
    may_write_anything: bool,
    /// Of a view, whether its text does when it is read.
    reading_may_write: bool,
    /// Of columns, indexes and text.
    definition: u64,
}

impl Draft {
    fn new(definition: &TableDefinition) -> Self {
        let is_of = |engine: &[u8]| definition.engine.eq_ignore_ascii_case(engine);
        let is_innodb = is_of(b"InnoDB");
        let (is_view, unsuitable) = match definition.kind.as_slice() {
            b"VIEW" => (true, None),
            b"SEQUENCE" => (false, Some(Unsuitable::Sequence)),
            b"SYSTEM VERSIONED" => (false, Some(Unsuitable::SystemVersioned)),
            b"BASE TABLE" if is_innodb || is_of(b"MyISAM") => (false, None),
            _ => (false, Some(Unsuitable::Engine)),
        };
        Self {
            table: definition.table.clone(),
            key_columns: Vec::new(),
            has_invisible_column: false,
            has_trigger: false,
            has_unique_index: false,
            key: None,
            time_columns: Vec::new(),
            columns: Columns::default(),
            unsuitable,
            is_view,
            // A sequence goes on whatever becomes of the transaction.
            is_transactional: is_view || (is_innodb && unsuitable != Some(Unsuitable::Sequence)),
            reads: Vec::new(),
            writes: Vec::new(),
            removes: Vec::new(),
            changes: Vec::new(),
            referenced: Vec::new(),
            follows: Vec::new(),
            may_write_anything: !is_view && !WRITES_OWN_ROWS_ONLY.iter().any(|engine| is_of(engine)),
            reading_may_write: false,
            definition: 0,
        }
    }
}

impl Draft {
    /// All that a write to it may write as well.
    fn writes_at_one_remove(&self) -> Cow<'_, [usize]> {
        if self.removes.is_empty() && self.changes.is_empty() {
            Cow::Borrowed(&self.writes)
        } else {
            Cow::Owned([&*self.writes, &self.removes, &self.changes].concat())
        }
    }

    /// If nothing but foreign keys makes a write to it write other tables, and these rest on what a statement says: the columns to
    /// which those refer that cascade when they are changed.
    fn referenced_by_cascades_only(&self) -> Option<Box<[Box<[u8]>]>> {
        let has_cascades = !(self.removes.is_empty() && self.changes.is_empty());
        let is_plain =
            !self.has_trigger && !self.is_view && self.unsuitable.is_none() && self.writes.is_empty();
        let is_told =
            !self.referenced.iter().any(|column| column.is_empty() || self.follows.contains(column));
        (has_cascades && is_plain && is_told).then(|| {
            let mut referenced = self.referenced.clone();
            referenced.sort_unstable();
            referenced.dedup();
            referenced.into()
        })
    }
}

/// The same for the same text, for the life of the process.
fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Sketch {
    fn index(&self, schema: &[u8], name: &[u8]) -> Option<usize> {
        self.schemas.find(schema)?.find(name).copied()
    }

    fn draft(&mut self, table: &TableRef) -> Option<&mut Draft> {
        let index = self.index(&table.schema, &table.name)?;
        self.drafts.get_mut(index)
    }

    /// Of two tables with one folded name the first stays, for both.
    fn add_table(&mut self, definition: &TableDefinition) {
        let draft = Draft::new(definition);
        let TableRef { schema, name } = &definition.table;
        let next = self.drafts.len();
        let index = *self.schemas.find_or_make(schema, Named::default).find_or_make(name, || next);
        match self.drafts.get_mut(index) {
            Some(first) => {
                first.unsuitable = Some(Unsuitable::AmbiguousName);
                first.is_transactional &= draft.is_transactional;
                first.may_write_anything |= draft.may_write_anything;
            }
            None => self.drafts.push(draft),
        }
    }

    fn add_key_column(&mut self, key: &KeyColumn) {
        if let Some(draft) = self.draft(&key.table) {
            draft.key_columns.push(key.name.clone());
        }
    }

    fn note_unique_index(&mut self, table: &TableRef) {
        if let Some(draft) = self.draft(table) {
            draft.has_unique_index = true;
        }
    }

    fn add_number(&mut self, number: &TableNumber) {
        if let Some(draft) = self.draft(&number.table) {
            draft.definition ^= number.number;
        }
    }

    fn note_column(&mut self, column: &ColumnDefinition) {
        if let Some(draft) = self.draft(&column.table) {
            draft.has_invisible_column |= column.is(b"INVISIBLE");
            let follows = [&b"on update"[..], b"STORED GENERATED", b"VIRTUAL GENERATED"]
                .iter()
                .any(|words| column.is(words));
            if follows {
                draft.follows.push(fold(&column.name));
            }
            if column.data_type.eq_ignore_ascii_case(b"time") {
                draft.time_columns.push(fold(&column.name));
            }
        }
    }

    /// Columns of keys, invisible ones, those of type TIME and unique indexes are known before.
    fn add_column(&mut self, column: &ColumnDefinition) {
        let server = self.server;
        let Some(draft) = self.draft(&column.table) else { return };
        if matches!(draft.key_columns.as_slice(), [only] if *only == column.name) {
            let position_is_certain = !draft.has_invisible_column;
            draft.key = primary_key(column, !draft.has_unique_index)
                .map(|key| PrimaryKey { position: key.position.filter(|_| position_is_certain), ..key });
        }
        let times: Vec<&[u8]> = draft.time_columns.iter().map(Box::as_ref).collect();
        if !draft.is_view && !is_immutable(column, &times, server) {
            draft.unsuitable.get_or_insert(Unsuitable::GeneratedColumn);
        }
    }

    fn add_shape(&mut self, shape: &ColumnShape) {
        if let Some(draft) = self.draft(&shape.column.table).filter(|draft| !draft.is_view) {
            draft.columns.add(shape);
        }
    }

    /// A trigger writes all that its body may name.
    fn add_trigger(&mut self, trigger: &TriggerDefinition) {
        let body = TriggerBody::new(&trigger.body);
        let of_own_schema = self.schemas.find(&trigger.table.schema);
        let schemas = of_own_schema.into_iter().chain(self.schemas.named_in(&body));
        let named: Vec<usize> = schemas.flat_map(|schema| schema.named_in(&body)).copied().collect();
        let may_write_anything = body.may_run_other_code(&trigger.sql_mode, self.server, &self.catalogue);
        if let Some(draft) = self.draft(&trigger.table) {
            draft.key = None;
            draft.has_trigger = true;
            draft.writes.extend(named);
            draft.may_write_anything |= may_write_anything;
        }
    }

    fn add_foreign_key(&mut self, foreign_key: &ForeignKey) {
        let child = self.index(&foreign_key.child.schema, &foreign_key.child.name);
        let Some(parent) = self.draft(&foreign_key.parent) else { return };
        if foreign_key.cascades_removal() {
            parent.removes.extend(child);
        }
        if foreign_key.cascades_change() {
            parent.changes.extend(child);
            parent.referenced.push(fold(&foreign_key.referenced));
        }
    }

    /// A write to a view writes what the view reads.
    fn add_view(&mut self, definition: &ViewDefinition) {
        let lexing = canonical(self.server);
        let view = read_view(&definition.text, lexing, |schema, name| self.index(schema, name));
        let calls_stored = calls_stored_function(&definition.text, lexing, &self.catalogue);
        let of_tables = view.named.iter().filter_map(|at| self.drafts.get(*at));
        let times: Vec<&[u8]> = of_tables.flat_map(|table| &table.time_columns).map(Box::as_ref).collect();
        let is_steady = !may_rest_on_today(&definition.text, lexing, &times);
        let Some(draft) = self.draft(&definition.view) else { return };
        if definition.text.is_empty() {
            draft.unsuitable.get_or_insert(Unsuitable::HiddenView);
        } else if !view.is_understood || calls_stored || !is_steady {
            draft.unsuitable.get_or_insert(Unsuitable::View);
        }
        draft.definition ^= hash(&definition.text);
        draft.writes.extend(&view.named);
        draft.reads.extend(view.named);
        draft.reading_may_write |= view.may_run_other_code || calls_stored;
        draft.may_write_anything |= draft.reading_may_write;
    }

    fn into_catalogue(mut self, ids: &TableIds) -> (Catalogue, usize) {
        let numbers: Vec<Option<TableId>> =
            self.drafts.iter().map(|draft| ids.id(&draft.table.schema, &draft.table.name)).collect();
        let mut catalogue = std::mem::take(&mut self.catalogue);
        for (index, draft) in self.drafts.iter().enumerate() {
            if let Some(id) = numbers.get(index).copied().flatten() {
                let TableRef { schema, name } = &draft.table;
                catalogue.insert(schema, name, self.table(index, id, &numbers));
            }
        }
        let left_out = numbers.iter().filter(|number| number.is_none()).count();
        (catalogue, left_out)
    }

    fn table(&self, index: usize, id: TableId, numbers: &[Option<TableId>]) -> Table {
        let draft = |index: usize| self.drafts.get(index).expect("an index of a draft");
        let number = |index: &usize| numbers.get(*index).copied().flatten();
        let own = draft(index);
        let read = reach(&[index], |at| Cow::Borrowed(&*draft(at).reads));
        let is_suitable = |read: &Vec<usize>| {
            read.iter().all(|at| number(at).is_some() && (*at == index || draft(*at).unsuitable.is_none()))
        };
        let of_view = if read.as_ref().is_some_and(is_suitable) { None } else { Some(Unsuitable::View) };
        let calls = read.as_ref().is_none_or(|read| read.iter().any(|at| draft(*at).reading_may_write));
        let hidden = own.unsuitable.filter(|why| *why == Unsuitable::HiddenView);
        let calling = calls.then_some(hidden.unwrap_or(Unsuitable::CallingView));
        let read = read.unwrap_or_else(|| vec![index]);
        Table {
            id,
            is_view: own.is_view,
            time_columns: own.time_columns.clone().into(),
            compared: if own.unsuitable.is_none() {
                own.columns.compared()
            } else {
                ComparedColumns::default()
            },
            key: own.key.clone().filter(|_| own.unsuitable.is_none()),
            unsuitable: calling.or(own.unsuitable).or(of_view),
            is_transactional: read.iter().all(|at| draft(*at).is_transactional),
            reads: read.iter().filter_map(number).collect(),
            side_effects: self.side_effects(index, number),
            definition: own.definition,
        }
    }

    /// All that a write to the table may write besides it, over triggers, cascades and views.
    fn side_effects(&self, index: usize, number: impl Fn(&usize) -> Option<TableId>) -> SideEffects {
        let own = self.drafts.get(index).expect("an index of a draft");
        if own.may_write_anything {
            return SideEffects::Everything;
        }
        if let Some(referenced) = own.referenced_by_cascades_only() {
            return SideEffects::Cascades(Box::new(Cascades {
                of_removal: self.written(&own.removes, &number),
                of_change: self.written(&own.changes, &number),
                referenced,
            }));
        }
        let first = own.writes_at_one_remove();
        self.written(&first, &number).map_or(SideEffects::Everything, SideEffects::Tables)
    }

    /// The tables that a write to these may write, ascending; none if that may be any.
    fn written(&self, first: &[usize], number: impl Fn(&usize) -> Option<TableId>) -> Option<Box<[TableId]>> {
        let draft = |index: usize| self.drafts.get(index).expect("an index of a draft");
        let written = reach(first, |at| draft(at).writes_at_one_remove())?;
        if written.iter().any(|at| draft(*at).may_write_anything) {
            return None;
        }
        let mut numbers: Vec<_> = written.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Some(numbers.into())
    }
}
