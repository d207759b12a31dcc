//! `nuthatch lab` as a person uses it: servers by name, partitions through relays in a process of their own.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The program's words; `Err` with what it says on standard error.
fn lab(words: &[&str], dir: &Path) -> Result<String, String> {
    let (verb, rest) = words.split_first().expect("a verb");
    let output = Command::new(env!("CARGO_BIN_EXE_nuthatch"))
        .args(["lab", verb])
        .arg(dir)
        .args(rest)
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// The port where clients of the primary connect.
fn port(dir: &Path) -> u16 {
    let status = lab(&["status", "--json"], dir).expect("a status");
    let port = status.lines().find_map(|line| line.trim().strip_prefix("\"port\": ")).expect("a port");
    port.trim_end_matches(',').parse().expect("a number")
}

/// Whether the server's greeting comes.
fn greets(port: u16, within: Duration) -> bool {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the relay listens");
    stream.set_read_timeout(Some(within)).expect("a socket");
    stream.read(&mut [0; 5]).is_ok_and(|read| read > 0)
}

fn processes_of(dir: &Path) -> usize {
    let name = dir.to_str().expect("a name");
    let processes = std::fs::read_dir("/proc").expect("it is Linux").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(name)).count()
}

#[test]
fn servers_of_a_lab_are_parted_killed_and_late_by_name_and_leave_no_process() {
    const LONG: Duration = Duration::from_secs(30);
    let place = tempfile::tempdir().unwrap();
    let dir = &place.path().join("lab");
    lab(&["up", "--replicas=1", "--buffer-pool=16", "--relays"], dir).unwrap();
    assert_eq!(processes_of(dir), 3, "two servers and a process for their relays");
    let port = port(dir);
    assert!(greets(port, LONG));

    lab(&["partition", "primary", "--from=outside", "--in"], dir).unwrap();
    assert!(!greets(port, Duration::from_millis(300)));
    lab(&["heal"], dir).unwrap();
    assert!(greets(port, LONG));
    lab(&["cut", "primary", "--after=2", "--out"], dir).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut heard = Vec::new();
    assert_eq!(stream.read_to_end(&mut heard).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(heard.len(), 2);

    lab(&["lag", "replica-1", "3"], dir).unwrap();
    assert!(lab(&["lag", "primary", "3"], dir).unwrap_err().contains("primary follows nobody"));
    lab(&["pause", "primary"], dir).unwrap();
    assert!(!greets(port, Duration::from_millis(300)));
    lab(&["resume", "primary"], dir).unwrap();
    for verb in ["kill", "stop"] {
        lab(&[verb, "primary"], dir).unwrap();
        assert_eq!(processes_of(dir), 2);
        assert_eq!(TcpStream::connect(("127.0.0.1", port)).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        lab(&["start", "primary"], dir).unwrap();
        assert!(greets(port, LONG));
    }
    lab(&["lag", "replica-1", "0"], dir).unwrap();
    lab(&["promote", "replica-1"], dir).unwrap();
    lab(&["follow", "primary", "replica-1"], dir).unwrap();
    let status = lab(&["status"], dir).unwrap();
    assert!(status.lines().nth(1).is_some_and(|primary| primary.contains("read-only")), "{status}");
    assert!(lab(&["kill", "replica-7"], dir).unwrap_err().contains("no such server"));
    assert!(lab(&["kill", "sun"], dir).unwrap_err().contains("is no server of a lab"));
    assert!(lab(&["up", "--galera=3"], dir).unwrap_err().contains("it was made with 1 replicas"));

    lab(&["down"], dir).unwrap();
    assert_eq!(processes_of(dir), 0);
}
