//! Group replication and Galera: as many members write as may, and another takes over when one is gone.

use nuthatch_lab::{Cluster, Direction, Duty, Kind, Options, Peers, Role, ScratchLab};

use crate::client::Client;
use crate::deadline::{await_agreement, await_that};
use crate::proxy::{Proxy, Setup};
use crate::servers;

/// Three members, loaded as writers of hostgroup 10; 11 stands by, 20 reads, 99 is offline.
struct Stage {
    lab: ScratchLab,
    proxy: Proxy,
}

impl Stage {
    fn of(kind: Kind, cluster: Cluster, row: &str) -> Self {
        let installation = servers::installation(kind);
        let options =
            Options { installation, cluster: Some(cluster), buffer_pool_mib: 64, ..Options::default() };
        let lab = ScratchLab::up(&options).expect("a lab comes up");
        let (account, monitor) = (servers::account(&lab), lab.login_for(Duty::Monitor).expect("an account"));
        let mut setup = Setup::default()
            .variable("mysql-monitor_enabled", true)
            .account("monitor", &monitor.user, monitor.password.reveal())
            .variable("mysql-monitor_groupreplication_healthcheck_interval", 200)
            .variable("mysql-monitor_galera_healthcheck_interval", 200)
            .variable("mysql-hold_for_writer_ms", 60_000)
            .user(format!(
                "username='{}', password='{}', default_hostgroup=10",
                account.user, account.password
            ));
        for node in 1..=3 {
            let port = lab.server(Role::Node(node)).expect("it is there").port();
            // The first is the heaviest.
            let weight = 10 - node;
            setup =
                setup.server(format!("hostgroup_id=10, hostname='127.0.0.1', port={port}, weight={weight}"));
        }
        let proxy = Proxy::start(&setup);
        let mut operator = proxy.operator();
        operator.ok(row);
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
        Self { lab, proxy }
    }

    /// The members of each hostgroup, as `10:1 11:2,3`.
    fn places(&self) -> String {
        let number = |port: &str| {
            let is_it = |node: &u16| {
                self.lab.server(Role::Node(*node)).is_ok_and(|server| server.port().to_string() == port)
            };
            (1..=3).find(is_it).expect("a member")
        };
        let mut operator = self.proxy.operator();
        let rows =
            operator.table("SELECT hostgroup_id, port FROM runtime_mysql_servers ORDER BY hostgroup_id");
        let mut places: Vec<_> = rows.iter().map(|row| format!("{}:{}", row[0], number(&row[1]))).collect();
        places.sort_unstable();
        places.join(" ")
    }

    #[track_caller]
    fn await_places(&self, expected: &str) {
        await_agreement(&format!("members stand as {expected}"), || self.places() == expected);
    }

    fn client(&self) -> Client {
        self.proxy.client(&servers::account(&self.lab))
    }

    /// By which of them statements are answered.
    fn answered_by(&self, client: &mut Client) -> u16 {
        let port = client.value("SELECT @@port");
        let is_it = |node: &u16| {
            self.lab.server(Role::Node(*node)).is_ok_and(|server| server.port().to_string() == port)
        };
        (1..=3).find(is_it).expect("a member")
    }
}

#[test]
fn galera_has_one_writer_and_the_next_takes_over() {
    let row = "INSERT INTO mysql_galera_hostgroups (writer_hostgroup, backup_writer_hostgroup, reader_hostgroup, \
               offline_hostgroup, max_writers, writer_is_also_reader) VALUES (10, 11, 20, 99, 1, 2)";
    let mut stage = Stage::of(Kind::MariaDb, Cluster::Galera(3), row);
    stage.await_places("10:1 11:2 11:3 20:2 20:3");
    let mut client = stage.client();
    client.ok("CREATE TABLE test.c (a INT PRIMARY KEY) ENGINE=InnoDB");
    assert_eq!(stage.answered_by(&mut client), 1);
    stage.lab.kill(Role::Node(1)).expect("it runs");
    stage.await_places("10:2 11:3 20:3 99:1");
    client.ok("INSERT INTO test.c VALUES (1)");
    assert_eq!(stage.answered_by(&mut client), 2);
    stage.lab.start(Role::Node(1)).expect("it starts");
    // It is heavier: it takes the writes again.
    stage.await_places("10:1 11:2 11:3 20:2 20:3");
    assert_eq!(client.value("SELECT COUNT(*) FROM test.c"), "1");
    let node = |node| servers::client_of(&stage.lab, Role::Node(node));
    node(2).ok("SET GLOBAL wsrep_desync = ON");
    node(3).ok("SET GLOBAL read_only = ON");
    stage.await_places("10:1 20:3 99:2");
    let why =
        "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role = 'offline' AND why LIKE '%wsrep_desync%'";
    let mut operator = stage.proxy.operator();
    assert_eq!(operator.value(why), "1");
    let logged = "SELECT COUNT(*) FROM monitor.mysql_server_galera_log WHERE primary_partition = 'YES' \
                  AND wsrep_local_state = 4 AND read_only = 'YES' AND error IS NULL";
    await_that("it is logged", || operator.value(logged) != "0");
    node(2).ok("SET GLOBAL wsrep_desync = OFF");
    node(3).ok("SET GLOBAL read_only = OFF");
    stage.await_places("10:1 11:2 11:3 20:2 20:3");
    // The part without a majority takes nothing.
    stage.lab.partition(Role::Node(1), Peers::All, Direction::Both).expect("it is parted");
    stage.await_places("10:2 11:3 20:3 99:1");
    stage.lab.heal().expect("it heals");
    stage.await_places("10:1 11:2 11:3 20:2 20:3");
}

#[test]
fn group_has_the_writer_that_it_has_chosen() {
    let row = "INSERT INTO mysql_group_replication_hostgroups (writer_hostgroup, backup_writer_hostgroup, reader_hostgroup, \
               offline_hostgroup, max_writers) VALUES (10, 11, 20, 99, 1)";
    let mut stage = Stage::of(Kind::MySql, Cluster::GroupReplication(3), row);
    stage.await_places("10:1 20:2 20:3");
    let mut client = stage.client();
    client.ok("CREATE TABLE test.c (a INT PRIMARY KEY)");
    stage.lab.kill(Role::Node(1)).expect("it runs");
    await_agreement("another one writes", || {
        let places = stage.places();
        places == "10:2 20:3 99:1" || places == "10:3 20:2 99:1"
    });
    client.ok("INSERT INTO test.c VALUES (1)");
    assert_ne!(stage.answered_by(&mut client), 1);
    let logged = "SELECT COUNT(*) FROM monitor.mysql_server_group_replication_log \
                  WHERE viable_candidate = 'YES' AND read_only = 'NO' AND error IS NULL";
    assert_ne!(stage.proxy.operator().value(logged), "0");
    let whys = "SELECT why FROM stats_nuthatch_servers WHERE role = 'offline'";
    assert!(stage.proxy.operator().value(whys).contains("not there"));
}
