//! What is known of the tables behind each hostgroup: one immutable picture, by which statements are looked at.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_sql::{Catalogue, Class, FoldedName, Leaves, Lexing, TableId};
use rapidhash::fast::RapidHasher;
use tokio::time::Instant;

use crate::backend::Server;
use crate::exact::replica::{NoDomain, Replica, Vouched};
use crate::exact::stored_code::{CodeOf, KnownCode};
use crate::exact::turn::Turn;

/// The isolation that a session has if it asks for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Each statement sees what was committed before it.
    ReadCommitted,
    /// All statements of a transaction see what was committed before the first.
    RepeatableRead,
    /// READ UNCOMMITTED or SERIALIZABLE: past the cache.
    Other,
}

/// What is known of the one server whose writes a hostgroup shows: its own, or the one that its replicas follow.
#[derive(Debug, Clone)]
pub struct Domain {
    /// The server's host, or the path of its socket.
    pub host: String,
    /// The server's port; 0 for a socket.
    pub port: u16,
    /// Whether the server stands in the hostgroup.
    pub takes_writes: bool,
    /// The other servers of the hostgroup, which follow it.
    pub replicas: Vec<Replica>,
    /// The server's tables.
    pub catalogue: Catalogue,
    /// What its sessions begin with.
    pub isolation: Isolation,
    /// From when on they do, if they began with another before.
    pub isolation_since: Option<Instant>,
    /// When the server began, to within a second, if it tells.
    pub began: Option<Began>,
    /// How well the server's memory serves its reads, if it tells.
    pub buffer_pool: Option<BufferPool>,
}

/// When a server began: milliseconds of a clock that runs evenly, from any moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Began(pub i64);

impl Began {
    /// Whether it may be the same beginning: both were told in whole seconds, and take time to be told.
    fn may_be(self, other: Self) -> bool {
        self.0.abs_diff(other.0) <= 2500
    }
}

/// InnoDB's buffer pool, as a server told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferPool {
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Pages that were asked for since the server began.
    pub read_requests: u64,
    /// Of these, those that had to be read from storage.
    pub reads: u64,
}

/// What is known of each hostgroup.
pub type Domains =
    HashMap<HostgroupId, Result<Arc<Domain>, NoDomain>, BuildHasherDefault<RapidHasher<'static>>>;

/// One picture of all hostgroups. See the module's doc.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalogues {
    pub(super) domains: Domains,
    /// Rises with each picture.
    pub(super) version: u64,
    /// Rises with each change of a definition, at its beginning and at its end.
    pub(super) generation: u64,
    /// Rises with each change of a definition, at its beginning.
    pub(super) changes_begun: u64,
    /// What statements hold that are looked at by it.
    pub(super) turn: Arc<Turn>,
    /// How many times the servers had been looked at.
    pub(super) look: u64,
    /// All tables have been looked at since the last change of a definition.
    pub(super) is_whole: bool,
    pub(super) code: KnownCode,
}

impl Catalogues {
    /// Which picture it is: no other has the same number.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// What is known of the code behind a hostgroup.
    pub(crate) fn stored_code(&self, hostgroup: HostgroupId) -> CodeOf<'_> {
        self.code.of(hostgroup)
    }

    /// Whether a statement of that text is known to leave nothing in its session, and to ask nothing of it, behind whichever hostgroup it runs.
    pub(super) fn leaves_nothing(&self, text: &[u8], class: Class, lexing: Lexing, schema: &[u8]) -> bool {
        self.code.is_all(|code| {
            code.leaves(text, class, lexing, schema) == Leaves::Nothing
                && !code.asks_for_insert_id(text, lexing)
        })
    }

    /// How often code may have been made, or what was known forgotten, in beginnings and ends.
    pub(crate) fn code_changes(&self) -> u64 {
        self.code.changes()
    }

    /// How often code may have been made, in beginnings and ends.
    pub(crate) fn times_code_was_made(&self) -> u64 {
        self.code.times_made()
    }

    pub(crate) fn domain(&self, hostgroup: HostgroupId) -> Result<&Arc<Domain>, NoDomain> {
        match self.domains.get(&hostgroup) {
            Some(domain) => domain.as_ref().map_err(Arc::clone),
            None => Err("its catalogue has not been read yet".into()),
        }
    }

    /// The same where nobody asks why nothing is known.
    pub(crate) fn known_domain(&self, hostgroup: HostgroupId) -> Option<&Arc<Domain>> {
        self.domains.get(&hostgroup)?.as_ref().ok()
    }

    /// Whether nothing is known of any hostgroup.
    pub(crate) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// Whether all definitions are known, since the last change of one.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether a SELECT may write, by a view that calls code.
    pub(super) fn reads_may_write(&self) -> bool {
        self.domains().any(|domain| domain.catalogue.reads_may_write())
    }

    /// Whether a SELECT writes nothing, as far as is known here, by any view or function that `other` does not know of.
    pub(super) fn reads_that_may_write_are_known_by(&self, other: &Self) -> bool {
        self.hostgroups().all(|(hostgroup, domain)| match other.domain(*hostgroup) {
            Ok(known) => domain.catalogue.reads_that_may_write_are_known_by(&known.catalogue),
            Err(_) => !domain.catalogue.reads_may_write(),
        })
    }

    /// Tables that `other` knows in no hostgroup.
    pub(super) fn tables_beyond(&self, other: &Self) -> HashSet<TableId> {
        let tables = |of: &Self| -> HashSet<TableId> {
            of.domains().flat_map(|domain| domain.catalogue.tables().map(|(_, _, table)| table.id)).collect()
        };
        let known = tables(other);
        tables(self).into_iter().filter(|table| !known.contains(table)).collect()
    }

    /// Those of which something is known, in no order.
    pub(crate) fn hostgroups(&self) -> impl Iterator<Item = (&HostgroupId, &Arc<Domain>)> {
        self.domains.iter().filter_map(|(hostgroup, domain)| Some((hostgroup, domain.as_ref().ok()?)))
    }

    /// What is known of hostgroups, in no order.
    pub(crate) fn domains(&self) -> impl Iterator<Item = &Arc<Domain>> {
        self.domains.values().flatten()
    }

    /// How many tables are known, those of each hostgroup that takes writes counted.
    pub(crate) fn tables(&self) -> usize {
        self.domains().filter(|domain| domain.takes_writes).map(|domain| domain.catalogue.len()).sum()
    }
}

impl Domain {
    /// Whether it is that of this server.
    pub(crate) fn is_of(&self, server: &Server) -> bool {
        (self.host.as_str(), self.port) == (server.host.as_str(), server.port)
    }

    /// What it takes to store answers of this server, which is not the one that takes the writes; or nothing does.
    pub(crate) fn replica(&self, server: &Server) -> Option<&Vouched> {
        self.replicas.iter().find(|replica| replica.is(server))?.standing.as_ref().ok()
    }

    /// Whether the hostgroup has these servers and no others.
    pub(crate) fn is_of_all(&self, servers: &[(&str, u16)]) -> bool {
        let own = self.takes_writes.then_some((self.host.as_str(), self.port));
        let known = || own.into_iter().chain(self.replicas.iter().map(|one| (one.host.as_str(), one.port)));
        known().count() == servers.len() && known().all(|one| servers.contains(&one))
    }

    /// Whether all that is known here is known there too.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let same = (&self.host, self.port, self.isolation) == (&other.host, other.port, other.isolation);
        let mut stored_functions = other.catalogue.stored_functions();
        let are_known = stored_functions.all(|name| self.catalogue.is_shadowed(name));
        let is_same_life = self.began.zip(other.began).is_none_or(|(known, found)| known.may_be(found));
        same && is_same_life
            && are_known
            && self
                .catalogue
                .tables()
                .all(|(schema, name, table)| other.catalogue.table(schema, name) == Some(table))
    }

    pub(super) fn without(&self, named: &[FoldedName]) -> Self {
        let mut domain = self.clone();
        for (schema, table) in named {
            domain.catalogue.remove(schema, table);
        }
        domain
    }
}

#[cfg(test)]
impl Domain {
    /// Of `db:3306`, which takes writes, with these tables.
    pub(crate) fn before(catalogue: Catalogue) -> Self {
        Self {
            host: "db".to_owned(),
            port: 3306,
            takes_writes: true,
            replicas: Vec::new(),
            catalogue,
            isolation: Isolation::RepeatableRead,
            isolation_since: None,
            began: None,
            buffer_pool: None,
        }
    }
}
