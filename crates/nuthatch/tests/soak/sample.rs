//! What the kernel and the proxy say of the proxy at one moment.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::client::Client;

/// A figure that has a limit, and where that stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) figure: &'static str,
    pub(crate) limit: Limit,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// Another figure.
    Figure(&'static str),
    Fixed(u64),
}

/// Clients that the proxy lets in.
pub(crate) const CLIENTS_MAX: u64 = 80;

/// To a server, in the proxy's configuration.
pub(crate) const SERVER_CONNECTIONS_MAX: u64 = 24;

/// See `docs/limits.md`.
pub(crate) const BOUNDS: [Bound; 12] = [
    of("Query_Cache_Memory_bytes", Limit::Figure("Query_Cache_Limit_bytes")),
    of("Query_Cache_Capture_bytes", Limit::Figure("Query_Cache_Capture_bytes_Limit")),
    of("Query_Cache_Kind_bytes", Limit::Figure("Query_Cache_Kind_bytes_Limit")),
    of("Query_Cache_Refreshes_under_way", Limit::Fixed(32)),
    of("Query_Cache_Tables", Limit::Figure("Query_Cache_Tables_Limit")),
    of("Query_Digest_Entries", Limit::Figure("Query_Digest_Limit")),
    of("Statement_Shapes", Limit::Figure("Statement_Shapes_Limit")),
    of("Session_Environment_Entries", Limit::Figure("Session_Environment_Limit")),
    of("Client_Connections_connected", Limit::Figure("Client_Connections_limit")),
    of("Server_Connections_connected", Limit::Fixed(SERVER_CONNECTIONS_MAX)),
    of("Line_Longest", Limit::Figure("Line_Longest_limit")),
    of("Line_Bytes", Limit::Figure("Line_Bytes_limit")),
];

const fn of(figure: &'static str, limit: Limit) -> Bound {
    Bound { figure, limit }
}

/// The numbers of `stats_mysql_global`.
pub(crate) type Figures = BTreeMap<String, u64>;

/// A figure, and its limit, as they were together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) is: u64,
    pub(crate) limit: u64,
}

/// See the module's doc.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// Since the load began.
    pub(crate) at: Duration,
    pub(crate) process: Process,
    /// Of [`BOUNDS`], in their order.
    pub(crate) levels: [Level; BOUNDS.len()],
}

impl Sample {
    pub(crate) fn new(at: Duration, process: Process, figures: &Figures) -> Self {
        let level = |bound: Bound| {
            let limit = match bound.limit {
                Limit::Figure(name) => figures[name],
                Limit::Fixed(limit) => limit,
            };
            Level { is: figures[bound.figure], limit }
        };
        Self { at, process, levels: BOUNDS.map(level) }
    }
}

/// What the kernel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Memory of its own; pages of files are the kernel's to take back.
    pub(crate) resident_bytes: u64,
    pub(crate) descriptors: u64,
    pub(crate) threads: u64,
}

impl Process {
    pub(crate) fn look(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux has it");
            line.trim_end_matches(" kB").trim().parse::<u64>().expect("a number")
        };
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count();
        Self {
            resident_bytes: number("RssAnon:") << 10,
            descriptors: descriptors as u64,
            threads: number("Threads:"),
        }
    }
}

pub(crate) fn figures(operator: &mut Client) -> Figures {
    let rows = operator.table("SELECT Variable_Name, Variable_Value FROM stats_mysql_global");
    rows.into_iter().filter_map(|row| Some((row[0].clone(), row[1].parse().ok()?))).collect()
}
