//! The servers of a run, all up from its beginning to its end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use nuthatch_lab::QueryCache;
use serde::Serialize;
use tempfile::TempDir;

use super::case::{Case, Servers};
use super::cases::{ROWS, TABLES};
use super::contestant::Contestant;
use super::progress::Progress;
use crate::address::Address;
use crate::affinity::{self, LOAD, SERVER};
use crate::cpu::Pid;
use crate::database::{Database, Shape};
use crate::proxy::{Program, free_port};
use crate::running::Running;
use crate::socket::Socket;

/// How long the floor may take until it listens.
const FLOOR_WAIT: Duration = Duration::from_secs(10);

/// Which cores the load and the servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Placement {
    /// The load has one, the proxy and the servers together the other: as if clients were on a machine of their own.
    Apart,
    /// All have both.
    Shared,
}

/// What there is to stand before and to compare with.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) program: Program,
    /// The other proxy's program.
    pub(super) peer: Option<PathBuf>,
    pub(super) database: Database,
    /// With a query cache of its own.
    pub(super) native: Option<Database>,
    /// A primary and two replicas.
    three: Option<Database>,
    pub(super) floor: Option<Floor>,
}

/// The canned-reply server.
#[derive(Debug)]
pub(super) struct Floor {
    running: Running,
    pub(super) tcp: Address,
    _directory: TempDir,
}

impl Ground {
    /// Starts what these contestants need in these cases.
    pub(super) fn start(
        program: Program,
        peer: Option<PathBuf>,
        cases: &[&Case],
        who: &[Contestant],
        progress: &Progress,
    ) -> Result<Self> {
        let is_in = |contestant| {
            who.contains(&contestant) && cases.iter().any(|case| case.contestants.contains(&contestant))
        };
        let shape = Shape { tables: TABLES, rows: ROWS, ..Shape::default() };
        progress.tell("MariaDB starts");
        let database = Database::start_as(&shape)?;
        let native = is_in(Contestant::Native).then(|| {
            progress.tell("MariaDB with a query cache starts");
            Database::start_as(&Shape { query_cache: QueryCache::OnMib(1), ..shape })
        });
        let three = cases.iter().any(|case| case.servers == Servers::Three).then(|| {
            progress.tell("MariaDB with two replicas starts");
            let three = Database::start_as(&Shape { replicas: 2, tables: 1, ..shape })?;
            three.wait_for_replicas(ROWS).map(|()| three)
        });
        let floor = is_in(Contestant::Floor).then(Floor::start);
        Ok(Self {
            program,
            peer,
            database,
            native: native.transpose()?,
            three: three.transpose()?,
            floor: floor.transpose()?,
        })
    }

    /// What stands behind the proxy in a case.
    pub(super) fn behind(&self, case: &Case) -> Result<&Database> {
        match case.servers {
            Servers::One => Ok(&self.database),
            Servers::Three => self.three.as_ref().context("the three servers were not started"),
        }
    }

    /// Its addresses.
    pub(super) fn addresses(&self, case: &Case) -> Result<Vec<SocketAddr>> {
        Ok(self.behind(case)?.addresses())
    }

    /// All its processes.
    pub(super) fn pids(&self) -> Result<Vec<Pid>> {
        let databases = [Some(&self.database), self.native.as_ref(), self.three.as_ref()];
        let mut pids = Vec::new();
        for database in databases.into_iter().flatten() {
            pids.extend(database.pids()?);
        }
        pids.extend(self.floor.as_ref().map(Floor::pid));
        Ok(pids)
    }
}

impl Floor {
    fn start() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let tcp: Address = format!("127.0.0.1:{}", free_port()?).parse()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["floor", "--listen", &tcp.to_string()]);
        let mut running = Running::spawn("the floor", &mut command, SERVER, &directory.path().join("log"))?;
        running.wait_until(FLOOR_WAIT, || Socket::connect(&tcp).map(drop))?;
        Ok(Self { running, tcp, _directory: directory })
    }

    /// Its process.
    pub(super) fn pid(&self) -> Pid {
        self.running.pid()
    }
}

impl Placement {
    /// Puts servers where they belong.
    pub(super) fn place(self, pids: &[Pid]) -> Result<()> {
        pids.iter().try_for_each(|&pid| match self {
            Self::Apart => SERVER.take(pid),
            Self::Shared => affinity::release(pid),
        })
    }

    /// Starts the load where it belongs.
    pub(super) fn spawn_load(self, command: &mut Command) -> Result<std::process::Child> {
        let child = match self {
            Self::Apart => LOAD.spawn(command),
            Self::Shared => command.spawn(),
        };
        child.context("cannot start sysbench")
    }
}
