//! Values of variables that a session has set, as they can be set again on another connection.

use std::collections::BTreeMap;
use std::sync::Arc;

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

    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().flat_map(|values| values.iter()).map(|(name, value)| (&**name, &**value))
    }
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
}
