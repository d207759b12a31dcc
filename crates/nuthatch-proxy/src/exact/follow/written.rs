//! What a transaction of a binlog has written, as clocks; pending from when it is read until the server is proven to show it.

use std::sync::Arc;

use nuthatch_cache::{ClockList, Clocks, Marks};
use nuthatch_config::ServerName;
use nuthatch_sql::{
    Cascades, Catalogue, Class, ColumnPlaces, ColumnSet, Holds, Kind, Lexing, RowKey, SideEffects, Table,
    TableId, WriteFootprint, changes_privileges, classify, write_footprint,
};

use crate::backend::Hostgroups;
use crate::exact::catalogue_store::Change;
use crate::exact::clocks_of::{of_any_row, of_rows};
use crate::exact::definitions::{Changed, Makes};
use crate::exact::follow::{Known, LearntColumns};
use crate::exact::{CatalogueStore, Catalogues, Commits, Domain, Intent, Touched};

/// What it is told to.
#[derive(Debug, Clone)]
struct Parts {
    clocks: Arc<Clocks>,
    catalogues: Arc<CatalogueStore>,
    hostgroups: Arc<Hostgroups>,
}

/// What is read of one transaction, by the picture at hand when its first event came.
#[derive(Debug)]
pub struct Written {
    parts: Parts,
    by: Arc<Catalogues>,
    learnt: Arc<Known>,
    domain: Option<Arc<Domain>>,
    clocks: Touched,
    changed: Vec<(Changed, Makes)>,
    changes_privileges: bool,
    is_everything: bool,
}

/// What a transaction has written that is prepared.
#[derive(Debug)]
pub struct Prepared {
    clocks: ClockList,
    changed: Vec<(Changed, Makes)>,
    changes_begun: u64,
    learnt: u64,
    changes_privileges: bool,
    is_everything: bool,
}

/// Where a table's key stands in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPlace {
    /// Its column, from 0.
    pub column: u16,
    /// Whether its values may be negative.
    pub is_signed: bool,
}

/// Where what is to be known of a table's rows stands in them.
#[derive(Debug, Default)]
pub struct Places {
    /// Its key.
    pub key: Option<KeyPlace>,
    /// The columns that reads compare; none where it is not known which columns are which.
    pub learnt: Option<Vec<LearntPlaces>>,
}

/// Columns that reads compare together, and what each holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentence above says it")]
pub struct LearntPlaces {
    pub columns: ColumnPlaces,
    pub holds: Vec<Holds>,
    /// Only what changes one of these counts.
    pub looked_at: ColumnSet,
}

/// What an event tells of the rows that it is of.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told<'a> {
    /// Their keys, before and after.
    pub keys: Option<&'a [RowKey]>,
    /// Hashes of what they hold in the columns that reads compare, before and after.
    pub held: Option<&'a [u64]>,
}

/// What became of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// They were added.
    Adds,
    /// They were changed, all of them in other columns than the key if `keeps_keys`.
    Changes {
        /// See above.
        keeps_keys: bool,
    },
    /// They were removed, or it is not known what became of them.
    Removes,
}

/// What a statement of the binlog ran under.
#[derive(Debug, Clone, Copy)]
pub struct Logged<'a> {
    /// Its default schema; empty for none.
    pub schema: &'a [u8],
    /// Its text.
    pub text: &'a [u8],
    /// How the server reads it.
    pub lexing: Lexing,
}

/// What one transaction has written is pending. Dropped, it has moved: nobody proves it any more.
#[derive(Debug)]
#[must_use = "what is dropped counts as proven"]
pub struct Carried {
    parts: Parts,
    by: Arc<Catalogues>,
    marks: Option<Marks>,
    learnt: u64,
    changed: Vec<(Changed, Makes)>,
    changes: Vec<Change>,
    changes_privileges: bool,
}

impl Written {
    /// Nothing yet, on that server.
    pub(crate) fn begin(
        clocks: &Arc<Clocks>,
        catalogues: &Arc<CatalogueStore>,
        hostgroups: &Arc<Hostgroups>,
        learnt: Arc<Known>,
        server: &ServerName,
    ) -> Self {
        let by = catalogues.current();
        let parts = Parts {
            clocks: Arc::clone(clocks),
            catalogues: Arc::clone(catalogues),
            hostgroups: Arc::clone(hostgroups),
        };
        let is_it = |domain: &&Arc<Domain>| {
            domain.takes_writes && (&domain.host, domain.port) == (&server.host, server.port)
        };
        let domain = by.domains().find(is_it).map(Arc::clone);
        Self {
            parts,
            by,
            learnt,
            domain,
            clocks: Touched::default(),
            changed: Vec::new(),
            changes_privileges: false,
            is_everything: false,
        }
    }

    /// Where what is to be known stands in the rows of a table of so many columns, if the picture is known to be that of the events at hand: it
    /// was read as the `look`-th.
    #[must_use]
    pub fn places(&self, schema: &[u8], table: &[u8], columns: usize, look: u64) -> Places {
        let known = self.catalogue().and_then(|known| known.table(schema, table));
        let Some(known) = known.filter(|_| self.by.look == look) else { return Places::default() };
        let key = known.key.as_ref().and_then(|key| {
            let column = key.position?;
            Some(KeyPlace { column, is_signed: key.min < 0 })
        });
        let places = |learnt: &LearntColumns| {
            let LearntColumns { columns, looked_at, .. } = learnt.clone();
            let holds = columns.iter().map(|place| Some(known.compared.at(*place)?.holds.clone()));
            let holds = holds.collect::<Option<_>>()?;
            Some(LearntPlaces { columns, holds, looked_at })
        };
        // Who goes by this picture cannot ask for others, and their table has moved when it was defined anew.
        let learnt = self.learnt.of(known.id).iter().filter_map(places).collect();
        let has_all = usize::from(known.compared.all) == columns;
        Places { key, learnt: has_all.then_some(learnt) }
    }

    /// Rows of which that is told were made, changed or removed in the table. `id` is the table's number; without one nothing depends on it.
    pub fn add_rows(
        &mut self,
        id: Option<TableId>,
        (schema, table): (&[u8], &[u8]),
        told: Told<'_>,
        deed: Deed,
    ) {
        let known = self.catalogue().and_then(|known| known.table(schema, table)).cloned();
        match known.as_ref() {
            Some(table) => self.add_effects(table, deed),
            // Its foreign keys are not known.
            None if deed != Deed::Adds => self.add_everything(),
            None => {}
        }
        let Some(id) = id else { return };
        let has_key = known.as_ref().is_some_and(|table| table.key.is_some());
        let moved = match (told.keys.filter(|_| has_key), told.held) {
            (Some(keys), held) => of_rows(&self.parts.clocks, id, keys, held),
            // No answer depends on rows by their keys.
            (None, Some(held)) if known.is_some() && !has_key => {
                of_rows(&self.parts.clocks, id, &[], Some(held))
            }
            (None, _) => of_any_row(&self.parts.clocks, id),
        };
        self.clocks.add(moved, &self.parts.clocks);
    }

    /// What the engine changes besides, of which no event tells: by foreign keys. What triggers change has events of its own.
    fn add_effects(&mut self, table: &Table, deed: Deed) {
        let refers_to_key = |cascades: &Cascades| {
            let key = table.key.as_ref().map(|key| &key.column);
            cascades.referenced.iter().all(|column| Some(column) == key)
        };
        let others = match (&table.side_effects, deed) {
            (SideEffects::Everything, _) => None,
            (_, Deed::Adds) => return,
            (SideEffects::Tables(others), _) => Some(others),
            (SideEffects::Cascades(cascades), Deed::Removes) => cascades.of_removal.as_ref(),
            (SideEffects::Cascades(cascades), Deed::Changes { keeps_keys: true })
                if refers_to_key(cascades) =>
            {
                return;
            }
            (SideEffects::Cascades(cascades), Deed::Changes { .. }) => cascades.of_change.as_ref(),
        };
        match others.cloned() {
            // The table itself too, if they lead back to it.
            Some(others) => others.iter().for_each(|other| self.add_any_row(*other)),
            None => self.add_everything(),
        }
    }

    /// A statement ran that stands in the binlog as text.
    pub fn add_statement(&mut self, logged: Logged<'_>) {
        let Logged { schema, text, lexing } = logged;
        let statement = classify(text, lexing);
        let class = Class::of(&statement);
        let kind = class.kind();
        self.changes_privileges |= kind == Kind::Grant || changes_privileges(text, kind, lexing);
        let footprint = match self.catalogue() {
            // Of what others write as text it is not known what else it runs.
            Some(catalogue) if matches!(kind, Kind::Ddl(_)) => {
                write_footprint(text, class, lexing, schema, catalogue, &[])
            }
            _ => WriteFootprint::Everything,
        };
        let may_define = !kind.moves_rows() && !matches!(kind, Kind::Grant | Kind::Flush);
        let intent = Intent::of(&footprint, kind, may_define, Commits::Surely, &self.parts.clocks);
        self.clocks.add(intent.held.iter().copied(), &self.parts.clocks);
        if let Some(changed) = intent.changed {
            let makes = Makes::of_known(text, kind, self.by.times_code_was_made(), || {
                !statement.effects.reads_insert_id && self.by.leaves_nothing(text, class, lexing, schema)
            });
            self.changed.push((changed, makes));
        }
    }

    /// What happened is not known.
    pub fn add_everything(&mut self) {
        self.is_everything = true;
    }

    /// It belongs to the server's own tables of accounts.
    pub fn add_privileges(&mut self) {
        self.changes_privileges = true;
    }

    /// What is to be remembered of it while it is prepared, which may be for long: not the picture that it was read by.
    #[must_use]
    pub fn prepare(self) -> Prepared {
        Prepared {
            clocks: self.clocks.list(),
            changed: self.changed,
            changes_begun: self.by.changes_begun,
            learnt: self.learnt.generation,
            changes_privileges: self.changes_privileges,
            is_everything: self.is_everything,
        }
    }

    /// What was prepared is committed with it. Where a definition was changed meanwhile, or something was learnt, it may be more than was known
    /// then.
    pub fn add_prepared(&mut self, prepared: Prepared) {
        self.clocks.add(prepared.clocks, &self.parts.clocks);
        self.changed.extend(prepared.changed);
        self.changes_privileges |= prepared.changes_privileges;
        let is_as_before =
            prepared.changes_begun == self.by.changes_begun && prepared.learnt == self.learnt.generation;
        self.is_everything |= prepared.is_everything || !is_as_before;
    }

    /// Whether it has written nothing that anything depends on.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.clocks.is_empty() && self.changed.is_empty() && !self.changes_privileges && !self.is_everything
    }

    /// All of it is pending when this returns. Cost: an update for each clock; no lock.
    pub fn raise(self) -> Carried {
        let clocks = &self.parts.clocks;
        let mut raised = self.clocks.list();
        if self.is_everything {
            raised.push(clocks.everything());
        }
        let marks = Some(clocks.raise(raised));
        let Self { parts, by, learnt, changed, changes_privileges, .. } = self;
        let learnt = learnt.generation;
        Carried { parts, by, marks, learnt, changed, changes: Vec::new(), changes_privileges }
    }

    /// Up to which generation it shows what is learnt.
    #[must_use]
    pub fn learnt(&self) -> u64 {
        self.learnt.generation
    }

    fn add_any_row(&mut self, table: TableId) {
        self.clocks.add(of_any_row(&self.parts.clocks, table), &self.parts.clocks);
    }

    fn catalogue(&self) -> Option<&Catalogue> {
        Some(&self.domain.as_ref()?.catalogue)
    }
}

impl Carried {
    /// Up to which generation it shows what is learnt.
    #[must_use]
    pub const fn learnt(&self) -> u64 {
        self.learnt
    }

    /// The definitions that it changes are not known any more when this returns. Takes the lock of catalogues: behind the follower's answer
    /// to the server, which must not wait for anybody.
    pub fn begin_changes(&mut self) {
        for (changed, makes) in self.changed.drain(..) {
            self.changes.push(self.parts.catalogues.begin_change(changed, makes, &self.by));
        }
    }

    /// The server is proven to show it: it has moved when this returns.
    pub fn settle(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.begin_changes();
        let Some(marks) = self.marks.take() else { return };
        if self.changes_privileges {
            self.parts.hostgroups.note_privileges();
        }
        let mut changes = std::mem::take(&mut self.changes);
        let last = changes.pop();
        for change in changes {
            self.parts.catalogues.finish(self.parts.clocks.raise(ClockList::new()), Some(change));
        }
        self.parts.catalogues.finish(marks, last);
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.end();
    }
}
