//! Why a session keeps a backend connection beyond a statement.

use std::fmt;

/// Defines the reasons once: bit, name, whether the session must send everything there, whether it blocks the cache.
macro_rules! pins {
    ($($(#[$doc:meta])* $name:ident = $bit:literal, $text:literal, $sticky:literal, $blocks:literal;)*) => {
        impl Pins {
            $($(#[$doc])* pub(crate) const $name: Self = Self(1 << $bit);)*
            const TABLE: &'static [(Self, &'static str)] = &[$((Self::$name, $text),)*];
            /// Reasons for which every statement must go to this connection.
            const STICKY: Self = Self(0 $(| if $sticky { 1 << $bit } else { 0 })*);
            /// Reasons for which an answer may differ from what the cache holds.
            const BLOCKS_CACHE: Self = Self(0 $(| if $blocks { 1 << $bit } else { 0 })*);
        }
    };
}

/// A set of reasons.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Pins(u32);

pins! {
    /// A transaction is open; only where reasons are counted and shown: that is a fact of its own of a connection.
    TRANSACTION = 19, "transaction", false, false;
    /// The last statement left warnings or a row count that the next may ask for.
    DIAGNOSTICS = 1, "has_warnings", false, false;
    /// `SQL_CALC_FOUND_ROWS` left a count that the next statement may ask for.
    FOUND_ROWS = 2, "found_rows", false, false;
    /// A user variable was read or set.
    USER_VARIABLE = 3, "user_variable", true, true;
    /// A session variable was changed in a way that is not tracked.
    SESSION_VARIABLE = 4, "session_variable", true, true;
    /// Temporary tables exist.
    TEMPORARY_TABLE = 5, "temporary_table", true, true;
    /// Tables are locked.
    LOCK_TABLES = 6, "lock_tables", true, true;
    /// `GET_LOCK` holds a lock.
    GET_LOCK = 7, "get_lock", true, false;
    /// A text `PREPARE` made a statement.
    TEXT_PREPARE = 8, "text_prepared_statement", true, false;
    /// A `HANDLER` is open.
    HANDLER = 9, "handler", true, true;
    /// An XA transaction is open.
    XA = 10, "xa", true, true;
    /// Whatever the statement did to the session is not understood.
    UNKNOWN = 11, "unknown_statement", true, true;
    /// A rule says `multiplex=0`.
    RULE = 12, "no_multiplex", true, false;
    /// A replica or its like reads the binlog over it.
    REPLICATION = 0, "replication", true, true;
    /// A cursor is open.
    CURSOR = 13, "cursor", true, false;
    /// `SET TRANSACTION` without a scope: it holds for one transaction.
    NEXT_TRANSACTION = 14, "next_transaction", true, true;
    /// It is kept for a while because that is configured.
    DELAY = 15, "delay_multiplex", false, false;
    /// A savepoint without autocommit, where the server's flags tell of no transaction yet.
    SAVEPOINT = 16, "savepoint", true, false;
    /// Tables were used without autocommit, where the server's flags tell of no transaction: they stay locked against changes of their
    /// definitions.
    METADATA_LOCK = 23, "metadata_lock", true, false;
    /// Statements were profiled on it: SHOW PROFILES may ask for them.
    PROFILES = 21, "profiles", true, false;
    /// A stored function or a trigger has changed the session.
    STORED_CODE = 18, "stored_code", true, true;
    /// Stored code may have run of which nothing is known.
    UNSEEN_CODE = 20, "unseen_code", true, true;
    /// What sessions begin with was changed since it was opened, and the session may not set it back elsewhere.
    OLDER_DEFAULTS = 22, "older_defaults", true, false;
    /// Bytes pass over it as they are (`mysql_users.fast_forward`): nothing is known of what is on it.
    FAST_FORWARD = 24, "fast_forward", true, true;
    /// It is kept until the session ends because that is configured.
    MULTIPLEXING_OFF = 17, "multiplexing_off", false, false;
}

impl Pins {
    pub(crate) const NONE: Self = Self(0);

    /// What the last statement left, for the next one to ask for.
    pub(crate) const PASSING: Self = Self::DIAGNOSTICS.with(Self::FOUND_ROWS);

    /// It is kept because that is configured, whatever is on it.
    pub(crate) const CONFIGURED: Self = Self::DELAY.with(Self::MULTIPLEXING_OFF);

    /// How many reasons there are.
    pub(crate) const COUNT: usize = Self::TABLE.len();

    /// All reasons with their names.
    pub(crate) fn all() -> impl Iterator<Item = (Self, &'static str)> {
        Self::TABLE.iter().copied()
    }

    /// As a number.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// Of such a number.
    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether every statement of the session must go to this connection.
    pub(crate) const fn is_sticky(self) -> bool {
        self.0 & Self::STICKY.0 != 0
    }

    /// Those of them for which no statement must go there.
    pub(crate) const fn without_sticky(self) -> Self {
        Self(self.0 & !Self::STICKY.0)
    }

    /// Whether the session may not use the cache while the pin lasts.
    pub(crate) const fn blocks_cache(self) -> bool {
        self.0 & Self::BLOCKS_CACHE.0 != 0
    }

    /// Whether any of it is because that is configured.
    pub(crate) const fn are_configured(self) -> bool {
        self.0 & Self::CONFIGURED.0 != 0
    }

    /// Whether the connection cannot be given to another session without a reset.
    pub(crate) const fn leaves_state_behind(self) -> bool {
        !self.without(Self::PASSING).without(Self::CONFIGURED).is_empty()
    }
}

impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::TABLE.iter().filter(|(pin, _)| self.contains(*pin)).map(|(_, name)| *name);
        for (place, name) in names.enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pins({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_names_its_reasons() {
        let pins = Pins::DIAGNOSTICS.with(Pins::XA);
        assert_eq!(pins.to_string(), "has_warnings,xa");
        assert!(pins.is_sticky() && pins.without(Pins::XA) == Pins::DIAGNOSTICS);
        assert!(!Pins::DIAGNOSTICS.is_sticky() && !Pins::NONE.is_sticky());
    }

    #[test]
    fn what_is_kept_by_configuration_alone_has_no_state() {
        let configured = Pins::DELAY.with(Pins::MULTIPLEXING_OFF);
        assert!(!configured.is_sticky() && !configured.blocks_cache() && !configured.leaves_state_behind());
        assert!(configured.with(Pins::HANDLER).leaves_state_behind());
    }
}
