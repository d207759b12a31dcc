//! Members of a group: one writes, another takes over, the killed one comes back.

use nuthatch_lab::{Cluster, Direction, Lab, LabError, Options, Peers, Role, ScratchLab};

use crate::fetched;
use crate::ground::{first, options, processes_of, until, up};

fn group() -> Options {
    Options { cluster: Some(Cluster::GroupReplication(3)), ..options(fetched::mysql(), 0) }
}

fn three() -> ScratchLab {
    up(&group())
}

/// The members that are online, as one of them sees it.
fn online(lab: &Lab, node: u16) -> String {
    let sql = "SELECT CONCAT(COUNT(*), ' ', SUM(MEMBER_ROLE = 'PRIMARY')) FROM performance_schema.replication_group_members \
               WHERE MEMBER_STATE = 'ONLINE'";
    first(lab.server(Role::Node(node)).expect("it is in the lab"), sql)
}

fn primary(lab: &Lab) -> Option<Role> {
    let status = lab.status().expect("a status");
    let is_primary = |member: &nuthatch_lab::Member| member.is_in() && member.role == "PRIMARY";
    status
        .servers
        .iter()
        .find(|server| server.member.as_ref().is_some_and(is_primary))
        .map(|server| server.role)
}

#[test]
fn three_members_are_online_with_one_primary() {
    let mut lab = three();
    let status = lab.status().expect("a status");
    assert!(status.is_healthy(), "{status}");
    for node in 1..=3 {
        assert_eq!(online(&lab, node), "3 1");
    }
    let read_only: Vec<_> = status.servers.iter().map(|server| server.read_only).collect();
    assert_eq!(read_only, [Some(false), Some(true), Some(true)], "{status}");
    lab.primary()
        .query("CREATE TABLE test.t (a INT PRIMARY KEY); INSERT INTO test.t VALUES (1)")
        .expect("it does");

    lab.kill(Role::Node(1)).expect("it does");
    until("another takes over", || primary(&lab).is_some_and(|role| role != Role::Node(1)));
    let next = primary(&lab).expect("it does");
    until("it takes writes", || {
        lab.server(next).expect("it does").query("INSERT INTO test.t VALUES (2)").is_ok()
    });
    lab.start(Role::Node(1)).expect("it does");
    until("all are there", || lab.status().expect("a status").is_healthy());
    until("it has what it missed", || first(lab.primary(), "SELECT COUNT(*) FROM test.t") == "2");
    assert_eq!(primary(&lab), Some(next));
    let parted = lab.partition(Role::Node(1), Peers::All, Direction::Both);
    assert!(matches!(parted, Err(LabError::BadOption { .. })));

    assert_eq!(processes_of(lab.dir()).len(), 3);
    lab.down().expect("it does");
    assert_eq!(processes_of(lab.dir()), [""; 0]);
    let again = Lab::up(lab.dir(), &group()).expect("it does");
    assert!(again.status().expect("a status").is_healthy());
    assert_eq!(first(again.primary(), "SELECT COUNT(*) FROM test.t"), "2");
}
