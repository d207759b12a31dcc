//! Asynchronous replication: who takes writes is writer, who is read-only is reader.
//!
//! Two servers of a pair that both take writes would split what is written between them. With `mysql-two_writers` = `refuse` the one that
//! was writer stays until it is seen read-only, or is not there; any other is kept out. A writer that was replaced while it was not there,
//! and comes back still taking writes, is not read from either: what it has may differ. One that is fenced is of no use until somebody
//! readmits it.

use super::finding::{Access, Findings};
use super::rows::Rows;
use super::{Placed, Placer, Role};
use crate::clusters::ReplicationPair;
use crate::server::{ServerName, ServerStatus};
use crate::variables::MysqlVariables;

/// A server of the pair.
struct Candidate<'a> {
    name: ServerName,
    access: Option<&'a Access>,
    is_loaded_as_writer: bool,
    /// When servers were placed last.
    was_writer: bool,
    /// An operator lets it be used.
    is_online: bool,
    /// Nothing is sent to it, and why.
    fenced: Option<String>,
}

impl Candidate<'_> {
    fn is_writable(&self) -> Option<bool> {
        self.access.and_then(Access::is_writable)
    }

    fn gone(&self) -> Option<&str> {
        self.access.and_then(Access::gone)
    }

    /// Whether it may be writer as far as is known.
    fn may_write(&self) -> bool {
        let is_as_loaded = self.is_loaded_as_writer || self.was_writer;
        self.is_online && self.fenced.is_none() && self.is_writable().unwrap_or(is_as_loaded)
    }

    fn is_silent(&self) -> bool {
        self.access.is_some_and(|access| access.silent().is_some())
    }

    fn is_there(&self) -> bool {
        self.gone().is_none()
    }
}

impl Placer {
    pub(super) fn place_pair(
        &mut self,
        pair: &ReplicationPair,
        variables: &MysqlVariables,
        findings: &Findings,
        rows: &mut Rows,
    ) -> Vec<Placed> {
        let both = [pair.writer, pair.reader];
        let candidate = |name: ServerName| Candidate {
            access: findings.get(&name).and_then(|finding| finding.access.get(&pair.check)),
            is_loaded_as_writer: rows.row(pair.writer, &name).is_some(),
            was_writer: self.was_writer(pair.writer, &name),
            is_online: rows.is_online(&both, &name),
            fenced: self.fenced.get(&(pair.writer, name.clone())).cloned(),
            name,
        };
        let candidates: Vec<_> = rows.servers_in(&both).into_iter().map(candidate).collect();
        let refuses = variables.two_writers == "refuse";
        // Before anybody has looked, and where nobody was writer, servers stand where they are loaded.
        let is_any_known =
            candidates.iter().any(|candidate| candidate.access.is_some() || candidate.was_writer);
        let writer = if refuses && is_any_known { self.choose(pair, &candidates) } else { None };
        let mut placed = Vec::new();
        for candidate in &candidates {
            let role = match candidate.is_writable() {
                _ if candidate.fenced.is_some() => Role::KeptOut,
                None if writer.as_ref() == Some(&candidate.name) => Role::Writer,
                None if writer.is_some() && candidate.is_loaded_as_writer && candidate.is_online => {
                    Role::KeptOut
                }
                None => Role::Unknown,
                Some(false) => Role::Reader,
                Some(true) if !refuses || !candidate.is_online => Role::Writer,
                Some(true) if writer.as_ref() == Some(&candidate.name) => Role::Writer,
                Some(true) => Role::KeptOut,
            };
            let why = why(role, candidate, pair, writer.as_ref());
            if candidate.access.is_some_and(Access::is_seen_read_only) {
                self.deposed.remove(&(pair.writer, candidate.name.clone()));
            }
            self.stand(candidate, role, pair, variables, rows);
            placed.push(Placed { server: candidate.name.clone(), writer_hostgroup: pair.writer, role, why });
        }
        if !refuses {
            let write = placed.iter().filter(|one| one.role == Role::Writer).map(|one| one.server.clone());
            self.writers.insert(pair.writer, write.collect());
        }
        placed
    }

    /// The one writer of a pair, if it has one.
    fn choose(&mut self, pair: &ReplicationPair, candidates: &[Candidate<'_>]) -> Option<ServerName> {
        let may_write = || candidates.iter().filter(|candidate| candidate.may_write());
        let was_writer = |candidate: &&Candidate<'_>| candidate.was_writer;
        let is_proven = |candidate: &&Candidate<'_>| candidate.is_writable() == Some(true);
        let is_first = |candidate: &&Candidate<'_>| candidate.is_loaded_as_writer;
        let known = may_write().find(was_writer);
        let chosen = match (known, self.writers(pair.writer).is_empty()) {
            (Some(known), _) if known.is_there() => Some(known),
            // Nobody has been writer yet: the one that the operator has there, before others were looked at.
            (None, true) => may_write()
                .find(|candidate| is_first(candidate) && candidate.is_there())
                .or_else(|| may_write().filter(is_proven).find(|candidate| candidate.is_there())),
            (known, _) => {
                let there = || may_write().filter(is_proven).filter(|candidate| candidate.is_there());
                let is_deposed = |candidate: &&Candidate<'_>| {
                    self.deposed.contains(&(pair.writer, candidate.name.clone()))
                };
                let others = || there().filter(|candidate| !is_deposed(candidate));
                others().find(is_first).or_else(|| others().next()).or(known).or_else(|| there().next())
            }
        };
        let chosen = chosen.map(|candidate| candidate.name.clone());
        if let Some(chosen) = &chosen {
            let before = self.writers.insert(pair.writer, vec![chosen.clone()]).unwrap_or_default();
            self.deposed.extend(
                before.into_iter().filter(|server| server != chosen).map(|server| (pair.writer, server)),
            );
            self.deposed.remove(&(pair.writer, chosen.clone()));
        }
        chosen
    }

    fn is_deposed(&self, pair: &ReplicationPair, candidate: &Candidate<'_>) -> bool {
        self.deposed.contains(&(pair.writer, candidate.name.clone()))
    }

    fn stand(
        &self,
        candidate: &Candidate<'_>,
        role: Role,
        pair: &ReplicationPair,
        variables: &MysqlVariables,
        rows: &mut Rows,
    ) {
        let (name, both) = (&candidate.name, [pair.writer, pair.reader]);
        let is_loaded_as_reader = rows.row(pair.reader, name).is_some();
        match role {
            Role::Writer => {
                let is_reader_too = is_loaded_as_reader
                    && (candidate.is_loaded_as_writer || variables.monitor_writer_is_also_reader);
                rows.stand(name, &both, if is_reader_too { &both } else { &both[..1] });
            }
            // Who does not answer is not read from because of that.
            Role::Reader if candidate.is_silent() && self.is_deposed(pair, candidate) => {
                rows.set_status(name, &both, ServerStatus::OfflineHard);
            }
            Role::Reader if candidate.is_silent() && !is_loaded_as_reader => {
                rows.set_status(name, &both, ServerStatus::Shunned);
            }
            Role::Reader => rows.stand(name, &both, &both[1..]),
            Role::KeptOut if candidate.fenced.is_some() => rows.cut_off(name),
            Role::KeptOut if self.is_deposed(pair, candidate) => {
                rows.set_status(name, &both, ServerStatus::OfflineHard);
            }
            Role::KeptOut if is_loaded_as_reader => rows.stand(name, &both, &both[1..]),
            Role::KeptOut => rows.set_status(name, &both, ServerStatus::OfflineHard),
            Role::BackupWriter | Role::Offline | Role::Unknown => {}
        }
    }
}

fn why(role: Role, candidate: &Candidate<'_>, pair: &ReplicationPair, writer: Option<&ServerName>) -> String {
    if let Some(fenced) = &candidate.fenced {
        return fenced.clone();
    }
    let variables = pair.check.variables();
    match (role, candidate.gone(), candidate.access.and_then(Access::silent)) {
        (Role::Writer, Some(gone), _) => format!("it was, and nobody else is; it is not there: {gone}"),
        (Role::Writer, None, _) if candidate.is_writable().is_none() => {
            "it was, or is loaded as writer, and nobody has looked yet".to_owned()
        }
        (Role::Writer, None, _) => format!("{variables} is off"),
        (Role::Reader, _, Some(silent)) => {
            format!("{silent}: it counts as read-only (mysql-monitor_read_only_max_timeout_count)")
        }
        (Role::Reader, _, None) => format!("{variables} is on"),
        (Role::KeptOut, Some(gone), _) => format!("it was replaced as writer while it was not there: {gone}"),
        (Role::KeptOut, ..) if candidate.is_writable().is_none() => {
            "no look at it has told anything yet, and another one writes".to_owned()
        }
        (Role::KeptOut, ..) => match writer {
            Some(writer) => format!(
                "{variables} is off, and {writer} is the writer of hostgroup {} (mysql-two_writers = refuse)",
                pair.writer
            ),
            None => format!("{variables} is off, and it was replaced as writer while it was not there"),
        },
        (_, Some(gone), _) => format!("it is not there: {gone}"),
        _ => "no look at it has told anything yet".to_owned(),
    }
}
