//! Which tables there are, while somebody makes one past the proxy and fails.

use nuthatch_lab::Kind;

use super::{await_known, await_mode, following, is_hit};
use crate::deadline::await_that;

/// MariaDB lists the table while its rows are selected, and says nothing when it is gone.
#[test]
fn table_of_mariadb_that_never_came_to_be_is_not_listed_for_long() {
    let stage = following(Kind::MariaDb, "bounded", &[], |setup| setup);
    let (mut client, mut direct) = (stage.client(), stage.primary());
    await_known(&stage, &mut client, "SHOW COLUMNS FROM t");
    await_mode(&stage, "bounded");
    let lists = [
        "SHOW TABLES LIKE 'phant%'",
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'phant%'",
    ];
    let mut maker = stage.primary();
    let making = std::thread::spawn(move || {
        maker.refused("CREATE TABLE phantom (a INT PRIMARY KEY) AS SELECT SLEEP(1) AS a FROM t")
    });
    await_that("it is listed", || direct.table(lists[0]) == [["phantom"]]);
    for list in lists.iter().chain(&lists) {
        client.table(list);
    }
    assert_eq!(making.join().expect("it fails").code, 1062);
    for list in lists {
        assert!(direct.table(list).is_empty());
        assert!(client.table(list).is_empty(), "{list}");
    }
    let told = client.table(format!("EXPLAIN CACHE {}", lists[0]));
    assert!(told.iter().any(|row| row[0] == "reads" && row[1].contains("it lists tables")), "{told:?}");
}

/// MySQL shows it once it is there.
#[test]
fn tables_of_mysql_are_listed_from_the_cache() {
    let stage = following(Kind::MySql, "bounded", &[], |setup| setup);
    let (mut client, mut direct) = (stage.client(), stage.primary());
    let list = "SHOW TABLES LIKE 'made'";
    await_known(&stage, &mut client, list);
    await_mode(&stage, "bounded");
    await_that("it is served", || is_hit(&stage, &mut client, list));
    direct.ok("CREATE TABLE made AS SELECT 1 AS a");
    await_that("the table is listed", || client.table(list) == [["made"]]);
    direct.ok("DROP TABLE made");
    await_that("and is not any more", || client.table(list).is_empty());
}
