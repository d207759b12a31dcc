//! A host as one text.

use std::fs;

use crate::host::Host;

/// A file of the host's directory with that text.
fn file(host: &Host, text: &str) -> String {
    let path = host.root().join("wanted.toml");
    // The host has an address and a user of its own.
    let settled: String = fs::read_to_string(host.root().join("host.toml")).expect("it goes well");
    let settled: Vec<&str> =
        settled.lines().filter(|line| line.starts_with("address") || line.starts_with("user")).collect();
    fs::write(&path, text.replace("[host]", &format!("[host]\n{}", settled.join("\n"))))
        .expect("it goes well");
    path.display().to_string()
}

const TEXT: &str = "[host]\nmemory_pct = 70\n\n\
    [templates]\ncrm = \"\"\"\n[mysqld]\nmax_connections = 77\n\"\"\"\n\n\
    [instances.shop]\ntemplate = \"crm\"\nset = { long_query_time = 2, slow_query_log = false }\n\n\
    [instances.blog]\nrunning = false\nenabled = false\n";

#[test]
fn host_becomes_what_its_text_says_and_stays_so() {
    let host = Host::new();
    let path = file(&host, TEXT);
    let said = host.refused(&["converge", &path, "--plan"]);
    assert!(said.contains("5 things have to be done"), "{said}");
    assert_eq!(host.list().len(), 0, "a plan touches nothing");
    assert!(host.refused(&["converge", &path]).contains("--yes"));
    host.ok(&["converge", &path, "--yes"]);
    assert_eq!(
        host.query("shop", "SELECT CONCAT_WS(' ', @@max_connections, @@long_query_time, @@slow_query_log)"),
        "77 2.000000 OFF"
    );
    assert_eq!(host.state("blog"), "stopped");
    assert_eq!(host.show("blog")["enabled"], false);
    assert!(host.ok(&["converge", &path]).contains("nothing has to be done"));
    // It says of itself what it was made from.
    let described = host.root().join("described.toml");
    fs::write(&described, host.ok(&["describe"])).unwrap();
    assert!(
        host.ok(&["converge", &described.display().to_string(), "--plan"]).contains("nothing has to be done")
    );
}

#[test]
fn change_of_the_text_is_what_is_done() {
    let host = Host::new();
    host.ok(&["converge", &file(&host, TEXT), "--yes"]);
    let pid = host.server_pid("shop");
    let changed = TEXT
        .replace("= 77", "= 78\nback_log = 99")
        .replace("long_query_time = 2, ", "")
        .replace("running = false\n", "");
    let said = host.ok(&["converge", &file(&host, &changed), "--yes"]);
    for wanted in [
        "max_connections=77 -> max_connections=78",
        "long_query_time=2 -> long_query_time=1",
        "back_log waits for its next start",
        "start blog",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(
        host.query("shop", "SELECT CONCAT_WS(' ', @@max_connections, @@long_query_time)"),
        "78 1.000000"
    );
    assert_eq!(host.server_pid("shop"), pid, "nothing was started anew");
    assert_eq!(host.state("blog"), "running");
    // What waits for a start is no news, and what is not in the text is left alone.
    let without = changed.replace("[instances.blog]\nenabled = false\n", "");
    let said = host.ok(&["converge", &file(&host, &without)]);
    assert!(said.contains("blog is not in") && said.contains("nothing has to be done"), "{said}");
    assert_eq!(host.state("blog"), "running");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_touched() {
    let host = Host::new();
    host.ok(&["converge", &file(&host, TEXT), "--yes"]);
    let port = host.show("shop")["port"].as_u64().unwrap();
    let other = format!("[instances.shop]\nport = {}", port + 1);
    let refusals: [(&str, &str, &str); 6] = [
        ("[instances.shop]", &other, "an instance keeps its port"),
        ("template = \"crm\"", "template = \"crn\"", "find the template \"crn\""),
        ("= 77", "= 77\nno_such_option = 1", "no_such_option"),
        ("= 77", "= 77\ninnodb_buffer_pool_size = 900G", "are left"),
        ("memory_pct", "memory_pc", "memory_pc"),
        ("slow_query_log = false", "datadir = \"/x\"", "it is in the instance's directory"),
    ];
    let before = host.ok(&["describe"]);
    for (there, instead, word) in refusals {
        let said = host.refused(&["converge", &file(&host, &TEXT.replace(there, instead)), "--yes"]);
        assert!(said.contains(word), "{instead}: {said}");
        assert_eq!(host.ok(&["describe"]), before, "{instead}");
    }
    // Two that are new and together too large are refused both.
    let two = "\n[instances.a]\nset = { innodb_buffer_pool_size = \"40G\" }\n[instances.b]\nset = { innodb_buffer_pool_size = \"40G\" }\n";
    let said = host.refused(&["converge", &file(&host, &format!("{TEXT}{two}")), "--yes"]);
    assert!(said.contains("are left"), "{said}");
    assert_eq!(host.list().len(), 2);
}

#[test]
fn what_the_text_does_not_name_stays() {
    let host = Host::new();
    host.ok(&["converge", &file(&host, TEXT), "--yes"]);
    fs::write(host.root().join("defaults.cnf"), "[mysqld]\nback_log = 70\n").unwrap();
    host.ok(&["restart", "shop"]);
    let before = host.ok(&["describe"]);
    let path = host.root().join("empty.toml");
    // Templates that instances use are there, whether the text names them or not; who names a port has it.
    let port = host.show("shop")["port"].as_u64().unwrap() + 2;
    let two = format!(
        "[instances.a]\nrunning = false\n[instances.b]\nport = {port}\nrunning = false\n[instances.shop]\ntemplate = \"crm\"\nset = {{ long_query_time = 2, slow_query_log = false }}\n"
    );
    fs::write(&path, "").unwrap();
    assert!(host.ok(&["converge", path.to_str().unwrap()]).contains("nothing has to be done"));
    assert_eq!(host.ok(&["describe"]), before);
    fs::write(&path, two).unwrap();
    host.ok(&["converge", path.to_str().unwrap(), "--yes"]);
    assert_eq!(host.show("b")["port"].as_u64().unwrap(), port);
}
