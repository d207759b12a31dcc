//! What is chosen for an instance, what is refused before anything is touched, and what a crash leaves.

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;

use crate::host::Host;

#[test]
fn instance_answers_where_it_says() {
    let host = Host::new();
    let said = host.ok(&["add", "shop"]);
    let shown = host.show("shop");
    let (address, port) = (shown["host"].as_str().unwrap(), shown["port"].as_u64().unwrap());
    assert!(said.contains(&format!("shop is ready on {address}:{port}")), "{said}");
    assert!(port >= 3307);
    let facts =
        "SELECT CONCAT_WS(' ', @@port, @@server_id, @@innodb_buffer_pool_size DIV 1048576, @@report_host)";
    let wanted = format!("{port} {} {} {address}", shown["server_id"], shown["buffer_pool_mib"]);
    assert_eq!(host.query("shop", facts), wanted);
    let accounts = host.query(
        "shop",
        "SELECT COUNT(*) FROM mysql.global_priv WHERE JSON_VALUE(Priv, '$.authentication_string') = '' AND JSON_VALUE(Priv, '$.account_locked') IS NULL",
    );
    assert_eq!(accounts, "0", "nobody logs in without a password");
}

#[test]
fn those_that_are_added_at_once_have_different_ports() {
    let host = Host::new();
    let names: Vec<String> = (0..6).map(|number| format!("a{number}")).collect();
    let children: Vec<_> =
        names.iter().map(|name| host.command(&["add", name, "--no-start"]).spawn().unwrap()).collect();
    children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    let all = host.list();
    let of = |field: &str| all.iter().map(|one| one[field].to_string()).collect::<HashSet<_>>().len();
    assert_eq!((all.len(), of("port"), of("server_id")), (6, 6, 6));
    // What is stopped has its port nevertheless.
    let taken = all[0]["port"].to_string();
    let said = host.refused(&["add", "late", "--port", &taken]);
    assert!(said.contains(&format!("port {taken}: it is that of a")), "{said}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_touched() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start", "--set", "innodb_buffer_pool_size=512M"]);
    let address = host.show("shop")["host"].as_str().unwrap().to_owned();
    let listener = TcpListener::bind((address, 0)).unwrap();
    fs::create_dir(host.path_of("foreign")).unwrap();
    fs::write(host.path_of("foreign").join("ibdata1"), "somebody's").unwrap();
    let busy = listener.local_addr().unwrap().port().to_string();
    let refusals: [(&[&str], &str); 11] = [
        (&["add", "shop"], "it is there already"),
        (&["add", "Shop!"], "a-z 0-9 _ -"),
        (&["add", "../etc"], "a-z 0-9 _ -"),
        (&["add", "b", "--port", &busy], "somebody listens there"),
        (&["add", "foreign"], "nothing there was touched"),
        (&["add", "b", "--template", "huge"], "small, oltp, reporting are built in"),
        (&["add", "b", "--server", "/nonexistent"], "/nonexistent"),
        (&["add", "b", "--set", "innodb_buffer_pool_size=900G"], "(shop 512 + 192)"),
        (&["add", "b", "--set", "no_such_option=1"], "no_such_option"),
        (&["add", "b", "--set", "datadir=/var/lib/mysql"], "it is in the instance's directory"),
        (&["add", "b", "--set", "sql_mode"], "NAME=VALUE is wanted"),
    ];
    for (words, word) in refusals {
        let said = host.refused(words);
        assert!(said.contains(word), "{words:?}: {said}");
        let is_short = said.trim().lines().count() == 1 || said.starts_with("error: invalid value");
        assert!(is_short, "{said}");
    }
    drop(listener);
    let left: HashSet<String> = fs::read_dir(host.root().join("instances"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, HashSet::from(["shop".to_owned(), "foreign".to_owned()]), "nothing is left half made");
    fs::remove_dir_all(host.path_of("foreign")).unwrap();
}

#[test]
fn share_of_the_memory_is_of_what_is_left() {
    let host = Host::new();
    host.ok(&["add", "first", "--template", "oltp", "--no-start"]);
    host.ok(&["add", "second", "--template", "oltp", "--no-start"]);
    let pool = |name: &str| host.show(name)["buffer_pool_mib"].as_u64().unwrap();
    assert!(pool("first") > pool("second"), "{} {}", pool("first"), pool("second"));
    host.ok(&["host", "--memory-pct", "1"]);
    let said = host.refused(&["add", "third", "--template", "oltp"]);
    assert!(said.contains("0 are left") && said.contains("first"), "{said}");
}

#[test]
fn half_made_one_is_no_instance_and_is_found() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    let left = host.root().join("instances/.making-shop2");
    fs::create_dir(&left).unwrap();
    fs::copy(host.path_of("shop").join("instance.toml"), left.join("instance.toml")).unwrap();
    assert_eq!(host.list().len(), 1);
    let said = host.command(&["doctor"]).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("left half made"), "{said:?}");
    host.ok(&["doctor", "--mend"]);
    assert!(!left.exists());
    assert!(host.ok(&["doctor"]).is_empty());
}

#[test]
fn killed_while_adding_leaves_nothing_that_looks_like_one() {
    let host = Host::new();
    // The empty data directory is there for all that come.
    host.ok(&["add", "first", "--no-start"]);
    for round in 0..8 {
        let mut child = host.command(&["add", "shop", "--no-start"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(round * 25));
        child.kill().unwrap();
        child.wait().unwrap();
        let is_there = host.list().iter().any(|one| one["name"] == "shop");
        if is_there {
            // It is whole.
            host.ok(&["start", "shop"]);
            assert_eq!(host.query("shop", "SELECT 1"), "1");
            host.ok(&["stop", "shop"]);
            host.ok(&["remove", "shop", "--yes", "shop", "--destroy-data"]);
        }
        host.ok(&["doctor", "--mend"]);
    }
    host.ok(&["add", "shop"]);
}
