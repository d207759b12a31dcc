//! `memory`: what an idle client costs in resident memory.
//!
//! Two figures: clients that have only logged in, and the same clients idle after a statement each, whose buffers
//! have been in use. Both are above the process with no client, which has answered a query before.

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

#[derive(Debug, clap::Args)]
pub(crate) struct MemoryOptions {
    /// Program under test
    #[arg(long, default_value = "target/release/nuthatch")]
    nuthatch: PathBuf,
    #[arg(long, default_value_t = 2000)]
    clients: u32,
    /// Exit with an error if the requirement is missed
    #[arg(long)]
    gate: bool,
}

/// Measures and prints.
pub(crate) fn run(options: &MemoryOptions) -> Result<()> {
    let program = Program::at(&options.nuthatch)?;
    raise_open_files()?;
    let database = Database::start()?;
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
