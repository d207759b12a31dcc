//! `LOAD …` and `SAVE …`: the grammar is the configuration's own, what is said about a wrong one is here.

use nuthatch_config::Verb;

use super::Command;
use super::words::Words;

/// Modules that ProxySQL has and this program has not.
const MODULES_ABSENT: &[&str] = &[
    "LDAP VARIABLES",
    "SQLITESERVER VARIABLES",
    "CLICKHOUSE USERS",
    "CLICKHOUSE VARIABLES",
    "PGSQL USERS",
    "PGSQL SERVERS",
    "PGSQL QUERY RULES",
    "PGSQL VARIABLES",
    "COREDUMP",
    "DEBUG",
];

/// Parses a statement that begins with LOAD or SAVE.
pub(super) fn parse(mut words: Words<'_>) -> Command {
    if let Some(verb) = Verb::parse(words.rest()) {
        return Command::Transfer(verb);
    }
    let is_load = words.take("LOAD");
    words.take("SAVE");
    if let Some(name) = MODULES_ABSENT.iter().find(|name| words.take(name)) {
        return Command::Unsupported(format!("the module {name}"));
    }
    let forms = if is_load {
        "LOAD <module> TO RUNTIME, LOAD <module> TO MEMORY or LOAD <module> FROM CONFIG"
    } else {
        "SAVE <module> TO MEMORY or SAVE <module> TO DISK"
    };
    Command::Malformed(format!(
        "expected {forms}, where the module is MYSQL USERS, MYSQL SERVERS, MYSQL QUERY RULES, MYSQL VARIABLES or \
         ADMIN VARIABLES"
    ))
}
