//! The rows of the admin interface's tables, and its figures.

use std::sync::Arc;

use crate::backend::PoolRow;
use crate::proxy::{
    CacheAdvice, CachedEntryRow, CachedTableRow, Levels, PlacedServer, ProcessRow, Proxy, QueryCacheRow,
    cache_advice, cached_entries, cached_tables, levels, placed, processlist, query_cache,
};
use crate::stats::{CommandRow, DigestReading, DigestRow, ErrorRow, Totals, command_rows};
use crate::worker;

impl Proxy {
    /// The counters of all workers.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.shared.totals()
    }

    /// Everything that rises and falls.
    #[must_use]
    pub fn levels(&self) -> Levels {
        levels::levels(&self.shared, &self.floor)
    }

    /// How often sessions began to keep a connection, by the reason's name.
    #[must_use]
    pub fn pinned_by(&self) -> Vec<(&'static str, u64)> {
        worker::pinned_by(&self.shared.workers)
    }

    /// Sessions of each user.
    #[must_use]
    pub fn users(&self) -> Vec<(Arc<str>, u32)> {
        self.shared.doors.users()
    }

    /// The rows of `stats_nuthatch_servers`.
    #[must_use]
    pub fn placed_servers(&self) -> Vec<PlacedServer> {
        placed::placed(&self.shared)
    }

    /// The rows of `mysql_servers` in force, each with its status right now.
    #[must_use]
    pub fn servers_in_force(&self) -> Vec<(Arc<nuthatch_config::Server>, nuthatch_config::ServerStatus)> {
        placed::servers_in_force(&self.shared)
    }

    /// Seconds since 1970 of a time in milliseconds since the start.
    #[must_use]
    pub fn unix_seconds_at(&self, ms: u64) -> u64 {
        self.shared.clock.unix_seconds_at(ms)
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn unix_seconds_now(&self) -> u64 {
        self.shared.clock.unix_seconds_at(self.shared.clock.now_ms())
    }

    /// The rows of `stats_mysql_commands_counters`.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandRow> {
        command_rows(self.shared.workers.iter().map(|worker| &worker.commands), self.totals().cache_get_ok)
    }

    /// The rows of `stats_mysql_query_digest`.
    #[must_use]
    pub fn query_digests(&self, reading: DigestReading) -> Vec<DigestRow> {
        let mut rows = self.shared.answers.digests.read(reading, self.shared.clock.now_ms());
        rows.retain(|row| row.count_star > 0);
        rows
    }

    /// The rows of `stats_mysql_errors`.
    #[must_use]
    pub fn errors(&self, reading: DigestReading) -> Vec<ErrorRow> {
        match reading {
            DigestReading::Keep => self.shared.hostgroups.errors.rows(),
            DigestReading::Reset => self.shared.hostgroups.errors.take_rows(),
        }
    }

    /// The rows of `stats_mysql_connection_pool`.
    #[must_use]
    pub fn connection_pool(&self) -> Vec<PoolRow> {
        levels::connection_pool(&self.shared)
    }

    /// Starts the counters of `stats_mysql_connection_pool` anew.
    pub fn reset_connection_pool(&self) {
        self.shared.hostgroups.servers().iter().for_each(|server| server.reset_counters());
    }

    /// The rows of `stats_mysql_processlist`.
    #[must_use]
    pub fn processlist(&self) -> Vec<ProcessRow> {
        processlist::processlist(&self.shared)
    }

    /// The rows of `stats_query_cache`.
    #[must_use]
    pub fn query_cache(&self, reading: DigestReading) -> Vec<QueryCacheRow> {
        query_cache::query_cache(&self.shared.answers, reading, self.shared.clock.now_ms())
    }

    /// The rows of `stats_query_cache_tables`.
    #[must_use]
    pub fn cached_tables(&self) -> Vec<CachedTableRow> {
        cached_tables::cached_tables(&self.shared.exact)
    }

    /// The rows of `stats_query_cache_entries`.
    #[must_use]
    pub fn cached_entries(&self) -> Vec<CachedEntryRow> {
        cached_entries::cached_entries(&self.shared)
    }

    /// The rows of `stats_query_cache_advice`.
    #[must_use]
    pub fn cache_advice(&self, digests: &[QueryCacheRow]) -> Vec<CacheAdvice> {
        cache_advice::cache_advice(&self.shared, digests)
    }
}
