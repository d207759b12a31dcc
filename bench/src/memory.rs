//! `memory`: what an idle client, or a cached answer, costs in resident memory.
//!
//! Of clients two figures: of those that have only logged in, and of the same ones idle after a statement each, whose buffers
//! have been in use. Both are above the process with no client, which has answered a query before. Of answers (`--entries`) that of
//! sysbench's point select, each row's own, beside what the cache says that it takes and what key and packets are.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::address::Address;
use crate::client::Client;
use crate::database::{self, Database};
use crate::proxy::{CacheRule, Program, Proxy};
use crate::resident::settled_kib;
use crate::running::raise_open_files;

/// Resident memory of the proxy for each idle client, in KiB.
const CLIENT_KIB_MAX: f64 = 12.0;
/// Resident memory of the proxy for each cached answer beyond key and packets, in bytes.
const ENTRY_BYTES_MAX: f64 = 80.0;

#[derive(Debug, clap::Args)]
pub(crate) struct MemoryOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    #[arg(long, default_value_t = 2000)]
    clients: u32,
    /// Measure cached answers, so many, and no clients
    #[arg(long, conflicts_with = "clients")]
    entries: Option<u64>,
    /// Exit with an error if the requirement is missed
    #[arg(long)]
    gate: bool,
}

/// Measures and prints.
pub(crate) fn run(options: &MemoryOptions) -> Result<()> {
    let program = Program::at(&options.nuthatch)?;
    raise_open_files()?;
    let database = Database::start()?;
    if let Some(entries) = options.entries {
        return measure_entries(&program, &database, entries, options.gate);
    }
    let proxy = Proxy::start(&program, &database, CacheRule::Nothing)?;
    let idle_kib = settled_kib(proxy.pid())?;
    println!("no client: {idle_kib} KiB");
    let mut clients = connect(proxy.tcp(), options.clients)?;
    let after_login = judge("logged in", settled_kib(proxy.pid())?, idle_kib, options.clients);
    for client in &mut clients {
        client.query("SELECT c FROM sbtest1 WHERE id=1")?;
    }
    let after_query = judge("after a query each", settled_kib(proxy.pid())?, idle_kib, options.clients);
    drop(clients);
    println!("all gone: {} KiB", settled_kib(proxy.pid())?);
    if options.gate && !(after_login && after_query) {
        bail!("an idle client costs more than {CLIENT_KIB_MAX} KiB");
    }
    Ok(())
}

fn measure_entries(program: &Program, database: &Database, entries: u64, has_gate: bool) -> Result<()> {
    database.grow_to(entries)?;
    let proxy = Proxy::start(program, database, CacheRule::Exact)?;
    // Nobody asks again for what is stored, which would not pay then.
    proxy.administer("SET mysql-query_cache_admission = false")?;
    proxy.administer("SET mysql-query_cache_size_MB = 4096")?;
    proxy.administer("LOAD MYSQL VARIABLES TO RUNTIME")?;
    let mut client = Client::connect(proxy.tcp(), &database::login())?;
    // A first few, so that what is made once is there.
    let mut fill = |ids: std::ops::RangeInclusive<u64>| -> Result<u64> {
        let mut bytes = 0;
        for id in ids {
            let statement = format!("SELECT c FROM sbtest1 WHERE id={id}");
            client.query(&statement)?;
            bytes += statement.len() as u64;
        }
        Ok(bytes)
    };
    let figure = |name: &str| -> Result<u64> {
        let asked = format!("SELECT variable_value FROM stats_mysql_global WHERE variable_name = '{name}'");
        proxy.ask(&asked)?.trim().parse().with_context(|| format!("the proxy does not say {name}"))
    };
    let warm = entries / 100;
    fill(1..=warm)?;
    let held = || -> Result<[u64; 4]> {
        let resident_bytes = settled_kib(proxy.pid())? * 1024;
        let names = ["Query_Cache_Entries", "Query_Cache_Memory_bytes", "Query_Cache_bytes_IN"];
        let [count, accounted, packets] = names.map(&figure);
        Ok([count?, resident_bytes, accounted?, packets?])
    };
    let before = held()?;
    let statement_bytes = fill(warm + 1..=entries)?;
    let after = held()?;
    let kept = after[0] - before[0];
    if kept != entries - warm {
        bail!("{kept} answers were kept of {}", entries - warm);
    }
    let [count, resident, accounted, packets] = std::array::from_fn(|at| (after[at] - before[at]) as f64);
    let data = (packets + statement_bytes as f64) / count;
    let each = resident / count;
    println!(
        "{entries} answers of {data:.0} bytes of statement and packets: {each:.0} resident bytes each, {:.0} accounted; {:.0} beyond",
        accounted / count,
        each - data
    );
    if has_gate && each - data > ENTRY_BYTES_MAX {
        bail!("a cached answer costs more than {ENTRY_BYTES_MAX} bytes beyond its own");
    }
    Ok(())
}

fn connect(address: &Address, clients: u32) -> Result<Vec<Client>> {
    let login = database::login();
    (0..clients)
        .map(|number| Client::connect(address, &login).with_context(|| format!("client {number}")))
        .collect()
}

/// Prints a line; true if the requirement is met.
fn judge(what: &str, now_kib: u64, idle_kib: u64, clients: u32) -> bool {
    let client_kib = (now_kib as f64 - idle_kib as f64) / f64::from(clients);
    let is_met = client_kib <= CLIENT_KIB_MAX;
    let word = if is_met { "met   " } else { "MISSED" };
    println!(
        "{word} {clients} clients, {what}: {client_kib:.2} KiB a client ({now_kib} KiB), limit {CLIENT_KIB_MAX}"
    );
    is_met
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_per_client_and_above_the_idle_process() {
        assert!(judge("logged in", 34_000, 10_000, 2000));
        assert!(!judge("logged in", 34_100, 10_000, 2000));
    }
}
