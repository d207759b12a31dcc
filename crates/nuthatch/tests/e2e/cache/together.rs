//! Of those who ask the same at the same time one asks the server, and the others are given what it was told.

use std::thread::{self, JoinHandle};

use super::exact::await_known;
use super::{SELECT, waiting_for_table};
use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

const CLIENTS: usize = 8;

/// The table is locked past the proxy, so whoever asks for it waits there until it is not.
struct Locked(Client);

impl Locked {
    fn new(stage: &Stage) -> Self {
        let mut primary = stage.primary();
        primary.ok("LOCK TABLES t WRITE");
        Self(primary)
    }

    fn write(&mut self, sql: &str) {
        self.0.ok(sql);
    }
}

/// How many statements wait for the table at the server.
fn waiting_there(stage: &Stage) -> String {
    waiting_for_table(stage, "SELECT v FROM t%")
}

/// Where a rule caches everything for a minute.
fn ruled(columns: &str) -> Stage {
    let rule = format!("rule_id=1, match_pattern='.', cache_ttl=60000, {columns} apply=1");
    Stage::with(Setup::default().rule(rule))
}

/// Where answers are cached until something is written.
fn exact() -> Stage {
    let stage = Stage::with(Setup::default().variable("mysql-query_cache_type", 1));
    await_known(&stage, &mut stage.client(), "SELECT MAX(id) FROM t");
    stage
}

/// Somebody who has asked, and waits for the value.
struct Asking(JoinHandle<Option<String>>);

impl Asking {
    fn new(client: Client) -> Self {
        Self::with(client, SELECT)
    }

    fn with(mut client: Client, sql: &'static str) -> Self {
        Self(thread::spawn(move || client.ok(sql).column().into_iter().next()))
    }

    #[track_caller]
    fn must_be_told(self, value: Option<&str>) {
        assert_eq!(self.0.join().expect("it is answered").as_deref(), value);
    }
}

/// Somebody asks, and waits at the server.
fn first_asks(stage: &Stage) -> Asking {
    let first = Asking::new(stage.client());
    await_that("the first is there", || waiting_there(stage) == "1");
    first
}

/// All the others ask.
fn others_ask(stage: &Stage) -> Vec<Asking> {
    (1..CLIENTS).map(|_| Asking::new(stage.client())).collect()
}

fn await_waiting(stage: &Stage) {
    await_that("the others wait for it", || stage.figure("Query_Cache_Waits") == CLIENTS as u64 - 1);
}

#[track_caller]
fn all_must_be_told(asking: impl IntoIterator<Item = Asking>, value: &str) {
    asking.into_iter().for_each(|asking| asking.must_be_told(Some(value)));
}

fn is_asked_once(stage: &Stage) {
    let questions = stage.backend_queries();
    let locked = Locked::new(stage);
    let first = first_asks(stage);
    let others = others_ask(stage);
    await_waiting(stage);
    assert_eq!(waiting_there(stage), "1");
    drop(locked);
    all_must_be_told(others.into_iter().chain([first]), "one");
    assert_eq!(stage.figure("Query_Cache_Waits_answered"), CLIENTS as u64 - 1);
    assert_eq!(stage.backend_queries(), questions + 1);
}

#[test]
fn what_many_ask_at_the_same_time_is_asked_of_the_server_once() {
    is_asked_once(&exact());
    is_asked_once(&ruled(""));
}

#[test]
fn who_came_behind_a_write_is_not_given_what_was_asked_before_it() {
    let stage = exact();
    let mut locked = Locked::new(&stage);
    let first = first_asks(&stage);
    let others = others_ask(&stage);
    await_waiting(&stage);
    let writing = Asking::with(stage.client(), "UPDATE t SET v = 'written' WHERE id = 1");
    await_that("the write waits", || waiting_for_table(&stage, "UPDATE t%") == "1");
    locked.write("UPDATE t SET v = 'two' WHERE id = 2");
    drop(locked);
    writing.must_be_told(None);
    // Each began before the write was acknowledged.
    for asking in others.into_iter().chain([first]) {
        let value = asking.0.join().expect("it is answered");
        assert!(["one", "written"].contains(&value.as_deref().unwrap_or_default()), "{value:?}");
    }
    assert_eq!(stage.client().value(SELECT), "written");
}

#[test]
fn first_who_waits_asks_when_the_one_before_goes_away() {
    let stage = exact();
    let locked = Locked::new(&stage);
    let mut first = stage.client();
    first.send(3, SELECT.as_bytes()).expect("it is sent");
    await_that("the first is there", || waiting_there(&stage) == "1");
    let others = others_ask(&stage);
    await_waiting(&stage);
    let asked = stage.figure("Query_Cache_count_GET");
    first.vanish();
    await_that("another asks", || stage.figure("Query_Cache_count_GET") == asked + 1);
    // The server is told to end what nobody waits for any more.
    await_that("it asks alone", || waiting_there(&stage) == "1");
    drop(locked);
    all_must_be_told(others, "one");
    assert_eq!(stage.figure("Query_Cache_Waits_answered"), CLIENTS as u64 - 2);
}

#[test]
fn nobody_waits_for_longer_than_a_rule_says_nor_where_it_says_none() {
    for (columns, over) in [("cache_timeout=100,", CLIENTS as u64 - 1), ("cache_timeout=0,", 0)] {
        let stage = ruled(columns);
        let locked = Locked::new(&stage);
        let first = first_asks(&stage);
        let others = others_ask(&stage);
        await_that("all ask", || waiting_there(&stage) == CLIENTS.to_string());
        assert_eq!(stage.figure("Query_Cache_Waits"), over, "{columns}");
        assert_eq!(stage.figure("Query_Cache_Waits_over"), over, "{columns}");
        drop(locked);
        all_must_be_told(others.into_iter().chain([first]), "one");
    }
}

#[test]
fn neither_environments_nor_transactions_wait_for_each_other() {
    let stage = ruled("");
    let mut others: Vec<_> = (0..3).map(|_| stage.client()).collect();
    for (other, sql) in others.iter_mut().zip(["SET NAMES latin1", "SET sql_mode = 'ANSI'", "BEGIN"]) {
        other.ok(sql);
    }
    let locked = Locked::new(&stage);
    let first = first_asks(&stage);
    let others: Vec<_> = others.into_iter().map(Asking::new).collect();
    await_that("they ask by themselves", || waiting_there(&stage) == "4");
    assert_eq!(stage.figure("Query_Cache_Waits"), 0);
    drop(locked);
    all_must_be_told(others.into_iter().chain([first]), "one");
}

#[test]
fn where_nothing_is_stored_all_ask_and_nobody_waits_again_soon() {
    let stage = ruled("cache_empty_result=0,");
    stage.primary().ok("DELETE FROM t WHERE id = 1");
    let locked = Locked::new(&stage);
    let first = first_asks(&stage);
    let others = others_ask(&stage);
    await_waiting(&stage);
    drop(locked);
    others.into_iter().chain([first]).for_each(|asking| asking.must_be_told(None));
    assert_eq!(stage.figure("Query_Cache_Waits_answered"), 0);
}
