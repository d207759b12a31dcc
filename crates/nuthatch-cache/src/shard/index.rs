//! The places of a shard: one array in the order of tags, each as near behind its home as those before it allow.
//!
//! A tag's home is its part of the array: a larger tag's is never before a smaller one's. So a search ends at the first larger tag, a place can be
//! told by its tag while others come and go, and an array of another size is filled in one pass. Places are 16 bytes; at most seven of eight homes
//! are taken, and a search passes four of them on average then.

use std::sync::atomic::{AtomicU32, Ordering};

use super::heat::{Heat, Moment};
use crate::weight::allocated_bytes;

/// A tag that no entry has: that of free places.
const FREE: u32 = u32::MAX;
/// The fewest homes of an array that is not empty.
const HOMES_MIN: usize = 16;
/// Places behind the last home. Where what belongs at the end needs more, homes are moved together.
const TAIL: usize = 16;

/// Where an entry belongs: 32 bits of its key's hash. Different keys may have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag(u32);

#[derive(Debug)]
struct Cell<V> {
    value: Option<V>,
    tag: u32,
    heat: AtomicU32,
}

/// Invariants: tags ascend from cell to cell where those are taken; each stands at its home or behind it with no free cell between; a free cell has
/// the tag of none; the last cell is free.
#[derive(Debug)]
pub(crate) struct Index<V> {
    cells: Box<[Cell<V>]>,
    homes: usize,
    len: usize,
}

impl Tag {
    /// That of a key with this hash.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
    pub(crate) fn of(hash: u64) -> Self {
        Self(((hash >> 32) as u32 ^ hash as u32).min(FREE - 1))
    }

    #[inline]
    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl<V> Index<V> {
    /// Without any place: it takes no memory.
    pub(crate) fn new() -> Self {
        Self { cells: Box::default(), homes: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn homes(&self) -> usize {
        self.homes
    }

    /// How many places there are, taken or not.
    pub(crate) fn places(&self) -> usize {
        self.cells.len()
    }

    /// How many homes there have to be for so many entries, where there are so many now.
    pub(crate) fn homes_for(homes: usize, entries: usize) -> usize {
        if entries * 8 <= homes * 7 { homes } else { (homes + homes / 4).max(entries * 4 / 3).max(HOMES_MIN) }
    }

    /// What an array for so many homes takes in memory, in bytes.
    pub(crate) fn bytes_of(homes: usize) -> u64 {
        if homes == 0 { 0 } else { allocated_bytes(((homes + TAIL) * size_of::<Cell<V>>()) as u64) }
    }

    /// What it takes in memory, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        Self::bytes_of(self.cells.len().saturating_sub(TAIL))
    }

    /// The entry with that tag of which `is_it` says so, which is used now. Cost: a store where that changes anything.
    #[inline]
    pub(crate) fn use_one(&self, tag: Tag, now: Moment, is_it: impl Fn(&V) -> bool) -> Option<(&V, Heat)> {
        let (_, cell, value) = self.search(tag, is_it)?;
        let heat = Heat(cell.heat.load(Ordering::Relaxed));
        let used = heat.used(now);
        if used != heat {
            cell.heat.store(used.0, Ordering::Relaxed);
        }
        Some((value, heat))
    }

    /// The place of the entry with that tag of which `is_it` says so.
    #[inline]
    pub(crate) fn find(&self, tag: Tag, is_it: impl Fn(&V) -> bool) -> Option<usize> {
        self.search(tag, is_it).map(|(place, _, _)| place)
    }

    #[inline]
    fn search(&self, tag: Tag, is_it: impl Fn(&V) -> bool) -> Option<(usize, &Cell<V>, &V)> {
        let home = self.home(tag.0);
        for (behind, cell) in self.cells.get(home..)?.iter().enumerate() {
            if cell.tag < tag.0 {
                continue;
            }
            if cell.tag != tag.0 {
                return None;
            }
            if let Some(value) = cell.value.as_ref().filter(|value| is_it(value)) {
                return Some((home + behind, cell, value));
            }
        }
        None
    }

    #[inline]
    pub(crate) fn at(&self, place: usize) -> Option<(Tag, &V, Heat)> {
        let cell = self.cells.get(place)?;
        let value = cell.value.as_ref()?;
        Some((Tag(cell.tag), value, Heat(cell.heat.load(Ordering::Relaxed))))
    }

    /// Where the word stands that is written when the place is used.
    #[cfg(test)]
    pub(crate) fn address_of(&self, place: usize) -> usize {
        std::ptr::from_ref(&self.cells[place].heat).addr()
    }

    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut V> {
        self.cells.get_mut(place)?.value.as_mut()
    }

    pub(crate) fn set_heat(&mut self, place: usize, heat: Heat) {
        if let Some(cell) = self.cells.get_mut(place) {
            *cell.heat.get_mut() = heat.0;
        }
    }

    /// Puts it behind those with that tag. There must be a home more than entries.
    pub(crate) fn insert(&mut self, tag: Tag, value: V, heat: Heat) {
        let mut place = self.home(tag.0);
        while self.cells[place].value.is_some() && self.cells[place].tag <= tag.0 {
            place += 1;
        }
        let mut free = place;
        while self.cells[free].value.is_some() {
            free += 1;
        }
        if free + 1 == self.cells.len() {
            self.lay_out(self.homes.saturating_sub(TAIL), self.cells.len());
            return self.insert(tag, value, heat);
        }
        self.cells[free] = Cell { value: Some(value), tag: tag.0, heat: AtomicU32::new(heat.0) };
        self.cells[place..=free].rotate_right(1);
        self.len += 1;
    }

    /// Takes out what stands there.
    pub(crate) fn remove(&mut self, place: usize) -> Option<(Tag, V, Heat)> {
        let cell = self.cells.get_mut(place)?;
        let value = cell.value.take()?;
        let (tag, heat) = (Tag(cell.tag), Heat(*cell.heat.get_mut()));
        let mut end = place + 1;
        while self.cells[end].value.is_some() && self.home(self.cells[end].tag) < end {
            end += 1;
        }
        self.cells[place..end].rotate_left(1);
        self.cells[end - 1] = Cell::free();
        self.len -= 1;
        Some((tag, value, heat))
    }

    /// Gives it room for so many homes; for as many as there are entries and one more, if that is less. Without any it takes no memory.
    pub(crate) fn resize(&mut self, homes: usize) {
        if homes == 0 && self.len == 0 {
            *self = Self::new();
            return;
        }
        let homes = homes.max(self.len + 1);
        self.lay_out(homes, homes + TAIL);
    }

    /// Moves all to an array of so many places, with at most so many homes. One entry more fits.
    fn lay_out(&mut self, homes: usize, places: usize) {
        let old = std::mem::replace(self, Self { homes: homes.max(1), len: self.len, cells: Box::default() });
        while self.homes > 1 && self.end_of(&old) + 2 > places {
            self.homes = self.homes.saturating_sub(TAIL).max(1);
        }
        let mut cells: Vec<Cell<V>> = Vec::with_capacity(places);
        for cell in old.cells.into_iter().filter(|cell| cell.value.is_some()) {
            let home = self.home(cell.tag);
            while cells.len() < home {
                cells.push(Cell::free());
            }
            cells.push(cell);
        }
        cells.resize_with(places, Cell::free);
        self.cells = cells.into();
    }

    /// Behind which place the entries of another would end here.
    fn end_of(&self, other: &Self) -> usize {
        let taken = other.cells.iter().filter(|cell| cell.value.is_some());
        taken.fold(0, |end, cell| end.max(self.home(cell.tag)) + 1)
    }

    /// Takes all entries out, in the order of their tags; no memory stays.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (Tag, V, Heat)> {
        let old = std::mem::replace(self, Self::new());
        old.cells.into_iter().filter_map(|cell| {
            let Cell { value, tag, heat } = cell;
            value.map(|value| (Tag(tag), value, Heat(heat.into_inner())))
        })
    }

    /// Calls `visit` on `count` entries from that tag on; those that share the last one's tag are among them too. Returns the tag to go on from, and
    /// how many there were.
    pub(crate) fn visit(
        &self,
        from: Tag,
        count: usize,
        mut visit: impl FnMut(Tag, &V),
    ) -> (Option<Tag>, usize) {
        let (mut visited, mut last) = (0, None);
        for cell in &self.cells[self.home(from.0).min(self.cells.len())..] {
            let Some(value) = cell.value.as_ref().filter(|_| cell.tag >= from.0) else { continue };
            if visited >= count && last != Some(cell.tag) {
                return (Some(Tag(cell.tag)), visited);
            }
            visit(Tag(cell.tag), value);
            last = Some(cell.tag);
            visited += 1;
        }
        (None, visited)
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.homes as u64) >> 32) as usize
    }
}

impl<V> Cell<V> {
    fn free() -> Self {
        Self { value: None, tag: FREE, heat: AtomicU32::new(0) }
    }
}

impl Tag {
    /// That before all others.
    pub(crate) const FIRST: Self = Self(0);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::heat::{Uses, Worth};
    use super::*;

    fn heat(value: u32) -> Heat {
        Heat::new(Moment((value & 0xFFFF) as u16), Uses::ONE, Worth::of(0, 1))
    }

    impl Index<u32> {
        /// Panics if an invariant does not hold.
        fn check(&self) {
            let mut last = 0;
            for (place, cell) in self.cells.iter().enumerate() {
                if cell.value.is_some() {
                    assert!(last <= cell.tag);
                    last = cell.tag;
                    let home = self.home(cell.tag);
                    assert!(home <= place && self.cells[home..place].iter().all(|cell| cell.value.is_some()));
                } else {
                    assert_eq!(cell.tag, FREE);
                }
            }
            assert!(self.cells.last().is_none_or(|cell| cell.value.is_none()));
            assert_eq!(self.len, self.cells.iter().filter(|cell| cell.value.is_some()).count());
        }
    }

    /// Tags that crowd at the ends and in one place.
    fn tag() -> impl Strategy<Value = Tag> {
        prop_oneof![
            (0..40u32).prop_map(Tag),
            (0..40u32).prop_map(|back| Tag(FREE - 1 - back)),
            (0..8u32).prop_map(|near| Tag((1 << 30) + near * 1000)),
            (0..FREE).prop_map(Tag),
        ]
    }

    proptest! {
        #[test]
        fn index_is_a_sorted_map_of_several_for_a_tag(steps in prop::collection::vec((tag(), 0..8u8), 1..400)) {
            let mut index = Index::new();
            let mut model: BTreeMap<(Tag, u32), ()> = BTreeMap::new();
            for (number, (tag, step)) in steps.into_iter().enumerate() {
                let number = u32::try_from(number).unwrap();
                let known = model.keys().find(|(known, _)| *known == tag).copied();
                match step {
                    0..5 => {
                        let homes = Index::<u32>::homes_for(index.homes(), index.len() + 1);
                        if homes != index.homes() {
                            index.resize(homes);
                        }
                        index.insert(tag, number, heat(number));
                        model.insert((tag, number), ());
                    }
                    5..7 => if let Some((tag, value)) = known {
                        let place = index.find(tag, |stored| *stored == value).unwrap();
                        prop_assert_eq!(index.remove(place), Some((tag, value, heat(value))));
                        model.remove(&(tag, value));
                    },
                    _ => index.resize(index.len() + 1 + number as usize % 50),
                }
                index.check();
                prop_assert_eq!(index.find(tag, |_| false), None);
            }
            for (tag, value) in model.keys() {
                let place = index.find(*tag, |stored| stored == value).unwrap();
                prop_assert_eq!(index.at(place), Some((*tag, value, heat(*value))));
            }
            let (mut visited, mut from) = (Vec::new(), Some(Tag::FIRST));
            while let Some(tag) = from {
                (from, _) = index.visit(tag, 3, |tag, value| visited.push((tag, *value)));
            }
            prop_assert_eq!(visited, model.into_keys().collect::<Vec<_>>());
        }
    }

    #[test]
    fn place_is_16_bytes() {
        assert_eq!(size_of::<Cell<crate::Entry<u64>>>(), 16);
    }
}
