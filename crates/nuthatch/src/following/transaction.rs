//! The transaction whose events are being read.

use std::collections::BTreeSet;

use nuthatch_proxy::{Deed, KeyPlace, Written};
use nuthatch_source::{Image, RowChange, Rows, RowsKind, TableMap, Value};
use nuthatch_sql::RowKey;

use crate::following::xa::OwnedXid;

/// Rows of a transaction that are told apart; of more, their tables are.
const ROWS_MAX: usize = 1000;

/// By what the server says that it shows a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    MySql { uuid: u128, tag: String, number: u64 },
    MariaDb { domain: u32, sequence: u64 },
}

/// See the module's doc.
#[derive(Debug)]
pub(super) struct Transaction {
    pub(super) name: Name,
    pub(super) written: Written,
    /// A statement of its own begins it, as BEGIN does, or its first event says that there are several.
    pub(super) has_begun: bool,
    /// The XA transaction that it is the second half of.
    pub(super) finishes: Option<OwnedXid>,
    /// Tables that were named since the last statement ended, and have had no rows yet.
    named: BTreeSet<(Vec<u8>, Vec<u8>)>,
    rows_left: usize,
}

/// Which rows a change was of, and what became of them.
#[derive(Debug)]
pub(super) struct Changed {
    /// None where some are not known.
    pub(super) keys: Option<Vec<RowKey>>,
    pub(super) deed: Deed,
}

impl Transaction {
    pub(super) fn begin(name: Name, written: Written, has_begun: bool) -> Self {
        Self { name, written, has_begun, finishes: None, named: BTreeSet::new(), rows_left: ROWS_MAX }
    }

    pub(super) fn note_named(&mut self, table: &TableMap) {
        self.named.insert((table.schema().to_vec(), table.name().to_vec()));
    }

    pub(super) fn note_rows_of(&mut self, table: &TableMap) {
        self.named.remove(&(table.schema().to_vec(), table.name().to_vec()));
    }

    /// Those that were named and had no rows: what changed in them is not told.
    pub(super) fn take_named(&mut self) -> BTreeSet<(Vec<u8>, Vec<u8>)> {
        std::mem::take(&mut self.named)
    }

    /// Which rows they are, by the key that stands there.
    pub(super) fn changed(
        &mut self,
        kind: RowsKind,
        rows: Option<Rows<'_>>,
        place: Option<KeyPlace>,
    ) -> Changed {
        let keys = rows.zip(place).and_then(|(rows, place)| self.keys(rows, place));
        let keeps_keys = keys.as_ref().is_some_and(|keys| keys.iter().all(|[before, after]| before == after));
        let deed = match kind {
            RowsKind::Insert => Deed::Adds,
            RowsKind::Update => Deed::Changes { keeps_keys },
            RowsKind::Delete => Deed::Removes,
        };
        Changed { keys: keys.map(|keys| keys.concat()), deed }
    }

    /// Of each row before and after; none where one is not told, or there are too many.
    fn keys(&mut self, rows: Rows<'_>, place: KeyPlace) -> Option<Vec<[RowKey; 2]>> {
        let mut keys = Vec::new();
        for row in rows {
            self.rows_left = self.rows_left.checked_sub(1)?;
            keys.push(keys_of(&row.ok()?, place)?);
        }
        Some(keys)
    }
}

/// The keys of a row before and after; none if one is not told.
fn keys_of(row: &RowChange<'_>, place: KeyPlace) -> Option<[RowKey; 2]> {
    let column = usize::from(place.column);
    let key = |image: &Image<'_>| image.value(column).map(|value| key_of(value, place.is_signed));
    let before = row.before.as_ref().map(key);
    let after = row.after.as_ref().map(key);
    match (before, after) {
        // What is not in an image is as it was.
        (Some(before), Some(None)) => Some([before??, before??]),
        (Some(before), Some(after)) => Some([before??, after??]),
        (Some(one), None) | (None, Some(one)) => Some([one??, one??]),
        (None, None) => None,
    }
}

/// As a literal of that value would be a key: 64 bits, of a negative one in two's complement.
fn key_of(value: Value<'_>, is_signed: bool) -> Option<RowKey> {
    let Value::Integer { bits, bytes } = value else { return None };
    let unused = 64 - 8 * u32::from(bytes);
    match is_signed {
        false => Some(RowKey(bits)),
        true => Some(RowKey(((bits << unused).cast_signed() >> unused).cast_unsigned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_that_literals_have() {
        let key = |bits, bytes, is_signed| key_of(Value::Integer { bits, bytes }, is_signed);
        assert_eq!(key(0xFF, 1, true), Some(RowKey(u64::MAX)));
        assert_eq!(key(0xFF, 1, false), Some(RowKey(255)));
        assert_eq!(key(0x80_0000, 3, true), Some(RowKey((-8_388_608_i64).cast_unsigned())));
        assert_eq!(key(0x7F_FFFF, 3, true), Some(RowKey(8_388_607)));
        assert_eq!(key(u64::MAX, 8, true), Some(RowKey(u64::MAX)));
        assert_eq!(key(5, 8, false), Some(RowKey(5)));
        assert_eq!(key_of(Value::Null, true), None);
    }
}
