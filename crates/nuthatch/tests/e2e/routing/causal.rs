//! Reads are split from the rest by one switch, and no session goes back behind what it has seen.
//!
//! Which server has answered is told by a table in which each server has a row of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nuthatch_lab::{Direction, Kind, Options, Peers, Relays, Role, ScratchLab, SemiSync};
use nuthatch_wire::{CapabilityFlags, Command};

use super::pair;
use crate::client::{Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::servers;

/// Who answers: `writer`, `reader 1`, `reader 2`.
const WHO: &str = "SELECT name FROM c.who";

const WRITER: &str = "writer";

/// Hostgroup 10 writes, 20 reads: a primary and its replicas, which are read-only.
struct Stage {
    lab: ScratchLab,
    kind: Kind,
    proxy: Proxy,
}

impl Stage {
    fn of(kind: Kind, replicas: u16, setup: Setup) -> Self {
        let options = Options {
            installation: servers::installation(kind),
            replicas,
            buffer_pool_mib: 64,
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("a lab comes up");
        let login = servers::account(&lab);
        let mut primary = servers::primary(&lab);
        for statement in [
            "CREATE DATABASE c",
            "CREATE TABLE c.who (name VARCHAR(20))",
            "CREATE TABLE c.t (id INT PRIMARY KEY, n BIGINT)",
            "INSERT INTO c.t VALUES (1, 0), (2, 0)",
        ] {
            primary.ok(statement);
        }
        servers::await_replicas(&lab);
        let name = |client: &mut Client, name: &str| {
            client.ok("SET sql_log_bin = 0");
            client.ok(format!("INSERT INTO c.who VALUES ('{name}')"));
            client.ok("SET sql_log_bin = 1");
        };
        name(&mut primary, WRITER);
        let mut setup = setup
            .variable("mysql-monitor_enabled", true)
            .account("monitor", &login.user, &login.password)
            .variable("mysql-monitor_read_only_interval", 100)
            .server(format!("hostgroup_id=10, hostname='127.0.0.1', port={}", lab.primary().port()))
            .user(format!("username='{}', password='{}', default_hostgroup=10", login.user, login.password));
        for number in 1..=replicas {
            let mut replica = servers::client_of(&lab, Role::Replica(number));
            replica.ok("SET GLOBAL read_only = 0");
            name(&mut replica, &format!("reader {number}"));
            replica.ok("SET GLOBAL read_only = 1");
            let port = lab.server(Role::Replica(number)).expect("it is there").port();
            setup = setup.server(format!("hostgroup_id=20, hostname='127.0.0.1', port={port}"));
        }
        let proxy = Proxy::start(&setup);
        let mut operator = proxy.operator();
        operator.ok(
            "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20)",
        );
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
        let looked =
            "SELECT COUNT(DISTINCT port) FROM monitor.mysql_server_read_only_log WHERE error IS NULL";
        let all = (replicas + 1).to_string();
        await_that("all were looked at", || operator.value(looked) == all);
        Self { lab, kind, proxy }
    }

    fn split(replicas: u16) -> Self {
        Self::of(Kind::MariaDb, replicas, Setup::default().variable("mysql-read_write_split", 1))
    }

    fn client(&self) -> Client {
        self.proxy.client(&servers::account(&self.lab))
    }

    fn figure(&self, name: &str) -> u64 {
        let asked = format!("SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name = '{name}'");
        self.proxy.operator().value(asked).parse().expect("a number")
    }

    /// The replica applies nothing from now on, or all again.
    fn applies(&self, number: u16, applies: bool) {
        let what = if applies { "START" } else { "STOP" };
        let word = servers::replica_word(self.kind);
        servers::client_of(&self.lab, Role::Replica(number)).ok(format!("{what} {word} SQL_THREAD"));
    }
}

#[test]
fn plain_reads_go_to_readers_and_all_else_to_the_writer() {
    let stage = Stage::split(1);
    let mut client = stage.client();
    assert_eq!(client.value(WHO), "reader 1");
    assert_eq!(client.value("SELECT SQL_NO_CACHE name FROM c.who WHERE NOW() > '2020-01-01'"), "reader 1");
    for statement in [
        "SELECT name FROM c.who FOR UPDATE",
        "SELECT name FROM c.who LOCK IN SHARE MODE",
        "SELECT name FROM c.who WHERE c.unknown() IS NOT NULL OR TRUE",
        "SELECT name, @a := 1 FROM c.who",
        "SELECT GET_LOCK('causal', 0), name FROM c.who",
    ] {
        let mut one = stage.client();
        let asked = one.query(statement);
        let rows = asked.map(|answer| answer.rows).unwrap_or_default();
        let texts: Vec<_> =
            rows.iter().flatten().flatten().map(|value| String::from_utf8_lossy(value)).collect();
        assert!(!texts.iter().any(|text| text.contains("reader")), "{statement}: {texts:?}");
    }
    for begin in ["BEGIN", "SET autocommit = 0", "START TRANSACTION READ ONLY"] {
        let mut one = stage.client();
        one.ok(begin);
        assert_eq!(one.value(WHO), WRITER, "{begin}");
        one.ok("COMMIT");
    }
    let mut pinned = stage.client();
    pinned.ok("CREATE TEMPORARY TABLE c.mine (id INT)");
    assert_eq!(pinned.value(WHO), WRITER, "its temporary tables are there");
    assert!(stage.figure("Reads_Split") >= 2);
    stage.proxy.set("read_write_split", 0);
    assert_eq!(client.value(WHO), WRITER);
}

/// Where it is not known what a read has run that failed, the session's next statements go to who writes all the same.
fn read_that_fails_keeps_nobody_on_a_replica_of(kind: Kind) {
    let stage = Stage::of(kind, 1, Setup::default().variable("mysql-read_write_split", 1));
    let mut primary = servers::primary(&stage.lab);
    let mut client = stage.client();
    for round in 0..3 {
        let error = client.refused("SELECT * FROM c.nosuch");
        assert_eq!(error.code, 1146, "{error:?}");
        if round == 1 {
            let warnings = client.table("SHOW WARNINGS");
            assert!(warnings[0][2].contains("nosuch"), "{warnings:?}");
        }
        client.ok(format!("UPDATE c.t SET n = {round} WHERE id = 1"));
        assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1 FOR UPDATE"), round.to_string());
        assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), round.to_string());
        await_that("reads are split on", || client.value(WHO).starts_with("reader"));
        // What code there is must be found out again.
        primary.ok("CREATE OR REPLACE VIEW c.v AS SELECT 1 AS one");
    }
}

#[test]
fn read_that_fails_keeps_nobody_on_a_replica() {
    read_that_fails_keeps_nobody_on_a_replica_of(Kind::MariaDb);
}

#[test]
fn read_that_fails_keeps_nobody_on_a_replica_with_mysql() {
    read_that_fails_keeps_nobody_on_a_replica_of(Kind::MySql);
}

#[test]
fn rule_goes_before_the_switch() {
    let setup = Setup::default()
        .variable("mysql-read_write_split", 1)
        .rule("rule_id=1, match_pattern='who', destination_hostgroup=10, apply=1");
    let stage = Stage::of(Kind::MariaDb, 1, setup);
    assert_eq!(stage.client().value(WHO), WRITER);
}

#[test]
fn session_reads_what_it_wrote_however_far_replicas_are_behind() {
    let stage = Stage::split(2);
    let (mut client, mut other) = (stage.client(), stage.client());
    assert!(client.value(WHO).starts_with("reader"));
    stage.applies(1, false);
    for n in 1..=50 {
        client.ok(format!("UPDATE c.t SET n = {n} WHERE id = 1"));
        assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), n.to_string());
        assert_eq!(client.value(WHO), "reader 2", "the other one does not have it");
    }
    stage.applies(2, false);
    client.ok("UPDATE c.t SET n = 51 WHERE id = 1");
    let before = (stage.figure("Causal_Reads_By_Writer"), Stopwatch::start());
    assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), "51");
    assert!(before.1.elapsed() >= Duration::from_millis(90), "one is waited for");
    assert_eq!(client.value(WHO), WRITER, "nobody has it");
    assert!(stage.figure("Causal_Reads_By_Writer") >= before.0 + 2);
    assert!(other.value(WHO).starts_with("reader"), "who has written nothing need not wait");
    stage.applies(1, true);
    stage.applies(2, true);
    await_that("they have it", || client.value(WHO).starts_with("reader"));
    assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), "51");
}

/// A replica answers from a past in which it lacks what the cache gave, though that was stored before it answered last.
#[test]
fn hit_that_is_older_than_the_latest_answer_was_seen_too() {
    let setup = Setup::default()
        .variable("mysql-read_write_split", 1)
        .variable("mysql-query_cache_type", 1)
        .variable("mysql-query_cache_catalogue_interval_ms", 1000);
    let stage = Stage::of(Kind::MariaDb, 1, setup);
    let (mut client, mut other) = (stage.client(), stage.client());
    let (read, past_the_cache) =
        ("SELECT n FROM c.t WHERE id = 1", "SELECT SQL_NO_CACHE n FROM c.t WHERE id = 1");
    stage.applies(1, false);
    assert_eq!(client.value(past_the_cache), "0");
    other.ok("UPDATE c.t SET n = 7 WHERE id = 1");
    let hits = || stage.figure("Query_Cache_count_GET_OK");
    await_that("who writes has answered, and that is stored", || {
        let before = hits();
        assert_eq!(other.value(read), "7");
        hits() > before
    });
    assert_eq!(client.value("SELECT SQL_NO_CACHE n FROM c.t WHERE id = 2"), "0");
    assert!(
        client.value("SELECT SQL_NO_CACHE name FROM c.who").starts_with("reader"),
        "it has seen nothing else"
    );
    let before = hits();
    assert_eq!((client.value(read).as_str(), hits()), ("7", before + 1));
    assert_eq!(client.value(past_the_cache), "7");
}

/// A replica shows a write whose primary waits for an acknowledgement, and does not show it meanwhile.
struct LateAcknowledgement {
    stage: pair::Stage,
    /// Has seen it.
    client: Client,
    /// Waits for the answer to it.
    writer: Client,
}

impl LateAcknowledgement {
    fn of(kind: Kind, setup: Setup) -> Self {
        let options = Options { semi_sync: SemiSync::AfterSync, relays: Relays::Here, ..Options::default() };
        let stage = pair::Stage::with(kind, options, setup.variable("mysql-read_write_split", 1));
        let (mut client, mut writer) = (stage.client(), stage.client());
        writer.ok("CREATE TABLE test.t (n INT) ENGINE=InnoDB");
        writer.ok("INSERT INTO test.t VALUES (0)");
        servers::await_replicas(&stage.lab);
        for replica in [Role::Replica(1), Role::Replica(2)] {
            stage.lab.partition(Role::Primary, Peers::One(replica), Direction::In).expect("relays");
        }
        writer.send(3, b"UPDATE test.t SET n = 1").expect("it is sent");
        await_that("a replica shows it", || client.value(N) == "1");
        Self { stage, client, writer }
    }
}

const N: &str = "SELECT n FROM test.t";

fn read_of_the_writer_waits_for_what_a_replica_has_shown_of(kind: Kind) {
    let setup = Setup::default().variable("mysql-connect_timeout_server_max", 1500);
    let LateAcknowledgement { stage, mut client, mut writer } = LateAcknowledgement::of(kind, setup);
    client.ok("BEGIN");
    let watch = Stopwatch::start();
    let error = client.refused(N);
    assert!(watch.elapsed() >= Duration::from_millis(1400), "it is waited for");
    assert_eq!(error.code, 9001, "{error:?}");
    assert!(error.message.contains("no server shows yet what this session has seen"), "{error:?}");
    client.ok("ROLLBACK");
    stage.lab.heal().expect("relays");
    client.ok("BEGIN");
    assert_eq!(client.value(N), "1");
    assert!(writer.read_answers().is_ok(), "it is acknowledged");
}

#[test]
fn read_of_the_writer_waits_for_what_a_replica_has_shown() {
    read_of_the_writer_waits_for_what_a_replica_has_shown_of(Kind::MariaDb);
}

#[test]
fn read_of_the_writer_waits_for_what_a_replica_has_shown_with_mysql() {
    read_of_the_writer_waits_for_what_a_replica_has_shown_of(Kind::MySql);
}

fn read_waits_though_who_proves_has_lost_the_writer_of(kind: Kind) {
    let LateAcknowledgement { stage, mut client, writer: _writer } =
        LateAcknowledgement::of(kind, Setup::default());
    // Each read has something proven: a connection that is lost while nobody asks is just opened anew.
    stage.proxy.set("causal_reads", "GLOBAL");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = stage.client();
            while !is_over.load(Ordering::Relaxed) {
                drop(other.query(N));
            }
        });
        for _ in 0..60 {
            stage.lab.cut(Role::Primary).expect("relays");
            thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        scope.spawn(|| {
            thread::sleep(Duration::from_secs(2));
            stage.lab.heal().expect("relays");
        });
        let watch = Stopwatch::start();
        let seen = loop {
            // The first connections may be some that were cut.
            match client.query("BEGIN").and_then(|_| client.query(N)) {
                Ok(_) => break client.value(N),
                Err(error) => assert!(watch.elapsed() < Duration::from_secs(5), "{error:?}"),
            }
            client.ok("ROLLBACK");
        };
        assert_eq!(seen, "1", "what it has seen");
    });
}

#[test]
fn read_waits_though_who_proves_has_lost_the_writer() {
    read_waits_though_who_proves_has_lost_the_writer_of(Kind::MariaDb);
}

#[test]
fn read_waits_though_who_proves_has_lost_the_writer_with_mysql() {
    read_waits_though_who_proves_has_lost_the_writer_of(Kind::MySql);
}

fn read_that_waited_for_the_writer_waits_until_it_shows_all_of(kind: Kind) {
    let LateAcknowledgement { stage, mut client, writer: _writer } =
        LateAcknowledgement::of(kind, Setup::default());
    client.ok("SET autocommit = 0");
    let mut operator = stage.proxy.operator();
    let port = stage.port(Role::Primary);
    let mut set = |status| {
        operator.ok(format!("UPDATE mysql_servers SET status = '{status}' WHERE port = {port}"));
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    };
    set("OFFLINE_SOFT");
    client.send(3, N.as_bytes()).expect("it is sent");
    thread::sleep(Duration::from_millis(300));
    set("ONLINE");
    thread::sleep(Duration::from_millis(700));
    stage.lab.heal().expect("relays");
    client.read_answers().expect("it is answered");
    assert_eq!(client.value(N), "1", "in the snapshot of the answer before");
}

#[test]
fn read_that_waited_for_the_writer_waits_until_it_shows_all() {
    read_that_waited_for_the_writer_waits_until_it_shows_all_of(Kind::MariaDb);
}

#[test]
fn read_that_waited_for_the_writer_waits_until_it_shows_all_with_mysql() {
    read_that_waited_for_the_writer_waits_until_it_shows_all_of(Kind::MySql);
}

#[test]
fn table_that_was_just_made_can_be_prepared_and_read() {
    let stage = Stage::split(2);
    let mut client = stage.client();
    for n in 1..=20 {
        client.ok(format!("CREATE TABLE c.new{n} (id INT)"));
        client.send(Command::StmtPrepare as u8, format!("SELECT id FROM c.new{n}").as_bytes()).expect("sent");
        assert_eq!(client.read_packet().expect("an answer")[0], 0, "new{n} is known where it is prepared");
        client = stage.client();
        client.ok(format!("CREATE DATABASE d{n}"));
        client.ok(format!("CREATE TABLE d{n}.t (id INT)"));
        client.init_db(format!("d{n}")).expect("it is there");
        assert_eq!(client.value("SELECT COUNT(*) FROM t"), "0");
    }
}

#[test]
fn without_readers_or_a_proof_the_writer_answers_at_once() {
    let setup = Setup::default().variable("mysql-read_write_split", 1);
    let mut stage = Stage::of(Kind::MariaDb, 1, setup);
    let mut client = stage.client();
    assert_eq!(client.value(WHO), "reader 1");
    stage.lab.kill(Role::Replica(1)).expect("it is killed");
    await_that("the writer answers", || client.value(WHO) == WRITER);
    let watch = Stopwatch::start();
    assert_eq!(client.value(WHO), WRITER);
    assert!(watch.elapsed() < Duration::from_secs(2), "nobody waits for a reader");
    let stage = Stage::of(
        Kind::MariaDb,
        1,
        Setup::default()
            .variable("mysql-read_write_split", 1)
            .variable("mysql-causal_reads_timeout_ms", 60_000),
    );
    let mut client = stage.client();
    stage.proxy.set("monitor_password", "wrong");
    await_that("the log tells", || stage.proxy.log().contains("what the server shows is not known"));
    client.ok("UPDATE c.t SET n = 1 WHERE id = 1");
    assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), "1");
    assert_eq!(client.value(WHO), WRITER);
    assert!(stage.client().value(WHO).starts_with("reader"), "who has seen nothing may be answered by any");
}

#[test]
fn global_reads_show_what_anybody_wrote_also_past_the_proxy() {
    let setup =
        Setup::default().variable("mysql-read_write_split", 1).variable("mysql-causal_reads", "'GLOBAL'");
    let stage = Stage::of(Kind::MariaDb, 2, setup);
    let (mut client, mut direct) = (stage.client(), servers::primary(&stage.lab));
    for n in 1..=100 {
        direct.ok(format!("UPDATE c.t SET n = {n} WHERE id = 1"));
        assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), n.to_string());
    }
    assert!(client.value(WHO).starts_with("reader"), "and readers answered");
}

#[test]
fn rule_with_gtid_from_hostgroup_has_replicas_show_its_writes() {
    let setup = Setup::default().rule(
        "rule_id=1, match_pattern='^SELECT', destination_hostgroup=20, gtid_from_hostgroup=10, apply=1",
    );
    let stage = Stage::of(Kind::MariaDb, 2, setup);
    let mut client = stage.client();
    for n in 1..=50 {
        client.ok(format!("UPDATE c.t SET n = {n} WHERE id = 1"));
        assert_eq!(client.value("SELECT n FROM c.t WHERE id = 1"), n.to_string());
    }
    assert!(client.value(WHO).starts_with("reader"));
    stage.applies(1, false);
    stage.applies(2, false);
    client.ok("UPDATE c.t SET n = 51 WHERE id = 1");
    assert_eq!(client.value(WHO), WRITER, "nobody else has it");
}

/// Sessions write, read and mix transactions in, with replicas that are behind by turns: none ever sees less than it has seen.
fn nobody_goes_back(kind: Kind, cached: bool) {
    let mut setup = Setup::default().variable("mysql-read_write_split", 1);
    if cached {
        setup = setup
            .variable("mysql-query_cache_type", 1)
            .variable("mysql-query_cache_catalogue_interval_ms", 1000);
    }
    let stage = Stage::of(kind, 2, setup);
    let (stop, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for session in 0..6_u64 {
            let (stage, stop, reads) = (&stage, &stop, &reads);
            scope.spawn(move || {
                let mut client = stage.client();
                let (mut seen, mut turn) = ([0_u64; 2], session);
                while !stop.load(Ordering::Relaxed) {
                    turn =
                        turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let (what, row) = ((turn >> 33) % 10, ((turn >> 40) % 2) as usize);
                    let id = row + 1;
                    let read = format!("SELECT n FROM c.t WHERE id = {id}");
                    match what {
                        0 | 1 => drop(client.ok(format!("UPDATE c.t SET n = n + 1 WHERE id = {id}"))),
                        2 => drop(client.ok("BEGIN")),
                        _ => {}
                    }
                    let found: u64 = client.value(&read).parse().expect("a number");
                    assert!(
                        found >= seen[row],
                        "{kind:?}: session {session} saw {} and then {found}",
                        seen[row]
                    );
                    seen[row] = found;
                    reads.fetch_add(1, Ordering::Relaxed);
                    if what == 2 {
                        client.ok("COMMIT");
                    }
                }
            });
        }
        let watch = Stopwatch::start();
        while watch.elapsed() < Duration::from_secs(8) {
            for number in 1..=2 {
                stage.applies(number, false);
                thread::sleep(Duration::from_millis(300));
                stage.applies(number, true);
                thread::sleep(Duration::from_millis(200));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let reads = reads.load(Ordering::Relaxed);
    let figures = ["Reads_Split", "Causal_Reads_Waited", "Causal_Reads_Waited_us", "Causal_Reads_By_Writer"]
        .map(|name| (name, stage.figure(name)));
    assert!(reads > 500 && figures[0].1 > 200, "{kind:?}, cached {cached}: {reads} reads, {figures:?}");
}

#[test]
fn no_session_of_mariadb_goes_back() {
    nobody_goes_back(Kind::MariaDb, false);
    nobody_goes_back(Kind::MariaDb, true);
}

#[test]
fn no_session_of_mysql_goes_back() {
    nobody_goes_back(Kind::MySql, false);
}

/// What the OK packet of an INSERT tells a client that wants to be told of changes.
fn told(stage: &Stage, statement: &str) -> Vec<u8> {
    let login = servers::account(&stage.lab);
    let login = Login { capabilities: login.capabilities | CapabilityFlags::CLIENT_SESSION_TRACK, ..login };
    let mut client = stage.proxy.client(&login);
    client.send(Command::Query as u8, statement.as_bytes()).expect("it is sent");
    client.read_packet().expect("an answer")
}

#[test]
fn clients_are_told_of_gtids_if_that_is_asked_for_and_no_others() {
    for kind in [Kind::MariaDb, Kind::MySql] {
        let stage = Stage::of(kind, 0, Setup::default());
        let mut direct = servers::primary(&stage.lab);
        let asked = match kind {
            Kind::MariaDb => "SELECT @@global.gtid_binlog_pos",
            Kind::MySql => "SELECT @@server_uuid",
        };
        let mark = |direct: &mut Client| direct.value(asked).into_bytes();
        let has = |told: &[u8], mark: &[u8]| told.windows(mark.len()).any(|window| window == mark);
        let insert = "INSERT INTO c.t VALUES (3 + FLOOR(RAND() * 100000000), 1)";
        let quiet = told(&stage, insert);
        assert!(!has(&quiet, &mark(&mut direct)), "{kind:?}: nobody asked");
        stage.proxy.set("default_session_track_gtids", "OWN_GTID");
        let loud = told(&stage, insert);
        assert!(has(&loud, &mark(&mut direct)), "{kind:?}: {loud:?}");
        // Who does not want to be told of changes is told of none, and its answers are read as ever.
        let mut plain = stage.client();
        plain.ok(insert);
        assert_eq!(plain.value("SELECT COUNT(*) > 2 FROM c.t"), "1");
        stage.proxy.set("client_session_track_gtid", "false");
        let hidden = told(&stage, insert);
        assert!(!has(&hidden, &mark(&mut direct)), "{kind:?}: {hidden:?}");
    }
}
