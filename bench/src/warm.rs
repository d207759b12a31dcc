//! What clients notice in the minute after one of two servers was started anew: with its whole share at once and an empty memory, while it
//! loads its dump, and with the gate.
//!
//! Two servers with the same table, larger than their buffer pools, take sysbench's point selects at a fixed rate. Their disks are slow: the
//! kernel lets each do so many reads a second (`blkio.throttle.read_iops_device`, with O_DIRECT, so it takes cgroups of the first version and root). Of
//! each second the 99th percentile and the throughput are sysbench's own.

mod chart;
mod second;
mod slow_disk;

use std::fmt;
use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use nuthatch_lab::{Options, Role, ScratchLab};

use self::second::Second;
use self::slow_disk::SlowDisk;
use crate::address::Address;
use crate::affinity;
use crate::clock::monotonic;
use crate::database::{PASSWORD, SCHEMA, USER};
use crate::median::median;
use crate::proxy::{Program, Proxy};
use crate::sysbench::{Stopped, point_at};

/// The server that is started anew.
const COLD: Role = Role::Replica(1);

const REPLICA_WAIT: Duration = Duration::from_secs(180);

/// Seconds of a slice before the restart, and of a steady one that do not count.
const LEAD_IN_S: u32 = 6;

/// The most that the worst second may be above that of a steady run.
const GOAL: f64 = 1.5;

#[derive(Debug, Args)]
pub(crate) struct WarmOptions {
    /// The proxy's program
    #[arg(long)]
    nuthatch: PathBuf,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Of each slice, that count
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Statements a second
    #[arg(long, default_value_t = 1000)]
    rate: u32,
    #[arg(long, default_value_t = 16)]
    threads: u32,
    /// Reads that a disk does in a second
    #[arg(long, default_value_t = 300)]
    iops: u32,
    #[arg(long, default_value_t = 80)]
    buffer_pool_mib: u32,
    #[arg(long, default_value_t = 500_000)]
    rows: u32,
    /// Of full speed on quick disks before each slice, so that memories are full
    #[arg(long, default_value_t = 5)]
    fill_seconds: u32,
    /// mysql-warm_weight; what is delivered without it
    #[arg(long)]
    warm_weight: Option<u32>,
    /// What is measured
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Way::ALL)]
    ways: Vec<Way>,
    /// Show the 99th percentile of each second, in milliseconds
    #[arg(long)]
    seconds_too: bool,
    /// Where the drawing is written
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// What a slice is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    Steady,
    Cold,
    DumpOnly,
    Gate,
}

impl Way {
    const ALL: [Self; 4] = [Self::Steady, Self::Cold, Self::DumpOnly, Self::Gate];
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steady => "no restart",
            Self::Cold => "empty, whole share",
            Self::DumpOnly => "dump, whole share",
            Self::Gate => "dump and gate",
        })
    }
}

/// One slice, second by second.
#[derive(Debug)]
struct Slice {
    way: Way,
    seconds: Vec<Second>,
}

pub(crate) fn run(options: &WarmOptions) -> Result<()> {
    let mut stage = Stage::up(options)?;
    let mut slices = Vec::new();
    for round in 1..=options.rounds {
        for way in Way::ALL.into_iter().filter(|way| options.ways.contains(way)) {
            let slice = stage.slice(way)?;
            println!(
                "{round} {way:<20} worst second: p99 {:>8.1} ms, {:>6.0} a second",
                slice.worst_ms(),
                slice.slowest()
            );
            if options.seconds_too {
                println!("  {}", slice.all());
            }
            slices.push(slice);
        }
    }
    println!("\n{}", table(&slices));
    if let Some(path) = &options.svg {
        let middle = Way::ALL.map(|way| (way.to_string(), middle(&slices, way)));
        std::fs::write(path, chart::svg(&middle)?).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

impl Slice {
    fn worst_ms(&self) -> f64 {
        self.seconds.iter().map(|second| second.p99_ms).fold(0.0, f64::max)
    }

    fn all(&self) -> String {
        self.seconds.iter().map(|second| format!("{:.0}", second.p99_ms)).collect::<Vec<_>>().join(" ")
    }

    fn slowest(&self) -> f64 {
        self.seconds.iter().map(|second| second.per_second).fold(f64::INFINITY, f64::min)
    }
}

/// The medians of all rounds, and whether the goal is met.
fn table(slices: &[Slice]) -> String {
    let of =
        |way: Way, what: fn(&Slice) -> f64| median(slices.iter().filter(|slice| slice.way == way).map(what));
    let steady = of(Way::Steady, Slice::worst_ms);
    let mut text = format!(
        "{:<20} {:>22} {:>14} {:>22}\n",
        "", "p99, worst second, ms", "of no restart", "slowest second, 1/s"
    );
    for way in Way::ALL {
        let worst = of(way, Slice::worst_ms);
        text += &format!(
            "{:<20} {worst:>22.1} {:>14.2} {:>22.0}\n",
            way.to_string(),
            worst / steady,
            of(way, Slice::slowest)
        );
    }
    let ratio = of(Way::Gate, Slice::worst_ms) / steady;
    let is_met = if ratio <= GOAL { "met" } else { "NOT met" };
    text + &format!(
        "goal: with the gate at most {GOAL} times the worst second without a restart: {ratio:.2}, {is_met}"
    )
}

/// The median of each second.
fn middle(slices: &[Slice], way: Way) -> Vec<Second> {
    let of: Vec<_> = slices.iter().filter(|slice| slice.way == way).collect();
    let length = of.iter().map(|slice| slice.seconds.len()).min().unwrap_or(0);
    let at = |place: usize, what: fn(&Second) -> f64| {
        median(of.iter().filter_map(|slice| slice.seconds.get(place)).map(what))
    };
    let second = |place| Second {
        per_second: at(place, |second| second.per_second),
        p99_ms: at(place, |second| second.p99_ms),
    };
    (0..length).map(second).collect()
}

/// The servers, their disks and the proxy.
struct Stage<'a> {
    // Before its servers.
    proxy: Proxy,
    lab: ScratchLab,
    disks: [SlowDisk; 2],
    options: &'a WarmOptions,
}

impl<'a> Stage<'a> {
    fn up(options: &'a WarmOptions) -> Result<Self> {
        let extra = [
            "innodb_flush_method=O_DIRECT",
            "innodb_use_native_aio=OFF",
            "innodb_buffer_pool_load_at_startup=ON",
            "innodb_buffer_pool_dump_pct=100",
            "innodb_io_capacity=2000",
        ];
        let lab = ScratchLab::up(&Options {
            buffer_pool_mib: options.buffer_pool_mib,
            extra: extra.map(String::from).into(),
            ..Options::default()
        })?;
        lab.primary().query(&format!(
            "CREATE DATABASE {SCHEMA}; CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO {USER}@'%'"
        ))?;
        let target = Address::Tcp(lab.primary().address());
        let made = sysbench(options, &target).args(["--threads=1", "prepare"]).output()?;
        ensure!(made.status.success(), "sysbench: {}", String::from_utf8_lossy(&made.stdout));
        // For a replica that connects again its source reads its newest binlog from the beginning. It was that with the table once: the other
        // server had its worst second of 2.6 s or more then, with the gate and without.
        lab.primary().query("FLUSH BINARY LOGS")?;
        lab.await_replicas(REPLICA_WAIT)?;
        let disks = [SlowDisk::of("primary", lab.dir())?, SlowDisk::of("replica", lab.dir())?];
        for (disk, role) in disks.iter().zip([Role::Primary, COLD]) {
            let pid = lab.server(role)?.pid().context("a server has ended")?;
            disk.take_in(pid)?;
            affinity::release(pid.cast_unsigned())?;
        }
        let proxy =
            Proxy::start_before(&Program::at(&options.nuthatch)?, &lab.primary().address().to_string(), 2)?;
        affinity::release(proxy.pid())?;
        let stage = Self { proxy, lab, disks, options };
        stage.configure()?;
        Ok(stage)
    }

    fn configure(&self) -> Result<()> {
        let mut statements = format!(
            "SET mysql-monitor_username='{USER}'; SET mysql-monitor_password='{PASSWORD}'; \
             SET mysql-monitor_ping_interval=1000; SET mysql-query_cache_type=0; SET mysql-warm_dump_interval_ms=0;"
        );
        if let Some(weight) = self.options.warm_weight {
            statements += &format!("SET mysql-warm_weight={weight};");
        }
        let port = self.lab.server(COLD)?.port();
        statements += &format!(
            "LOAD MYSQL VARIABLES TO RUNTIME; INSERT INTO mysql_servers (hostgroup_id, hostname, port) \
             VALUES (0, '127.0.0.1', {port}); LOAD MYSQL SERVERS TO RUNTIME"
        );
        self.proxy.administer(&statements)
    }

    fn slice(&mut self, way: Way) -> Result<Slice> {
        let pct = if way == Way::Gate { 90 } else { 0 };
        self.proxy.administer(&format!("SET mysql-warm_pct={pct}; LOAD MYSQL VARIABLES TO RUNTIME"))?;
        self.fill()?;
        let mut load = Load::begin(self.options, self.proxy.tcp())?;
        load.take(LEAD_IN_S)?;
        if way != Way::Steady {
            self.start_anew(way)?;
        }
        // Those of the restart itself do not count.
        load.skip()?;
        Ok(Slice { way, seconds: load.take(self.options.seconds)? })
    }

    /// Both have in memory what is asked for most, and one has dumped that.
    fn fill(&self) -> Result<()> {
        self.disks.iter().try_for_each(|disk| disk.allow(0))?;
        for role in [Role::Primary, COLD] {
            let target = Address::Tcp(self.lab.server(role)?.address());
            let time = format!("--time={}", self.options.fill_seconds);
            let filled = sysbench(self.options, &target).args([&time, "--threads=8", "run"]).output()?;
            ensure!(filled.status.success(), "sysbench: {}", String::from_utf8_lossy(&filled.stdout));
        }
        let server = self.lab.server(COLD)?;
        server.query("SET GLOBAL innodb_buffer_pool_dump_now = ON")?;
        std::thread::sleep(Duration::from_secs(1));
        self.disks.iter().try_for_each(|disk| disk.allow(self.options.iops))
    }

    fn start_anew(&mut self, way: Way) -> Result<()> {
        let [_, disk] = &self.disks;
        self.lab.stop(COLD)?;
        if way == Way::Cold {
            let log = self.lab.server(COLD)?.error_log();
            let data = log.parent().context("no directory")?.join("data");
            std::fs::remove_file(data.join("ib_buffer_pool")).context("there is no dump")?;
        }
        // The server reads from a slow disk from its first read on.
        disk.take_in_self()?;
        let started = self.lab.start(COLD);
        disk.leave()?;
        started?;
        affinity::release(self.lab.server(COLD)?.pid().context("it has ended")?.cast_unsigned())
    }
}

fn sysbench(options: &WarmOptions, target: &Address) -> Command {
    let mut command = Command::new("sysbench");
    command.args(["oltp_point_select", "--db-ps-mode=disable", "--tables=1", "--rand-type=pareto"]);
    command.arg(format!("--table-size={}", options.rows));
    point_at(&mut command, target);
    command
}

/// Statements through the proxy, at a fixed rate.
struct Load {
    _sysbench: Stopped,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Load {
    fn begin(options: &WarmOptions, target: &Address) -> Result<Self> {
        let mut command = sysbench(options, target);
        command.args(["--report-interval=1", "--percentile=99", "--mysql-ignore-errors=all", "--time=0"]);
        command.arg(format!("--rate={}", options.rate)).arg(format!("--threads={}", options.threads));
        command.arg("run").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut sysbench = Stopped(command.spawn().context("cannot start sysbench")?);
        let output = sysbench.0.stdout.take().context("no pipe")?;
        Ok(Self { _sysbench: sysbench, lines: BufReader::new(output).lines() })
    }

    /// The next seconds.
    fn take(&mut self, seconds: u32) -> Result<Vec<Second>> {
        (0..seconds).map(|_| self.second()).collect()
    }

    /// Passes over what was told already.
    fn skip(&mut self) -> Result<()> {
        loop {
            let asked = monotonic();
            self.second()?;
            if monotonic() - asked > Duration::from_millis(500) {
                return Ok(());
            }
        }
    }

    fn second(&mut self) -> Result<Second> {
        loop {
            let line = self.lines.next().context("sysbench has ended")??;
            if let Some(second) = Second::parse(&line) {
                return Ok(second);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_whether_the_goal_is_met() {
        let slice = |way, p99_ms| Slice { way, seconds: vec![Second { per_second: 1.0, p99_ms }; 2] };
        let of = |gate| Way::ALL.map(|way| slice(way, if way == Way::Gate { gate } else { 10.0 }));
        assert!(table(&of(15.0)).ends_with("1.50, met"));
        assert!(table(&of(15.1)).ends_with("1.51, NOT met"));
        assert_eq!(middle(&of(3.0), Way::Gate), [Second { per_second: 1.0, p99_ms: 3.0 }; 2]);
    }
}
