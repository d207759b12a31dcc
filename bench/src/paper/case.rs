//! One published benchmark, and how it is scaled to two cores.

use clap::ValueEnum;
use serde::Serialize;

use super::contestant::Contestant;
use super::published::Published;

/// The cache where answers have a time: the default of both proxies.
const TTL_MIB: u32 = 256;

/// Its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CaseName {
    /// Point selects that are all answered by the cache.
    #[value(name = "hits-100")]
    #[serde(rename = "hits-100")]
    Hits100,
    /// Read-only transactions of which most are.
    #[value(name = "hits-80")]
    #[serde(rename = "hits-80")]
    Hits80,
    /// The same with a cache that is far too small.
    #[value(name = "hits-10")]
    #[serde(rename = "hits-10")]
    Hits10,
    /// The same with ids that are all alike, so that no cache of that size can answer more.
    #[value(name = "hits-10-even")]
    #[serde(rename = "hits-10-even")]
    Hits10Even,
    /// Transactions that write, as text.
    ReadWrite,
    /// The same, prepared.
    ReadWritePrepared,
    /// Point selects of which a fifth is hot, by the cache's size.
    Sizes,
    /// ProxySQL's query cache before three servers, point selects.
    ThreePoints,
    /// The same, range selects.
    ThreeRanges,
    /// ProxySQL against MaxScale: hot rows over Unix sockets, by worker threads.
    Workers,
}

/// A benchmark.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: CaseName,
    /// In a few words.
    pub(super) title: &'static str,
    pub(super) script: Script,
    pub(super) mode: Mode,
    pub(super) tables: u32,
    /// Of each table, that are asked for.
    pub(super) rows: u32,
    pub(super) ids: Ids,
    pub(super) caching: Caching,
    pub(super) axis: Axis,
    pub(super) transport: Transport,
    pub(super) servers: Servers,
    pub(super) contestants: &'static [Contestant],
    /// At a time, before it is measured, of each contestant that has a cache.
    pub(super) warm_seconds: u32,
    /// At so many connections the cache is off and on as often as `--pairs` says.
    pub(super) pairs_at: Option<u32>,
    /// Of reads, as published.
    pub(super) hits_percent: Option<u32>,
    pub(super) published: Option<&'static Published>,
}

/// What sysbench runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// `oltp_point_select`.
    PointSelect,
    /// `oltp_read_only`: ten point and four range selects to a transaction.
    ReadOnly,
    /// One range select of a hundred rows, no transaction.
    Ranges,
    /// `oltp_read_write`.
    ReadWrite,
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Text,
    Prepared,
}

/// Which ids are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    /// All alike.
    Uniform,
    /// Sysbench's default, `special`: so many percent of them get three quarters.
    Hot { percent: u32 },
}

/// How the proxy caches where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caching {
    /// By its one switch, within so many MiB.
    Exact { mib: u32 },
    /// By a rule with a time.
    Ttl { ms: u32 },
}

/// What changes from cell to cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    /// `--connections`, but no more than this.
    Connections { max: u32 },
    /// The cache's size; the published one is so many times as large. On so many connections.
    CacheMib { sizes: &'static [u32], scale: u32, connections: u32 },
    /// Worker threads of the proxy, on so many connections.
    Workers { counts: &'static [u32], connections: u32 },
}

/// How clients connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Tcp,
    Unix,
}

/// What stands behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Servers {
    One,
    /// A primary and two replicas in one hostgroup.
    Three,
}

/// One load of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// Where it is drawn: connections, MiB or workers.
    pub(super) x: u32,
    pub(super) connections: u32,
}

/// Loads under which the proxy stays as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The cache's size.
    pub(super) mib: u32,
    pub(super) workers: u32,
    pub(super) cells: Vec<Cell>,
}

impl Case {
    /// Its loads in order.
    pub(super) fn settings(&self, connections: &[u32]) -> Vec<Setting> {
        let mib = match self.caching {
            Caching::Exact { mib } => mib,
            Caching::Ttl { .. } => TTL_MIB,
        };
        let setting = |mib, workers, cells| Setting { mib, workers, cells };
        match self.axis {
            Axis::Connections { max } => {
                let within = connections.iter().filter(|&&connections| connections <= max);
                let cells = within.map(|&connections| Cell { x: connections, connections }).collect();
                vec![setting(mib, 1, cells)]
            }
            Axis::CacheMib { sizes, connections, .. } => {
                sizes.iter().map(|&x| setting(x, 1, vec![Cell { x, connections }])).collect()
            }
            Axis::Workers { counts, connections } => {
                counts.iter().map(|&x| setting(mib, x, vec![Cell { x, connections }])).collect()
            }
        }
    }

    /// What `x` was in the article.
    pub(super) fn published_x(&self, x: u32) -> u32 {
        match self.axis {
            Axis::CacheMib { scale, .. } => x * scale,
            Axis::Connections { .. } | Axis::Workers { .. } => x,
        }
    }

    /// The command line's word for it.
    pub(super) fn word(&self) -> String {
        self.name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl Axis {
    /// What it counts.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Connections { .. } => "connections",
            Self::CacheMib { .. } => "MiB of cache",
            Self::Workers { .. } => "workers",
        }
    }
}
