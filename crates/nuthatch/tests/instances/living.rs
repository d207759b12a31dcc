//! Who brings a server back, when it is left alone, and how it ends.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use crate::fetched::mysql;
use crate::host::{Host, await_that};

#[test]
fn killed_server_is_brought_back_with_its_data() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    host.query(
        "shop",
        "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO d.t VALUES (7)",
    );
    let before = host.server_pid("shop");
    host.kill(before);
    host.await_another("shop", before);
    assert_eq!(host.query("shop", "SELECT id FROM d.t"), "7");
    let why = host.show("shop")["why"].as_str().unwrap().to_owned();
    assert!(why.contains("it crashed (signal: 9"), "{why}");
}

#[test]
fn server_that_crashes_too_often_is_left_alone() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    // From here on it ends as soon as it begins.
    fs::write(host.path_of("shop").join("my.cnf"), "[server]\nnonsense=1\n").unwrap();
    host.kill(host.server_pid("shop"));
    host.await_state("shop", "failed");
    let why = host.show("shop")["why"].as_str().unwrap().to_owned();
    assert!(why.contains("crashed 5 times within 10 minutes"), "{why}");
    let said = host.command(&["doctor"]).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("not started again by itself"), "{said:?}");
    // A start writes its options anew.
    host.ok(&["start", "shop"]);
    assert_eq!(host.state("shop"), "running");
}

#[test]
fn server_outlives_its_supervisor_and_gets_another() {
    let host = Host::new();
    host.ok(&["add", "shop"]);
    let server = host.server_pid("shop");
    host.kill(host.supervisor_pid("shop"));
    host.await_state("shop", "unsupervised");
    assert_eq!(host.query("shop", "SELECT 1"), "1");
    host.ok(&["start", "shop"]);
    assert_eq!((host.state("shop").as_str(), host.server_pid("shop")), ("running", server));
    host.kill(server);
    host.await_another("shop", server);
    // Both at once, as in a power cut.
    host.kill(host.supervisor_pid("shop"));
    host.kill(host.server_pid("shop"));
    host.await_state("shop", "vanished");
    host.ok(&["start", "shop"]);
}

#[test]
fn one_that_cannot_start_says_why() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    let data = host.path_of("shop").join("data");
    fs::remove_dir_all(data.join("mysql")).unwrap();
    fs::write(data.join("ibdata1"), "no tablespace").unwrap();
    let said = host.refused(&["start", "shop"]);
    assert!(said.contains("it ended before it answered") && said.contains("ibdata1"), "{said}");
    assert_eq!(host.state("shop"), "failed");
    fs::remove_dir_all(&data).unwrap();
    assert!(host.refused(&["start", "shop"]).contains("its data directory"));
}

#[test]
fn start_on_a_taken_port_is_refused() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    let shown = host.show("shop");
    let address = (shown["host"].as_str().unwrap(), u16::try_from(shown["port"].as_u64().unwrap()).unwrap());
    let listener = std::net::TcpListener::bind(address).unwrap();
    assert!(host.refused(&["start", "shop"]).contains("somebody else listens on port"));
    drop(listener);
    host.ok(&["start", "shop"]);
}

#[test]
fn boot_starts_what_is_enabled_and_ends_it_with_itself() {
    let host = Host::new();
    for (name, flag) in [("one", "--no-start"), ("two", "--no-start"), ("off", "--disabled")] {
        host.ok(&["add", name, flag]);
    }
    host.ok(&["stop", "off"]);
    host.ok(&["disable", "two"]);
    host.ok(&["enable", "two"]);
    let mut boot = host.command(&["boot", "--foreground"]).spawn().unwrap();
    for name in ["one", "two"] {
        host.await_state(name, "running");
    }
    assert_eq!(host.state("off"), "stopped");
    let pid = rustix::process::Pid::from_raw(boot.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(boot.wait().unwrap().success());
    assert_eq!((host.state("one"), host.state("two")), ("stopped".into(), "stopped".into()));
}

#[test]
fn servers_are_processes_of_the_hosts_user() {
    let host = Host::new();
    let own = rustix::process::geteuid();
    let mut program = std::path::PathBuf::from(env!("CARGO_BIN_EXE_nuthatch"));
    if own.is_root() {
        // Who is not root need not get to where this was built.
        fs::set_permissions(host.root(), Permissions::from_mode(0o711)).unwrap();
        fs::copy(&program, host.root().join("nuthatch")).unwrap();
        program = host.root().join("nuthatch");
        host.ok(&["host", "--user", "nobody"]);
    }
    let mut add = Command::new(&program);
    add.args(["instance", "--root"]).arg(host.root()).args(["add", "shop"]);
    assert!(add.status().unwrap().success());
    let wanted = if own.is_root() { 65534 } else { own.as_raw() };
    for pid in [host.server_pid("shop"), host.supervisor_pid("shop")] {
        assert_eq!(fs::metadata(format!("/proc/{pid}")).unwrap().uid(), wanted);
    }
    // What the servers' user reads, it cannot change: root does what these say.
    let (owner, mode) = if own.is_root() { (0, 0o640) } else { (wanted, 0o600) };
    for file in ["root.password", "client.cnf", "instance.toml", "my.cnf"] {
        let found = fs::metadata(host.path_of("shop").join(file)).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o777), (owner, mode), "{file}");
    }
    let around = fs::metadata(host.path_of("shop")).unwrap();
    assert_eq!((around.uid(), around.mode() & 0o022), (owner, 0));
    for part in ["data", "run", "log", "tmp"] {
        assert_eq!(fs::metadata(host.path_of("shop").join(part)).unwrap().uid(), wanted, "{part}");
    }
    host.kill(host.server_pid("shop"));
    host.await_state("shop", "restarting");
    host.await_state("shop", "running");
}

#[test]
fn unit_of_systemd_runs_this_program() {
    let host = Host::new();
    host.ok(&["add", "shop", "--no-start"]);
    let unit = host.ok(&["unit"]);
    assert!(unit.contains(&format!("ExecStart={} instance", env!("CARGO_BIN_EXE_nuthatch"))), "{unit}");
    assert!(unit.contains("User=root") && unit.contains("SendSIGKILL=no"), "{unit}");
    let file = host.root().join("nuthatch-instance@shop.service");
    fs::write(&file, unit).unwrap();
    let said = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
}

#[test]
fn killed_server_comes_back_with_the_pages_that_it_had() {
    let host = Host::new();
    let settled = host.root().join("host.toml");
    let text = fs::read_to_string(&settled).unwrap().replace("pool_dump_s = 300", "pool_dump_s = 1");
    assert!(text.contains("pool_dump_s = 1\n"));
    fs::write(&settled, text).unwrap();
    for server in ["mariadb".to_owned(), mysql()] {
        let name = if server == "mariadb" { "maria" } else { "my" };
        host.ok(&["add", name, "--server", &server]);
        host.query(
            name,
            "CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY); INSERT INTO d.t VALUES (1)",
        );
        let dump = host.path_of(name).join("data/ib_buffer_pool");
        await_that(|| dump.exists());
        let before = host.server_pid(name);
        host.kill(before);
        host.await_another(name, before);
        let status = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_load_status'";
        await_that(|| host.query(name, status).contains("load completed"));
    }
}
