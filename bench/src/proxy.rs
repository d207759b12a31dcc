//! A `nuthatch serve` under test, with or without a cache rule.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::address::Address;
use crate::affinity::SERVER;
use crate::client::Client;
use crate::cpu::Pid;
use crate::database::{self, Database, PASSWORD, USER};
use crate::running::Running;

/// How long it may take until it answers; under valgrind everything takes 50 times longer.
const READY_WAIT: Duration = Duration::from_secs(60);

/// Digests of the benchmark's point select.
pub(crate) const POINT_SELECT: &str = "^SELECT c FROM sbtest1";

/// How long answers stay valid: longer than a run.
const TTL_MS: u32 = 3_600_000;

/// Where the program is, and what runs it.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The program.
    pub(crate) path: PathBuf,
    /// Words before it, such as valgrind's.
    pub(crate) wrapper: Vec<String>,
}

/// Which statements it answers from its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheRule {
    /// None.
    Nothing,
    /// Those whose digest text matches.
    Matching(&'static str),
    /// All that it can, until what they read is written.
    Exact,
    /// All that it can, until what they read is written, but no longer than a millisecond: so each answer is stored, and none is used.
    ExactForAMoment,
}

/// A running proxy; dropping stops it.
#[derive(Debug)]
pub(crate) struct Proxy {
    running: Running,
    tcp: Address,
    unix: Address,
    admin_port: u16,
    /// Data directory, log and socket; removed after the process has ended, as fields are dropped in order.
    _directory: TempDir,
}

impl Program {
    /// Run as it is. An error if there is no such program.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        ensure!(
            path.is_file(),
            "there is no program {}: build it with `cargo build --release -p nuthatch`, or name it with --nuthatch",
            path.display()
        );
        Ok(Self { path: path.to_owned(), wrapper: vec![] })
    }

    fn command(&self) -> Command {
        match self.wrapper.split_first() {
            None => Command::new(&self.path),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.path);
                command
            }
        }
    }
}

impl Proxy {
    /// Started on the server's core with one worker, answering queries, with the rule loaded.
    pub(crate) fn start(program: &Program, database: &Database, rule: CacheRule) -> Result<Self> {
        Self::start_with(program, database, rule, 1)
    }

    /// The same, with so many workers.
    pub(crate) fn start_with(
        program: &Program,
        database: &Database,
        rule: CacheRule,
        workers: u32,
    ) -> Result<Self> {
        let mut proxy = Self::start_before(program, &database.tcp().to_string(), workers)?;
        proxy.load_rule(rule)?;
        Ok(proxy)
    }

    /// The same before the server of that address, whatever it is; nothing is cached.
    pub(crate) fn start_before(program: &Program, backend: &str, workers: u32) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name);
        let (mysql_port, admin_port) = (free_port()?, free_port()?);
        let mut command = program.command();
        command.arg("serve").arg("--datadir").arg(path("data"));
        command.arg("--mysql").arg(format!("127.0.0.1:{mysql_port}")).arg("--mysql").arg(path("mysql.sock"));
        command.arg("--admin").arg(format!("127.0.0.1:{admin_port}"));
        command.args(["--backend", backend]);
        command.arg("--user").arg(format!("{USER}:{PASSWORD}")).args(["--workers", &workers.to_string()]);
        std::fs::create_dir(path("data"))?;
        let running = Running::spawn("nuthatch", &mut command, SERVER, &path("log"))?;
        let tcp = format!("127.0.0.1:{mysql_port}").parse()?;
        let mut proxy =
            Self { running, tcp, unix: Address::Unix(path("mysql.sock")), admin_port, _directory: directory };
        proxy.wait_until_it_answers()?;
        Ok(proxy)
    }

    fn wait_until_it_answers(&mut self) -> Result<()> {
        let tcp = self.tcp.clone();
        self.running.wait_until(READY_WAIT, || {
            Client::connect(&tcp, &database::login())?.query("SELECT 1").map(|_| ())
        })
    }

    fn load_rule(&mut self, rule: CacheRule) -> Result<()> {
        match rule {
            CacheRule::Nothing => Ok(()),
            CacheRule::Matching(pattern) => self.administer(&format!(
                "INSERT INTO mysql_query_rules (rule_id,active,match_digest,cache_ttl,apply) \
                 VALUES (1,1,'{pattern}',{TTL_MS},1); LOAD MYSQL QUERY RULES TO RUNTIME;"
            )),
            CacheRule::Exact => {
                self.administer("SET mysql-query_cache_type=1; LOAD MYSQL VARIABLES TO RUNTIME;")?;
                self.wait_until_tables_are_known()
            }
            CacheRule::ExactForAMoment => {
                self.load_rule(CacheRule::Exact)?;
                self.administer(
                    "INSERT INTO mysql_query_rules (rule_id,active,match_digest,cache_ttl,attributes,apply) \
                     VALUES (1,1,'^SELECT',1,'{\"cache\":\"both\"}',1); LOAD MYSQL QUERY RULES TO RUNTIME;",
                )
            }
        }
    }

    /// Reads go to the reader hostgroup of a pair from now on, in which the same server stands.
    pub(crate) fn split_reads(&mut self, database: &Database) -> Result<()> {
        let Address::Tcp(server) = database.tcp() else { bail!("the server has no TCP port") };
        let (host, port) = (server.ip(), server.port());
        self.administer(&format!(
            "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (1, '{host}', {port}); \
             INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (0, 1); \
             LOAD MYSQL SERVERS TO RUNTIME; SET mysql-read_write_split=1; LOAD MYSQL VARIABLES TO RUNTIME;"
        ))?;
        let (tcp, admin_port) = (self.tcp.clone(), self.admin_port);
        self.running.wait_until(READY_WAIT, || {
            Client::connect(&tcp, &database::login())?.query("SELECT c FROM sbtest1 WHERE id=1")?;
            let split = "SELECT Variable_Value FROM stats_mysql_global WHERE Variable_Name = 'Reads_Split'";
            ensure!(ask_admin(admin_port, split)?.trim() != "0", "no read goes to the reader hostgroup");
            Ok(())
        })
    }

    /// Until a point select is stored.
    fn wait_until_tables_are_known(&mut self) -> Result<()> {
        let (tcp, admin_port) = (self.tcp.clone(), self.admin_port);
        self.running.wait_until(READY_WAIT, || {
            Client::connect(&tcp, &database::login())?.query("SELECT c FROM sbtest1 WHERE id=1")?;
            let entries = ask_admin(admin_port, "SELECT COUNT(*) FROM stats_query_cache_entries")?;
            ensure!(entries.trim() != "0", "nothing is cached yet");
            Ok(())
        })
    }

    /// Executes statements on the admin port.
    pub(crate) fn administer(&self, sql: &str) -> Result<()> {
        self.ask(sql).map(drop)
    }

    /// The same, and what it answers: a line for each row, tabs between values.
    pub(crate) fn ask(&self, sql: &str) -> Result<String> {
        ask_admin(self.admin_port, sql)
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        self.running.pid()
    }

    /// Where operators connect.
    pub(crate) fn admin_port(&self) -> u16 {
        self.admin_port
    }

    /// Its TCP address for clients.
    pub(crate) fn tcp(&self) -> &Address {
        &self.tcp
    }

    /// Its Unix socket for clients.
    pub(crate) fn unix(&self) -> &Address {
        &self.unix
    }

    /// An error if it has ended.
    pub(crate) fn require_alive(&mut self) -> Result<()> {
        self.running.require_alive()
    }
}

/// What the admin port answers, by the `mariadb` command, without names of columns.
pub(crate) fn ask_admin(port: u16, sql: &str) -> Result<String> {
    let output = Command::new("mariadb")
        .args([
            "--no-defaults",
            "--host=127.0.0.1",
            "--user=admin",
            "--password=admin",
            "--skip-column-names",
        ])
        .arg(format!("--port={port}"))
        .arg(format!("--execute={sql}"))
        .output()
        .context("cannot run mariadb")?;
    if !output.status.success() {
        bail!("the admin port refuses {sql:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A port that nobody listens on just now.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
