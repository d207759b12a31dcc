//! One shard: an index, held under its share of the limit, and who goes when that is full.
//!
//! Among sixteen that a hand meets, the one goes for which the [`Rule`] in force says least; how often those that have left were used is remembered
//! for a while (see `ghosts`). What the hand meets that is over in any case goes before all. The memory of index and ghosts is charged against the
//! share, as entries are, and neither grows before there is room for it.
//!
//! Not synchronised, but that a use is noted under a shared lock: `cache` puts one around each. The same without answers, a small part of the keys in
//! each of three under one rule, are the [`trials`] that tell which rule is best.

mod choice;
mod ghosts;
mod heat;
mod index;
mod rule;
mod trials;

use smallvec::SmallVec;

pub(crate) use choice::Choice;
pub(crate) use heat::{Heat, Worth};
pub(crate) use index::Tag;
pub use rule::Rule;
pub(crate) use trials::Sample;

use ghosts::Ghosts;
use heat::{Moment, TURN, Uses};
use index::Index;
use rule::{Door, Ruling};

use crate::occupancy::Occupancy;

/// How many the hand meets for each that has to go.
const MET: usize = 16;
/// The hand asks of one in so many that it meets whether it is over: of each in as many turns.
const ASKED: usize = 4;

/// Time passes no faster than with so many entries.
const LEN_MIN: usize = 4;

/// What a shard holds.
pub(crate) trait Held {
    /// What it takes from the share, in bytes; it never changes.
    fn weight_bytes(&self) -> u64;

    /// The same without what it may share with others.
    fn own_bytes(&self) -> u64;

    /// By how much it weighs less than it would without being compressed.
    fn spared_bytes(&self) -> u64 {
        0
    }

    /// Whether both answer the same question.
    fn is_like(&self, other: &Self) -> bool;
}

/// Why an entry is of no use any more, whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Its time is over.
    Expired,
    /// A clock that it depends on has moved.
    Invalidated,
}

/// Why one that leaves does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// A later one has come in its place.
    Replaced,
    /// Its like of another weight has.
    Exchanged,
    /// It made room.
    Evicted,
    /// It made room, being over.
    Over(Over),
}

/// What became of one that was to be inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    /// Those that would have to go are used more.
    NotAdmitted,
    /// It fits nowhere.
    NoRoom,
}

/// One to be inserted.
pub(crate) struct Newcomer<V> {
    pub(crate) tag: Tag,
    pub(crate) value: V,
    /// What is known of it; else it is that of the one that it replaces.
    pub(crate) worth: Option<Worth>,
}

/// One on its way from a shard to another.
pub(crate) struct Moved<V> {
    pub(crate) tag: Tag,
    pub(crate) value: V,
    /// As of the first moment.
    heat: Heat,
}

/// What left, to be dropped after the lock: freeing memory takes long.
pub(crate) type Outgoing<V> = SmallVec<[(Tag, V, Left); 2]>;

pub(crate) struct Shard<V> {
    index: Index<V>,
    ghosts: Ghosts,
    share_bytes: u64,
    /// What all entries weigh. Invariant: with index and ghosts it is at most `share_bytes`.
    weight_bytes: u64,
    pub(crate) occupancy: Occupancy,
    compressed: Compressed,
    /// When something had to go last, if that is not long ago.
    pressed: Option<Moment>,
    /// Whom the last newcomer that was not let in would have pushed out.
    spared: Option<Tag>,
    /// Time, with 16 bits behind the point.
    clock: u32,
    /// The place that is looked at next.
    hand: usize,
    /// How often the hand has come around.
    laps: usize,
}

/// How many entries are compressed, and what that spares.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Compressed {
    pub(crate) entries: u64,
    pub(crate) spared_bytes: u64,
}

/// The places of those who have to go, and why they do.
type Leaving = SmallVec<[(usize, Left); MET]>;

/// Who was met.
#[derive(Default)]
struct Met {
    count: usize,
    /// Who is over.
    over: SmallVec<[(usize, Over); MET]>,
    /// For whom least is said, and how much that is.
    least: Option<(i32, usize)>,
}

impl<V: Held> Shard<V> {
    /// An empty shard that takes at most `share_bytes`.
    pub(crate) fn new(share_bytes: u64) -> Self {
        Self {
            index: Index::new(),
            ghosts: Ghosts::new(0),
            share_bytes,
            weight_bytes: 0,
            occupancy: Occupancy::new(),
            compressed: Compressed::default(),
            pressed: None,
            spared: None,
            clock: 0,
            hand: 0,
            laps: 0,
        }
    }

    /// The entry with that tag of which `is_it` says so, and its heat; it counts as used.
    #[inline]
    pub(crate) fn get(&self, tag: Tag, is_it: impl Fn(&V) -> bool) -> Option<(&V, Heat)> {
        self.index.use_one(tag, self.now(), is_it)
    }

    /// The same, and it does not count.
    pub(crate) fn peek(&self, tag: Tag, is_it: impl Fn(&V) -> bool) -> Option<&V> {
        let place = self.index.find(tag, is_it)?;
        self.index.at(place).map(|(_, value, _)| value)
    }

    /// The same, to be changed for one of its weight.
    pub(crate) fn peek_mut(&mut self, tag: Tag, is_it: impl Fn(&V) -> bool) -> Option<&mut V> {
        let place = self.index.find(tag, is_it)?;
        self.index.at_mut(place)
    }

    /// Where the use of the entry with that tag is noted of which `is_it` says so.
    #[cfg(test)]
    pub(crate) fn place_of(&self, tag: Tag, is_it: impl Fn(&V) -> bool) -> Option<usize> {
        self.index.find(tag, is_it).map(|place| self.index.address_of(place))
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Entries, index and ghosts; never above the share.
    pub(crate) fn bytes(&self) -> u64 {
        self.weight_bytes + self.index_bytes()
    }

    /// What index and ghosts take, in bytes.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index.bytes() + self.ghosts.bytes()
    }

    /// Keeps the newcomer in place of one like it, if there is or becomes room. Whom `over` names goes first, of those that are met.
    pub(crate) fn insert(
        &mut self,
        newcomer: Newcomer<V>,
        ruling: &Ruling,
        over: impl Fn(&V) -> Option<Over>,
    ) -> (Fate, Outgoing<V>) {
        let Newcomer { tag, value, mut worth } = newcomer;
        let mut outgoing = Outgoing::new();
        self.pass_time();
        let now = self.now();
        let mut uses = self.ghosts.take(tag.number(), now).unwrap_or(Uses::ONE);
        let place = self.index.find(tag, |stored| stored.is_like(&value));
        if let Some((tag, old, heat)) = place.and_then(|place| self.take_out(place)) {
            uses = heat.uses().and_one(heat.age(now));
            worth = worth.or(Some(heat.worth()));
            outgoing.push((tag, old, Left::Replaced));
        }
        ruling.note_newcomer(uses);
        let heat = Heat::new(now, uses, worth.unwrap_or_else(|| Worth::of(0, value.weight_bytes())));
        let fate = self.make_room(&value, heat, ruling, over, &mut outgoing);
        match fate {
            Fate::Kept => self.take_in(tag, value, heat),
            Fate::NotAdmitted => self.ghosts.note(tag.number(), heat, now),
            Fate::NoRoom => {}
        }
        (fate, outgoing)
    }

    /// Whether one with that tag is here, or was asked for not long ago.
    pub(crate) fn comes_again(&self, tag: Tag) -> bool {
        let is_remembered = || self.ghosts.uses(tag.number(), self.now()).is_some_and(Uses::is_again);
        self.index.find(tag, |_| true).is_some() || is_remembered()
    }

    /// Remembers that one was asked for that is not inserted.
    pub(crate) fn turn_away(&mut self, tag: Tag, ruling: &Ruling) {
        self.pass_time();
        let now = self.now();
        let uses = self.ghosts.take(tag.number(), now).unwrap_or(Uses::ONE);
        ruling.note_newcomer(uses);
        self.ghosts.note(tag.number(), Heat::new(now, uses, Worth::of(0, 1)), now);
    }

    /// Puts its like of another weight in the place of the entry with that tag of which `is_it` says so, if there is room or who would have to go
    /// for it is used less; else all stays as it was, but for who had to go in any case.
    pub(crate) fn exchange(
        &mut self,
        tag: Tag,
        value: V,
        is_it: impl Fn(&V) -> bool,
        ruling: &Ruling,
    ) -> Outgoing<V> {
        let mut outgoing = Outgoing::new();
        let place = self.index.find(tag, is_it);
        let Some((tag, old, heat)) = place.and_then(|place| self.take_out(place)) else { return outgoing };
        let worth = heat.worth().resized(old.weight_bytes(), value.weight_bytes());
        let new_heat = Heat::new(heat.last(), heat.uses(), worth);
        match self.make_room(&value, new_heat, ruling, |_| None, &mut outgoing) {
            Fate::Kept => {
                self.take_in(tag, value, new_heat);
                outgoing.push((tag, old, Left::Exchanged));
            }
            Fate::NotAdmitted | Fate::NoRoom => self.take_in(tag, old, heat),
        }
        outgoing
    }

    /// Whether something had to go lately: within the time in which as many come as there are.
    pub(crate) fn is_short(&self) -> bool {
        self.pressed.is_some()
    }

    /// Whether the entry with that tag of which `is_it` says so is in steady use.
    pub(crate) fn is_steady(&self, tag: Tag, is_it: impl Fn(&V) -> bool) -> bool {
        let found = self.index.find(tag, is_it).and_then(|place| self.index.at(place));
        found.is_some_and(|(_, _, heat)| heat.uses().is_steady())
    }

    /// Whom the last newcomer that was not let in would have pushed out, if it is one of which `is_wanted` says so; once.
    pub(crate) fn take_spared(&mut self, is_wanted: impl Fn(&V) -> bool) -> Option<(Tag, &V)> {
        let tag = self.spared.take()?;
        self.peek(tag, is_wanted).map(|value| (tag, value))
    }

    /// How many are compressed.
    pub(crate) fn compressed(&self) -> Compressed {
        self.compressed
    }

    /// Makes others go until there is room for `value`, also for its place in the index.
    fn make_room(
        &mut self,
        value: &V,
        heat: Heat,
        ruling: &Ruling,
        over: impl Fn(&V) -> Option<Over>,
        outgoing: &mut Outgoing<V>,
    ) -> Fate {
        let (weight_bytes, door) = (value.weight_bytes(), ruling.door());
        loop {
            let entries_bytes = self.weight_bytes.saturating_add(weight_bytes);
            let homes = self.homes_wanted(weight_bytes);
            let index_bytes = self.index_bytes();
            let wanted_bytes =
                if homes == self.index.homes() { index_bytes } else { Self::index_bytes_with(homes) };
            if entries_bytes.saturating_add(wanted_bytes) <= self.share_bytes {
                self.resize_index(homes);
                self.keep_one_old();
                return Fate::Kept;
            }
            if self.len() == 0 {
                return Fate::NoRoom;
            }
            self.pressed = Some(self.now());
            // For a larger index nobody goes: with one entry less the one that there is will do.
            let least_bytes = entries_bytes.saturating_add(index_bytes.min(wanted_bytes));
            let missing_bytes = least_bytes.saturating_sub(self.share_bytes).max(1);
            let (fate, mut leaving) = self.choose(missing_bytes, (heat, door), ruling, &over);
            leaving.sort_unstable_by_key(|(place, _)| *place);
            leaving.into_iter().rev().for_each(|(place, why)| self.evict(place, why, outgoing));
            if fate == Fate::NotAdmitted {
                return fate;
            }
        }
    }

    /// Who has to go for the newcomer, if it is let in: enough, or as many as the hand meets in one turn around. Who is over goes in any case.
    fn choose(
        &mut self,
        missing_bytes: u64,
        (newcomer, door): (Heat, Door),
        ruling: &Ruling,
        over: &impl Fn(&V) -> Option<Over>,
    ) -> (Fate, Leaving) {
        let (mut leaving, mut freed_bytes, mut left) = (Leaving::new(), 0, self.len());
        while freed_bytes < missing_bytes && left > 0 {
            let met = self.meet(left, ruling, over);
            left -= met.count;
            let least = met.least.filter(|_| met.over.is_empty());
            if let Some((_, place)) = least.filter(|(score, _)| !door.admits(newcomer, *score)) {
                self.spared = self.index.at(place).map(|(tag, _, _)| tag);
                leaving.retain(|(_, why)| *why != Left::Evicted);
                return (Fate::NotAdmitted, leaving);
            }
            let over = met.over.into_iter().map(|(place, why)| (place, Left::Over(why)));
            for (place, why) in over.chain(least.map(|(_, place)| (place, Left::Evicted))) {
                freed_bytes += self.index.at(place).map_or(0, |(_, value, _)| value.weight_bytes());
                leaving.push((place, why));
            }
        }
        (Fate::Kept, leaving)
    }

    /// Looks at the next ones that the hand meets, no more than `max`.
    fn meet(&mut self, max: usize, ruling: &Ruling, over: &impl Fn(&V) -> Option<Over>) -> Met {
        /// Who came within so many moments came lately.
        const LATELY: i32 = TURN / 32;
        let (now, rule, is_scanned) = (self.now(), ruling.rule(), ruling.is_scanned());
        let mut met = Met { count: MET.min(max), ..Met::default() };
        for _ in 0..met.count {
            let Some(place) = self.next_taken() else { break };
            let Some((_, value, heat)) = self.index.at(place) else { break };
            let is_asked = (place + self.laps).is_multiple_of(ASKED);
            if let Some(why) = Some(value).filter(|_| is_asked).and_then(over) {
                met.over.push((place, why));
                continue;
            }
            let (age, uses) = (heat.age(now), heat.uses());
            if age < LATELY && !is_scanned {
                ruling.note(uses);
            }
            let score = rule.score(heat, now);
            if met.least.is_none_or(|(least, _)| score < least) {
                met.least = Some((score, place));
            }
            self.index.set_heat(place, heat.kept_old(now));
        }
        met
    }

    /// Moves the hand behind the next place that is taken, and says which that is; none is in an empty shard.
    fn next_taken(&mut self) -> Option<usize> {
        while self.len() > 0 {
            if self.hand >= self.index.places() {
                self.hand = 0;
                self.laps += 1;
            }
            let place = self.hand;
            self.hand += 1;
            if self.index.at(place).is_some() {
                return Some(place);
            }
        }
        None
    }

    fn evict(&mut self, place: usize, why: Left, outgoing: &mut Outgoing<V>) {
        if let Some((tag, value, heat)) = self.take_out(place) {
            self.ghosts.note(tag.number(), heat, self.now());
            outgoing.push((tag, value, why));
        }
    }

    /// There must be room for it.
    fn take_in(&mut self, tag: Tag, value: V, heat: Heat) {
        self.weight_bytes += value.weight_bytes();
        self.occupancy.came(value.own_bytes());
        let spared_bytes = value.spared_bytes();
        self.compressed.entries += u64::from(spared_bytes > 0);
        self.compressed.spared_bytes += spared_bytes;
        self.index.insert(tag, value, heat);
    }

    fn take_out(&mut self, place: usize) -> Option<(Tag, V, Heat)> {
        let taken = self.index.remove(place)?;
        self.weight_bytes -= taken.1.weight_bytes();
        self.occupancy.went(taken.1.own_bytes());
        let spared_bytes = taken.1.spared_bytes();
        self.compressed.entries -= u64::from(spared_bytes > 0);
        self.compressed.spared_bytes -= spared_bytes;
        Some(taken)
    }

    /// Removes the entry with that tag of which `wanted` says so. How often it was used stays known.
    pub(crate) fn remove_if(&mut self, tag: Tag, wanted: impl Fn(&V) -> bool) -> Option<V> {
        let place = self.index.find(tag, wanted)?;
        let (tag, value, heat) = self.take_out(place)?;
        self.ghosts.note(tag.number(), heat, self.now());
        Some(value)
    }

    /// See [`Index::visit`].
    pub(crate) fn visit(&self, from: Tag, count: usize, visit: impl FnMut(Tag, &V)) -> (Option<Tag>, usize) {
        self.index.visit(from, count, visit)
    }

    /// Has at most `share_bytes` from now on, if need be without those of which least is said.
    pub(crate) fn set_share(&mut self, share_bytes: u64, ruling: &Ruling) -> Outgoing<V> {
        self.share_bytes = share_bytes;
        let mut outgoing = Outgoing::new();
        if self.bytes() <= share_bytes {
            return outgoing;
        }
        while self.len() > 0 && self.weight_bytes + Self::index_bytes_with(self.homes_fitted()) > share_bytes
        {
            match self.meet(self.len(), ruling, &|_| None).least {
                Some((_, place)) => self.evict(place, Left::Evicted, &mut outgoing),
                None => break,
            }
        }
        self.resize_index(if self.len() == 0 { 0 } else { self.homes_fitted() });
        outgoing
    }

    /// Takes all entries out; it has `share_bytes` from now on, and remembers none.
    pub(crate) fn take(&mut self, share_bytes: u64) -> Vec<Moved<V>> {
        let mut old = std::mem::replace(self, Self::new(share_bytes));
        let now = old.now();
        self.occupancy = old.occupancy.all_went();
        let moved =
            |(tag, value, heat): (Tag, V, Heat)| Moved { tag, value, heat: heat.moved(now, Moment::FIRST) };
        old.index.drain().map(moved).collect()
    }

    /// Puts in what came out of another one, as if it had been here always.
    pub(crate) fn put(&mut self, moved: Moved<V>, ruling: &Ruling) -> (Fate, Outgoing<V>) {
        let Moved { tag, value, heat } = moved;
        let heat = heat.moved(Moment::FIRST, self.now());
        let mut outgoing = Outgoing::new();
        let fate = self.make_room(&value, heat, ruling, |_| None, &mut outgoing);
        if fate == Fate::Kept {
            self.take_in(tag, value, heat);
        }
        (fate, outgoing)
    }

    /// How many homes there have to be for one entry more. Where there is no room, and most are free, fewer than there are.
    fn homes_wanted(&self, weight_bytes: u64) -> usize {
        let (homes, entries) = (self.index.homes(), self.len() + 1);
        let is_full = self.bytes().saturating_add(weight_bytes) > self.share_bytes;
        if is_full && entries * 5 < homes * 2 {
            fitted(entries)
        } else {
            Index::<V>::homes_for(homes, entries)
        }
    }

    /// What index and ghosts take with so many homes, in bytes.
    fn index_bytes_with(homes: usize) -> u64 {
        Index::<V>::bytes_of(homes) + Ghosts::bytes_of(homes)
    }

    fn homes_fitted(&self) -> usize {
        fitted(self.len()).min(self.index.homes())
    }

    fn resize_index(&mut self, homes: usize) {
        if homes != self.index.homes() {
            self.index.resize(homes);
            self.ghosts = Ghosts::new(homes);
        }
    }

    #[inline]
    fn now(&self) -> Moment {
        Moment((self.clock >> 16) as u16)
    }

    /// So much passes with each that comes that a turn has passed when as many have come as there are.
    fn pass_time(&mut self) {
        let entries = u32::try_from(self.len().max(LEN_MIN)).unwrap_or(u32::MAX);
        self.clock = self.clock.wrapping_add((TURN.unsigned_abs() << 16) / entries);
        let now = self.now();
        self.pressed = self.pressed.filter(|pressed| now.since(*pressed) < TURN);
    }

    /// Has one that was not used for very long be no older than can be told.
    fn keep_one_old(&mut self) {
        let Some(place) = self.next_taken() else { return };
        if let Some((_, _, heat)) = self.index.at(place) {
            self.index.set_heat(place, heat.kept_old(self.now()));
        }
    }
}

/// So many homes that so many entries take three of four.
fn fitted(entries: usize) -> usize {
    entries * 4 / 3 + 1
}

#[cfg(test)]
mod tests;
