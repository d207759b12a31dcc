//! What a write's footprint is for all statements of one [shape](crate::shape()): the tables, and which literals and parameters are the
//! keys.
//!
//! Why it is the one that [`write_footprint`](super::write_footprint) finds: that reads tokens, and of a statement with a shape each
//! literal is one token, a number or a string, whatever its value. It looks at the value in two places only. A number behind a dot
//! is a name: such a statement has no template. As a value of a key ([`take_value`](super::key::take_value)) a literal decides two things:
//! whether it is one (how it is written, in the column's range, not 0), and which. So a template is made where all values that were
//! looked at are keys, and holds where they all are again, each the same literal or parameter. The minus before a number is kept in the
//! shape. Parameters are looked at nowhere else.
//!
//! Cost: a comparison with the shape, and the digits of the keys.

use super::names::Scope;
use super::value::{Looked, Looks, Place, Range, Spelling};
use super::write::written;
use super::{Parameter, RowKeys, TableWrite, TableWrites, WriteFootprint, WrittenRows};
use crate::catalogue::{Catalogue, RowKey};
use crate::outline::Outline;
use crate::statement::Class;
use crate::token::Lexing;

/// Of longer statements none is made.
const TEXT_BYTES_MAX: usize = 2048;

/// The footprint of all statements of one shape, by one catalogue. See the module's doc.
#[derive(Clone, Debug)]
pub struct WriteTemplate {
    class: Class,
    lexing: Lexing,
    schema: Box<[u8]>,
    outline: Outline,
    /// What is written, but for the keys.
    tables: TableWrites,
    /// Which of them is written by keys.
    keyed: Option<usize>,
    /// The literals that are looked at, in their order, by their numbers among all of them.
    literals: Literals,
    /// The parameters that are.
    markers: Markers,
}

/// What a value has to be.
#[derive(Clone, Copy, Debug)]
struct Slot {
    range: Range,
    use_of_it: Use,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It is one of the keys that are written.
    Key,
    /// It is none; but were it no key, others might be.
    Looked,
}

impl WriteTemplate {
    /// Made of the footprint of `text`, if others of its shape have one like it. What is given is what
    /// [`write_footprint`](super::write_footprint) is given.
    #[must_use]
    pub fn of(
        text: &[u8],
        class: Class,
        lexing: Lexing,
        schema: &[u8],
        catalogue: &Catalogue,
        parameters: &[Parameter],
    ) -> Option<Self> {
        (class.kind.writes_rows() && text.len() <= TEXT_BYTES_MAX).then_some(())?;
        let outline = Outline::of(text, lexing).filter(|outline| !outline.may_name_by_digits())?;
        let looks = Looks::default();
        let scope = Scope::new(schema, catalogue, parameters).noting(&looks);
        let WriteFootprint::Tables(mut tables) = written(text, class, lexing, &scope) else { return None };
        let looks = once_each(looks.into_inner())?;
        let (keyed, keys) = take_keys(&mut tables)?;
        let (literals, markers) = slots(&looks, &keys, &outline, text)?;
        Some(Self { class, lexing, schema: schema.into(), outline, tables, keyed, literals, markers })
    }

    /// What [`write_footprint`](super::write_footprint) finds of `text` by the same catalogue; none if it has to be asked.
    #[must_use]
    pub fn footprint(
        &self,
        text: &[u8],
        class: Class,
        lexing: Lexing,
        schema: &[u8],
        parameters: &[Parameter],
    ) -> Option<WriteFootprint> {
        (class == self.class && lexing == self.lexing && schema == &*self.schema).then_some(())?;
        let mut keys = RowKeys::new();
        self.take_literals(text, &mut keys)?;
        for (number, slot) in &self.markers {
            let value = slot.range.parameter(parameters, *number)?;
            slot.take(value.key()?, &mut keys);
        }
        if keys.len() > 1 {
            keys.sort_unstable();
            keys.dedup();
        }
        Some(WriteFootprint::Tables(self.tables_with(keys)))
    }

    fn tables_with(&self, keys: RowKeys) -> TableWrites {
        let rows = WrittenRows::Keys(keys);
        if let ([write], Some(_)) = (&*self.tables, self.keyed) {
            return TableWrites::from_buf([TableWrite { rows, ..*write }]);
        }
        let mut tables = self.tables.clone();
        if let Some(write) = self.keyed.and_then(|keyed| tables.get_mut(keyed)) {
            write.rows = rows;
        }
        tables
    }

    fn take_literals(&self, text: &[u8], keys: &mut RowKeys) -> Option<()> {
        let (mut slots, mut number) = (self.literals.iter(), 0);
        let mut next = slots.next();
        self.outline.read(text, |_, _, literal| {
            if let Some((_, spelling, slot)) = next.filter(|(at, ..)| *at == number) {
                slot.take(slot.range.literal(literal, *spelling)?.key()?, keys);
                next = slots.next();
            }
            number += 1;
            Some(())
        })
    }
}

impl Slot {
    fn take(self, key: RowKey, keys: &mut RowKeys) {
        if self.use_of_it == Use::Key {
            keys.push(key);
        }
    }
}

/// Leaves tables without their keys: which one has any, and those; none if several have.
fn take_keys(tables: &mut TableWrites) -> Option<(Option<usize>, RowKeys)> {
    let mut of_one = (None, RowKeys::new());
    for (at, write) in tables.iter_mut().enumerate() {
        if let WrittenRows::Keys(keys) = &mut write.rows {
            of_one.0.is_none().then_some(())?;
            of_one = (Some(at), std::mem::take(keys));
        }
    }
    Some(of_one)
}

/// Each place once, with its key; none if one has no key, or two have the same, for then it is not known whose it is.
fn once_each(looks: Vec<Looked>) -> Option<Vec<(Looked, RowKey)>> {
    let mut once: Vec<(Looked, RowKey)> = Vec::new();
    for looked in looks {
        let key = looked.value?.key()?;
        let is_same =
            |(other, _): &(Looked, RowKey)| other.place == looked.place && other.range == looked.range;
        if once.iter().any(is_same) {
            continue;
        }
        if once.iter().any(|(other, of_other)| other.place == looked.place || *of_other == key) {
            return None;
        }
        once.push((looked, key));
    }
    Some(once)
}

type Literals = Box<[(usize, Spelling, Slot)]>;
type Markers = Box<[(usize, Slot)]>;

/// Those of the literals and those of the parameters; none if something was looked at that is no literal of the shape, or written that
/// was not looked at.
fn slots(
    looks: &[(Looked, RowKey)],
    keys: &[RowKey],
    outline: &Outline,
    text: &[u8],
) -> Option<(Literals, Markers)> {
    let slot = |(looked, key): &(Looked, RowKey)| Slot {
        range: looked.range,
        use_of_it: if keys.contains(key) { Use::Key } else { Use::Looked },
    };
    let (mut literals, mut markers, mut number) = (Vec::new(), Vec::new(), 0);
    outline.read(text, |kind, start, _| {
        for found in looks {
            if let Place::Literal(at, spelling) = found.0.place
                && (at, spelling.literal()) == (start, kind)
            {
                literals.push((number, spelling, slot(found)));
            }
        }
        number += 1;
        Some(())
    })?;
    for found in looks {
        if let Place::Marker(number) = found.0.place {
            markers.push((number, slot(found)));
        }
    }
    let are_all_found = literals.len() + markers.len() == looks.len();
    let slots = literals.iter().map(|(.., slot)| slot).chain(markers.iter().map(|(_, slot)| slot));
    let found = slots.filter(|slot| slot.use_of_it == Use::Key).count();
    (are_all_found && found == keys.len()).then(|| (literals.into(), markers.into()))
}
