//! Values of variables that a session has set, as they can be set again on another connection.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Variables of the connection's character sets, besides the one that statements come in. A SET NAMES sets them all.
pub(crate) const OF_NAMES: [&[u8]; 3] =
    [COLLATION_CONNECTION, CHARACTER_SET_CONNECTION, CHARACTER_SET_RESULTS];

/// These two set each other: the later one counts.
pub(crate) const COLLATION_CONNECTION: &[u8] = b"collation_connection";
pub(crate) const CHARACTER_SET_CONNECTION: &[u8] = b"character_set_connection";
pub(crate) const CHARACTER_SET_RESULTS: &[u8] = b"character_set_results";

/// Each SET of the first turns the second on or off.
const MAX_JOIN_SIZE: &[u8] = b"max_join_size";
const SQL_BIG_SELECTS: &[u8] = b"sql_big_selects";

/// Values by the variables' names, each as SQL writes it. What is not in it has the server's own value; a user variable has
/// none. Cheap to clone, and to compare with a clone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Settings(Option<Arc<Values>>);

type Values = BTreeMap<Box<[u8]>, Box<[u8]>>;

impl Settings {
    /// Whether both have the same variables with the same values.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) || one == two,
            _ => false,
        }
    }

    pub(crate) fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.as_ref()?.get(name).map(|value| &**value)
    }

    /// Gives a variable a value, or takes it away.
    pub(crate) fn set(&mut self, name: &[u8], value: Option<&[u8]>) {
        let values = Arc::make_mut(self.0.get_or_insert_default());
        match value {
            Some(value) => drop(values.insert(name.into(), value.into())),
            None => drop(values.remove(name)),
        }
        if values.is_empty() {
            self.0 = None;
        }
    }

    /// Whether `other` has variables that this has not.
    pub(crate) fn lacks_some_of(&self, other: &Self) -> bool {
        other.iter().any(|(name, _)| self.get(name).is_none())
    }

    /// Whether a value is a string.
    pub(crate) fn has_strings(&self) -> bool {
        self.iter().any(|(_, value)| value.iter().any(|byte| matches!(byte, b'\'' | b'"')))
    }

    /// What must be set to come from `there` to here: each variable with its value, or without one.
    pub(crate) fn differences<'a>(&'a self, there: &'a Self) -> Vec<(&'a [u8], Option<&'a [u8]>)> {
        let changed = self.iter().filter(|(name, value)| there.get(name) != Some(value));
        let gone = there.iter().filter(|(name, _)| self.get(name).is_none());
        changed.map(|(name, value)| (name, Some(value))).chain(gone.map(|(name, _)| (name, None))).collect()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.iter().map(|(name, _)| name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().flat_map(|values| values.iter()).map(|(name, value)| (&**name, &**value))
    }
}

impl Settings {
    /// Whether both agree in what a SET NAMES sets.
    pub(crate) fn agrees_in_names(&self, other: &Self) -> bool {
        OF_NAMES.iter().all(|name| self.get(name) == other.get(name))
    }

    pub(crate) fn has_names(&self) -> bool {
        OF_NAMES.iter().any(|name| self.get(name).is_some())
    }

    /// After a SET NAMES.
    pub(crate) fn forget_names(&mut self) {
        for name in OF_NAMES {
            if self.get(name).is_some() {
                self.set(name, None);
            }
        }
    }

    pub(crate) fn learn(&mut self, name: &[u8], value: Option<&[u8]>) {
        self.forget_overwritten(name);
        self.set(name, value);
    }

    /// A SET of the variable has written over another.
    pub(crate) fn forget_overwritten(&mut self, name: &[u8]) {
        let other = match name {
            COLLATION_CONNECTION => CHARACTER_SET_CONNECTION,
            CHARACTER_SET_CONNECTION => COLLATION_CONNECTION,
            MAX_JOIN_SIZE => SQL_BIG_SELECTS,
            _ => return,
        };
        if self.get(other).is_some() {
            self.set(other, None);
        }
    }

    /// What must be set to come from `there` to here, in an order in which nothing is written over.
    pub(crate) fn ordered_differences<'a>(&'a self, there: &'a Self) -> Vec<(&'a [u8], Option<&'a [u8]>)> {
        let mut differences = self.differences(there);
        let all = differences.len();
        differences.retain(|(name, _)| ![MAX_JOIN_SIZE, SQL_BIG_SELECTS].contains(name));
        if differences.len() < all {
            // The first turns the second on or off: so it has, if the session has set no more than the first.
            let [size, big_selects] = [MAX_JOIN_SIZE, SQL_BIG_SELECTS].map(|name| self.get(name));
            differences.push((MAX_JOIN_SIZE, size));
            if size.is_none() || big_selects.is_some() {
                differences.push((SQL_BIG_SELECTS, big_selects));
            }
        }
        differences
    }
}

/// A value that a server told, as SQL writes it; `None` for one that is read in several ways.
pub(crate) fn literal_of(told: &[u8]) -> Option<Box<[u8]>> {
    let digits = told.strip_prefix(b"-").unwrap_or(told);
    let (whole, part) = digits.split_at(digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len()));
    let is_run = |run: &[u8]| !run.is_empty() && run.iter().all(u8::is_ascii_digit);
    // MariaDB takes no decimal in quotes.
    if is_run(whole) && (part.is_empty() || is_run(part.get(1..).unwrap_or_default())) {
        return Some(told.into());
    }
    let is_plain = is_plain(told) && !told.contains(&b'\'');
    is_plain.then(|| [b"'", told, b"'"].concat().into())
}

/// Whether it is read alike under every SQL mode and character set.
pub(crate) fn is_plain(value: &[u8]) -> bool {
    value.is_ascii() && !value.iter().any(|byte| matches!(byte, b'\\' | b'"' | 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::default();
        values.iter().for_each(|(name, value)| settings.set(name.as_bytes(), Some(value.as_bytes())));
        settings
    }

    #[test]
    fn differences_lead_from_one_to_the_other() {
        let sets = [
            settings(&[]),
            settings(&[("a", "1")]),
            settings(&[("a", "2"), ("b", "'x'")]),
            settings(&[("b", "'y'"), ("c", "ON")]),
        ];
        for from in &sets {
            for to in &sets {
                let mut reached = from.clone();
                for (name, value) in to.differences(from) {
                    reached.set(name, value);
                }
                assert!(reached.is_same(to), "{from:?} to {to:?}");
                assert_eq!(to.differences(from).is_empty(), to.is_same(from));
            }
        }
    }

    #[test]
    fn what_a_server_tells_is_written_as_it_takes_it() {
        for (told, expected) in [
            ("10", Some("10")),
            ("-1", Some("-1")),
            ("10.000000", Some("10.000000")),
            ("ANSI_QUOTES", Some("'ANSI_QUOTES'")),
            ("", Some("''")),
            ("1.2.3", Some("'1.2.3'")),
            ("10.", Some("'10.'")),
            ("-", Some("'-'")),
            ("it's", None),
            ("a\\b", None),
        ] {
            assert_eq!(literal_of(told.as_bytes()).as_deref(), expected.map(str::as_bytes), "{told}");
        }
    }
}
