//! Who reads: sessions of some hundred statements each, as texts and prepared, in and out of transactions, in states of their own.

use crate::chance::answer_bytes;
use crate::client::{Prepared, Value};
use crate::random::Random;
use crate::scene::{Scene, Session};
use crate::schema::{ALTERED, GROUPS};

/// Of a session.
const STATEMENTS_MAX: usize = 400;

/// In how many sizes the answer about a key is asked for.
const VARIANTS: usize = 2;

/// So many names of a column, each of which makes another digest and another kind of answer: more than either has room for.
const NAMES: usize = 5000;

const BY_KEY: &str = "SELECT id, version, REPEAT('p', ?) FROM item WHERE id = ?";

/// Reads until the run is over.
pub(crate) fn read(scene: &Scene, random: Random) {
    scene.sessions(random, |session| Reader { session, by_key: None }.live());
}

#[derive(Debug)]
struct Reader<'scene> {
    session: Session<'scene>,
    /// Once it was prepared.
    by_key: Option<Prepared>,
}

impl Reader<'_> {
    fn live(mut self) {
        if self.session.random.below(8) == 0 {
            self.set_state();
        }
        for _ in 0..=self.session.random.below(STATEMENTS_MAX) {
            if !self.session.goes_on() {
                return;
            }
            self.read_something();
        }
        if self.session.random.below(2) == 0 && self.session.goes_on() {
            self.session.client.quit();
        }
    }

    fn read_something(&mut self) {
        match self.session.random.below(100) {
            0..35 => self.read_by_key(),
            35..55 => self.execute_by_key(),
            55..75 => self.read_told(),
            75..80 => self.read_group(),
            80..86 => self.read_altered(),
            86..92 => self.read_by_another_name(),
            92..97 => self.transact(),
            97..99 => self.use_temporary_table(),
            _ if self.session.random.below(4) == 0 => self.set_state(),
            _ => self.read_by_key(),
        }
    }

    fn key_and_bytes(&mut self) -> (usize, usize) {
        let key = self.session.key();
        (key, answer_bytes(key, self.session.random.below(VARIANTS)))
    }

    fn read_by_key(&mut self) {
        let (key, bytes) = self.key_and_bytes();
        let word = *self.session.random.pick(&["", "", "", "/* nuthatch: ttl=2000 */ ", "SQL_NO_CACHE "]);
        let word = if self.session.random.below(4) == 0 { word } else { "" };
        self.session
            .say(format!("SELECT {word}id, version, REPEAT('t', {bytes}) FROM item WHERE id = {key}"));
    }

    fn execute_by_key(&mut self) {
        let (key, bytes) = self.key_and_bytes();
        if self.by_key.is_none() {
            let told = self.session.client.prepare(BY_KEY);
            self.by_key = self.session.hear(BY_KEY, told);
        }
        if let Some(statement) = &self.by_key {
            let values = [bytes, key].map(|number| Value::Int(i64::try_from(number).expect("a few")));
            let told = self.session.client.execute(statement, &values);
            let _answer = self.session.hear(BY_KEY, told);
        }
        if self.session.random.below(50) == 0
            && let Some(statement) = self.by_key.take()
        {
            self.session.client.close(&statement);
        }
    }

    /// By the rule with a time.
    fn read_told(&mut self) {
        let key = self.session.key();
        self.session.say(format!("SELECT id, version FROM told WHERE id = {key}"));
    }

    fn read_group(&mut self) {
        let group = self.session.random.below(GROUPS);
        let from = *self.session.random.pick(&["item", "glance JOIN item USING (id, version)"]);
        self.session.say(format!("SELECT id, version FROM {from} WHERE grp = {group}"));
    }

    fn read_altered(&mut self) {
        let number = self.session.random.below(ALTERED);
        let what = *self.session.random.pick(&["*", "COUNT(*)", "extra"]);
        self.session.say(format!("SELECT {what} FROM altered_{number}"));
    }

    fn read_by_another_name(&mut self) {
        let (key, name) = (self.session.key(), self.session.random.below(NAMES));
        self.session.say(format!("SELECT version AS named_{name} FROM item WHERE id = {key}"));
    }

    fn transact(&mut self) {
        self.session.say("BEGIN");
        self.read_by_key();
        let key = self.session.key();
        self.session.say(format!("UPDATE item SET version = version + 1 WHERE id = {key}"));
        self.read_by_key();
        let end = *self.session.random.pick(&["COMMIT", "COMMIT", "ROLLBACK"]);
        self.session.say(end);
    }

    fn use_temporary_table(&mut self) {
        let key = self.session.key();
        self.session.say(format!("CREATE TEMPORARY TABLE own AS SELECT * FROM item WHERE id = {key}"));
        self.session.say("SELECT id, version FROM own");
        self.read_by_key();
        self.session.say("DROP TEMPORARY TABLE own");
    }

    /// One of some hundred states.
    fn set_state(&mut self) {
        let random = &mut self.session.random;
        let sql = match random.below(4) {
            0 => format!("SET time_zone = '+{:02}:{}'", random.below(13), random.pick(&["00", "30"])),
            1 => format!("SET sql_mode = '{}'", random.pick(&["", "ANSI", "STRICT_ALL_TABLES"])),
            2 => format!("SET NAMES {}", random.pick(&["latin1", "utf8mb4"])),
            _ => format!("SET @own = {}", random.below(1000)),
        };
        self.session.say(sql);
    }
}
