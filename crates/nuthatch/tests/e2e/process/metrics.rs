//! Metrics over HTTP and in the admin interface are the statistics' own figures.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::client::Client;
use crate::stage::{Stage, metrics};

fn get(stage: &Stage, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(stage.proxy.metrics).expect("somebody listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

/// Value by metric, labels included.
fn figures(exposition: &str) -> HashMap<String, f64> {
    let samples = exposition.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    samples
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a value");
            (name.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn endpoint_serves_the_figures_of_stats_mysql_global() {
    let stage = Stage::caching();
    let mut clients: Vec<Client> = (0..3).map(|_| stage.client()).collect();
    for client in &mut clients {
        (0..5).for_each(|_| drop(client.ok("SELECT v FROM t WHERE id = 1")));
        client.ok("UPDATE t SET v = v");
        client.settle();
    }
    let (head, body) = get(&stage, "/metrics");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let figures = figures(&body);
    let mut operator = stage.proxy.operator();
    for (metric, name) in [
        ("nuthatch_query_cache_count_get_total", "Query_Cache_count_GET"),
        ("nuthatch_query_cache_count_get_ok_total", "Query_Cache_count_GET_OK"),
        ("nuthatch_query_cache_count_set_total", "Query_Cache_count_SET"),
        ("nuthatch_query_cache_entries", "Query_Cache_Entries"),
        ("nuthatch_questions_total", "Questions"),
        ("nuthatch_client_connections_connected", "Client_Connections_connected"),
        ("nuthatch_mysql_thread_workers", "MySQL_Thread_Workers"),
        ("nuthatch_query_cache_memory_bytes", "Query_Cache_Memory_bytes"),
    ] {
        let shown = crate::stage::figure(&mut operator, name).to_string();
        let exposed = figures.get(metric).unwrap_or_else(|| panic!("{metric} is not in {body}"));
        assert_eq!(exposed.to_string(), shown, "{metric}");
    }
}

#[test]
fn every_global_statistic_is_a_metric_and_back() {
    let stage = Stage::plain();
    let (_, body) = get(&stage, "/metrics");
    let mut operator = stage.proxy.operator();
    let names = operator.ok("SELECT Variable_Name FROM stats_mysql_global").column();
    let shown = metrics(&mut operator);
    let samples = |text: &str| text.lines().filter(|line| line.starts_with("nuthatch_")).count();
    assert!(samples(&body) >= names.len(), "{} samples for {} statistics", samples(&body), names.len());
    for family in body.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        assert!(shown.contains(family), "{family} is not in SHOW PROMETHEUS METRICS");
    }
}

#[test]
fn other_paths_are_404() {
    let stage = Stage::plain();
    assert!(get(&stage, "/").0.contains("404"));
    assert!(get(&stage, "/metric").0.contains("404"));
}
