//! What a session may ask behind a hit: it is told what it would be told behind the server's own answer.

use super::{exact, warm};

const TRUNCATED: &str = "Truncated incorrect DOUBLE value: 'word'";

/// As MariaDB does it, which shows warnings until the next statement of a table.
#[test]
fn hit_on_a_select_without_a_table_leaves_the_warnings_before_it() {
    let stage = exact();
    let mut client = stage.client();
    warm(&stage, &mut client, "SELECT 1");
    client.ok("SELECT 'word' + 1 FROM t WHERE id = 1");
    warm(&stage, &mut client, "SELECT 1");
    assert_eq!(client.table("SHOW WARNINGS")[0][2], TRUNCATED);
    assert_eq!(client.value("SELECT @@warning_count"), "1");

    client.ok("BEGIN");
    client.ok("SELECT 'word' + 1 FROM t WHERE id = 1");
    client.ok("SELECT 1");
    assert_eq!(client.table("SHOW WARNINGS")[0][2], TRUNCATED, "they are on a connection that is held");
    client.ok("COMMIT");

    drop(client.query("SELECT * FROM nowhere"));
    warm(&stage, &mut client, "SELECT 1");
    assert_eq!(client.table("SHOW ERRORS")[0][1], "1146");
}

#[test]
fn hit_on_a_select_of_a_table_takes_the_warnings_before_it() {
    let stage = exact();
    let mut client = stage.client();
    let of_a_table = "SELECT v FROM t WHERE id = 1";
    warm(&stage, &mut client, of_a_table);
    client.ok("SELECT 'word' + 1 FROM t WHERE id = 1");
    warm(&stage, &mut client, of_a_table);
    assert!(client.table("SHOW WARNINGS").is_empty());
    assert_eq!(client.value("SELECT ROW_COUNT()"), "-1");
}
