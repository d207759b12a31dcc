//! Connections that are lost while a statement is under way: what is sent again, and what the client is told.

use nuthatch_lab::Role;
use nuthatch_wire::CapabilityFlags;

use super::relay::{Cut, Relay};
use crate::client::{Client, Login, ServerError};
use crate::deadline::eventually;
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage::{self, Stage};

const MARK: &[u8] = b"marked";

/// A proxy that reaches the server by way of a relay, and a client whose statements go over a pooled connection.
fn through_relay(cut: Cut) -> (Relay, Proxy, Login, Client) {
    through_relay_with(cut, Setup::default())
}

/// The same with what `setup` adds.
fn through_relay_with(cut: Cut, setup: Setup) -> (Relay, Proxy, Login, Client) {
    let lab = servers::shared();
    let schema = servers::fresh_name("s");
    let mut primary = servers::primary(lab);
    primary.ok(format!("CREATE DATABASE {schema}"));
    primary.ok(format!("CREATE TABLE {schema}.t (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT)"));
    let login = servers::account(lab).schema(&schema);
    let port = lab.server(Role::Primary).expect("a lab has a primary").port();
    let relay = Relay::start(([127, 0, 0, 1], port).into(), MARK, cut);
    let setup = setup
        .server(format!("hostgroup_id=0, hostname='127.0.0.1', port={}", relay.address.port()))
        .user(stage::user_row(&login, ""));
    let proxy = Proxy::start(&setup);
    let mut client = proxy.client(&login);
    client.ok("SELECT 1 FROM t");
    client.settle();
    (relay, proxy, login, client)
}

fn rows(login: &Login) -> String {
    let schema = login.schema.as_deref().and_then(|name| str::from_utf8(name).ok());
    let schema = schema.expect("the login names its schema");
    servers::primary(servers::shared()).value(format!("SELECT COUNT(*) FROM {schema}.t"))
}

#[test]
fn write_whose_connection_is_lost_is_never_sent_again() {
    for (cut, expected) in [(Cut::BeforeTheServer, "0"), (Cut::BeforeTheAnswer, "1"), (Cut::InTheAnswer, "1")]
    {
        for statement in [
            "INSERT INTO t (v) VALUES ('marked')",
            "REPLACE INTO t (v) VALUES ('marked')",
            "INSERT INTO t (v) SELECT 'marked'",
        ] {
            let (relay, _proxy, login, mut client) = through_relay(cut);
            let error = match client.query(statement) {
                Err(failure) if !failure.is_closed() => Some(failure.server()),
                Err(_) => None,
                Ok(answer) => panic!("{statement} was answered by {answer:?} with {cut:?}"),
            };
            // In the middle of an answer there is no place for an error.
            assert!(
                error.as_ref().map_or(cut == Cut::InTheAnswer, |error| error.code == 2013),
                "{error:?} {cut:?}"
            );
            assert_eq!(relay.marked(), 1, "{statement} {cut:?}");
            assert_eq!(rows(&login), expected, "{statement} {cut:?}");
        }
    }
}

/// As MySQL 9.7 ends a connection by `wait_timeout`: before it has read anything, so with the number 0.
const IDLE_FOR_TOO_LONG: &[u8] = b"\x31\0\0\0\xff\xbf\x0f#HY000The client was disconnected (inactivity)";
/// As MariaDB 10.11 and MySQL 9.7 interrupt a statement when they are shut down.
const SHUTS_DOWN: &[u8] = b"\x24\0\0\x01\xff\x1d\x04#08S01Server shutdown in progress";

#[test]
fn statement_that_a_server_has_not_read_when_it_says_goodbye_is_sent_elsewhere() {
    let (relay, proxy, login, mut client) = through_relay(Cut::WithGoodbye(IDLE_FOR_TOO_LONG));
    client.ok("INSERT INTO t (v) VALUES ('marked')");
    assert_eq!((relay.marked(), rows(&login).as_str()), (2, "1"));
    assert_eq!(stage::figure(&mut proxy.operator(), "Statement_Retries"), 1);
    let (relay, _proxy, _, mut client) = through_relay(Cut::WithGoodbye(IDLE_FOR_TOO_LONG));
    let prepared = client.prepare("SELECT CONCAT('marked', ?) FROM DUAL");
    assert!(prepared.is_ok() && relay.marked() == 2, "{prepared:?}");
}

#[test]
fn read_that_a_shutdown_interrupts_goes_on_elsewhere_and_a_write_is_told() {
    let (relay, _proxy, _, mut client) = through_relay(Cut::WithGoodbye(SHUTS_DOWN));
    assert_eq!(client.value("SELECT 'marked'"), "marked");
    assert_eq!(relay.marked(), 2);
    let (relay, _proxy, login, mut client) = through_relay(Cut::WithGoodbye(SHUTS_DOWN));
    let error = client.refused("INSERT INTO t (v) VALUES ('marked')");
    assert_eq!((error.code, error.state.as_str(), relay.marked()), (1053, "08S01", 1), "{error:?}");
    assert!(error.message.starts_with("Server shutdown in progress"), "{error:?}");
    assert!(error.message.contains("it is not known whether the statement was executed"), "{error:?}");
    assert_eq!(rows(&login), "0");
    client.ok("SELECT 1 FROM t");
}

/// The one that goes has nearly all weight, and idle connections are left there.
#[test]
fn read_that_is_tried_again_is_asked_of_another_server() {
    let lab = servers::shared();
    let (login, port) = (servers::account(lab), lab.primary().port());
    let relay = Relay::start(([127, 0, 0, 1], port).into(), MARK, Cut::WithGoodbyes(SHUTS_DOWN));
    let server = |port, weight| format!("hostgroup_id=0, hostname='127.0.0.1', port={port}, weight={weight}");
    let setup = Setup::default()
        .server(server(relay.address.port(), 1_000_000))
        .server(server(port, 1))
        .user(stage::user_row(&login, ""));
    let proxy = Proxy::start(&setup);
    for round in 0..10 {
        let mut clients: Vec<_> = (0..4).map(|_| proxy.client(&login)).collect();
        clients.iter_mut().for_each(|client| drop(client.ok("BEGIN")));
        clients.iter_mut().for_each(|client| drop(client.ok("SELECT 1")));
        clients.iter_mut().for_each(|client| drop(client.ok("COMMIT")));
        clients.iter_mut().for_each(|client| client.settle());
        assert_eq!(clients[0].value("SELECT 'marked'"), "marked", "{round}");
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    assert!(relay.marked() >= 9, "{}", relay.marked());
}

#[test]
fn goodbye_in_a_transaction_takes_that_along() {
    let (relay, _proxy, login, mut client) = through_relay(Cut::WithGoodbye(IDLE_FOR_TOO_LONG));
    client.ok("BEGIN");
    client.ok("INSERT INTO t (v) VALUES ('before')");
    let error = client.refused("INSERT INTO t (v) VALUES ('marked')");
    assert_eq!((error.code, relay.marked()), (4031, 1), "{error:?}");
    assert!(error.message.contains("the transaction was rolled back"), "{error:?}");
    assert!(client.query("SELECT 1").expect_err("as a server").is_closed());
    assert_eq!(rows(&login), "0");
}

#[test]
fn read_whose_pooled_connection_is_lost_before_its_answer_is_sent_again() {
    // Each connection dies of it, so that the tries come to an end: the client is told then.
    let (relay, proxy, _, mut client) = through_relay(Cut::BeforeTheAnswer);
    let error = client.refused("SELECT 'marked' FROM t");
    assert_eq!(error.code, 2013, "{error:?}");
    assert_eq!(relay.marked(), 2, "once over the pooled connection, once over a new one");
    assert_eq!(stage::figure(&mut proxy.operator(), "Statement_Retries"), 1);
    client.ok("SELECT 1 FROM t");
}

/// What the proxy asks of itself before a statement, or for a login, is asked elsewhere too.
#[test]
fn connection_that_is_lost_on_its_way_into_a_schema_is_replaced() {
    for time in 0..3 {
        let (relay, proxy, login, mut other) = through_relay(Cut::WithGoodbyeAt(time, IDLE_FOR_TOO_LONG));
        servers::primary(servers::shared()).ok("CREATE DATABASE IF NOT EXISTS marked");
        // The same connection goes to and fro, so that each of them has it brought into its schema.
        let mut client = proxy.client(&login.clone().schema("marked"));
        other.ok("SELECT 1 FROM t");
        let prepared = client.prepare("SELECT DATABASE()").expect("it is prepared");
        other.ok("SELECT 1 FROM t");
        assert_eq!(client.execute(&prepared, &[]).expect("it is executed").value(), "marked");
        other.init_db("marked").expect("it is there");
        assert_eq!(other.value("SELECT DATABASE()"), "marked");
        assert!(relay.marked() > time, "{} at {time}", relay.marked());
    }
}

/// Has each statement run, the last of which is marked, and gives the error for that.
#[track_caller]
fn error_for_the_last(client: &mut Client, statements: &[&str]) -> ServerError {
    let (last, before) = statements.split_last().expect("there are some");
    before.iter().for_each(|statement| drop(client.ok(statement)));
    client.refused(last)
}

#[test]
fn client_is_told_what_became_of_a_statement_whose_connection_was_lost() {
    let lost = "Lost connection to MySQL server during query";
    let unknown = "; it is not known whether the statement was executed";
    let commit = "; it is not known whether the transaction was committed";
    let rolled_back = "; the transaction was rolled back";
    for (statements, words, ends) in [
        (&["SELECT 'marked' FROM t"][..], "", false),
        (&["INSERT INTO t (v) VALUES ('marked')"], unknown, false),
        (&["CREATE TABLE u (marked INT)"], unknown, false),
        (&["SELECT 1; INSERT INTO t (v) VALUES ('marked')"], unknown, false),
        (&["BEGIN", "INSERT INTO t (v) VALUES ('marked')"], rolled_back, true),
        (&["BEGIN", "UPDATE t SET v = 1", "SELECT 'marked' FROM t"], rolled_back, true),
        (&["BEGIN", "UPDATE t SET v = 1", "COMMIT /* marked */"], commit, true),
        (&["BEGIN", "UPDATE t SET v = 1", "ROLLBACK /* marked */"], rolled_back, true),
        (&["BEGIN", "UPDATE t SET v = 1", "CREATE TABLE u (marked INT)"], commit, true),
        (&["SET autocommit = 0", "INSERT INTO t (v) VALUES ('marked')"], rolled_back, false),
        (&["SET autocommit = 0", "UPDATE t SET v = 1", "SET autocommit = 1 /* marked */"], commit, true),
    ] {
        let (_relay, proxy, login, _) = through_relay(Cut::BeforeTheAnswer);
        let mut client = proxy.client(&login.with(CapabilityFlags::CLIENT_MULTI_STATEMENTS));
        let error = error_for_the_last(&mut client, statements);
        assert_eq!((error.code, error.message), (2013, format!("{lost}{words}")), "{statements:?}");
        match ends {
            true => assert!(client.is_closed_by_server(), "{statements:?}"),
            false => client.settle(),
        }
        let unknown = stage::figure(&mut proxy.operator(), "Commits_Unknown");
        assert_eq!(unknown, u64::from(words == commit), "{statements:?}");
    }
}

#[test]
fn client_whose_server_is_lost_says_all_of_its_file_and_goes_on() {
    let setup = Setup::default().variable("mysql-enable_load_data_local_infile", true);
    let (_relay, proxy, login, _) = through_relay_with(Cut::BeforeTheServer, setup);
    let mut client = proxy.client(&login.with(CapabilityFlags::CLIENT_LOCAL_FILES));
    let lines: Vec<_> = (0..200).map(|_| b"marked\n".repeat(1000)).collect();
    let replies = client.load_file("LOAD DATA LOCAL INFILE 'any.tsv' INTO TABLE t (v)", &lines);
    let replies = replies.expect("the session goes on");
    let [Err(error)] = &replies[..] else { panic!("{replies:?}") };
    assert_eq!(error.code, 2013, "{error:?}");
    assert_eq!(client.received(), 4 + 9 + error.message.len(), "an error and no more");
    client.settle();
}

#[test]
fn read_whose_server_is_taken_offline_goes_on_at_another() {
    let stage = Stage::with(Setup::default());
    let port = servers::shared().server(Role::Replica(1)).expect("a lab has a replica").port();
    stage.administer([
        &format!("INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (0, '127.0.0.1', {port})"),
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    stage.replica().ok("SELECT 1 FROM t");
    let mut client = stage.client();
    client.send(3, b"SELECT SLEEP(2), @@port").expect("it is sent");
    let running = "SELECT srv_port FROM stats_mysql_processlist WHERE info LIKE '%SLEEP%' AND srv_port > 0";
    let first =
        eventually("it runs", || stage.proxy.operator().table(running).first().map(|row| row[0].clone()));
    stage.administer([
        &format!("UPDATE mysql_servers SET status = 'OFFLINE_HARD' WHERE port = {first}"),
        "LOAD MYSQL SERVERS TO RUNTIME",
    ]);
    let answers = client.read_answers().expect("it is answered");
    let row = answers[0].table().remove(0);
    assert!(row[0] == "0" && row[1] != first, "{row:?} {first}");
    assert_eq!(stage.figure("Statement_Retries"), 1);
}

#[test]
fn rule_says_how_often_a_read_is_sent_again() {
    for (rule, tries) in [("retries=0, ", 1), ("retries=5, ", 6), ("", 2)] {
        let rule = format!("rule_id=1, match_pattern='marked', {rule}apply=1");
        let (relay, _proxy, _, mut client) =
            through_relay_with(Cut::BeforeTheAnswer, Setup::default().rule(rule.clone()));
        assert_eq!(client.refused("SELECT 'marked' FROM t").code, 2013);
        assert_eq!(relay.marked(), tries, "{rule}");
    }
}
