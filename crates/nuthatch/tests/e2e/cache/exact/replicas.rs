//! Answers of replicas: stored where it is proven that the replica has applied what was acknowledged before, and nowhere else.
//!
//! Hostgroup 0 is the primary, hostgroup 1 its replica, which answers every SELECT. Each test has servers of its own, as it changes what is
//! global there. The same checks run against MySQL in one test, where there is one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nuthatch_lab::{Kind, ScratchLab};

use super::on;
use crate::client::Client;
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::{Proxy, Setup};
use crate::{servers, stage};

const SELECT: &str = "SELECT v FROM t WHERE id = 1";

/// A proxy before a primary and its replica.
struct Pair<'l> {
    lab: &'l ScratchLab,
    proxy: Proxy,
    schema: String,
}

impl<'l> Pair<'l> {
    fn before(lab: &'l ScratchLab) -> Self {
        Self::with(lab, |setup| setup)
    }

    /// With a replica that takes no writes, and a table `t` with the rows 1 to 3, that it has.
    fn with(lab: &'l ScratchLab, further: impl FnOnce(Setup) -> Setup) -> Self {
        let schema = servers::fresh_name("pair");
        let mut primary = servers::primary(lab);
        for statement in [
            format!("CREATE DATABASE {schema}"),
            format!("CREATE TABLE {schema}.t (id INT PRIMARY KEY, v VARCHAR(100))"),
            format!("INSERT INTO {schema}.t VALUES (1, 'one'), (2, 'two'), (3, 'three')"),
            format!("CREATE TABLE {schema}.quiet (id INT PRIMARY KEY)"),
        ] {
            primary.ok(statement);
        }
        servers::replica(lab).ok("SET GLOBAL read_only = 1");
        servers::await_replicas(lab);
        let setup = on(stage::before(Setup::default(), lab))
            .variable("mysql-query_cache_catalogue_interval_ms", 1000)
            .rule("rule_id=1, match_pattern='^SELECT', destination_hostgroup=1, apply=1")
            .user(stage::user_row(&servers::account(lab), ""));
        Self { lab, proxy: Proxy::start(&further(setup)), schema }
    }

    fn client(&self) -> Client {
        self.proxy.client(&servers::account(self.lab).schema(&self.schema))
    }

    /// A client of the replica past the proxy.
    fn replica(&self) -> Client {
        let mut replica = servers::replica(self.lab);
        replica.init_db(&self.schema).expect("the schema is there");
        replica
    }

    fn hits(&self) -> u64 {
        stage::figure(&mut self.proxy.operator(), "Query_Cache_count_GET_OK")
    }

    /// What is answered, and whether from the cache.
    fn asked(&self, client: &mut Client, sql: &str) -> (String, bool) {
        let before = self.hits();
        let value = client.value(sql);
        (value, self.hits() > before)
    }

    #[track_caller]
    fn await_hit(&self, client: &mut Client, sql: &str) {
        await_that(sql, || self.asked(client, sql).1);
    }

    /// What EXPLAIN CACHE says of source and replicas.
    fn explained(&self, client: &mut Client) -> String {
        let rows = client.table(format!("EXPLAIN CACHE {SELECT}"));
        let told = rows.into_iter().filter(|row| row[0] == "source" || row[0] == "replica");
        told.map(|row| row.join(" ")).collect::<Vec<_>>().join("\n")
    }

    /// Returns when EXPLAIN CACHE says that, and shows that nothing is stored then.
    #[track_caller]
    fn await_refusal(&self, client: &mut Client, words: &str) {
        await_that(words, || {
            // Only who reads what was written has the replica asked.
            client.ok("UPDATE t SET v = 'old' WHERE id = 1");
            client.ok(SELECT);
            self.explained(client).contains(words)
        });
        client.ok("UPDATE t SET v = 'older' WHERE id = 1");
        for _ in 0..5 {
            assert!(!self.asked(client, SELECT).1, "{words}");
        }
        assert!(self.explained(client).contains(words), "{}", self.explained(client));
    }

    fn is_mysql(&self) -> bool {
        !self.lab.primary().version().contains("MariaDB")
    }

    /// In the words of its server.
    fn words<'w>(&self, mariadb: &'w str, mysql: &'w str) -> &'w str {
        if self.is_mysql() { mysql } else { mariadb }
    }

    fn stop_applying(&self) -> &'static str {
        self.words("STOP SLAVE SQL_THREAD", "STOP REPLICA SQL_THREAD")
    }

    fn apply_again(&self) -> &'static str {
        self.words("START SLAVE SQL_THREAD", "START REPLICA SQL_THREAD")
    }
}

fn is_served_until_written(lab: &ScratchLab) {
    let pair = Pair::before(lab);
    let mut client = pair.client();
    pair.await_hit(&mut client, SELECT);
    assert!(pair.explained(&mut client).contains("has applied all"), "{}", pair.explained(&mut client));
    let sql = "SELECT SUM(Queries) FROM stats_mysql_connection_pool WHERE hostgroup = 1";
    assert_ne!(pair.proxy.operator().value(sql), "0", "the replica has answered");
    client.ok("UPDATE t SET v = 'new' WHERE id = 1");
    assert!(!pair.asked(&mut client, SELECT).1, "the write took it along");
    await_that("the new value is served", || pair.asked(&mut client, SELECT) == ("new".to_owned(), true));
    let statement = client.prepare("SELECT v FROM t WHERE id = 2").expect("it is prepared");
    await_that("executions are served too", || {
        let before = pair.hits();
        assert_eq!(client.execute(&statement, &[]).expect("it runs").value(), "two");
        pair.hits() > before
    });
    client.ok("ALTER TABLE t ADD COLUMN w INT DEFAULT 7");
    await_that("the new column is served", || {
        client.query("SELECT w FROM t WHERE id = 1").is_ok()
            && pair.asked(&mut client, "SELECT w FROM t WHERE id = 1") == ("7".to_owned(), true)
    });
}

fn is_not_stored_behind(lab: &ScratchLab) {
    let pair = Pair::before(lab);
    let (mut client, mut replica) = (pair.client(), pair.replica());
    pair.await_hit(&mut client, SELECT);
    replica.ok(pair.stop_applying());
    client.ok("UPDATE t SET v = 'new' WHERE id = 1");
    client.ok("INSERT INTO t VALUES (4, 'four')");
    for _ in 0..50 {
        assert_eq!(pair.asked(&mut client, SELECT), ("one".to_owned(), false), "as replication is");
        assert_eq!(pair.asked(&mut client, "SELECT COUNT(*) FROM t"), ("3".to_owned(), false));
        thread::sleep(Duration::from_millis(20));
    }
    let why = pair
        .proxy
        .operator()
        .value("SELECT last_not_cached FROM stats_query_cache WHERE digest_text LIKE 'SELECT v FROM t%'");
    assert!(why.contains("not known to have applied"), "{why}");
    pair.await_hit(&mut client, "SELECT COUNT(*) FROM quiet");
    replica.ok(pair.apply_again());
    await_that("the new value is served", || pair.asked(&mut client, SELECT) == ("new".to_owned(), true));
    let count = "SELECT COUNT(*) FROM t";
    await_that("the new row is served", || pair.asked(&mut client, count) == ("4".to_owned(), true));
}

fn transaction_keeps_its_snapshot(lab: &ScratchLab) {
    let begins_there = "rule_id=2, match_pattern='^BEGIN', destination_hostgroup=1, apply=1";
    let pair = Pair::with(lab, |setup| setup.rule(begins_there));
    let (mut client, mut other, mut replica) = (pair.client(), pair.client(), pair.replica());
    for (number, autocommit) in (0..6).zip([1, 0].into_iter().cycle()) {
        let (old, new) = (format!("old {number}"), format!("new {number}"));
        client.ok(format!("SET autocommit = {autocommit}"));
        other.ok(format!("UPDATE t SET v = '{old}' WHERE id = 1"));
        let begin = |client: &mut Client| {
            let begun = if autocommit == 1 { client.ok("BEGIN") } else { client.ok("COMMIT") };
            drop(begun);
            client.ok("SELECT v FROM t WHERE id = 2");
        };
        await_that("a read of a transaction on the replica is served", || {
            begin(&mut client);
            let answered = pair.asked(&mut client, SELECT);
            client.ok("COMMIT");
            answered == (old.clone(), true)
        });
        replica.ok(pair.stop_applying());
        other.ok(format!("UPDATE t SET v = '{new}' WHERE id = 1"));
        begin(&mut client);
        replica.ok(pair.apply_again());
        await_that("others are served the new value", || {
            pair.asked(&mut other, SELECT) == (new.clone(), true)
        });
        assert_eq!(pair.asked(&mut client, SELECT), (old, false), "its snapshot is older");
        client.ok("COMMIT");
        assert_eq!(pair.asked(&mut other, SELECT), (new, true));
    }
}

fn is_refused_in_words(lab: &ScratchLab) {
    let pair = Pair::before(lab);
    let (mut client, mut replica) = (pair.client(), pair.replica());
    let fresh = |client: &mut Client, replica: &mut Client| {
        client.ok("UPDATE t SET v = 'fresh' WHERE id = 1");
        await_that("it is stored again", || {
            replica.value(SELECT) == "fresh" && pair.asked(client, SELECT) == ("fresh".to_owned(), true)
        });
    };
    let (stop, start) =
        (pair.words("STOP SLAVE", "STOP REPLICA"), pair.words("START SLAVE", "START REPLICA"));
    fresh(&mut client, &mut replica);

    replica.ok("SET GLOBAL read_only = 0");
    pair.await_refusal(&mut client, "read_only is off");
    replica.ok("SET GLOBAL read_only = 1");
    fresh(&mut client, &mut replica);

    let filter = |schemas: &str| match pair.is_mysql() {
        true => format!("CHANGE REPLICATION FILTER REPLICATE_WILD_DO_TABLE = ({})", schemas),
        false => format!("SET GLOBAL replicate_wild_do_table = '{}'", schemas.replace('\'', "")),
    };
    replica.ok(stop);
    replica.ok(filter("'%.%'"));
    replica.ok(start);
    pair.await_refusal(&mut client, "replication filters");
    replica.ok(stop);
    replica.ok(filter(""));
    replica.ok(start);
    fresh(&mut client, &mut replica);

    if !pair.is_mysql() {
        replica.ok(stop);
        replica.ok("CHANGE MASTER TO MASTER_USE_GTID = no");
        replica.ok(start);
        pair.await_refusal(&mut client, "without GTIDs");
        replica.ok(stop);
        replica.ok("CHANGE MASTER TO MASTER_USE_GTID = slave_pos");
        replica.ok(start);
        fresh(&mut client, &mut replica);
    }

    replica.ok("SET sql_log_bin = 0");
    replica.ok("ALTER TABLE quiet ADD COLUMN w INT");
    await_that("a table is defined otherwise", || pair.explained(&mut client).contains("1 tables are"));
    client.ok("UPDATE t SET v = 'x' WHERE id = 1");
    pair.await_hit(&mut client, SELECT);
    assert!(!(0..5).any(|_| pair.asked(&mut client, "SELECT COUNT(*) FROM quiet").1));
    replica.ok("ALTER TABLE quiet DROP COLUMN w");
    pair.await_hit(&mut client, "SELECT COUNT(*) FROM quiet");

    replica.ok("CREATE TRIGGER own AFTER INSERT ON t FOR EACH ROW DELETE FROM quiet");
    pair.await_refusal(&mut client, "has triggers or foreign keys there");
    replica.ok("DROP TRIGGER own");
    fresh(&mut client, &mut replica);

    replica.ok("SET sql_log_bin = 1");
    replica.ok("CREATE TABLE of_its_own (id INT)");
    pair.await_refusal(&mut client, "it has executed transactions that its primary has not");
}

fn ends_with_a_session_that_leaves_the_binlog(lab: &ScratchLab) {
    let pair = Pair::before(lab);
    let mut client = pair.client();
    pair.await_hit(&mut client, SELECT);
    let mut other = pair.client();
    other.ok("SET sql_log_bin = 0");
    other.ok("UPDATE t SET v = 'unlogged' WHERE id = 1");
    for _ in 0..20 {
        assert_eq!(pair.asked(&mut client, SELECT), ("one".to_owned(), false));
        thread::sleep(Duration::from_millis(20));
    }
    pair.proxy.operator().ok("LOAD MYSQL SERVERS TO RUNTIME");
    await_that("it is said", || pair.explained(&mut client).contains("how its writes are logged"));
}

/// A hit is never older than the last write, however far the replica is behind.
fn hits_are_fresh(lab: &ScratchLab) {
    hits_are_fresh_with(lab, |setup| setup);
}

/// The same, where the primary answers some of the reads.
fn hits_are_fresh_beside_the_primary(lab: &ScratchLab) {
    let primary = format!("hostgroup_id=1, hostname='127.0.0.1', port={}", lab.primary().port());
    hits_are_fresh_with(lab, |setup| setup.server(primary));
}

fn hits_are_fresh_with(lab: &ScratchLab, further: impl FnOnce(Setup) -> Setup) {
    let quick = |setup: Setup| setup.variable("mysql-query_cache_replica_interval_ms", 1);
    let pair = Pair::with(lab, |setup| further(quick(setup)));
    let mut client = pair.client();
    pair.await_hit(&mut client, SELECT);
    let (ended, watch) = (AtomicBool::new(false), Stopwatch::start());
    let (mut number, mut hits, mut stale) = (0_u32, 0_u32, None);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut replica = pair.replica();
            while !ended.load(Ordering::Relaxed) {
                replica.ok(pair.stop_applying());
                thread::sleep(Duration::from_millis(15));
                replica.ok(pair.apply_again());
                thread::sleep(Duration::from_millis(25));
            }
        });
        // Nothing here may panic: the other thread would never end.
        while stale.is_none() && watch.elapsed() < Duration::from_secs(8) {
            number += 1;
            let id = number % 3 + 1;
            let wrote = client.query(format!("UPDATE t SET v = '{number}' WHERE id = {id}"));
            for _ in 0..8 {
                let (value, is_hit) = pair.asked(&mut client, &format!("SELECT v FROM t WHERE id = {id}"));
                hits += u32::from(is_hit);
                if wrote.is_err() || is_hit && value != number.to_string() {
                    stale = Some(format!("{value} was served after {number} was acknowledged"));
                }
            }
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(stale, None);
    assert!(hits > 50, "{hits} hits after {number} writes are too few to tell anything");
}

#[test]
fn answer_of_a_replica_is_served_again_until_its_primary_is_written() {
    is_served_until_written(&servers::own(1));
}

#[test]
fn what_a_replica_has_not_applied_is_answered_and_not_stored() {
    is_not_stored_behind(&servers::own(1));
}

#[test]
fn transaction_on_a_replica_is_not_served_what_is_newer_than_its_snapshot() {
    transaction_keeps_its_snapshot(&servers::own(1));
}

#[test]
fn replica_that_does_not_apply_all_or_writes_itself_is_refused_in_words() {
    is_refused_in_words(&servers::own(1));
}

#[test]
fn nothing_of_replicas_is_stored_after_a_session_has_left_the_binlog() {
    ends_with_a_session_that_leaves_the_binlog(&servers::own(1));
}

#[test]
fn hit_on_an_answer_of_a_replica_is_never_older_than_the_last_write() {
    hits_are_fresh(&servers::own(1));
}

#[test]
fn hit_is_never_older_than_the_last_write_where_a_primary_and_its_replica_share_a_hostgroup() {
    hits_are_fresh_beside_the_primary(&servers::own(1));
}

#[test]
#[ignore = "needs MySQL, which no package of Debian's stable release has"]
fn replicas_of_mysql_are_held_to_the_same() {
    let lab = servers::beside_with(Kind::MySql, "NUTHATCH_MYSQL_ROOT", 1);
    for check in [
        is_served_until_written,
        is_not_stored_behind,
        transaction_keeps_its_snapshot,
        hits_are_fresh,
        hits_are_fresh_beside_the_primary,
        ends_with_a_session_that_leaves_the_binlog,
        is_refused_in_words,
    ] {
        check(&lab);
    }
}

/// GTIDs are on in the lab's own servers.
#[test]
#[ignore = "needs MySQL, which no package of Debian's stable release has"]
fn replicas_of_mysql_without_gtids_are_refused() {
    let lab = servers::beside_with(Kind::MySql, "NUTHATCH_MYSQL_ROOT", 1);
    for mut server in [servers::primary(&lab), servers::replica(&lab)] {
        server.ok("SET GLOBAL gtid_mode = ON_PERMISSIVE");
    }
    let pair = Pair::before(&lab);
    let mut client = pair.client();
    pair.await_refusal(&mut client, "gtid_mode is not ON");
}
