//! Executions of prepared statements from the cache: what they count as, what makes two of them the same, what is not taken from it.

use super::change_behind;
use crate::client::{Cursor, Types, Value};
use crate::stage::Stage;

const BY_ID: &str = "SELECT v FROM t WHERE id = ?";

#[test]
fn hit_of_an_execution_counts_once_wherever_a_statement_counts() {
    let stage = Stage::caching();
    let mut client = stage.client();
    let statement = client.prepare(BY_ID).unwrap();
    for _ in 0..5 {
        assert_eq!(client.execute(&statement, &[Value::Int(1)]).unwrap().value(), "one");
    }
    let mut operator = stage.proxy.operator();
    // With the preparation.
    assert_eq!(operator.value("SELECT hits FROM stats_mysql_query_rules WHERE rule_id = 1"), "6");
    assert_eq!(stage.figure("Com_frontend_stmt_execute"), 5);
    assert_eq!(stage.figure("Query_Cache_count_GET"), 5);
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 4);
    let in_cache = "SELECT count_star FROM stats_mysql_query_digest WHERE hostgroup = -1";
    assert_eq!(operator.value(in_cache), "4");
}

#[test]
fn executions_are_the_same_if_text_types_and_values_are() {
    let stage = Stage::caching();
    let mut client = stage.client();
    let statement = client.prepare(BY_ID).unwrap();
    assert_eq!(client.execute(&statement, &[Value::Int(1)]).unwrap().value(), "one");
    change_behind(&stage);
    let again = client.execute_as(&statement, &[Value::Int(1)], Types::LeftOut, Cursor::None).unwrap();
    assert_eq!(again.value(), "one", "the types are those sent before");
    let as_text = client.execute(&statement, &[Value::Text(b"1".to_vec())]).unwrap();
    assert_eq!(as_text.value(), "changed", "another type is another question");
    let left_out = [Value::Text(b"1".to_vec())];
    let left_out = client.execute_as(&statement, &left_out, Types::LeftOut, Cursor::None).unwrap();
    assert_eq!(left_out.value(), "changed", "the types are those of the hit before");
    let mut other = stage.client();
    let (first, second) = (other.prepare("SELECT 1").unwrap(), other.prepare(BY_ID).unwrap());
    assert_eq!(other.execute(&second, &[Value::Int(1)]).unwrap().value(), "one", "under any number");
    assert_eq!(other.execute(&first, &[]).unwrap().value(), "1");
    assert!(other.execute(&second, &[Value::Null]).unwrap().table().is_empty());
}

#[test]
fn cursors_and_long_data_are_the_servers() {
    let stage = Stage::caching();
    let mut client = stage.client();
    let statement = client.prepare("SELECT v FROM t WHERE v = ?").unwrap();
    let one = || [Value::Text(b"one".to_vec())];
    assert_eq!(client.execute(&statement, &one()).unwrap().value(), "one");
    change_behind(&stage);
    assert_eq!(client.execute(&statement, &one()).unwrap().value(), "one");
    client.execute_as(&statement, &one(), Types::Sent, Cursor::ReadOnly).unwrap();
    assert!(client.fetch(&statement, 9).unwrap().table().is_empty(), "a server has no such row any more");
    client.send_long_data(&statement, 0, b"changed");
    let long = client.execute(&statement, &[Value::Long]).unwrap();
    assert_eq!(long.value(), "changed");
    client.send_long_data(&statement, 0, b"two");
    assert_eq!(client.execute(&statement, &[Value::Long]).unwrap().value(), "two");
    assert_eq!(client.execute(&statement, &one()).unwrap().value(), "one", "which is cached still");
}

#[test]
fn executions_that_do_not_fit_one_read_are_hits_too() {
    let stage = Stage::caching();
    let mut client = stage.client();
    let statement = client.prepare("SELECT v, LENGTH(?) FROM t WHERE id = ?").unwrap();
    for bytes in [10_usize, 70_000, 300_000] {
        let values = [Value::Text(vec![b'x'; bytes]), Value::Int(2)];
        for _ in 0..2 {
            let row = client.execute(&statement, &values).unwrap().table().remove(0);
            assert_eq!(row, ["two".to_owned(), bytes.to_string()]);
        }
    }
    assert_eq!(stage.figure("Query_Cache_count_GET_OK"), 3);
}
