//! The rows of `arrival`, whose keys the server gives.
//!
//! Nobody else writes to the table, so the keys are known beforehand; a rollback does not give them back. But a replica that takes the
//! primary's place has not heard of keys that were rolled back: where that may happen, the next insert behind a rollback names its key.

use std::collections::BTreeMap;

use crate::question::{Kind, Question};
use crate::random::Random;
use crate::register::{Contents, Owner, Register};
use crate::run::Primary;

use super::{Estate, Write};

/// Rows that stay when the oldest are deleted.
const KEPT: i64 = 40;

#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    next_id: i64,
    /// Versions by id.
    rows: BTreeMap<i64, i64>,
    primary: Primary,
    /// Whether every server that may take the writes gives that key next.
    is_next_id_sure: bool,
}

impl Arrivals {
    /// An empty table.
    pub(crate) const fn new(primary: Primary) -> Self {
        Self { next_id: 1, rows: BTreeMap::new(), primary, is_next_id_sure: true }
    }

    fn arrive(&mut self, stamp: i64) -> i64 {
        let id = self.next_id;
        self.rows.insert(id, stamp);
        self.next_id += 1;
        id
    }

    fn insert(&mut self, stamp: i64) -> Write {
        let id = self.arrive(stamp);
        if !self.is_next_id_sure {
            self.is_next_id_sure = true;
            let sql = "INSERT INTO arrival (id, version) VALUES (?, ?)";
            return Write::new("insert with a key of its own", sql, [id, stamp]);
        }
        let write =
            Write::new("insert with the server's key", "INSERT INTO arrival (version) VALUES (?)", [stamp]);
        Write { insert_id: Some(id), ..write }
    }

    fn insert_several(&mut self, stamp: i64) -> Write {
        if !self.is_next_id_sure {
            return self.insert(stamp);
        }
        let [id, _, _] = [stamp; 3].map(|stamp| self.arrive(stamp));
        let sql = "INSERT INTO arrival (version) VALUES (?), (?), (?)";
        let write = Write::new("insert with the server's keys", sql, [stamp; 3]);
        Write { insert_id: Some(id), ..write }
    }

    fn update(&mut self, id: i64, stamp: i64) -> Write {
        self.rows.entry(id).and_modify(|version| *version = stamp);
        Write::new("update", "UPDATE arrival SET version = ? WHERE id = ?", [stamp, id])
    }

    fn delete(&mut self, id: i64) -> Write {
        self.rows.remove(&id);
        Write::new("delete", "DELETE FROM arrival WHERE id = ?", [id])
    }

    fn delete_old(&mut self) -> Write {
        let end = self.next_id - KEPT;
        self.rows.retain(|id, _| *id >= end);
        Write::new("delete of a range", "DELETE FROM arrival WHERE id < ?", [end])
    }
}

impl Estate for Arrivals {
    fn owner(&self) -> Owner {
        Owner::ARRIVALS
    }

    fn contents(&self) -> Contents {
        self.rows.iter().map(|(&id, &version)| (Register::Arrival(id), Some(version))).collect()
    }

    fn write(&mut self, random: &mut Random, stamp: i64) -> Write {
        let recent = self.next_id - 1 - i64::try_from(random.below(6)).expect("a small number");
        match random.below(20) {
            0..11 => self.insert(stamp),
            11..14 => self.insert_several(stamp),
            14..17 => self.update(recent, stamp),
            17..19 => self.delete(recent),
            _ => self.delete_old(),
        }
    }

    fn roll_back(&mut self, before: Self) {
        self.rows = before.rows;
        self.is_next_id_sure = self.primary == Primary::Stays;
    }

    fn question(&self, random: &mut Random) -> Question {
        Question::about_arrivals(*random.pick(&[Kind::Absent, Kind::Tail]), self.next_id, random)
    }
}
