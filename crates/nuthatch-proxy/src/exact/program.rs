//! What the program and the configuration have to do with the exact cache: whether anybody wants it, when servers' tables are to be read, and
//! what was read of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_config::{HostgroupId, QueryCacheType, Snapshot};
use nuthatch_sql::ServerFlavor;

use super::{Domain, Domains, Replaced};
use crate::Proxy;
use crate::backend::{Compared, Defaults};

/// What the exact cache knows and waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named after the statistic that it becomes")]
pub struct ExactLevels {
    pub tables: u64,
    pub tables_max: u64,
    pub clock_bytes: u64,
    pub clock_moves: u64,
    pub writes_pending: u64,
    pub writes_stranded: u64,
}

impl Proxy {
    /// From now on the exact cache serves what is stale: a fault, for tests that must find it. Release builds have no such thing.
    #[cfg(debug_assertions)]
    pub fn stop_clocks(&self) {
        self.clocks.stop();
    }

    /// Completes when the servers' catalogues are to be read anew: a definition was changed, or the configuration.
    pub async fn catalogues_outdated(&self) {
        self.catalogues.outdated().await;
    }

    /// Whether somebody wants answers cached as exact, or to know what stored code leaves: then the catalogues are to be read.
    #[must_use]
    pub fn wants_catalogues(&self) -> bool {
        self.wants_exact() || self.stored_code_is_wanted.load(Ordering::Acquire)
    }

    /// Whether somebody wants answers cached as exact.
    #[must_use]
    pub fn wants_exact(&self) -> bool {
        self.exact_is_wanted.load(Ordering::Acquire)
    }

    /// From now on somebody wants to know what stored code leaves.
    pub(crate) fn want_stored_code(&self) {
        if !self.stored_code_is_wanted.swap(true, Ordering::AcqRel) {
            self.catalogues.ask_for_a_look();
        }
    }

    /// From now on somebody wants answers cached as exact.
    pub(crate) fn want_catalogues(&self) {
        if !self.exact_is_wanted.swap(true, Ordering::AcqRel) {
            self.catalogues.ask_for_a_look();
        }
    }

    /// What is known of a hostgroup, if anything is.
    #[must_use]
    pub fn known_domain(&self, hostgroup: HostgroupId) -> Option<Arc<Domain>> {
        self.catalogues.current().domain(hostgroup).ok().map(Arc::clone)
    }

    /// Of how many tables changes can be followed.
    #[must_use]
    pub const fn tables_max(&self) -> u32 {
        self.tables_max
    }

    /// The number to give to [`Self::use_catalogues`] with what is read from now on.
    #[must_use]
    pub fn catalogue_generation(&self) -> u64 {
        self.catalogues.generation()
    }

    /// Puts what was read of servers' tables in force, unless a definition was changed since `generation` was asked for.
    #[must_use]
    pub fn use_catalogues(&self, generation: u64, domains: Domains) -> Replaced {
        self.catalogues.replace(generation, domains)
    }

    /// The number of the last change of what sessions of a server begin with, to give to [`Self::note_defaults`] with what is read from now
    /// on.
    #[must_use]
    pub fn defaults_changes(&self, host: &str, port: u16) -> u64 {
        self.hostgroups.defaults.of(host, port).last_change()
    }

    /// Takes note of a server's global variables, unless a change of them was seen meanwhile. If they were changed past the proxy, no
    /// answer is served any more that was stored before: it may have been of sessions of either kind.
    pub fn note_defaults<'a>(
        &self,
        host: &str,
        port: u16,
        changes: u64,
        flavor: ServerFlavor,
        variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Replaced {
        let Some(found) = Defaults::of(variables, flavor) else { return Replaced::Done };
        match self.hostgroups.defaults.of(host, port).compare(changes, found) {
            Compared::AsKnown => Replaced::Done,
            Compared::TooLate => Replaced::Outdated,
            Compared::Changed => {
                let servers = self.hostgroups.servers();
                let its = servers.iter().filter(|server| (server.host.as_str(), server.port) == (host, port));
                its.for_each(|server| server.close_idle());
                self.clocks.raise(vec![self.clocks.everything()]).settle();
                self.flush_query_cache();
                Replaced::ChangedBehindOurBack
            }
        }
    }

    /// Takes note of a configuration that wants answers cached as exact.
    pub(crate) fn note_type(&self, snapshot: &Snapshot) {
        if snapshot.mysql.query_cache_type != QueryCacheType::Off || snapshot.rules.caches_exact() {
            self.want_catalogues();
        }
    }

    /// Forgets the catalogues of hostgroups that have other servers than before, or whose replicas follow one that is forgotten.
    pub(crate) fn forget_catalogues(&self, snapshot: &Snapshot) {
        let servers = |hostgroup| -> Vec<(&str, u16)> {
            let of_it = snapshot.hostgroups.iter().filter(|(id, _)| *id == hostgroup);
            of_it.flat_map(|(_, servers)| servers).map(|server| (server.host.as_str(), server.port)).collect()
        };
        let is_as_before = |hostgroup, domain: &Domain| domain.is_of_all(&servers(hostgroup));
        let current = self.catalogues.current();
        let is_source = |(hostgroup, domain): (&HostgroupId, &Arc<Domain>), of: &Domain| {
            domain.takes_writes
                && (&domain.host, domain.port) == (&of.host, of.port)
                && is_as_before(*hostgroup, domain)
        };
        let has_source = |of: &Domain| current.hostgroups().any(|known| is_source(known, of));
        self.catalogues
            .forget_hostgroups(|hostgroup, domain| is_as_before(hostgroup, domain) && has_source(domain));
        self.catalogues.ask_for_a_look();
    }

    /// The levels now.
    pub(crate) fn exact_levels(&self) -> ExactLevels {
        ExactLevels {
            tables: self.catalogues.current().tables() as u64,
            tables_max: self.tables_max.into(),
            clock_bytes: self.clocks.bytes(),
            clock_moves: self.clocks.moves(),
            writes_pending: self.clocks.pending(),
            writes_stranded: self.clocks.stranded(),
        }
    }
}
