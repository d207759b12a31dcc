//! Replicas: any may be promoted; one falls behind as far as it is told to; a commit waits for them.

use nuthatch_lab::{Installation, Kind, Options, Role, SemiSync};

use crate::fetched;
use crate::ground::{WAIT, first, options, replica, until, up};

fn any_may_be_promoted(installation: Installation) {
    let mut lab = up(&options(installation, 2));
    lab.primary()
        .query("CREATE TABLE test.t (a INT PRIMARY KEY); INSERT INTO test.t VALUES (1)")
        .expect("it does");
    lab.await_replicas(WAIT).expect("they catch up");
    let status = lab.status().expect("a status");
    assert!(status.is_healthy(), "{status}");
    let read_only: Vec<_> = status.servers.iter().map(|server| server.read_only).collect();
    assert_eq!(read_only, [Some(false), Some(true), Some(true)], "{status}");

    let (old, new) = (Role::Primary, Role::Replica(1));
    lab.kill(old).expect("it does");
    lab.promote(new).expect("it does");
    lab.follow(Role::Replica(2), new, WAIT).expect("it does");
    replica(&lab, 1).query("INSERT INTO test.t VALUES (2)").expect("it does");
    lab.await_followers(new, WAIT).expect("they catch up");
    assert_eq!(first(replica(&lab, 2), "SELECT COUNT(*) FROM test.t"), "2");

    lab.start(old).expect("it does");
    assert_eq!(first(lab.primary(), "SELECT COUNT(*) FROM test.t"), "1", "it follows nobody");
    lab.follow(old, new, WAIT).expect("it does");
    lab.await_followers(new, WAIT).expect("they catch up");
    assert_eq!(first(lab.primary(), "SELECT COUNT(*) FROM test.t"), "2");
    assert_eq!(lab.status().expect("a status").servers[0].read_only, Some(true));
}

fn lag_is_as_told(installation: Installation) {
    let lab = up(&options(installation, 2));
    lab.set_lag(Role::Replica(1), 3600).expect("it does");
    lab.primary().query("CREATE TABLE test.t (a INT)").expect("it does");
    let sees_it = |number| first(replica(&lab, number), "SHOW TABLES FROM test") == "t";
    until("the other replica applies it", || sees_it(2));
    until("the late one has fetched it", || {
        let status = lab.status().expect("a status");
        let late = status.servers[1].replication.as_ref();
        late.is_some_and(|late| late.received == status.servers[0].position)
    });
    assert!(!sees_it(1));
    lab.set_lag(Role::Replica(1), 0).expect("it does");
    lab.await_replicas(WAIT).expect("they catch up");
    assert!(sees_it(1));
}

fn commits_wait_for_replicas(installation: Installation) {
    let names = match installation.kind {
        Kind::MariaDb => "'Rpl_semi_sync_master_clients', 'Rpl_semi_sync_master_status'",
        Kind::MySql => "'Rpl_semi_sync_source_clients', 'Rpl_semi_sync_source_status'",
    };
    let lab = up(&Options { semi_sync: SemiSync::AfterSync, ..options(installation, 2) });
    let now = || {
        let rows = lab
            .primary()
            .query(&format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({names})"))
            .expect("it does");
        rows.rows.into_iter().map(|mut row| row.remove(1)).collect::<Vec<_>>()
    };
    until("two replicas acknowledge", || now() == ["2", "ON"]);
    lab.primary().query("CREATE TABLE test.t (a INT)").expect("it does");
    assert_eq!(now(), ["2", "ON"]);
}

#[test]
fn any_replica_of_mariadb_may_be_promoted() {
    any_may_be_promoted(Installation::debian_mariadb());
}

#[test]
fn any_replica_of_mysql_may_be_promoted() {
    any_may_be_promoted(fetched::mysql());
}

#[test]
fn mariadb_lags_as_far_as_it_is_told_to() {
    lag_is_as_told(Installation::debian_mariadb());
}

#[test]
fn mysql_lags_as_far_as_it_is_told_to() {
    lag_is_as_told(fetched::mysql());
}

#[test]
fn commits_of_mariadb_wait_for_its_replicas() {
    commits_wait_for_replicas(Installation::debian_mariadb());
}

#[test]
fn commits_of_mysql_wait_for_its_replicas() {
    commits_wait_for_replicas(fetched::mysql());
}

#[test]
fn replica_starts_while_its_primary_is_dead() {
    let mut lab = up(&options(Installation::debian_mariadb(), 1));
    lab.kill(Role::Replica(1)).expect("it does");
    lab.kill(Role::Primary).expect("it does");
    lab.start(Role::Replica(1)).expect("it does");
    assert_eq!(first(replica(&lab, 1), "SELECT 1"), "1");
    lab.start(Role::Primary).expect("it does");
    until("it follows again", || lab.status().expect("a status").is_healthy());
}
