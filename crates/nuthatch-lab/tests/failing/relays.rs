//! Relays before the servers: partitions that heal, connections cut at a byte, refusal by dead servers.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use nuthatch_lab::{Direction, Installation, Lab, LabError, Options, Peers, Relays, Role, ScratchLab};

use crate::ground::{WAIT, first, options, replica, until, up};

const PRIMARY: Role = Role::Primary;

fn relayed(replicas: u16) -> ScratchLab {
    up(&Options { relays: Relays::Here, ..options(Installation::debian_mariadb(), replicas) })
}

/// A client that has read as much as comes within the time.
struct Caller(TcpStream);

impl Caller {
    fn connect(lab: &Lab, role: Role) -> Self {
        let address = lab.server(role).expect("it is in the lab").address();
        Self(TcpStream::connect(address).expect("the relay listens"))
    }

    /// `None` when nothing has come; empty at the end.
    fn hear(&mut self, within: Duration) -> Option<Vec<u8>> {
        self.0.set_read_timeout(Some(within)).expect("a socket");
        let mut bytes = vec![0; 4096];
        match self.0.read(&mut bytes) {
            Ok(read) => Some(bytes[..read].to_vec()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Some(Vec::new()),
            Err(error) => panic!("{error}"),
        }
    }

    /// What it has heard until the end, which has come by a reset.
    fn hear_reset(&mut self) -> usize {
        self.0.set_read_timeout(Some(WAIT)).expect("a socket");
        let mut bytes = Vec::new();
        let error = self.0.read_to_end(&mut bytes).expect_err("a reset, no end");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        bytes.len()
    }
}

fn is_greeting(bytes: &[u8]) -> bool {
    bytes.get(4) == Some(&10)
}

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn partitioned_server_is_silent_until_it_heals() {
    let lab = relayed(0);
    let greeting = Caller::connect(&lab, PRIMARY).hear(WAIT).expect("it does");
    assert!(is_greeting(&greeting));
    for direction in [Direction::Both, Direction::In, Direction::Out] {
        lab.partition(PRIMARY, Peers::All, direction).expect("it does");
        let mut caller = Caller::connect(&lab, PRIMARY);
        assert_eq!(caller.hear(SHORT), None, "{direction:?}");
        lab.heal().expect("it does");
        assert!(is_greeting(&caller.hear(WAIT).expect("it does")), "{direction:?}");
    }
    assert_eq!(first(lab.primary(), "SELECT 1"), "1");
}

#[test]
fn what_was_sent_into_a_partition_arrives_when_it_heals() {
    let lab = relayed(0);
    let mut caller = Caller::connect(&lab, PRIMARY);
    assert!(is_greeting(&caller.hear(WAIT).expect("it does")));
    lab.partition(PRIMARY, Peers::Outside, Direction::In).expect("it does");
    // No login: the server says so and closes.
    caller.0.write_all(&[1, 0, 0, 1, 0]).expect("it does");
    assert_eq!(caller.hear(SHORT), None);
    lab.heal().expect("it does");
    let answer = caller.hear(WAIT).expect("it does");
    assert_eq!(answer.get(4), Some(&0xff), "{answer:?}");
}

#[test]
fn replica_that_is_parted_from_its_primary_falls_behind_and_catches_up() {
    let lab = relayed(2);
    lab.partition(Role::Replica(1), Peers::One(PRIMARY), Direction::Both).expect("it does");
    lab.primary().query("CREATE TABLE test.t (a INT)").expect("it does");
    let sees_it = |number| first(replica(&lab, number), "SHOW TABLES FROM test") == "t";
    until("the other replica has it", || sees_it(2));
    assert!(!sees_it(1));
    let mut caller = Caller::connect(&lab, Role::Replica(1));
    assert!(is_greeting(&caller.hear(WAIT).expect("it does")), "clients reach it");
    lab.heal().expect("it does");
    lab.await_replicas(WAIT).expect("they catch up");
    assert!(sees_it(1));
}

#[test]
fn primary_that_is_parted_from_everybody_is_parted_from_its_replicas() {
    let lab = relayed(1);
    lab.partition(PRIMARY, Peers::All, Direction::Both).expect("it does");
    lab.primary().query("CREATE TABLE test.t (a INT)").expect("it does");
    assert_eq!(Caller::connect(&lab, PRIMARY).hear(SHORT), None);
    assert_eq!(first(replica(&lab, 1), "SHOW TABLES FROM test"), "");
    lab.heal().expect("it does");
    lab.await_replicas(WAIT).expect("they catch up");
}

#[test]
fn connection_is_reset_after_exactly_as_many_bytes() {
    let lab = relayed(0);
    let whole = Caller::connect(&lab, PRIMARY).hear(WAIT).expect("it does").len();
    for bytes in [0, 1, 3, 4, 5, whole - 1] {
        lab.cut_after(PRIMARY, Direction::Out, bytes as u64).expect("it does");
        assert!(lab.passed(PRIMARY).expect("it does").cut_is_due);
        assert_eq!(Caller::connect(&lab, PRIMARY).hear_reset(), bytes);
        assert!(!lab.passed(PRIMARY).expect("it does").cut_is_due);
    }
    let before = lab.passed(PRIMARY).expect("it does").to_server;
    lab.cut_after(PRIMARY, Direction::In, 2).expect("it does");
    let mut caller = Caller::connect(&lab, PRIMARY);
    assert!(is_greeting(&caller.hear(WAIT).expect("it does")));
    caller.0.write_all(&[1, 0, 0, 1, 0]).expect("it does");
    assert_eq!(caller.hear_reset(), 0);
    assert_eq!(lab.passed(PRIMARY).expect("it does").to_server - before, 2);
}

#[test]
fn cut_resets_what_is_open_and_hinders_nobody_else() {
    let lab = relayed(0);
    let mut caller = Caller::connect(&lab, PRIMARY);
    assert!(is_greeting(&caller.hear(WAIT).expect("it does")));
    lab.cut(PRIMARY).expect("it does");
    assert_eq!(caller.hear_reset(), 0);
    assert!(is_greeting(&Caller::connect(&lab, PRIMARY).hear(WAIT).expect("it does")));
}

#[test]
fn dead_server_refuses_and_a_frozen_one_hangs() {
    let mut lab = relayed(1);
    let address = lab.primary().address();
    lab.kill(PRIMARY).expect("it does");
    assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    lab.start(PRIMARY).expect("it does");
    assert_eq!(lab.primary().address(), address);
    assert!(is_greeting(&Caller::connect(&lab, PRIMARY).hear(WAIT).expect("it does")));
    until("the replica follows", || lab.status().expect("a status").is_healthy());
    lab.freeze(PRIMARY).expect("it does");
    assert_eq!(Caller::connect(&lab, PRIMARY).hear(SHORT), None);
    lab.thaw(PRIMARY).expect("it does");
}

#[test]
fn lab_without_relays_says_so() {
    let lab = up(&options(Installation::debian_mariadb(), 0));
    let error = lab.partition(PRIMARY, Peers::All, Direction::Both).unwrap_err();
    assert!(matches!(error, LabError::NoRelays), "{error}");
}

#[test]
fn labs_side_by_side_share_no_port() {
    let labs: Vec<ScratchLab> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..3).map(|_| scope.spawn(|| relayed(1))).collect();
        makers.into_iter().map(|maker| maker.join().expect("it does")).collect()
    });
    let ports = labs.iter().flat_map(|lab| {
        lab.servers().flat_map(|server| [server.address(), server.direct_address()]).collect::<Vec<_>>()
    });
    let mut ports: Vec<_> = ports.collect();
    ports.sort_unstable();
    let count = ports.len();
    ports.dedup();
    assert_eq!((count, ports.len()), (12, 12));
    assert!(labs.iter().all(|lab| lab.status().expect("a status").is_healthy()));
}
