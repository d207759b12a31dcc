//! Behind a failover: a proxy that is started anew, servers that nobody has told, and a replica that is dead.

use std::time::Duration;

use nuthatch_lab::{Kind, Role};

use super::pair::Stage;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::routing::WHO;
use crate::servers;
use crate::stage::figure;

/// Read-only is off on the old primary when it is up again, and it is the first of the configuration.
#[test]
fn proxy_that_is_started_anew_knows_who_wrote_and_whom_it_has_replaced() {
    let data = tempfile::tempdir().expect("a directory");
    let setup = Setup::default()
        .variable("mysql-failover", "'auto'")
        .variable("mysql-hold_for_writer_ms", 60_000)
        .flags(["--datadir", data.path().to_str().expect("a plain path")]);
    let mut stage = Stage::of(Kind::MariaDb, setup.clone());
    stage.proxy.operator().ok("SAVE MYSQL SERVERS TO DISK");
    stage.client().ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(Role::Primary).expect("it runs");
    let mut client = stage.client();
    let new = client.value(WHO);
    assert!(["2", "3"].contains(&new.as_str()), "{new}");
    let file = data.path().join("nuthatch-writers.json");
    let port = stage.port(if new == "2" { Role::Replica(1) } else { Role::Replica(2) }).to_string();
    await_that("it is kept", || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(&port)));
    stage.proxy.signal(rustix::process::Signal::KILL);
    stage.proxy.await_exit();
    stage.lab.start(Role::Primary).expect("it comes up again");
    assert_eq!(stage.direct(Role::Primary).value("SELECT @@global.read_only"), "0");
    stage.proxy.start_again(&setup);
    for _ in 0..20 {
        assert_eq!(stage.client().value(WHO), new, "the first statement, and all others");
    }
    let port = stage.port(Role::Primary);
    let role = format!("SELECT role FROM stats_nuthatch_servers WHERE port = {port}");
    let mut operator = stage.proxy.operator();
    await_that("the old one is made to follow", || operator.value(&role) == "reader");
    assert_eq!(stage.direct(Role::Primary).value("SELECT @@global.read_only"), "1");
    assert_eq!(stage.client().value(WHO), new);
}

/// The proxy ends when the old primary takes no writes any more, and the new one none yet.
fn switchover_whose_proxy_ends_is_taken_back_by_the_next_of(kind: Kind) {
    let data = tempfile::tempdir().expect("a directory");
    let setup = Setup::default()
        .variable("mysql-switchover_catch_up_ms", 3_600_000)
        .variable("mysql-switchover_transactions_ms", 60_000)
        .variable("mysql-hold_for_writer_ms", 60_000)
        .flags(["--datadir", data.path().to_str().expect("a plain path")]);
    let mut stage = Stage::of(kind, setup.clone());
    stage.proxy.operator().ok("SAVE MYSQL SERVERS TO DISK");
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    // What is committed late cannot be applied.
    let mut lock = stage.direct(Role::Replica(1));
    lock.ok("LOCK TABLES test.t READ");
    client.ok("BEGIN");
    client.ok("INSERT INTO test.t VALUES (1)");
    let (mut operator, order) = (stage.proxy.operator(), stage.order(Role::Replica(1), ""));
    let ordering = std::thread::spawn(move || operator.query(order).is_err());
    await_that("statements wait", || stage.proxy.log().contains("statements of hostgroup 10 wait"));
    client.ok("COMMIT");
    let mut old = stage.direct(Role::Primary);
    await_that("it is read-only", || old.value("SELECT @@global.read_only") == "1");
    stage.proxy.signal(rustix::process::Signal::KILL);
    stage.proxy.await_exit();
    assert!(ordering.join().expect("it returns"), "its proxy is gone");
    lock.ok("UNLOCK TABLES");
    stage.proxy.start_again(&setup);
    // Before anybody has looked, one may be sent to who was writer: it is refused there, or cut off.
    await_that("somebody writes", || stage.client().query("REPLACE INTO test.t VALUES (2)").is_ok());
    assert_eq!(stage.client().value(WHO), "1");
    let told = "SELECT COUNT(*) FROM stats_nuthatch_role_changes WHERE kind = 'repair' AND outcome = 'done' \
                AND steps LIKE '%takes the writes again'";
    await_that("it is told", || stage.proxy.operator().value(told) == "1");
    assert_eq!(stage.direct(Role::Replica(1)).value("SELECT @@global.read_only"), "1");
    await_that("it follows", || stage.direct(Role::Replica(1)).value("SELECT COUNT(*) FROM test.t") == "2");
}

#[test]
fn switchover_whose_proxy_ends_is_taken_back_by_the_next() {
    switchover_whose_proxy_ends_is_taken_back_by_the_next_of(Kind::MariaDb);
}

#[test]
fn switchover_whose_proxy_ends_is_taken_back_by_the_next_with_mysql() {
    switchover_whose_proxy_ends_is_taken_back_by_the_next_of(Kind::MySql);
}

/// Somebody else has put another one in the place of the primary, and had the other replica receive nothing more, or not.
fn replica_that_was_left_behind_follows_of(kind: Kind, is_deaf: bool) {
    let mut stage = Stage::of(kind, Setup::default().variable("mysql-failover", "'manual'"));
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(Role::Primary).expect("it runs");
    if is_deaf {
        let word = servers::replica_word(kind);
        stage.direct(Role::Replica(2)).ok(format!("STOP {word} IO_THREAD"));
    }
    let mut heir = stage.direct(Role::Replica(1));
    let orders: &[&str] = match kind {
        Kind::MariaDb => &["STOP ALL SLAVES", "RESET SLAVE ALL", "SET GLOBAL read_only = 0"],
        Kind::MySql => &["STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL read_only = 0"],
    };
    orders.iter().for_each(|order| drop(heir.ok(*order)));
    await_that("it is told", || stage.proxy.log().contains("of which it receives nothing"));
    let mut client = stage.client();
    assert_eq!(client.value(WHO), "2");
    client.ok("INSERT INTO test.t VALUES (1)");
    let mut left = stage.direct(Role::Replica(2));
    assert_eq!(left.value("SELECT COUNT(*) FROM test.t"), "0", "an operator decides");
    stage.proxy.set("failover", "auto");
    await_that("it follows", || left.value("SELECT COUNT(*) FROM test.t") == "1");
    assert_eq!(left.value("SELECT @@global.read_only"), "1");
    await_that("it is told", || stage.proxy.log().contains("a replica that was left behind follows"));
}

#[test]
fn replica_that_was_left_behind_follows() {
    replica_that_was_left_behind_follows_of(Kind::MariaDb, false);
}

#[test]
fn replica_that_was_left_behind_follows_with_mysql() {
    replica_that_was_left_behind_follows_of(Kind::MySql, false);
}

#[test]
fn replica_that_was_left_deaf_follows() {
    replica_that_was_left_behind_follows_of(Kind::MariaDb, true);
}

#[test]
fn replica_that_was_left_deaf_follows_with_mysql() {
    replica_that_was_left_behind_follows_of(Kind::MySql, true);
}

/// A proxy that ended behind a promotion leaves it so.
fn heir_that_still_knows_its_source_forgets_it_of(kind: Kind) {
    let mut stage = Stage::of(kind, Setup::default().variable("mysql-failover", "'manual'"));
    stage.client().ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(Role::Primary).expect("it runs");
    let mut heir = stage.direct(Role::Replica(1));
    let word = servers::replica_word(kind);
    let status = format!("SHOW {word} STATUS");
    heir.ok(format!("STOP {word} IO_THREAD"));
    heir.ok("SET GLOBAL read_only = 0");
    await_that("it is told", || stage.proxy.log().contains("takes the writes, and would follow"));
    assert_eq!(heir.table(&status).len(), 1, "an operator decides");
    stage.client().ok("INSERT INTO test.t VALUES (1)");
    stage.proxy.set("failover", "auto");
    await_that("it follows nobody", || heir.table(&status).is_empty());
    await_that("it is told", || stage.proxy.log().contains("does not follow 127.0.0.1"));
    assert_eq!(stage.client().value(WHO), "2");
}

#[test]
fn heir_that_still_knows_its_source_forgets_it() {
    heir_that_still_knows_its_source_forgets_it_of(Kind::MariaDb);
}

#[test]
fn heir_that_still_knows_its_source_forgets_it_with_mysql() {
    heir_that_still_knows_its_source_forgets_it_of(Kind::MySql);
}

/// Its applier waits for a lock, and until that is there it does not stop.
fn replica_that_takes_long_to_stop_follows_of(kind: Kind) {
    let mut stage = Stage::of(kind, Setup::default().variable("mysql-failover", "'manual'"));
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    let mut locker = stage.direct(Role::Replica(2));
    locker.ok("LOCK TABLES test.t READ");
    client.ok("INSERT INTO test.t VALUES (1)");
    let mut heir = stage.direct(Role::Replica(1));
    await_that("one has it", || heir.value("SELECT COUNT(*) FROM test.t") == "1");
    let applier = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'";
    await_that("the other one waits", || stage.direct(Role::Replica(2)).value(applier) != "0");
    stage.lab.kill(Role::Primary).expect("it runs");
    let heir = stage.name(Role::Replica(1));
    let failover = format!("NUTHATCH FAILOVER HOSTGROUP 10 TO '{heir}'");
    std::thread::scope(|scope| {
        let (proxy, watch) = (&stage.proxy, Stopwatch::start());
        let done = scope.spawn(move || {
            let mut operator = proxy.operator();
            await_that("it is done", || match operator.query(&failover) {
                Ok(_) => true,
                Err(why) if format!("{why:?}").contains("it is not gone") => false,
                Err(why) => panic!("{why:?}"),
            });
        });
        await_that("statements go on", || stage.client().value(WHO) == "2");
        std::thread::sleep(Duration::from_secs(6).saturating_sub(watch.elapsed()));
        locker.ok("UNLOCK TABLES");
        done.join().expect("nothing is left to do");
    });
    stage.client().ok("INSERT INTO test.t VALUES (2)");
    let mut other = stage.direct(Role::Replica(2));
    await_that("it follows", || other.value("SELECT COUNT(*) FROM test.t") == "2");
}

#[test]
fn replica_that_takes_long_to_stop_follows() {
    replica_that_takes_long_to_stop_follows_of(Kind::MariaDb);
}

#[test]
fn replica_that_takes_long_to_stop_follows_with_mysql() {
    replica_that_takes_long_to_stop_follows_of(Kind::MySql);
}

/// What stored code it has was seen before.
#[test]
fn replica_that_is_dead_has_nobody_keep_connections() {
    let setup = Setup::default()
        .rule("rule_id=1, active=1, match_digest='^SELECT .*UNION', destination_hostgroup=20, apply=1")
        .variable("mysql-query_cache_catalogue_interval_ms", 1000);
    let mut stage = Stage::of(Kind::MariaDb, setup);
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    client.ok("INSERT INTO test.t VALUES (1)");
    servers::await_replicas(&stage.lab);
    // Nobody is told what it ran before it failed.
    let kept = |stage: &Stage| {
        let mut operator = stage.proxy.operator();
        let before = figure(&mut operator, "Pins_unseen_code");
        let mut client = stage.client();
        assert_eq!(client.refused("SELECT (SELECT 1 UNION SELECT 2) FROM test.t").code, 1242);
        assert_eq!(client.refused("INSERT INTO test.t VALUES (1)").code, 1062);
        client.ok("DO 0");
        figure(&mut operator, "Pins_unseen_code") != before
    };
    await_that("it is known what code there is", || !kept(&stage));
    stage.lab.kill(Role::Replica(2)).expect("it runs");
    // Servers are looked at each second.
    let watch = Stopwatch::start();
    while watch.elapsed() < Duration::from_secs(4) {
        assert!(!kept(&stage), "after {:?}", watch.elapsed());
        std::thread::sleep(Duration::from_millis(50));
    }
}
