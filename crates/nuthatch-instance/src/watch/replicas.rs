//! How all instances of a host replicate, in one table.

use serde::Serialize;

use crate::name::InstanceName;
use crate::replication::status::Following;
use crate::watch::figures::Figures;

/// An instance and one source of it; an instance without a source has one row too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replica {
    /// Which.
    pub name: InstanceName,
    /// From whom: HOST:PORT.
    pub source: Option<String>,
    /// What it does.
    pub state: Option<Following>,
    /// How far it is behind, in seconds; unknown while it does not run.
    pub behind_s: Option<u64>,
    /// How many transactions it has fetched and not applied yet.
    pub unapplied: Option<u64>,
    /// Whether clients may write to it; unknown while it does not answer.
    pub writable: Option<bool>,
    /// Whether over TLS.
    pub over_tls: bool,
    /// What went wrong last.
    pub why: Option<String>,
}

impl Replica {
    /// The rows of all.
    #[must_use]
    pub fn of(all: &[Figures]) -> Vec<Self> {
        all.iter().flat_map(Self::of_one).collect()
    }

    fn of_one(figures: &Figures) -> Vec<Self> {
        let alone = Self {
            name: figures.summary.name.clone(),
            source: None,
            state: None,
            behind_s: None,
            unapplied: None,
            writable: figures.live.as_ref().ok().map(|live| !live.read_only),
            over_tls: false,
            why: figures.live.as_ref().err().cloned(),
        };
        let sources = figures.live.as_ref().map(|live| live.sources.as_slice()).unwrap_or_default();
        if sources.is_empty() {
            return vec![alone];
        }
        let row = |source: &crate::watch::figures::Source| Self {
            source: Some(source.address.clone()),
            state: Some(source.following),
            behind_s: source.behind_s,
            unapplied: source.unapplied,
            over_tls: source.over_tls,
            why: Some(source.error.clone()).filter(|error| !error.is_empty()),
            ..alone.clone()
        };
        sources.iter().map(row).collect()
    }
}
