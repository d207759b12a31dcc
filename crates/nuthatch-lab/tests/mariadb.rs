//! Real MariaDB servers, as Debian's packages install them, through the lab's whole life.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nuthatch_lab::{Lab, LabError, Liveness, Options, Password, Role, ScratchLab, Server, Step};

const WAIT: Duration = Duration::from_secs(20);

fn alone() -> Options {
    Options { replicas: 0, ..Options::default() }
}

fn pids(lab: &Lab) -> Vec<i32> {
    lab.servers().map(|server| server.pid().expect("it runs")).collect()
}

fn process_exists(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn first(server: Server<'_>, sql: &str) -> String {
    server.query(sql).expect("it answers").first().unwrap_or_default().to_owned()
}

#[test]
fn write_on_the_primary_is_seen_on_the_replica() {
    let lab = ScratchLab::up(&Options::default()).unwrap();
    lab.primary().query("CREATE TABLE test.t (a INT PRIMARY KEY); INSERT INTO test.t VALUES (7)").unwrap();
    lab.await_replicas(WAIT).unwrap();
    assert_eq!(first(lab.server(Role::Replica(1)).unwrap(), "SELECT a FROM test.t"), "7");

    let status = lab.status().unwrap();
    assert!(status.is_healthy(), "{status}");
    let [primary, replica] = status.servers.as_slice() else { panic!("{status}") };
    assert_eq!(primary.position, replica.position);
    assert!(primary.position.starts_with("0-1-"), "{status}");
    assert_eq!(replica.replication.as_ref().unwrap().lag_s, Some(0));
    assert!(replica.version.contains("MariaDB"));
}

#[test]
fn killed_replica_is_seen_and_catches_up_when_started() {
    let mut lab = ScratchLab::up(&Options::default()).unwrap();
    let replica = Role::Replica(1);
    let pid = lab.server(replica).unwrap().pid().unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    while process_exists(pid) && lab.server(replica).unwrap().pid().is_some() {
        std::thread::yield_now();
    }

    let status = lab.status().unwrap();
    assert_eq!([status.servers[0].state, status.servers[1].state], [Liveness::Running, Liveness::Stopped]);
    assert_eq!(status.servers[1].pid, None);
    assert!(!status.is_healthy());

    lab.primary().query("CREATE TABLE test.missed (a INT)").unwrap();
    lab.start(replica).unwrap();
    lab.await_replicas(WAIT).unwrap();
    assert!(lab.status().unwrap().is_healthy());
    assert_eq!(first(lab.server(replica).unwrap(), "SHOW TABLES FROM test"), "missed");
}

#[test]
fn frozen_server_is_mute_until_it_is_thawed() {
    let lab = ScratchLab::up(&alone()).unwrap();
    lab.freeze(Role::Primary).unwrap();
    assert_eq!(lab.status().unwrap().servers[0].state, Liveness::Mute);
    lab.thaw(Role::Primary).unwrap();
    assert_eq!(lab.status().unwrap().servers[0].state, Liveness::Running);
}

#[test]
fn frozen_server_is_brought_down_too() {
    let mut lab = ScratchLab::up(&alone()).unwrap();
    lab.freeze(Role::Primary).unwrap();
    lab.down().unwrap();
    assert!(lab.status().unwrap().is_stopped());
}

#[test]
fn down_leaves_no_process_and_up_finds_the_data_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut lab = Lab::up(dir.path().join("lab"), &Options::default()).unwrap();
    let (pids, password) = (pids(&lab), lab.password().unwrap());
    lab.primary().query("CREATE TABLE test.kept (a INT)").unwrap();
    lab.await_replicas(WAIT).unwrap();
    lab.down().unwrap();
    assert!(!pids.iter().any(|pid| process_exists(*pid)));
    assert!(lab.status().unwrap().is_stopped());
    lab.down().unwrap();

    let lab = Lab::up(dir.path().join("lab"), &Options::default()).unwrap();
    assert!(lab.password().unwrap() == password);
    lab.primary().query("INSERT INTO test.kept VALUES (1)").unwrap();
    lab.await_replicas(WAIT).unwrap();
    assert_eq!(first(lab.server(Role::Replica(1)).unwrap(), "SELECT a FROM test.kept"), "1");

    let lab_dir = lab.dir().to_owned();
    lab.remove().unwrap();
    assert!(!lab_dir.exists());
    assert!(matches!(Lab::open(&lab_dir), Err(LabError::NoLab { .. })));
}

#[test]
fn up_on_a_running_lab_says_so_and_changes_nothing() {
    let lab = ScratchLab::up(&Options::default()).unwrap();
    let before = pids(&lab);
    let mut steps = Vec::new();
    let again =
        Lab::up_with(lab.dir(), &Options::default(), &mut |step: &Step| steps.push(step.clone())).unwrap();
    assert_eq!(pids(&again), before);
    assert_eq!(steps, [Step::AlreadyRunning(Role::Primary), Step::AlreadyRunning(Role::Replica(1))]);
    let opened = Lab::open(lab.dir()).unwrap();
    assert_eq!(pids(&opened), before);
}

#[test]
fn up_starts_only_the_server_that_is_down() {
    let mut lab = ScratchLab::up(&Options::default()).unwrap();
    let before = pids(&lab);
    lab.kill(Role::Primary).unwrap();
    let again = Lab::up(lab.dir(), &Options::default()).unwrap();
    assert_ne!(pids(&again)[0], before[0]);
    assert_eq!(pids(&again)[1], before[1]);
    again.primary().query("CREATE TABLE test.after (a INT)").unwrap();
    again.await_replicas(WAIT).unwrap();
}

#[test]
fn account_logs_in_over_tcp_with_its_password_only() {
    let password = Password::new(r#"it's "a" \ pass"#).unwrap();
    let options = Options { user: "app".into(), password: Some(password.clone()), ..alone() };
    let lab = ScratchLab::up(&options).unwrap();
    let log_in = |user: &str, password: &str| {
        let output = Command::new("mariadb")
            .args(["--no-defaults", "-h", "127.0.0.1", "--batch", "--skip-column-names", "--skip-ssl"])
            .arg(format!("--port={}", lab.primary().port()))
            .arg(format!("--user={user}"))
            .arg(format!("--password={password}"))
            .args(["-e", "SELECT COUNT(*) FROM mysql.user", "test"])
            .output()
            .unwrap();
        output.status.success()
    };
    assert!(log_in("app", password.reveal()));
    for (user, password) in [("app", "wrong"), ("app", ""), ("root", ""), ("nobody", ""), ("", "")] {
        assert!(!log_in(user, password), "{user} with {password:?}");
    }
}

#[test]
fn secrets_are_in_files_of_their_owner_only() {
    let lab = ScratchLab::up(&alone()).unwrap();
    let secret = lab.password().unwrap().reveal().to_owned();
    assert_eq!(fs::read_to_string(lab.password_file()).unwrap(), secret);
    assert_eq!(fs::metadata(lab.dir()).unwrap().permissions().mode() & 0o777, 0o700);
    for file in
        ["lab.json", "password", "client.cnf", "primary/my.cnf", "primary/init.sql", "primary/error.log"]
    {
        let mode = fs::metadata(lab.dir().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file} has mode {mode:o}");
    }
    let root_login = fs::read_to_string(lab.dir().join("client.cnf")).unwrap();
    let root_secret = root_login.lines().find_map(|line| line.strip_prefix("password=")).unwrap();
    let state = fs::read_to_string(lab.dir().join("lab.json")).unwrap();
    assert!(!state.contains(&secret) && !state.contains(root_secret));
}

#[test]
fn server_that_cannot_start_shows_the_end_of_its_log() {
    let options = Options { extra: vec!["no_such_option=1".into()], ..alone() };
    let error = ScratchLab::up(&options).unwrap_err();
    assert!(matches!(error, LabError::Exited { role: Role::Primary, .. }));
    assert!(error.to_string().contains("no_such_option"), "{error}");
}

#[test]
fn failed_up_stops_what_it_started() {
    let dir = tempfile::tempdir().unwrap();
    // Replicas take this option too, but a replica's server id must differ from its primary's.
    let options = Options {
        extra: vec!["server_id=1".into()],
        ready_within: Duration::from_secs(3),
        ..Options::default()
    };
    let error = Lab::up(dir.path().join("lab"), &options).unwrap_err();
    assert!(matches!(error, LabError::Replication { role: Role::Replica(1), .. }), "{error}");
    let lab = Lab::open(dir.path().join("lab")).unwrap();
    assert!(lab.status().unwrap().is_stopped());
}

#[test]
fn lab_of_another_shape_is_not_touched() {
    let lab = ScratchLab::up(&alone()).unwrap();
    let error = Lab::up(lab.dir(), &Options::default()).unwrap_err();
    assert!(matches!(error, LabError::ShapeDiffers { .. }), "{error}");
    assert_eq!(lab.status().unwrap().servers[0].state, Liveness::Running);
}

#[test]
fn port_that_was_taken_meanwhile_is_replaced() {
    let mut lab = ScratchLab::up(&Options::default()).unwrap();
    let port = lab.primary().port();
    lab.down().unwrap();
    let thief = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    let again = Lab::up(lab.dir(), &Options::default()).unwrap();
    assert_ne!(again.primary().port(), port);
    again.primary().query("CREATE TABLE test.moved (a INT)").unwrap();
    again.await_replicas(WAIT).unwrap();
    drop(thief);
}

#[test]
fn state_with_a_reused_pid_is_not_taken_for_a_running_server() {
    let mut lab = ScratchLab::up(&alone()).unwrap();
    lab.down().unwrap();
    let path = lab.dir().join("lab.json");
    let mut state: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    state["servers"][0]["process"] =
        serde_json::json!({ "pid": std::process::id(), "start_ticks": 1, "boot": boot.trim() });
    fs::write(&path, state.to_string()).unwrap();
    assert!(lab.status().unwrap().is_stopped());
    lab.down().unwrap();
    let again = Lab::up(lab.dir(), &alone()).unwrap();
    assert!(again.status().unwrap().is_healthy());
}

#[test]
fn dropped_guard_leaves_neither_process_nor_file() {
    let lab = ScratchLab::up(&Options::default()).unwrap();
    let (dir, pids) = (lab.dir().to_owned(), pids(&lab));
    drop(lab);
    assert!(!dir.exists());
    assert!(!pids.iter().any(|pid| process_exists(*pid)));
}

#[test]
fn lab_of_a_test_that_was_killed_is_swept_away() {
    let living = ScratchLab::up(&alone()).unwrap();
    // Process 1 runs, but did not start one tick after the boot: the name of a maker that is gone.
    let abandoned = living.dir().with_file_name(format!("1-1-{}", std::process::id()));
    let lab = Lab::up(&abandoned, &alone()).unwrap();
    let pid = lab.primary().pid().unwrap();
    ScratchLab::sweep();
    assert!(!abandoned.exists());
    assert!(!process_exists(pid));
    assert!(living.status().unwrap().is_healthy());
}

#[test]
fn servers_query_cache_is_off_unless_asked_for() {
    let lab = ScratchLab::up(&alone()).unwrap();
    assert_eq!(first(lab.primary(), "SELECT CONCAT(@@query_cache_type, @@query_cache_size)"), "OFF0");
    let with_cache = Options { query_cache: nuthatch_lab::QueryCache::OnMib(16), ..alone() };
    let lab = ScratchLab::up(&with_cache).unwrap();
    assert_eq!(first(lab.primary(), "SELECT CONCAT(@@query_cache_type, @@query_cache_size)"), "ON16777216");
}

#[test]
fn lab_in_a_deep_directory_works() {
    let dir = tempfile::tempdir().unwrap();
    let lab = Lab::up(dir.path().join("d".repeat(120)), &alone()).unwrap();
    let socket = lab.primary().socket().to_owned();
    assert!(lab.status().unwrap().is_healthy());
    lab.remove().unwrap();
    assert!(!socket.parent().unwrap().exists());
}
