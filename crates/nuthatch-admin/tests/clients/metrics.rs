//! The metrics, as a scraper and an operator see them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::interface::Interface;
use crate::plane::Plane;

const EXPECTED: &str = "\
# HELP nuthatch_uptime_seconds Seconds since the process started
# TYPE nuthatch_uptime_seconds counter
nuthatch_uptime_seconds_total 12
# HELP nuthatch_questions Statements that clients sent
# TYPE nuthatch_questions counter
nuthatch_questions_total 345
# HELP nuthatch_client_connections_connected Client connections that are open
# TYPE nuthatch_client_connections_connected gauge
nuthatch_client_connections_connected 9
# HELP nuthatch_queries_frontends_bytes Bytes exchanged with clients
# TYPE nuthatch_queries_frontends_bytes counter
nuthatch_queries_frontends_bytes_total{traffic_flow=\"recv\"} 1000
nuthatch_queries_frontends_bytes_total{traffic_flow=\"sent\"} 2000
# HELP nuthatch_query_cache_count_get Look-ups of statements that may be cached
# TYPE nuthatch_query_cache_count_get counter
nuthatch_query_cache_count_get_total 100
# HELP nuthatch_query_cache_count_get_ok Look-ups that were answered from the cache; over count_get this is the hit ratio
# TYPE nuthatch_query_cache_count_get_ok counter
nuthatch_query_cache_count_get_ok_total 90
# HELP nuthatch_worker_sessions Client sessions of a worker
# TYPE nuthatch_worker_sessions gauge
nuthatch_worker_sessions{worker=\"0\"} 5
nuthatch_worker_sessions{worker=\"1\"} 4
# HELP nuthatch_connpool_conns_used Backend connections that serve a session
# TYPE nuthatch_connpool_conns_used gauge
nuthatch_connpool_conns_used{hostgroup=\"0\",endpoint=\"127.0.0.1:3306\"} 1
";

#[test]
fn the_text_has_one_family_for_each_metric_and_ends() {
    let text = nuthatch_admin::metrics::text(&Plane::default());
    assert!(text.starts_with(EXPECTED), "{text}");
    assert!(
        text.contains(
            "nuthatch_connpool_conns_opened_total{hostgroup=\"0\",endpoint=\"127.0.0.1:3306\"} 3\n"
        )
    );
    assert!(
        text.contains("nuthatch_connpool_conns_status{hostgroup=\"0\",endpoint=\"127.0.0.1:3306\"} "),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn sql_and_http_give_the_same_text() {
    let interface = Interface::start();
    let by_sql = interface
        .mariadb("stats", "stats")
        .args(["--raw", "--skip-column-names", "--execute=SHOW PROMETHEUS METRICS"])
        .output()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let served =
        runtime.spawn(nuthatch_admin::metrics::serve(listener, Arc::new(Plane::default()), stop.clone()));
    let mut scraper = TcpStream::connect(address).unwrap();
    scraper.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut response = String::new();
    scraper.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
    assert_eq!(String::from_utf8(by_sql.stdout).unwrap().trim_end(), body.trim_end());
    stop.cancel();
    runtime.block_on(served).unwrap();
}
