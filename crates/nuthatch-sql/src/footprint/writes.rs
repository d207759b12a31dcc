//! The tables that a statement writes, as they are found.

use super::names::{Mentions, Scope};
use super::{TableWrite, TableWrites, WriteFootprint, WrittenRows};
use crate::catalogue::{Catalogue, SideEffects, Table, TableId};
use crate::classify::cursor::Cursor;

/// The tables that a statement writes, each once.
pub(super) struct Writes<'a> {
    catalogue: &'a Catalogue,
    tables: TableWrites,
}

impl<'a> Writes<'a> {
    pub(super) fn new(scope: &Scope<'a>) -> Self {
        Self { catalogue: scope.catalogue, tables: TableWrites::new() }
    }

    /// Adds the rows of `table`, and what else a write to it may change; none if that is everything.
    pub(super) fn add(&mut self, table: &Table, rows: WrittenRows) -> Option<()> {
        let SideEffects::Tables(besides) = &table.side_effects else { return None };
        self.add_one(table.id, rows, table.is_transactional);
        for &besides in besides {
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
            writes.add(table, WrittenRows::Any)?;
        }
    }
    Some(writes.footprint())
}
