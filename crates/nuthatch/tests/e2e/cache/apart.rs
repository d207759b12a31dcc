//! Who shares entries with whom.

use nuthatch_wire::CapabilityFlags;

use super::{SELECT, fill_and_change};
use crate::client::Login;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{CACHE_ALL, Stage};

#[test]
fn readers_with_and_without_deprecate_eof_do_not_share() {
    let stage = Stage::caching();
    fill_and_change(&stage, &mut stage.client());
    let mut other = stage.proxy.client(&stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF));
    assert_eq!(other.value(SELECT), "changed");
    assert_eq!(stage.client().value(SELECT), "one");
}

#[test]
fn readers_of_different_character_set_do_not_share() {
    let stage = Stage::caching();
    stage.primary().ok("SET NAMES utf8mb4");
    stage.primary().ok("UPDATE t SET v = 'é' WHERE id = 1");
    let mut utf8 = stage.client();
    let mut latin1 = stage.proxy.client(&stage.login().collation(8));
    let mut by_statement = stage.client();
    by_statement.ok("SET NAMES latin1");
    for _ in 0..2 {
        assert_eq!(utf8.ok(SELECT).rows[0][0].as_deref(), Some("é".as_bytes()));
        assert_eq!(latin1.ok(SELECT).rows[0][0].as_deref(), Some(&[0xE9][..]));
        assert_eq!(by_statement.ok(SELECT).rows[0][0].as_deref(), Some(&[0xE9][..]));
    }
}

#[test]
fn collation_keeps_apart_what_it_may_change() {
    let stage = Stage::caching();
    let select = "SELECT 'a' = 'A'";
    assert_eq!(stage.client().value(select), "1");
    let mut binary = stage.client();
    binary.ok("SET NAMES utf8mb4 COLLATE utf8mb4_bin");
    assert_eq!(binary.value(select), "0");
    assert_eq!(stage.client().value(select), "1");
}

#[test]
fn same_text_in_two_schemas_is_two_entries() {
    let stage = Stage::caching();
    let other = servers::fresh_name("s");
    let mut primary = stage.primary();
    primary.ok(format!("CREATE DATABASE {other}"));
    primary.ok(format!("CREATE TABLE {other}.t SELECT 1 AS id, 'another schema' AS v"));
    let mut client = stage.client();
    assert_eq!(client.value(SELECT), "one");
    client.ok(format!("USE {other}"));
    assert_eq!(client.value(SELECT), "another schema");
    client.init_db(&stage.schema).unwrap();
    assert_eq!(client.value(SELECT), "one");
    assert_eq!(stage.proxy.client(&stage.login().schema(&other)).value(SELECT), "another schema");
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 2);
}

#[test]
fn users_do_not_share() {
    let name = servers::fresh_name("reader");
    let mut primary = servers::primary(servers::shared());
    primary.ok(format!("CREATE USER '{name}'@'%' IDENTIFIED BY 'weak'"));
    let row = format!("username='{name}', password='weak'");
    let stage = Stage::with(Setup::default().rule(CACHE_ALL).user(row));
    fill_and_change(&stage, &mut stage.client());
    let login = Login::new(&name, "weak").schema(&stage.schema);
    let error = match stage.proxy.try_client(&login) {
        Ok(mut client) => client.refused(SELECT),
        Err(failure) => failure.server(),
    };
    assert!([1044, 1142].contains(&error.code), "{error:?}");
    primary.ok(format!("GRANT SELECT ON {}.* TO '{name}'@'%'", stage.schema));
    assert_eq!(stage.proxy.client(&login).value(SELECT), "changed", "its own look at the server");
    assert_eq!(stage.client().value(SELECT), "one");
}

#[test]
fn text_is_compared_in_full() {
    let stage = Stage::caching();
    let mut client = stage.client();
    for (text, expected) in [
        ("SELECT 'a'", "a"),
        ("SELECT 'A'", "A"),
        ("SELECT  'a'", "a"),
        ("SELECT 'a' ", "a"),
        ("SELECT 'b'", "b"),
        ("select 'a'", "a"),
    ] {
        assert_eq!(client.value(text), expected);
    }
    client.settle();
    assert_eq!(stage.figure("Query_Cache_Entries"), 6);
}

#[test]
fn rule_on_the_client_address_keeps_clients_apart() {
    let rule = "rule_id=1, client_addr='127.0.0.9', match_pattern='.', error_msg='not from there', apply=1";
    let stage = Stage::with(Setup::default().rule(rule).rule(CACHE_ALL.replace("rule_id=1", "rule_id=2")));
    fill_and_change(&stage, &mut stage.client());
    let local: std::net::SocketAddr = ([127, 0, 0, 9], 0).into();
    let mut other = crate::client::Client::connect_from(local, stage.proxy.mysql, &stage.login()).unwrap();
    assert_eq!(other.refused(SELECT).message, "not from there");
}
