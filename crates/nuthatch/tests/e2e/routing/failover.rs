//! A primary that is gone: another one takes its place, or nobody does and it is told why.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use nuthatch_lab::{Direction, Duty, Kind, Options, Peers, Relays, Role, ScratchLab, SemiSync};

use super::pair::Stage;
use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::routing::WHO;
use crate::servers;
use crate::stage::figure;

/// As an operator would have it who wants that nobody is woken up.
fn auto() -> Setup {
    Setup::default().variable("mysql-failover", "'auto'").variable("mysql-hold_for_writer_ms", 60_000)
}

/// What the log has of it, in the order of the lines.
fn told(proxy: &Proxy, words: &str) -> usize {
    proxy.log().lines().filter(|line| line.contains(words)).count()
}

fn role(operator: &mut Client, name: &str) -> String {
    let port = name.rsplit_once(':').expect("a port").1;
    operator.value(format!("SELECT role FROM stats_nuthatch_servers WHERE port = {port}"))
}

/// Writes row after row, over new connections where one is lost, and keeps the numbers that were acknowledged.
fn write(stage: &Stage, writer: u64, over: &AtomicBool, acknowledged: &AtomicU64) -> Vec<u64> {
    let (mut written, mut client) = (Vec::new(), None);
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let known = match client.take() {
            Some(known) => Ok(known),
            None => stage.proxy.try_client(&stage.login()),
        };
        let Ok(mut known) = known else { continue };
        if known.query(format!("INSERT INTO test.w VALUES ({writer}, {number})")).is_ok() {
            written.push(number);
            acknowledged.fetch_add(1, Ordering::Relaxed);
            client = Some(known);
        }
    }
    written
}

fn no_acknowledged_write_is_lost_of(kind: Kind) {
    let options = Options { semi_sync: SemiSync::AfterSync, ..Options::default() };
    let mut stage = Stage::with(kind, options, auto());
    stage
        .client()
        .ok("CREATE TABLE test.w (writer INT, number INT, PRIMARY KEY (writer, number)) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    let (over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let kill = stage.lab.server(Role::Primary).expect("it is there").pid().expect("it runs");
    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|writer| {
                let (stage, over, acknowledged) = (&stage, &over, &acknowledged);
                scope.spawn(move || write(stage, writer, over, acknowledged))
            })
            .collect();
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            await_that("writing is under way", || acknowledged.load(Ordering::Relaxed) > 200);
            let pid = rustix::process::Pid::from_raw(kill).expect("a pid");
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is there");
            let watch = Stopwatch::start();
            await_that("another one is promoted", || told(&stage.proxy, "failed over") == 1);
            let before = acknowledged.load(Ordering::Relaxed);
            await_that("writing goes on", || acknowledged.load(Ordering::Relaxed) > before + 200);
            assert!(watch.elapsed() < Duration::from_secs(10), "{:?}", watch.elapsed());
        }));
        over.store(true, Ordering::Relaxed);
        let written: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("it writes")).collect();
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
        written
    });
    let mut client = stage.client();
    let writer = client.value(WHO);
    assert!(["2", "3"].contains(&writer.as_str()), "{writer}");
    for (writer, numbers) in written.iter().enumerate() {
        let rows = client.table(format!("SELECT number FROM test.w WHERE writer = {writer}"));
        let there: std::collections::HashSet<u64> =
            rows.iter().map(|row| row[0].parse().expect("a number")).collect();
        let lost: Vec<_> = numbers.iter().filter(|number| !there.contains(number)).collect();
        assert_eq!(lost, Vec::<&u64>::new(), "writer {writer}");
    }
    // The other replica follows, and is read-only.
    let other = if writer == "2" { Role::Replica(2) } else { Role::Replica(1) };
    let total = client.value("SELECT COUNT(*) FROM test.w");
    let mut direct = stage.direct(other);
    await_that("it has all", || direct.value("SELECT COUNT(*) FROM test.w") == total);
    assert_eq!(direct.value("SELECT @@global.read_only"), "1");
    // Whatever the old one has, it takes no writes when it is back.
    drop(stage.lab.kill(Role::Primary));
    stage.lab.start(Role::Primary).expect("it comes up again");
    let mut direct = stage.direct(Role::Primary);
    await_that("it is read-only", || direct.value("SELECT @@global.read_only") == "1");
    assert_eq!(client.value(WHO), writer);
}

#[test]
fn no_acknowledged_write_is_lost() {
    no_acknowledged_write_is_lost_of(Kind::MariaDb);
}

#[test]
fn no_acknowledged_write_is_lost_with_mysql() {
    no_acknowledged_write_is_lost_of(Kind::MySql);
}

fn old_primary_follows_when_it_is_back_of(kind: Kind) {
    let fence = "/usr/bin/test {port} -gt 0";
    let mut stage = Stage::of(kind, auto().variable("mysql-failover_fence_command", format!("'{fence}'")));
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    client.ok("INSERT INTO test.t VALUES (1)");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(Role::Primary).expect("it runs");
    let watch = Stopwatch::start();
    client = stage.client();
    client.ok("INSERT INTO test.t VALUES (2)");
    assert!(watch.elapsed() < Duration::from_secs(20), "{:?}", watch.elapsed());
    let writer = client.value(WHO);
    assert_ne!(writer, "1");
    assert_eq!(told(&stage.proxy, "mysql-failover_fence_command says"), 1);
    let mut operator = stage.proxy.operator();
    let old = stage.name(Role::Primary);
    assert_eq!(role(&mut operator, &old), "kept out");
    stage.lab.start(Role::Primary).expect("it comes up again");
    await_that("it is a reader again", || role(&mut operator, &old) == "reader");
    client.ok("INSERT INTO test.t VALUES (3)");
    let mut direct = stage.direct(Role::Primary);
    await_that("it has all", || direct.value("SELECT COUNT(*) FROM test.t") == "3");
    assert_eq!(direct.value("SELECT @@global.read_only"), "1");
    assert_eq!(client.value(WHO), writer, "the new one stays");
}

#[test]
fn old_primary_follows_when_it_is_back() {
    old_primary_follows_when_it_is_back_of(Kind::MariaDb);
}

#[test]
fn old_primary_follows_when_it_is_back_with_mysql() {
    old_primary_follows_when_it_is_back_of(Kind::MySql);
}

/// A pair whose primary is gone with two rows that nobody has received, and another one writes.
fn with_rows_that_are_lost(kind: Kind, setup: Setup) -> Stage {
    let mut stage = Stage::of(kind, setup);
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    let (stop, start) = match kind {
        Kind::MariaDb => ("STOP SLAVE IO_THREAD", "START SLAVE IO_THREAD"),
        Kind::MySql => ("STOP REPLICA IO_THREAD", "START REPLICA IO_THREAD"),
    };
    for number in [1, 2] {
        stage.direct(Role::Replica(number)).ok(stop);
    }
    client.ok("INSERT INTO test.t VALUES (1)");
    client.ok("INSERT INTO test.t VALUES (2)");
    // What it has is looked at ten times a second, and nothing shows when that was done.
    std::thread::sleep(Duration::from_millis(1_000));
    stage.lab.kill(Role::Primary).expect("it runs");
    let why = "no replica says that it tries in vain";
    await_that("it is told why nobody takes the place", || told(&stage.proxy, why) > 0);
    for number in [1, 2] {
        stage.direct(Role::Replica(number)).ok(start);
    }
    await_that("another one writes", || stage.client().value("SELECT COUNT(*) FROM test.t") == "0");
    stage
}

fn old_primary_with_a_surplus_stays_out_of(kind: Kind) {
    let mut stage = with_rows_that_are_lost(kind, auto());
    let client = &mut stage.client();
    let mut operator = stage.proxy.operator();
    let known = "SELECT known_by, count FROM stats_nuthatch_lost_transactions ORDER BY known_by";
    await_that("what is lost is told", || operator.table(known) == [["acknowledged", "2"], ["seen", "2"]]);
    stage.lab.start(Role::Primary).expect("it comes up again");
    let lost = "SELECT known_by, count FROM stats_nuthatch_lost_transactions WHERE known_by = 'surplus'";
    await_that("the surplus is listed", || operator.table(lost) == [["surplus", "2"]]);
    assert_eq!(role(&mut operator, &stage.name(Role::Primary)), "kept out");
    // Why it was refused at first, what was done then, and what it has cost, without the log. Tries in the same words are one row.
    let why = "no replica says that it tries in vain";
    let tried = format!(
        "SELECT outcome, COUNT(*), MAX(tries) > 1 FROM stats_nuthatch_role_changes WHERE kind = 'failover' AND ordered_by = 'proxy' \
         AND (outcome = 'done' OR why LIKE '%{why}%') GROUP BY outcome ORDER BY outcome"
    );
    let tried = operator.table(tried);
    assert_eq!(tried[0][..2], ["done", "1"], "{tried:?}");
    assert!(tried[1][0] == "refused" && tried[1][1].parse::<u64>().is_ok_and(|rows| rows < 5), "{tried:?}");
    let stays_out =
        "SELECT why FROM stats_nuthatch_role_changes WHERE kind = 'rejoin' AND outcome = 'refused'";
    await_that("it is told that it stays out", || operator.value(stays_out).contains("must be built anew"));
    assert_eq!(
        (figure(&mut operator, "Failovers_Done"), figure(&mut operator, "Failover_Lost_Transactions")),
        (1, 2)
    );
    let mut direct = stage.direct(Role::Primary);
    assert_eq!(direct.value("SELECT @@global.read_only"), "1");
    assert_eq!(direct.value("SELECT COUNT(*) FROM test.t"), "2", "it is left as it is");
    // Nor does it take the writes by order.
    let error = operator.refused(stage.order(Role::Primary, ""));
    assert!(error.message.contains("is kept out since a failover"), "{error:?}");
    // Somebody decides that it counts what the old one has.
    let (heir, other) = if client.value(WHO) == "2" { (1, 2) } else { (2, 1) };
    for number in [heir, other] {
        let followed = stage.lab.follow(Role::Replica(number), Role::Primary, Duration::from_secs(20));
        followed.expect("it has nothing that the old one has not");
    }
    stage.lab.promote(Role::Primary).expect("it takes writes");
    await_that("it takes the writes again", || stage.client().value(WHO) == "1");
    stage.client().ok("INSERT INTO test.t VALUES (3)");
    assert_eq!(direct.value("SELECT @@global.read_only"), "0");
}

#[test]
fn old_primary_with_a_surplus_stays_out() {
    old_primary_with_a_surplus_stays_out_of(Kind::MariaDb);
}

#[test]
fn old_primary_with_a_surplus_stays_out_with_mysql() {
    old_primary_with_a_surplus_stays_out_of(Kind::MySql);
}

#[test]
fn next_run_of_the_proxy_knows_what_is_lost() {
    let data = tempfile::tempdir().expect("a directory");
    let setup = auto().flags(["--datadir", data.path().to_str().expect("a plain path")]);
    let mut stage = with_rows_that_are_lost(Kind::MariaDb, setup.clone());
    let mut operator = stage.proxy.operator();
    operator.ok("SAVE MYSQL SERVERS TO DISK");
    stage.lab.start(Role::Primary).expect("it comes up again");
    // A surplus is in the file a little later: one that is not yet has the time of the next run.
    let lost = "SELECT known_by, count, gtids, CASE known_by WHEN 'surplus' THEN 0 ELSE time END \
                FROM stats_nuthatch_lost_transactions ORDER BY known_by";
    let stays_out = "it stays out, and must be built anew";
    await_that("the surplus is told", || told(&stage.proxy, stays_out) == 1);
    let before = operator.table(lost);
    assert_eq!(before.iter().map(|row| &row[0][..]).collect::<Vec<_>>(), ["acknowledged", "seen", "surplus"]);
    stage.proxy.signal(rustix::process::Signal::KILL);
    stage.proxy.await_exit();
    stage.proxy.start_again(&setup);
    await_that("the surplus is found again", || told(&stage.proxy, stays_out) == 2);
    assert_eq!(stage.proxy.operator().table(lost), before, "and nothing is told twice");
}

/// What was given up with the first primary is not missed when the second is gone; and when all others are, the first one writes again, if
/// somebody wants that.
#[test]
fn further_failovers_do_without_an_old_primary_and_an_operator_with_nothing_else() {
    let mut stage = with_rows_that_are_lost(Kind::MariaDb, auto());
    stage.lab.start(Role::Primary).expect("it comes up again");
    let mut operator = stage.proxy.operator();
    let surplus = "SELECT COUNT(*) FROM stats_nuthatch_lost_transactions WHERE known_by = 'surplus'";
    await_that("the surplus is listed", || operator.value(surplus) == "1");
    stage.client().ok("INSERT INTO test.t VALUES (7)");
    let heir = if stage.client().value(WHO) == "2" { 1 } else { 2 };
    let last = Role::Replica(3 - heir);
    await_that("the last one has all", || stage.direct(last).value("SELECT COUNT(*) FROM test.t") == "1");
    stage.lab.kill(Role::Replica(heir)).expect("it runs");
    // As it is started it takes writes, which nobody wants.
    stage.lab.kill(Role::Primary).expect("it runs");
    stage.lab.start(Role::Primary).expect("it comes up again");
    stage.client().ok("INSERT INTO test.t VALUES (8)");
    assert_eq!(stage.client().value(WHO), (4 - heir).to_string(), "the last one writes");
    assert_eq!(role(&mut operator, &stage.name(Role::Primary)), "kept out");
    await_that("it is read-only", || stage.direct(Role::Primary).value("SELECT @@global.read_only") == "1");
    // It is read-only, and nobody lifts that but an operator.
    let mut direct = stage.direct(Role::Primary);
    stage.lab.kill(last).expect("it runs");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(direct.value("SELECT @@global.read_only"), "1");
    direct.ok("SET GLOBAL read_only = 0");
    stage.client().ok("INSERT INTO test.t VALUES (9)");
    assert_eq!(stage.client().value("SELECT GROUP_CONCAT(a ORDER BY a) FROM test.t"), "1,2,9");
    assert_eq!(direct.value("SELECT @@global.read_only"), "0");
    let let_in = "SELECT COUNT(*) FROM stats_nuthatch_role_changes WHERE kind = 'rejoin' AND outcome = 'done' \
                  AND steps LIKE '%somebody wants that%'";
    assert_eq!(operator.value(let_in), "1");
}

/// A host that dies with the primaries of many pairs costs each of them no more than one.
#[test]
fn pairs_without_a_common_server_fail_over_at_the_same_time() {
    let fence = Duration::from_secs(15);
    let setup = auto()
        .variable("mysql-failover_fence_command", format!("'/bin/sleep {}'", fence.as_secs()))
        .variable("mysql-failover_fence_timeout_ms", 60_000);
    let mut first = Stage::of(Kind::MariaDb, setup);
    let options = Options { replicas: 2, buffer_pool_mib: 64, ..Options::default() };
    let installation = servers::installation(Kind::MariaDb);
    let mut second = ScratchLab::up(&Options { installation, ..options }).expect("a lab comes up");
    let mut direct = servers::client_of(&second, Role::Primary);
    // The proxy has one account of each kind.
    for duty in [Duty::Monitor, Duty::Failover, Duty::Replication] {
        let login = first.lab.login_for(duty).expect("an account");
        for row in direct.table(format!("SELECT User, Host FROM mysql.user WHERE User = '{}'", login.user)) {
            direct.ok(format!(
                "ALTER USER '{}'@'{}' IDENTIFIED BY '{}'",
                row[0],
                row[1],
                login.password.reveal()
            ));
        }
    }
    servers::await_replicas(&second);
    for number in [1, 2] {
        servers::client_of(&second, Role::Replica(number)).ok("SET GLOBAL read_only = 1");
    }
    let mut operator = first.proxy.operator();
    for (role, hostgroup) in [(Role::Primary, 30), (Role::Replica(1), 40), (Role::Replica(2), 40)] {
        let port = second.server(role).expect("it is there").port();
        operator.ok(format!(
            "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES ({hostgroup}, '127.0.0.1', {port})"
        ));
    }
    operator
        .ok("INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (30, 40)");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    let placed = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role IN ('writer', 'reader')";
    await_that("all were looked at", || operator.value(placed) == "6");
    servers::await_replicas(&first.lab);
    first.lab.kill(Role::Primary).expect("it runs");
    second.kill(Role::Primary).expect("it runs");
    let watch = Stopwatch::start();
    await_that("both have a new primary", || figure(&mut operator, "Failovers_Done") == 2);
    assert!(
        watch.elapsed() < fence * 2 - Duration::from_secs(2),
        "{:?}: one behind the other",
        watch.elapsed()
    );
}

#[test]
fn replica_that_does_not_apply_takes_no_writes() {
    let mut stage = Stage::of(Kind::MariaDb, auto());
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    for number in [1, 2] {
        let mut replica = stage.direct(Role::Replica(number));
        replica.ok("SET sql_log_bin = 0");
        replica.ok("INSERT INTO test.t VALUES (1)");
    }
    client.ok("INSERT INTO test.t VALUES (1)");
    for number in [1, 2] {
        let mut replica = stage.direct(Role::Replica(number));
        await_that("it has stopped applying", || {
            replica.ok("SHOW SLAVE STATUS").table()[0].iter().any(|value| value.contains("Duplicate entry"))
        });
    }
    stage.lab.kill(Role::Primary).expect("it runs");
    let why = "does not apply what it has received: its SQL thread says No";
    await_that("it is told why nobody takes the place", || told(&stage.proxy, why) > 0);
    let error = stage.proxy.operator().refused("NUTHATCH FAILOVER HOSTGROUP 10");
    assert!(error.message.contains("nothing was touched") && error.message.contains(why), "{error:?}");
    for number in [1, 2] {
        let mut replica = stage.direct(Role::Replica(number));
        assert_eq!(replica.value("SELECT @@global.read_only"), "1");
        replica.ok("SET sql_log_bin = 0");
        replica.ok("DELETE FROM test.t");
        replica.ok("START SLAVE SQL_THREAD");
    }
    // As soon as somebody has mended it.
    client = stage.client();
    assert_eq!(client.value("SELECT COUNT(*) FROM test.t"), "1");
    assert_ne!(client.value(WHO), "1");
    stage.lab.start(Role::Primary).expect("it comes up again");
}

#[test]
fn proxy_that_alone_does_not_reach_the_primary_replaces_nobody() {
    let setup =
        auto().variable("mysql-monitor_ping_interval", 200).variable("mysql-monitor_ping_timeout", 300);
    let options = Options { relays: Relays::Here, ..Options::default() };
    let stage = Stage::with(Kind::MariaDb, options, setup);
    stage.lab.partition(Role::Primary, Peers::Outside, Direction::Both).expect("a relay");
    let why = "it is this proxy that does not reach it";
    await_that("it is told why nobody takes the place", || told(&stage.proxy, why) > 0);
    for number in [1, 2] {
        let mut replica = stage.direct(Role::Replica(number));
        assert_eq!(replica.value("SELECT @@global.read_only"), "1");
        let status = replica.ok("SHOW SLAVE STATUS").table();
        assert_eq!(status[0].iter().filter(|value| *value == "Yes").count(), 2, "it replicates: {status:?}");
    }
    stage.lab.heal().expect("a relay");
    await_that("the primary is reached again", || {
        stage.proxy.try_client(&stage.login()).is_ok_and(|mut client| client.value(WHO) == "1")
    });
    assert_eq!(told(&stage.proxy, "failed over"), 0);
}

#[test]
fn of_two_proxies_one_acts() {
    let mut stage = Stage::of(Kind::MariaDb, auto());
    let second = stage.another(auto());
    stage.client().ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(Role::Primary).expect("it runs");
    stage.client().ok("INSERT INTO test.t VALUES (1)");
    second.client(&stage.login()).ok("INSERT INTO test.t VALUES (2)");
    let acted = || [&stage.proxy, &second].map(|proxy| told(proxy, "failed over")).iter().sum::<usize>();
    await_that("one has acted", || acted() > 0);
    let writers = [&stage.proxy, &second].map(|proxy| proxy.client(&stage.login()).value(WHO));
    assert_eq!(writers[0], writers[1]);
    let read_only =
        [1, 2].map(|number| stage.direct(Role::Replica(number)).value("SELECT @@global.read_only"));
    assert!(read_only.contains(&"0".to_owned()) && read_only.contains(&"1".to_owned()), "{read_only:?}");
    assert_eq!(acted(), 1);
}

fn primary_that_hangs_is_replaced_and_follows_when_it_goes_on_with(options: Options) {
    let setup =
        auto().variable("mysql-monitor_ping_interval", 300).variable("mysql-monitor_ping_timeout", 300);
    let stage = Stage::with(Kind::MariaDb, options, setup);
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    stage.lab.freeze(Role::Primary).expect("it runs");
    // A statement that was sent to it would be run when it goes on: a surplus.
    await_that("another one is promoted", || told(&stage.proxy, "failed over") == 1);
    client = stage.client();
    client.ok("INSERT INTO test.t VALUES (1)");
    let writer = client.value(WHO);
    assert_ne!(writer, "1");
    stage.lab.thaw(Role::Primary).expect("it hangs");
    let mut operator = stage.proxy.operator();
    let old = stage.name(Role::Primary);
    await_that("it is a reader", || role(&mut operator, &old) == "reader");
    let mut direct = stage.direct(Role::Primary);
    assert_eq!(direct.value("SELECT @@global.read_only"), "1");
    await_that("it follows", || direct.value("SELECT COUNT(*) FROM test.t") == "1");
    assert_eq!(client.value(WHO), writer);
}

#[test]
fn primary_that_hangs_is_replaced_and_follows_when_it_goes_on() {
    primary_that_hangs_is_replaced_and_follows_when_it_goes_on_with(Options::default());
}

/// A replica that stops to receive first tells its source so, for five seconds where that hangs.
#[test]
fn semi_synchronous_replicas_of_a_primary_that_hangs_are_not_left_deaf() {
    let options = Options { semi_sync: SemiSync::AfterSync, ..Options::default() };
    primary_that_hangs_is_replaced_and_follows_when_it_goes_on_with(options);
}

#[test]
fn proxy_that_stood_still_trusts_nothing_that_it_saw_before() {
    let stage = Stage::of(Kind::MariaDb, auto());
    stage.proxy.signal(rustix::process::Signal::STOP);
    // What is shown is that it notices: there is no state to wait for in a process that is stopped.
    std::thread::sleep(Duration::from_millis(1_500));
    stage.proxy.signal(rustix::process::Signal::CONT);
    await_that("it says so", || told(&stage.proxy, "this proxy stood still") > 0);
    assert_eq!(stage.client().value(WHO), "1");
}

/// Cutting somebody's power takes longer than anything else may.
#[test]
fn slow_fence_command_is_waited_for() {
    let setup = auto()
        .variable("mysql-failover_fence_command", "'/bin/sleep 12'")
        .variable("mysql-failover_fence_timeout_ms", 60_000);
    let mut stage = Stage::of(Kind::MariaDb, setup);
    stage.client().ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    stage.lab.kill(Role::Primary).expect("it runs");
    stage.client().ok("INSERT INTO test.t VALUES (1)");
    let mut operator = stage.proxy.operator();
    await_that("it is done", || figure(&mut operator, "Failovers_Done") == 1);
    let otherwise =
        ["Rolled_Back", "Unfinished"].map(|ended| figure(&mut operator, &format!("Failovers_{ended}")));
    assert_eq!(otherwise, [0, 0], "at the first try");
}

#[test]
fn operator_has_a_primary_replaced_that_auto_leaves() {
    let setup = auto().variable("mysql-failover_fence_command", "'/usr/bin/false'");
    let mut stage = Stage::of(Kind::MariaDb, setup);
    let mut operator = stage.proxy.operator();
    let check = "NUTHATCH FAILOVER HOSTGROUP 10 CHECK";
    let findings = operator.table(check);
    assert!(findings.iter().any(|row| row[0] == "refused" && row[1].contains("answers")), "{findings:?}");
    assert!(
        findings.iter().any(|row| row[0] == "ok" && row[1].contains("would take the writes")),
        "{findings:?}"
    );
    let error = operator.refused("NUTHATCH FAILOVER HOSTGROUP 10");
    assert!(error.message.contains("it is not gone"), "{error:?}");
    let mut client = stage.client();
    client.ok("CREATE TABLE test.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    servers::await_replicas(&stage.lab);
    // One write that no replica receives.
    for number in [1, 2] {
        stage.direct(Role::Replica(number)).ok("STOP SLAVE IO_THREAD");
    }
    client.ok("INSERT INTO test.t VALUES (1)");
    stage.lab.kill(Role::Primary).expect("it runs");
    for number in [1, 2] {
        stage.direct(Role::Replica(number)).ok("START SLAVE IO_THREAD");
    }
    let why = "mysql-failover_fence_command (/usr/bin/false) ended with exit status: 1";
    await_that("the fence command is told of", || told(&stage.proxy, why) > 0);
    operator.ok("SET mysql-failover_fence_command = ''");
    operator.ok("SET mysql-failover_max_loss = '0'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    await_that("the loss is told of", || told(&stage.proxy, "mysql-failover_max_loss") > 0);
    let findings = operator.table(check);
    let refused: Vec<_> = findings.iter().filter(|row| row[0] == "refused").collect();
    let words = "1 transactions that";
    assert!(matches!(&refused[..], [row] if row[1].contains(words)), "{findings:?}");
    // With the variable off nobody is replaced; an operator says who takes the writes.
    operator.ok("SET mysql-failover = 'off'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    assert!(operator.refused("NUTHATCH FAILOVER HOSTGROUP 10").message.contains("mysql-failover is off"));
    operator.ok("SET mysql-failover = 'manual'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    await_that("no try is under way", || {
        let to = stage.name(Role::Replica(2));
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_nuthatch"))
            .args(["failover", "--hostgroup", "10", "--to", &to, "--admin", &stage.proxy.admin.to_string()])
            .output()
            .expect("it runs");
        let words =
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() || words.contains("under way already"), "{words}");
        done.status.success()
    });
    assert_eq!(stage.client().value(WHO), "3");
    let lost = "SELECT count FROM stats_nuthatch_lost_transactions WHERE known_by = 'acknowledged'";
    assert_eq!(operator.value(lost), "1", "it is told, and the operator has decided");
}

#[test]
fn two_servers_have_no_majority() {
    let stage = Stage::of(Kind::MariaDb, Setup::default());
    let mut operator = stage.proxy.operator();
    let port = stage.port(Role::Replica(2));
    operator.ok(format!("DELETE FROM mysql_servers WHERE port = {port}"));
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    operator.ok("SET mysql-failover = 'auto'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    let warnings = operator.table("SHOW WARNINGS");
    assert!(warnings.iter().any(|row| row[2].contains("auto is refused")), "{warnings:?}");
    let in_force =
        "SELECT variable_value FROM runtime_global_variables WHERE variable_name = 'mysql-failover'";
    assert_eq!(operator.value(in_force), "off");
}
