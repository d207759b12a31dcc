//! What a table map may tell beyond its columns' types: a list of fields, each with its kind and length.
//!
//! A field that does not fit the columns is passed over: what it would have told is not known then.

use nuthatch_sql::ServerFlavor;

use super::super::BinlogError;
use super::super::column_type::ColumnType;
use super::super::cursor::Cursor;
use super::column::{Column, KeyPart};

/// What is being filled in.
pub(super) struct Optional<'t> {
    pub(super) columns: &'t mut [Column],
    pub(super) primary_key: Option<Vec<KeyPart>>,
    pub(super) flavor: ServerFlavor,
}

/// Which columns a field of collations speaks of.
#[derive(Clone, Copy)]
enum Of {
    Strings,
    EnumsAndSets,
}

impl Optional<'_> {
    pub(super) fn parse(&mut self, fields: &mut Cursor<'_>) -> Result<(), BinlogError> {
        while !fields.is_empty() {
            let kind = fields.u8()?;
            let mut field = Cursor::new(fields.packed_bytes()?);
            match kind {
                1 => self.signs(field.rest()),
                2 => self.default_collation(&mut field, Of::Strings)?,
                3 => self.each_collation(&mut field, Of::Strings)?,
                4 => self.names(&mut field)?,
                8 => self.key(&mut field, Prefixes::None)?,
                9 => self.key(&mut field, Prefixes::Each)?,
                10 => self.default_collation(&mut field, Of::EnumsAndSets)?,
                11 => self.each_collation(&mut field, Of::EnumsAndSets)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A bit for each number, the highest of the first byte first.
    fn signs(&mut self, bits: &[u8]) {
        let numbers = || self.columns.iter().filter(|column| column.kind.may_have_sign());
        if bits.len() != numbers().count().div_ceil(8) {
            return;
        }
        let numbers = self.columns.iter_mut().filter(|column| column.kind.may_have_sign());
        for (place, column) in numbers.enumerate() {
            column.is_unsigned = bits.get(place / 8).map(|byte| byte << (place % 8) & 0x80 != 0);
        }
    }

    /// One for all, then those that have another: their places among the strings, and what they have.
    fn default_collation(&mut self, field: &mut Cursor<'_>, of: Of) -> Result<(), BinlogError> {
        let common = collation(field)?;
        self.of(of).for_each(|column| column.collation = Some(common));
        while !field.is_empty() {
            let place = field.packed_len()?;
            let other = collation(field)?;
            let Some(column) = self.of(of).nth(place) else {
                self.of(of).for_each(|column| column.collation = None);
                return Ok(());
            };
            column.collation = Some(other);
        }
        Ok(())
    }

    /// One for each.
    fn each_collation(&mut self, field: &mut Cursor<'_>, of: Of) -> Result<(), BinlogError> {
        for column in self.of(of) {
            if field.is_empty() {
                break;
            }
            column.collation = Some(collation(field)?);
        }
        let fits = field.is_empty() && self.of(of).all(|column| column.collation.is_some());
        if !fits {
            self.of(of).for_each(|column| column.collation = None);
        }
        Ok(())
    }

    fn names(&mut self, field: &mut Cursor<'_>) -> Result<(), BinlogError> {
        for column in self.columns.iter_mut() {
            column.name = Some(field.packed_bytes()?.into());
        }
        Ok(())
    }

    fn key(&mut self, field: &mut Cursor<'_>, prefixes: Prefixes) -> Result<(), BinlogError> {
        let mut parts = Vec::new();
        while !field.is_empty() {
            let column = field.packed_len()?;
            let prefix = match prefixes {
                Prefixes::None => 0,
                Prefixes::Each => field.packed()?,
            };
            if column >= self.columns.len() {
                return Ok(());
            }
            parts.push(KeyPart { column, prefix });
        }
        self.primary_key = (!parts.is_empty()).then_some(parts);
        Ok(())
    }

    fn of(&mut self, of: Of) -> impl Iterator<Item = &mut Column> {
        let flavor = self.flavor;
        self.columns.iter_mut().filter(move |column| match of {
            Of::Strings => column.kind.may_have_collation(flavor),
            Of::EnumsAndSets => matches!(column.kind, ColumnType::Enum { .. } | ColumnType::Set { .. }),
        })
    }
}

/// Whether a key's columns have how many characters of them count.
#[derive(Clone, Copy)]
enum Prefixes {
    None,
    Each,
}

fn collation(field: &mut Cursor<'_>) -> Result<u32, BinlogError> {
    u32::try_from(field.packed()?).map_err(|_above| BinlogError::Malformed("a collation's number"))
}
