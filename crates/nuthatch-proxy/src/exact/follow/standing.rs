//! How a follower stands, for operators.

use nuthatch_config::{Follow, ServerName};

use crate::exact::follow::DelayFigures;

/// What a follower says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// What is promised now.
    pub mode: Follow,
    /// Why no more than that; empty where it is what is asked for.
    pub why: String,
    /// Since when, in milliseconds since the proxy's start.
    pub since_ms: u64,
}

/// A row of `stats_query_cache_follow`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the table under their names")]
pub struct FollowRow {
    pub server: ServerName,
    pub wanted: Follow,
    pub standing: Standing,
    pub since_unix_ms: u64,
    pub position: String,
    pub left_ms: u64,
    pub transactions: u64,
    pub unproven: u64,
    pub narrowed: u64,
    pub late: u64,
    pub begun_anew: u64,
    pub falls: u64,
    pub delay: DelayFigures,
}
