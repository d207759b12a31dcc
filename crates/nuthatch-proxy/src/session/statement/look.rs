//! The first look at a statement: its class, its digest, its facts.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use nuthatch_config::{Snapshot, Verdict};
use nuthatch_sql::{CacheWish, Ddl, DigestOptions, Kind, Lexing, NotCacheable, cache_hint};

use crate::session::statement::{
    INFORMATION_SCHEMA, Known, OWN_SCHEMAS, TextFacts, asks_for_numbers, names, outlasts_reset, reads_tracker,
};
use crate::stats::StatementCommand;
use crate::stats::pins::Pins;

/// Takes the statement apart.
pub(crate) fn look(text: &[u8], lexing: Lexing, snapshot: &Snapshot) -> Known {
    let statement = nuthatch_sql::classify(text, lexing);
    let mut facts = TextFacts::of(&statement).with_settings(text, lexing);
    facts.command = StatementCommand::of_statement(text, &statement);
    facts.tables.need_no_schema = nuthatch_sql::needs_no_schema(text, &statement, lexing);
    if facts.pins.contains(Pins::SESSION_VARIABLE) && outlasts_reset(text) {
        facts.pins = facts.pins.with(Pins::UNKNOWN);
    }
    if facts.kind == Kind::Select {
        facts.cache.hint = cache_hint(text, lexing);
    }
    facts.transaction.begins_plainly =
        facts.kind == Kind::Begin && !names(text, b"read") && !names(text, b"snapshot");
    facts.asks.tracker = reads_tracker(facts.kind, text);
    // Among all variables are `last_insert_id` and `identity`.
    facts.asks.insert_id |= facts.asks.tracker;
    facts.tables.in_information_schema = names(text, INFORMATION_SCHEMA);
    facts.asks.numbers = asks_for_numbers(facts.kind, text);
    facts.asks.connections = facts.kind == Kind::Show && names(text, b"processlist");
    facts.tables.may_be_servers = OWN_SCHEMAS.iter().any(|start| names(text, start));
    let is_alter = facts.kind == Kind::Ddl(Ddl::Alter) || facts.kind == Kind::Multi && names(text, b"alter");
    facts.server.alters_schema = is_alter && (names(text, b"database") || names(text, b"schema"));
    let variables = &snapshot.mysql;
    let mut digest_text = Vec::new();
    if variables.query_digests || !snapshot.rules.is_empty() {
        nuthatch_sql::digest_text(text, &digest_options(variables), &mut digest_text);
    }
    let digest = nuthatch_sql::digest(&digest_text).0;
    if facts.cache.hint.wish == CacheWish::NoCache {
        facts.cache.allowed = facts.cache.allowed.and(Err(NotCacheable::SqlNoCache));
    }
    Known {
        is_plain: facts.are_plain(),
        facts: Arc::new(facts),
        digest,
        digest_text: digest_text.into(),
        code: AtomicU64::default(),
    }
}

/// What the statement says of its own caching goes before what rules say.
pub(crate) fn heed_hint(facts: &TextFacts, verdict: &mut Verdict) {
    if facts.cache.hint.ttl_ms.is_some() {
        (verdict.cache_ttl_ms, verdict.cache_mode) = (facts.cache.hint.ttl_ms, None);
    }
}

/// The digest options that the variables say.
fn digest_options(variables: &nuthatch_config::MysqlVariables) -> DigestOptions {
    let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    DigestOptions {
        max_digest_length: size(variables.query_digests_max_digest_length),
        max_query_length: size(variables.query_digests_max_query_length),
        grouping_limit: size(variables.query_digests_grouping_limit),
        groups_grouping_limit: size(variables.query_digests_groups_grouping_limit),
        lowercase: variables.query_digests_lowercase,
        replace_null: variables.query_digests_replace_null,
        no_digits: variables.query_digests_no_digits,
        keep_comment: variables.query_digests_keep_comment,
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::ServerFlavor;

    use super::*;

    #[test]
    fn plain_are_statements_that_move_rows_and_nothing_else() {
        let snapshot = Snapshot::default();
        for lexing in [ServerFlavor::MariaDb(101_119), ServerFlavor::MySql(90_704)].map(Lexing::of) {
            for (text, expected) in [
                ("SELECT c FROM t WHERE id = 7", true),
                ("select a.*, count(*) from a join b using (id) group by 1", true),
                ("INSERT INTO t VALUES (1, 'x')", true),
                ("REPLACE INTO t (id) VALUES (1)", true),
                ("UPDATE t SET k = k + 1 WHERE id = 7", true),
                ("DELETE FROM t WHERE id = 7", true),
                ("SELECT 1", false),
                ("SELECT LAST_INSERT_ID() FROM t", false),
                ("SELECT FOUND_ROWS()", false),
                ("SELECT SQL_CALC_FOUND_ROWS c FROM t", false),
                ("SELECT SQL_NO_CACHE c FROM t", false),
                ("SELECT /* nuthatch: ttl=5000 */ c FROM t", false),
                ("SELECT c FROM t WHERE id = @a", false),
                ("SELECT c INTO @a FROM t", false),
                ("SELECT c FROM t FOR UPDATE", false),
                ("SELECT GET_LOCK('a', 1) FROM t", false),
                ("SELECT @@warning_count FROM t", false),
                ("SELECT c FROM t; SELECT d FROM t", false),
                ("UPDATE t SET k = LAST_INSERT_ID(k + 1)", false),
                ("SET autocommit = 1", false),
                ("SHOW WARNINGS", false),
                ("BEGIN", false),
                ("COMMIT", false),
                ("ROLLBACK RELEASE", false),
                ("CALL p()", false),
                ("EXECUTE one", false),
                ("DO 1", false),
                ("KILL 7", false),
                ("USE other", false),
                ("CREATE TABLE t (id INT)", false),
                ("LOCK TABLES t READ", false),
                ("EXPLAIN SELECT c FROM t", false),
            ] {
                let known = look(text.as_bytes(), lexing, &snapshot);
                assert_eq!(known.is_plain, expected, "{text} {lexing:?}");
            }
        }
    }
}
