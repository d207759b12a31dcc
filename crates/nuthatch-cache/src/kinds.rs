//! The kinds of stored answers, each kept once.
//!
//! A kind is found again by what it is, in one of a few tables, each behind a lock. What answers begin with is taken to be common when two in a row
//! had it: column names that differ with each statement leave nothing here. Kinds that no entry has any more go, a pass over a table for as many
//! new ones as there are. All of them together keep to a budget; past it a kind is its entry's own.
//!
//! A change of limits may leave more in use than the budget then is. They are [renounced](Kinds::renounce): none of them is found any more, and
//! an entry of one comes into no shard.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hashbrown::HashTable;
use parking_lot::Mutex;

use crate::fill::Fill;
use crate::key::hash_of;
use crate::kind::{HEAD_BYTES_MAX, Kind, Membership, Parts};
use crate::line::Line;
use crate::plan::Plan;

/// Enough that workers that fill seldom meet. A power of two.
const TABLES: usize = 16;
/// How many new kinds come at least between two passes over a table.
const PASS_AFTER_MIN: usize = 64;
/// What a table takes for each kind that it has, about.
const PLACE_BYTES: u64 = 24;

/// See the module's doc.
pub(crate) struct Kinds<T> {
    tables: Box<[Line<Mutex<Table<T>>>]>,
    /// What those in the tables weigh. Invariant: never more than the budget, but while that is lowered.
    bytes: Line<AtomicU64>,
    budget_bytes: AtomicU64,
    /// How often all were renounced.
    renounced: AtomicU32,
}

/// A kind that is shared.
struct Known<T> {
    kind: Kind<T>,
    /// The hash of the head that the latest answer of this kind had; of kinds without one.
    latest_head: u64,
}

struct Table<T> {
    kinds: HashTable<Known<T>>,
    /// New ones since the last pass.
    new: usize,
    /// How many there were behind it.
    left: usize,
}

impl<T: Plan> Kinds<T> {
    pub(crate) fn new(budget_bytes: u64) -> Self {
        let table = || Table { kinds: HashTable::new(), new: 0, left: 0 };
        Self {
            tables: (0..TABLES).map(|_| Line(Mutex::new(table()))).collect(),
            bytes: Line(AtomicU64::new(0)),
            budget_bytes: AtomicU64::new(budget_bytes),
            renounced: AtomicU32::new(0),
        }
    }

    /// The kind of an answer; nothing where a name in its key is longer than any server's.
    ///
    /// Cost: one or two look-ups, each under a lock that some fills share.
    pub(crate) fn of(&self, fill: &Fill<'_, T>) -> Option<Kind<T>> {
        let parts = Parts::of(fill, b"")?;
        let head = fill.head;
        let head_hash = (!head.is_empty() && head.len() <= HEAD_BYTES_MAX).then(|| hash_of(head));
        let Some((without, is_common)) = self.shared(&parts, head_hash) else {
            return Some(Kind::new(&parts, Membership::Own));
        };
        let with = if is_common { self.shared(&Parts::of(fill, head)?, None) } else { None };
        Some(with.map_or(without, |(with, _)| with))
    }

    /// The kind with these parts: the one that there is, or a new one, if there is room for it; and whether its latest answer had that head,
    /// which is taken note of.
    fn shared(&self, parts: &Parts<'_, T>, head_hash: Option<u64>) -> Option<(Kind<T>, bool)> {
        let hash = parts.hashed();
        let mut table = self.table(hash).lock();
        if let Some(there) = table.kinds.find_mut(hash, |known| known.kind.parts() == *parts) {
            let had = head_hash.is_some_and(|head| std::mem::replace(&mut there.latest_head, head) == head);
            return Some((there.kind.clone(), had));
        }
        table.new += 1;
        if table.new > table.left.max(PASS_AFTER_MIN) {
            self.pass_over(&mut table);
        }
        if !self.reserve(parts.weight_bytes() + PLACE_BYTES) {
            return None;
        }
        let kind = Kind::new(parts, Membership::Shared(self.renounced.load(Ordering::Acquire)));
        let known = Known { kind: kind.clone(), latest_head: head_hash.unwrap_or_default() };
        table.kinds.insert_unique(hash, known, hash_of_kind);
        Some((kind, false))
    }

    /// By the middle bits, as the table uses the low and the high ones.
    fn table(&self, hash: u64) -> &Mutex<Table<T>> {
        &self.tables[(hash >> 32) as usize % TABLES].0
    }

    /// Whether an entry of this kind may come into a shard whose lock is held.
    pub(crate) fn know(&self, kind: &Kind<T>) -> bool {
        match kind.membership() {
            Membership::Own => true,
            Membership::Shared(renounced) => renounced == self.renounced.load(Ordering::Acquire),
        }
    }

    /// How many are shared.
    pub(crate) fn len(&self) -> usize {
        self.tables.iter().map(|table| table.0.lock().kinds.len()).sum()
    }

    /// What those that are shared weigh.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.0.load(Ordering::Relaxed)
    }

    /// Puts another budget in force, and lets go of those that no entry has. Returns whether the others keep to it.
    pub(crate) fn keep_to(&self, budget_bytes: u64) -> bool {
        self.budget_bytes.store(budget_bytes, Ordering::Relaxed);
        self.let_go();
        self.bytes() <= budget_bytes
    }

    /// Lets go of those that no entry has.
    pub(crate) fn let_go(&self) {
        self.tables.iter().for_each(|table| self.pass_over(&mut table.0.lock()));
    }

    /// Forgets all that there are. Their entries must go, shard by shard, behind this call: none comes anew.
    pub(crate) fn renounce(&self) {
        let renounced = self.renounced.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        let is_new = |kind: &Kind<T>| kind.membership() == Membership::Shared(renounced);
        self.tables.iter().for_each(|table| self.keep(&mut table.0.lock(), is_new));
    }

    fn pass_over(&self, table: &mut Table<T>) {
        self.keep(table, |kind| !kind.is_unused());
    }

    /// Whoever might want one of those that go waits for the table's lock.
    fn keep(&self, table: &mut Table<T>, is_kept: impl Fn(&Kind<T>) -> bool) {
        let mut gone_bytes = 0;
        table.kinds.retain(|Known { kind, .. }| {
            let is_kept = is_kept(kind);
            gone_bytes += if is_kept { 0 } else { kind.weight_bytes() + PLACE_BYTES };
            is_kept
        });
        table.kinds.shrink_to_fit(hash_of_kind);
        self.bytes.0.fetch_sub(gone_bytes, Ordering::Relaxed);
        (table.new, table.left) = (0, table.kinds.len());
    }

    /// Takes so much of the budget, if there is as much.
    fn reserve(&self, bytes: u64) -> bool {
        let budget_bytes = self.budget_bytes.load(Ordering::Relaxed);
        let with = |held: u64| held.checked_add(bytes).filter(|all| *all <= budget_bytes);
        self.bytes.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).is_ok()
    }
}

fn hash_of_kind<T: Plan>(known: &Known<T>) -> u64 {
    known.kind.parts().hashed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Key, Protocol};

    fn fill<'a>(schema: &'a [u8], head: &'static [u8], plan: u64) -> Fill<'a, u64> {
        Fill::new(Key::new(b"app", schema, 0, Protocol::Text, b"SELECT 1"), head, b"row", plan)
    }

    fn of(kinds: &Kinds<u64>, schema: &[u8], head: &'static [u8], plan: u64) -> Kind<u64> {
        kinds.of(&fill(schema, head, plan)).expect("no name is long")
    }

    #[test]
    fn answers_of_a_kind_share_one_and_those_of_others_do_not() {
        let kinds = Kinds::new(1 << 20);
        let first = of(&kinds, b"shop", b"", 1);
        let _held = [of(&kinds, b"shop", b"", 1), of(&kinds, b"shop", b"", 2), of(&kinds, b"mail", b"", 1)];
        assert_eq!(kinds.len(), 3);
        assert!(!first.is_unused() && kinds.bytes() > 3 * 64);
        let key = Key::new(b"app", b"shop", 0, Protocol::Binary, b"SELECT 1");
        let others = [
            Fill { epoch: 1, ..fill(b"shop", b"", 1) },
            Fill { hostgroup: 1, ..fill(b"shop", b"", 1) },
            Fill { key, ..fill(b"shop", b"", 1) },
        ];
        let others: Vec<_> = others.iter().map(|fill| kinds.of(fill)).collect();
        assert_eq!(kinds.len(), 6, "{}", others.len());
    }

    #[test]
    fn head_is_shared_from_its_second_time_in_a_row() {
        let kinds = Kinds::new(1 << 20);
        let heads = |names: &[&'static [u8]]| -> Vec<bool> {
            names.iter().map(|head| !of(&kinds, b"shop", head, 1).head().is_empty()).collect()
        };
        assert_eq!(
            heads(&[b"a", b"a", b"a", b"b", b"a", b"a", b""]),
            [false, true, true, false, false, true, false]
        );
        static LONG: [u8; HEAD_BYTES_MAX + 1] = [7; HEAD_BYTES_MAX + 1];
        assert_eq!(heads(&[&LONG, &LONG, &LONG]), [false; 3]);
        kinds.let_go();
        assert_eq!((kinds.len(), kinds.bytes()), (0, 0));
    }

    #[test]
    fn kinds_past_the_budget_are_their_entries_own() {
        let kinds = Kinds::new(1 << 10);
        let held: Vec<_> = (0..1_000).map(|plan| of(&kinds, b"shop", b"", plan)).collect();
        let own = held.iter().filter(|kind| kind.membership() == Membership::Own).count();
        assert!(kinds.bytes() <= 1 << 10 && own + kinds.len() == 1_000 && own > 900, "{own}");
        assert!(held.iter().all(|kind| kinds.know(kind)));
        drop(held);
        (0..10_000).for_each(|plan| drop(of(&kinds, b"shop", b"", plan)));
        kinds.let_go();
        assert_ne!(of(&kinds, b"shop", b"", 1).membership(), Membership::Own, "there is room again");
    }

    #[test]
    fn renounced_kinds_are_known_no_more_and_found_no_more() {
        let kinds = Kinds::new(1 << 20);
        let old = of(&kinds, b"shop", b"", 1);
        assert!(!kinds.keep_to(1) && kinds.know(&old));
        kinds.renounce();
        assert_eq!((kinds.know(&old), kinds.len(), kinds.bytes()), (false, 0, 0));
        assert!(kinds.keep_to(1 << 20));
        let new = of(&kinds, b"shop", b"", 1);
        assert!(kinds.know(&new) && new.membership() == Membership::Shared(1));
    }
}
