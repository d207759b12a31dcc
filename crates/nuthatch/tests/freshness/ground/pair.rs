//! A primary and two replicas before which a proxy changes the primary: by a planned switchover, or because the old one was killed.
//!
//! Commits wait for a replica, so nothing is lost that was acknowledged or shown. A killed primary is started again; what it has that
//! nobody was told of keeps it out as a rule, and then it is built anew, as an operator does it. Every change ends when all is well: one
//! takes writes, the others follow it, and the proxy knows.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use nuthatch_lab::{Kind, Options, Role, ScratchLab, SemiSync};

use crate::client::{Address, Client, Login};
use crate::deadline::{Stopwatch, await_that};
use crate::history::Reads;
use crate::proxy::{Proxy, Setup};
use crate::random::Random;
use crate::run::{DENSE, Place, Primary, Run};
use crate::servers;

use super::SCHEMA;

const ROLES: [Role; 3] = [Role::Primary, Role::Replica(1), Role::Replica(2)];

/// An account that does not write despite `read_only`.
const USER: &str = "fresh";
const PASSWORD: &str = "pw";

/// Within which all must be well behind a change, and how long the proxy is given to readmit a server that is back.
const WELL_WITHIN: Duration = Duration::from_secs(90);
const READMITTED_WITHIN: Duration = Duration::from_secs(4);
const FOLLOWS_WITHIN: Duration = Duration::from_secs(10);

/// Between two looks, and between two changes.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
const QUIET_MS_MIN: usize = 500;
const QUIET_MS_MORE: usize = 2_000;

/// How long a commit waits for a replica: longer than any is away. A replica waits likewise for one of its own, with the first transaction
/// that it applies, so that is short.
const COMMIT_WAITS_MS: u32 = 60_000;
const APPLIER_WAITS_MS: u32 = 200;

/// What was done to the primary.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) switchovers: u32,
    pub(crate) failovers: u32,
    /// Of the primaries that were killed, those that had to be built anew.
    built_anew: u32,
    /// Connections that broke between the beginning and the end of a switchover.
    pub(crate) broken_by_switchovers: Vec<String>,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} switchovers, by which {} connections broke; {} failovers, behind which {} servers were built anew",
            self.switchovers,
            self.broken_by_switchovers.len(),
            self.failovers,
            self.built_anew
        )?;
        self.broken_by_switchovers.iter().try_for_each(|account| write!(f, "\n{account}"))
    }
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Pair {
    // Before its servers.
    pub(super) proxy: Proxy,
    lab: ScratchLab,
    kind: Kind,
    semi_sync: SemiSync,
    random: Random,
    pub(crate) changes: Changes,
}

impl Pair {
    pub(super) fn new(kind: Kind, setup: Setup, semi_sync: SemiSync, tables: &[String]) -> Self {
        let extra = match semi_sync {
            SemiSync::Off => vec![],
            SemiSync::AfterSync => vec![format!("{}_timeout={APPLIER_WAITS_MS}", semi_sync_word(kind))],
        };
        let options = Options {
            installation: servers::installation(kind),
            replicas: 2,
            semi_sync,
            buffer_pool_mib: 64,
            connections_max: 300,
            extra,
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("servers come up");
        prepare(&mut direct(&lab, Role::Primary), kind, tables);
        servers::await_replicas(&lab);
        for role in &ROLES[1..] {
            direct(&lab, *role).ok("SET GLOBAL read_only = 1");
        }
        let proxy = Proxy::start(&complete(setup, &lab));
        let mut operator = proxy.operator();
        operator.ok(
            "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20)",
        );
        operator.ok("LOAD MYSQL SERVERS TO RUNTIME");
        let mut pair =
            Self { proxy, lab, kind, semi_sync, random: Random::new(14), changes: Changes::default() };
        pair.await_well(None);
        pair
    }

    pub(super) fn place(&self, reads: Reads) -> Place {
        Place {
            address: Address::Tcp(self.proxy.mysql),
            server: Address::Tcp(self.proxy.mysql),
            past: None,
            login: Login::new(USER, PASSWORD).schema(SCHEMA),
            level: None,
            primary: Primary::MayDie,
            reads,
            crowd: DENSE,
            bound_at_times: None,
        }
    }

    /// A switchover and a failover in turn, for that long, in whole rounds; then the run is over.
    pub(super) fn change_for(&mut self, time: Duration, run: &Run) {
        let _ending = run.ending();
        while run.now() < time {
            self.pause();
            self.switch_over(run);
            self.pause();
            self.fail_over(run);
        }
    }

    fn pause(&mut self) {
        let ms = QUIET_MS_MIN + self.random.below(QUIET_MS_MORE);
        std::thread::sleep(Duration::from_millis(ms as u64));
    }

    fn switch_over(&mut self, run: &Run) {
        let writer = self.writer();
        let others: Vec<_> = ROLES.into_iter().filter(|role| *role != writer).collect();
        let to = *self.random.pick(&others);
        // It will be a replica, and has all when it becomes one.
        self.have_commits_wait(writer, APPLIER_WAITS_MS);
        drop(run.take_breaks());
        let order = format!("NUTHATCH SWITCHOVER HOSTGROUP 10 TO '127.0.0.1:{}'", self.port(to));
        self.proxy.operator().ok(order);
        self.await_well(Some(run));
        assert_eq!(self.writer(), to);
        self.changes.switchovers += 1;
        self.changes.broken_by_switchovers.extend(run.take_breaks());
    }

    /// Replicas receive nothing for a while, and then the primary is killed.
    pub(super) fn lose_writes(&mut self, run: &Run) {
        await_that("there are writes", || run.writes() > 100);
        self.have_replicas("STOP");
        let before = run.writes();
        await_that("there are more", || run.writes() > before + 100);
        self.lab.kill(Role::Primary).expect("it runs");
        self.have_replicas("START");
        self.await_failover(0);
    }

    /// Starts or stops to receive.
    fn have_replicas(&self, what: &str) {
        for role in &ROLES[1..] {
            direct(&self.lab, *role).ok(format!("{what} {} IO_THREAD", servers::replica_word(self.kind)));
        }
    }

    fn await_failover(&self, before: usize) {
        let watch = Stopwatch::start();
        while self.failovers() == before {
            assert!(watch.elapsed() < WELL_WITHIN, "nobody takes the writes:\n{}", self.proxy.log());
            std::thread::sleep(LOOK_PAUSE);
        }
    }

    fn fail_over(&mut self, run: &Run) {
        let (writer, before) = (self.writer(), self.failovers());
        self.lab.kill(writer).expect("it runs");
        self.await_failover(before);
        self.lab.start(writer).expect("it comes up again");
        self.readmit(writer);
        self.await_well(Some(run));
        self.changes.failovers += 1;
    }

    /// It follows by itself, or is built anew from the replica.
    fn readmit(&mut self, role: Role) {
        let watch = Stopwatch::start();
        while watch.elapsed() < READMITTED_WITHIN {
            if self.role_by_proxy(role) == "reader" {
                return;
            }
            std::thread::sleep(LOOK_PAUSE);
        }
        let writer = self.writer();
        let from = ROLES.into_iter().find(|from| *from != role && *from != writer).expect("there are three");
        self.lab.rebuild(role, from).expect("a server is built anew");
        self.changes.built_anew += 1;
    }

    /// Returns when one takes writes and waits for replicas with them, and the others follow. It waits from the next write on: when the run is
    /// over, none comes.
    fn await_well(&mut self, run: Option<&Run>) {
        let watch = Stopwatch::start();
        let mut since_started = Stopwatch::start();
        while !self.is_well() {
            assert!(watch.elapsed() < WELL_WITHIN, "all is not well:\n{}", self.proxy.log());
            if since_started.elapsed() > FOLLOWS_WITHIN {
                self.start_replicas();
                since_started = Stopwatch::start();
            }
            std::thread::sleep(LOOK_PAUSE);
        }
        if self.semi_sync == SemiSync::Off {
            return;
        }
        let writer = self.writer();
        for role in ROLES {
            self.have_commits_wait(role, if role == writer { COMMIT_WAITS_MS } else { APPLIER_WAITS_MS });
        }
        let mut client = direct(&self.lab, writer);
        let status = format!("SHOW STATUS LIKE '{}_status'", semi_sync_word(self.kind));
        await_that("commits wait for replicas", || {
            client.table(&status)[0][1] == "ON" || run.is_some_and(Run::is_over)
        });
    }

    fn have_commits_wait(&self, role: Role, waits_ms: u32) {
        let word = semi_sync_word(self.kind);
        direct(&self.lab, role).ok(format!("SET GLOBAL {word}_timeout = {waits_ms}"));
    }

    /// What an operator does whom the proxy tells that a replica does not follow yet.
    fn start_replicas(&self) {
        for role in ROLES.into_iter().filter(|role| self.role_by_proxy(*role) == "reader") {
            direct(&self.lab, role).ok(format!("START {}", servers::replica_word(self.kind)));
        }
    }

    fn is_well(&self) -> bool {
        let roles: Vec<_> = ROLES.into_iter().map(|role| (role, self.role_by_proxy(role))).collect();
        let Some((writer, _)) = roles.iter().find(|(_, is)| is == "writer") else { return false };
        let source = self.port(*writer).to_string();
        roles.iter().all(|(role, is)| {
            let mut client = direct(&self.lab, *role);
            let is_read_only = client.value("SELECT @@global.read_only") == "1";
            if role == writer {
                return !is_read_only;
            }
            is == "reader" && is_read_only && self.follows(&mut client, &source)
        })
    }

    /// Whether both threads of its replication run, with this port as source.
    fn follows(&self, client: &mut Client, source: &str) -> bool {
        let columns = match self.kind {
            Kind::MariaDb => ["Master_Port", "Slave_IO_Running", "Slave_SQL_Running"],
            Kind::MySql => ["Source_Port", "Replica_IO_Running", "Replica_SQL_Running"],
        };
        let answer = client.ok(format!("SHOW {} STATUS", servers::replica_word(self.kind)));
        let rows = answer.table();
        let Some(row) = rows.first() else { return false };
        let named: BTreeMap<_, _> = answer.columns.iter().map(String::as_str).zip(row).collect();
        let [port, receives, applies] = columns.map(|name| named[name].as_str());
        [port, receives, applies] == [source, "Yes", "Yes"]
    }

    fn writer(&self) -> Role {
        let is_it = |role: &Role| self.role_by_proxy(*role) == "writer";
        ROLES.into_iter().find(is_it).expect("all is well")
    }

    fn role_by_proxy(&self, role: Role) -> String {
        let port = self.port(role);
        self.proxy.operator().value(format!("SELECT role FROM stats_nuthatch_servers WHERE port = {port}"))
    }

    fn failovers(&self) -> usize {
        // On a machine that stands still for seconds a replica is told to follow, and does not answer in time.
        let log = self.proxy.log();
        ["failed over", "a failover is not finished"].map(|words| log.matches(words).count()).iter().sum()
    }

    fn port(&self, role: Role) -> u16 {
        self.lab.server(role).expect("it is there").port()
    }
}

fn semi_sync_word(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "rpl_semi_sync_master",
        Kind::MySql => "rpl_semi_sync_source",
    }
}

fn direct(lab: &ScratchLab, role: Role) -> Client {
    let socket = lab.server(role).expect("it is there").socket().to_owned();
    Client::connect(&Address::Unix(socket), &servers::account(lab)).expect("the server takes the login")
}

fn prepare(primary: &mut Client, kind: Kind, tables: &[String]) {
    // What the exact cache asks the server for.
    let monitor = match kind {
        Kind::MariaDb => "SLAVE MONITOR",
        Kind::MySql => "REPLICATION CLIENT",
    };
    for statement in [
        format!("CREATE DATABASE {SCHEMA}"),
        format!("CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'"),
        format!("GRANT ALL ON {SCHEMA}.* TO {USER}@'%'"),
        format!("GRANT SELECT, SHOW VIEW, TRIGGER, {monitor} ON *.* TO {USER}@'%'"),
        format!("USE {SCHEMA}"),
    ] {
        primary.ok(statement);
    }
    for table in tables {
        primary.ok(table);
    }
}

fn complete(setup: Setup, lab: &ScratchLab) -> Setup {
    // The machine may be busy: what is shown is not how long it takes.
    setup
        .variable("mysql-monitor_enabled", true)
        .variable("mysql-monitor_read_only_interval", 200)
        .variable("mysql-failover", "'auto'")
        .variable("mysql-hold_for_writer_ms", 60_000)
        .variable("mysql-switchover_catch_up_ms", 30_000)
        .variable("mysql-switchover_transactions_ms", 30_000)
        .before_pair(lab)
        .user(format!("username='{USER}', password='{PASSWORD}', default_hostgroup=10"))
}
