//! The handlers that are open on a connection.

use std::collections::HashSet;

use nuthatch_sql::Handler;

use crate::stats::pins::Pins;

/// More names than these are not remembered: the pin stays then.
const NAMES_MAX: usize = 64;

/// Those that may be open.
///
/// Invariant: whatever is open has its name here, or `is_uncertain`. Servers fold the case of names and this does not, so that
/// a name may stay here for too long, and never goes too early.
#[derive(Debug, Default)]
pub(crate) struct Handlers {
    names: HashSet<Vec<u8>>,
    /// There may be others.
    is_uncertain: bool,
}

impl Handlers {
    /// A statement that pins so has run, and nobody looked at what it opened.
    pub(crate) fn doubt(&mut self, pins: Pins) {
        self.is_uncertain |= pins.contains(Pins::HANDLER);
    }

    pub(crate) fn learn(&mut self, handler: Handler) {
        match handler {
            // Other letters mean something else under another character set.
            Handler::Opened(name) if name.is_ascii() && self.names.len() < NAMES_MAX => {
                self.names.insert(name);
            }
            Handler::Opened(_) => self.is_uncertain = true,
            Handler::Closed(name) => {
                self.names.remove(&name);
            }
        }
    }

    pub(crate) fn are_closed(&self) -> bool {
        self.names.is_empty() && !self.is_uncertain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_closed_after(steps: &[(bool, &[u8])]) -> bool {
        let mut handlers = Handlers::default();
        for (opens, name) in steps {
            let name = name.to_vec();
            handlers.learn(if *opens { Handler::Opened(name) } else { Handler::Closed(name) });
        }
        handlers.are_closed()
    }

    #[test]
    fn all_are_closed_only_when_each_name_was() {
        let (open, close) = (true, false);
        assert!(are_closed_after(&[]));
        assert!(are_closed_after(&[(open, b"a"), (open, b"b"), (close, b"a"), (close, b"b")]));
        assert!(!are_closed_after(&[(open, b"a"), (open, b"b"), (close, b"b")]));
        assert!(!are_closed_after(&[(open, b"a"), (close, b"A")]), "they may be the same, or not");
        // The first was closed by the server, or the second would have been refused.
        assert!(are_closed_after(&[(open, b"a"), (open, b"a"), (close, b"a")]));
        assert!(!are_closed_after(&[(open, b"\xE9"), (close, b"\xE9")]));
    }

    #[test]
    fn too_many_names_are_not_counted() {
        let mut handlers = Handlers::default();
        let name = |number: usize| number.to_string().into_bytes();
        (0..=NAMES_MAX).for_each(|number| handlers.learn(Handler::Opened(name(number))));
        (0..=NAMES_MAX).for_each(|number| handlers.learn(Handler::Closed(name(number))));
        assert!(!handlers.are_closed());
    }
}
