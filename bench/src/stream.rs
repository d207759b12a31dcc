//! `stream`: how far a large result set raises the proxy's memory.
//!
//! 1 GiB in rows of 1 MiB and of 64 MiB, with a client that reads as fast as it can and with one that reads
//! 1 MB/s, without and with a cache rule that matches. The growth is the highest resident memory during the query
//! above what was resident before it. Afterwards the proxy must still answer.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::client::Client;
use crate::clock::monotonic;
use crate::database::{self, Database};
use crate::proxy::{CacheRule, Program, Proxy};
use crate::reply::Ending;
use crate::resident::{forget_peak, peak_kib, settled_kib};

/// Highest growth, in KiB.
const GROWTH_KIB_MAX: u64 = 16 * 1024;

/// Digests of the queries below.
const LARGE_SELECT: &str = "^SELECT REPEAT";

/// What a slow client reads in a second, and how much of it at once.
const SLOW_BYTES_PER_SECOND: u64 = 1_000_000;
const SLOW_READ_BYTES: usize = 50_000;

/// Read by a fast client at once.
const FAST_READ_BYTES: usize = 256 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct StreamOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    /// Size of the result sets
    #[arg(long, default_value_t = 1024)]
    mebibytes: u64,
    /// How long the slow client reads before it goes away
    #[arg(long, default_value_t = 20)]
    slow_seconds: u64,
    /// Exit with an error if the requirement is missed
    #[arg(long)]
    gate: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Fast,
    Slow,
}

/// One large query.
#[derive(Debug, Clone, Copy)]
struct Case {
    row_mebibytes: u64,
    pace: Pace,
    rule: CacheRule,
}

/// What a case found.
#[derive(Debug, Clone, Copy)]
struct Found {
    growth_kib: u64,
    received_bytes: u64,
    seconds: f64,
}

/// Measures and prints.
pub(crate) fn run(options: &StreamOptions) -> Result<()> {
    let program = Program::at(&options.nuthatch)?;
    let database = Database::start()?;
    println!(
        "| rows | client | cache rule | read | seconds | growth, KiB | |\n|---|---|---|---:|---:|---:|---|"
    );
    let mut missed = 0;
    for rule in [CacheRule::Nothing, CacheRule::Matching(LARGE_SELECT)] {
        let proxy = Proxy::start(&program, &database, rule)?;
        for row_mebibytes in [1, 64] {
            for pace in [Pace::Fast, Pace::Slow] {
                let case = Case { row_mebibytes, pace, rule };
                let found = measure(&proxy, case, options).with_context(|| format!("{case:?}"))?;
                println!("{}", line(case, found));
                missed += usize::from(!found.is_met());
            }
        }
    }
    if options.gate && missed > 0 {
        bail!("{missed} cases raise the memory by more than {GROWTH_KIB_MAX} KiB");
    }
    Ok(())
}

fn measure(proxy: &Proxy, case: Case, options: &StreamOptions) -> Result<Found> {
    let mut client = Client::connect(proxy.tcp(), &database::login())?;
    client.query("SELECT 1")?;
    let before_kib = settled_kib(proxy.pid())?;
    forget_peak(proxy.pid())?;
    let start = monotonic();
    let received_bytes = match case.pace {
        Pace::Fast => read_all(&mut client, case, options)?,
        Pace::Slow => read_slowly(&mut client, case, options)?,
    };
    let seconds = (monotonic() - start).as_secs_f64();
    let growth_kib = peak_kib(proxy.pid())?.saturating_sub(before_kib);
    drop(client);
    Client::connect(proxy.tcp(), &database::login())?.query("SELECT 1").context("afterwards")?;
    Ok(Found { growth_kib, received_bytes, seconds })
}

fn sql(case: Case, options: &StreamOptions) -> String {
    let rows = options.mebibytes.div_ceil(case.row_mebibytes);
    format!("SELECT REPEAT('x',{}) FROM seq_1_to_{rows}", case.row_mebibytes << 20)
}

fn read_all(client: &mut Client, case: Case, options: &StreamOptions) -> Result<u64> {
    let rows = options.mebibytes.div_ceil(case.row_mebibytes);
    let mut reply = client.send(&sql(case, options))?;
    loop {
        if let Some(ending) = reply.read(FAST_READ_BYTES)? {
            ensure!(ending == Ending::Rows(rows), "{rows} rows are wanted, not {ending:?}");
            ensure!(reply.received_bytes >= rows * (case.row_mebibytes << 20), "the rows are too short");
            return Ok(reply.received_bytes);
        }
    }
}

/// Reads for the given time at the given rate; the rest stays where it is.
fn read_slowly(client: &mut Client, case: Case, options: &StreamOptions) -> Result<u64> {
    let mut reply = client.send(&sql(case, options))?;
    let start = monotonic();
    let end = start + Duration::from_secs(options.slow_seconds);
    while monotonic() < end {
        ensure!(reply.read(SLOW_READ_BYTES)?.is_none(), "the slow client came to the end");
        let due = Duration::from_secs_f64(reply.received_bytes as f64 / SLOW_BYTES_PER_SECOND as f64);
        std::thread::sleep((start + due).saturating_sub(monotonic()));
    }
    Ok(reply.received_bytes)
}

impl Found {
    fn is_met(self) -> bool {
        self.growth_kib <= GROWTH_KIB_MAX
    }
}

fn line(case: Case, found: Found) -> String {
    let pace = match case.pace {
        Pace::Fast => "fast",
        Pace::Slow => "1 MB/s",
    };
    let rule = match case.rule {
        CacheRule::Nothing => "none",
        CacheRule::Exact | CacheRule::ExactForAMoment => "exact",
        CacheRule::Matching(_) => "matches",
    };
    format!(
        "| {} MiB | {pace} | {rule} | {} MiB | {:.1} | {} | {} |",
        case.row_mebibytes,
        found.received_bytes >> 20,
        found.seconds,
        found.growth_kib,
        if found.is_met() { "met" } else { "MISSED" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_above_sixteen_mebibytes_is_missed() {
        let found = |growth_kib| Found { growth_kib, received_bytes: 1 << 30, seconds: 1.0 };
        let case = Case { row_mebibytes: 64, pace: Pace::Slow, rule: CacheRule::Matching(LARGE_SELECT) };
        let met = line(case, found(16_384));
        assert_eq!(met, "| 64 MiB | 1 MB/s | matches | 1024 MiB | 1.0 | 16384 | met |");
        assert!(line(case, found(16_385)).ends_with("| MISSED |"));
    }
}
