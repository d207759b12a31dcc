//! What the tests stand on: labs of either kind, statements with any account, waiting for a state.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nuthatch_lab::{Installation, Lab, Login, Options, Role, ScratchLab, Server};

/// For what a server that is well does soon; the machine may be busy with other tests.
pub(crate) const WAIT: Duration = Duration::from_secs(90);

/// Small servers of that kind: a primary and so many replicas.
pub(crate) fn options(installation: Installation, replicas: u16) -> Options {
    Options {
        installation,
        replicas,
        buffer_pool_mib: 16,
        connections_max: 100,
        ready_within: 2 * WAIT,
        ..Options::default()
    }
}

pub(crate) fn up(options: &Options) -> ScratchLab {
    ScratchLab::up(options).expect("the lab comes up")
}

pub(crate) fn first(server: Server<'_>, sql: &str) -> String {
    server.query(sql).expect("it answers").first().unwrap_or_default().to_owned()
}

pub(crate) fn replica(lab: &Lab, number: u16) -> Server<'_> {
    lab.server(Role::Replica(number)).expect("it is in the lab")
}

/// Command lines of processes that name this directory: servers, relays, transfers.
pub(crate) fn processes_of(dir: &Path) -> Vec<String> {
    let dir = dir.to_str().expect("a name");
    let processes = std::fs::read_dir("/proc").expect("it is Linux").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(dir)).collect()
}

/// Looks until it is so.
#[expect(clippy::disallowed_methods, reason = "servers run on the machine's clock")]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {} s: {what}", WAIT.as_secs());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What a client with that login is told over the server's socket; `Err` with the server's words.
pub(crate) fn ask(server: Server<'_>, login: &Login, sql: &str) -> Result<String, String> {
    let output = Command::new("mariadb")
        .args(["--no-defaults", "--batch", "--skip-column-names", "--skip-ssl", "--connect-timeout=10"])
        .args([format!("--socket={}", server.socket().display()), format!("--user={}", login.user)])
        .arg(format!("--password={}", login.password.reveal()))
        .args(["-e", sql])
        .output()
        .expect("a client");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
