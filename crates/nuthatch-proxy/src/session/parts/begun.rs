//! What a session began with.

use std::sync::Arc;

use crate::backend::{Connection, Defaults, Era, Inheritance};
use crate::state::Settings;

/// See the module's doc.
#[derive(Debug, Clone)]
pub(crate) struct Begun {
    /// When the session began.
    era: Arc<Era>,
    /// What tells it from others in the cache's key.
    inheritance: Option<Inheritance>,
    /// What it began with, and the connection; of these two sets the difference has been taken.
    between: Option<[Arc<Defaults>; 2]>,
    /// What the state's settings have besides the session's own.
    lent: Settings,
    /// By what it began with, `"x"` is a name; where that is known.
    ansi_quotes: Option<bool>,
    /// By what it began with, as far as is known, its transactions see what the cache must not answer with.
    has_odd_isolation: bool,
}

impl Begun {
    pub(crate) fn in_era(era: Arc<Era>) -> Self {
        Self {
            era,
            inheritance: None,
            between: None,
            lent: Settings::default(),
            ansi_quotes: None,
            has_odd_isolation: false,
        }
    }

    /// When the session began.
    pub(crate) const fn era(&self) -> &Arc<Era> {
        &self.era
    }

    /// What tells it from others in the cache's key.
    pub(crate) const fn inheritance(&self) -> Option<&Inheritance> {
        self.inheritance.as_ref()
    }

    pub(crate) fn set_inheritance(&mut self, inheritance: Option<Inheritance>) {
        self.inheritance = inheritance;
    }

    /// What it began with, and the connection; of these two sets the difference has been taken.
    pub(crate) const fn between(&self) -> Option<&[Arc<Defaults>; 2]> {
        self.between.as_ref()
    }

    pub(crate) fn set_between(&mut self, between: Option<[Arc<Defaults>; 2]>) {
        self.between = between;
    }

    /// What the state's settings have besides the session's own.
    pub(crate) const fn lent(&self) -> &Settings {
        &self.lent
    }

    /// By what it began with, `"x"` is a name; where that is known.
    pub(crate) const fn ansi_quotes(&self) -> Option<bool> {
        self.ansi_quotes
    }

    /// By what it began with, as far as is known, its transactions see what the cache must not answer with.
    pub(crate) const fn has_odd_isolation(&self) -> bool {
        self.has_odd_isolation
    }

    /// The settings without those that are not the session's own.
    pub(crate) fn own(&self, settings: &Settings) -> Settings {
        let mut own = settings.clone();
        self.lent.names().for_each(|name| own.set(name, None));
        own
    }

    /// The session sets a variable itself.
    pub(crate) fn let_go_of(&mut self, name: &[u8]) {
        if self.lent.get(name).is_some() {
            self.lent.set(name, None);
        }
    }

    pub(crate) fn learn(&mut self, defaults: &Defaults) {
        self.ansi_quotes = Some(defaults.has_mode(b"ANSI_QUOTES"));
        let isolation = defaults.value(b"transaction_isolation").or_else(|| defaults.value(b"tx_isolation"));
        self.has_odd_isolation =
            isolation.is_some_and(|isolation| matches!(isolation, b"READ-UNCOMMITTED" | b"SERIALIZABLE"));
    }

    /// Has the state's settings be the session's own and these.
    pub(crate) fn lend(&mut self, settings: &mut Settings, wanted: &Settings) {
        let mut all = self.own(settings);
        let mut lent = Settings::default();
        for (name, value) in wanted.iter().filter(|(name, _)| all.get(name).is_none()).collect::<Vec<_>>() {
            all.set(name, Some(value));
            lent.set(name, Some(value));
        }
        (*settings, self.lent) = (all, lent);
    }

    /// Whether the connection and the session began with the same, and so would they now.
    pub(crate) fn is_of_now_as(&self, connection: &Connection) -> bool {
        let defaults = &connection.server().defaults;
        !defaults.is_later_than(&connection.era) && !defaults.is_later_than(&self.era)
    }
}

#[cfg(test)]
mod tests;
