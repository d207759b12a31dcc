//! Who writes and who reads is found out: servers of a replication pair stand where their `read_only` puts them.

use nuthatch_lab::{Role, ScratchLab};

use crate::client::{Client, Login};
use crate::deadline::await_that;
use crate::proxy::{Proxy, Setup};
use crate::routing::WHO;
use crate::servers;
use crate::stage::metrics;

/// Hostgroup 10 writes, 20 reads; the lab's primary is loaded in the one, its replica in the other.
const PAIR: &str =
    "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20)";

/// The servers of each hostgroup, as `10:1 20:2`, by whether they are the primary (1) or the replica (2).
fn places(lab: &ScratchLab, operator: &mut Client) -> String {
    let rows = operator.table("SELECT hostgroup_id, port, status FROM runtime_mysql_servers");
    let port = lab.primary().port().to_string();
    let place = |row: &Vec<String>| {
        let number = if row[1] == port { 1 } else { 2 };
        let status = if row[2] == "ONLINE" { String::new() } else { format!("({})", row[2]) };
        format!("{}:{number}{status}", row[0])
    };
    let mut places: Vec<_> = rows.iter().map(place).collect();
    places.sort_unstable();
    places.join(" ")
}

struct Stage {
    lab: ScratchLab,
    proxy: Proxy,
    primary: Client,
    replica: Client,
}

impl Stage {
    /// The replica is read-only, and both are looked at often.
    fn with(setup: Setup) -> Self {
        let lab = servers::own(1);
        let login = servers::account(&lab);
        let (primary, mut replica) = (servers::primary(&lab), servers::replica(&lab));
        replica.ok("SET GLOBAL read_only = 1");
        let server = |role, hostgroup: u32| {
            let port = lab.server(role).expect("it is there").port();
            format!("hostgroup_id={hostgroup}, hostname='127.0.0.1', port={port}")
        };
        let setup = setup
            .variable("mysql-monitor_enabled", true)
            .account("monitor", &login.user, &login.password)
            .variable("mysql-monitor_read_only_interval", 100)
            .server(server(Role::Primary, 10))
            .server(server(Role::Replica(1), 20))
            .user(format!("username='{}', password='{}', default_hostgroup=10", login.user, login.password));
        let proxy = Proxy::start(&setup);
        Self { lab, proxy, primary, replica }
    }

    /// With the pair in force.
    fn paired(setup: Setup) -> Self {
        let stage = Self::with(setup);
        let mut operator = stage.proxy.operator();
        operator.ok(PAIR);
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
        let looked =
            "SELECT COUNT(DISTINCT port) FROM monitor.mysql_server_read_only_log WHERE error IS NULL";
        await_that("both were looked at", || operator.value(looked) == "2");
        stage
    }

    fn replica_port(&self) -> u16 {
        self.lab.server(Role::Replica(1)).expect("it is there").port()
    }

    fn client(&self) -> Client {
        self.proxy.client(&servers::account(&self.lab))
    }

    #[track_caller]
    fn await_places(&self, expected: &str) {
        let mut operator = self.proxy.operator();
        await_that(&format!("servers stand as {expected}"), || places(&self.lab, &mut operator) == expected);
    }
}

#[test]
fn statements_follow_the_server_that_takes_writes() {
    let mut stage = Stage::paired(Setup::default());
    stage.await_places("10:1 20:2");
    let mut client = stage.client();
    assert_eq!(client.value(WHO), "1");
    stage.primary.ok("SET GLOBAL read_only = 1");
    stage.await_places("20:1 20:2");
    // It waits for a writer, and none is there before the replica is one.
    let mut waiting = stage.client();
    waiting.send(3, WHO.as_bytes()).expect("it is sent");
    stage.replica.ok("SET GLOBAL read_only = 0");
    stage.await_places("10:2 20:1 20:2");
    waiting.read_answers().expect("it was answered when there was a writer");
    assert_eq!((waiting.value(WHO), client.value(WHO)), ("2".to_owned(), "2".to_owned()));
    // What memory says is not what is in force; a LOAD of it sends nothing to the old writer.
    let mut operator = stage.proxy.operator();
    assert_eq!(
        operator.value(
            "SELECT COUNT(*) FROM mysql_servers WHERE hostgroup_id = 10 AND port IN \
         (SELECT port FROM runtime_mysql_servers WHERE hostgroup_id = 10)"
        ),
        "0"
    );
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    assert_eq!(
        (client.value(WHO), places(&stage.lab, &mut operator).as_str()),
        ("2".to_owned(), "10:2 20:1 20:2")
    );
    operator.ok("SAVE MYSQL SERVERS TO MEMORY");
    let differing = "SELECT COUNT(*) FROM (SELECT hostgroup_id, port, status FROM mysql_servers EXCEPT \
                     SELECT hostgroup_id, port, status FROM runtime_mysql_servers)";
    assert_eq!(operator.value(differing), "0");
    assert_eq!(operator.value("SELECT COUNT(*) FROM mysql_servers"), "3");
    let shown = operator.table(
        "SELECT role, writer_hostgroup, hostgroups, why, read_only, since > 1700000000 FROM stats_nuthatch_servers \
         ORDER BY role",
    );
    assert_eq!(
        shown,
        [
            ["reader", "10", "20", "read_only is on", "1", "1"],
            ["writer", "10", "10,20", "read_only is off", "0", "1"]
        ]
    );
    assert!(stage.proxy.log().contains("a server of a cluster is writer now"), "the log tells");
    let exposed = metrics(&mut operator);
    for (role, port) in [("writer", stage.replica_port()), ("reader", stage.lab.primary().port())] {
        let metric = format!(
            "nuthatch_server_role{{endpoint=\"127.0.0.1:{port}\",role=\"{role}\",writer_hostgroup=\"10\"}} 1"
        );
        assert!(exposed.contains(&metric), "{metric} is not in {exposed}");
    }
    assert!(exposed.contains("nuthatch_connpool_conns_status{hostgroup=\"10\""), "{exposed}");
}

#[test]
fn writer_that_does_not_say_what_it_is_stays_writer_for_as_many_looks_as_is_wanted() {
    let stage = Stage::paired(
        Setup::default()
            .variable("mysql-monitor_ping_interval", 60_000)
            .variable("mysql-monitor_read_only_timeout", 150)
            .variable("mysql-monitor_read_only_max_timeout_count", 8),
    );
    stage.await_places("10:1 20:2");
    stage.lab.freeze(Role::Primary).expect("it runs");
    // It does not read either: it is loaded as writer only.
    stage.await_places("10:1(SHUNNED) 20:2");
    let silent = "SELECT COUNT(*) FROM monitor.mysql_server_read_only_log WHERE error LIKE '%no answer within 150 ms%'";
    let silent: u32 = stage.proxy.operator().value(silent).parse().expect("a number");
    assert!(silent >= 8, "{silent} looks were in vain");
    stage.lab.thaw(Role::Primary).expect("it is frozen");
    stage.await_places("10:1 20:2");
}

/// Looks are far apart: it is the refused write that calls for one.
#[test]
fn write_that_is_refused_by_who_is_read_only_has_the_roles_looked_at_at_once() {
    let mut stage = Stage::paired(Setup::default());
    stage.await_places("10:1 20:2");
    stage.primary.ok("CREATE TABLE test.w (n INT) ENGINE=InnoDB");
    stage.primary.ok("CREATE USER plain IDENTIFIED BY 'pw'");
    stage.primary.ok("GRANT SELECT, INSERT ON test.* TO plain");
    servers::await_replicas(&stage.lab);
    let mut operator = stage.proxy.operator();
    operator.ok("INSERT INTO mysql_users (username, password, default_hostgroup) VALUES ('plain', 'pw', 10)");
    operator.ok("LOAD MYSQL USERS TO RUNTIME");
    operator.ok("SET mysql-monitor_read_only_interval = 300000");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    let mut client = stage.proxy.client(&Login::new("plain", "pw"));
    client.ok("INSERT INTO test.w VALUES (1)");
    servers::await_replicas(&stage.lab);
    stage.primary.ok("SET GLOBAL read_only = 1");
    stage.replica.ok("STOP SLAVE");
    stage.replica.ok("SET GLOBAL read_only = 0");
    let error = client.refused("INSERT INTO test.w VALUES (2)");
    assert_eq!(error.code, 1290, "{error:?}");
    stage.await_places("10:2 20:1 20:2");
    let mut client = stage.proxy.client(&Login::new("plain", "pw"));
    client.ok("INSERT INTO test.w VALUES (3)");
    assert_eq!(stage.replica.value("SELECT COUNT(*) FROM test.w"), "2");
}

#[test]
fn second_writer_is_kept_out_and_told() {
    let mut stage = Stage::paired(Setup::default());
    stage.replica.ok("SET GLOBAL read_only = 0");
    let role = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role = 'kept out' AND why LIKE '%two_writers = refuse%'";
    let mut operator = stage.proxy.operator();
    await_that("it is kept out", || operator.value(role) == "1");
    assert_eq!(places(&stage.lab, &mut operator), "10:1 20:2");
    let log = stage.proxy.log();
    assert_eq!(log.matches("a server of a cluster is kept out now").count(), 1, "{log}");
    operator.ok("SET mysql-two_writers = 'proxysql'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    stage.await_places("10:1 10:2 20:2");
    operator.ok("SET mysql-two_writers = 'refuse'");
    operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    // It has been a writer: what it has may not be what the other has.
    stage.await_places("10:1 20:2(OFFLINE_HARD)");
    stage.replica.ok("SET GLOBAL read_only = 1");
    stage.await_places("10:1 20:2");
}

#[test]
fn writer_that_comes_back_after_another_has_taken_over_is_kept_out_until_it_is_read_only() {
    let mut stage = Stage::paired(Setup::default().variable("mysql-monitor_ping_interval", 100));
    stage.lab.kill(Role::Primary).expect("it runs");
    stage.replica.ok("SET GLOBAL read_only = 0");
    let mut client = stage.client();
    await_that("the replica writes", || client.query(WHO).is_ok_and(|_| client.value(WHO) == "2"));
    stage.await_places("10:1(OFFLINE_HARD) 10:2 20:2");
    stage.lab.start(Role::Primary).expect("it starts");
    let mut primary = servers::primary(&stage.lab);
    assert_eq!(primary.value("SELECT @@global.read_only"), "0", "as after a crash");
    let seen = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role = 'kept out' AND why LIKE '%is the writer of hostgroup 10%'";
    let mut operator = stage.proxy.operator();
    await_that("it is seen to write", || operator.value(seen) == "1");
    assert_eq!(places(&stage.lab, &mut operator), "10:1(OFFLINE_HARD) 10:2 20:2");
    assert_eq!(client.value(WHO), "2");
    primary.ok("SET GLOBAL read_only = 1");
    stage.await_places("10:2 20:1 20:2");
}

#[test]
fn exact_answers_of_the_old_writer_are_not_served_when_another_writes() {
    let mut stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    let schema = servers::fresh_name("roles");
    stage.primary.ok(format!("CREATE DATABASE {schema}"));
    stage.primary.ok(format!("CREATE TABLE {schema}.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB"));
    stage.primary.ok(format!("INSERT INTO {schema}.t VALUES (1, 1)"));
    servers::await_replicas(&stage.lab);
    let mut operator = stage.proxy.operator();
    operator.ok(PAIR);
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    stage.await_places("10:1 20:2");
    let mut client = stage.client();
    let read = format!("SELECT v FROM {schema}.t WHERE id = 1");
    let hits =
        "SELECT variable_value FROM stats_mysql_global WHERE variable_name = 'Query_Cache_count_GET_OK'";
    await_that("it is served from memory", || {
        let before = operator.value(hits);
        client.value(read.as_str()) == "1" && operator.value(hits) != before
    });
    // Past the proxy: as an administrator who promotes a server whose data has gone on.
    stage.primary.ok("SET GLOBAL read_only = 1");
    stage.await_places("20:1 20:2");
    stage.replica.ok("STOP SLAVE");
    stage.replica.ok(format!("UPDATE {schema}.t SET v = 2"));
    stage.replica.ok("SET GLOBAL read_only = 0");
    stage.await_places("10:2 20:1 20:2");
    assert_eq!(client.value(read.as_str()), "2", "nothing of the old writer is served");
}

#[test]
fn check_that_a_server_does_not_know_moves_nobody_and_is_told_once() {
    let stage = Stage::with(Setup::default());
    let mut operator = stage.proxy.operator();
    operator.ok("INSERT INTO mysql_replication_hostgroups VALUES (10, 20, 'super_read_only', '')");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    let refused = "SELECT COUNT(*) FROM mysql_server_read_only_log WHERE error LIKE '%super_read_only%' AND read_only IS NULL";
    await_that("it is asked", || operator.value(refused).parse::<u64>().expect("a number") > 6);
    assert_eq!(places(&stage.lab, &mut operator), "10:1 20:2");
    let log = stage.proxy.log();
    assert_eq!(
        log.matches("the monitor is not told by a server whether that takes writes").count(),
        2,
        "{log}"
    );
    operator.ok("UPDATE mysql_replication_hostgroups SET check_type = 'read_only&innodb_read_only'");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    // MariaDB's innodb_read_only is off: by that check the replica takes writes.
    let role = "SELECT role FROM stats_nuthatch_servers WHERE read_only = 0 ORDER BY role";
    await_that("both take writes", || operator.table(role) == [["kept out"], ["writer"]]);
    operator.ok("DELETE FROM mysql_replication_hostgroups");
    operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
    assert_eq!(operator.value("SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role IS NULL"), "2");
}
