//! Things by their folded names, found by name or by all the names that may stand in a trigger's body.

use std::collections::HashMap;

use nuthatch_sql::{fold, is_plain};

use crate::trigger_body::TriggerBody;

/// Things with a name each.
#[derive(Default)]
pub(crate) struct Named<T> {
    things: HashMap<Box<[u8]>, T>,
    /// Names that a body may show in another form than they have.
    odd_names: Vec<Box<[u8]>>,
}

impl<T> Named<T> {
    /// The thing of that name, in any case.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&T> {
        self.things.get(&fold(name))
    }

    /// The same, made if it is not there.
    pub(crate) fn find_or_make(&mut self, name: &[u8], make: impl FnOnce() -> T) -> &mut T {
        let folded = fold(name);
        if !self.things.contains_key(&folded) && !is_plain(&folded) {
            self.odd_names.push(folded.clone());
        }
        self.things.entry(folded).or_insert_with(make)
    }

    /// Whatever the body may name.
    pub(crate) fn named_in<'n>(&'n self, body: &'n TriggerBody) -> impl Iterator<Item = &'n T> {
        let odd_names = if body.may_name_odd() { self.odd_names.as_slice() } else { &[] };
        let names = body.words().filter(|word| is_plain(word)).chain(odd_names.iter().map(AsRef::as_ref));
        names.filter_map(|name| self.things.get(name))
    }
}
