use std::collections::HashSet;

use super::*;

#[test]
fn every_default_is_a_value_that_the_variable_takes() {
    fn check<T: Clone + Default + PartialEq + std::fmt::Debug>(table: &'static [Variable<T>]) {
        for variable in table {
            let mut all = T::default();
            let text = (variable.text)(&all);
            assert_eq!((variable.assign)(&mut all, &text), Ok(()), "{}", variable.name);
            assert_eq!(all, T::default(), "{}", variable.name);
            assert!(variable.doc.ends_with('.'), "{}", variable.name);
        }
    }
    check(MysqlVariables::TABLE);
    check(AdminVariables::TABLE);
}

#[test]
fn no_name_stands_twice() {
    let (mysql, admin) = (MysqlVariables::default(), AdminVariables::default());
    let names = mysql.rows().chain(admin.rows()).map(|(name, _)| name);
    let mut seen = HashSet::new();
    for name in names {
        assert!(seen.insert(name.to_ascii_lowercase()), "{name}");
    }
}

/// ProxySQL 2.7.2 has 161 `mysql-*` variables and exposes two of its tracked session variables' defaults.
#[test]
fn all_of_proxysql_is_there() {
    assert_eq!(MysqlVariables::TABLE.iter().filter(|variable| !variable.own).count(), 163);
    assert_eq!(AdminVariables::TABLE.iter().filter(|variable| !variable.own).count(), 50);
}

#[test]
fn value_is_taken_or_refused_with_the_reason() {
    let mut all = MysqlVariables::default();
    for (name, text, expected) in [
        ("max_connections", "500", Ok("500")),
        ("MAX_Connections", " 501 ", Ok("501")),
        ("max_connections", "0", Err("takes a whole number from 1 to 1000000")),
        ("max_connections", "-1", Err("takes a whole number from 1 to 1000000")),
        ("max_connections", "many", Err("takes a whole number from 1 to 1000000")),
        ("query_cache_size_MB", "64", Ok("64")),
        ("query_cache_size_mb", "65", Ok("65")),
        ("query_cache_size_MB", "0.5", Ok("0.5")),
        ("query_cache_size_MB", "10485761", Err("takes a whole number from 0 to 10485760")),
        ("query_cache_type", "1", Ok("1")),
        ("query_cache_type", "demand", Ok("2")),
        ("query_cache_type", " OFF ", Ok("0")),
        ("query_cache_type", "3", Err("takes one of: 0, 1, 2, OFF, ON, DEMAND")),
        ("multiplexing", "0", Ok("false")),
        ("multiplexing", "TRUE", Ok("true")),
        ("multiplexing", "off", Ok("false")),
        ("multiplexing", "2", Err("takes true or false")),
        ("server_version", "8.4.0", Ok("8.4.0")),
        ("default_session_track_gtids", "own_gtid", Ok("OWN_GTID")),
        ("default_session_track_gtids", "ALL", Err("takes one of: OFF, OWN_GTID")),
        ("no_such_thing", "1", Err("is unknown")),
    ] {
        let before = all.clone();
        match expected {
            Ok(shown) => {
                assert_eq!(all.set(name, text), Ok(()), "{name} = {text}");
                assert_eq!(all.text(name).as_deref(), Some(shown), "{name} = {text}");
            }
            Err(reason) => {
                let fault = all.set(name, text).expect_err(name);
                assert_eq!(fault.to_string(), reason, "{name} = {text}");
                assert_eq!(all, before, "{name} = {text} must change nothing");
            }
        }
    }
    assert_eq!(AdminVariables::default().set("version", "9"), Err(VariableFault::ReadOnly));
}

#[test]
fn debug_shows_no_credentials() {
    let shown = format!("{:?} {:?}", MysqlVariables::default(), AdminVariables::default());
    assert!(!shown.contains("admin:admin") && !shown.contains("monitor_password: \"monitor\""), "{shown}");
}

#[test]
fn page_in_docs_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/variables.md");
    let page = std::fs::read_to_string(path).expect("docs/variables.md is there");
    assert!(
        page == variables_markdown(),
        "docs/variables.md is old: make it anew with the example variables_page"
    );
}
