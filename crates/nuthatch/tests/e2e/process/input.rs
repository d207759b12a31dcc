//! Wrong input ends the start with one sentence that names the thing, before anybody is let in.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::deadline::eventually;
use crate::proxy::{free_addresses, program};

/// Runs `nuthatch serve` with these words until it ends by itself.
#[track_caller]
fn run(words: &[&str]) -> Output {
    let mut child = program()
        .arg("serve")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut ended = false;
    let watch = crate::deadline::Stopwatch::start();
    while watch.elapsed().as_secs() < 10 && !ended {
        ended = child.try_wait().expect("a child").is_some();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    if !ended {
        child.kill().expect("the process is there");
    }
    let output = child.wait_with_output().expect("its output");
    assert!(ended, "{words:?} was taken: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Sees that the start is refused, in one line that has all the words of `named`.
#[track_caller]
fn check_refused(words: &[&str], named: &[&str]) {
    let [mysql, admin] = free_addresses().map(|address| address.to_string());
    let mut all = words.to_vec();
    if !words.contains(&"--mysql") && !words.contains(&"--config") {
        all.extend(["--mysql", &mysql]);
    }
    if !words.contains(&"--admin") && !words.contains(&"--config") {
        all.extend(["--admin", &admin]);
    }
    let output = run(&all);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{words:?}");
    assert!(!said.contains("ready for MySQL clients"), "{words:?}: {said}");
    let line = said.lines().rfind(|line| line.starts_with("nuthatch: ") || line.starts_with("error: "));
    let line = line.unwrap_or_else(|| panic!("{words:?}: no sentence in {said}"));
    for word in named {
        assert!(line.contains(word), "{words:?}: `{word}` is not in: {line}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn unknown_flags_and_wrong_values_are_named() {
    check_refused(&["--no-such-flag"], &["--no-such-flag"]);
    check_refused(&["--workers", "0"], &["0", "--workers"]);
    check_refused(&["--workers", "many"], &["many", "--workers"]);
    check_refused(&["--mysql", "nonsense"], &["nonsense"]);
    check_refused(&["--mysql", "127.0.0.1:99999"], &["127.0.0.1:99999"]);
    check_refused(&["--admin", "here"], &["here"]);
    check_refused(&["--admin", "/tmp/admin.sock"], &["--admin", "/tmp/admin.sock"]);
    check_refused(&["--backend", "db:0"], &["--backend", "db:0"]);
    check_refused(&["--backend", ""], &["--backend"]);
    check_refused(&["--mysql-socket-mode", "888"], &["888"]);
    check_refused(&["--log-level", "a=b=c"], &["a=b=c"]);
    check_refused(&["--drain-seconds", "-1"], &["-1"]);
}

#[test]
fn wrong_users_are_named_and_their_passwords_are_not() {
    check_refused(&["--user", "nobody"], &["nobody", "NUTHATCH_PASSWORD_nobody"]);
    check_refused(&["--user", "app:@/no/such/file"], &["app", "/no/such/file"]);
    check_refused(&["--user", ":s3cret"], &["--user"]);
    let output = run(&["--user", ":s3cret"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("s3cret"));
}

#[test]
fn wrong_configuration_files_are_named_with_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("n.toml");
    let shown = path.display().to_string();
    for (text, named) in [
        ("datadirr = '/x'", "datadirr"),
        ("workers = 0", "workers"),
        ("workers = 'many'", "line 1"),
        ("mysql = 'nonsense'", "nonsense"),
        ("mysql_socket_mode = '999'", "999"),
        ("[variables]\nmysql-no_such = 1", "mysql-no_such"),
        ("[variables]\nmysql-max_connections = 'few'", "mysql-max_connections"),
        ("[[mysql_servers]]\nhostnam = 'x'", "hostnam"),
        ("[[mysql_servers]]\nhostname = 'x'\nport = 99999", "port"),
        ("[[mysql_query_rules]]\ncache_ttl = 0", "cache_ttl"),
        ("[[mysql_users]]\npassword = 's3cret'", "username"),
        ("this is no toml", "line 1"),
    ] {
        fs::write(&path, text).unwrap();
        check_refused(&["--config", &shown], &[named]);
    }
    fs::write(&path, "[[mysql_users]]\nusername = 'a'\npassword = 's3cret' x").unwrap();
    let output = run(&["--config", &shown]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&shown) && !said.contains("s3cret"), "{said}");
    check_refused(&["--config", "/no/such.toml"], &["/no/such.toml"]);
}

#[test]
fn taken_ports_are_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check_refused(&["--mysql", &address], &[&address, "in use"]);
    check_refused(&["--admin", &address], &[&address, "--admin", "in use"]);
    check_refused(&["--metrics", &address], &[&address, "--metrics", "in use"]);
}

#[test]
fn taken_sockets_are_named_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (socket, file) = (dir.path().join("s.sock"), dir.path().join("letter"));
    let _listener = UnixListener::bind(&socket).unwrap();
    fs::write(&file, "dear").unwrap();
    for path in [&socket, &file] {
        let shown = path.display().to_string();
        check_refused(&["--mysql", &shown], &[&shown]);
        assert!(path.exists());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "dear");
    check_refused(&["--mysql", "/no/such/dir/s.sock"], &["/no/such/dir/s.sock"]);
}

#[test]
fn unusable_data_directories_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.as_path(), Path::new("/proc/nuthatch"), Path::new("/dev/null/x")] {
        let shown = path.display().to_string();
        check_refused(&["--datadir", &shown], &[&shown]);
    }
}

#[test]
fn damaged_database_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = crate::proxy::Proxy::start(
        &crate::proxy::Setup::default().flags(["--datadir", &dir.path().display().to_string()]),
    );
    first.operator().ok("SAVE MYSQL VARIABLES TO DISK");
    first.signal(rustix::process::Signal::TERM);
    first.await_exit();
    let database = eventually("a database", || {
        fs::read_dir(dir.path())
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.is_file() && fs::metadata(path).unwrap().len() > 0)
    });
    fs::write(
        &database,
        "this is no database, whatever its name says, and it is long enough to be looked at",
    )
    .unwrap();
    check_refused(&["--datadir", &dir.path().display().to_string()], &[&dir.path().display().to_string()]);
}

#[test]
fn help_and_version_are_answers() {
    for words in [&["--version"][..], &["--help"], &["serve", "--help"], &["lab", "up", "--help"]] {
        let output = program().args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("nuthatch"), "{words:?}");
        assert!(output.stderr.is_empty(), "{words:?}");
    }
    assert_eq!(program().output().unwrap().status.code(), Some(2), "no command is no answer");
}
