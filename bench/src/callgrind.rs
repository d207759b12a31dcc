//! `callgrind`: user-space instructions a query, which do not depend on how busy the host is.
//!
//! The server runs under valgrind. The counters are zeroed, the load sends a number of queries, the counters are
//! read; then the same with three times as many. The difference over the difference has no login and no fill in
//! it. The kernel's share is not seen; that is what `run` is for.
//!
//! What the server does beside the queries now and then, as looking at the catalogue, falls into one of the two runs, and can only add where a
//! number is too large. So what seems to be dearer than what is kept is measured again, and the least counts.

mod kept;
mod profile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::address::Address;
use crate::affinity::SERVER;
use crate::cpu::Pid;
use crate::database::{Database, PASSWORD, SCHEMA, USER};
use crate::load::{self, LoadOptions, Statement};
use crate::proxy::{CacheRule, POINT_SELECT, Program, Proxy, free_port};
use crate::running::Running;
use crate::socket::Socket;

use kept::Kept;

/// The contestant that is no proxy.
const FLOOR: &str = "floor";

/// How often what seems to be dearer is measured.
const TRIES: usize = 3;

/// Ids asked for.
const IDS: u32 = 100;

#[derive(Debug, clap::Args)]
pub(crate) struct CallgrindOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    /// Queries of the short run; the long one has three times as many
    #[arg(long, default_value_t = 5000)]
    queries: u64,
    #[arg(long, value_delimiter = ',', default_value = "1,64")]
    connections: Vec<usize>,
    /// Also print this many functions of each long run, by their own instructions a query
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    functions: usize,
    /// Only this contestant besides the floor; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Keep what is measured in this file
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Fail if anything costs over 3 % more than this file keeps
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Measure the floor alone, without the proxy
    #[arg(long)]
    floor_only: bool,
}

/// Where reads go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Where writes go.
    Alike,
    /// To the reader hostgroup, causally (`mysql-read_write_split`).
    Split,
}

/// A server under valgrind.
struct Subject<'a> {
    name: &'static str,
    address: &'a Address,
    pid: Pid,
    /// Where its dumps go; valgrind adds a number to the name.
    dumps: &'a Path,
    statement: Statement,
}

/// Measures and prints.
pub(crate) fn run(options: &CallgrindOptions) -> Result<()> {
    println!("| contestant | conns | user instructions a query |\n|---|---:|---:|");
    let mut measured = Kept::here()?;
    measure_floor(options, &mut measured)?;
    if !options.floor_only {
        measure_proxies(options, &options.only, &mut measured)?;
    }
    if let Some(path) = &options.keep {
        measured.write(path)?;
    }
    options.check.as_ref().map_or(Ok(()), |path| compare(&Kept::read(path)?, measured, options))
}

/// All, if `only` names none.
fn measure_proxies(options: &CallgrindOptions, only: &[String], measured: &mut Kept) -> Result<()> {
    let database = Database::start()?;
    let by_rule = CacheRule::Matching(POINT_SELECT);
    for (name, rule, reads, statement) in [
        ("hit", by_rule, Reads::Alike, Statement::Select),
        ("exact hit", CacheRule::Exact, Reads::Alike, Statement::Select),
        ("exact hit, prepared", CacheRule::Exact, Reads::Alike, Statement::Execution),
        ("exact hit, 100 rows", CacheRule::Exact, Reads::Alike, Statement::Range),
        ("exact miss", CacheRule::ExactForAMoment, Reads::Alike, Statement::Select),
        ("pass", CacheRule::Nothing, Reads::Alike, Statement::Select),
        ("pass, prepared", CacheRule::Nothing, Reads::Alike, Statement::Execution),
        ("pass, split", CacheRule::Nothing, Reads::Split, Statement::Select),
        ("write, cache off", CacheRule::Nothing, Reads::Alike, Statement::Update),
        ("write, split", CacheRule::Nothing, Reads::Split, Statement::Update),
        ("write, cache exact", CacheRule::Exact, Reads::Alike, Statement::Update),
    ] {
        if only.is_empty() || only.iter().any(|wanted| wanted == name) {
            measure_proxy(name, (rule, reads), statement, &database, options, measured)?;
        }
    }
    Ok(())
}

/// Tells what has grown, which is an error.
fn compare(kept: &Kept, mut measured: Kept, options: &CallgrindOptions) -> Result<()> {
    if let Some(why) = kept.incomparable_to(&measured) {
        println!("skipped: not compared: {why}");
        return Ok(());
    }
    for _again in 1..TRIES {
        let grown = kept.grown_in(&measured);
        let dearer = grown.iter().map(|grown| grown.contestant().to_owned());
        let (floor, proxies): (Vec<_>, Vec<_>) = dearer.partition(|name| name == FLOOR);
        if !floor.is_empty() {
            measure_floor(options, &mut measured)?;
        }
        if !proxies.is_empty() {
            measure_proxies(options, &proxies, &mut measured)?;
        }
    }
    let grown: Vec<String> = kept.grown_in(&measured).iter().map(ToString::to_string).collect();
    ensure!(grown.is_empty(), "dearer than what is kept:\n{}", grown.join("\n"));
    println!("nothing is dearer than what is kept");
    Ok(())
}

fn measure_floor(options: &CallgrindOptions, measured: &mut Kept) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let dumps = dump_path(&directory);
    let address: Address = format!("127.0.0.1:{}", free_port()?).parse()?;
    let mut command = Command::new("valgrind");
    command.args(&valgrind_words(&dumps)[1..]).arg(std::env::current_exe()?);
    command.arg("floor").arg("--listen").arg(address.to_string());
    let mut running = Running::spawn("the floor", &mut command, SERVER, &directory.path().join("log"))?;
    running.wait_until(Duration::from_secs(60), || Socket::connect(&address).map(drop))?;
    let statement = Statement::Select;
    Subject { name: FLOOR, address: &address, pid: running.pid(), dumps: &dumps, statement }
        .measure(options, measured)
}

fn measure_proxy(
    name: &'static str,
    (rule, reads): (CacheRule, Reads),
    statement: Statement,
    database: &Database,
    options: &CallgrindOptions,
    measured: &mut Kept,
) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let dumps = dump_path(&directory);
    let program = Program { wrapper: valgrind_words(&dumps), ..Program::at(&options.nuthatch)? };
    let mut proxy = Proxy::start(&program, database, rule)?;
    if reads == Reads::Split {
        proxy.split_reads(database)?;
    }
    Subject { name, address: proxy.tcp(), pid: proxy.pid(), dumps: &dumps, statement }
        .measure(options, measured)
}

fn dump_path(directory: &TempDir) -> PathBuf {
    directory.path().join("dump")
}

fn valgrind_words(dumps: &Path) -> Vec<String> {
    let out = format!("--callgrind-out-file={}", dumps.display());
    ["valgrind", "--tool=callgrind", &out].map(str::to_owned).to_vec()
}

impl Subject<'_> {
    fn measure(&self, options: &CallgrindOptions, measured: &mut Kept) -> Result<()> {
        for &connections in &options.connections {
            let load = load_options(self.address, self.statement, connections, options.queries);
            load::run(&load)?;
            let short = self.instructions(&load)?;
            let long = self.instructions(&LoadOptions { queries: Some(options.queries * 3), ..load })?;
            let a_query = (long as f64 - short as f64) / (options.queries * 2) as f64;
            println!("| {} | {connections} | {a_query:.0} |", self.name);
            measured.add(self.name, connections, a_query);
            self.print_functions(options)?;
        }
        Ok(())
    }

    fn instructions(&self, load: &LoadOptions) -> Result<u64> {
        self.control("--zero")?;
        load::run(load)?;
        self.control("--dump")?;
        newest_total(self.dumps)
    }

    /// Logins are in it, so the sum is a little more than the figure above.
    fn print_functions(&self, options: &CallgrindOptions) -> Result<()> {
        if options.functions > 0 {
            let dump = fs::read_to_string(newest_dump(self.dumps)?)?;
            for cost in profile::self_costs(&dump).iter().take(options.functions) {
                let a_query = cost.instructions as f64 / (options.queries * 3) as f64;
                println!("|   `{}` | | {a_query:.0} |", cost.function);
            }
        }
        Ok(())
    }

    fn control(&self, verb: &str) -> Result<()> {
        let output = Command::new("callgrind_control")
            .arg(verb)
            .arg(self.pid.to_string())
            .output()
            .context("cannot run callgrind_control")?;
        ensure!(output.status.success(), "callgrind_control {verb} fails");
        Ok(())
    }
}

fn load_options(target: &Address, statement: Statement, connections: usize, queries: u64) -> LoadOptions {
    LoadOptions {
        target: target.clone(),
        connections,
        seconds: 0.0,
        warmup_seconds: 0.0,
        queries: Some(queries),
        statement,
        ids: IDS,
        user: USER.into(),
        password: PASSWORD.into(),
        schema: SCHEMA.into(),
        deprecate_eof: false,
        measure: None,
        participants: vec![],
    }
}

/// The dump with the highest number.
fn newest_dump(dumps: &Path) -> Result<PathBuf> {
    let directory = dumps.parent().context("a dump has a directory")?;
    let mut newest = (0, PathBuf::new());
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let number = path.extension().and_then(|number| number.to_str()?.parse::<u32>().ok());
        newest = newest.max((number.unwrap_or(0), path));
    }
    ensure!(newest.0 > 0, "valgrind has written no dump");
    Ok(newest.1)
}

fn newest_total(dumps: &Path) -> Result<u64> {
    parse_total(&fs::read_to_string(newest_dump(dumps)?)?)
}

fn parse_total(dump: &str) -> Result<u64> {
    let line = dump.lines().rev().find_map(|line| line.strip_prefix("totals:"));
    line.and_then(|text| text.trim().parse().ok()).context("the dump has no total")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_of_the_newest_dump() {
        let directory = tempfile::tempdir().unwrap();
        let dumps = dump_path(&directory);
        assert!(newest_total(&dumps).is_err());
        for number in [2, 10] {
            let text = format!("version: 1\nevents: Ir\nfn=a\n1 2\ntotals: {number}77\n");
            fs::write(dumps.with_extension(number.to_string()), text).unwrap();
        }
        assert_eq!(newest_total(&dumps).unwrap(), 1077);
        assert!(parse_total("events: Ir\n").is_err());
    }
}
