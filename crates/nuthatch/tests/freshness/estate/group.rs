//! The rows of one group in `item`, `pair` and `badge`.

use std::collections::BTreeMap;

use crate::question::{Kind, Question};
use crate::random::Random;
use crate::register::{Contents, Owner, Register, ids_of};

use super::{Estate, Write};

/// See the module's doc. Maps are from id to version.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    group: i64,
    items: BTreeMap<i64, i64>,
    pairs: BTreeMap<i64, i64>,
    badges: Vec<Badge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Badge {
    id: i64,
    code: i64,
    version: i64,
}

impl Group {
    /// As the schema is made, every version 1.
    pub(crate) fn new(group: i64) -> Self {
        let rows = || ids_of(group).map(|id| (id, 1)).collect();
        let badges = ids_of(group).map(|id| Badge { id, code: id, version: 1 }).collect();
        Self { group, items: rows(), pairs: rows(), badges }
    }

    fn id(&self, random: &mut Random) -> i64 {
        *random.pick(&ids_of(self.group).collect::<Vec<_>>())
    }

    /// An id without an item.
    fn absent_item(&self) -> Option<i64> {
        ids_of(self.group).find(|id| !self.items.contains_key(id))
    }

    fn update_items(&mut self, ids: impl IntoIterator<Item = i64>, stamp: i64) {
        for id in ids {
            self.items.entry(id).and_modify(|version| *version = stamp);
        }
    }

    fn update(&mut self, id: i64, stamp: i64) -> Write {
        self.update_items([id], stamp);
        Write::new("update", "UPDATE item SET version = ? WHERE id = ?", [stamp, id])
    }

    fn update_list(&mut self, id: i64, stamp: i64) -> Write {
        let other = *ids_of(self.group).start();
        self.update_items([id, other], stamp);
        Write::new("update of a list", "UPDATE item SET version = ? WHERE id IN (?, ?)", [stamp, id, other])
    }

    fn update_range(&mut self, id: i64, stamp: i64) -> Write {
        let last = *ids_of(self.group).end();
        self.update_items(id..=last, stamp);
        Write::new(
            "update of a range",
            "UPDATE item SET version = ? WHERE id BETWEEN ? AND ?",
            [stamp, id, last],
        )
    }

    fn update_group(&mut self, stamp: i64) -> Write {
        self.update_items(ids_of(self.group), stamp);
        Write::new("update by another key", "UPDATE item SET version = ? WHERE grp = ?", [stamp, self.group])
    }

    fn delete(&mut self, id: i64) -> Write {
        self.items.remove(&id);
        Write::new("delete", "DELETE FROM item WHERE id = ?", [id])
    }

    fn insert(&mut self, stamp: i64) -> Option<Write> {
        let id = self.absent_item()?;
        self.items.insert(id, stamp);
        let Some(other) = self.absent_item() else {
            let sql = "INSERT INTO item (id, grp, version) VALUES (?, ?, ?)";
            return Some(Write::new("insert", sql, [id, self.group, stamp]));
        };
        self.items.insert(other, stamp);
        let sql = "INSERT INTO item (id, grp, version) VALUES (?, ?, ?), (?, ?, ?)";
        let arguments = [id, self.group, stamp, other, self.group, stamp];
        Some(Write::new("insert of several rows", sql, arguments))
    }

    fn upsert(&mut self, id: i64, stamp: i64) -> Write {
        self.items.insert(id, stamp);
        let sql = "INSERT INTO item (id, grp, version) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE version = ?";
        Write::new("upsert", sql, [id, self.group, stamp, stamp])
    }

    fn replace(&mut self, id: i64, stamp: i64) -> Write {
        self.items.insert(id, stamp);
        Write::new(
            "replace",
            "REPLACE INTO item (id, grp, version) VALUES (?, ?, ?)",
            [id, self.group, stamp],
        )
    }

    fn update_pair(&mut self, id: i64, stamp: i64) -> Write {
        self.pairs.insert(id, stamp);
        Write::new("update", "UPDATE pair SET version = ? WHERE id = ?", [stamp, id])
    }

    fn update_two_tables(&mut self, id: i64, stamp: i64) -> Write {
        if let Some(badge) = self.badges.iter_mut().find(|badge| badge.id == id) {
            badge.version = stamp;
            self.pairs.insert(id, stamp);
        }
        let sql = "UPDATE pair JOIN badge ON badge.id = pair.id SET pair.version = ?, badge.version = ? \
                   WHERE pair.id = ?";
        Write::new("update of two tables", sql, [stamp, stamp, id])
    }

    fn delete_from_two_tables(&mut self, id: i64) -> Write {
        if self.items.contains_key(&id) && self.badges.iter().any(|badge| badge.id == id) {
            self.items.remove(&id);
            self.badges.retain(|badge| badge.id != id);
        }
        let sql = "DELETE item, badge FROM item JOIN badge ON badge.id = item.id WHERE item.id = ?";
        Write::new("delete from two tables", sql, [id])
    }

    /// Names an id that is free, and hits the row that has the code.
    fn upsert_by_code(&mut self, random: &mut Random, stamp: i64) -> Option<Write> {
        let id = ids_of(self.group).find(|id| self.badges.iter().all(|badge| badge.id != *id))?;
        let place = random.below(self.badges.len().max(1));
        let badge = self.badges.get_mut(place)?;
        badge.version = stamp;
        let sql =
            "INSERT INTO badge (id, code, version) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE version = ?";
        Some(Write::new("upsert by another key", sql, [id, badge.code, stamp, stamp]))
    }

    /// Removes up to two rows: that of the id, and that of the code.
    fn replace_by_code(&mut self, random: &mut Random, stamp: i64) -> Write {
        let (id, code) = (self.id(random), self.id(random));
        self.badges.retain(|badge| badge.id != id && badge.code != code);
        self.badges.push(Badge { id, code, version: stamp });
        let sql = "REPLACE INTO badge (id, code, version) VALUES (?, ?, ?)";
        Write::new("replace by another key", sql, [id, code, stamp])
    }
}

impl Estate for Group {
    fn owner(&self) -> Owner {
        Owner::of_group(self.group)
    }

    fn contents(&self) -> Contents {
        let mut contents = Contents::new();
        contents.extend(self.items.iter().map(|(&id, &version)| (Register::Item(id), Some(version))));
        contents.extend(self.pairs.iter().map(|(&id, &version)| (Register::Pair(id), Some(version))));
        for badge in &self.badges {
            contents.insert(Register::Badge(badge.id), Some(badge.version));
            contents.insert(Register::Code(badge.code), Some(badge.version));
        }
        let sum = (!self.items.is_empty()).then(|| self.items.values().sum());
        contents.insert(Register::ItemSum(self.group), sum);
        contents.insert(Register::ItemCount(self.group), i64::try_from(self.items.len()).ok());
        contents
    }

    fn write(&mut self, random: &mut Random, stamp: i64) -> Write {
        let id = self.id(random);
        // Few take a whole table's answers with them: else nothing would be cached for long, and so never be stale.
        match random.below(1000) {
            0..540 => self.update(id, stamp),
            540..610 => self.update_list(id, stamp),
            610..680 => self.delete(id),
            680..784 => self.insert(stamp).unwrap_or_else(|| self.update(id, stamp)),
            784..788 => self.update_range(id, stamp),
            788..790 => self.update_group(stamp),
            790..794 => self.upsert(id, stamp),
            794..798 => self.replace(id, stamp),
            798..800 => self.delete_from_two_tables(id),
            800..930 => self.update_pair(id, stamp),
            930..950 => self.update_two_tables(id, stamp),
            950..975 => {
                self.upsert_by_code(random, stamp).unwrap_or_else(|| self.replace_by_code(random, stamp))
            }
            _ => self.replace_by_code(random, stamp),
        }
    }

    fn roll_back(&mut self, before: Self) {
        *self = before;
    }

    fn question(&self, random: &mut Random) -> Question {
        let kind = *random.pick(&Kind::OF_GROUPS);
        Question::of_group(kind, self.group, random)
    }
}
