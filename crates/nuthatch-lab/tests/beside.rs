//! The same lab with servers that are unpacked beside the system by `tools/side-apt.sh`: `make test-servers`.

use std::path::PathBuf;
use std::time::Duration;

use nuthatch_lab::{Installation, Kind, Options, Role, ScratchLab};

#[expect(clippy::disallowed_methods, reason = "the test's own argument")]
fn installation(kind: Kind, variable: &str) -> Installation {
    let root = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names the servers' directory"));
    Installation { kind, root: PathBuf::from(root) }
}

fn check(installation: Installation) {
    let mut lab = ScratchLab::up(&Options { installation, ..Options::default() }).expect("it comes up");
    let primary = lab.primary();
    primary
        .query("CREATE TABLE test.t (a INT PRIMARY KEY); INSERT INTO test.t VALUES (7)")
        .expect("it writes");
    lab.await_replicas(Duration::from_secs(20)).expect("it replicates");
    let replica = lab.server(Role::Replica(1)).expect("it has a replica");
    assert_eq!(replica.query("SELECT a FROM test.t").expect("it reads").first(), Some("7"));
    let status = lab.status().expect("it has a status");
    assert!(status.is_healthy(), "{status}");
    assert_eq!(status.servers[0].position, status.servers[1].position);
    lab.kill(Role::Replica(1)).expect("it dies");
    lab.start(Role::Replica(1)).expect("it starts again");
    assert!(lab.status().expect("it has a status").is_healthy());
}

#[test]
#[ignore = "needs MySQL, which no package of Debian's stable release has"]
fn mysql_replicates_and_survives_a_kill() {
    check(installation(Kind::MySql, "NUTHATCH_MYSQL_ROOT"));
}

#[test]
#[ignore = "needs a MariaDB unpacked beside the system's"]
fn other_mariadb_replicates_and_survives_a_kill() {
    check(installation(Kind::MariaDb, "NUTHATCH_MARIADB_ROOT"));
}
