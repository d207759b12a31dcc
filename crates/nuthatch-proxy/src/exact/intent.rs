//! What a statement may write and commit, found before it is sent.

use nuthatch_cache::{ClockList, Clocks};
use nuthatch_sql::{Kind, RowKey, TableId, TableWrite, TransactionEnd, WriteFootprint, WrittenRows};

use crate::exact::clocks_of::{of_definition, of_row, of_write};
use crate::exact::definitions::{Changed, Makes};

/// Whether a statement may end the open transaction otherwise than by undoing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commits {
    /// It does not.
    No,
    /// It undoes all that the transaction has written.
    RollsBack,
    /// It surely commits what was written before it.
    Surely,
    /// It may commit, or not, what was written before it and what it writes itself.
    Maybe,
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Intent {
    /// Clocks that are held while it is in flight.
    pub(super) held: ClockList,
    /// Those of them that move whatever becomes of the transaction.
    pub(super) durable: ClockList,
    /// The table in which it makes one row whose key the server will tell.
    pub(super) given: Option<TableId>,
    /// Which definitions it may change.
    pub(super) changed: Option<Changed>,
    /// What that may make.
    pub(crate) makes: Makes,
    pub(super) commits: Commits,
    /// It changes what accounts may do.
    pub(crate) changes_privileges: bool,
    /// It may change what sessions begin with.
    pub(crate) changes_defaults: bool,
}

impl Commits {
    /// What is said of it by a statement's kind and first words; `is_harmless_set` is a SET that is known not to commit.
    pub(crate) const fn of(kind: Kind, end: TransactionEnd, is_harmless_set: bool) -> Self {
        match (kind, end) {
            (_, TransactionEnd::Rollback | TransactionEnd::RollbackAndChain) => Self::RollsBack,
            (_, TransactionEnd::Commit | TransactionEnd::CommitAndChain) | (Kind::Begin, _) => Self::Surely,
            (_, TransactionEnd::Implicit) => Self::Maybe,
            (
                Kind::Select
                | Kind::Insert
                | Kind::Replace
                | Kind::Update
                | Kind::Delete
                | Kind::Savepoint
                | Kind::Show
                | Kind::Explain
                | Kind::Use
                | Kind::Handler
                | Kind::LoadData
                | Kind::Do
                | Kind::Kill
                | Kind::Prepare
                | Kind::Deallocate
                | Kind::Empty,
                TransactionEnd::No,
            ) => Self::No,
            (Kind::Set, TransactionEnd::No) if is_harmless_set => Self::No,
            _ => Self::Maybe,
        }
    }
}

impl Intent {
    /// Of a statement that writes nothing.
    pub(crate) fn nothing(commits: Commits) -> Self {
        Self {
            held: ClockList::new(),
            durable: ClockList::new(),
            given: None,
            changed: None,
            makes: Makes::Maybe,
            commits,
            changes_privileges: false,
            changes_defaults: false,
        }
    }

    /// Of a statement that may write anything, but defines no table.
    pub(crate) fn everything(commits: Commits, clocks: &Clocks) -> Self {
        let all = || ClockList::from_slice(&[clocks.everything()]);
        Self { held: all(), durable: all(), ..Self::nothing(commits) }
    }

    /// Of a statement with that footprint. `may_define`: where the footprint is everything, that is definitions too.
    pub(crate) fn of(
        footprint: &WriteFootprint,
        kind: Kind,
        may_define: bool,
        commits: Commits,
        clocks: &Clocks,
    ) -> Self {
        match footprint {
            WriteFootprint::Everything => {
                let changed = may_define.then_some(Changed::All);
                Self { changed, ..Self::everything(commits, clocks) }
            }
            WriteFootprint::Definition { tables, named } => {
                let tables = tables.iter().flat_map(|table| of_definition(clocks, *table));
                let held: ClockList = tables.chain([clocks.definitions()]).collect();
                let changed = Some(Changed::Tables(named.clone()));
                Self { durable: held.clone(), held, changed, ..Self::nothing(commits) }
            }
            WriteFootprint::Tables(writes) => {
                let mut intent = Self::nothing(commits);
                writes.iter().for_each(|write| intent.add(write, kind, clocks));
                intent
            }
        }
    }

    fn add(&mut self, write: &TableWrite, kind: Kind, clocks: &Clocks) {
        let moved = of_write(clocks, write);
        if kind == Kind::Insert && write.rows == WrittenRows::Given && write.is_transactional {
            self.given = Some(write.table);
        }
        if !write.is_transactional {
            self.durable.extend_from_slice(&moved);
        }
        match self.held.is_empty() {
            true => self.held = moved,
            false => self.held.extend_from_slice(&moved),
        }
    }

    /// Whether there is nothing to hold, unless the transaction has touched something.
    pub(crate) fn is_nothing(&self) -> bool {
        self.held.is_empty() && self.changed.is_none() && !self.changes_privileges && !self.changes_defaults
    }

    /// Whether what was written before may be committed by it.
    pub(super) const fn may_commit(&self) -> bool {
        matches!(self.commits, Commits::Surely | Commits::Maybe)
    }

    /// What it wrote, now that the server has told the key of the row that it made; none if it did not: then that is what was held.
    pub(super) fn told(&self, affected_rows: u64, insert_id: u64, clocks: &Clocks) -> Option<ClockList> {
        let table = self.given.filter(|_| affected_rows == 1 && insert_id != 0)?;
        let absent = clocks.absent(table.0);
        let known = self.held.iter().copied().filter(|clock| Some(*clock) != absent);
        Some(known.chain(of_row(clocks, table, RowKey(insert_id))).collect())
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::ClockOptions;
    use nuthatch_sql::Ddl;

    use super::*;

    fn one(rows: WrittenRows, is_transactional: bool) -> WriteFootprint {
        let write = TableWrite { table: TableId(1), rows, is_transactional };
        WriteFootprint::Tables([write].into_iter().collect())
    }

    #[test]
    fn only_what_is_known_not_to_commit_is_said_not_to() {
        let of = |kind, end| Commits::of(kind, end, false);
        assert_eq!(of(Kind::Update, TransactionEnd::No), Commits::No);
        assert_eq!(of(Kind::Begin, TransactionEnd::Implicit), Commits::Surely);
        assert_eq!(of(Kind::Commit, TransactionEnd::CommitAndChain), Commits::Surely);
        assert_eq!(of(Kind::Rollback, TransactionEnd::RollbackAndChain), Commits::RollsBack);
        assert_eq!(of(Kind::Savepoint, TransactionEnd::No), Commits::No);
        assert_eq!(Commits::of(Kind::Set, TransactionEnd::No, true), Commits::No);
        for kind in [Kind::Set, Kind::Call, Kind::Execute, Kind::Multi, Kind::Other, Kind::Unlock, Kind::Xa] {
            assert_eq!(of(kind, TransactionEnd::No), Commits::Maybe, "{kind:?}");
        }
    }

    #[test]
    fn key_that_the_server_gave_takes_the_place_of_all_absent_rows() {
        let clocks = Clocks::new(ClockOptions::default());
        let intent = Intent::of(&one(WrittenRows::Given, true), Kind::Insert, false, Commits::No, &clocks);
        let absent = clocks.absent(1).expect("the table has clocks");
        assert!(intent.held.contains(&absent) && intent.durable.is_empty());
        let written = intent.told(1, 7, &clocks).expect("the key is told");
        assert!(!written.contains(&absent) && written.contains(&clocks.row(1, 7)));
        for (affected_rows, insert_id) in [(0, 7), (2, 7), (1, 0)] {
            assert_eq!(intent.told(affected_rows, insert_id, &clocks), None);
        }
    }

    #[test]
    fn definition_of_a_table_that_is_not_known_is_one_all_the_same() {
        let clocks = Clocks::new(ClockOptions::default());
        let made = WriteFootprint::Definition { tables: Vec::new(), named: Vec::new() };
        let intent = Intent::of(&made, Kind::Ddl(Ddl::Create), true, Commits::Maybe, &clocks);
        assert_eq!(*intent.held, [clocks.definitions()]);
        assert_eq!(intent.durable, intent.held);
    }

    #[test]
    fn definitions_make_code_if_they_name_what_it_is() {
        for (text, expected) in [
            ("CREATE TABLE t (a INT)", Makes::Tables),
            ("ALTER TABLE t ADD b INT", Makes::Tables),
            ("DROP TABLE t", Makes::Tables),
            ("CREATE TABLE review SELECT 1", Makes::Tables),
            ("ALTER TABLE t RENAME TO u", Makes::Code),
            ("CREATE OR REPLACE VIEW v AS SELECT 1", Makes::Views),
            ("/*!50001 DROP VIEW IF EXISTS v*/", Makes::Views),
            ("ALTER TABLE view_of RENAME TO view", Makes::Code),
            ("CREATE /*!50003TRIGGER*/ t BEFORE INSERT ON u FOR EACH ROW SET @a = 1", Makes::Code),
            ("drop function f", Makes::Code),
        ] {
            assert_eq!(Makes::of(text.as_bytes(), Kind::Ddl(Ddl::Create)), expected, "{text}");
        }
        assert_eq!(Makes::of(b"CALL p()", Kind::Call), Makes::Maybe);
    }

    #[test]
    fn what_no_rollback_undoes_moves_at_once() {
        let clocks = Clocks::new(ClockOptions::default());
        let intent = Intent::of(
            &one(WrittenRows::Keys([RowKey(1)].into_iter().collect()), false),
            Kind::Update,
            false,
            Commits::No,
            &clocks,
        );
        assert_eq!(intent.held, intent.durable);
    }
}
