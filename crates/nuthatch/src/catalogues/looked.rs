//! From what was seen of servers to what is known of hostgroups: whose writes each shows, and whose answers may be stored.
//!
//! A hostgroup shows the writes of one server: the one in it that follows nobody, or, where all follow, the one that they follow, which must
//! be the only one of another hostgroup that does not follow. Two that take writes in one hostgroup are refused: what one answers may be
//! older than what the other has acknowledged; so is a replica that takes writes itself, for all that stand beside it. A server that could
//! not be looked at may be anything, so its hostgroup is refused too.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nuthatch_config::HostgroupId;
use nuthatch_net::BackendAddress;
use nuthatch_proxy::{
    Began, BufferPool, Domain, Domains, Evidence, Isolation, Moment, NoDomain, Replica, Vouched,
};
use nuthatch_source::{Identity, Login, NoEvidence, NotASource, Picture};
use nuthatch_sql::{Catalogue, SideEffects, Table, TableId};

/// A server's host and port, as configured.
pub(super) type Address = (String, u16);

/// A server that was looked at, and how.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) picture: Picture,
    pub(super) address: BackendAddress,
    /// As whom.
    pub(super) login: Login,
    /// As a replica it was not known to have applied all that its primary had acknowledged before.
    pub(super) was_behind: bool,
    pub(super) began: Option<Began>,
}

/// What became of looking at a server.
#[derive(Debug, Clone)]
pub(super) enum Seen {
    Looked(Arc<Looked>),
    /// It was not reached, or not in time.
    Lost(NoDomain),
    Refused(NoDomain),
}

/// A hostgroup's servers.
pub(super) type Members = Vec<(Address, Seen)>;

/// Two servers, one of which follows the other, and who they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PairKey {
    primary: (Address, String),
    replica: (Address, String),
}

/// What it takes to watch them.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) evidence: Arc<Evidence>,
    pub(super) primary: Arc<Looked>,
    pub(super) replica: Arc<Looked>,
    pub(super) name: String,
}

/// All of them, as long as they are what they were.
pub(super) type Pairs = HashMap<PairKey, Pair>;

/// One round of looks, and what is to be made of it.
pub(super) struct Round<'a> {
    /// Noted before the first look.
    pub(super) moment: Moment,
    /// What was known of a hostgroup before.
    pub(super) known: &'a dyn Fn(HostgroupId) -> Option<Arc<Domain>>,
    /// Why no replica's answers are stored, if that is so for all.
    pub(super) no_replicas: Option<&'static str>,
    pub(super) pairs: &'a mut Pairs,
}

impl Round<'_> {
    /// What is known of all hostgroups.
    pub(super) fn domains(&mut self, hostgroups: &[(HostgroupId, Members)]) -> Domains {
        let mut domains = Domains::default();
        for (hostgroup, members) in hostgroups {
            domains.insert(*hostgroup, self.domain(*hostgroup, members));
        }
        // Each follows one that is known now.
        let primaries: Vec<_> = domains.values().flatten().map(Arc::clone).collect();
        for (hostgroup, members) in hostgroups {
            if self.follows(*hostgroup, members) {
                let domain = self.domain_of_replicas(*hostgroup, members, hostgroups, &primaries);
                domains.insert(*hostgroup, domain);
            }
        }
        domains
    }

    /// That of a hostgroup with a server that follows nobody.
    fn domain(&mut self, hostgroup: HostgroupId, members: &Members) -> Result<Arc<Domain>, NoDomain> {
        let mut primary = None;
        for (address, seen) in members {
            match seen {
                Seen::Refused(why) => return Err(Arc::clone(why)),
                Seen::Lost(_) if self.known_replica(hostgroup, address).is_some() => {}
                Seen::Lost(why) => return (self.known)(hostgroup).ok_or_else(|| Arc::clone(why)),
                Seen::Looked(looked) => match looked.picture.source {
                    Ok(()) if primary.is_some() => {
                        return Err(format!(
                            "the hostgroup has {} servers: what one answers may be older than what another has \
                             written",
                            members.len()
                        )
                        .into());
                    }
                    Ok(()) => primary = Some((address, looked)),
                    Err(NotASource::Replica) => {}
                    Err(why) => return Err(sentence(why).into()),
                },
            }
        }
        let Some(((host, port), looked)) = primary else {
            return Err("its servers follow one that is in no hostgroup by itself".into());
        };
        let mut domain = Domain {
            host: host.clone(),
            port: *port,
            takes_writes: true,
            replicas: Vec::new(),
            catalogue: looked.picture.catalogue.clone(),
            isolation: isolation(&looked.picture),
            isolation_since: None,
            began: looked.began,
            buffer_pool: looked.picture.buffer_pool.map(buffer_pool),
        };
        domain.replicas = self.replicas(hostgroup, &domain, looked, members)?;
        Ok(Arc::new(domain))
    }

    /// That of a hostgroup of replicas.
    fn domain_of_replicas(
        &mut self,
        hostgroup: HostgroupId,
        members: &Members,
        hostgroups: &[(HostgroupId, Members)],
        primaries: &[Arc<Domain>],
    ) -> Result<Arc<Domain>, NoDomain> {
        let others = || hostgroups.iter().flat_map(|(_, members)| members);
        let of = |domain: &Domain| {
            let is_it = |(host, port): &Address| (host, *port) == (&domain.host, domain.port);
            others().filter(|(address, _)| is_it(address)).find_map(|(_, seen)| seen.looked())
        };
        let looked = || members.iter().filter_map(|(_, seen)| seen.looked());
        let upstreams: Vec<_> =
            looked().filter_map(|one| one.picture.replication.upstream.as_ref()).collect();
        let is_followed = |domain: &&Arc<Domain>, primary: &Looked| {
            let is_it = |of: &&nuthatch_source::Upstream| {
                of.is(&primary.picture.replication, &domain.host, domain.port)
            };
            domain.takes_writes && upstreams.iter().any(is_it)
        };
        let found = primaries.iter().find_map(|domain| {
            let primary = of(domain)?;
            is_followed(&domain, primary).then_some((domain, primary))
        });
        let Some((domain, primary)) = found else {
            let known = (self.known)(hostgroup);
            let is_lost = known.as_ref().is_some_and(|known| of(known).is_none());
            return known.filter(|_| is_lost).ok_or_else(|| {
                "its servers are replicas of none that is alone in a hostgroup, and known: what they answer is older \
                 than what was written by an unknown time"
                    .into()
            });
        };
        let isolation = looked().map(|one| isolation(&one.picture)).next().unwrap_or(domain.isolation);
        let mut domain = Domain { takes_writes: false, isolation, ..Domain::clone(domain) };
        domain.replicas = self.replicas(hostgroup, &domain, primary, members)?;
        let first = domain.replicas.first().map(|replica| (replica, replica.standing.as_ref()));
        match first {
            Some((Replica { host, port, .. }, Err(why)))
                if domain.replicas.iter().all(|replica| replica.standing.is_err()) =>
            {
                Err(format!("of the replica {host}:{port}: {why}").into())
            }
            _ => Ok(Arc::new(domain)),
        }
    }

    /// Whether each of them follows another, or did when it was looked at last.
    fn follows(&self, hostgroup: HostgroupId, members: &Members) -> bool {
        let is_replica = |(address, seen): &(Address, Seen)| match seen {
            Seen::Looked(one) => one.picture.source == Err(NotASource::Replica),
            Seen::Lost(_) => self.known_replica(hostgroup, address).is_some(),
            Seen::Refused(_) => false,
        };
        !members.is_empty() && members.iter().all(is_replica)
    }

    /// What was known of a replica: it still holds, as the proof of it is watched by itself.
    fn known_replica(&self, hostgroup: HostgroupId, (host, port): &Address) -> Option<Replica> {
        let known = (self.known)(hostgroup)?;
        known.replicas.iter().find(|one| (&one.host, one.port) == (host, *port)).cloned()
    }

    /// The members that follow the primary.
    ///
    /// # Errors
    /// One takes writes itself.
    fn replicas(
        &mut self,
        hostgroup: HostgroupId,
        domain: &Domain,
        primary: &Arc<Looked>,
        members: &Members,
    ) -> Result<Vec<Replica>, NoDomain> {
        let mut replicas = Vec::new();
        for (address @ (host, port), seen) in members {
            let Some(looked) = seen.looked() else {
                let is_of_it = |known: &Arc<Domain>| (&known.host, known.port) == (&domain.host, domain.port);
                let known = (self.known)(hostgroup).filter(is_of_it);
                replicas.extend(known.and_then(|_| self.known_replica(hostgroup, address)));
                continue;
            };
            if looked.picture.source.is_ok() {
                continue;
            }
            if !looked.picture.replication.is_read_only {
                return Err(format!(
                    "the replica {host}:{port} takes writes itself, its read_only is off: what others answer may be \
                     older than those"
                )
                .into());
            }
            let standing = self.standing(domain, primary, address, looked);
            replicas.push(Replica { host: host.clone(), port: *port, standing });
        }
        Ok(replicas)
    }

    /// Whether answers of the replica may be stored.
    fn standing(
        &mut self,
        domain: &Domain,
        primary: &Arc<Looked>,
        address: &Address,
        looked: &Arc<Looked>,
    ) -> Result<Vouched, NoDomain> {
        if let Some(why) = self.no_replicas {
            return Err(why.into());
        }
        let (ours, theirs) = (&primary.picture, &looked.picture);
        ours.replication.as_primary.map_err(told)?;
        theirs.replication.as_replica.map_err(told)?;
        let follows =
            |upstream: &nuthatch_source::Upstream| upstream.is(&ours.replication, &domain.host, domain.port);
        if !theirs.replication.upstream.as_ref().is_some_and(follows) {
            return Err("it follows another server than the one whose writes are seen".into());
        }
        if isolation(theirs) != domain.isolation {
            return Err(
                "its sessions begin with another isolation than those of others in the hostgroup".into()
            );
        }
        let differing = differing(&ours.catalogue, &theirs.catalogue)?;
        let identities = [ours, theirs].map(|one| one.replication.identity.as_ref());
        let [Some(ours), Some(theirs)] = identities else { return Err(told(NoEvidence::NoIdentity)) };
        let key = PairKey {
            primary: ((domain.host.clone(), domain.port), ours.as_str().to_owned()),
            replica: (address.clone(), theirs.as_str().to_owned()),
        };
        let pair = self.pairs.entry(key).or_insert_with(|| Pair {
            evidence: Arc::new(Evidence::new(&Identity::question(theirs))),
            primary: Arc::clone(primary),
            replica: Arc::clone(looked),
            name: format!("{}:{}", address.0, address.1),
        });
        (pair.primary, pair.replica) = (Arc::clone(primary), Arc::clone(looked));
        if !differing.is_empty() && looked.was_behind {
            pair.evidence.look_again_past(self.moment);
        }
        Ok(Vouched { evidence: Arc::clone(&pair.evidence), differing: Arc::new(differing) })
    }
}

impl Seen {
    pub(super) fn looked(&self) -> Option<&Arc<Looked>> {
        match self {
            Self::Looked(looked) => Some(looked),
            Self::Lost(_) | Self::Refused(_) => None,
        }
    }
}

/// The tables that are defined otherwise there, or not at all.
///
/// # Errors
/// What is there and not here, and may change what is in other tables, or what statements mean.
fn differing(ours: &Catalogue, theirs: &Catalogue) -> Result<HashSet<TableId>, NoDomain> {
    if theirs.stored_functions().any(|name| !ours.is_shadowed(name)) {
        return Err(
            "it has a stored function with the name of one of the server's, which its primary has not".into(),
        );
    }
    let has_effects =
        |table: &Table| !table.is_view && table.side_effects != SideEffects::Tables(Box::default());
    for (schema, name, table) in theirs.tables() {
        let here = ours.table(schema, name);
        if has_effects(table) && here.is_none_or(|here| here.side_effects != table.side_effects) {
            return Err(format!(
                "{}.{} has triggers or foreign keys there that it has not on its primary",
                String::from_utf8_lossy(schema),
                String::from_utf8_lossy(name)
            )
            .into());
        }
    }
    let is_equal =
        |(schema, name, table): &(&[u8], &[u8], &Table)| theirs.table(schema, name) == Some(*table);
    Ok(ours.tables().filter(|table| !is_equal(table)).map(|(_, _, table)| table.id).collect())
}

fn isolation(picture: &Picture) -> Isolation {
    match picture.isolation {
        nuthatch_source::Isolation::ReadCommitted => Isolation::ReadCommitted,
        nuthatch_source::Isolation::RepeatableRead => Isolation::RepeatableRead,
        nuthatch_source::Isolation::ReadUncommitted | nuthatch_source::Isolation::Serializable => {
            Isolation::Other
        }
    }
}

fn buffer_pool(told: nuthatch_source::BufferPool) -> BufferPool {
    let nuthatch_source::BufferPool { size_bytes, read_requests, reads } = told;
    BufferPool { size_bytes, read_requests, reads }
}

fn told(why: NoEvidence) -> NoDomain {
    match why {
        NoEvidence::Unsuited(why) => sentence(why).into(),
        why => why.to_string().into(),
    }
}

fn sentence(why: NotASource) -> &'static str {
    match why {
        NotASource::Replica => "its server is a replica, behind the writes by an unknown time",
        NotASource::Cluster => "its server is a member of a cluster: writes on others are not seen",
        NotASource::ReadOnlyStorage => {
            "its server's innodb_read_only is on: what changes its tables is written elsewhere and not seen"
        }
        NotASource::InitConnect => {
            "its server's init_connect does more than SET NAMES, SET autocommit and INSERT: what its sessions begin with is not known"
        }
        NotASource::AutoIsNull => {
            "its server's sql_auto_is_null is on: what its sessions are answered follows their last insert id"
        }
        NotASource::AnsiQuotes => {
            "its server's sql_mode has ANSI_QUOTES: its sessions begin with it, of which its answers never tell"
        }
    }
}
