//! Answers that are held compressed while the cache is full: what clients get of them, and what is told of them.

use super::hits::{both_forms, without_status};
use crate::client::Client;
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

/// Some 20 KiB, and some 70 KiB, which is more than one block.
fn select(number: u32) -> String {
    let rows = if number.is_multiple_of(10) { 2200 } else { 600 };
    format!(
        "SELECT seq, CONCAT('customer ', seq MOD 7, ' of {number}: paid') FROM seq_1_to_{rows} ORDER BY seq"
    )
}

/// More than fits, each asked for some times, so that those are let in that are compressed.
fn full(setup: Setup) -> Stage {
    let stage = Stage::with(setup.rule(CACHE_ALL).variable("mysql-query_cache_size_MB", 1));
    fill(&mut stage.client());
    stage
}

fn fill(client: &mut Client) {
    for number in 0..100 {
        (0..4).for_each(|_| drop(client.ok(select(number))));
    }
    client.settle();
}

/// Whether a compressed entry would answer it.
fn is_compressed(client: &mut Client, number: u32) -> bool {
    let told = client.table(format!("EXPLAIN CACHE {}", select(number)));
    told.iter().any(|row| row[1].starts_with("hit") && row[1].contains(" bytes, compressed, stored "))
}

#[test]
fn hit_of_a_compressed_entry_is_exact_whoever_asks() {
    let stage = full(Setup::default());
    assert!(stage.figure("Query_Cache_Compressed_entries") > 20);
    assert!(stage.figure("Query_Cache_Compression_spared_bytes") > 200 << 10);
    assert!(stage.figure("Query_Cache_Memory_bytes") <= 1 << 20);
    for login in both_forms(&stage) {
        let mut client = stage.proxy.client(&login);
        let mut uncached = stage.proxy.client(&login);
        uncached.ok("SET query_cache_type = OFF");
        fill(&mut client);
        let (mut hits, decompressions) = (0, stage.figure("Query_Cache_Decompressions"));
        for number in 0..100 {
            let answer = uncached.ok(select(number));
            hits += u64::from(is_compressed(&mut client, number));
            assert!(without_status(&client.ok(select(number))) == without_status(&answer), "{number}");
            client.ok("BEGIN");
            let in_transaction = client.ok(select(number));
            assert!(without_status(&in_transaction) == without_status(&answer), "{number}");
            assert!(in_transaction.in_transaction());
            client.ok("COMMIT");
        }
        client.settle();
        // Each miss of this loop pushes out what the next ones would have hit.
        assert!(hits > 2, "{hits}");
        assert!(stage.figure("Query_Cache_Decompressions") >= decompressions + hits);
    }
    assert!(stage.figure("Query_Cache_Decompression_bytes") >= 80 << 10);
    let mut operator = stage.proxy.operator();
    let spared = operator.value("SELECT SUM(spared) FROM stats_query_cache_entries");
    assert_eq!(spared, stage.figure("Query_Cache_Compression_spared_bytes").to_string());
}

#[test]
fn execution_is_answered_from_a_compressed_entry() {
    let stage = Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-query_cache_size_MB", 1));
    let mut client = stage.client();
    let statements: Vec<_> = (0..60).map(|number| client.prepare(select(number)).unwrap()).collect();
    let mut first = Vec::new();
    for statement in &statements {
        let answers: Vec<_> =
            (0..4).map(|_| without_status(&client.execute(statement, &[]).unwrap())).collect();
        first.push(answers[0].clone());
    }
    assert!(stage.figure("Query_Cache_Compressed_entries") > 10);
    for (statement, answer) in statements.iter().zip(&first) {
        assert!(without_status(&client.execute(statement, &[]).unwrap()) == *answer);
    }
    client.settle();
    assert!(stage.figure("Query_Cache_Decompressions") > 10);
}

#[test]
fn entry_in_steady_use_is_held_plain_and_none_is_compressed_where_that_is_off() {
    let stage = full(Setup::default());
    let mut client = stage.client();
    let number = (0..100).find(|number| is_compressed(&mut client, *number)).expect("one is");
    let answer = client.ok(select(number)).raw;
    for _ in 0..150 {
        assert!(client.ok(select(number)).raw == answer);
    }
    assert!(!is_compressed(&mut client, number));
    assert!(stage.figure("Query_Cache_Made_plain") >= 1);
    let off = full(Setup::default().variable("mysql-query_cache_compress_min_bytes", 0));
    assert_eq!(off.figure("Query_Cache_Compressions"), 0);
    assert!(off.figure("Query_Cache_Evicted") + off.figure("Query_Cache_Not_admitted") > 0);
}
