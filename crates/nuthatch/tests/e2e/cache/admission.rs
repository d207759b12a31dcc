//! Digests whose copies do not pay are on probation until hits come.

use crate::client::Client;
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::stage::Stage;

/// Written more often than they are answered from the cache, digests are judged after so many copies.
const TRIAL_COPIES: u32 = 1_024;

/// With two clients, once answers are cached.
fn stage(setup: Setup) -> (Stage, Client, Client) {
    let stage = Stage::with(setup.variable("mysql-query_cache_type", 1));
    let (mut client, writer) = (stage.client(), stage.client());
    await_that("it is cached", || {
        client.ok("SELECT v FROM t WHERE id = 1");
        stage.figure("Query_Cache_count_GET_OK") > 0
    });
    (stage, client, writer)
}

fn admission(stage: &Stage) -> String {
    let asked = "SELECT admission FROM stats_query_cache WHERE digest_text LIKE 'SELECT SUM%' AND admission IS NOT NULL";
    stage.proxy.operator().table(asked).into_iter().flatten().next().unwrap_or_default()
}

fn sum(key: u32) -> String {
    format!("SELECT SUM(id) FROM t WHERE id > {key}")
}

/// Asks for ever other sums, each behind a write.
fn ask_in_vain(client: &mut Client, writer: &mut Client) {
    for key in 0..=TRIAL_COPIES {
        writer.ok("UPDATE t SET v = 'w' WHERE id = 3");
        client.ok(sum(key));
    }
}

#[test]
fn digest_whose_copies_do_not_pay_is_on_probation_until_hits_come() {
    let (stage, mut client, mut writer) = stage(Setup::default());
    ask_in_vain(&mut client, &mut writer);
    await_that("it is judged", || admission(&stage).starts_with("on probation"));
    assert!(admission(&stage).contains("was written more often than that"), "{}", admission(&stage));
    assert_eq!(stage.figure("Query_Cache_On_probation"), 1);
    let fills = stage.figure("Query_Cache_count_SET");
    (0..320).for_each(|key| drop(client.ok(sum(100_000 + key))));
    let copied = stage.figure("Query_Cache_count_SET") - fills;
    assert!((1..100).contains(&copied), "{copied} copies of 320 answers, where one in 16 is to be made");
    assert!(stage.figure("Query_Cache_Probation_answers") >= 320 - copied);
    let explained = client.table(format!("EXPLAIN CACHE {}", sum(1)));
    assert!(explained.iter().any(|row| row[0] == "admission" && row[1].starts_with("on probation")));
    // Others are not judged with it, and what is asked for by a comment not at all.
    let (other, asked) = ("SELECT MAX(id) FROM t", format!("{} /* nuthatch: cache */", sum(5)));
    for text in [other, &asked] {
        let hits = stage.figure("Query_Cache_count_GET_OK");
        (0..2).for_each(|_| drop(client.ok(text)));
        assert_eq!(stage.figure("Query_Cache_count_GET_OK"), hits + 1, "{text}");
    }
    // Each key is among those of which copies are made for a second of 32; these are enough for one to be so within a few.
    await_that("hits bring it back", || {
        (0..160).for_each(|asked| drop(client.ok(sum(asked % 16))));
        admission(&stage).starts_with("admitted")
    });
    assert_eq!(stage.figure("Query_Cache_On_probation"), 0);
}

#[test]
fn nothing_is_judged_where_that_is_switched_off() {
    let (stage, mut client, mut writer) =
        stage(Setup::default().variable("mysql-query_cache_admission", false));
    ask_in_vain(&mut client, &mut writer);
    stage.administer(["SET mysql-query_cache_admission = 1", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    await_that("it is judged", || admission(&stage).starts_with("on probation"));
    stage.administer(["SET mysql-query_cache_admission = 0", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    let hits = stage.figure("Query_Cache_count_GET_OK");
    (0..20).for_each(|key| (0..2).for_each(|_| drop(client.ok(sum(100_000 + key)))));
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), hits + 20);
    await_that("all are admitted", || stage.figure("Query_Cache_On_probation") == 0);
}
