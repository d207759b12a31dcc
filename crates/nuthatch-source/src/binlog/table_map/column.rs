//! What is known of a table's columns, and of its primary key.

use super::super::column_type::ColumnType;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// How its values look.
    pub kind: ColumnType,
    /// Whether it may be NULL.
    pub is_nullable: bool,
    /// Of a number. None if the event does not tell.
    pub is_unsigned: Option<bool>,
    /// The number of its collation: of a string, 63 if it is binary; of ENUM and SET too. None if the event does not tell.
    pub collation: Option<u32>,
    /// None if the event does not tell.
    pub name: Option<Box<[u8]>>,
}

/// A column of a primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPart {
    /// Its place among the table's columns.
    pub column: usize,
    /// How many characters of it count; 0 if all.
    pub prefix: u64,
}
