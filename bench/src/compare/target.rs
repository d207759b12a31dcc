//! What a slice is taken of, and how.

use crate::address::Address;
use crate::cpu::Pid;
use crate::load::Statement;

/// How slices are taken.
#[derive(Debug, clap::Args)]
pub(crate) struct SliceOptions {
    /// Counted part of a slice
    #[arg(long, default_value_t = 1.5)]
    pub(super) seconds: f64,
    /// Part before it that is not counted
    #[arg(long, default_value_t = 0.4)]
    pub(super) warmup_seconds: f64,
    /// Ids asked for: 1 to this
    #[arg(long, default_value_t = 1000)]
    pub(super) ids: u32,
    /// What the own driver asks
    #[arg(long, value_enum, default_value = "select")]
    pub(super) statement: Statement,
    /// A slice is disturbed when other processes took more than this share of one core
    #[arg(long, default_value_t = 0.04)]
    pub(super) foreign_share_max: f64,
    /// How often a disturbed slice is tried again
    #[arg(long, default_value_t = 4)]
    pub(super) retries: usize,
}

/// Where a contestant is.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: Address,
    pub(super) pid: Pid,
    /// All processes of the benchmark.
    pub(super) participants: Vec<Pid>,
}
