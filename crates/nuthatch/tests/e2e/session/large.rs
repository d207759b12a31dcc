//! Large packets and large answers, both ways.

use nuthatch_wire::{CapabilityFlags, append_packet};

use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

const MIB: usize = 1 << 20;

/// `SELECT LENGTH('xxx…')` of exactly `len` bytes.
fn statement_of(len: usize) -> Vec<u8> {
    let (head, tail) = (b"SELECT LENGTH('".as_slice(), b"')".as_slice());
    [head, &vec![b'x'; len - head.len() - tail.len()], tail].concat()
}

#[test]
fn statements_around_16_mib_arrive_whole() {
    let stage = Stage::plain();
    let mut client = stage.client();
    // The command byte is part of the payload: 0xFF_FFFE bytes of text fill a frame.
    for len in [16 * MIB - 3, 16 * MIB - 2, 16 * MIB - 1, 16 * MIB + 100, 33 * MIB] {
        assert_eq!(client.value(statement_of(len)), (len - 17).to_string(), "{len}");
    }
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn values_around_16_mib_come_whole() {
    let stage = Stage::plain();
    for login in [stage.login(), stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF)] {
        let mut client = stage.proxy.client(&login);
        // A row of one value of 16 MiB and more: 9 bytes of length before it.
        for len in [16 * MIB - 6, 16 * MIB - 5, 16 * MIB - 4, 16 * MIB + 5, 34 * MIB] {
            let answer = client.ok(format!("SELECT REPEAT('y', {len})"));
            let value = answer.rows[0][0].as_ref().unwrap();
            assert_eq!(value.len(), len);
            assert!(value.iter().all(|byte| *byte == b'y'));
        }
        assert_eq!(client.value("SELECT 1"), "1");
    }
}

#[test]
fn row_of_values_that_begin_like_an_eof_is_a_row() {
    let stage = Stage::plain();
    for login in [stage.login(), stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF)] {
        let mut client = stage.proxy.client(&login);
        // The length of the first value takes 8 bytes, so the row begins with 0xFE.
        let answer = client.ok(format!("SELECT REPEAT('z', {}) UNION ALL SELECT 'end'", 17 * MIB));
        assert_eq!(answer.rows.len(), 2);
    }
}

#[test]
fn packet_over_max_allowed_packet_is_error_1153() {
    let stage = Stage::with(Setup::default().variable("mysql-max_allowed_packet", MIB));
    let mut other = stage.client();
    let mut client = stage.client();
    assert_eq!(client.value(statement_of(MIB - 1)), (MIB - 18).to_string());
    // Only the header: it says enough.
    client.send_raw(&[0x01, 0x00, 0x20, 0x00], 1).unwrap();
    let error = client.goodbye();
    assert_eq!((error.code, error.state.as_str()), (1153, "08S01"));
    assert!(client.is_closed_by_server());
    assert_eq!(other.value("SELECT 1"), "1");
}

#[test]
fn large_result_streams_through() {
    let stage = Stage::plain();
    let mut client = stage.client();
    let answer = client.ok("SELECT seq, REPEAT('r', 1000) FROM seq_1_to_20000");
    assert_eq!(answer.rows.len(), 20_000);
    assert!(
        answer
            .rows
            .iter()
            .enumerate()
            .all(|(place, row)| row[0] == Some((place + 1).to_string().into_bytes()))
    );
}

#[test]
fn memory_stays_bounded_while_a_client_does_not_read() {
    let stage = Stage::with(Setup::default().rule(CACHE_ALL));
    let mut client = stage.client();
    client.ok("SELECT 1");
    let before = stage.proxy.resident_kib();
    client.send(3, b"SELECT seq, REPEAT('r', 10000) FROM seq_1_to_20000").unwrap();
    // The server has sent what the buffers between take, and waits.
    let mut last = 0;
    await_that("the flow stands still", || {
        let sent = stage.pool("Bytes_data_recv", 0);
        let stands = sent == last && sent > 0;
        last = sent;
        std::thread::sleep(std::time::Duration::from_millis(100));
        stands
    });
    let grown = stage.proxy.resident_kib().saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB");
    assert_eq!(client.read_answers().unwrap()[0].rows.len(), 20_000, "and then it comes whole");
    let grown = stage.proxy.resident_kib().saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB");
}

#[test]
fn error_of_the_proxy_to_a_statement_of_two_frames_has_the_right_number() {
    let stage = Stage::with(
        Setup::default().rule("rule_id=1, match_pattern='^SELECT LENGTH', error_msg='no', apply=1"),
    );
    let mut client = stage.client();
    assert_eq!(client.refused(statement_of(17 * MIB)).message, "no");
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn local_file_goes_to_the_server_where_it_is_allowed() {
    let flag = CapabilityFlags::CLIENT_LOCAL_FILES;
    let refused = Stage::plain();
    let mut client = refused.proxy.client(&refused.login().with(flag));
    assert!(!client.greeting.capabilities.contains(flag), "not offered by default, as with ProxySQL");
    client.refused("LOAD DATA LOCAL INFILE 'x' INTO TABLE t");

    let stage = Stage::with(Setup::default().variable("mysql-enable_load_data_local_infile", true));
    let mut client = stage.proxy.client(&stage.login().with(flag));
    client.ok("CREATE TABLE loaded (id INT PRIMARY KEY, v VARCHAR(100))");
    let file: Vec<u8> = (0..200_000).flat_map(|id| format!("{id}\trow {id}\n").into_bytes()).collect();
    for (pieces, expected) in [(1, "200000"), (50, "200000"), (0, "0")] {
        client.ok("TRUNCATE TABLE loaded");
        client.send(3, b"LOAD DATA LOCAL INFILE 'any.tsv' INTO TABLE loaded").unwrap();
        let asked = client.read_packet().unwrap();
        assert_eq!(asked, b"\xFBany.tsv");
        let mut sequence = 2;
        if pieces > 0 {
            for piece in file.chunks(file.len().div_ceil(pieces)) {
                let mut packet = Vec::new();
                append_packet(&mut packet, &mut sequence, piece);
                client.send_raw(&packet, 0).unwrap();
            }
        }
        let mut last = Vec::new();
        append_packet(&mut last, &mut sequence, b"");
        client.send_raw(&last, sequence).unwrap();
        client.read_answers().unwrap();
        assert_eq!(client.value("SELECT COUNT(*) FROM loaded"), expected, "{pieces} pieces");
    }
    // A client that leaves in the middle leaves nothing behind.
    client.send(3, b"LOAD DATA LOCAL INFILE 'any.tsv' INTO TABLE loaded").unwrap();
    client.read_packet().unwrap();
    client.vanish();
    let mut other = stage.client();
    await_that("nothing is held", || stage.pool("ConnUsed", 0) == 0);
    assert_eq!(other.value("SELECT COUNT(*) FROM loaded"), "0");
}
