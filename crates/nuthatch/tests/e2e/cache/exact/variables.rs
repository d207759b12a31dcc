//! Session variables that are asked for: what an answer rests on is part of the key, so each session is told its own.

use nuthatch_lab::Kind;
use nuthatch_wire::CapabilityFlags;

use super::{await_known, is_hit, on};
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

/// A variable with a value that is not its first; those that one of the servers does not have are not set there.
const VALUES: [(&str, &str); 18] = [
    ("auto_increment_increment", "3"),
    ("auto_increment_offset", "2"),
    ("default_storage_engine", "'MyISAM'"),
    ("div_precision_increment", "7"),
    ("foreign_key_checks", "0"),
    ("group_concat_max_len", "77"),
    ("lc_messages", "'de_DE'"),
    ("lc_time_names", "'de_DE'"),
    ("lock_wait_timeout", "77"),
    ("max_execution_time", "70000"),
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

/// Some servers' variables are refused only when they are set, behind what stands before them.
#[test]
fn set_that_a_server_has_half_done_stays_with_its_session() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::of(kind, on(Setup::default()));
        let mut usual = stage.client();
        let asked = "SELECT @@group_concat_max_len";
        await_known(&stage, &mut usual, asked);
        let first = usual.value(asked);
        for _ in 0..4 {
            let mut client = stage.client();
            client.refused("SET SESSION group_concat_max_len = 99, GLOBAL key_buffer_size = 0");
            assert_eq!(client.value(asked), "99", "as at the server");
            client.quit();
            for _ in 0..3 {
                assert_eq!(usual.value(format!("{asked}, RAND()")), first, "{kind:?}");
                assert_eq!(stage.client().value(asked), first, "{kind:?}");
            }
        }
    }
}

#[test]
fn what_connections_begin_with_is_another_behind_another_init_connect() {
    let stage = Stage::of(Kind::MariaDb, on(Setup::default()));
    let asked = "SELECT @@time_zone, FROM_UNIXTIME(id) FROM t WHERE id = 1";
    let mut holder = stage.client();
    holder.ok("BEGIN");
    holder.ok(asked);
    for zone in ["+03:00", "+09:00", "SYSTEM"] {
        let statements = if zone == "SYSTEM" { String::new() } else { format!("SET time_zone='{zone}'") };
        let set = format!("SET mysql-init_connect = \"{statements}\"");
        stage.administer([set.as_str(), "LOAD MYSQL VARIABLES TO RUNTIME"]);
        // What it holds has begun before.
        holder.ok(asked);
        for _ in 0..2 {
            let mut client = stage.client();
            await_known(&stage, &mut client, asked);
            assert_eq!(client.value(asked), zone);
        }
    }
}

/// The server puts it into the SQL mode at the login, and at no other time.
#[test]
fn mode_of_a_client_that_ignores_spaces_is_its_logins() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::of(kind, on(Setup::default()));
        let login = || stage.login().with(CapabilityFlags::CLIENT_IGNORE_SPACE);
        let asked = "SELECT @@sql_mode LIKE '%IGNORE_SPACE%'";
        await_known(&stage, &mut stage.proxy.client(&login()), asked);
        for set in ["SET sql_mode = DEFAULT", "SET sql_mode = 'NO_ZERO_DATE'", "SET time_zone = '+01:00'"] {
            for _ in 0..3 {
                let mut client = stage.proxy.client(&login());
                assert_eq!(client.value(asked), "1", "{kind:?}: before {set}");
                client.ok(set);
                let expected = if set.contains("sql_mode") { "0" } else { "1" };
                assert_eq!(client.value(asked), expected, "{kind:?}: behind {set}");
                client.quit();
            }
        }
        assert_eq!(stage.client().value(asked), "0", "{kind:?}: who did not ask for it");
    }
}
