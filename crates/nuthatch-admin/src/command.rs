//! What an operator may say besides SQL, parsed.
//!
//! [`parse`] decides for one statement whether it is a verb of ours, something that a MySQL client sends by habit, or
//! SQL for SQLite. It is a pure function; what a command does is the clerk's to know.

mod failover;
mod set;
mod show;
mod shown;
mod split;
mod switchover;
mod transfer;
mod understood;
mod variables;
mod words;

#[cfg(test)]
mod tests;

use crate::data_plane::{HostgroupOrder, ProcessVerb};
use words::Words;

pub(crate) use show::Select;
pub(crate) use shown::{Filter, Show};
pub(crate) use split::statements;
pub(crate) use understood::Command;
pub(crate) use variables::rewrite;

/// Parses one statement, as [`statements`] cuts them.
pub(crate) fn parse(statement: &str) -> Command {
    let mut words = Words::new(statement);
    if words.is_end() {
        return Command::Nothing;
    }
    let mut head = words;
    let first = head.take_any().unwrap_or_default().to_ascii_uppercase();
    match first.as_str() {
        "LOAD" | "SAVE" => transfer::parse(words),
        "SHOW" => show::parse(head),
        "DESC" | "DESCRIBE" => show::parse_describe(head),
        "SET" => set::parse(head),
        "USE" => use_schema(head),
        "PROXYSQL" | "NUTHATCH" => process_verb(head),
        "KILL" => kill(head),
        // As in MySQL, it keeps the entries.
        "FLUSH" if words.take_all("FLUSH QUERY CACHE") => Command::Nothing,
        "RESET" if words.take_all("RESET QUERY CACHE") => Command::EmptyQueryCache,
        "PURGE" => purge(head, statement),
        "EXPLAIN" if head.take("CACHE") => Command::ExplainCache(statement.to_owned()),
        "TRUNCATE" => truncate(head),
        "CHECKSUM" => Command::Unsupported("CHECKSUM".to_owned()),
        "START" if words.take_all("START TRANSACTION") => Command::Sql("BEGIN".to_owned()),
        "COMMIT" | "ROLLBACK" | "END" => end_transaction(words, statement),
        _ => Command::Sql(statement.to_owned()),
    }
}

fn use_schema(mut words: Words<'_>) -> Command {
    match words.take_name() {
        Some(schema) if words.is_end() => Command::Use(schema),
        _ => Command::Malformed("USE takes the name of one schema".to_owned()),
    }
}

fn end_transaction(mut words: Words<'_>, statement: &str) -> Command {
    for (text, sql) in [
        ("COMMIT", "COMMIT"),
        ("COMMIT TRANSACTION", "COMMIT"),
        ("COMMIT WORK", "COMMIT"),
        ("END", "COMMIT"),
        ("END TRANSACTION", "COMMIT"),
        ("ROLLBACK", "ROLLBACK"),
        ("ROLLBACK TRANSACTION", "ROLLBACK"),
        ("ROLLBACK WORK", "ROLLBACK"),
    ] {
        if words.take_all(text) {
            return Command::EndTransaction(sql);
        }
    }
    Command::Sql(statement.to_owned())
}

/// What may follow PROXYSQL or NUTHATCH: the words, and what they do.
const PROCESS_VERBS: [(&str, &str, Command); 8] = [
    ("HELP", "says this", Command::Help),
    ("FLUSH QUERY CACHE", "purges the query cache", Command::EmptyQueryCache),
    ("RELOAD TLS", "reads certificate and key for clients again", Command::ReloadTls),
    ("PAUSE", "takes no new clients", Command::Act(ProcessVerb::Pause)),
    ("RESUME", "takes them again", Command::Act(ProcessVerb::Resume)),
    ("SHUTDOWN", "drains, then stops", Command::Act(ProcessVerb::Shutdown)),
    ("SHUTDOWN SLOW", "the same", Command::Act(ProcessVerb::Shutdown)),
    ("KILL", "stops at once", Command::Act(ProcessVerb::Kill)),
];

/// Other verbs, for who asks for help.
const OTHER_VERBS: [(&str, &str); 17] = [
    (
        "LOAD MYSQL USERS | SERVERS | QUERY RULES | VARIABLES TO RUNTIME",
        "puts what is in memory in force; also LOAD ADMIN VARIABLES",
    ),
    ("LOAD … FROM DISK", "takes back into memory what was saved"),
    ("LOAD … FROM CONFIG", "takes into memory what the configuration file says"),
    ("SAVE … TO DISK", "keeps what is in memory over a restart"),
    ("SAVE … FROM RUNTIME", "shows in memory what is in force"),
    ("SET mysql-x = v", "writes a variable in memory; also SET admin-x"),
    (
        "PURGE QUERY CACHE [DIGEST | TABLE | SCHEMA | USER | RULE …]",
        "purges the query cache, or a part of it",
    ),
    ("EXPLAIN CACHE [FOR USER 'u'] [IN SCHEMA s] SELECT …", "says what the cache would do"),
    (
        "NUTHATCH SWITCHOVER HOSTGROUP n TO 'host:port' [CHECK]",
        "has that server take the writes of the pair, or says what would hinder it",
    ),
    (
        "NUTHATCH FAILOVER HOSTGROUP n [TO 'host:port'] [CHECK]",
        "puts another server in the place of a primary that is gone, or says what would hinder it",
    ),
    ("NUTHATCH HOLD HOSTGROUP n [MAX ms]", "has new statements wait, for a minute at most"),
    ("NUTHATCH RELEASE HOSTGROUP n", "lets them go on"),
    ("KILL [CONNECTION] n", "ends a client's session"),
    ("TRUNCATE stats.stats_mysql_query_digest", "clears the digests"),
    ("SHOW TABLES [FROM main | disk | stats | monitor]", "lists tables"),
    ("SHOW VARIABLES [LIKE '…']", "lists variables as they are in memory"),
    ("SHOW PROMETHEUS METRICS", "shows the metrics"),
];

/// Every verb, and what it does.
pub(crate) fn help() -> Vec<(String, &'static str)> {
    let of_process = PROCESS_VERBS.into_iter().map(|(words, what, _)| (format!("PROXYSQL {words}"), what));
    of_process.chain(OTHER_VERBS.map(|(words, what)| (words.to_owned(), what))).collect()
}

/// For how long a hostgroup is held where the operator does not say.
const HOLD_MS: u64 = 60_000;

/// The longest hold that an operator may ask for: an hour.
const HOLD_MS_MAX: u64 = 3_600_000;

fn hold(mut words: Words<'_>) -> Command {
    let number = |words: &mut Words<'_>| words.take_any()?.parse::<u64>().ok();
    let hostgroup = number(&mut words).and_then(|number| u32::try_from(number).ok());
    let max_ms = if words.take("MAX") { number(&mut words) } else { Some(HOLD_MS) };
    match (hostgroup, max_ms) {
        (Some(hostgroup), Some(max_ms @ 1..=HOLD_MS_MAX)) if words.is_end() => {
            Command::Order { hostgroup, order: HostgroupOrder::Hold { max_ms } }
        }
        _ => Command::Malformed(format!(
            "HOLD HOSTGROUP takes the number of one hostgroup and, behind MAX, up to {HOLD_MS_MAX} milliseconds"
        )),
    }
}

fn release(mut words: Words<'_>) -> Command {
    match words.take_any().and_then(|number| number.parse().ok()) {
        Some(hostgroup) if words.is_end() => Command::Order { hostgroup, order: HostgroupOrder::Release },
        _ => Command::Malformed("RELEASE HOSTGROUP takes the number of one hostgroup".to_owned()),
    }
}

fn process_verb(mut words: Words<'_>) -> Command {
    if words.take("SWITCHOVER") {
        return switchover::parse(words);
    }
    if words.take("FAILOVER") {
        return failover::parse(words);
    }
    if words.take("HOLD HOSTGROUP") {
        return hold(words);
    }
    if words.take("RELEASE HOSTGROUP") {
        return release(words);
    }
    for (text, _, command) in PROCESS_VERBS {
        if words.take_all(text) {
            return command;
        }
    }
    Command::Unsupported(format!(
        "the verb {} (PROXYSQL HELP lists those that are)",
        words.rest().to_ascii_uppercase()
    ))
}

fn kill(mut words: Words<'_>) -> Command {
    if words.take("QUERY") {
        return Command::Unsupported("KILL QUERY".to_owned());
    }
    words.take("CONNECTION");
    match words.take_any().and_then(|number| number.parse().ok()) {
        Some(session) if words.is_end() => Command::Kill(session),
        _ => Command::Malformed("KILL CONNECTION takes the number of one session".to_owned()),
    }
}

fn purge(mut words: Words<'_>, statement: &str) -> Command {
    if !words.take("QUERY CACHE") {
        return Command::Malformed("PURGE is followed by QUERY CACHE".to_owned());
    }
    match words.is_end() {
        true => Command::EmptyQueryCache,
        false => Command::PurgeQueryCache(statement.to_owned()),
    }
}

fn truncate(mut words: Words<'_>) -> Command {
    words.take("TABLE");
    match words.take_qualified() {
        Some((schema, table))
            if words.is_end()
                && schema.as_deref().is_none_or(|schema| schema.eq_ignore_ascii_case("stats"))
                && ["stats_mysql_query_digest", "stats_mysql_query_digest_reset"]
                    .iter()
                    .any(|name| table.eq_ignore_ascii_case(name)) =>
        {
            Command::TruncateDigests
        }
        _ => Command::Malformed(
            "only stats.stats_mysql_query_digest can be truncated; use DELETE FROM".to_owned(),
        ),
    }
}
