//! What an answer depends on, in words for an operator.

use std::fmt::Write as _;

use super::{Equality, ReadFootprint, ReadRows, TableRead};
use crate::catalogue::{Catalogue, RowKey, Table};
use crate::column_set::ColumnSet;

/// More keys are counted, not listed.
const KEYS_MAX: usize = 20;

/// More columns are counted.
const COLUMNS_MAX: usize = 8;

impl ReadFootprint {
    /// One text for each table, by their names, and one for definitions: `shop.orders: keys 7, 8, also absent`. "Also absent" is that
    /// the answer depends on which rows are not there. Cost: a pass over the catalogue.
    #[must_use]
    pub fn told(&self, catalogue: &Catalogue) -> Vec<String> {
        let read = |table: &Table| self.tables.iter().find(|read| read.table == table.id);
        let tables = catalogue.tables().filter_map(|(schema, name, table)| {
            let rows = read(table)?.rows_told(table);
            let looked_at = read(table)?.looked_at_told(table);
            let (schema, name) = (String::from_utf8_lossy(schema), String::from_utf8_lossy(name));
            Some(format!("{schema}.{name}: {rows}{looked_at}"))
        });
        let mut told: Vec<_> = tables.collect();
        told.sort_unstable();
        told.extend(self.definitions.map(|_| "information_schema: definitions".to_owned()));
        told
    }
}

impl TableRead {
    /// Which columns it is that count, behind a comma; nothing where all do.
    fn looked_at_told(&self, table: &Table) -> String {
        let Some(names) = table.compared.names().filter(|_| self.looked_at != ColumnSet::ALL) else {
            return String::new();
        };
        let is_looked_at = |place: usize| self.looked_at.meets(ColumnSet::NONE.with(place));
        let names = names.enumerate().filter(|(place, _)| is_looked_at(*place));
        let mut names: Vec<_> = names.map(|(_, name)| String::from_utf8_lossy(name).into_owned()).collect();
        let more = names.len().saturating_sub(COLUMNS_MAX);
        names.truncate(COLUMNS_MAX);
        match (names.is_empty(), more) {
            (true, _) => ", made or removed".to_owned(),
            (false, 0) => format!(", changed in {}", names.join(", ")),
            (false, more) => format!(", changed in {} and {more} more", names.join(", ")),
        }
    }

    fn rows_told(&self, table: &Table) -> String {
        let is_signed = table.key.as_ref().is_some_and(|key| key.min < 0);
        let key = |RowKey(key): RowKey| match is_signed {
            true => key.cast_signed().to_string(),
            false => key.to_string(),
        };
        match &self.rows {
            ReadRows::Any => "any row".to_owned(),
            ReadRows::Equal(Equality { columns, hashes }) => {
                let name = |place: &u16| {
                    table.compared.at(*place).map(|column| String::from_utf8_lossy(&column.name))
                };
                let names: Vec<_> = columns.iter().filter_map(name).collect();
                let (names, values) = (names.join(", "), hashes.len().saturating_sub(1));
                let them =
                    if values == 1 { "one value".to_owned() } else { format!("one of {values} values") };
                format!("rows with {them} of {names}")
            }
            ReadRows::Range { from, to } => format!("keys {} to {}, also absent", key(*from), key(*to)),
            ReadRows::Keys { keys, rows_tell_if_found } => {
                let listed: Vec<_> = keys.iter().take(KEYS_MAX).map(|one| key(*one)).collect();
                let mut told = format!("keys {}", listed.join(", "));
                if let Some(more) = keys.len().checked_sub(KEYS_MAX).filter(|more| *more > 0) {
                    write!(told, " and {more} more").expect("a String takes all writes");
                }
                told.push_str(match rows_tell_if_found {
                    true => ", also absent if not all are found",
                    false => ", also absent",
                });
                told
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{PrimaryKey, SideEffects, TableId};
    use crate::footprint::ReadDefinitions;

    fn table(number: u32, min: i64) -> Table {
        let id = TableId(number);
        let column = b"id".as_slice().into();
        let key = PrimaryKey {
            column,
            min,
            max: u64::MAX,
            position: None,
            is_auto_increment: false,
            is_only_unique: false,
        };
        let side_effects = SideEffects::Tables([].into());
        Table {
            id,
            definition: 0,
            key: Some(key),
            reads: [id].into(),
            unsuitable: None,
            is_view: false,
            time_columns: [].into(),
            compared: crate::compared::ComparedColumns::default(),
            side_effects,
            is_transactional: true,
        }
    }

    #[test]
    fn each_table_is_told_by_its_name_and_rows() {
        let mut catalogue = Catalogue::default();
        catalogue.insert(b"shop", b"Users", table(0, 0));
        catalogue.insert(b"shop", b"orders", table(1, -9));
        catalogue.insert(b"shop", b"other", table(2, 0));
        let keys = |keys: &[u64], rows_tell_if_found| {
            let keys = keys.iter().copied().map(RowKey).collect();
            ReadRows::Keys { keys, rows_tell_if_found }
        };
        let many: Vec<_> = (1..=22).collect();
        for (table, rows, expected) in [
            (0, ReadRows::Any, "shop.users: any row"),
            (0, keys(&[7], true), "shop.users: keys 7, also absent if not all are found"),
            (0, keys(&[7, u64::MAX], false), "shop.users: keys 7, 18446744073709551615, also absent"),
            (1, keys(&[u64::MAX, 7], false), "shop.orders: keys -1, 7, also absent"),
            (
                1,
                ReadRows::Range { from: RowKey(u64::MAX - 2), to: RowKey(9) },
                "shop.orders: keys -3 to 9, also absent",
            ),
            (
                0,
                keys(&many, false),
                "shop.users: keys 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 2 more, also absent",
            ),
        ] {
            let tables = vec![TableRead { table: TableId(table), rows, looked_at: ColumnSet::ALL }];
            let footprint = ReadFootprint { tables, ..ReadFootprint::default() };
            assert_eq!(footprint.told(&catalogue), [expected]);
        }
        assert_eq!(ReadFootprint::default().told(&catalogue), [""; 0]);
        let of_definitions =
            ReadFootprint { definitions: Some(ReadDefinitions::default()), ..ReadFootprint::default() };
        assert_eq!(of_definitions.told(&catalogue), ["information_schema: definitions"]);
    }
}
