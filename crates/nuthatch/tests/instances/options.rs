//! Which option is in force, who says so, and when a change is.

use std::fs;

use serde_json::Value;

use crate::host::Host;

fn setting(host: &Host, name: &str, option: &str) -> (String, String, bool) {
    let all: Vec<Value> = serde_json::from_str(&host.ok(&["config", name, "--json"])).expect("it goes well");
    let found = all.into_iter().find(|setting| setting["name"] == option).expect("it goes well");
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    (text("value"), text("from"), found["pending"].as_bool().expect("it goes well"))
}

fn template(host: &Host, name: &str, lines: &str) {
    let dir = host.root().join("templates");
    fs::create_dir_all(&dir).expect("it goes well");
    fs::write(dir.join(format!("{name}.cnf")), format!("[mysqld]\n{lines}")).expect("it goes well");
}

#[test]
fn upper_layer_wins_and_is_named() {
    let host = Host::new();
    template(&host, "web", "max_connections = 40\nlong_query_time = 3\ninnodb_buffer_pool_size = 32M\n");
    fs::write(host.root().join("defaults.cnf"), "[mysqld]\nwait_timeout = 77\nlong_query_time = 2\n")
        .unwrap();
    host.ok(&["add", "shop", "--template", "web", "--set", "max_connections=30"]);
    let of = |option: &str| setting(&host, "shop", option);
    assert_eq!(of("max_connections"), ("30".into(), "the instance".into(), false));
    assert_eq!(of("long_query_time"), ("3".into(), "template web".into(), false));
    assert_eq!(of("wait_timeout"), ("77".into(), "defaults.cnf".into(), false));
    assert_eq!(of("sync_binlog"), ("1".into(), "built in".into(), false));
    let facts = "SELECT CONCAT_WS(' ', @@max_connections, ROUND(@@GLOBAL.long_query_time), @@GLOBAL.wait_timeout, @@sync_binlog)";
    assert_eq!(host.query("shop", facts), "30 3 77 1");
}

#[test]
fn change_acts_at_once_where_the_server_can() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    let said = host.ok(&["set", "shop", "max_connections=33", "performance_schema=ON"]);
    assert!(said.contains("max_connections=33: in force now"), "{said}");
    assert!(said.contains("performance_schema=ON: in force from its next start on"), "{said}");
    let facts = "SELECT CONCAT_WS(' ', @@max_connections, @@performance_schema)";
    assert_eq!(host.query("shop", facts), "33 OFF");
    assert_eq!(host.show("shop")["pending"], serde_json::json!(["performance_schema"]));
    host.ok(&["restart", "shop"]);
    assert_eq!(host.query("shop", facts), "33 ON");
    assert_eq!(host.show("shop")["pending"], serde_json::json!([]));
    host.ok(&["set", "shop", "--unset", "max_connections"]);
    assert_eq!(host.query("shop", "SELECT @@max_connections"), "100", "as the template has it");
}

#[test]
fn pool_that_was_chosen_stays_until_something_is_said_of_it() {
    let host = Host::new();
    for name in ["shop", "blog"] {
        host.ok(&["add", name, "--template", "oltp", "--no-start"]);
    }
    let pool = |name: &str| host.show(name)["buffer_pool_mib"].as_u64().unwrap();
    let (shop, blog) = (pool("shop"), pool("blog"));
    host.ok(&["set", "shop", "max_connections=33"]);
    assert_eq!((pool("shop"), pool("blog")), (shop, blog));
    host.ok(&["set", "shop", "innodb_buffer_pool_size=64M"]);
    assert_eq!(pool("shop"), 64);
    host.ok(&["set", "shop", "--unset", "innodb_buffer_pool_size"]);
    assert!((65..shop).contains(&pool("shop")), "the same share, of what is left beside the other");
}

#[test]
fn value_that_the_server_refuses_changes_nothing() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    let before = host.ok(&["config", "shop"]);
    for (assignments, word) in [
        (["max_connections=33", "sql_mode=BOGUS"], "BOGUS"),
        (["max_connections=33", "nonsense=1"], "nonsense"),
        // The server takes it in its option file, and not at run time.
        (["max_connections=33", "gtid_domain_id=99999999999"], "gtid_domain_id"),
        (["max_connections=33", "innodb_buffer_pool_size=900G"], "are left"),
        (["max_connections=33", "port=1"], "it is chosen when the instance is added"),
    ] {
        let words: Vec<&str> = ["set", "shop"].into_iter().chain(assignments).collect();
        let output = host.command(&words).output().unwrap();
        if output.status.success() {
            assert_eq!(word, "gtid_domain_id", "only what the server cuts to its range may go well");
            host.ok(&["set", "shop", "--unset", "gtid_domain_id", "--unset", "max_connections"]);
        } else {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains(word), "{said}");
        }
        assert_eq!(host.ok(&["config", "shop"]), before);
        assert_eq!(host.query("shop", "SELECT @@max_connections"), "100");
    }
}

#[test]
fn template_is_applied_to_all_that_are_made_from_it() {
    let host = Host::new();
    template(&host, "web", "max_connections = 40\ninnodb_buffer_pool_size = 32M\n");
    for name in ["one", "two"] {
        host.ok(&["add", name, "--template", "web"]);
    }
    host.ok(&["add", "other", "--no-start"]);
    template(&host, "web", "max_connections = 50\ninnodb_buffer_pool_size = 32M\n");
    let said = host.refused(&["apply-template", "web"]);
    assert!(said.contains("--yes"), "{said}");
    assert_eq!(host.query("one", "SELECT @@max_connections"), "40", "nobody has said yes");
    let said = host.ok(&["apply-template", "web", "--yes"]);
    assert!(said.contains("-max_connections=40\n+max_connections=50"), "{said}");
    assert!(!said.contains("other"), "{said}");
    for name in ["one", "two"] {
        assert_eq!(host.query(name, "SELECT @@max_connections"), "50");
    }
    assert!(host.ok(&["apply-template", "web"]).contains("nothing differs"));
    template(&host, "web", "max_connection = 50\n[client]\nuser = x\n");
    let said = host.refused(&["apply-template", "web", "--yes"]);
    assert!(said.contains("web.cnf: line 3: the group [client] is not for a server"), "{said}");
}

#[test]
fn one_that_could_not_be_started_again_is_not_stopped() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    let pid = host.server_pid("shop");
    for text in ["[mysqld]\nno_such_option = 1\n", "[mysqld]\nmax_connections 7 =\n"] {
        fs::write(host.root().join("defaults.cnf"), text).unwrap();
        host.refused(&["restart", "--all"]);
        assert_eq!(host.list()[0]["pid"], pid, "{text}");
    }
    fs::remove_file(host.root().join("defaults.cnf")).unwrap();
    host.ok(&["restart", "--all"]);
    assert_ne!(host.server_pid("shop"), pid);
}
