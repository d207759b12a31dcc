//! One instance follows another, on real servers of both kinds.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::fetched::mysql;
use crate::host::{Host, await_that};
use crate::watching::{page, watched};

/// Which server an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    MariaDb,
    MySql,
}

impl Server {
    /// What `add` is told.
    fn place(self) -> String {
        match self {
            Self::MariaDb => "mariadb".to_owned(),
            Self::MySql => mysql(),
        }
    }
}

impl Host {
    /// One that runs.
    pub(crate) fn add(&self, server: Server, name: &str, more: &[&str]) {
        let place = server.place();
        let words = ["add", name, "--server", &place];
        self.ok(&words.iter().chain(more).copied().collect::<Vec<_>>());
    }

    /// Where its instances listen.
    pub(crate) fn address(&self) -> String {
        let host: Value = serde_json::from_str(&self.ok(&["host", "--json"])).expect("it goes well");
        host["address"].as_str().expect("it goes well").to_owned()
    }

    /// The rows of `replication --json`.
    pub(crate) fn replicas(&self) -> Vec<Value> {
        serde_json::from_str(&self.ok(&["replication", "--json"])).expect("it goes well")
    }

    /// The row of one.
    pub(crate) fn replica(&self, name: &str) -> Value {
        self.replicas().into_iter().find(|one| one["name"] == name).expect("it goes well")
    }

    fn port(&self, name: &str) -> u64 {
        self.show(name)["port"].as_u64().expect("it goes well")
    }
}

/// What a query gives, or nothing where it cannot be answered yet.
pub(crate) fn rows_of(host: &Host, name: &str, sql: &str) -> String {
    let words = ["client", name, "--", "--batch", "--skip-column-names", "--execute", sql];
    let said = host.command(&words).output().expect("it goes well");
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

pub(crate) fn makes_tables(host: &Host, name: &str) {
    host.query(
        name,
        "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))",
    );
}

/// What it has written is in its binlogs no more. A server keeps one for a moment that it has just ended.
pub(crate) fn purge(host: &Host, name: &str) {
    host.query(name, "FLUSH BINARY LOGS");
    await_that(|| {
        let logs = host.query(name, "SHOW BINARY LOGS");
        let last = logs.lines().last().and_then(|line| line.split('\t').next()).expect("it goes well");
        host.query(name, &format!("PURGE BINARY LOGS TO '{last}'"));
        host.query(name, "SHOW BINARY LOGS").lines().count() == 1
    });
}

fn rows_arrive_over_tls_and_the_source_may_go_and_come_back(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    makes_tables(&host, "source");
    let said = host.ok(&["replicate", "replica", "--from", "source"]);
    assert!(said.contains("over TLS"), "{said}");
    host.query("source", "INSERT INTO d.t (v) VALUES ('one')");
    let rows = |wanted: &'static str| {
        let host = &host;
        move || rows_of(host, "replica", "SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t") == wanted
    };
    await_that(rows("one"));
    await_that(|| host.replica("replica")["behind_s"] == 0);
    let row = host.replica("replica");
    let source = format!("{}:{}", host.address(), host.port("source"));
    assert_eq!((row["source"].as_str(), row["state"].as_str()), (Some(source.as_str()), Some("running")));
    assert_eq!(row["writable"], false, "{row}");
    // Its account may come over TLS only, and may do nothing else.
    let user = format!("nuthatch_repl_{}", host.show("replica")["server_id"]);
    let ssl = format!(
        "SELECT CONCAT(ssl_type, ' ', Super_priv, Repl_slave_priv) FROM mysql.user WHERE User = '{user}'"
    );
    assert_eq!(host.query("source", &ssl), "ANY NY");
    assert!(host.refused(&["remove", "source", "--yes", "source"]).contains("replicates from it"));
    let (_watch, address) = watched(&host);
    let (status, metrics) = page(address, "/metrics");
    assert_eq!(status, 200);
    for figure in ["replication_running", "replication_behind_seconds"] {
        let begin = format!("nuthatch_instance_{figure}{{instance=\"replica\"");
        let is_it = |line: &&str| line.starts_with(&begin) && line.contains(&format!("source=\"{source}\""));
        assert!(metrics.lines().any(|line| is_it(&line)), "{figure}: {metrics}");
    }
    // Killed, and brought back.
    let before = host.server_pid("source");
    host.kill(before);
    await_that(|| host.replica("replica")["state"] == "connecting");
    host.await_another("source", before);
    host.query("source", "INSERT INTO d.t (v) VALUES ('two')");
    await_that(rows("one,two"));
    // The replica too, with a new certificate: what it knows its source by stays.
    fs::remove_dir_all(host.path_of("replica").join("tls")).expect("it goes well");
    host.ok(&["restart", "replica"]);
    host.query("source", "INSERT INTO d.t (v) VALUES ('three')");
    await_that(rows("one,two,three"));
    await_that(|| host.replica("replica")["state"] == "running");
    assert!(host.ok(&["replicate", "replica", "--from", "source"]).contains("follows it already"));
    assert!(host.root().join("links/replica.json").exists());
    host.ok(&["replicate", "replica", "--stop"]);
    assert_eq!(host.replica("replica")["state"], "stopped");
    host.ok(&["replicate", "replica", "--go-on"]);
    host.ok(&["replicate", "replica", "--forget"]);
    assert_eq!(host.replica("replica")["source"], Value::Null);
    assert_eq!(host.query("source", &ssl), "", "its account is gone");
    // It goes on where it was.
    host.query("source", "INSERT INTO d.t (v) VALUES ('four')");
    host.ok(&["replicate", "replica", "--from", "source"]);
    await_that(rows("one,two,three,four"));
}

#[test]
fn rows_of_mariadb_arrive_over_tls_and_the_source_may_go_and_come_back() {
    rows_arrive_over_tls_and_the_source_may_go_and_come_back(Server::MariaDb);
}

#[test]
fn rows_of_mysql_arrive_over_tls_and_the_source_may_go_and_come_back() {
    rows_arrive_over_tls_and_the_source_may_go_and_come_back(Server::MySql);
}

fn what_cannot_replicate_is_one_sentence_and_touches_nothing(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    host.add(server, "odd", &["--set", "log_bin=binlog", "--set", "binlog_format=STATEMENT"]);
    host.query("source", "CREATE USER u@'%' IDENTIFIED BY 'right'; GRANT REPLICATION SLAVE ON *.* TO u@'%'");
    let password = host.root().join("password");
    fs::write(&password, "m1staken\n").expect("it goes well");
    let file = password.to_str().expect("it goes well").to_owned();
    let address = format!("{}:{}", host.address(), host.port("source"));
    let nobody = format!("{}:1", host.address());
    let before = (host.ok(&["config", "replica"]), host.query("source", "SELECT COUNT(*) FROM mysql.user"));
    let refusals: [(Vec<&str>, &str); 7] = [
        (vec!["--from", &address], "is a server that is not known here"),
        (vec!["--from", &address, "--user", "u", "--password-file", &file], "Access denied"),
        (vec!["--from", &nobody, "--user", "u", "--password-file", &file], "refused"),
        (vec!["--from", "replica"], "it is replica itself"),
        (vec!["--from", "missing"], "there is no such instance"),
        (vec!["--from", "odd"], "binlog_format=ROW is wanted there"),
        (vec!["--from", "source", "--both-writable"], "auto_increment_increment=2"),
    ];
    for (words, word) in refusals {
        let words: Vec<&str> = ["replicate", "replica"].into_iter().chain(words).collect();
        let said = host.refused(&words);
        assert!(said.contains(word), "{words:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
        assert!(!said.contains("m1staken"), "{said}");
    }
    // Transactions of its own.
    host.query("replica", "CREATE DATABASE mine");
    let said = host.refused(&["replicate", "replica", "--from", "source"]);
    assert!(said.contains("transactions of its own that the source has not"), "{said}");
    // The other way round it lacks what is not there any more.
    purge(&host, "replica");
    let said = host.refused(&["replicate", "odd", "--from", "replica"]);
    assert!(said.contains("odd cannot take part"), "{said}");
    let said = host.refused(&["replicate", "source", "--from", "replica"]);
    assert!(said.contains("source has transactions of its own"), "{said}");
    host.add(server, "blank", &[]);
    let said = host.refused(&["replicate", "blank", "--from", "replica"]);
    assert!(said.contains("the source's binlogs do not hold what blank lacks any more"), "{said}");
    assert_eq!(host.query("source", "SELECT COUNT(*) FROM mysql.user"), before.1);
    assert_eq!(host.ok(&["config", "replica"]), before.0);
    assert_eq!(host.replica("replica")["source"], Value::Null);
    let left: Vec<PathBuf> = ["links/replica.json", "instances/replica/source-ca.pem"]
        .map(|file| host.root().join(file))
        .into_iter()
        .filter(|path| path.exists())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_cannot_replicate_on_mariadb_is_one_sentence_and_touches_nothing() {
    what_cannot_replicate_is_one_sentence_and_touches_nothing(Server::MariaDb);
}

#[test]
fn what_cannot_replicate_on_mysql_is_one_sentence_and_touches_nothing() {
    what_cannot_replicate_is_one_sentence_and_touches_nothing(Server::MySql);
}

#[test]
fn mariadb_does_not_follow_mysql() {
    let host = Host::new();
    host.add(Server::MariaDb, "one", &[]);
    host.add(Server::MySql, "other", &[]);
    let said = host.refused(&["replicate", "one", "--from", "other"]);
    assert!(said.contains("both have to be of one kind"), "{said}");
}

fn foreign_source_is_followed_by_the_account_that_it_gives(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    host.query("source", "CREATE USER u@'%' IDENTIFIED BY 'right'");
    makes_tables(&host, "source");
    let password = host.root().join("password");
    fs::write(&password, "right\n").expect("it goes well");
    let address = format!("{}:{}", host.address(), host.port("source"));
    let ca = host.root().join("tls/ca.pem");
    // That of another host.
    let other = Host::new();
    other.ok(&["add", "any"]);
    let text = |path: &Path| path.to_str().expect("it goes well").to_owned();
    let (file, ca, other_ca) = (text(&password), text(&ca), text(&other.root().join("tls/ca.pem")));
    let words = |ca| {
        ["replicate", "replica", "--from", &address, "--user", "u", "--password-file", &file, "--ca", ca]
    };
    let before = host.ok(&["config", "replica"]);
    let said = host.refused(&words(&other_ca));
    assert!(said.contains("TLS failed"), "{said}");
    // It may log in, and may not replicate: what was begun is taken back.
    let said = host.refused(&words(&ca));
    assert!(said.contains("have replica replicate") && said.trim().lines().count() == 1, "{said}");
    assert_eq!(
        (host.ok(&["config", "replica"]), host.replica("replica")["source"].clone()),
        (before, Value::Null)
    );
    assert!(!host.root().join("links/replica.json").exists());
    host.query("source", "GRANT REPLICATION SLAVE ON *.* TO u@'%'");
    host.ok(&words(&ca));
    host.query("source", "INSERT INTO d.t (v) VALUES ('one')");
    await_that(|| rows_of(&host, "replica", "SELECT v FROM d.t") == "one");
}

#[test]
fn foreign_mariadb_is_followed_by_the_account_that_it_gives() {
    foreign_source_is_followed_by_the_account_that_it_gives(Server::MariaDb);
}

#[test]
fn foreign_mysql_is_followed_by_the_account_that_it_gives() {
    foreign_source_is_followed_by_the_account_that_it_gives(Server::MySql);
}

fn read_only_side_refuses_ordinary_users(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    makes_tables(&host, "source");
    host.query("source", "CREATE USER app@'%' IDENTIFIED BY 'x'; GRANT ALL ON d.* TO app@'%'");
    host.ok(&["replicate", "replica", "--from", "source"]);
    await_that(|| rows_of(&host, "replica", "SELECT COUNT(*) FROM mysql.user WHERE User = 'app'") == "1");
    let insert = |name: &str| {
        let words = [
            "client",
            name,
            "--",
            "--user=app",
            "--password=x",
            "--execute",
            "INSERT INTO d.t (v) VALUES ('x')",
        ];
        let said = host.command(&words).output().expect("it goes well");
        (said.status.success(), String::from_utf8_lossy(&said.stderr).into_owned())
    };
    assert!(insert("source").0);
    let (went_well, said) = insert("replica");
    assert!(!went_well && said.contains("read-only"), "{said}");
}

#[test]
fn read_only_side_of_mariadb_refuses_ordinary_users() {
    read_only_side_refuses_ordinary_users(Server::MariaDb);
}

#[test]
fn read_only_side_of_mysql_refuses_ordinary_users() {
    read_only_side_refuses_ordinary_users(Server::MySql);
}

#[test]
fn circle_is_made_only_where_both_are_to_be_written_to() {
    let host = Host::new();
    for name in ["one", "two", "three"] {
        host.add(Server::MariaDb, name, &[]);
    }
    host.ok(&["replicate", "two", "--from", "one"]);
    host.ok(&["replicate", "three", "--from", "two"]);
    let said = host.refused(&["replicate", "one", "--from", "two"]);
    assert!(said.contains("it follows one itself"), "{said}");
    let said = host.refused(&["replicate", "one", "--from", "three"]);
    assert!(said.contains("that would be a circle (three and two follow it)"), "{said}");
    let said = host.refused(&["replicate", "two", "--from", "three"]);
    assert!(said.contains("it follows") && said.contains("--forget ends that"), "{said}");
    // What the first one writes arrives at the last.
    makes_tables(&host, "one");
    await_that(|| rows_of(&host, "three", "SHOW TABLES FROM d") == "t");
    // Both ways where that is said.
    host.ok(&["replicate", "three", "--forget"]);
    host.ok(&["set", "one", "auto_increment_increment=2", "auto_increment_offset=1"]);
    host.ok(&["set", "two", "auto_increment_increment=2", "auto_increment_offset=2"]);
    host.ok(&["replicate", "one", "--from", "two", "--both-writable"]);
    for name in ["one", "two"] {
        host.query(name, "INSERT INTO d.t (v) VALUES (@@port)");
    }
    for name in ["one", "two"] {
        await_that(|| rows_of(&host, name, "SELECT GROUP_CONCAT(id % 2 ORDER BY id % 2) FROM d.t") == "0,1");
    }
    assert_eq!(host.query("one", "SELECT @@auto_increment_offset"), "1");
}

#[test]
fn former_source_follows_the_one_that_took_its_place() {
    let host = Host::new();
    for name in ["old", "new"] {
        host.add(Server::MariaDb, name, &[]);
    }
    makes_tables(&host, "old");
    host.ok(&["replicate", "new", "--from", "old"]);
    host.query("old", "INSERT INTO d.t (v) VALUES ('one')");
    await_that(|| rows_of(&host, "new", "SELECT v FROM d.t") == "one");
    host.ok(&["replicate", "new", "--forget"]);
    host.ok(&["set", "new", "read_only=OFF"]);
    // The new one's binlogs do not hold any more what the old one wrote.
    purge(&host, "new");
    host.query("new", "INSERT INTO d.t (v) VALUES ('two')");
    host.ok(&["replicate", "old", "--from", "new"]);
    host.query("new", "INSERT INTO d.t (v) VALUES ('three')");
    await_that(|| rows_of(&host, "old", "SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t") == "one,two,three");
}

fn tables_that_are_in_no_binlog_of_the_source_are_not_left_out(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    makes_tables(&host, "source");
    host.query("source", "INSERT INTO d.t (v) VALUES ('old')");
    let reset = match server {
        Server::MariaDb => "RESET MASTER",
        Server::MySql => "RESET BINARY LOGS AND GTIDS",
    };
    host.query("source", reset);
    let refused = |word: &str| {
        let said = host.refused(&["replicate", "replica", "--from", "source"]);
        assert!(said.contains(word) && said.contains("nuthatch instance clone"), "{said}");
        assert_eq!(host.replica("replica")["source"], Value::Null);
        assert_eq!(host.query("replica", "SELECT @@read_only + 0"), "0");
    };
    refused("past them: d.t;");
    // What says that it makes the table, and does not.
    let age = "SELECT TIMESTAMPDIFF(SECOND, CREATE_TIME, NOW()) > 3 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'";
    await_that(|| host.query("source", age) == "1");
    host.query("source", "CREATE TABLE IF NOT EXISTS d.t (id INT)");
    refused("past them: d.t;");
    // One that was made past the binlog, beside those that were not.
    host.query("source", &format!("DROP DATABASE d; {reset}"));
    makes_tables(&host, "source");
    host.query("source", "CREATE TABLE IF NOT EXISTS d.new (id INT); RENAME TABLE d.new TO d.newer");
    let past = "SET sql_log_bin = 0; CREATE DATABASE e; CREATE TABLE e.past (id INT)";
    host.query("source", past);
    refused("past them: e.past;");
    // Whoever has it on both sides knows why.
    host.query("replica", past);
    host.ok(&["replicate", "replica", "--from", "source"]);
    await_that(|| rows_of(&host, "replica", "SHOW TABLES FROM d") == "newer\nt");
}

#[test]
fn tables_that_are_in_no_binlog_of_a_mariadb_are_not_left_out() {
    tables_that_are_in_no_binlog_of_the_source_are_not_left_out(Server::MariaDb);
}

#[test]
fn tables_that_are_in_no_binlog_of_a_mysql_are_not_left_out() {
    tables_that_are_in_no_binlog_of_the_source_are_not_left_out(Server::MySql);
}

/// By an account that may log in, and may not replicate.
fn replicates_as_who_may_not(host: &Host) -> [String; 8] {
    host.query("source", "CREATE USER u@'%' IDENTIFIED BY 'right'");
    let password = host.root().join("password");
    fs::write(&password, "right\n").expect("it goes well");
    let file = password.to_str().expect("it goes well");
    let address = format!("{}:{}", host.address(), host.port("source"));
    ["replicate", "replica", "--from", &address, "--user", "u", "--password-file", file].map(str::to_owned)
}

fn fenced_server_stays_fenced_where_replication_fails(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    let words = replicates_as_who_may_not(&host);
    let words = words.each_ref().map(String::as_str);
    let (fence, fences) = match server {
        Server::MariaDb => ("SET GLOBAL read_only = 1", "SELECT @@GLOBAL.read_only + 0"),
        Server::MySql => {
            ("SET GLOBAL super_read_only = 1", "SELECT @@GLOBAL.read_only + @@GLOBAL.super_read_only - 1")
        }
    };
    let config = host.ok(&["config", "replica"]);
    assert!(host.refused(&words).contains("have replica replicate"));
    assert_eq!(host.query("replica", "SELECT @@GLOBAL.read_only + 0"), "0");
    host.query("replica", fence);
    assert!(host.refused(&words).contains("have replica replicate"));
    assert_eq!(host.query("replica", fences), "1", "it is fenced still");
    assert_eq!((host.ok(&["config", "replica"]), host.ok(&["list"]).contains("read_only")), (config, false));
}

#[test]
fn fenced_mariadb_stays_fenced_where_replication_fails() {
    fenced_server_stays_fenced_where_replication_fails(Server::MariaDb);
}

#[test]
fn fenced_mysql_stays_fenced_where_replication_fails() {
    fenced_server_stays_fenced_where_replication_fails(Server::MySql);
}

fn own_events_of_a_replica_run_no_more(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    host.query(
        "replica",
        "SET sql_log_bin = 0; CREATE DATABASE own; CREATE USER owner@'%' IDENTIFIED BY 'x'; GRANT ALL ON own.* TO owner@'%'; \
         CREATE DEFINER = owner@'%' EVENT own.tick ON SCHEDULE EVERY 1 HOUR DO DO 1",
    );
    let is_mysql = server == Server::MySql;
    if is_mysql {
        // As a proxy does it to a primary whose place another one has taken.
        host.query("replica", "SET GLOBAL super_read_only = 1");
    }
    let event = "SELECT CONCAT_WS(' ', COUNT(*), SUM(STATUS = 'ENABLED'), MAX(DEFINER)) FROM information_schema.EVENTS";
    let words = replicates_as_who_may_not(&host);
    assert!(host.refused(&words.each_ref().map(String::as_str)).contains("have replica replicate"));
    assert_eq!(host.query("replica", event), "1 1 owner@%", "it is taken back");
    host.ok(&["replicate", "replica", "--from", "source"]);
    assert_eq!(host.query("replica", event), "1 0 owner@%");
    if is_mysql {
        assert_eq!(host.query("replica", "SELECT @@GLOBAL.super_read_only"), "1");
    }
    // Nothing of it is one of its own transactions.
    host.ok(&["replicate", "replica", "--forget"]);
    host.ok(&["replicate", "replica", "--from", "source"]);
}

#[test]
fn own_events_of_a_mariadb_replica_run_no_more() {
    own_events_of_a_replica_run_no_more(Server::MariaDb);
}

#[test]
fn own_events_of_a_mysql_replica_run_no_more() {
    own_events_of_a_replica_run_no_more(Server::MySql);
}

/// Many servers have written what both have.
fn long_history(server: Server) -> Vec<String> {
    match server {
        Server::MariaDb => {
            let all: Vec<String> = (1..=900).map(|number| format!("0-{number}-{number}")).collect();
            vec![
                "RESET MASTER".to_owned(),
                format!("SET GLOBAL gtid_binlog_state = '{}'", all.join(",")),
                "SET GLOBAL gtid_slave_pos = '0-900-900'".to_owned(),
            ]
        }
        Server::MySql => {
            let of = |number| format!("{number:08x}-0000-0000-0000-000000000000:1-5");
            let all: Vec<String> = (1..=60).map(of).collect();
            vec![
                "RESET BINARY LOGS AND GTIDS".to_owned(),
                format!("SET GLOBAL gtid_purged = '{}'", all.join(",")),
            ]
        }
    }
}

fn long_history_is_read_whole(server: Server) {
    let host = Host::new();
    for name in ["source", "replica"] {
        host.add(server, name, &[]);
        long_history(server).iter().for_each(|statement| drop(host.query(name, statement)));
    }
    host.ok(&["replicate", "replica", "--from", "source"]);
    makes_tables(&host, "source");
    await_that(|| rows_of(&host, "replica", "SHOW TABLES FROM d") == "t");
}

#[test]
fn long_history_of_mariadb_is_read_whole() {
    long_history_is_read_whole(Server::MariaDb);
}

#[test]
fn long_history_of_mysql_is_read_whole() {
    long_history_is_read_whole(Server::MySql);
}

#[test]
fn mariadb_that_was_restored_as_another_goes_on_from_its_backup() {
    let host = Host::new();
    host.add(Server::MariaDb, "shop", &[]);
    makes_tables(&host, "shop");
    let backups = host.root().join("backups");
    let dir = backups.to_str().expect("it goes well");
    host.query("shop", "INSERT INTO d.t (v) VALUES ('one')");
    host.ok(&["backup", "shop", "--to", dir]);
    host.query("shop", "INSERT INTO d.t (v) VALUES ('two')");
    host.ok(&["archive", "shop", "--to", dir]);
    let all: Value = serde_json::from_str(&host.ok(&["backups", dir, "--json"])).expect("it goes well");
    let from = all[0]["directory"].as_str().expect("it goes well");
    host.ok(&["restore", "then", "--from", from]);
    host.ok(&["restore", "later", "--from", from, "--until", "end"]);
    for name in ["then", "later"] {
        host.ok(&["replicate", name, "--from", "shop"]);
    }
    host.query("shop", "INSERT INTO d.t (v) VALUES ('three')");
    for name in ["then", "later"] {
        let rows = || rows_of(&host, name, "SELECT GROUP_CONCAT(v ORDER BY id) FROM d.t");
        await_that(|| rows() == "one,two,three");
        assert_eq!(host.replica(name)["state"], "running");
    }
}

#[test]
fn of_two_commands_at_once_neither_takes_the_others_replication_down() {
    let host = Host::new();
    for name in ["one", "other", "replica", "torn"] {
        host.add(Server::MariaDb, name, &[]);
    }
    let both = |commands: [&[&str]; 2]| {
        commands
            .map(|words| {
                let mut command = host.command(words);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it goes well")
            })
            .map(|child| child.wait_with_output().expect("it goes well"))
    };
    // The same twice: the second finds it done.
    let said = both([&["replicate", "replica", "--from", "one"]; 2]);
    assert!(said.iter().all(|said| said.status.success()), "{said:?}");
    let said = both([&["replicate", "torn", "--from", "one"], &["replicate", "torn", "--from", "other"]]);
    assert_eq!(said.iter().filter(|said| said.status.success()).count(), 1, "{said:?}");
    let won = if said[0].status.success() { "one" } else { "other" };
    makes_tables(&host, "one");
    makes_tables(&host, "other");
    for (name, source) in [("replica", "one"), ("torn", won)] {
        // It logs in anew.
        host.ok(&["restart", name]);
        host.query(source, &format!("INSERT INTO d.t (v) VALUES ('{name}')"));
        await_that(|| rows_of(&host, name, &format!("SELECT v FROM d.t WHERE v = '{name}'")) == name);
        assert!(host.root().join(format!("links/{name}.json")).exists());
    }
    let user = format!(
        "SELECT COUNT(*) FROM mysql.user WHERE User = 'nuthatch_repl_{}'",
        host.show("torn")["server_id"]
    );
    let accounts = ["one", "other"].map(|name| host.query(name, &user));
    assert_eq!(accounts.iter().filter(|count| *count == "1").count(), 1, "{accounts:?}");
}

/// What a host answers to another one.
fn answer(host: &Host, request: &Value) -> String {
    let mut child =
        host.command(&["answer"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it goes well");
    let text = request.to_string();
    child.stdin.take().expect("it goes well").write_all(text.as_bytes()).expect("it goes well");
    String::from_utf8_lossy(&child.wait_with_output().expect("it goes well").stdout).into_owned()
}

#[test]
fn what_came_between_the_look_and_the_order_is_seen_under_the_lock() {
    let host = Host::new();
    host.add(Server::MariaDb, "source", &[]);
    host.add(Server::MariaDb, "replica", &[]);
    host.query("source", "CREATE USER u@'%' IDENTIFIED BY 'right'; GRANT REPLICATION SLAVE ON *.* TO u@'%'");
    let (address, port) = (host.address(), host.port("source"));
    let link = serde_json::json!({
        "source": format!("{address}:{port}"), "user": "u", "over_tls": false, "via": "foreign"
    });
    let order = serde_json::json!({"follow": {
        "name": "replica", "host": address, "port": port, "password": "right", "trust": "clear",
        "beginning": "AsItStands", "options": ["read_only=ON"], "link": link, "is_mutual": false, "again": false
    }});
    host.query("replica", "CREATE DATABASE mine");
    let said = answer(&host, &order);
    assert!(said.contains("refused") && said.contains("transactions of its own"), "{said}");
    assert_eq!(host.query("replica", "SELECT @@read_only + 0"), "0");
    host.query("replica", "DROP DATABASE mine; RESET MASTER");
    assert_eq!(answer(&host, &order).trim(), "\"done\"");
    let said = answer(&host, &order);
    assert!(said.contains("meanwhile it follows"), "{said}");
    assert_eq!(host.replica("replica")["state"], "running");
    makes_tables(&host, "source");
    await_that(|| rows_of(&host, "replica", "SHOW TABLES FROM d") == "t");
}

fn another_manner_is_applied_or_refused(server: Server) {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    let again = ["replicate", "replica", "--from", "source"];
    host.ok(&again);
    for (no_tls, over_tls) in [(&["--no-tls"][..], false), (&[], true)] {
        let words: Vec<&str> = again.iter().chain(no_tls).copied().collect();
        assert!(!host.ok(&words).contains("already"));
        await_that(|| host.replica("replica")["state"] == "running");
        assert_eq!(host.replica("replica")["over_tls"], over_tls);
        assert!(host.ok(&words).contains("follows it already"));
    }
    host.ok(&["replicate", "replica", "--stop"]);
    let said = host.refused(&again);
    assert!(
        said.contains("follows it already, and is stopped") && said.contains("--repair replica"),
        "{said}"
    );
    host.ok(&["replicate", "replica", "--go-on"]);
    host.ok(&["set", "replica", "read_only=OFF"]);
    let said = host.refused(&again);
    assert!(said.contains("is written to too; nuthatch instance set replica read_only=ON"), "{said}");
    host.ok(&["set", "replica", "read_only=ON"]);
    host.ok(&["set", "source", "auto_increment_increment=2", "auto_increment_offset=1"]);
    let said = host.refused(&["replicate", "replica", "--from", "source", "--both-writable"]);
    assert!(said.contains("is read-only") && said.contains("auto_increment_increment=2"), "{said}");
}

#[test]
fn another_manner_is_applied_or_refused_on_mariadb() {
    another_manner_is_applied_or_refused(Server::MariaDb);
}

#[test]
fn another_manner_is_applied_or_refused_on_mysql() {
    another_manner_is_applied_or_refused(Server::MySql);
}

#[test]
fn clients_that_count_by_one_keep_both_from_being_written_to() {
    let host = Host::new();
    host.add(Server::MariaDb, "source", &["--set", "auto_increment_increment=2"]);
    host.add(Server::MariaDb, "replica", &[]);
    let mut client = host
        .command(&["client", "replica", "--", "--execute", "SELECT SLEEP(600)"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it goes well");
    let find = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(600)'";
    await_that(|| !host.query("replica", find).is_empty());
    let words = ["replicate", "replica", "--from", "source", "--both-writable"];
    let said = host.refused(&words);
    assert!(said.contains("1 clients are connected to it, and keep counting rows by 1"), "{said}");
    let id = host.query("replica", find);
    host.query("replica", &format!("KILL {id}"));
    client.wait().expect("it goes well");
    await_that(|| host.query("replica", find).is_empty());
    host.ok(&words);
    assert_eq!(
        host.query("replica", "SELECT CONCAT_WS(' ', @@auto_increment_increment, @@read_only + 0)"),
        "2 0"
    );
}
