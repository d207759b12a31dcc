//! The transaction whose events are being read.

use std::collections::BTreeSet;

use nuthatch_proxy::{Deed, KeyPlace, LearntPlaces, Places, Written};
use nuthatch_source::{Image, RowChange, Rows, RowsKind, TableMap, Value};
use nuthatch_sql::{ColumnSet, ColumnValue, Holds, RowKey, hash_of_changes, hash_of_row};

use crate::following::xa::OwnedXid;

/// Rows of a transaction that are told apart; of more, their tables are.
const ROWS_MAX: usize = 1000;

/// Hashes of what rows of a transaction hold; of more, nothing is known of what they hold.
const HELD_MAX: usize = 6000;

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
    held_left: usize,
}

/// Which rows a change was of, what they hold, and what became of them.
#[derive(Debug)]
pub(super) struct Changed {
    /// None where some are not known.
    pub(super) keys: Option<Vec<RowKey>>,
    /// As hashes; none where that of some is not known.
    pub(super) held: Option<Vec<u64>>,
    pub(super) deed: Deed,
}

impl Transaction {
    pub(super) fn begin(name: Name, written: Written, has_begun: bool) -> Self {
        Self {
            name,
            written,
            has_begun,
            finishes: None,
            named: BTreeSet::new(),
            rows_left: ROWS_MAX,
            held_left: HELD_MAX,
        }
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

    /// Which rows they are and what they hold, by what stands in those places.
    pub(super) fn changed(&mut self, kind: RowsKind, rows: Option<Rows<'_>>, places: &Places) -> Changed {
        let (keys, held) = rows.map(|rows| self.told(rows, places)).unwrap_or_default();
        let keeps_keys = keys.as_ref().is_some_and(|keys| keys.iter().all(|[before, after]| before == after));
        let deed = match kind {
            RowsKind::Insert => Deed::Adds,
            RowsKind::Update => Deed::Changes { keeps_keys },
            RowsKind::Delete => Deed::Removes,
        };
        Changed { keys: keys.map(|keys| keys.concat()), held, deed }
    }

    /// The keys of each row before and after, and all that they hold; none where some of it is not told, or there are too many.
    fn told(&mut self, rows: Rows<'_>, places: &Places) -> (Option<Vec<[RowKey; 2]>>, Option<Vec<u64>>) {
        let mut keys = places.key.map(|_| Vec::new());
        let mut held = places.learnt.as_ref().map(|_| BTreeSet::new());
        let wants_rows = keys.is_some() || places.learnt.as_ref().is_some_and(|learnt| !learnt.is_empty());
        for row in Some(rows).filter(|_| wants_rows).into_iter().flatten() {
            let Some(row) = row.ok().filter(|_| self.rows_left > 0) else { return (None, None) };
            self.rows_left -= 1;
            keys = keys.and_then(|mut keys| {
                keys.push(keys_of(&row, places.key?)?);
                Some(keys)
            });
            held = held.and_then(|held| add_held(held, &row, places.learnt.as_deref()?, self.held_left));
        }
        let held: Option<Vec<u64>> = held.map(|held| held.into_iter().collect());
        self.held_left -= held.as_ref().map_or(0, Vec::len);
        (keys, held)
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

/// Adds what a row holds before and after; none if something of it is not told, or it is more than may be.
fn add_held(
    mut held: BTreeSet<u64>,
    row: &RowChange<'_>,
    learnt: &[LearntPlaces],
    held_max: usize,
) -> Option<BTreeSet<u64>> {
    let changed = changed(row);
    let counts = |columns: &&LearntPlaces| changed.is_none_or(|changed| columns.looked_at.meets(changed));
    for columns in learnt.iter().filter(counts) {
        let value = |image: &Option<Image<'_>>, at: usize| {
            let (column, holds) = (columns.columns.get(at)?, columns.holds.get(at)?);
            image.as_ref()?.value(usize::from(*column)).map(|value| value_of(value, holds))
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for at in 0..columns.columns.len() {
            let (was, is) = (value(&row.before, at), value(&row.after, at));
            before.push(was);
            // What is not in the image behind a change is as it was.
            after.push(is.or(was));
        }
        let images = [row.before.is_some().then_some(before), row.after.is_some().then_some(after)];
        for values in images.into_iter().flatten() {
            let values: Option<Vec<_>> = values.into_iter().map(Option::flatten).collect();
            if let Some(hash) = hash_of_row(&columns.columns, values?) {
                held.insert(hash_of_changes(hash, columns.looked_at));
            }
        }
    }
    (held.len() <= held_max).then_some(held)
}

/// The columns in which a row is another than it was; none for one that was made or removed, which counts for those too who look at no column.
fn changed(row: &RowChange<'_>) -> Option<ColumnSet> {
    let (before, after) = (row.before.as_ref()?, row.after.as_ref()?);
    let mut before = before.values().peekable();
    // What is not in the image behind a change is as it was.
    let is_another = |(place, value): &(usize, Value<'_>)| {
        while before.next_if(|(earlier, _)| earlier < place).is_some() {}
        let was = before.next_if(|(column, _)| column == place);
        !was.is_some_and(|(_, was)| is_same(was, *value))
    };
    Some(after.values().filter(is_another).map(|(place, _)| place).collect())
}

/// Whether a server shows both alike; not where that is not certain.
fn is_same(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        // 0 and -0 are equal, and are not shown alike.
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
        // Only what is to be done to it.
        (Value::Partial(_), _) | (_, Value::Partial(_)) => false,
        _ => one == other,
    }
}

/// None for what is not understood.
fn value_of(value: Value<'_>, holds: &Holds) -> Option<ColumnValue> {
    match (value, holds) {
        (Value::Null, _) => Some(ColumnValue::Null),
        (Value::Integer { .. }, Holds::Integers { min, .. }) => {
            key_of(value, *min < 0).map(|RowKey(bits)| ColumnValue::of_integer(bits))
        }
        (Value::Bytes(bytes), Holds::Strings) => Some(ColumnValue::of_string(bytes)),
        (Value::Decimal { .. }, Holds::Decimals { scale }) => {
            ColumnValue::of_decimal(value.decimal_text()?.as_bytes(), *scale)
        }
        (Value::Date(_), Holds::Dates) => value.as_date().map(ColumnValue::of_date),
        (Value::DateTime { .. }, Holds::Moments) => {
            value.as_moment().map(|(date, time)| ColumnValue::of_moment(date, time))
        }
        (Value::Members(number), Holds::Members(members)) => ColumnValue::of_member(members, number),
        _ => None,
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

    #[test]
    fn values_are_the_same_where_they_are_shown_alike() {
        let of = |bytes| Value::Bytes(bytes);
        assert!(is_same(Value::Null, Value::Null) && is_same(of(b"a"), of(b"a")));
        assert!(is_same(Value::Double(f64::NAN), Value::Double(f64::NAN)));
        for (one, other) in [
            (Value::Null, of(b"")),
            (of(b"a"), of(b"A")),
            (Value::Double(0.0), Value::Double(-0.0)),
            (Value::Float(0.0), Value::Float(-0.0)),
            (Value::Partial(b"x"), Value::Partial(b"x")),
        ] {
            assert!(!is_same(one, other), "{one:?} {other:?}");
        }
    }
}
