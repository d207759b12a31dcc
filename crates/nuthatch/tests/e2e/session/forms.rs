//! Clients of different forms share connections, and each is answered in its own.

use nuthatch_wire::{CapabilityFlags, append_packet};

use crate::client::{Answer, Client, Cursor, Failure, Login, Types, Value};
use crate::proxy::Setup;
use crate::servers;
use crate::stage::Stage;

const TRACK: CapabilityFlags = CapabilityFlags::CLIENT_SESSION_TRACK;
const DEPRECATE_EOF: CapabilityFlags = CapabilityFlags::CLIENT_DEPRECATE_EOF;
const EXTENDED: CapabilityFlags = CapabilityFlags::MARIADB_CLIENT_EXTENDED_METADATA;

/// Each way in which clients may want their answers.
fn logins(login: &Login) -> [Login; 6] {
    [
        login.clone().with(TRACK),
        login.clone(),
        login.clone().without(DEPRECATE_EOF),
        login.clone().without(DEPRECATE_EOF).with(TRACK),
        login.clone().with(EXTENDED),
        login.clone().without(DEPRECATE_EOF).with(EXTENDED | TRACK),
    ]
}

/// Bytes and all, but for the status in the middle of a result, which a connection that leaves it out cannot tell.
fn bytes(outcome: Result<Vec<Answer>, Failure>) -> Vec<Answer> {
    match outcome {
        Ok(answers) => {
            let has_middle = answers.iter().any(|answer| answer.columns_status.is_some());
            let cleared = |answer: Answer| {
                let raw = if has_middle { answer.raw.len().to_le_bytes().to_vec() } else { answer.raw };
                Answer { columns_status: None, raw, ..answer }
            };
            answers.into_iter().map(cleared).collect()
        }
        Err(failure) => vec![Answer { message: format!("{:?}", failure.server()), ..Answer::default() }],
    }
}

/// A proxy with one connection to the primary, and clients of each form, through it and straight at the server.
fn stage_of_one() -> (Stage, Vec<(Client, Client)>) {
    let stage = Stage::plain();
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let address = servers::shared().primary().address().into();
    let pair = |login: &Login| {
        let direct = Client::connect(&address, login).expect("the server takes the login");
        (stage.proxy.client(login), direct)
    };
    let pairs = logins(&stage.login().schema(&stage.schema)).iter().map(pair).collect();
    (stage, pairs)
}

#[test]
fn clients_of_any_form_share_one_connection_and_are_answered_in_their_own() {
    let (stage, mut pairs) = stage_of_one();
    for statement in [
        "SELECT 1, 'a', NULL",
        "SELECT id FROM t WHERE id = 99",
        "SELECT REPEAT('x', 100000), seq FROM seq_1_to_40",
        "USE mysql",
        "SELECT DATABASE()",
        "SET NAMES latin1",
        "SHOW TABLES LIKE 'user'",
        "SET time_zone = '+01:00'",
        "SET sql_mode = ''",
        "SHOW VARIABLES LIKE 'session_track_state_change'",
        "SELECT @@session_track_state_change",
        "SET autocommit = 1",
        "UPDATE mysql.time_zone SET Use_leap_seconds = 'Y' WHERE Time_zone_id = 99",
    ] {
        for (place, (proxied, direct)) in pairs.iter_mut().enumerate() {
            let (found, expected) = (bytes(proxied.query_all(statement)), bytes(direct.query_all(statement)));
            assert!(found == expected, "client {place}, {statement}:\n{found:?}\n{expected:?}");
        }
    }
    assert_eq!(stage.pool("ConnUsed + ConnFree", 0), 1);
}

#[test]
fn client_is_told_of_changes_if_it_asked_for_it() {
    let (stage, pairs) = stage_of_one();
    drop(pairs);
    let address = servers::shared().primary().address().into();
    let login = stage.login().schema(&stage.schema).with(TRACK);
    let mut proxied = stage.proxy.client(&login);
    let mut direct = Client::connect(&address, &login).expect("the server takes the login");
    for statement in [
        "SET sql_mode = ''",
        "SET SESSION session_track_state_change = 1",
        "SELECT @@session_track_state_change",
        "SET sql_mode = ''",
        "SET time_zone = '+01:00', sql_select_limit = 5",
        "SELECT 1",
        "SET session_track_state_change = OFF",
        "SELECT @@session_track_state_change",
        "SET sql_mode = ''",
        "SET session_track_state_change = DEFAULT",
        "SET sql_mode = ''",
    ] {
        let (found, expected) = (bytes(proxied.query_all(statement)), bytes(direct.query_all(statement)));
        // What turns it on or off may tell of itself.
        if !statement.contains("track_state_change =") {
            assert!(found == expected, "{statement}:\n{found:?}\n{expected:?}");
        }
    }
    stage.await_unpinned();
}

#[test]
fn types_that_mariadb_names_reach_clients_that_ask_for_them_and_no_others() {
    let (stage, mut pairs) = stage_of_one();
    stage.primary().ok("CREATE TABLE named (j JSON, u UUID, p POINT, i INET6, v VARCHAR(10))");
    for _ in 0..2 {
        for (place, (proxied, direct)) in pairs.iter_mut().enumerate() {
            let of = |client: &mut Client| {
                let text = client.ok("SELECT * FROM named");
                let statement = client.prepare("SELECT * FROM named WHERE v = ?").expect("it is prepared");
                let binary = client.execute(&statement, &[Value::Int(7)]).expect("it is executed");
                client.send(4, b"named\0%").expect("COM_FIELD_LIST is sent");
                let mut fields = Vec::new();
                while let Ok(packet) = client.read_packet()
                    && packet.first() != Some(&0xFE)
                {
                    fields.push(packet);
                }
                (bytes(Ok(vec![text, binary])), fields)
            };
            let (found, expected) = (of(proxied), of(direct));
            assert!(found == expected, "client {place}:\n{found:?}\n{expected:?}");
            let named: Vec<_> =
                found.0[0].extensions.iter().map(|text| text.get(2..).unwrap_or_default()).collect();
            let names = [&b"json"[..], b"uuid", b"point", b"inet6", b""];
            let expected = if place < 4 { &[][..] } else { &names };
            assert_eq!(named, expected, "client {place}");
        }
    }
    let (last, _) = pairs.last_mut().expect("clients");
    last.change_user(&stage.login()).expect("it logs in again");
    let answer = last.ok(format!("SELECT j FROM {}.named", stage.schema));
    assert_eq!(answer.extensions, [b"\x01\x04json"], "what a login agreed on outlives COM_CHANGE_USER");
    assert_eq!(stage.pool("ConnUsed + ConnFree", 0), 1);
}

#[test]
fn several_results_are_translated_one_by_one() {
    for place in 0..6 {
        let (stage, mut pairs) = stage_of_one();
        stage.primary().ok("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 'two', 3; END");
        // The one connection is made for the first, and used by another, which then keeps it.
        pairs[0].0.ok("SELECT 1");
        let (proxied, direct) = &mut pairs[place];
        for statement in [
            "SELECT 1; SELECT 2; DO 0",
            "CALL p()",
            "SELECT 1; SELECT * FROM not_there",
            "SELECT * FROM not_there",
        ] {
            let (found, expected) = (bytes(proxied.query_all(statement)), bytes(direct.query_all(statement)));
            assert!(found == expected, "client {place}, {statement}:\n{found:?}\n{expected:?}");
        }
    }
}

#[test]
fn procedure_that_uses_a_cursor_of_its_own_has_all_its_rows() {
    for place in 0..6 {
        let (stage, mut pairs) = stage_of_one();
        stage
            .primary()
            .ok("CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR SELECT 'stuff'; OPEN c; CLOSE c; \
             SELECT 1, 2; SELECT 3 FROM t; END");
        pairs[0].0.ok("SELECT 1");
        let (proxied, direct) = &mut pairs[place];
        let (found, expected) = (bytes(proxied.query_all("CALL p()")), bytes(direct.query_all("CALL p()")));
        assert!(found == expected, "client {place}:\n{found:?}\n{expected:?}");
        let of = |client: &mut Client| {
            let statement = client.prepare("CALL p()").expect("it is prepared");
            bytes(client.execute_all(&statement, &[]))
        };
        let (found, expected) = (of(proxied), of(direct));
        assert!(found == expected, "client {place}, prepared:\n{found:?}\n{expected:?}");
    }
}

#[test]
fn prepared_statements_of_any_form_share_one_connection() {
    let (stage, mut pairs) = stage_of_one();
    for _ in 0..2 {
        for (place, (proxied, direct)) in pairs.iter_mut().enumerate() {
            let of = |client: &mut Client| {
                let statement = client.prepare("SELECT ?, 'a', seq FROM seq_1_to_5").expect("it is prepared");
                let values = [Value::Int(7)];
                let whole = client.execute(&statement, &values).expect("it is executed");
                let opened = client
                    .execute_as(&statement, &values, Types::Sent, Cursor::ReadOnly)
                    .expect("a cursor is opened");
                let part = client.fetch(&statement, 3).expect("rows are fetched");
                let rest = client.fetch(&statement, 3).expect("rows are fetched");
                client.close(&statement);
                let answers = bytes(Ok(vec![whole, opened, part, rest]));
                ((statement.parameters, statement.columns), answers)
            };
            let (found, expected) = (of(proxied), of(direct));
            assert!(found == expected, "client {place}:\n{found:?}\n{expected:?}");
        }
    }
    assert_eq!(stage.pool("ConnUsed + ConnFree", 0), 1);
}

#[test]
fn values_around_16_mib_are_translated_whole() {
    let (stage, mut pairs) = stage_of_one();
    pairs[0].0.ok("SELECT 1");
    for (place, (client, _)) in pairs.iter_mut().enumerate() {
        for len in [(16 << 20) - 6, (16 << 20) - 5, (16 << 20) - 4, 34 << 20] {
            let answer = client.ok(format!("SELECT REPEAT('y', {len}), 1 UNION ALL SELECT 'end', 2"));
            assert_eq!(answer.rows.len(), 2, "client {place}, {len}");
            let value = answer.rows[0][0].as_ref().unwrap();
            assert!(value.len() == len && value.iter().all(|byte| *byte == b'y'), "client {place}, {len}");
        }
    }
    // One that lies idle while the values are looked at may be closed as too many.
    pairs[0].0.ok("SELECT 1");
    assert_eq!(stage.pool("ConnUsed + ConnFree", 0), 1);
}

#[test]
fn file_of_the_client_goes_through_a_translated_answer() {
    for place in 0..6 {
        let stage = Stage::with(Setup::default().variable("mysql-enable_load_data_local_infile", true));
        stage.administer([
            "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
            "LOAD MYSQL SERVERS TO RUNTIME",
        ]);
        let logins = logins(&stage.login().with(CapabilityFlags::CLIENT_LOCAL_FILES));
        // The connection is of another form than most of those who use it.
        stage.proxy.client(&logins[0]).ok("SELECT 1");
        let mut client = stage.proxy.client(&logins[place]);
        let load = "LOAD DATA LOCAL INFILE 'any.tsv' REPLACE INTO TABLE t";
        client.send(3, format!("SELECT 1; SELECT 2; {load}; SELECT COUNT(*) FROM t").as_bytes()).unwrap();
        let mut sequence = 2;
        while !client.read_packet().unwrap().starts_with(b"\xFB") {
            sequence += 1;
        }
        let mut file = Vec::new();
        append_packet(&mut file, &mut sequence, b"7\tseven\n8\teight\n");
        append_packet(&mut file, &mut sequence, b"");
        client.send_raw(&file, sequence).unwrap();
        let answers = client.read_answers().unwrap();
        assert_eq!(answers[0].affected_rows, 2, "client {place}");
        assert_eq!(answers[1].value(), "5", "client {place}");
        assert_eq!(client.value("SELECT v FROM t WHERE id = 8"), "eight");
        assert_eq!(stage.pool("ConnUsed + ConnFree", 0), 1);
    }
}

#[test]
fn answer_that_one_form_stored_is_served_to_each_in_its_own() {
    let stage = Stage::caching();
    stage.administer([
        "UPDATE mysql_servers SET max_connections = 1 WHERE hostgroup_id = 0",
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let address = servers::shared().primary().address().into();
    let logins = logins(&stage.login().schema(&stage.schema));
    for (place, login) in logins.iter().enumerate() {
        let mut client = stage.proxy.client(login);
        let mut direct = Client::connect(&address, login).expect("the server takes the login");
        for setting in ["SET autocommit = 1", "SET autocommit = 0"] {
            client.ok(setting);
            direct.ok(setting);
            for _ in 0..3 {
                let statement = "SELECT id, v FROM t ORDER BY id";
                let (found, expected) = (client.ok(statement), direct.ok(statement));
                direct.ok("COMMIT");
                client.ok("COMMIT");
                let compared = |answer: Answer| (answer.autocommit(), answer.rows, answer.raw.len());
                assert_eq!(compared(found), compared(expected), "client {place}");
            }
        }
    }
    assert!(stage.figure("Query_Cache_count_GET_OK") >= 8);
}
