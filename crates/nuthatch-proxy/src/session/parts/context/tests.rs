//! What a session has set goes before what it began with, and what a statement asks of its connection.

use std::sync::Arc;

use nuthatch_config::MysqlVariables;
use nuthatch_sql::{Leaves, ServerFlavor, classify};

use super::*;
use crate::backend::Era;
use crate::session::statement::TextFacts;
use crate::state::{Charset, Settings};

const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

impl Context {
    /// That of a session that has just begun on such a server; for the tests of other parts too.
    pub(crate) fn on(server: ServerFlavor) -> Self {
        Self {
            state: SessionState::new(b"shop".to_vec(), Charset::Collation(45)),
            begun: Begun::in_era(Arc::new(Era::default())),
            lexing: Lexing::of(server),
            is_told_of_changes: false,
            query_cache_type: None,
            shape: CapabilityFlags::empty(),
            environment: None,
        }
    }

    fn with(settings: &[(&str, &str)]) -> Self {
        let mut context = Self::on(MARIADB);
        let own: &mut Settings = &mut context.state.settings;
        settings.iter().for_each(|(name, value)| own.set(name.as_bytes(), Some(value.as_bytes())));
        context
    }
}

fn facts(text: &str, server: ServerFlavor) -> Facts {
    let statement = classify(text.as_bytes(), Lexing::of(server));
    Facts::of_text(Arc::new(TextFacts::of(&statement)), None)
}

#[test]
fn isolation_is_that_of_either_name_and_odd_where_the_two_differ() {
    use Isolation::{Other, ReadCommitted, RepeatableRead};
    for (new, old, expected) in [
        (None, None, None),
        (Some("'READ-COMMITTED'"), None, Some(ReadCommitted)),
        (None, Some("'repeatable-read'"), Some(RepeatableRead)),
        (Some("'READ-UNCOMMITTED'"), None, Some(Other)),
        (None, Some("'SERIALIZABLE'"), Some(Other)),
        (Some("2"), None, Some(Other)),
        (Some("'REPEATABLE-READ'"), Some("'REPEATABLE-READ'"), Some(RepeatableRead)),
        (Some("'READ-COMMITTED'"), Some("'REPEATABLE-READ'"), Some(Other)),
        (Some("'REPEATABLE-READ'"), Some("'SERIALIZABLE'"), Some(Other)),
    ] {
        let names = [("transaction_isolation", new), ("tx_isolation", old)];
        let set: Vec<_> = names.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
        assert_eq!(Context::with(&set).own_isolation(), expected, "{new:?} {old:?}");
    }
}

#[test]
fn own_isolation_goes_before_the_one_that_it_began_with() {
    for (own, begun_odd, expected) in [
        (None, false, false),
        (None, true, true),
        (Some("'REPEATABLE-READ'"), true, false),
        (Some("'READ-COMMITTED'"), true, false),
        (Some("'SERIALIZABLE'"), false, true),
    ] {
        let set: Vec<_> = own.iter().map(|level| ("transaction_isolation", *level)).collect();
        let mut context = Context::with(&set);
        context.begun.set_odd_isolation(begun_odd);
        assert_eq!(context.has_odd_isolation(), expected, "{own:?} {begun_odd}");
    }
}

#[test]
fn own_sql_mode_says_what_quotes_are_and_without_one_what_it_began_with() {
    for (own, begun, expected) in [
        (None, None, false),
        (None, Some(false), false),
        (None, Some(true), true),
        (Some("''"), Some(true), false),
        (Some("'STRICT_TRANS_TABLES'"), Some(true), false),
        (Some("'ANSI_QUOTES'"), Some(false), true),
        (Some("'NO_ZERO_DATE,ansi'"), None, true),
    ] {
        let set: Vec<_> = own.iter().map(|mode| ("sql_mode", *mode)).collect();
        let mut context = Context::with(&set);
        context.begun.set_ansi_quotes(begun);
        assert_eq!(context.has_ansi_quotes(), expected, "{own:?} {begun:?}");
    }
}

#[test]
fn oracle_mode_is_known_only_where_the_session_has_set_it() {
    for (own, expected) in [
        (None, false),
        (Some("''"), false),
        (Some("'ANSI'"), false),
        (Some("'ORACLE'"), true),
        (Some("'NO_ZERO_DATE,oracle'"), true),
    ] {
        let set: Vec<_> = own.iter().map(|mode| ("sql_mode", *mode)).collect();
        assert_eq!(Context::with(&set).has_set_oracle_mode(), expected, "{own:?}");
    }
}

#[test]
fn own_query_cache_type_goes_before_the_configured_one() {
    use QueryCacheType::{Demand, Off, On};
    for (own, configured, expected) in
        [(None, Off, Off), (None, Demand, Demand), (Some(Off), On, Off), (Some(Demand), Off, Demand)]
    {
        let mysql = MysqlVariables { query_cache_type: configured, ..MysqlVariables::default() };
        let snapshot = Snapshot { mysql, ..Snapshot::default() };
        let context = Context { query_cache_type: own, ..Context::on(MARIADB) };
        assert_eq!(context.query_cache_type_in(&snapshot), expected, "{own:?} {configured:?}");
    }
}

#[test]
fn errand_goes_by_what_the_statement_may_do_unseen_and_whether_it_can_be_sent_again() {
    use Behind::{All, Sets};
    for (text, server, schema, is_tracked, behind, asks_of_the_last) in [
        ("SELECT a FROM t", MARIADB, "shop", false, All, false),
        ("SELECT a FROM t", MYSQL, "shop", true, All, false),
        ("SELECT a FROM t", MARIADB, "SYS", true, All, false),
        // The function may write.
        ("SELECT f(a) FROM t", MARIADB, "shop", true, Sets, false),
        ("SELECT 1", MYSQL, "shop", false, All, false),
        ("UPDATE t SET a = 1", MYSQL, "shop", false, Sets, false),
        ("SELECT FOUND_ROWS()", MARIADB, "shop", false, All, true),
        ("SHOW WARNINGS", MARIADB, "shop", false, All, true),
    ] {
        let mut context = Context::on(server);
        context.state.schema = schema.as_bytes().into();
        let errand = context.errand_of(&facts(text, server));
        let found = (errand.is_tracked, errand.behind, errand.asks_of_the_last);
        assert_eq!(found, (is_tracked, behind, asks_of_the_last), "{text} {server:?} {schema}");
        assert!(errand.aim.is_none(), "{text}");
    }
    let mut known = facts("SELECT a FROM t", MYSQL);
    known.code.leaves = Some(Leaves::Nothing);
    assert!(!Context::on(MYSQL).errand_of(&known).is_tracked, "its code is known to leave nothing");
}
