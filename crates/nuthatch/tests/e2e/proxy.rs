//! The program under test: `nuthatch serve` as a process of its own, on free ports, with a directory of its own.
//!
//! Its log is kept, and printed when the test that started it fails.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::process::{Child, Command, ExitStatus, Stdio};

use nuthatch_lab::{Duty, Role, ScratchLab};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::client::{Address, Client, Failure, Login};
use crate::deadline::eventually;

/// The line that says that clients are let in.
const READY: &str = "ready for MySQL clients";

/// How often a start is tried again when somebody else took one of the ports in between.
const TRIES: u32 = 5;

/// What a proxy is started with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    servers: Vec<String>,
    users: Vec<String>,
    rules: Vec<String>,
    variables: Vec<String>,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Setup {
    /// A row of `mysql_servers` as a TOML inline table's inside: `hostname='127.0.0.1', port=3306`.
    pub(crate) fn server(mut self, row: impl Into<String>) -> Self {
        self.servers.push(row.into());
        self
    }

    /// A row of `mysql_users`.
    pub(crate) fn user(mut self, row: impl Into<String>) -> Self {
        self.users.push(row.into());
        self
    }

    /// A row of `mysql_query_rules`.
    pub(crate) fn rule(mut self, row: impl Into<String>) -> Self {
        self.rules.push(row.into());
        self
    }

    /// `mysql-<duty>_username` and `mysql-<duty>_password`.
    pub(crate) fn account(self, duty: &str, user: &str, password: &str) -> Self {
        self.variable(&format!("mysql-{duty}_username"), format!("'{user}'"))
            .variable(&format!("mysql-{duty}_password"), format!("'{password}'"))
    }

    /// A lab's primary in hostgroup 10, its two replicas in 20, and the accounts that look at them and change who writes.
    pub(crate) fn before_pair(mut self, lab: &ScratchLab) -> Self {
        for (name, duty) in
            [("monitor", Duty::Monitor), ("failover", Duty::Failover), ("replication", Duty::Replication)]
        {
            let login = lab.login_for(duty).expect("an account");
            self = self.account(name, &login.user, login.password.reveal());
        }
        for (role, hostgroup) in [(Role::Primary, 10), (Role::Replica(1), 20), (Role::Replica(2), 20)] {
            let port = lab.server(role).expect("it is there").port();
            self = self.server(format!("hostgroup_id={hostgroup}, hostname='127.0.0.1', port={port}"));
        }
        self
    }

    /// A variable; texts with their quotes.
    pub(crate) fn variable(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.variables.push(format!("{name} = {value}"));
        self
    }

    /// Further words for the command line.
    pub(crate) fn flags<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.flags.extend(words.into_iter().map(str::to_owned));
        self
    }

    /// A variable of the process's environment.
    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same number of workers on every machine, unless the test says another.
    fn flags_with_workers(&self) -> Vec<String> {
        let mut flags = self.flags.clone();
        if !flags.iter().any(|word| word == "--workers") {
            flags.extend(["--workers".to_owned(), "2".to_owned()]);
        }
        flags
    }

    /// The configuration file.
    fn toml(&self) -> String {
        let rows = |key: &str, rows: &[String]| {
            let rows: Vec<String> = rows.iter().map(|row| format!("{{ {row} }}")).collect();
            format!("{key} = [\n{}\n]\n", rows.join(",\n"))
        };
        // Sessions of other state are to meet on the same connection: that is where mistakes would show. Tests count connections, and
        // let servers be what they like: nobody else looks at them, but for those that say so.
        let usual = [("mysql-connections_before_change", "0"), ("mysql-monitor_enabled", "false")];
        let is_told = |name: &str| self.variables.iter().any(|line| line.starts_with(name));
        let untold = usual.iter().filter(|(name, _)| !is_told(name));
        let usual: Vec<_> = untold.map(|(name, value)| format!("{name} = {value}")).collect();
        format!(
            "{}{}{}[variables]\n{}\n{}\n",
            rows("mysql_servers", &self.servers),
            rows("mysql_users", &self.users),
            rows("mysql_query_rules", &self.rules),
            usual.join("\n"),
            self.variables.join("\n")
        )
    }
}

/// A running proxy. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Proxy {
    child: Child,
    dir: TempDir,
    /// Where MySQL clients connect.
    pub(crate) mysql: SocketAddr,
    /// Where operators connect.
    pub(crate) admin: SocketAddr,
    /// Where metrics are served.
    pub(crate) metrics: SocketAddr,
    starts: usize,
}

impl Proxy {
    /// Starts it, and returns when it lets clients in.
    pub(crate) fn start(setup: &Setup) -> Self {
        (0..TRIES)
            .find_map(|_| {
                let mut proxy = Self::launch(setup);
                proxy.await_ready().then_some(proxy)
            })
            .expect("free ports")
    }

    /// Starts it and does not wait.
    pub(crate) fn launch(setup: &Setup) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("nuthatch.toml"), setup.toml()).expect("the configuration is written");
        let addresses = free_addresses();
        let child = spawn(setup, &dir, addresses);
        let [mysql, admin, metrics] = addresses;
        Self { child, dir, mysql, admin, metrics, starts: 1 }
    }

    /// Starts one that has ended, with the same files and at the same addresses, and returns when it lets clients in.
    #[track_caller]
    pub(crate) fn start_again(&mut self, setup: &Setup) {
        self.child = spawn(setup, &self.dir, [self.mysql, self.admin, self.metrics]);
        self.starts += 1;
        assert!(self.await_ready(), "its ports were taken meanwhile");
    }

    /// Whether it came to let clients in; not so if somebody else has taken a port.
    fn await_ready(&mut self) -> bool {
        eventually("the proxy is ready", || {
            if self.log().matches(READY).count() >= self.starts {
                return Some(true);
            }
            let status = self.child.try_wait().expect("a child")?;
            let log = self.log();
            assert!(log.contains("cannot listen"), "the proxy ended with {status}:\n{log}");
            Some(false)
        })
    }

    /// All that it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).expect("the log is there")
    }

    /// A client of it.
    #[track_caller]
    pub(crate) fn client(&self, login: &Login) -> Client {
        self.try_client(login).expect("the proxy takes the login")
    }

    pub(crate) fn try_client(&self, login: &Login) -> Result<Client, Failure> {
        Client::connect(&Address::Tcp(self.mysql), login)
    }

    /// An operator.
    pub(crate) fn operator(&self) -> Client {
        Client::connect(&Address::Tcp(self.admin), &Login::new("admin", "admin")).expect("admin may enter")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its resident memory.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a resident size");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    #[expect(clippy::print_stdout, reason = "the harness shows it with the failure")]
    fn show_log(&self) {
        println!("---- log of the proxy on {} ----\n{}", self.mysql, self.log());
    }

    /// An operator sets that variable `mysql-…`, and puts it in force.
    #[track_caller]
    pub(crate) fn set(&self, name: &str, value: impl std::fmt::Display) {
        let mut operator = self.operator();
        operator.ok(format!("SET mysql-{name} = '{value}'"));
        operator.ok("LOAD MYSQL VARIABLES TO RUNTIME");
    }

    /// Sends it a signal. Behind a SIGSTOP it does nothing more: its threads stop one by one, on a busy machine milliseconds later.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).expect("a pid");
        kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("the process is there");
        if signal == Signal::STOP {
            eventually("it stands still", || nuthatch_lab::stands_still(pid).then_some(()));
        }
    }

    /// How it ended, if it has.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child")
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn await_exit(&mut self) -> ExitStatus {
        eventually("the proxy ends", || self.exit_status())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if self.exit_status().is_none() {
            self.child.kill().expect("the process is there");
            self.child.wait().expect("a child");
        }
        if std::thread::panicking() {
            self.show_log();
        }
    }
}

fn spawn(setup: &Setup, dir: &TempDir, [mysql, admin, metrics]: [SocketAddr; 3]) -> Child {
    let log = dir.path().join("log");
    let log = File::options().create(true).append(true).open(log).expect("the log is made");
    program()
        .arg("serve")
        .arg("--config")
        .arg(dir.path().join("nuthatch.toml"))
        .args(["--mysql", &mysql.to_string(), "--admin", &admin.to_string()])
        .args(["--metrics", &metrics.to_string()])
        .args(setup.flags_with_workers())
        .envs(setup.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("the program starts")
}

/// The program, without what the environment of the test says to it.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nuthatch"));
    command.env("NO_COLOR", "1");
    command
}

/// Ports that the kernel gives to no outgoing connection and no lab takes: who waits before it listens finds them free still.
const PORTS: Range<u16> = 10_000..20_000;

/// Ports of 127.0.0.1 that were free a moment ago, all different.
pub(crate) fn free_addresses<const N: usize>() -> [SocketAddr; N] {
    let listeners: [TcpListener; N] = std::array::from_fn(|_| {
        std::iter::repeat_with(random_port)
            .find_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok())
            .expect("a free port")
    });
    listeners.each_ref().map(|listener| listener.local_addr().expect("its address"))
}

fn random_port() -> u16 {
    let random = RandomState::new().build_hasher().finish();
    PORTS.start + u16::try_from(random % PORTS.len() as u64).expect("below the range's length")
}
