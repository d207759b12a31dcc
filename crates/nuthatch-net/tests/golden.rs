//! The golden bytes of real servers (`nuthatch-wire/tests/golden`) over a connection: we log in as their client did, and
//! unpack what they packed.
#![expect(clippy::unwrap_used, reason = "a test may end here")]

use std::net::Ipv4Addr;

use nuthatch_net::{
    Algorithm, BackendLogin, BackendPassword, ClearPasswords, Framed, LoggedIn, NetError, Role, Stream,
    log_in,
};
use nuthatch_wire::{CapabilityFlags, FrameHeader, HEADER_LEN, Login};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

#[path = "../../nuthatch-wire/tests/golden/recorded.rs"]
#[expect(dead_code, reason = "the tests of nuthatch-wire use all of it")]
mod recorded;

use recorded::{MARIADB, MYSQL, Recorded, Side};

/// Logs in to what the recorded server said, and returns the outcome with the payloads that we sent.
async fn replay(
    recorded: &Recorded,
    password: &BackendPassword,
) -> (Result<LoggedIn, NetError>, Vec<Vec<u8>>) {
    // As the client's: over TCP, where a password is not sent as it is.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut peer, _) = listener.accept().await.unwrap();
    peer.write_all(&recorded.login().answer()).await.unwrap();
    let mut framed = Framed::new(Stream::Tcp(ours));
    let login = BackendLogin {
        user: recorded.fact("user"),
        password,
        schema: Some(b"golden"),
        collation: 45,
        capabilities: CapabilityFlags::empty(),
        max_packet_bytes: 1 << 24,
        tls: None,
        clear_passwords: ClearPasswords::Refused,
    };
    let outcome = log_in(&mut framed, &login).await;
    drop(framed);
    let mut sent = Vec::new();
    peer.read_to_end(&mut sent).await.unwrap();
    (outcome, payloads(&sent))
}

fn payloads(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Some(header) = FrameHeader::parse(bytes) {
        let (payload, rest) = bytes[HEADER_LEN..].split_at(header.payload_len);
        found.push(payload.to_vec());
        bytes = rest;
    }
    found
}

#[tokio::test]
async fn we_answer_as_the_client_whom_the_server_let_in() {
    for (server, file, password) in [
        (MARIADB[0], "login-native", "golden-password"),
        (MARIADB[1], "login-native", "golden-password"),
        (MARIADB[0], "login-ed25519", "golden-password"),
        (MARIADB[1], "login-ed25519", "golden-password"),
        (MYSQL, "login-sha2-fast", "golden-password"),
        (MARIADB[0], "login-empty", ""),
        (MYSQL, "login-empty", ""),
    ] {
        let recorded = Recorded::read(server, file);
        let password = match password {
            "" => BackendPassword::Empty,
            password => BackendPassword::Clear(password.as_bytes().to_vec()),
        };
        let (outcome, sent) = replay(&recorded, &password).await;
        assert!(outcome.is_ok(), "{}: {outcome:?}", recorded.name);
        let captured: Vec<_> =
            recorded.login().of(Side::Client).map(|packet| packet.payload.clone()).collect();
        let answer = |payload: &[u8]| Login::parse(payload).unwrap().auth_answer;
        assert_eq!(answer(&sent[0]), answer(&captured[0]), "{}", recorded.name);
        assert_eq!(sent[1..], captured[1..], "{}", recorded.name);
    }
}

#[tokio::test]
async fn server_that_asks_for_the_password_gets_it_under_its_key() {
    let recorded = Recorded::read(MYSQL, "login-sha2-full");
    let password = BackendPassword::Clear(b"golden-password".to_vec());
    let (outcome, sent) = replay(&recorded, &password).await;
    outcome.unwrap();
    let lens: Vec<usize> = sent[1..].iter().map(Vec::len).collect();
    // The wish for the key, and as many bytes as it has.
    assert_eq!((sent[1].as_slice(), lens), (&[2][..], vec![1, 256]));
}

#[tokio::test]
async fn refusal_is_the_server_s() {
    for (server, file, code) in [
        (MARIADB[0], "login-wrong-password", 1045),
        (MARIADB[0], "login-ed25519-wrong-password", 1045),
        (MYSQL, "login-wrong-password", 1045),
        (MYSQL, "login-unknown-schema", 1049),
        (MYSQL, "login-too-many", 1040),
    ] {
        let recorded = Recorded::read(server, file);
        let (outcome, _) = replay(&recorded, &BackendPassword::Clear(b"wrong-password".to_vec())).await;
        assert!(matches!(outcome, Err(NetError::Refused(error)) if error.code == code), "{}", recorded.name);
    }
}

#[tokio::test]
async fn answers_that_a_server_packed_are_those_that_it_sends_plainly() {
    for (server, file, algorithm) in [
        (MARIADB[0], "compressed-zlib", Algorithm::Zlib),
        (MARIADB[1], "compressed-zlib", Algorithm::Zlib),
        (MYSQL, "compressed-zlib", Algorithm::Zlib),
        (MYSQL, "compressed-zstd", Algorithm::Zstd(3)),
    ] {
        let packed = Recorded::read(server, file);
        let plain = Recorded::read(server, "compressed-plain");
        assert_eq!(packed.steps.len(), plain.steps.len());
        let mut were_packed = 0;
        for (packed, plain) in packed.steps.iter().zip(&plain.steps).skip(1) {
            were_packed += packed.of(Side::Server).filter(|packet| packet.header[4..] != [0; 3]).count();
            for (side, role) in [(Side::Server, Role::Client), (Side::Client, Role::Server)] {
                let (ours, mut peer) = UnixStream::pair().unwrap();
                for packet in packed.of(side) {
                    peer.write_all(&packet.bytes()).await.unwrap();
                }
                let mut framed = Framed::new(Stream::Unix(ours));
                framed.compress(algorithm, role);
                for expected in plain.of(side) {
                    framed.read_packet(expected.sequence(), 1 << 20).await.unwrap();
                    assert_eq!(framed.payload(), expected.payload, "{server}/{file}: {}", plain.label);
                }
                assert!(!framed.has_more());
            }
        }
        assert!(were_packed >= 2, "{server}/{file}: {were_packed}");
    }
}
