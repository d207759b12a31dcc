//! Slices in which the primary changes: planned switchovers under the same crowd.
//!
//! A primary and two replicas, of MariaDB or MySQL, behind one proxy with its default limits. The clients' account does not write
//! despite `read_only`. After each slice all three servers must have as many inserts as were acknowledged.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nuthatch_lab::{Duty, Installation, Kind, Options, Role, ScratchLab};

use super::crowd::{Crowd, Plan};
use super::script;
use super::slice::Switched;
use super::switchover::Switchover;
use super::verdict::{self, Verdict};
use crate::affinity;
use crate::clock::monotonic;
use crate::database::{PASSWORD, USER};
use crate::proxy::{Program, Proxy};

/// Who takes the writes, one after the other; the primary does first.
const TURNS: [Role; 3] = [Role::Replica(1), Role::Replica(2), Role::Primary];

/// Hostgroups that write and read.
const WRITERS: u32 = 0;
const READERS: u32 = 1;

/// How long it may take until the proxy knows who is who, and until replicas have all.
const KNOWN_WAIT: Duration = Duration::from_secs(20);
const REPLICA_WAIT: Duration = Duration::from_secs(60);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// As many rows as clients ask for, in words that both servers understand.
const PREPARE: &str = "
CREATE DATABASE sbtest;
CREATE TABLE sbtest.sbtest1 (id INT PRIMARY KEY, c CHAR(120) NOT NULL) ENGINE = InnoDB;
INSERT INTO sbtest.sbtest1 WITH digit AS (
    SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
    UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)
SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n, REPEAT('c', 119) FROM digit a, digit b, digit c, digit d;";

/// What is run.
#[derive(Debug)]
pub(super) struct Course {
    /// Where a MySQL is, if it is not this system's MariaDB.
    pub(super) mysql: Option<PathBuf>,
    /// Threads of the proxy.
    pub(super) workers: u32,
    /// Of each slice.
    pub(super) switchovers: u32,
    pub(super) slices: Vec<Plan>,
}

struct Stage {
    // Before its servers.
    proxy: Proxy,
    lab: ScratchLab,
    /// Switchovers so far.
    turns: usize,
}

/// Runs the slices and judges them.
pub(super) fn run(course: &Course, program: &Program) -> Result<Vec<Verdict>> {
    let mut stage = Stage::up(course, program)?;
    println!("{} and two replicas", stage.lab.primary().version());
    let mut slices = Vec::new();
    for (number, plan) in (1..).zip(&course.slices) {
        let slice = stage.slice(plan, course.switchovers)?;
        println!("{number} {slice}");
        slices.push(slice);
    }
    Ok(verdict::judge_switched(&slices))
}

impl Stage {
    fn up(course: &Course, program: &Program) -> Result<Self> {
        let lab = ScratchLab::up(&Options {
            installation: installation(course.mysql.as_deref()),
            replicas: 2,
            buffer_pool_mib: 128,
            ready_within: Duration::from_secs(120),
            ..Options::default()
        });
        let lab = lab.context("cannot start the servers")?;
        let prepare = format!(
            "CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON sbtest.* TO {USER}@'%'; {PREPARE}"
        );
        lab.primary().query(&prepare).context("cannot prepare the servers")?;
        lab.await_replicas(REPLICA_WAIT)?;
        for role in [Role::Replica(1), Role::Replica(2)] {
            lab.server(role)?.query("SET GLOBAL read_only = 1")?;
        }
        for server in lab.servers() {
            affinity::release(server.pid().context("a server has ended")?.cast_unsigned())?;
        }
        let proxy = Proxy::start_before(program, &lab.primary().address().to_string(), course.workers)?;
        affinity::release(proxy.pid())?;
        let stage = Self { proxy, lab, turns: 0 };
        stage.tell_of_the_pair()?;
        Ok(stage)
    }

    /// Returns when the proxy knows who writes and who reads.
    fn tell_of_the_pair(&self) -> Result<()> {
        let mut statements = Vec::new();
        for (name, duty) in
            [("monitor", Duty::Monitor), ("failover", Duty::Failover), ("replication", Duty::Replication)]
        {
            let login = self.lab.login_for(duty)?;
            statements.push(format!("SET mysql-{name}_username = '{}'", login.user));
            statements.push(format!("SET mysql-{name}_password = '{}'", login.password.reveal()));
        }
        statements.push("LOAD MYSQL VARIABLES TO RUNTIME".into());
        for role in [Role::Replica(1), Role::Replica(2)] {
            let port = self.lab.server(role)?.port();
            statements.push(format!(
                "INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES ({READERS}, '127.0.0.1', {port})"
            ));
        }
        statements.push(format!(
            "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES ({WRITERS}, {READERS})"
        ));
        statements.push("LOAD MYSQL SERVERS TO RUNTIME".into());
        self.proxy.administer(&statements.join("; "))?;
        let deadline = monotonic() + KNOWN_WAIT;
        let known = "SELECT COUNT(*) FROM stats_nuthatch_servers WHERE role IN ('writer', 'reader')";
        while self.proxy.ask(known)?.trim() != "3" {
            ensure!(monotonic() < deadline, "the proxy does not know who writes and who reads");
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn slice(&mut self, plan: &Plan, switchovers: u32) -> Result<Switched> {
        let writer = self.writer();
        let make = format!("USE sbtest; DROP TABLE IF EXISTS tickets; {}", script::TABLE);
        self.lab.server(writer)?.query(&make)?;
        let crowd = Crowd::gather(self.proxy.tcp(), plan)?;
        let turns: Vec<Role> =
            (0..switchovers as usize).map(|turn| TURNS[(self.turns + turn) % TURNS.len()]).collect();
        self.turns += turns.len();
        let (tally, switchovers) = thread::scope(|scope| {
            let switching = scope.spawn(|| self.switch(plan, &turns));
            let tally = crowd.run_until(|| switching.is_finished());
            (tally, switching.join())
        });
        let tally = tally?;
        let switchovers = switchovers.ok().context("the switchovers panicked")??;
        self.proxy.require_alive()?;
        let writer = self.writer();
        self.lab.await_followers(writer, REPLICA_WAIT)?;
        let rows = TURNS.map(|role| self.rows(role));
        let [first, second, third] = rows;
        let rows = [first?, second?, third?];
        if rows.iter().any(|one| *one != rows[0]) {
            bail!("the servers have different numbers of inserts: {rows:?}");
        }
        Ok(Switched { tally, switchovers, rows: rows[0] })
    }

    /// All of them, in equal distances within the counted part.
    fn switch(&self, plan: &Plan, turns: &[Role]) -> Result<Vec<Switchover>> {
        let step = plan.counted / u32::try_from(turns.len().max(1))?;
        let first = monotonic() + plan.warmup + step / 2;
        let mut done = Vec::new();
        for (number, role) in (0..).zip(turns) {
            thread::sleep((first + step * number).saturating_sub(monotonic()));
            let to = self.lab.server(*role)?.address().to_string();
            done.push(Switchover::order(&self.proxy, WRITERS, &to)?);
        }
        Ok(done)
    }

    fn writer(&self) -> Role {
        self.turns.checked_sub(1).map_or(Role::Primary, |turn| TURNS[turn % TURNS.len()])
    }

    fn rows(&self, role: Role) -> Result<u64> {
        let rows = self.lab.server(role)?.query("SELECT COUNT(*) FROM sbtest.tickets")?;
        rows.first().and_then(|count| count.parse().ok()).context("the server does not say how many")
    }
}

fn installation(mysql: Option<&Path>) -> Installation {
    match mysql {
        Some(root) => Installation { kind: Kind::MySql, root: root.to_owned() },
        None => Installation::debian_mariadb(),
    }
}
