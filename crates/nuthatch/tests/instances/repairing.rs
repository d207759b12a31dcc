//! Replicas that have stopped: what is safe is offered and done, what is not is explained, and nothing is skipped.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::host::{Host, await_that};
use crate::replicating::{Server, makes_tables, purge, rows_of};

/// The words of one kind of server.
struct Words {
    stop: &'static str,
    start: &'static str,
    stop_applying: &'static str,
    start_applying: &'static str,
}

impl Server {
    fn words(self) -> Words {
        match self {
            Self::MariaDb => Words {
                stop: "STOP SLAVE",
                start: "START SLAVE",
                stop_applying: "STOP SLAVE SQL_THREAD",
                start_applying: "START SLAVE SQL_THREAD",
            },
            Self::MySql => Words {
                stop: "STOP REPLICA",
                start: "START REPLICA",
                stop_applying: "STOP REPLICA SQL_THREAD",
                start_applying: "START REPLICA SQL_THREAD",
            },
        }
    }
}

/// A source and a replica with a table.
fn pair(server: Server) -> Host {
    let host = Host::new();
    host.add(server, "source", &[]);
    host.add(server, "replica", &[]);
    makes_tables(&host, "source");
    host.ok(&["replicate", "replica", "--from", "source"]);
    await_that(|| rows_of(&host, "replica", "SHOW TABLES FROM d") == "t");
    host
}

fn await_state(host: &Host, wanted: &str) {
    await_that(|| host.replica("replica")["state"] == wanted);
}

/// What is written at the source arrives.
fn replicates(host: &Host, mark: &str) {
    host.query("source", &format!("INSERT INTO d.t (v) VALUES ('{mark}')"));
    await_that(|| rows_of(host, "replica", &format!("SELECT v FROM d.t WHERE v = '{mark}'")) == mark);
}

/// The last of its relay logs, which holds what was fetched last.
fn relay_log(host: &Host) -> PathBuf {
    let mut logs: Vec<PathBuf> = fs::read_dir(host.path_of("replica").join("data"))
        .expect("it goes well")
        .map(|entry| entry.expect("it goes well").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("relay.0")))
        .collect();
    logs.sort();
    logs.pop().expect("it goes well")
}

fn what_loses_nothing_is_mended(server: Server) {
    let (host, words) = (pair(server), server.words());
    let repair = ["replication", "--repair", "replica", "--yes"];
    assert!(host.ok(&repair).is_empty(), "nothing is wrong");
    // It was stopped.
    host.query("replica", words.stop);
    let said = host.refused(&["replication", "--repair"]);
    assert!(said.contains("say --yes"), "{said}");
    assert!(host.ok(&repair).contains("it was stopped"));
    replicates(&host, "stopped");
    // Its password is another one; that it has transactions of its own is another matter.
    host.query("replica", "CREATE DATABASE mine");
    let user = format!("nuthatch_repl_{}", host.show("replica")["server_id"]);
    let lost = format!("SET sql_log_bin = 0; ALTER USER '{user}'@'127.0.0.1' IDENTIFIED BY 'another'");
    host.query("source", &lost);
    host.query("replica", &format!("{}; {}", words.stop, words.start));
    await_that(|| host.replica("replica")["why"].as_str().is_some_and(|why| why.contains("denied")));
    let said = host.command(&["doctor"]).output().expect("it goes well");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("its login is refused") && said.contains("--repair replica"), "{said}");
    host.ok(&repair);
    replicates(&host, "password");
    // What it has fetched is damaged on its disk.
    host.query("replica", words.stop_applying);
    host.query("source", "INSERT INTO d.t (v) VALUES ('damaged'), (REPEAT('x', 20))");
    let fetched =
        || fs::read(relay_log(&host)).expect("it goes well").windows(7).any(|bytes| bytes == b"damaged");
    await_that(fetched);
    assert_eq!(host.replica("replica")["unapplied"], 1, "one statement of two rows");
    let (log, wanted) = (relay_log(&host), *b"damaged");
    let mut bytes = fs::read(&log).expect("it goes well");
    let place = bytes.windows(7).rposition(|bytes| bytes == wanted).expect("it goes well");
    bytes[place - 40..place + 20].fill(0xFF);
    fs::write(&log, bytes).expect("it goes well");
    host.query("replica", words.start_applying);
    await_state(&host, "broken");
    let said = host.ok(&repair);
    assert!(said.contains("what it has fetched is damaged"), "{said}");
    await_that(|| rows_of(&host, "replica", "SELECT v FROM d.t WHERE v = 'damaged'") == "damaged");
    replicates(&host, "last");
}

#[test]
fn what_loses_nothing_is_mended_on_mariadb() {
    what_loses_nothing_is_mended(Server::MariaDb);
}

#[test]
fn what_loses_nothing_is_mended_on_mysql() {
    what_loses_nothing_is_mended(Server::MySql);
}

fn what_needs_a_decision_is_explained_and_never_skipped(server: Server) {
    let (host, words) = (pair(server), server.words());
    let explained = |word: &str| {
        let output = host.command(&["replication", "--repair", "--yes"]).output().expect("it goes well");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!output.status.success() && said.contains(word), "{said}");
        assert_eq!(host.replica("replica")["state"], "broken");
    };
    let unlogged = |sql: &str| host.query("replica", &format!("SET sql_log_bin = 0; {sql}"));
    // A row of its own in the place of one of the source's.
    unlogged("INSERT INTO d.t VALUES (1, 'mine')");
    host.query("source", "INSERT INTO d.t VALUES (1, 'theirs')");
    await_state(&host, "broken");
    explained("a row that the source has added is here already");
    unlogged("DELETE FROM d.t WHERE id = 1");
    host.ok(&["replicate", "replica", "--go-on"]);
    await_that(|| rows_of(&host, "replica", "SELECT v FROM d.t WHERE id = 1") == "theirs");
    // One that is missing.
    unlogged("DELETE FROM d.t WHERE id = 1");
    host.query("source", "UPDATE d.t SET v = 'changed' WHERE id = 1");
    await_state(&host, "broken");
    explained("is missing here");
    unlogged("INSERT INTO d.t VALUES (1, 'theirs')");
    host.ok(&["replicate", "replica", "--go-on"]);
    await_that(|| rows_of(&host, "replica", "SELECT v FROM d.t WHERE id = 1") == "changed");
    // What it lacks is gone from the source's binlogs.
    host.query("replica", words.stop);
    host.query("source", "INSERT INTO d.t VALUES (9, 'gone')");
    purge(&host, "source");
    host.query("replica", words.start);
    await_state(&host, "broken");
    explained("nuthatch instance clone");
    let health = host.command(&["health"]).output().expect("it goes well");
    assert!(String::from_utf8_lossy(&health.stdout).contains("it does not replicate from"), "{health:?}");
}

#[test]
fn what_needs_a_decision_is_explained_and_never_skipped_on_mariadb() {
    what_needs_a_decision_is_explained_and_never_skipped(Server::MariaDb);
}

#[test]
fn what_needs_a_decision_is_explained_and_never_skipped_on_mysql() {
    what_needs_a_decision_is_explained_and_never_skipped(Server::MySql);
}

#[test]
fn what_is_not_mended_keeps_none_of_the_others_from_it() {
    let host = pair(Server::MariaDb);
    host.add(Server::MariaDb, "second", &[]);
    host.ok(&["replicate", "second", "--from", "source"]);
    let both = |statement: &str| ["replica", "second"].map(|name| host.query(name, statement));
    both("STOP SLAVE");
    // No, and yes.
    let words = format!(
        "{} instance --root {} replication --repair",
        env!("CARGO_BIN_EXE_nuthatch"),
        host.root().display()
    );
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &words, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, of Debian's bsdutils");
    let mut input = terminal.stdin.take().expect("it goes well");
    input.write_all(b"n\ny\n").expect("it goes well");
    let said = terminal.wait_with_output().expect("it goes well");
    drop(input);
    assert!(!said.status.success(), "one is left: {said:?}");
    assert_eq!(host.replica("replica")["state"], "stopped");
    await_that(|| host.replica("second")["state"] == "running");
    // One that cannot be mended: its source does not run.
    both("STOP SLAVE");
    host.query("replica", "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1");
    let said = host.refused(&["replication", "--repair", "--yes"]);
    assert!(
        said.contains("have replica replicate") && said.contains("one of them is left as it was"),
        "{said}"
    );
    await_that(|| host.replica("second")["state"] == "running");
    // One that does not run.
    host.ok(&["stop", "second"]);
    let said = host.command(&["replication", "--repair", "second"]).output().expect("it goes well");
    let words = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(!said.status.success() && words.contains("second: it does not run"), "{words}");
}

#[test]
fn replication_by_file_and_position_is_explained_only() {
    let host = pair(Server::MariaDb);
    host.query("replica", "STOP SLAVE; CHANGE MASTER TO MASTER_USE_GTID = no");
    let output = host.command(&["replication", "--repair", "--yes"]).output().expect("it goes well");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && said.contains("by file and position"), "{said}");
    assert_eq!(host.replica("replica")["state"], "stopped");
}
