//! Statements whose time is over while bytes are under way: answers that have begun, files of clients.

use nuthatch_wire::{CapabilityFlags, append_packet};

use super::{LIMIT_MS, assert_late, limited, running};
use crate::client::Failure;
use crate::deadline::{Stopwatch, await_that};
use crate::stage::Stage;

/// Far more than all buffers between client and server hold.
const MANY_ROWS: &str = "SELECT seq, REPEAT('x', 1000) FROM seq_1_to_2000000 /*late*/";

/// The same as what may have written, which is not cut off.
const MANY_ROWS_OF_A_WRITE: &str = "CALL many() /*late*/";

#[test]
fn answer_to_a_client_that_reads_slowly_ends_with_the_error_in_the_place_of_a_row() {
    let stage = Stage::with(limited());
    for login in [stage.login(), stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF)] {
        let mut client = stage.proxy.client(&login);
        client.ok("SELECT 1 FROM t");
        client.send(3, MANY_ROWS.as_bytes()).unwrap();
        let watch = Stopwatch::start();
        await_that("its time is over", || {
            watch.elapsed().as_millis() > u128::from(LIMIT_MS) && running(&stage) == "0"
        });
        // Each packet that comes is whole and in order, or the test's client would say so.
        match client.read_answers() {
            Err(Failure::Server(error)) => assert_late(&error),
            answer => panic!("{:?}", answer.map(|answers| answers.len())),
        }
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one", "the session goes on");
    }
}

#[test]
fn answer_to_a_client_that_reads_at_once_ends_with_the_error_in_the_place_of_a_row() {
    let stage = Stage::with(limited());
    let mut client = stage.client();
    client.ok("CREATE PROCEDURE many() SELECT seq, SLEEP(0.001) FROM seq_1_to_2000000");
    for statement in ["SELECT seq, SLEEP(0.001) FROM seq_1_to_2000000 /*late*/", MANY_ROWS_OF_A_WRITE] {
        client.send(3, statement.as_bytes()).unwrap();
        match client.read_answers() {
            Err(Failure::Server(error)) => assert_late(&error),
            answer => panic!("{:?}", answer.map(|answers| answers.len())),
        }
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one", "{statement}");
        await_that("the server has ended it", || running(&stage) == "0");
    }
}

#[test]
fn answer_that_may_tell_of_writes_is_not_cut_off_and_its_server_not_held_for_ever() {
    let stage = Stage::with(limited());
    let mut client = stage.client();
    client.ok("CREATE PROCEDURE many() SELECT seq, REPEAT('x', 1000) FROM seq_1_to_2000000");
    client.send(3, MANY_ROWS_OF_A_WRITE.as_bytes()).unwrap();
    let watch = Stopwatch::start();
    await_that("its server is free", || {
        watch.elapsed().as_millis() > u128::from(LIMIT_MS) && running(&stage) == "0"
    });
    // In the middle of a row there is no place for an error.
    match client.read_answers() {
        Err(Failure::Server(error)) => assert_late(&error),
        Err(failure) => assert!(failure.is_closed(), "{failure:?}"),
        Ok(_) => panic!("it was not whole"),
    }
    drop(client);
    stage.await_unpinned();
}

#[test]
fn file_of_a_client_that_sends_slowly_is_not_loaded_in_part() {
    let stage = Stage::with(limited().variable("mysql-enable_load_data_local_infile", true));
    let login = stage.login().with(CapabilityFlags::CLIENT_LOCAL_FILES);
    let mut client = stage.proxy.client(&login);
    client.ok("CREATE TABLE loaded (id INT PRIMARY KEY)");
    for ends_within in [false, true] {
        client.send(3, b"LOAD DATA LOCAL INFILE 'any.tsv' INTO TABLE loaded /*late*/").unwrap();
        assert_eq!(client.read_packet().unwrap(), b"\xFBany.tsv");
        let mut sequence = 2;
        let mut say = |client: &mut crate::client::Client, bytes: &[u8], next| {
            let mut packet = Vec::new();
            append_packet(&mut packet, &mut sequence, bytes);
            client.send_raw(&packet, if next { sequence } else { 0 }).unwrap();
        };
        say(&mut client, b"1\n2\n3\n", false);
        if !ends_within {
            await_that("the server does not wait for it", || {
                stage
                    .primary()
                    .value("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOAD%'")
                    == "0"
            });
            say(&mut client, b"4\n5\n", false);
        }
        say(&mut client, b"", true);
        let answer = client.read_answers();
        match (ends_within, answer) {
            (false, Err(Failure::Server(error))) => assert_late(&error),
            (true, Ok(_)) => {}
            (_, answer) => panic!("{answer:?}"),
        }
        let expected = if ends_within { "3" } else { "0" };
        assert_eq!(client.value("SELECT COUNT(*) FROM loaded"), expected, "the session goes on");
    }
}
