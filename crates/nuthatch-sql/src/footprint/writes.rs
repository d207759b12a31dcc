//! The tables that a statement writes, as they are found.

use std::borrow::Cow;

use super::names::{Mentions, Scope};
use super::{TableWrite, TableWrites, WriteFootprint, WrittenRows};
use crate::catalogue::{Catalogue, SideEffects, Table, TableId};
use crate::classify::cursor::Cursor;

/// What a write does with the rows of a table that foreign keys may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// It adds rows, or changes others in columns to which no cascading foreign key refers.
    Keeps,
    /// It changes rows.
    Changes,
    /// It removes rows.
    Removes,
    /// Any of that.
    Any,
}

/// The columns of `table` to which foreign keys refer that cascade when they change.
pub(super) fn referenced(table: &Table) -> &[Box<[u8]>] {
    match &table.side_effects {
        SideEffects::Cascades(cascades) => &cascades.referenced,
        SideEffects::Tables(_) | SideEffects::Everything => &[],
    }
}

/// The tables that a statement writes, each once.
pub(super) struct Writes<'a> {
    catalogue: &'a Catalogue,
    tables: TableWrites,
}

impl<'a> Writes<'a> {
    pub(super) fn new(scope: &Scope<'a>) -> Self {
        Self { catalogue: scope.catalogue, tables: TableWrites::new() }
    }

    /// Adds the rows of `table`, and what else a write may change that does this with them; none if that is everything.
    pub(super) fn add(&mut self, table: &Table, rows: WrittenRows, deed: Deed) -> Option<()> {
        let besides = match (&table.side_effects, deed) {
            (SideEffects::Cascades(_), Deed::Keeps) => Cow::Borrowed(&[][..]),
            (SideEffects::Cascades(cascades), Deed::Removes) => {
                Cow::Borrowed(&**cascades.of_removal.as_ref()?)
            }
            (SideEffects::Cascades(cascades), Deed::Changes) => {
                Cow::Borrowed(&**cascades.of_change.as_ref()?)
            }
            (effects, _) => effects.tables()?,
        };
        self.add_one(table.id, rows, table.is_transactional);
        for &besides in &*besides {
            self.add_one(besides, WrittenRows::Any, self.catalogue.is_transactional(besides));
        }
        Some(())
    }

    fn add_one(&mut self, table: TableId, rows: WrittenRows, is_transactional: bool) {
        match self.tables.iter_mut().find(|write| write.table == table) {
            Some(write) => write.rows = WrittenRows::Any,
            None => self.tables.push(TableWrite { table, rows, is_transactional }),
        }
    }

    pub(super) fn footprint(self) -> WriteFootprint {
        WriteFootprint::Tables(self.tables)
    }

    /// The same of a statement that commits what it writes.
    pub(super) fn committed(mut self) -> WriteFootprint {
        for write in &mut self.tables {
            write.is_transactional = false;
        }
        self.footprint()
    }
}

/// All tables that a statement of several names writes each row of; none if a name in it is not understood, or everything is
/// written.
pub(super) fn all_mentioned(start: &Cursor<'_>, scope: &Scope<'_>) -> Option<WriteFootprint> {
    let mut writes = Writes::new(scope);
    for mention in Mentions::new(start) {
        if let Some(table) = mention.ok()?.find(scope) {
            writes.add(table, WrittenRows::Any, Deed::Any)?;
        }
    }
    Some(writes.footprint())
}
