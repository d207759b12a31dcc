//! `multiplex`: hundreds of clients that insert and ask for their ids, over few backend connections.
//!
//! The same crowd takes turns with the server alone and with the proxy before it, on the same cores. Every id that a
//! client is told is checked by reading the row back, every insert that was acknowledged is counted on the server, and
//! the server itself says how many connections it had. Its `max_connections` is left at 1,000 and so is the proxy's: few
//! connections must come from multiplexing.

mod census;
mod client;
mod crowd;
mod dialogue;
mod script;
mod slice;
mod switching;
mod switchover;
mod verdict;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::address::Address;
use crate::affinity;
use crate::client::Client;
use crate::database::{self, Database};
use crate::priority::Priority;
use crate::proxy::{CacheRule, Program, Proxy};
use crate::running::raise_open_files;
use census::Census;
use crowd::Crowd;
use dialogue::Dialogue;
use slice::Slice;
use verdict::{Pair, Verdict};

/// `max_connections` of the server, which is its lab's default.
const CONNECTIONS_MAX: u32 = 1000;

/// Clients to one backend connection: 600 must live on 30.
const CLIENTS_PER_BACKEND: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct MultiplexOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    #[arg(long, default_value_t = 600)]
    clients: usize,
    /// Counted part of each slice
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Run before it; its connections and ids count, its times do not
    #[arg(long, default_value_t = 2.0)]
    warmup_seconds: f64,
    /// Pairs of a direct and a proxied slice
    #[arg(long, default_value_t = 3)]
    repetitions: u32,
    /// Mean pause of a client between an answer and its next statement; each is between half and one and a half of it
    #[arg(long, default_value_t = 100)]
    think_ms: u32,
    /// Threads of the proxy
    #[arg(long, default_value_t = 2)]
    workers: u32,
    /// Decides what each client does
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Backend connections allowed; a twentieth of the clients unless said otherwise
    #[arg(long)]
    backends_max: Option<u64>,
    /// Leave out the direct slices: ids, counts and connections are judged, speed is not
    #[arg(long)]
    alone: bool,
    /// Planned switchovers in the counted part of each slice, on a primary and two replicas, through the proxy only: errors, inserts and
    /// stalls are judged
    #[arg(long, default_value_t = 0)]
    switchovers: u32,
    /// Root of a MySQL that tools/side-apt.sh has unpacked, in place of this system's MariaDB; with --switchovers only
    #[arg(long, requires = "switchovers")]
    mysql: Option<PathBuf>,
    /// Nice value of all that takes part; below 0 needs root
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    nice: i32,
    /// Exit with an error if a requirement is missed
    #[arg(long)]
    gate: bool,
}

/// Measures and prints.
pub(crate) fn run(options: &MultiplexOptions) -> Result<()> {
    let program = Program::at(&options.nuthatch)?;
    affinity::require_both()?;
    raise_open_files()?;
    let mut priority = Priority::of_this_process(options.nice)?;
    let verdicts = match options.switchovers {
        0 => compare(options, program, &mut priority)?,
        _ => {
            println!("{}", options.describe());
            switching::run(&options.course()?, &program)?
        }
    };
    for verdict in &verdicts {
        println!("{verdict}");
    }
    if options.gate && !verdicts.iter().all(Verdict::is_met) {
        bail!("a requirement is missed");
    }
    Ok(())
}

/// Direct and proxied slices in turn.
fn compare(options: &MultiplexOptions, program: Program, priority: &mut Priority) -> Result<Vec<Verdict>> {
    let database = Database::start_for(CONNECTIONS_MAX)?;
    priority.include(database.pid()?)?;
    affinity::release(database.pid()?)?;
    println!("{}, max_connections {CONNECTIONS_MAX}; {}", database.version(), options.describe());
    let stage = Stage { options, program, database };
    let mut pairs = Vec::new();
    for repetition in 1..=options.repetitions.max(1) {
        let direct = if options.alone { None } else { Some(stage.direct(repetition)?) };
        let proxied = stage.proxied(repetition)?;
        pairs.push(Pair { direct, proxied });
    }
    Ok(verdict::judge(&pairs, options.backends_max()))
}

impl MultiplexOptions {
    fn backends_max(&self) -> u64 {
        self.backends_max.unwrap_or((self.clients / CLIENTS_PER_BACKEND) as u64)
    }

    fn describe(&self) -> String {
        format!(
            "{} clients, think time {} ms, {} s a slice, {} workers, seed {}",
            self.clients, self.think_ms, self.seconds, self.workers, self.seed
        )
    }

    fn course(&self) -> Result<switching::Course> {
        Ok(switching::Course {
            mysql: self.mysql.as_deref().map(std::path::absolute).transpose()?,
            workers: self.workers,
            switchovers: self.switchovers,
            slices: (1..=self.repetitions.max(1)).map(|repetition| self.crowd(repetition)).collect(),
        })
    }

    fn crowd(&self, repetition: u32) -> crowd::Plan {
        crowd::Plan {
            clients: self.clients,
            think: Duration::from_millis(self.think_ms.into()),
            warmup: Duration::from_secs_f64(self.warmup_seconds),
            counted: Duration::from_secs_f64(self.seconds),
            // Both sides of a pair do the same.
            seed: self.seed.wrapping_add(u64::from(repetition) << 32),
        }
    }
}

struct Stage<'a> {
    options: &'a MultiplexOptions,
    program: Program,
    database: Database,
}

/// What watches a slice from the server's side.
struct Begun {
    counter: Dialogue,
    census: Census,
}

impl Stage<'_> {
    fn direct(&self, repetition: u32) -> Result<Slice> {
        let begun = self.begin()?;
        self.slice("direct", repetition, &self.database.tcp(), begun)
    }

    fn proxied(&self, repetition: u32) -> Result<Slice> {
        // Counted from before the proxy's first connection.
        let begun = self.begin()?;
        let rule = CacheRule::Nothing;
        let mut proxy = Proxy::start_with(&self.program, &self.database, rule, self.options.workers)?;
        affinity::release(proxy.pid())?;
        let slice = self.slice("proxied", repetition, &proxy.tcp().clone(), begun)?;
        proxy.require_alive()?;
        Ok(slice)
    }

    /// An empty table, nobody else connected, and somebody who watches.
    fn begin(&self) -> Result<Begun> {
        let server = self.database.tcp();
        let mut client = Client::connect(&server, &database::login())?;
        client.query("DROP TABLE IF EXISTS tickets")?;
        client.query(script::TABLE)?;
        let counter = Dialogue::connect(&server, &database::login())?;
        drop(client);
        Ok(Begun { counter, census: Census::begin(&server)? })
    }

    fn slice(&self, name: &str, repetition: u32, target: &Address, begun: Begun) -> Result<Slice> {
        let Begun { mut counter, census } = begun;
        let tally = Crowd::gather(target, &self.options.crowd(repetition))?.run()?;
        let (connections_peak, connections_sampled) = census.end()?;
        let rows = counter.number("SELECT COUNT(*) FROM tickets")?;
        let slice = Slice { tally, connections_peak, connections_sampled, rows };
        println!("{repetition} {name:8} {slice}");
        for wrong in slice.tally.wrong.iter().take(5) {
            println!("  wrong: {wrong}");
        }
        ensure!(slice.tally.statements > 0, "nothing was answered");
        Ok(slice)
    }
}
