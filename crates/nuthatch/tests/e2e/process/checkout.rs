//! `make run` in a checkout: one at a time, and who comes second touches nothing.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::deadline::{await_agreement, await_that};
use crate::proxy::free_addresses;

/// A copy of the scripts, which work on the directory above them.
struct Checkout {
    dir: TempDir,
    mysql: String,
    admin: String,
}

impl Checkout {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
        fs::create_dir(dir.path().join("tools")).expect("it is made");
        for file in fs::read_dir(from).expect("the scripts") {
            let file = file.expect("a script");
            if file.file_type().expect("a kind").is_dir() {
                continue;
            }
            fs::copy(file.path(), dir.path().join("tools").join(file.file_name())).expect("it is copied");
        }
        let [mysql, admin] = free_addresses().map(|address: std::net::SocketAddr| address.to_string());
        Self { dir, mysql, admin }
    }

    fn script(&self, name: &str) -> Command {
        let mut command = Command::new("bash");
        command
            .arg(self.dir.path().join("tools").join(name))
            .env("NUTHATCH", env!("CARGO_BIN_EXE_nuthatch"))
            .env("NUTHATCH_MYSQL", &self.mysql)
            .env("NUTHATCH_ADMIN", &self.admin)
            .stdin(Stdio::null());
        command
    }

    /// Starts it; its output goes to a file.
    fn run(&self) -> Child {
        let log = fs::File::create(self.dir.path().join("output")).expect("a file");
        let errors = log.try_clone().expect("the same file");
        self.script("run.sh").stdout(log).stderr(errors).spawn().expect("bash")
    }

    /// Returns when `run`, which makes and starts two servers first, is ready. Panics with its output if it ended.
    #[track_caller]
    fn await_ready(&self, run: &mut Child) {
        await_agreement("it is ready", || {
            let output = fs::read_to_string(self.dir.path().join("output")).unwrap_or_default();
            if let Some(status) = run.try_wait().expect("a child") {
                panic!("it ended with {status}:\n{output}");
            }
            output.contains("Nuthatch is ready")
        });
    }

    fn is_up(&self) -> bool {
        TcpStream::connect(&self.mysql).is_ok()
    }

    /// What another of them says, which must fail.
    #[track_caller]
    fn refused(&self, name: &str) -> String {
        let Output { status, stderr, stdout } = self.script(name).output().expect("bash");
        let told = String::from_utf8_lossy(&stderr).into_owned();
        assert!(!status.success(), "{told}{}", String::from_utf8_lossy(&stdout));
        told
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("it runs");
}

#[test]
fn a_second_run_says_that_one_runs_and_touches_nothing() {
    let checkout = Checkout::new();
    let mut first = checkout.run();
    await_that("the first has begun", || {
        checkout.dir.path().join(".run/run.lock").metadata().is_ok_and(|file| file.len() > 0)
    });
    let told = checkout.refused("run.sh");
    assert!(
        told.contains(&format!("process {}", first.id())) && told.contains("kill"),
        "while it starts: {told}"
    );
    checkout.await_ready(&mut first);
    for script in ["run.sh", "clean.sh"] {
        let told = checkout.refused(script);
        let (host, port) = checkout.mysql.split_once(':').expect("an address");
        assert!(
            told.contains(&format!("-h {host} -P {port}")) && told.contains("Ctrl-C"),
            "{script}: {told}"
        );
        assert!(checkout.is_up(), "{script} has touched it");
    }
    signal(&first, Signal::TERM);
    assert!(!first.wait().expect("it ends").success());
    assert!(!checkout.is_up());
}

#[test]
fn a_run_that_was_killed_is_in_nobodys_way() {
    let checkout = Checkout::new();
    let mut first = checkout.run();
    checkout.await_ready(&mut first);
    signal(&first, Signal::KILL);
    first.wait().expect("it ends");
    assert!(checkout.is_up(), "its proxy is left");
    let mut second = checkout.run();
    checkout.await_ready(&mut second);
    await_that("the second's proxy is there", || checkout.is_up());
    signal(&second, Signal::TERM);
    second.wait().expect("it ends");
    assert!(!checkout.is_up());
}
