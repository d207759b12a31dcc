//! A hit: where it shows, what its bytes are, whose status flags it carries.

use nuthatch_wire::{CapabilityFlags, StatusFlags, append_packet};

use super::{SELECT, change_behind, fill_and_change};
use crate::client::{Answer, Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::proxy::Setup;
use crate::stage::{CACHE_ALL, Stage};

/// With and without CLIENT_DEPRECATE_EOF.
pub(super) fn both_forms(stage: &Stage) -> [Login; 2] {
    [stage.login(), stage.login().without(CapabilityFlags::CLIENT_DEPRECATE_EOF)]
}

/// The answer's bytes with its status flags blanked, which stand in its last packet and, in the old form, also in the EOF
/// behind the columns.
pub(super) fn without_status(answer: &Answer) -> Vec<u8> {
    let mut raw = answer.raw.clone();
    let mut start = 0;
    while start < raw.len() {
        let len =
            usize::from(raw[start]) | usize::from(raw[start + 1]) << 8 | usize::from(raw[start + 2]) << 16;
        let (payload, end) = (start + 4, start + 4 + len);
        if raw[payload] == 0xFE && len < 20 {
            // Behind the warnings in an EOF, behind two small numbers in an OK.
            raw[payload + 3..payload + 5].fill(0);
        }
        start = end;
    }
    raw
}

#[test]
fn second_select_is_a_hit_and_reaches_no_server() {
    let stage = Stage::caching();
    let mut client = stage.client();
    assert_eq!(client.value(SELECT), "one");
    change_behind(&stage);
    let asked = stage.backend_queries();
    assert_eq!((stage.figure("Query_Cache_count_GET"), stage.figure("Query_Cache_count_GET_OK")), (1, 0));
    assert_eq!(client.value(SELECT), "one");
    assert_eq!(stage.backend_queries(), asked);
    assert_eq!((stage.figure("Query_Cache_count_GET"), stage.figure("Query_Cache_count_GET_OK")), (2, 1));
    assert_eq!((stage.figure("Query_Cache_count_SET"), stage.figure("Query_Cache_Entries")), (1, 1));
}

#[test]
fn hits_that_are_asked_for_together_or_in_pieces_are_answered_in_order() {
    let stage = Stage::caching();
    let mut client = stage.client();
    let of = |id: u32| format!("SELECT v FROM t WHERE id = {id}");
    let packet = |statement: &str| {
        let mut packet = Vec::new();
        append_packet(&mut packet, &mut 0, &[b"\x03", statement.as_bytes()].concat());
        packet
    };
    for id in 1..=3 {
        client.ok(of(id));
    }
    change_behind(&stage);
    let asked = stage.backend_queries();
    let all = [packet(&of(1)), packet(&of(2)), packet(&of(3))].concat();
    for cut in [0, 1, 4, 5, all.len() / 2, all.len() - 1] {
        client.send_raw(&all[..cut], 1).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(if cut == 0 { 0 } else { 20 }));
        client.send_raw(&all[cut..], 1).unwrap();
        for expected in ["one", "two", "three"] {
            client.expect_next(1);
            assert_eq!(client.read_answers().unwrap()[0].value(), expected, "cut at {cut}");
        }
        assert_eq!(client.value(of(2)), "two", "it is in step");
    }
    assert_eq!(stage.backend_queries(), asked, "all were hits");
}

#[test]
fn hit_is_counted_in_its_digest_under_hostgroup_minus_1_without_time() {
    let stage = Stage::caching();
    let mut client = stage.client();
    (0..4).for_each(|_| drop(client.ok(SELECT)));
    let rows = stage.proxy.operator().table(
        "SELECT hostgroup, count_star, sum_time, digest_text, sum_rows_sent FROM stats_mysql_query_digest \
         ORDER BY hostgroup",
    );
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0], ["-1", "3", "0", "SELECT v FROM t WHERE id = ?", "3"]);
    assert_eq!(rows[1][..2], ["0", "1"]);
    assert_ne!(rows[1][2], "0", "a miss takes time");
}

#[test]
fn hit_counts_for_the_rule_that_cached_it() {
    let stage = Stage::caching();
    let mut client = stage.client();
    (0..5).for_each(|_| drop(client.ok(SELECT)));
    assert_eq!(
        stage.proxy.operator().value("SELECT hits FROM stats_mysql_query_rules WHERE rule_id = 1"),
        "5"
    );
}

#[test]
fn hit_has_the_bytes_of_the_miss_but_for_the_status_flags() {
    let stage = Stage::caching();
    for login in both_forms(&stage) {
        let mut client = stage.proxy.client(&login);
        for select in [
            "SELECT * FROM t ORDER BY id",
            "SELECT NULL, '', 1.5, REPEAT('x', 70000)",
            "SELECT 1 FROM t WHERE 0",
        ] {
            let miss = client.ok(select);
            let hit = client.ok(select);
            assert_eq!(without_status(&hit), without_status(&miss), "{select}");
            assert_eq!(hit.status, StatusFlags::SERVER_STATUS_AUTOCOMMIT, "{select}");
        }
    }
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 6);
}

#[test]
fn hit_carries_the_autocommit_flag_of_its_reader() {
    let stage = Stage::caching();
    for login in both_forms(&stage) {
        let mut filler = stage.proxy.client(&login);
        assert!(filler.ok("SELECT v FROM t WHERE id = 2").autocommit());
        filler.settle();
        let mut reader = stage.proxy.client(&login);
        reader.ok("SET autocommit=0");
        let asked = stage.backend_queries();
        let hit = reader.ok("SELECT v FROM t WHERE id = 2");
        assert_eq!(stage.backend_queries(), asked, "a hit");
        assert!(!hit.autocommit() && !hit.in_transaction(), "{:?}", hit.status);
        assert_ne!(
            hit.columns_status.map(|status| status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT)),
            Some(true)
        );
        assert!(filler.ok("SELECT v FROM t WHERE id = 2").autocommit(), "the stored flags are untouched");
    }
}

#[test]
fn hit_inside_a_transaction_says_so() {
    let stage = Stage::caching();
    for login in both_forms(&stage) {
        let mut filler = stage.proxy.client(&login);
        filler.ok("SELECT v FROM t WHERE id = 3");
        filler.settle();
        let mut reader = stage.proxy.client(&login);
        reader.ok("BEGIN");
        let asked = stage.backend_queries();
        let hit = reader.ok("SELECT v FROM t WHERE id = 3");
        assert_eq!(stage.backend_queries(), asked, "a hit");
        assert!(hit.in_transaction() && hit.autocommit(), "{:?}", hit.status);
        assert_ne!(
            hit.columns_status.map(|status| status.contains(StatusFlags::SERVER_STATUS_IN_TRANS)),
            Some(false)
        );
        reader.ok("COMMIT");
        assert!(!reader.ok("SELECT v FROM t WHERE id = 3").in_transaction());
    }
}

#[test]
fn entry_is_served_until_its_ttl_ends_and_no_longer() {
    let stage = Stage::with(Setup::default().rule("rule_id=1, match_digest='^SELECT', cache_ttl=300"));
    let mut client = stage.client();
    let watch = Stopwatch::start();
    assert_eq!(client.value(SELECT), "one");
    change_behind(&stage);
    let mut hits = 0;
    await_that("the entry expires", || {
        let is_old = client.value(SELECT) == "one";
        hits += u32::from(is_old);
        !is_old
    });
    assert!(hits > 0 || watch.elapsed().as_millis() > 300, "it was served before");
    assert!(watch.elapsed().as_millis() >= 300, "it expired after {:?}", watch.elapsed());
}

#[test]
fn hit_of_3_mib_is_exact() {
    let stage =
        Stage::with(Setup::default().rule(CACHE_ALL).variable("mysql-threshold_resultset_size", 8 << 20));
    stage.primary().ok("CREATE TABLE big (id INT PRIMARY KEY, v LONGBLOB)");
    stage.primary().ok("INSERT INTO big SELECT seq, REPEAT(CHAR(97 + seq % 26), 65536) FROM seq_1_to_48");
    for login in both_forms(&stage) {
        let mut client = stage.proxy.client(&login);
        let miss = client.ok("SELECT * FROM big ORDER BY id");
        let asked = stage.backend_queries();
        let hit = client.ok("SELECT * FROM big ORDER BY id");
        assert_eq!(stage.backend_queries(), asked, "a hit");
        assert!(hit.raw.len() > 3 << 20);
        assert!(without_status(&hit) == without_status(&miss), "the bytes are the same");
        let mut in_transaction = stage.proxy.client(&login);
        in_transaction.ok("BEGIN");
        let with_flags = in_transaction.ok("SELECT * FROM big ORDER BY id");
        assert!(without_status(&with_flags) == without_status(&miss), "the same with other flags");
        assert!(with_flags.in_transaction());
    }
}

#[test]
fn show_warnings_after_a_hit_is_empty() {
    let stage = Stage::caching();
    let mut client = stage.client();
    fill_and_change(&stage, &mut client);
    // A statement that warns, so that there is something to forget.
    assert_eq!(client.ok("SELECT 'a' + 1").warnings, 1);
    let hit = |client: &mut Client| assert_eq!(client.value(SELECT), "one");
    hit(&mut client);
    assert!(client.ok("SHOW WARNINGS").rows.is_empty());
    hit(&mut client);
    assert_eq!(client.value("SELECT FOUND_ROWS()"), "1");
    hit(&mut client);
    assert_eq!(client.value("SELECT ROW_COUNT()"), "-1");
}
