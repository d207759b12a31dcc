//! Nodes of Galera: a cluster forms, goes on without one of them, takes it back, begins anew where all were killed.

use nuthatch_lab::{Cluster, Direction, Installation, Lab, Liveness, Options, Peers, Role, ScratchLab};

use crate::ground::{first, options, processes_of, until, up};

fn cluster() -> Options {
    Options { cluster: Some(Cluster::Galera(3)), ..options(Installation::debian_mariadb(), 0) }
}

fn three() -> ScratchLab {
    up(&cluster())
}

fn status_of(lab: &Lab, node: u16, name: &str) -> String {
    let server = lab.server(Role::Node(node)).expect("it is in the lab");
    let rows = server.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).expect("it answers");
    rows.value("Value").unwrap_or_default().to_owned()
}

fn count(lab: &Lab, node: u16) -> String {
    first(lab.server(Role::Node(node)).expect("it is in the lab"), "SELECT COUNT(*) FROM test.t")
}

fn write(lab: &Lab, node: u16, sql: &str) {
    lab.server(Role::Node(node)).expect("it is in the lab").query(sql).expect("it writes");
}

const TABLE: &str = "CREATE TABLE test.t (a INT PRIMARY KEY AUTO_INCREMENT)";
const ROW: &str = "INSERT INTO test.t VALUES (NULL)";

#[test]
fn three_nodes_form_a_cluster_and_take_a_killed_one_back() {
    let mut lab = three();
    assert!(lab.status().expect("a status").is_healthy());
    for node in 1..=3 {
        assert_eq!(status_of(&lab, node, "wsrep_cluster_size"), "3");
    }
    write(&lab, 1, TABLE);
    for node in 1..=3 {
        write(&lab, node, ROW);
    }
    until("each has what each wrote", || (1..=3).all(|node| count(&lab, node) == "3"));

    lab.kill(Role::Node(1)).expect("it does");
    until("the others go on", || status_of(&lab, 2, "wsrep_cluster_size") == "2");
    write(&lab, 2, ROW);
    lab.start(Role::Node(1)).expect("it does");
    until("all are there", || lab.status().expect("a status").is_healthy());
    assert_eq!(count(&lab, 1), "4");

    lab.stop(Role::Node(2)).expect("it does");
    write(&lab, 1, ROW);
    lab.start(Role::Node(2)).expect("it does");
    until("it has caught up", || count(&lab, 2) == "5");
}

#[test]
fn parted_node_takes_no_statement_until_it_heals() {
    let lab = three();
    write(&lab, 1, TABLE);
    lab.partition(Role::Node(3), Peers::All, Direction::Both).expect("it does");
    until("it is alone", || status_of(&lab, 3, "wsrep_cluster_status") == "non-Primary");
    until("the others go on", || status_of(&lab, 1, "wsrep_cluster_size") == "2");
    write(&lab, 1, ROW);
    let alone = lab.server(Role::Node(3)).expect("it does").query("SELECT COUNT(*) FROM test.t");
    assert!(alone.unwrap_err().to_string().contains("1047"));
    assert!(!lab.status().expect("a status").is_healthy());
    lab.heal().expect("it does");
    until("all are there", || lab.status().expect("a status").is_healthy());
    until("it has what it missed", || count(&lab, 3) == "1");
}

#[test]
fn cluster_of_which_all_were_killed_begins_with_what_it_had() {
    let mut lab = three();
    write(&lab, 1, TABLE);
    write(&lab, 1, ROW);
    lab.kill(Role::Node(1)).expect("it does");
    until("the others go on", || status_of(&lab, 2, "wsrep_cluster_size") == "2");
    write(&lab, 2, ROW);
    until("both have it", || count(&lab, 3) == "2");
    lab.kill(Role::Node(2)).expect("it does");
    lab.kill(Role::Node(3)).expect("it does");
    let again = Lab::up(lab.dir(), &cluster()).expect("it does");
    assert!(again.status().expect("a status").is_healthy());
    assert!(
        (1..=3).all(|node| count(&again, node) == "2"),
        "the first to be killed is not the one that begins"
    );

    assert_eq!(processes_of(lab.dir()).len(), 3);
    lab.down().expect("it does");
    assert_eq!(processes_of(lab.dir()), [""; 0]);
    let status = lab.status().expect("a status");
    assert!(status.servers.iter().all(|server| server.state == Liveness::Stopped), "{status}");
    let again = Lab::up(lab.dir(), &cluster()).expect("it does");
    assert!((1..=3).all(|node| count(&again, node) == "2"));
}
