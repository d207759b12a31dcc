//! Clients that break the protocol: they get an error or are closed, and nobody else notices.

use std::io::Write;
use std::time::Duration;

use nuthatch_wire::append_packet;

use crate::client::{Address, Client, Socket};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::Stage;

/// Someone whose session must not notice anything: with an open transaction.
struct Bystander(Client);

impl Bystander {
    fn of(stage: &Stage) -> Self {
        let mut client = stage.client();
        client.ok("BEGIN");
        client.ok("UPDATE t SET v = 'bystander' WHERE id = 3");
        Self(client)
    }

    #[track_caller]
    fn noticed_nothing(mut self) {
        assert_eq!(self.0.value("SELECT v FROM t WHERE id = 3"), "bystander");
        self.0.ok("COMMIT");
    }
}

fn address(stage: &Stage) -> Address {
    Address::Tcp(stage.proxy.mysql)
}

/// The session ends: with an ERR before it or without one. Nothing else may come.
#[track_caller]
fn check_ends(client: &mut Client) {
    match client.read_packet() {
        Ok(payload) => {
            assert_eq!(payload.first(), Some(&0xFF), "{payload:?}");
            assert!(client.is_closed_by_server());
        }
        Err(error) => assert!(crate::client::Failure::Gone(error).is_closed()),
    }
}

fn statement(sequence: u8, sql: &str) -> Vec<u8> {
    let (mut out, mut sequence) = (Vec::new(), sequence);
    append_packet(&mut out, &mut sequence, &[b"\x03", sql.as_bytes()].concat());
    out
}

#[test]
fn packet_out_of_order_is_error_1156_and_the_end() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    for sequence in [1, 2, 255] {
        let mut client = stage.client();
        client.send_raw(&statement(sequence, "SELECT 1"), 1).unwrap();
        let error = client.goodbye();
        assert_eq!((error.code, error.state.as_str()), (1156, "08S01"));
        assert!(client.is_closed_by_server());
    }
    assert_eq!(stage.figure("mysql_unexpected_frontend_packets"), 3);
    bystander.noticed_nothing();
}

#[test]
fn packet_that_is_cut_short_ends_the_session_quietly() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    let whole = statement(0, "UPDATE t SET v = 'never'");
    for len in 1..whole.len() {
        let mut client = stage.client();
        client.send_raw(&whole[..len], 1).unwrap();
        client.socket().finish_sending().unwrap();
        check_ends(&mut client);
    }
    assert_eq!(stage.primary().value("SELECT COUNT(*) FROM t WHERE v = 'never'"), "0");
    bystander.noticed_nothing();
}

#[test]
fn statement_that_comes_byte_by_byte_is_answered() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    let mut client = Client::greeted(&address(&stage)).unwrap();
    let login = client.login_packet(&stage.login());
    for byte in login {
        client.socket().write_all(&[byte]).unwrap();
    }
    client.send_raw(&[], 2).unwrap();
    assert_eq!(client.read_packet().unwrap().first(), Some(&0x00), "the login is taken");
    client.send_raw(&[], 0).unwrap();
    for byte in statement(0, "SELECT v FROM t WHERE id = 1") {
        client.socket().write_all(&[byte]).unwrap();
    }
    client.send_raw(&[], 1).unwrap();
    assert_eq!(client.read_answers().unwrap()[0].value(), "one");
    bystander.noticed_nothing();
}

#[test]
fn client_that_stalls_in_its_login_is_closed_after_connect_timeout_client() {
    let stage = Stage::with(Setup::default().variable("mysql-connect_timeout_client", 600));
    let bystander = Bystander::of(&stage);
    let watch = Stopwatch::start();
    let mut silent = Client::greeted(&address(&stage)).unwrap();
    let mut halfway = Client::greeted(&address(&stage)).unwrap();
    let packet = halfway.login_packet(&stage.login());
    halfway.socket().write_all(&packet[..packet.len() / 2]).unwrap();
    check_ends(&mut silent);
    check_ends(&mut halfway);
    assert!(watch.elapsed() >= Duration::from_millis(600) && watch.elapsed() < Duration::from_secs(5));
    await_that("they are gone", || stage.figure("Client_Connections_connected") == 1);
    bystander.noticed_nothing();
}

#[test]
fn wrong_logins_are_refused_or_closed() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    let mut sample = Client::greeted(&address(&stage)).unwrap();
    let good = sample.login_packet(&stage.login());
    let mut logins: Vec<Vec<u8>> = (5..good.len()).step_by(7).map(|len| framed(&good[4..len])).collect();
    logins.push(framed(&[]));
    logins.push(framed(&[0xFF; 200]));
    logins.push(framed(&[0; 200]));
    // A TLS request, which was not offered.
    logins.push(framed(&[&0x0000_8A00_u32.to_le_bytes()[..], &[0; 28]].concat()));
    // Out of order, and longer than any login may be.
    logins.push([&[0x05, 0, 0, 7], &b"hello"[..]].concat());
    logins.push(vec![0xFF, 0xFF, 0xFF, 1]);
    for login in logins {
        let mut client = Client::greeted(&address(&stage)).unwrap();
        client.send_raw(&login, 2).unwrap();
        client.socket().finish_sending().unwrap();
        check_ends(&mut client);
    }
    bystander.noticed_nothing();
}

fn framed(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    append_packet(&mut out, &mut 1, payload);
    out
}

#[test]
fn random_bytes_harm_nobody() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    let mut random = Random(0x5EED);
    for round in 0..60 {
        let bytes = random.bytes(1 + round * 17);
        let mut fresh = Socket::connect(&address(&stage)).unwrap();
        drop(fresh.write_all(&bytes));
        drop(fresh);
        let mut client = stage.client();
        drop(client.socket().write_all(&bytes));
        drop(client.socket().finish_sending());
        assert!(client.is_closed_by_server(), "round {round}");
    }
    await_that("they are gone", || stage.figure("Client_Connections_connected") == 1);
    assert_eq!(stage.figure("Worker_Panics"), 0);
    bystander.noticed_nothing();
}

#[test]
fn random_commands_in_good_frames_are_answered_or_end_their_session() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    let mut random = Random(0xC0FFEE);
    // Prepared statements and what has to do with them, fields cut anywhere.
    let commands = [0x02, 0x04, 0x09, 0x0E, 0x11, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1F];
    for command in commands {
        for len in [0, 1, 3, 4, 5, 9, 10, 40] {
            let mut client = stage.client();
            drop(client.prepare("SELECT ?, ?").unwrap());
            let argument = random.bytes(len);
            let argument =
                if len >= 4 { [&1_u32.to_le_bytes()[..], &argument[4..]].concat() } else { argument };
            client.send(command, &argument).unwrap();
            // Whatever it was, a statement behind it is answered in its place, or the session is over.
            client.socket().give_up_after(Duration::from_secs(5)).unwrap();
            drop(client.socket().write_all(&statement(0, "SELECT 'still here'")));
            drop(client.socket().finish_sending());
            assert!(client.is_closed_by_server(), "command {command:#x} with {len} bytes");
        }
    }
    assert_eq!(stage.figure("Worker_Panics"), 0);
    bystander.noticed_nothing();
}

/// SplitMix64: the same bytes in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

#[test]
fn flood_of_connections_that_hang_up_leaves_nothing_behind() {
    let stage = Stage::plain();
    let bystander = Bystander::of(&stage);
    for _ in 0..300 {
        drop(Socket::connect(&address(&stage)).unwrap());
    }
    await_that("they are gone", || stage.figure("Client_Connections_connected") == 1);
    bystander.noticed_nothing();
}
