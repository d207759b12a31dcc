//! What a transcript cannot show: logins, the interactive command line, and what reached the data plane.

use std::process::Command;
use std::sync::atomic::Ordering;

use nuthatch_admin::ProcessVerb;
use nuthatch_config::{Seed, SeedRow};

use crate::interface::{Interface, printed};

#[test]
fn logins_are_refused_with_mysqls_words() {
    let interface = Interface::start();
    for (user, password, arguments, expected) in [
        (
            "admin",
            "wrong",
            [].as_slice(),
            "ERROR 1045 (28000): Access denied for user 'admin'@'127.0.0.1' (using password: YES)\n",
        ),
        (
            "nobody",
            "",
            &[],
            "ERROR 1045 (28000): Access denied for user 'nobody'@'127.0.0.1' (using password: NO)\n",
        ),
        ("admin", "admin", &["nowhere"], "ERROR 1049 (42000): Unknown database 'nowhere'\n"),
        ("admin", "admin", &["stats", "--execute=SELECT DATABASE()"], "DATABASE()\nstats\n"),
    ] {
        let output = interface.mariadb(user, password).args(arguments).output().unwrap();
        assert_eq!(printed(&output), expected, "{user}:{password}");
    }
}

#[test]
fn a_client_of_another_plugin_is_asked_for_a_native_password() {
    let interface = Interface::start();
    let mut mariadb = interface.mariadb("admin", "admin");
    let output =
        mariadb.args(["--default-auth=mysql_clear_password", "--execute=SELECT 1"]).output().unwrap();
    assert_eq!(printed(&output), "1\n1\n");
}

/// On a terminal the command line completes names: it asks for all tables and, by COM_FIELD_LIST, for their columns.
#[test]
fn the_interactive_command_line_completes_names_and_shows_its_status() {
    let interface = Interface::start();
    let mariadb = format!(
        "mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port={} --user=admin --password=admin main",
        interface.port
    );
    let script = format!(
        "printf 'use stats\\nSELECT hits FROM stats_mysql_query_rules;\\n\\\\s\\nquit\\n' | script -qec '{mariadb}' /dev/null"
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let printed = printed(&output);
    for expected in [
        "Reading table information for completion",
        "Database changed",
        "|   42 |",
        "Current user:\t\tadmin@127.0.0.1",
        "Threads: 9  Questions: 345  Slow queries: 0",
    ] {
        assert!(printed.contains(expected), "{expected:?} is not in {printed}");
    }
}

#[test]
fn a_load_publishes_what_is_then_in_force() {
    let interface = Interface::start();
    assert!(interface.plane.published.lock().is_empty(), "nothing is published before a LOAD");
    interface.says("admin", "INSERT INTO mysql_users (username, password) VALUES ('app', 'x')");
    assert!(interface.plane.published.lock().is_empty(), "an INSERT publishes nothing");
    interface.says("admin", "LOAD MYSQL USERS TO RUNTIME");
    let published = interface.plane.published.lock();
    assert!(published.last().unwrap().users.frontend(b"app").is_some());
}

#[test]
fn verbs_reach_the_data_plane() {
    let interface = Interface::start();
    let said = interface.says("admin", "PROXYSQL PAUSE; PROXYSQL RESUME; PROXYSQL SHUTDOWN; NUTHATCH KILL");
    assert_eq!(said, "");
    use ProcessVerb::{Kill, Pause, Resume, Shutdown};
    assert_eq!(*interface.plane.verbs.lock(), [Pause, Resume, Shutdown, Kill]);
    interface.says("admin", "proxysql flush query cache");
    assert_eq!(interface.plane.flushes.load(Ordering::SeqCst), 1);
}

#[test]
fn a_panic_refuses_one_statement_and_the_interface_goes_on() {
    let interface = Interface::start();
    let said = interface.says("admin", "KILL 13");
    assert!(said.starts_with("ERROR 1105 (HY000) at line 1: the statement hit a fault"), "{said}");
    assert_eq!(interface.says("admin", "SELECT 1"), "1\n1\n");
}

#[test]
fn a_truncate_clears_the_digests() {
    let interface = Interface::start();
    let said = interface.says(
        "admin",
        "TRUNCATE TABLE stats.stats_mysql_query_digest; SELECT COUNT(*) FROM stats_mysql_query_digest",
    );
    assert_eq!(said, "COUNT(*)\n0\n");
}

#[test]
fn the_configuration_file_can_be_loaded_again() {
    let servers = vec![SeedRow::new().with("hostname", "10.0.0.1")];
    let interface = Interface::with_seed(Seed { servers, ..Seed::default() });
    let said = interface.says(
        "admin",
        "DELETE FROM mysql_servers; LOAD MYSQL SERVERS FROM CONFIG; SELECT hostname FROM mysql_servers",
    );
    assert_eq!(said, "hostname\n10.0.0.1\n");
}

#[test]
fn mycli_works_in_batch() {
    let interface = Interface::start();
    let output = Command::new("mycli")
        .args(["--no-warn", "-h127.0.0.1", &format!("-P{}", interface.port), "-uadmin", "-padmin", "-Dmain"])
        .args([
            "-e",
            "SELECT 1 AS one; SHOW TABLES FROM stats LIKE '%rules'; SHOW FIELDS FROM stats_mysql_users",
        ])
        .env("HOME", std::env::temp_dir())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    for expected in ["one\n1\n", "tables\nstats_mysql_query_rules\n", "frontend_connections\tINT\tNO"] {
        assert!(printed.contains(expected), "{expected:?} is not in {printed}");
    }
}
