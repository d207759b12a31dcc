//! Writes past the proxy, where the binlog is followed: what is promised, when it is not, and that it says so.
//!
//! Each test has a server of its own, on which an account has what the page says that it needs, and nothing more.

mod kinds;
mod lists;
mod replicas;
mod several;
mod values;
mod views;

use std::time::Duration;

use nuthatch_lab::{Kind, Options, ScratchLab};
use nuthatch_wire::Command;
use rustix::process::Signal;

use super::{await_known, hits, is_hit, on};
use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

const ROW: &str = "SELECT v FROM t WHERE id = 1";
const COUNT: &str = "SELECT COUNT(*) FROM t";

/// A proxy that follows so, before a server of that kind.
fn following(kind: Kind, mode: &str, extra: &[&str], further: impl FnOnce(Setup) -> Setup) -> Stage {
    following_with("pw", kind, mode, extra, further)
}

/// The same with that password.
fn following_with(
    password: &str,
    kind: Kind,
    mode: &str,
    extra: &[&str],
    further: impl FnOnce(Setup) -> Setup,
) -> Stage {
    before(kind, 0, extra, further(setup(mode, password)))
}

/// A proxy before a server of that kind with so many replicas, which take no writes.
fn before(kind: Kind, replicas: u16, extra: &[&str], setup: Setup) -> Stage {
    let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
    let options = Options {
        installation: servers::installation(kind),
        replicas,
        buffer_pool_mib: 64,
        extra,
        ..Options::default()
    };
    let lab = ScratchLab::up(&options).expect("a server comes up");
    let mut server = servers::primary(&lab);
    server.ok("CREATE USER follow@'%' IDENTIFIED BY 'pw'");
    match kind {
        Kind::MariaDb => server.ok("GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO follow@'%'"),
        Kind::MySql => server.ok("GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO follow@'%'"),
    };
    for statement in [
        "CREATE DATABASE nuthatch",
        "CREATE TABLE nuthatch.marker (id INT UNSIGNED PRIMARY KEY, at BIGINT UNSIGNED NOT NULL)",
        "GRANT INSERT, UPDATE ON nuthatch.marker TO follow@'%'",
    ] {
        server.ok(statement);
    }
    if replicas > 0 {
        servers::await_replicas(&lab);
        servers::replica(&lab).ok("SET GLOBAL read_only = 1");
    }
    Stage::before_lab(lab, setup)
}

/// That follows so.
fn setup(mode: &str, password: &str) -> Setup {
    on(Setup::default())
        .variable("mysql-query_cache_follow", format!("'{mode}'"))
        .variable("mysql-query_cache_follow_username", "'follow'")
        .variable("mysql-query_cache_follow_password", format!("'{password}'"))
}

/// What `stats_query_cache_follow` says in that column.
fn told(stage: &Stage, column: &str) -> String {
    let rows = stage.proxy.operator().table(format!("SELECT {column} FROM stats_query_cache_follow"));
    rows.first().and_then(|row| row.first()).cloned().unwrap_or_default()
}

#[track_caller]
fn await_mode(stage: &Stage, mode: &str) {
    await_that(mode, || told(stage, "mode") == mode);
}

/// Returns when the answer is that, with the longest that it took.
fn until(client: &mut Client, sql: &str, expected: &str) -> Duration {
    let watch = Stopwatch::start();
    while client.table(sql) != [[expected]] {
        assert!(watch.elapsed() < Duration::from_secs(10), "{sql} is never {expected}");
    }
    watch.elapsed()
}

#[test]
fn write_past_the_proxy_of_mariadb_is_seen_within_the_bound() {
    is_seen_within_the_bound(Kind::MariaDb);
}

#[test]
fn write_past_the_proxy_of_mysql_is_seen_within_the_bound() {
    is_seen_within_the_bound(Kind::MySql);
}

fn is_seen_within_the_bound(kind: Kind) {
    let stage =
        following(kind, "bounded", &[], |setup| setup.variable("mysql-query_cache_max_staleness_ms", 1000));
    let (mut client, mut direct) = (stage.client(), stage.primary());
    await_known(&stage, &mut client, COUNT);
    await_mode(&stage, "bounded");
    for (write, sql, expected) in [
        ("UPDATE t SET v = 'new' WHERE id = 1", ROW, "new"),
        ("INSERT INTO t VALUES (4, 'four')", COUNT, "4"),
        ("DELETE FROM t WHERE id = 4", COUNT, "3"),
        ("UPDATE t SET v = 'all'", ROW, "all"),
        ("TRUNCATE TABLE t", COUNT, "0"),
        ("INSERT INTO t VALUES (1, 'again')", ROW, "again"),
        ("ALTER TABLE t MODIFY v VARCHAR(50)", COUNT, "1"),
        ("UPDATE t SET v = 'last' WHERE id = 1", ROW, "last"),
    ] {
        await_that("it is served", || is_hit(&stage, &mut client, sql));
        direct.ok(write);
        let late = until(&mut client, sql, expected);
        assert!(late < Duration::from_millis(1100), "{write} is seen after {late:?}");
    }
    await_that("all is proven", || told(&stage, "unproven") == "0");
}

#[test]
fn row_that_is_written_past_the_proxy_takes_no_other_with_it() {
    let stage = following(Kind::MariaDb, "bounded", &[], |setup| {
        setup.variable("mysql-query_cache_max_staleness_ms", 1000)
    });
    let (mut client, mut direct) = (stage.client(), stage.primary());
    let other = "SELECT v FROM t WHERE id = 2";
    await_known(&stage, &mut client, other);
    await_mode(&stage, "bounded");
    await_that("it is served", || is_hit(&stage, &mut client, ROW));
    // Once the picture is known to be that of the events at hand.
    await_that("rows are told apart", || {
        client.ok(other);
        direct.ok("UPDATE t SET v = CONCAT(v, '.') WHERE id = 1");
        until(&mut client, ROW, &direct.value(ROW));
        is_hit(&stage, &mut client, other)
    });
}

#[test]
fn what_is_not_followed_yet_is_not_served_and_says_why() {
    let stage = following_with("wrong", Kind::MariaDb, "bounded", &[], |setup| setup);
    let mut client = stage.client();
    await_that("it is refused", || told(&stage, "why").contains("Access denied"));
    assert_eq!(told(&stage, "mode"), "off");
    for _ in 0..3 {
        client.ok(ROW);
    }
    assert_eq!(hits(&stage), 0);
    let explained = client.table(format!("EXPLAIN CACHE {ROW}"));
    assert!(
        explained.iter().any(|row| row[0] == "follow" && row[1].contains("Access denied")),
        "{explained:?}"
    );
    assert!(!stage.proxy.log().contains("wrong"), "no password is told");
    stage.administer(["SET mysql-query_cache_follow_password = 'pw'", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    await_mode(&stage, "bounded");
    await_that("it is served", || is_hit(&stage, &mut client, ROW));
}

/// It is given what it shows once all is carried that was written before it was opened, and nothing newer.
#[test]
fn snapshots_are_served_what_they_show_within_mariadbs_bound() {
    serves_snapshots(Kind::MariaDb);
}

#[test]
fn snapshots_are_served_what_they_show_within_mysqls_bound() {
    serves_snapshots(Kind::MySql);
}

fn serves_snapshots(kind: Kind) {
    let stage =
        following(kind, "bounded", &[], |setup| setup.variable("mysql-query_cache_max_staleness_ms", 10_000));
    let (mut reader, mut other, mut direct) = (stage.client(), stage.client(), stage.primary());
    await_known(&stage, &mut other, ROW);
    await_mode(&stage, "bounded");
    for round in 0..20 {
        let [old, new] = ["old", "new"].map(|word| format!("{word} {round}"));
        direct.ok(format!("UPDATE t SET v = '{old}' WHERE id = 1"));
        await_that("it is carried", || other.value(ROW) == old && is_hit(&stage, &mut other, ROW));
        reader.ok("BEGIN");
        reader.ok("SELECT v FROM t WHERE id = 2");
        await_that("the snapshot is served", || is_hit(&stage, &mut reader, ROW));
        assert_eq!(reader.value(ROW), old);
        direct.ok(format!("UPDATE t SET v = '{new}' WHERE id = 1"));
        await_that("the others see it", || other.value(ROW) == new);
        await_that("the newer answer is stored", || is_hit(&stage, &mut other, ROW));
        for _ in 0..20 {
            assert_eq!(reader.value(ROW), old, "another's answer is newer than the snapshot");
        }
        reader.ok("COMMIT");
    }
}

/// What a server is started with that is to wait for replicas.
fn waits(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::MariaDb => &[
            "rpl_semi_sync_master_enabled=1",
            "rpl_semi_sync_master_wait_point=AFTER_SYNC",
            "rpl_semi_sync_master_timeout=1000",
        ],
        Kind::MySql => &["plugin_load_add=semisync_source.so"],
    }
}

fn waiting(kind: Kind) -> Stage {
    let stage = following(kind, "exact", waits(kind), |setup| setup);
    wait_for_replicas(kind, &mut stage.primary());
    stage
}

/// Has a server wait that does not from its start on.
fn wait_for_replicas(kind: Kind, direct: &mut Client) {
    if kind == Kind::MySql {
        direct.ok("SET GLOBAL rpl_semi_sync_source_timeout = 1000");
        direct.ok("SET GLOBAL rpl_semi_sync_source_enabled = ON");
    }
}

#[test]
fn no_read_is_older_than_what_mariadb_acknowledged_past_the_proxy() {
    is_exact(Kind::MariaDb);
}

#[test]
fn no_read_is_older_than_what_mysql_acknowledged_past_the_proxy() {
    is_exact(Kind::MySql);
}

fn is_exact(kind: Kind) {
    let stage = waiting(kind);
    let (mut client, mut direct) = (stage.client(), stage.primary());
    await_mode(&stage, "exact");
    await_known(&stage, &mut client, ROW);
    for round in 0..300 {
        direct.ok(format!("UPDATE t SET v = '{round}' WHERE id = 1"));
        assert_eq!(client.value(ROW), round.to_string(), "after it was acknowledged");
        if round % 10 == 0 {
            await_that("it is served again", || is_hit(&stage, &mut client, ROW));
            assert_eq!(client.value(ROW), round.to_string());
        }
    }
    assert_eq!((told(&stage, "mode"), told(&stage, "falls")), ("exact".to_owned(), "0".to_owned()));
    // A snapshot may be served then.
    client.ok("BEGIN");
    client.ok(COUNT);
    let other = "SELECT v FROM t WHERE id = 2";
    client.ok(other);
    assert!(is_hit(&stage, &mut client, other));
    client.ok("COMMIT");
}

#[test]
fn markers_row_that_is_gone_in_mariadb_is_made_again() {
    is_exact_behind_a_lost_marker(Kind::MariaDb);
}

#[test]
fn markers_row_that_is_gone_in_mysql_is_made_again() {
    is_exact_behind_a_lost_marker(Kind::MySql);
}

/// Nothing is written where no row is, and nothing waited for.
fn is_exact_behind_a_lost_marker(kind: Kind) {
    let stage = waiting(kind);
    let mut direct = stage.primary();
    let definition =
        "CREATE TABLE nuthatch.marker (id INT UNSIGNED PRIMARY KEY, at BIGINT UNSIGNED NOT NULL)";
    for lost in [&["DELETE FROM nuthatch.marker"][..], &["DROP TABLE nuthatch.marker", definition]] {
        await_mode(&stage, "exact");
        lost.iter().for_each(|statement| drop(direct.ok(*statement)));
        await_that("the row is there", || direct.table("SELECT COUNT(*) FROM nuthatch.marker") == [["1"]]);
        await_mode(&stage, "exact");
    }
}

#[test]
fn privilege_that_is_missing_in_mariadb_is_named() {
    names_missing_privileges(Kind::MariaDb, "BINLOG MONITOR");
}

#[test]
fn privilege_that_is_missing_in_mysql_is_named() {
    names_missing_privileges(Kind::MySql, "REPLICATION CLIENT");
}

/// Both are found when a stream begins. A server that tells of its filters to anybody (MariaDB 11.7 and later) is followed without the second.
fn names_missing_privileges(kind: Kind, monitor: &str) {
    let stage = following(kind, "bounded", &[], |setup| setup);
    let mut direct = stage.primary();
    let hides_filters = direct.table("SHOW GLOBAL VARIABLES LIKE 'binlog_ignore_db'").is_empty();
    await_mode(&stage, "bounded");
    for (privilege, word, is_needed) in
        [("REPLICATION SLAVE", "the account needs: ", true), (monitor, monitor, hides_filters)]
    {
        direct.ok(format!("REVOKE {privilege} ON *.* FROM follow@'%'"));
        stage.administer(["SET mysql-query_cache_follow='off'", "LOAD MYSQL VARIABLES TO RUNTIME"]);
        await_that("it is followed no more", || told(&stage, "mode").is_empty());
        stage.administer(["SET mysql-query_cache_follow='bounded'", "LOAD MYSQL VARIABLES TO RUNTIME"]);
        if is_needed {
            await_that(privilege, || told(&stage, "why").contains(word));
        }
        direct.ok(format!("GRANT {privilege} ON *.* TO follow@'%'"));
        await_mode(&stage, "bounded");
    }
}

#[test]
fn proxy_that_was_stopped_serves_nothing_that_mariadb_has_given_up_waiting_for() {
    is_exact_after_a_standstill(Kind::MariaDb);
}

#[test]
fn proxy_that_was_stopped_serves_nothing_that_mysql_has_given_up_waiting_for() {
    is_exact_after_a_standstill(Kind::MySql);
}

/// Writes that past the proxy, and says for how long it was held.
fn held_by(direct: &mut Client, value: &str) -> Duration {
    let watch = Stopwatch::start();
    direct.ok(format!("UPDATE t SET v = '{value}' WHERE id = 1"));
    watch.elapsed()
}

/// The server waits for its time-out and no longer: what it acknowledges then, the proxy has not carried when it goes on.
fn is_exact_after_a_standstill(kind: Kind) {
    let stage = waiting(kind);
    let mut direct = stage.primary();
    let mut clients: Vec<Client> = (0..16).map(|_| stage.client()).collect();
    let mut last = String::new();
    for round in 0..3 {
        await_mode(&stage, "exact");
        await_that("it is served", || is_hit(&stage, &mut clients[0], ROW));
        stage.proxy.signal(Signal::STOP);
        // It waits for the first, and then for none.
        let turns = (0..10).map(|turn| {
            last = format!("late {round}.{turn}");
            held_by(&mut direct, &last)
        });
        let held = turns.max().expect("there are turns");
        assert!(held > Duration::from_millis(300), "the server waits for the proxy: {held:?}");
        assert!(held < Duration::from_millis(2000), "but not longer than its time-out: {held:?}");
        clients
            .iter_mut()
            .for_each(|client| client.send(Command::Query as u8, ROW.as_bytes()).expect("it is sent"));
        stage.proxy.signal(Signal::CONT);
        for client in &mut clients {
            let answer = client.read_answers().expect("it is answered").remove(0);
            assert_eq!(answer.rows[0][0].as_deref(), Some(last.as_bytes()));
        }
        await_that("it is carried in the end", || told(&stage, "unproven") == "0");
        stage.administer(["LOAD MYSQL VARIABLES TO RUNTIME"]);
    }
}

#[test]
fn answer_of_before_the_binlog_of_mariadb_began_anew_is_none() {
    is_exact_behind_an_answer_from_before(Kind::MariaDb);
}

#[test]
fn answer_of_before_the_binlog_of_mysql_began_anew_is_none() {
    is_exact_behind_an_answer_from_before(Kind::MySql);
}

/// It is of a place far ahead of all that is written then, so the server waits for nobody.
fn is_exact_behind_an_answer_from_before(kind: Kind) {
    let stage = waiting(kind);
    let mut direct = stage.primary();
    (0..5).for_each(|_| drop(direct.ok("FLUSH BINARY LOGS")));
    await_mode(&stage, "exact");
    let (anew, switch) = match kind {
        Kind::MariaDb => ("RESET MASTER", "rpl_semi_sync_master_enabled"),
        Kind::MySql => ("RESET BINARY LOGS AND GTIDS", "rpl_semi_sync_source_enabled"),
    };
    let begun = told(&stage, "begun_anew");
    stage.proxy.signal(Signal::STOP);
    held_by(&mut direct, "not answered yet");
    direct.ok(anew);
    stage.proxy.signal(Signal::CONT);
    await_that("it begins anew", || told(&stage, "begun_anew") != begun);
    let is_told = || told(&stage, "why").contains("did not wait for an answer");
    await_that("it is exact, or says why not", || is_told() || told(&stage, "mode") == "exact");
    if is_told() {
        ["OFF", "ON"].iter().for_each(|value| drop(direct.ok(format!("SET GLOBAL {switch} = {value}"))));
        stage.administer(["SET mysql-long_query_time = 1234", "LOAD MYSQL VARIABLES TO RUNTIME"]);
        await_mode(&stage, "exact");
    }
    stage.proxy.signal(Signal::STOP);
    let held = held_by(&mut direct, "waits");
    stage.proxy.signal(Signal::CONT);
    assert!(held > Duration::from_millis(300), "the server waits for a proxy that is exact: {held:?}");
}

#[test]
fn server_that_begins_anew_or_ends_the_stream_is_followed_anew() {
    let mut stage = waiting(Kind::MariaDb);
    await_mode(&stage, "exact");
    let begun = |stage: &Stage| told(stage, "begun_anew").parse::<u64>().unwrap_or(0);
    let before = begun(&stage);
    let dumps = "SELECT id FROM information_schema.processlist WHERE command = 'Binlog Dump'";
    let dump = stage.primary().value(dumps);
    stage.primary().ok(format!("KILL {dump}"));
    await_that("it begins anew", || begun(&stage) > before);
    await_mode(&stage, "exact");
    // The last of a file may still wait when the next one begins.
    for round in 0..20 {
        stage.primary().ok("FLUSH BINARY LOGS");
        stage.primary().ok(format!("UPDATE t SET v = 'flushed {round}' WHERE id = 1"));
        assert_eq!(stage.client().value(ROW), format!("flushed {round}"));
    }
    let anew = begun(&stage);
    assert_eq!(anew, before + 1, "a new file is no new beginning");
    stage.primary().ok("RESET MASTER");
    await_that("it begins anew", || begun(&stage) > anew);
    let anew = begun(&stage);
    stage.crash();
    await_that("it begins anew", || begun(&stage) > anew);
    // Three falls in a row, after which an operator has to say that he knows.
    stage.administer(["SET mysql-long_query_time = 1234", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    let (mut client, mut direct) = (stage.client(), stage.primary());
    await_mode(&stage, "exact");
    await_known(&stage, &mut client, ROW);
    direct.ok("UPDATE t SET v = 'after' WHERE id = 1");
    assert_eq!(client.value(ROW), "after");
}
