//! A planned change of the primary: no client sees an error, nothing is lost, nothing is written twice.

use std::sync::atomic::{AtomicBool, Ordering};

use nuthatch_lab::{Kind, Options, Role, SemiSync};

use super::pair::Stage;
use crate::client::Login;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::routing::WHO;
use crate::servers;
use crate::stage::figure;

/// Writers insert what no other does, each in a transaction or alone, and count what they were told.
fn write_until(stage: &Stage, over: &AtomicBool, writers: u64, meanwhile: impl FnOnce()) -> Vec<u64> {
    std::thread::scope(|scope| {
        let write = |writer: u64| {
            let mut client = stage.client();
            move || {
                let mut written = 0;
                while !over.load(Ordering::Relaxed) {
                    let insert = format!("INSERT INTO test.w VALUES ({writer}, {written})");
                    match written % 3 {
                        0 => {
                            client.ok("BEGIN");
                            client.ok(insert);
                            client.ok("COMMIT");
                        }
                        _ => {
                            client.ok(insert);
                        }
                    }
                    written += 1;
                }
                written
            }
        };
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(write(writer))).collect();
        // Also when it fails: the writers would never end.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(meanwhile));
        over.store(true, Ordering::Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
        threads.into_iter().map(|thread| thread.join().expect("no client saw an error")).collect()
    })
}

fn no_client_sees_an_error_of(kind: Kind) {
    // The machine may be busy: what is shown is not how long it takes.
    let setup = Setup::default()
        .variable("mysql-switchover_catch_up_ms", 30_000)
        .variable("mysql-switchover_transactions_ms", 30_000)
        .variable("mysql-hold_for_writer_ms", 100_000);
    let stage = Stage::of(kind, setup);
    let mut client = stage.client();
    client.ok("CREATE TABLE test.w (writer INT, number INT, PRIMARY KEY (writer, number)) ENGINE=InnoDB");
    client.ok("CREATE TABLE test.ticks (n INT) ENGINE=InnoDB");
    let mut operator = stage.proxy.operator();
    let over = AtomicBool::new(false);
    let written = write_until(&stage, &over, 8, || {
        for to in [Role::Replica(1), Role::Primary, Role::Replica(2)] {
            let watch = Stopwatch::start();
            let steps = operator.table(stage.order(to, ""));
            let took = watch.elapsed();
            assert!(steps.iter().any(|step| step[1].contains("takes writes")), "{steps:?}");
            assert!(took.as_secs() < 90, "{took:?} {steps:?}");
            let before = client.value("SELECT COUNT(*) FROM test.w").parse::<u64>().expect("a number");
            await_that("writing goes on", || {
                client.value("SELECT COUNT(*) FROM test.w").parse::<u64>().expect("a number") > before + 50
            });
        }
    });
    assert_eq!(client.value(WHO), "3", "the second replica writes now");
    for (writer, written) in written.iter().enumerate() {
        let sql = format!(
            "SELECT COUNT(*), COUNT(DISTINCT number), MAX(number) + 1 FROM test.w WHERE writer = {writer}"
        );
        let row = &client.table(sql)[0];
        assert_eq!(row[0], written.to_string(), "writer {writer}");
        assert!(row.iter().all(|value| *value == row[0]), "{row:?}");
    }
    // All of it is on all three, and the two others follow and are read-only.
    let total: u64 = written.iter().sum();
    for role in [Role::Primary, Role::Replica(1)] {
        let mut direct = stage.direct(role);
        await_that("it has all", || direct.value("SELECT COUNT(*) FROM test.w") == total.to_string());
        assert_eq!(direct.value("SELECT @@global.read_only"), "1");
    }
    let roles = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role = 'reader'";
    assert_eq!(operator.value(roles), "2");
    let done = "SELECT COUNT(*), COUNT(DISTINCT new_primary) FROM stats_nuthatch_role_changes \
                WHERE kind = 'switchover' AND ordered_by = 'operator' AND outcome = 'done' AND why IS NULL \
                AND steps LIKE '%takes writes%' AND old_primary <> new_primary";
    assert_eq!(operator.table(done), [["3", "3"]]);
    let counted = ["Done", "Refused", "Rolled_Back", "Unfinished"]
        .map(|ended| figure(&mut operator, &format!("Switchovers_{ended}")));
    assert_eq!(counted, [3, 0, 0, 0]);
}

#[test]
fn no_client_sees_an_error() {
    no_client_sees_an_error_of(Kind::MariaDb);
}

#[test]
fn no_client_sees_an_error_with_mysql() {
    no_client_sees_an_error_of(Kind::MySql);
}

#[test]
fn what_would_hinder_it_is_told_and_refused_before_anything_is_touched() {
    let stage = Stage::of(Kind::MariaDb, Setup::default());
    let mut operator = stage.proxy.operator();
    let mut findings = |role| -> Vec<Vec<String>> { operator.table(stage.order(role, " CHECK")) };
    let fine = findings(Role::Replica(1));
    assert!(fine.iter().all(|row| row[0] != "refused"), "{fine:?}");
    assert!(fine.iter().any(|row| row[1].contains("can take the writes")), "{fine:?}");
    // Sessions that would be waited for are named.
    let mut pinned = stage.client();
    pinned.ok("CREATE TEMPORARY TABLE test.x (a INT)");
    let mut open = stage.client();
    open.ok("BEGIN");
    open.ok("SELECT 1 FROM mysql.user LIMIT 1 FOR UPDATE");
    let told = findings(Role::Replica(1));
    assert!(told.iter().any(|row| row[0] == "warning" && row[1].contains("temporary_table")), "{told:?}");
    assert!(told.iter().any(|row| row[1].contains("transaction under way")), "{told:?}");
    // A replica that has something of its own, or does not replicate, is no heir.
    let mut second = stage.direct(Role::Replica(2));
    second.ok("CREATE TABLE test.own (a INT)");
    let refused = findings(Role::Replica(2));
    assert!(refused.iter().any(|row| row[0] == "refused" && row[1].contains("does not have")), "{refused:?}");
    let mut first = stage.direct(Role::Replica(1));
    first.ok("STOP SLAVE");
    let error = operator.refused(stage.order(Role::Replica(1), ""));
    assert!(
        error.message.contains("nothing was touched") && error.message.contains("does not replicate"),
        "{error:?}"
    );
    for (order, words) in [
        ("NUTHATCH SWITCHOVER HOSTGROUP 20 TO 'a:1'".to_owned(), "writer_hostgroup of no row"),
        ("NUTHATCH SWITCHOVER HOSTGROUP 10 TO 'a:1'".to_owned(), "does not stand in the pair"),
        (stage.order(Role::Primary, ""), "is the writer of hostgroup 10 already"),
    ] {
        let error = operator.refused(order);
        assert!(error.message.contains(words), "{error:?}");
    }
    assert_eq!(stage.direct(Role::Primary).value("SELECT @@global.read_only"), "0");
    assert_eq!(stage.client().value(WHO), "1");
}

#[test]
fn what_mysql_is_still_committing_is_no_surplus_of_its_replica() {
    let options = Options { semi_sync: SemiSync::AfterSync, ..Options::default() };
    let stage = Stage::with(Kind::MySql, options, Setup::default());
    let mut primary = stage.direct(Role::Primary);
    primary.ok("CREATE TABLE test.t (a INT PRIMARY KEY)");
    servers::await_replicas(&stage.lab);
    // One replica more than there are would have to acknowledge it: the commit lasts as long as the time-out.
    primary.ok("SET GLOBAL rpl_semi_sync_source_wait_for_replica_count = 3");
    primary.ok("SET GLOBAL rpl_semi_sync_source_timeout = 2000");
    let mut first = stage.direct(Role::Replica(1));
    std::thread::scope(|scope| {
        scope.spawn(|| primary.ok("INSERT INTO test.t VALUES (1)"));
        await_that("it is applied", || first.value("SELECT COUNT(*) FROM test.t") == "1");
        let visible = stage.direct(Role::Primary).value("SELECT COUNT(*) FROM test.t");
        assert_eq!(visible, "0", "it is not committed yet: else this shows nothing");
        let checked = stage.proxy.operator().table(stage.order(Role::Replica(1), " CHECK"));
        assert!(checked.iter().all(|row| row[0] != "refused"), "{checked:?}");
    });
}

#[test]
fn what_stands_in_the_way_is_waited_for_and_then_ended_with_its_name() {
    let setup = Setup::default()
        .variable("mysql-switchover_pins_ms", 300)
        .variable("mysql-switchover_transactions_ms", 300)
        .user("username='fast', password='weak', default_hostgroup=10, fast_forward=1");
    let stage = Stage::of(Kind::MariaDb, setup);
    stage.direct(Role::Primary).ok("CREATE USER fast IDENTIFIED BY 'weak'");
    let (mut pinned, mut open) = (stage.client(), stage.client());
    let mut fast = stage.proxy.client(&Login::new("fast", "weak"));
    assert_eq!(fast.value(WHO), "1");
    let checked = stage.proxy.operator().table(stage.order(Role::Replica(1), " CHECK"));
    assert!(format!("{checked:?}").contains("fast_forward"), "{checked:?}");
    pinned.ok("CREATE TEMPORARY TABLE test.x (a INT)");
    stage.client().ok("CREATE TABLE test.t (a INT) ENGINE=InnoDB");
    open.ok("BEGIN");
    open.ok("INSERT INTO test.t VALUES (1)");
    stage.proxy.operator().table(stage.order(Role::Replica(1), ""));
    let ended = [(&mut pinned, "temporary_table"), (&mut open, "transaction"), (&mut fast, "fast_forward")];
    for (client, words) in ended {
        let error = client.refused("SELECT 1");
        assert!(error.message.contains("for a switchover") && error.message.contains(words), "{error:?}");
    }
    assert_eq!(stage.client().value("SELECT COUNT(*) FROM test.t"), "0", "what was open is rolled back");
    assert_eq!(stage.client().value(WHO), "2");
}

#[test]
fn failure_before_the_new_primary_takes_writes_leaves_the_old_one_as_it_was() {
    let stage = Stage::of(Kind::MariaDb, Setup::default().variable("mysql-switchover_catch_up_ms", 500));
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    client.ok("BEGIN");
    client.ok("INSERT INTO test.t VALUES (1)");
    let mut operator = stage.proxy.operator();
    let order = stage.order(Role::Replica(1), "");
    let mut first = stage.direct(Role::Replica(1));
    let error = std::thread::scope(|scope| {
        let switching = scope.spawn(move || operator.refused(order));
        let held = "SELECT COUNT(*) FROM stats_nuthatch_lines WHERE hostgroup = 10 AND held = 1";
        await_that("statements wait", || stage.proxy.operator().value(held) == "1");
        // It stays behind: its applier waits for a lock.
        first.ok("LOCK TABLES test.t WRITE");
        client.ok("COMMIT");
        switching.join().expect("it was answered")
    });
    assert!(error.message.contains("everything is as it was before"), "{error:?}");
    assert!(error.message.contains("did not have all of"), "{error:?}");
    client.ok("INSERT INTO test.t VALUES (2)");
    assert_eq!(
        (client.value(WHO).as_str(), stage.direct(Role::Primary).value("SELECT @@global.read_only").as_str()),
        ("1", "0")
    );
    first.ok("UNLOCK TABLES");
    servers::await_replicas(&stage.lab);
}

#[test]
fn command_line_switches_over_and_says_what_it_did() {
    let stage = Stage::of(Kind::MariaDb, Setup::default());
    let run = |arguments: &[&str]| {
        let to = stage.name(Role::Replica(1));
        std::process::Command::new(env!("CARGO_BIN_EXE_nuthatch"))
            .args(["switchover", "--hostgroup", "10", "--to", &to, "--admin", &stage.proxy.admin.to_string()])
            .args(arguments)
            .output()
            .expect("it runs")
    };
    let checked = run(&["--check", "--json"]);
    assert!(checked.status.success(), "{checked:?}");
    assert!(String::from_utf8_lossy(&checked.stdout).contains("\"weight\": \"ok\""), "{checked:?}");
    let done = run(&[]);
    assert!(
        done.status.success() && String::from_utf8_lossy(&done.stdout).contains("takes writes"),
        "{done:?}"
    );
    let again = run(&[]);
    assert!(
        !again.status.success() && String::from_utf8_lossy(&again.stderr).contains("already"),
        "{again:?}"
    );
}

fn events_move_with_the_writes_of(kind: Kind) {
    let stage = Stage::of(kind, Setup::default().variable("mysql-switchover_catch_up_ms", 30_000));
    let mut client = stage.client();
    client.ok("SET GLOBAL event_scheduler = ON");
    client.ok("CREATE TABLE test.e (a INT) ENGINE=InnoDB");
    // One that the account which changes roles may speak for: of MySQL's root it would take SYSTEM_USER.
    client.ok("CREATE USER owner@'%' IDENTIFIED BY 'pw'");
    client.ok("GRANT ALL ON test.* TO owner@'%'");
    let create = "CREATE DEFINER = owner@'%' EVENT";
    client.ok(format!("{create} test.runs ON SCHEDULE EVERY 1 HOUR DO INSERT INTO test.e VALUES (1)"));
    client.ok(format!(
        "{create} test.sleeps ON SCHEDULE EVERY 1 HOUR DISABLE DO INSERT INTO test.e VALUES (2)"
    ));
    stage.proxy.operator().table(stage.order(Role::Replica(1), ""));
    let status = |role: Role, event: &str| {
        let sql = format!("SELECT STATUS FROM information_schema.EVENTS WHERE EVENT_NAME = '{event}'");
        stage.direct(role).value(sql)
    };
    assert_eq!(status(Role::Replica(1), "runs"), "ENABLED");
    assert_ne!(status(Role::Replica(1), "sleeps"), "ENABLED", "it did not run before");
    assert_eq!(stage.direct(Role::Replica(1)).value("SELECT @@global.event_scheduler"), "ON");
    assert_eq!(stage.direct(Role::Primary).value("SELECT @@global.event_scheduler"), "OFF");
    await_that("the old primary follows", || status(Role::Primary, "runs") != "ENABLED");
}

#[test]
fn events_move_with_the_writes() {
    events_move_with_the_writes_of(Kind::MariaDb);
}

#[test]
fn events_move_with_the_writes_with_mysql() {
    events_move_with_the_writes_of(Kind::MySql);
}

#[test]
fn two_do_not_change_one_pair_at_a_time() {
    let stage = Stage::of(Kind::MariaDb, Setup::default());
    let mut other = stage.direct(Role::Primary);
    assert_eq!(other.value("SELECT GET_LOCK('nuthatch_switchover', 0)"), "1");
    let error = stage.proxy.operator().refused(stage.order(Role::Replica(1), ""));
    assert!(error.message.contains("another switchover or failover is under way"), "{error:?}");
    other.ok("DO RELEASE_LOCK('nuthatch_switchover')");
    stage.proxy.operator().table(stage.order(Role::Replica(1), ""));
    assert_eq!(stage.client().value(WHO), "2");
}
