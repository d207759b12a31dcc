//! Where clients connect: several addresses, Unix sockets and their mode.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use nuthatch_wire::Command;
use rustix::process::Signal;

use crate::client::{Address, Client};
use crate::proxy::{Setup, free_addresses};
use crate::stage::Stage;

fn socket_in(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("mysql.sock")
}

#[test]
fn unix_socket_takes_clients_and_has_its_mode() {
    for (flags, mode) in [(&[][..], 0o777), (&["--mysql-socket-mode", "0660"], 0o660)] {
        let dir = tempfile::tempdir().unwrap();
        let socket = socket_in(&dir);
        let mut words = vec!["--mysql", socket.to_str().unwrap()];
        words.extend(flags);
        let mut stage = Stage::with(Setup::default().flags(words));
        assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, mode);
        let mut client = Client::connect(&Address::Unix(socket.clone()), &stage.login()).unwrap();
        assert_eq!(client.value("SELECT v FROM t WHERE id = 1"), "one");
        assert_eq!(stage.client().value("SELECT 1"), "1", "TCP beside it");
        let hosts = "SELECT cli_host FROM stats_mysql_processlist ORDER BY SessionID LIMIT 1";
        assert_eq!(stage.proxy.operator().value(hosts), "localhost");
        drop(client);
        stage.proxy.signal(Signal::TERM);
        stage.proxy.await_exit();
        assert!(!socket.exists(), "the file goes with the listener");
    }
}

#[test]
fn socket_file_of_a_dead_process_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let socket = socket_in(&dir);
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let stage = Stage::with(Setup::default().flags(["--mysql", socket.to_str().unwrap()]));
    let mut client = Client::connect(&Address::Unix(socket), &stage.login()).unwrap();
    assert_eq!(client.value("SELECT 1"), "1");
}

#[test]
fn several_addresses_serve_at_once() {
    let [second] = free_addresses();
    let stage = Stage::with(Setup::default().flags(["--mysql", &second.to_string()]));
    let mut a = stage.client();
    let mut b = Client::connect(&Address::Tcp(second), &stage.login()).unwrap();
    assert_eq!((a.value("SELECT 1"), b.value("SELECT 2")), ("1".into(), "2".into()));
    let ports = stage.proxy.operator().value("SELECT COUNT(*) FROM stats_mysql_processlist");
    assert_eq!(ports, "2");
}

#[test]
fn start_with_flags_only_needs_no_file() {
    let lab = crate::servers::shared();
    let login = crate::servers::account(lab);
    let password = lab.password_file();
    let [mysql, admin] = free_addresses();
    let mut child = crate::proxy::program()
        .args(["serve", "--mysql", &mysql.to_string(), "--admin", &admin.to_string()])
        .args(["--backend", &lab.primary().address().to_string()])
        .args(["--user", &format!("{}:@{}", login.user, password.display())])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut client = crate::deadline::eventually("it lets clients in", || {
        Client::connect(&Address::Tcp(mysql), &login).ok()
    });
    let value = client.query("SELECT @@server_id").map(|answer| answer.value());
    let pong = client.command(Command::Ping as u8, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(value.unwrap(), "1");
    pong.unwrap();
}
