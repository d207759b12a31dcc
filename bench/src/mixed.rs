//! `mixed`: what it costs when sessions of two schemas and two character sets take turns on the same connections.
//!
//! Two sessions take turns, one statement each. In the *uniform* slices both live in the same schema and character set, in the
//! *mixed* ones in different ones; with a pool of one connection each statement of the mixed slices needs the connection
//! changed, with a pool of many each session finds one that suits. What the server was sent to change connections is its own count.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::address::Address;
use crate::affinity;
use crate::client::Client;
use crate::clock::monotonic;
use crate::cpu::{Meter, Pid};
use crate::database::{self, Database};
use crate::login::Login;
use crate::priority::Priority;
use crate::proxy::{CacheRule, Program, Proxy};

/// Mixed by uniform, with a pool of many connections.
const RATIO_OF_MANY_MAX: f64 = 1.05;

/// The same with one connection.
const RATIO_OF_ONE_MAX: f64 = 2.0;

const OTHER_SCHEMA: &str = "sbtest_other";

const STATEMENT: &str = "SELECT c FROM sbtest1 WHERE id = 501";

#[derive(Debug, clap::Args)]
pub(crate) struct MixedOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    /// Counted part of each slice
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Slices of each kind
    #[arg(long, default_value_t = 5)]
    repetitions: u32,
    /// Nice value of all that takes part; below 0 needs root
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    nice: i32,
    /// Exit with an error if a requirement is missed
    #[arg(long)]
    gate: bool,
}

/// CPU time of the proxy and the server in one slice.
#[derive(Debug, Clone, Copy)]
struct Slice {
    statements: u64,
    proxy_us: f64,
    server_us: f64,
    /// Changes of schema and SETs that the server counted.
    changes: u64,
}

impl Slice {
    fn us_per_statement(&self) -> f64 {
        (self.proxy_us + self.server_us) / self.statements as f64
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = |value: f64| value / self.statements as f64;
        write!(
            f,
            "{:7} statements  {:6.2} us each  proxy {:6.2}  server {:6.2}  {:.3} changes each",
            self.statements,
            self.us_per_statement(),
            per(self.proxy_us),
            per(self.server_us),
            per(self.changes as f64),
        )
    }
}

/// Measures and prints.
pub(crate) fn run(options: &MixedOptions) -> Result<()> {
    let program = Program::at(&options.nuthatch)?;
    affinity::require_both()?;
    let mut priority = Priority::of_this_process(options.nice)?;
    let database = Database::start()?;
    priority.include(database.pid()?)?;
    database.stand_behind_proxy()?;
    let mut direct = Client::connect(&database.tcp(), &database::login())?;
    direct.query(&format!("CREATE DATABASE {OTHER_SCHEMA}"))?;
    direct.query(&format!("CREATE TABLE {OTHER_SCHEMA}.sbtest1 LIKE sbtest1"))?;
    direct.query(&format!("INSERT INTO {OTHER_SCHEMA}.sbtest1 SELECT * FROM sbtest1"))?;
    let mut is_met = true;
    for (pool, connections_max, ratio_max) in [("many", 100, RATIO_OF_MANY_MAX), ("one", 1, RATIO_OF_ONE_MAX)]
    {
        let proxy = Proxy::start(&program, &database, CacheRule::Nothing)?;
        proxy.administer(&format!(
            "UPDATE mysql_servers SET max_connections={connections_max}; LOAD MYSQL SERVERS TO RUNTIME;"
        ))?;
        let stage = Stage { options, database: &database, proxy: &proxy };
        let mut ratios = Vec::new();
        for repetition in 1..=options.repetitions.max(1) {
            let uniform = stage.slice(false)?;
            let mixed = stage.slice(true)?;
            println!("{repetition} pool of {pool:4} uniform {uniform}");
            println!("{repetition} pool of {pool:4} mixed   {mixed}");
            ratios.push(mixed.us_per_statement() / uniform.us_per_statement());
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
        let met = median <= ratio_max;
        is_met &= met;
        println!(
            "{} CPU of mixed / uniform with a pool of {pool}: {median:.3}, at most {ratio_max}",
            if met { "met   " } else { "MISSED" }
        );
    }
    if options.gate && !is_met {
        bail!("a requirement is missed");
    }
    Ok(())
}

struct Stage<'a> {
    options: &'a MixedOptions,
    database: &'a Database,
    proxy: &'a Proxy,
}

impl Stage<'_> {
    fn slice(&self, is_mixed: bool) -> Result<Slice> {
        let first = self.session("sbtest", "utf8mb4")?;
        let second = match is_mixed {
            true => self.session(OTHER_SCHEMA, "latin1")?,
            false => self.session("sbtest", "utf8mb4")?,
        };
        let mut sessions = [first, second];
        take_turns(&mut sessions, Duration::from_millis(300))?;
        let changes_before = self.changes()?;
        let meters = [self.meter(self.proxy.pid()), self.meter(self.database.pid()?)];
        let opened = [meters[0].open()?, meters[1].open()?];
        let statements = take_turns(&mut sessions, Duration::from_secs_f64(self.options.seconds))?;
        let used = [meters[0].close(&opened[0])?, meters[1].close(&opened[1])?];
        Ok(Slice {
            statements,
            proxy_us: used[0].total_us,
            server_us: used[1].total_us,
            changes: self.changes()?.saturating_sub(changes_before),
        })
    }

    fn session(&self, schema: &str, charset: &str) -> Result<Client> {
        let login = Login { schema: schema.into(), ..database::login() };
        let address: &Address = self.proxy.tcp();
        let mut client = Client::connect(address, &login)?;
        client.query(&format!("SET NAMES {charset}"))?;
        Ok(client)
    }

    fn meter(&self, measured: Pid) -> Meter {
        Meter { measured, participants: vec![self.proxy.pid(), self.database.pid().unwrap_or(measured)] }
    }

    /// Changes of schema and SETs that the server has been sent.
    fn changes(&self) -> Result<u64> {
        Ok(self.database.counted("Com_change_db")? + self.database.counted("Com_set_option")?)
    }
}

/// Each its statement, in turn; how many there were.
fn take_turns(sessions: &mut [Client; 2], during: Duration) -> Result<u64> {
    let until = monotonic() + during;
    let mut statements = 0;
    while monotonic() < until {
        for session in &mut *sessions {
            session.query(STATEMENT)?;
            statements += 1;
        }
    }
    Ok(statements)
}
