//! The event that names a table before its rows, and says how they look.
//!
//! Its columns are those of the rows' events up to the end of the statement. What MySQL and MariaDB add to it (signs, collations,
//! names, the primary key) depends on `binlog_row_metadata` and on the version: what is not told is not known.

mod column;
mod optional;

use nuthatch_sql::ServerFlavor;

use super::BinlogError;
use super::column_type::ColumnType;
use super::cursor::Cursor;
use optional::Optional;

pub use column::{Column, KeyPart};

/// `MAX_FIELDS`, of both families.
const COLUMNS_MAX: usize = 4096;

/// A table, as the binlog tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMap {
    id: u64,
    schema: Box<[u8]>,
    name: Box<[u8]>,
    /// None if a type is not known.
    columns: Option<Vec<Column>>,
    primary_key: Option<Vec<KeyPart>>,
}

impl TableMap {
    pub(super) fn parse(body: &[u8], flavor: ServerFlavor) -> Result<Self, BinlogError> {
        let mut fields = Cursor::new(body);
        let id = fields.number(6)?;
        fields.u16()?; // Flags that concern a replica's own work.
        let schema_len = fields.u8()?;
        let schema = fields.terminated(usize::from(schema_len))?.into();
        let name_len = fields.u8()?;
        let name = fields.terminated(usize::from(name_len))?.into();
        let count = fields.packed_len()?;
        if count > COLUMNS_MAX {
            return Err(BinlogError::TooLarge("a table's columns"));
        }
        let numbers = fields.bytes(count)?;
        let mut metadata = Cursor::new(fields.packed_bytes()?);
        let nullable = fields.bitmap(count)?;
        let mut columns = Vec::with_capacity(count);
        for (place, number) in numbers.iter().enumerate() {
            let Some(kind) = ColumnType::parse(*number, &mut metadata, flavor)? else {
                return Ok(Self { id, schema, name, columns: None, primary_key: None });
            };
            let is_nullable = nullable.has(place);
            columns.push(Column { kind, is_nullable, is_unsigned: None, collation: None, name: None });
        }
        if !metadata.is_empty() {
            return Err(BinlogError::Malformed("the columns of a table"));
        }
        let mut optional = Optional { columns: &mut columns, primary_key: None, flavor };
        optional.parse(&mut fields)?;
        let primary_key = optional.primary_key;
        Ok(Self { id, schema, name, columns: Some(columns), primary_key })
    }

    /// By which rows name it.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// In the server's character set for names, UTF-8.
    #[must_use]
    pub fn schema(&self) -> &[u8] {
        &self.schema
    }

    /// The same.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether its rows can be read. If not, a column is of a type that is not known.
    #[must_use]
    pub const fn is_readable(&self) -> bool {
        self.columns.is_some()
    }

    /// In their order; none if the table is not readable.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// In the key's order. None if the event does not tell, which it does with `binlog_row_metadata = FULL`.
    #[must_use]
    pub fn primary_key(&self) -> Option<&[KeyPart]> {
        self.primary_key.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAVOR: ServerFlavor = ServerFlavor::MySql(90_704);

    fn map(columns: &[u8]) -> Result<TableMap, BinlogError> {
        let head = [&[9, 0, 0, 0, 0, 0, 1, 0][..], b"\x01s\0\x01t\0"].concat();
        TableMap::parse(&[&head, columns].concat(), FLAVOR)
    }

    #[test]
    fn columns_are_those_of_the_types_and_their_metadata() {
        let table = map(&[2, 3, 15, 2, 10, 0, 0b10]).unwrap();
        assert_eq!((table.id(), table.schema(), table.name()), (9, &b"s"[..], &b"t"[..]));
        let kinds: Vec<_> = table.columns().iter().map(|column| (column.kind, column.is_nullable)).collect();
        assert_eq!(
            kinds,
            [(ColumnType::Integer { bytes: 4 }, false), (ColumnType::Varchar { bytes_max: 10 }, true)]
        );
    }

    #[test]
    fn table_with_an_unknown_type_is_named_and_not_readable() {
        let table = map(&[2, 20, 3, 0, 0]).unwrap();
        assert!(!table.is_readable() && table.columns().is_empty());
        assert_eq!(table.name(), b"t");
    }

    #[test]
    fn claims_above_what_is_there_are_refused() {
        assert_eq!(map(&[0xFC, 0, 0x11]), Err(BinlogError::TooLarge("a table's columns")));
        assert_eq!(map(&[250, 3]), Err(BinlogError::Truncated));
        assert_eq!(map(&[1, 3, 1, 0, 0]), Err(BinlogError::Malformed("the columns of a table")));
    }
}
