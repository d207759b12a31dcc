//! What a SELECT itself says of the cache: options and comments.

use nuthatch_lab::Kind;

use super::{SELECT, change_behind, fill_and_change};
use crate::proxy::{Proxy, Setup};
use crate::stage::{self, Stage};
use crate::{client::Value, servers};

#[test]
fn comment_with_a_ttl_caches_without_any_rule() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let select = format!("{SELECT} /* nuthatch: ttl=60000 */");
    assert_eq!(client.value(&select), "one");
    change_behind(&stage);
    assert_eq!(client.value(&select), "one");
    assert_eq!(stage.client().value(&select), "one", "another session is given it too");
    assert_eq!(client.value(SELECT), "changed", "another text is another statement");
}

#[test]
fn comment_with_a_ttl_goes_before_that_of_a_rule() {
    let stage = Stage::caching();
    let mut client = stage.client();
    let select = format!("/* nuthatch: ttl=0 */ {SELECT}");
    assert_eq!(client.value(&select), "one");
    change_behind(&stage);
    assert_eq!(client.value(&select), "changed");
}

#[test]
fn no_cache_is_neither_stored_nor_served() {
    let stage = Stage::caching();
    let mut client = stage.client();
    for select in [
        "SELECT SQL_NO_CACHE v FROM t WHERE id = 1",
        "SELECT v /* nuthatch: no_cache */ FROM t WHERE id = 1",
        "/* nuthatch:ttl=60000, no_cache */ SELECT v FROM t WHERE id = 1",
    ] {
        stage.primary().ok("UPDATE t SET v = 'one' WHERE id = 1");
        assert_eq!(client.value(select), "one", "{select}");
        change_behind(&stage);
        assert_eq!(client.value(select), "changed", "{select}");
    }
    assert_eq!(stage.figure("Query_Cache_Entries"), 0);
}

#[test]
fn comments_do_nothing_for_what_may_not_be_cached() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let select = "SELECT /* nuthatch: cache, ttl=60000 */ v FROM t WHERE id = 1 FOR UPDATE";
    assert_eq!(client.value(select), "one");
    change_behind(&stage);
    assert_eq!(client.value(select), "changed");
}

#[test]
fn session_that_has_turned_the_cache_off_is_not_served_by_a_comment() {
    let stage = Stage::plain();
    let mut client = stage.client();
    client.ok("SET query_cache_type = OFF");
    let select = format!("{SELECT} /* nuthatch: ttl=60000 */");
    assert_eq!(client.value(&select), "one");
    change_behind(&stage);
    assert_eq!(client.value(&select), "changed");
}

#[test]
fn sql_cache_is_part_of_the_key_and_known_to_mariadb() {
    let stage = Stage::caching();
    fill_and_change(&stage, &mut stage.client());
    let mut client = stage.client();
    assert_eq!(client.value("SELECT SQL_CACHE v FROM t WHERE id = 1"), "changed");
    assert_eq!(client.value(SELECT), "one");
}

/// MySQL 8 took the word away.
#[test]
#[ignore = "needs MySQL, which no package of Debian's stable release has"]
fn sql_cache_is_taken_out_before_mysql_sees_it() {
    let lab = servers::beside(Kind::MySql, "NUTHATCH_MYSQL_ROOT");
    let login = servers::account(&lab);
    let setup = Setup::default().rule(stage::CACHE_ALL);
    let proxy = Proxy::start(&stage::before(setup, &lab).user(stage::user_row(&login, "")));
    let mut client = proxy.client(&login);
    for select in
        ["SELECT SQL_CACHE 7 AS seven", "(select distinct sql_cache 7)", "SELECT SQL_CACHE*FROM (SELECT 7) t"]
    {
        for _ in 0..2 {
            assert_eq!(client.value(select), "7", "{select}");
        }
    }
    assert_eq!(
        stage::figure(&mut proxy.operator(), "Query_Cache_count_GET_OK"),
        3,
        "the client's text is the key"
    );
    assert!(client.refused("SELECT SQL_CACHE 1 FROM nowhere.x").message.contains("nowhere"));
    assert_eq!(
        client.refused("SELECT 1 UNION SELECT SQL_CACHE 2").code,
        1064,
        "out of its place it is a fault"
    );
    assert_eq!(client.value("SELECT sql_cache FROM (SELECT 5 AS sql_cache) t"), "5");

    let statement = client.prepare("SELECT SQL_CACHE ?").expect("it is prepared");
    assert_eq!(client.execute(&statement, &[Value::Int(5)]).expect("it runs").value(), "5");
    client.ok("SET query_cache_type = DEMAND");
    assert_eq!(client.value("SELECT @@query_cache_type"), "DEMAND");
    client.ok("SET query_cache_type = OFF, sql_select_limit = 5");
    assert_eq!(client.value("SELECT @@sql_select_limit"), "5");
    assert_eq!(client.value("SELECT @@session.query_cache_type"), "OFF");
    assert_eq!(client.table("SHOW VARIABLES LIKE 'query_cache_type'"), [["query_cache_type", "OFF"]]);
    assert_eq!(client.table("SHOW STATUS LIKE 'Qcache_hits'").len(), 1);
}
