//! The servers' session variables: one key for each, and what it takes to carry its value to another connection.
//!
//! Every variable stands in one place only: in `plain` if setting it again with the same literal gives the same behaviour on
//! any connection, whatever else is set; else in `special`, with the reason. A variable in neither is unknown and pins: it
//! may be a plugin's, or newer than this list. The lists are compared with real servers by the end-to-end test
//! `session::assignments`.

mod plain;
mod special;

use std::borrow::Cow;

use plain::PLAIN;
use special::{ALIASES, Family, SPECIAL};

use crate::token::ServerFlavor;

/// No identifier of a server is longer.
const NAME_BYTES_MAX: usize = 64;

/// A system variable by its one name: lower case, and of several names of one variable always the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemVariable(Cow<'static, str>);

/// What it takes to have a variable's value on another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// The last SET, again.
    Value,
    /// The last SET, again, if its value is one of these (lower case); else the session must keep its connection.
    Only(&'static [&'static str]),
    /// Each SET since the last to DEFAULT, again and in order: a value changes the parts that it names and no others.
    Parts,
    /// The last SET of each variable of the group, again, in the order in which they came: they write over each other.
    Ordered(Group),
    /// As `Value`, and the session's statements are cut by it: see [`Lexing`](crate::Lexing).
    SqlMode,
    /// The session has it as a part of its state that is older than this list: autocommit.
    Autocommit,
    /// The session knows the last insert id by itself.
    InsertId,
    /// How long the server lets the session be idle. Behind a proxy that is the proxy's to do: a server's connection
    /// must not end because the session that had it last was impatient.
    Idle,
    /// The session must keep its connection.
    Pins,
    /// No server lets a session set it.
    ReadOnly,
}

/// Variables that write over each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// In which character sets and collation the session talks; SET NAMES and SET CHARACTER SET belong to it.
    CharacterSet,
    /// What a new schema gets.
    ServerCharacterSet,
    /// How large a SELECT may be.
    SelectSize,
    /// Which statements go to the log of slow ones.
    SlowLog,
    /// What Galera waits for.
    Galera,
}

impl SystemVariable {
    /// The variable that `server` knows as `name` (any case, without quotes); none if that cannot be a name of one.
    #[must_use]
    pub fn named(name: &[u8], server: ServerFlavor) -> Option<Self> {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.iter().all(is_of_name) {
            return None;
        }
        let lower = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
        let alias = ALIASES.iter().find(|alias| alias.name == lower && alias.family.includes(server));
        let lower = alias.map_or(lower, |alias| alias.of.to_owned());
        let known = plain(&lower).or_else(|| special(&lower).map(|row| row.name));
        Some(Self(known.map_or_else(|| Cow::Owned(lower), Cow::Borrowed)))
    }

    pub(crate) const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Its one name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The name under which `server` has it.
    #[must_use]
    pub fn name_on(&self, server: ServerFlavor) -> &str {
        // Both were renamed in MySQL 5.7.20 and in MariaDB 11.1.1.
        let is_older = match server {
            ServerFlavor::MySql(version) => version < 50_720,
            ServerFlavor::MariaDb(version) => version < 110_101,
        };
        match self.name() {
            "transaction_isolation" if is_older => "tx_isolation",
            "transaction_read_only" if is_older => "tx_read_only",
            name => name,
        }
    }

    /// What it takes to carry its value.
    #[must_use]
    pub fn carry(&self) -> Carry {
        match special(&self.0) {
            Some(row) => row.carry,
            None if plain(&self.0).is_some() => Carry::Value,
            None => Carry::Pins,
        }
    }

    /// The variable of which this one shows or changes a part: with what it came to all of them can be set again. Measured on MariaDB 10.11, and on
    /// MySQL 9.7 those that it has.
    #[must_use]
    pub fn whole(&self) -> Option<&'static [u8]> {
        match (self.carry(), self.name()) {
            (Carry::Parts, "optimizer_switch") => Some(b"optimizer_switch"),
            (Carry::Ordered(Group::ServerCharacterSet), _) => Some(b"collation_server"),
            (Carry::Ordered(Group::Galera), _) => Some(b"wsrep_sync_wait"),
            (Carry::Ordered(Group::SlowLog), "log_slow_filter" | "log_queries_not_using_indexes") => {
                Some(b"log_slow_filter")
            }
            (Carry::Ordered(Group::SlowLog), _) => Some(b"log_slow_disabled_statements"),
            _ => None,
        }
    }

    /// Why it is not carried like most; none for one that is, and for one that is not known.
    #[must_use]
    pub fn why(&self) -> Option<&'static str> {
        special(&self.0).map(|row| row.why)
    }

    /// Whether it stands in the list.
    #[must_use]
    pub fn is_known(&self) -> bool {
        plain(&self.0).is_some() || special(&self.0).is_some()
    }

    /// Whether a SET without a scope of its own (`@@name`) is for the next transaction only.
    pub(crate) fn has_transaction_scope(&self) -> bool {
        matches!(self.name(), "transaction_isolation" | "transaction_read_only")
    }
}

/// Every variable of the list, for tests against servers.
pub fn known_variables() -> impl Iterator<Item = SystemVariable> {
    PLAIN.iter().copied().chain(SPECIAL.iter().map(|row| row.name)).map(SystemVariable::known)
}

/// Every other name of a variable that `server` may have, with the variable.
pub fn known_aliases(server: ServerFlavor) -> impl Iterator<Item = (&'static str, SystemVariable)> {
    let of_server = ALIASES.iter().filter(move |alias| alias.family.includes(server));
    of_server.map(|alias| (alias.name, SystemVariable::known(alias.of)))
}

fn plain(lower: &str) -> Option<&'static str> {
    let at = PLAIN.binary_search(&lower).ok()?;
    PLAIN.get(at).copied()
}

fn special(lower: &str) -> Option<&'static special::Special> {
    let at = SPECIAL.binary_search_by(|row| row.name.cmp(lower)).ok()?;
    SPECIAL.get(at)
}

impl Family {
    fn includes(self, server: ServerFlavor) -> bool {
        match self {
            Self::Both => true,
            Self::MariaDb => matches!(server, ServerFlavor::MariaDb(_)),
            Self::MySql => matches!(server, ServerFlavor::MySql(_)),
        }
    }
}

#[cfg(test)]
mod tests;
