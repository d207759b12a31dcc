//! Session variables that are asked for: what an answer rests on is part of the key, so each session is told its own.

use nuthatch_lab::Kind;

use super::{await_known, is_hit, on};
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

/// A variable with a value that is not its first; those that one of the servers does not have are not set there.
const VALUES: [(&str, &str); 20] = [
    ("auto_increment_increment", "3"),
    ("auto_increment_offset", "2"),
    ("default_storage_engine", "'MyISAM'"),
    ("div_precision_increment", "7"),
    ("foreign_key_checks", "0"),
    ("group_concat_max_len", "77"),
    ("innodb_lock_wait_timeout", "7"),
    ("lc_messages", "'de_DE'"),
    ("lc_time_names", "'de_DE'"),
    ("lock_wait_timeout", "77"),
    ("max_execution_time", "70000"),
    ("max_statement_time", "70"),
    ("net_read_timeout", "77"),
    ("net_write_timeout", "77"),
    ("sql_mode", "CONCAT(@@sql_mode, ',ANSI_QUOTES')"),
    ("sql_safe_updates", "1"),
    ("sql_select_limit", "777"),
    ("time_zone", "'+3:00'"),
    ("tx_isolation", "'READ-COMMITTED'"),
    ("transaction_isolation", "'READ-COMMITTED'"),
];

#[test]
fn each_session_of_mariadb_is_told_its_own_variables() {
    each_is_told_its_own(Kind::MariaDb);
}

#[test]
fn each_session_of_mysql_is_told_its_own_variables() {
    each_is_told_its_own(Kind::MySql);
}

fn each_is_told_its_own(kind: Kind) {
    let stage = Stage::of(kind, on(Setup::default()));
    let told = |client: &mut Client, variable: &str| client.value(format!("SELECT @@SESSION.{variable}"));
    let (mut usual, mut direct) = (stage.client(), stage.primary());
    await_known(&stage, &mut usual, "SELECT COUNT(*) FROM t");
    for (variable, value) in VALUES {
        let set = format!("SET SESSION {variable} = {value}");
        let Ok(_) = direct.query(&set) else { continue };
        let asked = format!("SELECT @@SESSION.{variable}");
        let mut fresh = stage.primary();
        let (first, other) = (told(&mut fresh, variable), told(&mut direct, variable));
        assert_ne!(first, other, "{variable}");
        await_known(&stage, &mut usual, &asked);
        for _ in 0..2 {
            let mut client = stage.client();
            assert!(is_hit(&stage, &mut client, &asked), "{variable}");
            assert_eq!(told(&mut client, variable), first, "{variable}");
            client.ok(&set);
            for _ in 0..3 {
                assert_eq!(told(&mut client, variable), other, "{variable}");
            }
            // What that is differs: MySQL takes 0 for foreign_key_checks.
            let default = format!("SET SESSION {variable} = DEFAULT");
            client.ok(&default);
            fresh.ok(&default);
            assert_eq!(told(&mut client, variable), told(&mut fresh, variable), "{variable}");
            client.quit();
        }
        assert_eq!(told(&mut usual, variable), first, "{variable}");
    }
}

#[test]
fn variables_that_are_set_for_all_are_told_to_who_begins_then() {
    let stage = Stage::of(Kind::MariaDb, on(Setup::default()));
    let (mut before, mut admin) = (stage.client(), stage.client());
    let asked = "SELECT @@sql_mode, @@group_concat_max_len";
    await_known(&stage, &mut before, asked);
    let first = before.table(asked);
    for set in ["SET GLOBAL sql_mode = 'ANSI'", "SET GLOBAL group_concat_max_len = 99"] {
        admin.ok(set);
        await_that("a new session is told", || {
            let mut direct = stage.primary();
            let mut client = stage.client();
            client.ok(asked);
            client.table(asked) == direct.table(asked)
        });
        assert_eq!(before.table(asked), first, "{set}: it began before");
    }
}
