//! A host for a test: a root directory and an address of its own, and what is said to the program there.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Hosts of one run of tests have different addresses: their ports do not meet.
static HOSTS: AtomicU8 = AtomicU8::new(10);

/// How long a state may take that is waited for.
const TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_millis(100);

/// A root directory, whose instances end with it.
pub(crate) struct Host {
    dir: TempDir,
}

impl Host {
    /// With an address of 127.0.0.0/8 of its own.
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("nuthatch-host").tempdir().expect("it goes well");
        let host = Self { dir };
        let [fourth, third] = [HOSTS.fetch_add(1, Ordering::Relaxed), third()];
        let address = Ipv4Addr::new(127, 77, third, fourth).to_string();
        let user = if geteuid().is_root() { "root" } else { "mysql" };
        host.ok(&["host", "--address", &address, "--user", user]);
        host
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.root().join("instances").join(name)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nuthatch"));
        command.args(["instance", "--root"]).arg(self.root()).args(words).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it goes well")
    }

    /// What it prints; it must not fail.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let (said, complained) = texts(&output);
        assert!(output.status.success(), "{words:?}: {complained}\n{said}");
        said
    }

    /// What it complains of; it must fail.
    pub(crate) fn refused(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let (said, complained) = texts(&output);
        assert!(!output.status.success(), "{words:?} went well: {said}");
        complained
    }

    /// The rows of `list --json`.
    pub(crate) fn list(&self) -> Vec<Value> {
        serde_json::from_str(&self.ok(&["list", "--json"])).expect("it goes well")
    }

    /// What `show --json` says of one.
    pub(crate) fn show(&self, name: &str) -> Value {
        serde_json::from_str(&self.ok(&["show", name, "--json"])).expect("it goes well")
    }

    pub(crate) fn state(&self, name: &str) -> String {
        self.show(name)["state"].as_str().expect("it goes well").to_owned()
    }

    pub(crate) fn await_state(&self, name: &str, wanted: &str) {
        let is_it = || self.state(name) == wanted;
        assert!(holds_soon(is_it), "{name} is not {wanted}, but {}", self.show(name));
    }

    /// The first value of what a statement gives on an instance's server.
    pub(crate) fn query(&self, name: &str, sql: &str) -> String {
        self.ok(&["client", name, "--", "--batch", "--skip-column-names", "--execute", sql]).trim().to_owned()
    }

    pub(crate) fn kill(&self, pid: i32) {
        kill_process(Pid::from_raw(pid).expect("it goes well"), Signal::KILL).expect("it goes well");
    }

    pub(crate) fn server_pid(&self, name: &str) -> i32 {
        self.show(name)["pid"].as_i64().expect("it goes well").try_into().expect("it goes well")
    }

    /// Another process than that one is its server, and answers.
    pub(crate) fn await_another(&self, name: &str, before: i32) {
        let is_another = || {
            let shown = self.show(name);
            shown["state"] == "running" && shown["pid"].as_i64().is_some_and(|pid| pid != i64::from(before))
        };
        assert!(holds_soon(is_another), "{}", self.show(name));
    }

    pub(crate) fn supervisor_pid(&self, name: &str) -> i32 {
        let state = std::fs::read_to_string(self.path_of(name).join("run/state.json")).expect("it goes well");
        let state: Value = serde_json::from_str(&state).expect("it goes well");
        state["supervisor"]["pid"].as_i64().expect("it goes well").try_into().expect("it goes well")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let output = self.run(&["stop", "--all"]);
        if !std::thread::panicking() {
            assert!(output.status.success(), "{:?}", texts(&output));
        }
    }
}

/// Whether it holds within half a minute.
fn holds_soon(holds: impl Fn() -> bool) -> bool {
    (0..TRIES).any(|_| {
        let holds = holds();
        if !holds {
            sleep(PAUSE);
        }
        holds
    })
}

/// It must hold within half a minute.
pub(crate) fn await_that(holds: impl Fn() -> bool) {
    assert!(holds_soon(holds), "it does not come to be");
}

/// The same for all hosts of this process.
fn third() -> u8 {
    u8::try_from(std::process::id() % 200).unwrap_or_default() + 1
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}
