//! The servers that are compared, all up at once, idle but for the one whose turn it is.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::contestant::{Candidate, Contestant, Transport};
use super::plan::Turn;
use super::quiet::Patience;
use super::slice::{self, Slice};
use super::target::{SliceOptions, Target};
use crate::address::Address;
use crate::affinity::SERVER;
use crate::cpu::Pid;
use crate::database::Database;
use crate::load::Statement;
use crate::proxy::{CacheRule, POINT_SELECT, Program, Proxy, free_port};
use crate::running::Running;
use crate::socket::Socket;

/// A hit run may send the database this share of its queries: the fills.
const MISS_SHARE_MAX: f64 = 0.02;

/// A pass-through run must send it at least this share.
const PASS_SHARE_MIN: f64 = 0.98;

/// The running servers. The proxies are dropped before the database.
#[derive(Debug)]
pub(super) struct Field {
    floor: Bare,
    relay: Bare,
    hit: Option<Proxy>,
    pass: Option<Proxy>,
    database: Database,
}

/// A server of this program itself.
#[derive(Debug)]
struct Bare {
    running: Running,
    tcp: Address,
    unix: Address,
    _directory: TempDir,
}

impl Field {
    /// Starts what the candidates need.
    pub(super) fn start(candidates: &[Candidate], program: &Path, statement: Statement) -> Result<Self> {
        let program = candidates
            .iter()
            .any(|candidate| matches!(candidate, Candidate::Hit | Candidate::Pass))
            .then(|| Program::at(program))
            .transpose()?;
        let database = Database::start()?;
        let proxy = |candidate, rule| {
            program
                .as_ref()
                .filter(|_| candidates.contains(&candidate))
                .map(|program| Proxy::start(program, &database, rule))
                .transpose()
        };
        let hit = proxy(Candidate::Hit, CacheRule::Matching(POINT_SELECT))?;
        let pass = proxy(Candidate::Pass, CacheRule::Nothing)?;
        let floor = Bare::start("floor", &["--rows", &statement.rows().to_string()])?;
        let relay = Bare::start("relay", &["--to", &database.tcp().to_string()])?;
        Ok(Self { floor, relay, hit, pass, database })
    }

    /// The database's version.
    pub(super) fn database_version(&self) -> String {
        self.database.version()
    }

    /// The database's process.
    pub(super) fn database_pid(&self) -> Result<Pid> {
        self.database.pid()
    }

    /// Takes one slice, several times if others disturb it.
    pub(super) fn measure(
        &mut self,
        turn: &Turn,
        options: &SliceOptions,
        patience: &mut Patience,
    ) -> Result<Slice> {
        let target = self.arrange(turn.contestant)?;
        let selects = self.database.selects()?;
        let slice = slice::measure_undisturbed(turn, &target, options, patience)
            .with_context(|| format!("{}, {} connections", turn.contestant, turn.connections))?;
        self.require_true_colours(turn.contestant, &slice, self.database.selects()? - selects, options.ids)?;
        Ok(slice)
    }

    /// Puts the servers on their cores and says where the contestant is.
    fn arrange(&mut self, contestant: Contestant) -> Result<Target> {
        let (tcp, unix, pid) = match contestant.candidate {
            Candidate::Floor => self.floor.place()?,
            Candidate::Relay => self.relay.place()?,
            Candidate::Hit => self.hit.as_mut().context("no proxy was started")?.arrange()?,
            Candidate::Pass => self.pass.as_mut().context("no proxy was started")?.arrange()?,
            Candidate::Direct => (self.database.tcp(), self.database.unix(), self.database.pid()?),
        };
        match contestant.candidate {
            Candidate::Direct => self.database.move_to(SERVER)?,
            _ => self.database.stand_behind_proxy()?,
        }
        let address = match contestant.transport {
            Transport::Tcp => tcp,
            Transport::Unix => unix,
        };
        Ok(Target { address, pid, participants: self.processes()? })
    }

    fn processes(&self) -> Result<Vec<Pid>> {
        let proxies = self.hit.iter().chain(&self.pass).map(Proxy::pid);
        Ok([self.floor.running.pid(), self.relay.running.pid(), self.database.pid()?]
            .into_iter()
            .chain(proxies)
            .collect())
    }

    /// A run of hits that reached the database, or a pass-through that did not, measured something else.
    fn require_true_colours(
        &self,
        contestant: Contestant,
        slice: &Slice,
        selects: u64,
        ids: u32,
    ) -> Result<()> {
        // The first slice of a proxy fills its cache.
        let fills = if contestant.candidate == Candidate::Hit { u64::from(ids) } else { 0 };
        let share = selects.saturating_sub(fills) as f64 / slice.all_queries as f64;
        match contestant.candidate {
            Candidate::Hit => ensure!(share <= MISS_SHARE_MAX, "{share:.3} of the hits reached the database"),
            Candidate::Pass | Candidate::Relay => {
                ensure!(share >= PASS_SHARE_MIN, "only {share:.3} of the queries reached the database");
            }
            Candidate::Floor | Candidate::Direct => {}
        }
        Ok(())
    }
}

impl Proxy {
    fn arrange(&mut self) -> Result<(Address, Address, Pid)> {
        self.require_alive()?;
        SERVER.take(self.pid())?;
        Ok((self.tcp().clone(), self.unix().clone(), self.pid()))
    }
}

impl Bare {
    /// Starts the subcommand `name`, which takes `--listen`.
    fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let unix = Address::Unix(directory.path().join("socket"));
        let tcp: Address = format!("127.0.0.1:{}", free_port()?).parse()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(name).arg("--listen").arg(tcp.to_string()).arg("--listen").arg(unix.to_string());
        command.args(arguments);
        let log = directory.path().join("log");
        let mut running = Running::spawn(&format!("the {name}"), &mut command, SERVER, &log)?;
        running.wait_until(Duration::from_secs(10), || Socket::connect(&unix).map(drop))?;
        Ok(Self { running, tcp, unix, _directory: directory })
    }

    fn place(&mut self) -> Result<(Address, Address, Pid)> {
        self.running.require_alive()?;
        Ok((self.tcp.clone(), self.unix.clone(), self.running.pid()))
    }
}
