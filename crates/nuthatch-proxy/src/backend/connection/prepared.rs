//! The statements that are prepared on one connection, whoever had them prepared.
//!
//! A server keeps with a statement the schema and the character set that it was prepared under, so they are part of what
//! tells statements apart. The least recently used is closed when there are too many.

use std::sync::Arc;

use crate::state::{Charset, Settings};

/// What tells statements of one connection apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatementKey {
    pub(crate) text: Arc<[u8]>,
    /// Default schema when it was prepared.
    pub(crate) schema: Arc<[u8]>,
    /// Character sets when it was prepared.
    pub(crate) charset: Charset,
    /// Session variables when it was prepared: SQL mode says how it is read.
    pub(crate) settings: Settings,
    /// Session and number of a statement with a cursor, which nobody else may execute meanwhile.
    pub(crate) owner: Option<(u32, u32)>,
    /// Session and number of a statement that was prepared under state of which not all is known: it has no twin.
    pub(crate) hidden: Option<(u32, u32)>,
    /// Types that its parameters have been bound with; none before its first execution, and where the server does not keep
    /// them. MySQL converts every later value to the types of the first execution; MariaDB mistakes long data behind numbers.
    pub(crate) bound: Arc<[u8]>,
}

impl StatementKey {
    /// Whether it is that statement of that session, and of nobody else.
    fn is_of(&self, owner: (u32, u32)) -> bool {
        self.owner == Some(owner) || self.hidden == Some(owner)
    }

    /// Whether it can be prepared again for whoever needs it.
    const fn is_shared(&self) -> bool {
        self.owner.is_none() && self.hidden.is_none()
    }
}

/// See the module's doc. The most recently used comes last.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements(Vec<(StatementKey, u32)>);

impl PreparedStatements {
    /// The server's number of the statement, which counts as used now.
    pub(crate) fn find(&mut self, key: &StatementKey) -> Option<u32> {
        let place = self.0.iter().rposition(|(known, _)| known == key)?;
        let behind = self.0.get_mut(place..)?;
        // Nearly always it was used last, too.
        if behind.len() > 1 {
            behind.rotate_left(1);
        }
        self.0.last().map(|(_, number)| *number)
    }

    /// The same of one that has been bound with these types, or else with none so far: it is of these types from now on.
    pub(crate) fn find_to_bind(&mut self, key: &StatementKey) -> Option<u32> {
        if let Some(number) = self.find(key) {
            return Some(number);
        }
        let unbound = StatementKey { bound: Arc::default(), ..key.clone() };
        let number = self.remove(&unbound)?;
        self.0.push((key.clone(), number));
        Some(number)
    }

    /// Remembers a statement; returns the number that must be closed because it was prepared before.
    pub(crate) fn add(&mut self, key: StatementKey, number: u32) -> Option<u32> {
        let before = self.remove(&key);
        self.0.push((key, number));
        before
    }

    /// Forgets a statement and returns its number.
    pub(crate) fn remove(&mut self, key: &StatementKey) -> Option<u32> {
        let place = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(place).1)
    }

    /// The server's number of the statement that is of this session, under this number, and of nobody else.
    pub(crate) fn number_of(&self, owner: (u32, u32)) -> Option<u32> {
        self.0.iter().find(|(key, _)| key.is_of(owner)).map(|(_, number)| *number)
    }

    /// Forgets the statement with a cursor of this session and number.
    pub(crate) fn remove_owned(&mut self, owner: (u32, u32)) {
        self.0.retain(|(key, _)| !key.is_of(owner));
    }

    /// Forgets those used longest ago until no more than `count` are left, and returns their numbers. One with a cursor
    /// stays.
    pub(crate) fn shrink_to(&mut self, count: usize) -> Vec<u32> {
        let mut surplus = self.0.len().saturating_sub(count);
        let mut closed = Vec::new();
        self.0.retain(|(key, number)| {
            let goes = surplus > 0 && key.is_shared();
            if goes {
                surplus -= 1;
                closed.push(*number);
            }
            !goes
        });
        closed
    }
}

/// The statements that are prepared on one connection by text, under their names. The most recently used comes last.
#[derive(Debug, Default)]
pub(crate) struct NamedStatements(Vec<(Arc<[u8]>, StatementKey)>);

impl NamedStatements {
    /// Whether the name stands for that statement, which counts as used now.
    pub(crate) fn has(&mut self, name: &[u8], key: &StatementKey) -> bool {
        let Some(place) = self.0.iter().rposition(|(known, _)| **known == *name) else { return false };
        let found = self.0.remove(place);
        let is_same = found.1 == *key;
        self.0.push(found);
        is_same
    }

    /// Whether the name stands for anything.
    pub(crate) fn knows(&self, name: &[u8]) -> bool {
        self.0.iter().any(|(known, _)| **known == *name)
    }

    /// The name stands for that statement now.
    pub(crate) fn add(&mut self, name: Arc<[u8]>, key: StatementKey) {
        self.remove(&name);
        self.0.push((name, key));
    }

    /// The name stands for nothing any more.
    pub(crate) fn remove(&mut self, name: &[u8]) {
        self.0.retain(|(known, _)| **known != *name);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing is known of names any more.
    pub(crate) fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Forgets the names used longest ago until no more than `count` are left, and returns them.
    pub(crate) fn shrink_to(&mut self, count: usize) -> Vec<Arc<[u8]>> {
        let surplus = self.0.len().saturating_sub(count);
        self.0.drain(..surplus).map(|(name, _)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str, owner: Option<(u32, u32)>) -> StatementKey {
        StatementKey {
            text: text.as_bytes().into(),
            schema: b"s".as_slice().into(),
            charset: Charset::Collation(45),
            settings: Settings::default(),
            owner,
            hidden: None,
            bound: Arc::default(),
        }
    }

    #[test]
    fn least_recently_used_goes_first_and_cursors_stay() {
        let mut prepared = PreparedStatements::default();
        prepared.add(key("a", Some((1, 1))), 1);
        for (number, text) in (2..).zip(["b", "c", "d"]) {
            assert_eq!(prepared.add(key(text, None), number), None);
        }
        assert_eq!(prepared.find(&key("b", None)), Some(2));
        assert_eq!(prepared.shrink_to(2), [3, 4]);
        assert_eq!(prepared.find(&key("c", None)), None);
        assert_eq!(
            (prepared.find(&key("b", None)), prepared.find(&key("a", Some((1, 1))))),
            (Some(2), Some(1))
        );
        assert_eq!(prepared.find(&key("a", None)), None, "a cursor's statement is its owner's");
    }

    #[test]
    fn statement_is_bound_once_and_of_those_types_then() {
        let mut prepared = PreparedStatements::default();
        let of = |bound: &[u8]| StatementKey { bound: bound.into(), ..key("a", None) };
        prepared.add(of(&[]), 1);
        assert_eq!(prepared.find_to_bind(&of(&[8, 0])), Some(1));
        assert_eq!(prepared.find_to_bind(&of(&[253, 0])), None);
        prepared.add(of(&[253, 0]), 2);
        assert_eq!((prepared.find_to_bind(&of(&[8, 0])), prepared.find(&of(&[253, 0]))), (Some(1), Some(2)));
    }

    #[test]
    fn statement_prepared_again_takes_the_place_of_the_old_one() {
        let mut prepared = PreparedStatements::default();
        prepared.add(key("a", None), 1);
        assert_eq!(prepared.add(key("a", None), 2), Some(1));
        assert_eq!(prepared.find(&key("a", None)), Some(2));
        assert_eq!(prepared.remove(&key("a", None)), Some(2));
        assert_eq!(prepared.find(&key("a", None)), None);
    }
}
