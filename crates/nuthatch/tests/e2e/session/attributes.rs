//! Attributes of statements, which MySQL's clients send: they reach a server, and make no difference to anything else.

use nuthatch_wire::{CapabilityFlags, Command, append_lenenc_bytes, append_lenenc_int};

use crate::client::{Answer, Client, Failure, Value};
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

const ATTRIBUTES: CapabilityFlags = CapabilityFlags::CLIENT_QUERY_ATTRIBUTES;

const WHO: &str = "SELECT mysql_query_attribute_string('who')";

/// A statement with one attribute, `who`, as a command.
fn query_with(value: &str, text: &str) -> Vec<u8> {
    let mut payload = vec![Command::Query as u8, 1, 1, 0, 1, 253, 0];
    append_lenenc_bytes(&mut payload, b"who");
    append_lenenc_bytes(&mut payload, value.as_bytes());
    payload.extend_from_slice(text.as_bytes());
    payload
}

fn asked(client: &mut Client, payload: &[u8]) -> Result<Answer, Failure> {
    client.send_payload(payload)?;
    Ok(client.read_answers()?.remove(0))
}

/// A proxy before a MySQL that can be asked for attributes.
fn stage(setup: Setup) -> Stage {
    let stage = Stage::of_mysql(setup);
    stage.primary().ok("INSTALL COMPONENT 'file://component_query_attributes'");
    stage
}

/// An execution with its parameter, if it has one, and the attribute `who`, if there is to be one: behind the number.
fn execution(parameter: Option<&str>, attribute: Option<&str>) -> Vec<u8> {
    let values: Vec<(&str, &str)> =
        parameter.map(|value| ("", value)).into_iter().chain(attribute.map(|value| ("who", value))).collect();
    let mut out = vec![8, 1, 0, 0, 0];
    append_lenenc_int(&mut out, values.len() as u64);
    if values.is_empty() {
        return out;
    }
    out.extend([0, 1]);
    for (name, _) in &values {
        out.extend([253, 0]);
        append_lenenc_bytes(&mut out, name.as_bytes());
    }
    values.iter().for_each(|(_, value)| append_lenenc_bytes(&mut out, value.as_bytes()));
    out
}

#[test]
fn attributes_reach_the_server_and_are_of_one_statement_only() {
    let stage = stage(Setup::default().rule(CACHE_ALL));
    // Connections without the capability are there already.
    let mut other = stage.client();
    other.ok("SELECT 1");
    let mut client = stage.proxy.client(&stage.login().with(ATTRIBUTES));
    assert!(client.capabilities.contains(ATTRIBUTES));
    let value =
        |client: &mut Client, value: &str| asked(client, &query_with(value, WHO)).expect("an answer").value();
    for transaction in ["DO 0", "BEGIN"] {
        client.ok(transaction);
        for who in ["me", "you", ""] {
            assert_eq!(value(&mut client, who), who);
        }
        assert_eq!(client.value(WHO), "NULL");
    }
    client.ok("COMMIT");
    other.ok("SET NAMES latin1");
    assert_eq!(other.value(WHO), "NULL");
    let prepared = client.prepare("SELECT ?, mysql_query_attribute_string('who')").expect("it is prepared");
    let bare = client.prepare(WHO).expect("it is prepared");
    for (attribute, expected) in [(Some("me"), "me"), (None, "NULL"), (Some("you"), "you")] {
        let answers = client.of_statement(Command::StmtExecute, &prepared, &execution(Some("p"), attribute));
        let answer = answers.expect("answers").remove(0).expect("it is executed");
        assert_eq!(answer.table(), [["p", expected]]);
        let answers = client.of_statement(Command::StmtExecute, &bare, &execution(None, attribute));
        assert_eq!(answers.expect("answers").remove(0).expect("it is executed").value(), expected);
        other.ok("SELECT 1");
    }
    // As mysql-connector-python sends it, which leaves the flag out.
    let mut unflagged = execution(Some("p"), None);
    unflagged[0] = 0;
    let answers = client.of_statement(Command::StmtExecute, &prepared, &unflagged).expect("answers");
    assert_eq!(answers[0].as_ref().expect("it is executed").table(), [["p", "NULL"]]);
    client.send_long_data(&prepared, 0, b"long");
    let mut long = execution(None, Some("me"));
    long.splice(5..10, [2, 0, 1, 252, 0, 0, 253, 0]);
    let answer = client.of_statement(Command::StmtExecute, &prepared, &long).expect("answers").remove(0);
    assert_eq!(answer.expect("it is executed").table(), [["long", "me"]]);
}

#[test]
fn clients_with_and_without_attributes_share_connections_and_answers() {
    let stage = stage(Setup::default().rule(CACHE_ALL));
    let mut with = stage.proxy.client(&stage.login().with(ATTRIBUTES));
    let mut without = stage.client();
    let hits = || stage.figure("Query_Cache_count_GET_OK");
    let sql = "SELECT id, v FROM t ORDER BY id";
    let stored = with.ok(sql);
    with.settle();
    let before = hits();
    assert_eq!(without.ok(sql).raw, stored.raw);
    assert_eq!(with.ok(sql).raw, stored.raw);
    assert_eq!(asked(&mut with, &query_with("me", sql)).expect("an answer").raw, stored.raw);
    assert_eq!(hits() - before, 3);
    // The one form's execution is served to the other.
    let statement = "SELECT v FROM t WHERE id = ?";
    let (of_with, of_without) = (with.prepare(statement).unwrap(), without.prepare(statement).unwrap());
    let stored = without.execute(&of_without, &[Value::Text(b"2".to_vec())]).expect("it is executed");
    without.settle();
    let before = hits();
    for attribute in [None, Some("me"), None] {
        let found = with.of_statement(Command::StmtExecute, &of_with, &execution(Some("2"), attribute));
        assert_eq!(found.expect("answers").remove(0).expect("it is executed").rows, stored.rows);
    }
    assert_eq!(hits() - before, 3);
    for statement in [
        "USE mysql",
        "SELECT DATABASE()",
        "SET NAMES latin1",
        "SET @a = 7",
        "SELECT @a + 1",
        "SET time_zone = '+01:00'",
        "SELECT @@time_zone",
        "BEGIN",
        "SELECT COUNT(*) FROM help_topic",
        "COMMIT",
        "SELECT * FROM not_there",
        "SHOW WARNINGS",
        "SELECT LAST_INSERT_ID(), ROW_COUNT()",
        "SELECT 1; SELECT 2",
    ] {
        let of = |client: &mut Client| match client.query_all(statement) {
            Ok(answers) => format!("{:?}", answers.iter().map(Answer::table).collect::<Vec<_>>()),
            Err(failure) => format!("{:?}", failure.server()),
        };
        assert_eq!(of(&mut with), of(&mut without), "{statement}");
    }
    with.command(Command::ResetConnection as u8, &[]).expect("it is reset");
    with.change_user(&stage.login()).expect("it logs in again");
    assert_eq!(asked(&mut with, &query_with("me", WHO)).expect("an answer").value(), "me");
    let large = format!("SELECT LENGTH('{}')", "x".repeat(17 << 20));
    assert_eq!(with.value(&large), (17 << 20).to_string());
    assert_eq!(
        asked(&mut with, &query_with("me", &large)).expect("an answer").value(),
        (17 << 20).to_string()
    );
}

#[test]
fn malformed_attributes_are_refused_as_the_server_refuses_them() {
    let stage = stage(Setup::default());
    let login = stage.login().with(ATTRIBUTES);
    let good = query_with("me", "SELECT 1");
    let mut bad: Vec<Vec<u8>> = (1..good.len() - 8).map(|len| good[..len].to_vec()).collect();
    bad.push([&[3, 0, 2], &b"SELECT 1"[..]].concat());
    bad.push([&[3, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], &b"SELECT 1"[..]].concat());
    bad.push([&[3, 200, 1], &[0; 25][..], &[1], b"SELECT 1"].concat());
    bad.push([&[3, 1, 1, 0, 0], &b"SELECT 1"[..]].concat());
    bad.push(
        [&[3, 1, 1, 0, 1, 253, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], &b"SELECT 1"[..]]
            .concat(),
    );
    for payload in bad {
        let mut direct = stage.primary_as(&login);
        let mut proxied = stage.proxy.client(&login);
        let of = |client: &mut Client| match asked(client, &payload) {
            Ok(answer) => Err(format!("{:?}", answer.table())),
            Err(Failure::Server(error)) => Ok(error.code),
            Err(Failure::Gone(error)) => Err(error.to_string()),
        };
        let (found, expected) = (of(&mut proxied), of(&mut direct));
        assert_eq!(found.is_ok(), expected.is_ok(), "{payload:?}: {found:?} {expected:?}");
        assert_eq!(proxied.value("SELECT 2"), "2", "{payload:?}");
    }
    let (mut direct, mut proxied) = (stage.primary_as(&login), stage.proxy.client(&login));
    let good = execution(Some("p"), Some("a"));
    let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|len| good[..len].to_vec()).collect();
    bad.extend([0, 1, 3, 200].map(|count| [&good[..5], &[count], &good[6..]].concat()));
    bad.push([&good[..5], &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], &good[6..]].concat());
    for rest in bad {
        let of = |client: &mut Client| {
            let prepared = client.prepare("SELECT ?").expect("it is prepared");
            let answers = client.of_statement(Command::StmtExecute, &prepared, &rest).expect("an answer");
            let refused = answers.last().expect("an answer").as_ref().map(Answer::table);
            refused.map_err(|error| (error.code, error.message.clone()))
        };
        let (found, expected) = (of(&mut proxied), of(&mut direct));
        // For too small a count MySQL has words of its own.
        let has_its_own = matches!(expected, Err((1210, _))) && matches!(found, Err((1835, _)));
        assert!(has_its_own || found == expected, "{rest:?}: {found:?} {expected:?}");
    }
}
