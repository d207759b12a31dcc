//! Where servers stand now: what the configuration says, and what the monitor has found.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use nuthatch_config::{
    AccessFinding, CheckType, Findings, HostgroupId, Member, Placed, Placement, Placer, Role, ServerName,
    ServerStatus, Snapshot,
};
use tokio::time::Instant;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Places {
    /// What was published last, with all servers where the operator has them.
    configured: Arc<Snapshot>,
    findings: Findings,
    placer: Placer,
    placed: Vec<(Placed, Since)>,
    /// When somebody has changed what a server is: looks that were begun before do not show it.
    changed: HashMap<ServerName, Instant>,
}

/// How it is known whether a server takes writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Told {
    /// By a look that was begun then.
    Looked(Instant),
    /// By who has just changed it.
    Changed,
}

/// Since when a server has its role, in milliseconds of the clock.
pub(crate) type Since = u64;

/// What a new placement changes.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// Wrote in that hostgroup, and do not any more.
    pub(crate) deposed: Vec<(HostgroupId, ServerName)>,
    /// Somebody writes who was known not to.
    pub(crate) has_new_writer: bool,
    /// Have another role than before.
    pub(crate) changed: Vec<Placed>,
}

impl Places {
    pub(crate) fn new(configured: Arc<Snapshot>) -> Self {
        let (findings, placer) = (Findings::default(), Placer::default());
        Self { configured, findings, placer, placed: Vec::new(), changed: HashMap::new() }
    }

    /// The configuration, with all servers where the operator has them.
    pub(crate) const fn configured(&self) -> &Arc<Snapshot> {
        &self.configured
    }

    /// What each server of a cluster is, and since when.
    pub(crate) fn placed(&self) -> &[(Placed, Since)] {
        &self.placed
    }

    /// The other servers of the clusters in which that server stands.
    pub(crate) fn others_of_its_clusters(&self, server: &ServerName) -> Vec<ServerName> {
        let placed = || self.placed.iter().map(|(placed, _)| placed);
        let shares = |other: &&Placed| {
            placed().any(|its| its.server == *server && its.writer_hostgroup == other.writer_hostgroup)
        };
        placed()
            .filter(|other| other.server != *server)
            .filter(shares)
            .map(|other| other.server.clone())
            .collect()
    }

    /// Another configuration counts from now on. What was found of servers that it does not name is forgotten.
    pub(crate) fn configure(&mut self, configured: Arc<Snapshot>) {
        let clusters = &configured.clusters;
        self.findings.retain(|server, finding| {
            let stands = |has: &dyn Fn(HostgroupId) -> bool| {
                configured
                    .hostgroups
                    .iter()
                    .any(|(id, _)| has(id) && configured.hostgroups.server(id, server).is_some())
            };
            let is_asked = |check: CheckType| {
                clusters.pairs.iter().any(|pair| pair.check == check && stands(&|id| pair.has(id)))
            };
            finding.access.retain(|check, _| is_asked(*check));
            if !clusters.clusters.iter().any(|cluster| stands(&|id| cluster.has(id))) {
                finding.member = None;
            }
            !finding.access.is_empty() || finding.member.is_some()
        });
        self.configured = configured;
    }

    /// Whether it takes writes, by that check. Returns whether that is news.
    pub(crate) fn note_access(
        &mut self,
        server: &ServerName,
        check: CheckType,
        finding: &AccessFinding,
        told: Told,
    ) -> bool {
        match told {
            Told::Looked(began) if self.changed.get(server).is_some_and(|changed| began < *changed) => {
                return false;
            }
            Told::Looked(_) => {}
            Told::Changed => drop(self.changed.insert(server.clone(), Instant::now())),
        }
        let access = self.findings.entry(server.clone()).or_default().access.entry(check).or_default();
        let before = access.clone();
        access.note(finding);
        *access != before
    }

    /// What it is in its cluster. Returns whether that is news.
    pub(crate) fn note_member(&mut self, server: &ServerName, member: Member) -> bool {
        let known = &mut self.findings.entry(server.clone()).or_default().member;
        let is_news = known.as_ref() != Some(&member);
        *known = Some(member);
        is_news
    }

    /// Nothing is sent to it in that pair, whatever it is found to be.
    pub(crate) fn fence(&mut self, hostgroup: HostgroupId, server: &ServerName, why: &str) {
        self.placer.fence(hostgroup, server, why);
    }

    /// It stands again where it belongs by what it is found to be.
    pub(crate) fn readmit(&mut self, hostgroup: HostgroupId, server: &ServerName) {
        self.placer.readmit(hostgroup, server);
    }

    /// That server wrote in that cluster last, in another run.
    pub(crate) fn remember_writer(&mut self, hostgroup: HostgroupId, server: ServerName) {
        self.placer.remember_writer(hostgroup, server);
    }

    /// Who is the one writer of each cluster, or was when it last had one.
    pub(crate) fn sole_writers(&self) -> BTreeMap<HostgroupId, ServerName> {
        self.placer.sole_writers()
    }

    /// Who wrote in that cluster last, there or not.
    pub(crate) fn last_writer(&self, hostgroup: HostgroupId) -> Option<&ServerName> {
        self.placer.last_writer(hostgroup)
    }

    /// Nobody looks at it any more. Returns whether anything was known.
    pub(crate) fn forget(&mut self, server: &ServerName) -> bool {
        self.changed.remove(server);
        self.findings.remove(server).is_some()
    }

    /// Whether it takes writes, by any look that told.
    pub(crate) fn is_writable(&self, server: &ServerName) -> Option<bool> {
        self.findings.get(server)?.access.values().find_map(nuthatch_config::Access::is_writable)
    }

    /// The configuration with all servers where they belong, beside the one in force, and what is to be done about the difference.
    pub(crate) fn place(&mut self, in_force: &Snapshot, now_ms: u64) -> (Snapshot, Moves) {
        let Placement { hostgroups, placed } = self.placer.place(&self.configured, &self.findings);
        let snapshot = Snapshot { hostgroups, ..Snapshot::clone(&self.configured) };
        let before: HashMap<_, _> = self
            .placed
            .drain(..)
            .map(|(placed, since)| ((placed.writer_hostgroup, placed.server), (placed.role, since)))
            .collect();
        let mut moves = Moves::default();
        for placed in placed {
            let hostgroup = placed.writer_hostgroup;
            let known = before.get(&(hostgroup, placed.server.clone()));
            let since = match known {
                Some((role, since)) if *role == placed.role => *since,
                _ => now_ms,
            };
            let was = known.map_or(Role::Unknown, |(role, _)| *role);
            moves.has_new_writer |=
                placed.role == Role::Writer && !matches!(was, Role::Writer | Role::Unknown);
            if was != placed.role {
                moves.changed.push(placed.clone());
            }
            let writes = |of: &Snapshot| {
                let row = of.hostgroups.server(hostgroup, &placed.server);
                row.is_some_and(|row| matches!(row.status, ServerStatus::Online | ServerStatus::OfflineSoft))
            };
            if writes(in_force) && !writes(&snapshot) {
                moves.deposed.push((hostgroup, placed.server.clone()));
            }
            self.placed.push((placed, since));
        }
        (snapshot, moves)
    }
}

impl Moves {
    /// Tells the log what servers have become.
    pub(crate) fn tell(&self) {
        for Placed { server, writer_hostgroup, role, why } in &self.changed {
            let (hostgroup, role_) = (writer_hostgroup.0, role.as_str());
            match role {
                Role::KeptOut | Role::Offline => {
                    tracing::warn!(%server, hostgroup, why, "a server of a cluster is {role_} now");
                }
                _ => tracing::info!(%server, hostgroup, why, "a server of a cluster is {role_} now"),
            }
        }
    }
}
