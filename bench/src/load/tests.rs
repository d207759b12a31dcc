use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use super::*;
use crate::floor::{self, FloorOptions};
use crate::login::encode_packet;

fn options(target: &Address) -> LoadOptions {
    LoadOptions {
        target: target.clone(),
        connections: 4,
        seconds: 0.1,
        warmup_seconds: 0.0,
        queries: None,
        statement: Statement::Select,
        ids: 3,
        user: "any".into(),
        password: "any".into(),
        schema: "sbtest".into(),
        deprecate_eof: false,
        measure: None,
        participants: vec![],
    }
}

fn socket_path(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("server.sock")
}

/// Waits until somebody listens.
fn wait_for(target: &Address) {
    let deadline = monotonic() + Duration::from_secs(10);
    while crate::socket::Socket::connect(target).is_err() {
        assert!(monotonic() < deadline, "nobody listens on {target}");
        std::thread::yield_now();
    }
}

#[test]
fn load_and_floor_understand_each_other_in_both_forms() {
    let directory = tempfile::tempdir().unwrap();
    let target = Address::Unix(socket_path(&directory));
    let floor = FloorOptions::listening_on(target.clone());
    std::thread::spawn(move || floor::serve(&floor));
    wait_for(&target);
    for deprecate_eof in [false, true] {
        let outcome = run(&LoadOptions { deprecate_eof, ..options(&target) }).unwrap();
        assert!(outcome.queries > 100, "{outcome:?}");
    }
    let outcome = run(&LoadOptions { queries: Some(500), ..options(&target) }).unwrap();
    assert!((500..504).contains(&outcome.queries), "{outcome:?}");
}

/// A server that gives these replies, one for each read, to one client.
fn answer_in_turn(listener: UnixListener, replies: Vec<Vec<u8>>) {
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut buffer = [0; 1024];
        for reply in replies {
            client.write_all(&reply).unwrap();
            if client.read(&mut buffer).unwrap_or(0) == 0 {
                break;
            }
        }
    });
}

fn error_of(answers: &[Vec<u8>]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(socket_path(&directory)).unwrap();
    let target = Address::Unix(socket_path(&directory));
    let mut replies = floor::login_replies();
    replies.extend_from_slice(answers);
    answer_in_turn(listener, replies);
    let options = LoadOptions { connections: 1, ids: 1, seconds: 5.0, ..options(&target) };
    format!("{:#}", run(&options).unwrap_err())
}

fn one_row(value: &[u8]) -> Vec<u8> {
    let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
    let packets: [&[u8]; 5] = [&[1], b"\x03def column", eof, value, eof];
    (1..).zip(packets).flat_map(|(sequence, payload)| encode_packet(sequence, payload)).collect()
}

#[test]
fn wrong_answers_fail_the_run() {
    let no_row: Vec<u8> = {
        let whole = one_row(b"\x01a");
        [&whole[..whole.len() - 15], &encode_packet(4, &[0xfe, 0, 0, 2, 0])[..]].concat()
    };
    let cases = [
        (vec![one_row(b"\x01a"), one_row(b"\x01b")], "wrong answer"),
        (vec![one_row(b"\x01a"), [one_row(b"\x01a"), vec![1]].concat()], "behind the end"),
        (vec![encode_packet(1, b"\xff\x28\x04#42000no such table")], "1064: #42000no such table"),
        (vec![no_row], "rows wanted: 1"),
        (vec![one_row(b"\x01a")], "closed a connection"),
    ];
    for (replies, words) in cases {
        let error = error_of(&replies);
        assert!(error.contains(words), "{error} lacks {words}");
    }
}
