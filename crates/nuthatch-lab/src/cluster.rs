//! Bringing up a cluster, and a node back into it: who begins, who joins, when it is in.
//!
//! A cluster none of whose nodes runs is begun by the one that had come furthest, so that nothing is lost.

use std::process::{Command, Stdio};
use std::time::Duration;

use nuthatch_server::{Deadline, ProcessMark};

use crate::client::Client;
use crate::dialect::Binlog;
use crate::duty::Duty;
use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::options::Cluster;
use crate::progress::{Progress, Step};
use crate::role::Role;
use crate::status::Member;
use crate::{galera, group};

/// What a server's process is given besides its option file.
#[derive(Debug, Default)]
pub(crate) struct StartWords {
    pub(crate) argument: Option<&'static str>,
    /// Its `PATH`, if it is not this process's.
    pub(crate) path: Option<String>,
}

impl Lab {
    /// The order in which servers are started: who begins a cluster comes first.
    pub(crate) fn start_order(&self) -> Result<Vec<Role>> {
        let mut roles = self.roles();
        let begins = match self.state.cluster {
            Some(Cluster::Galera(_)) if self.servers().all(|server| server.pid().is_none()) => {
                self.furthest_node()?
            }
            _ => None,
        };
        // The sort is stable: all others stay in their order.
        roles.sort_by_key(|role| Some(*role) != begins);
        Ok(roles)
    }

    /// What a node's process is given besides its option file.
    pub(crate) fn cluster_start(&self, role: Role) -> Result<StartWords> {
        let Some(Cluster::Galera(_)) = self.state.cluster else { return Ok(StartWords::default()) };
        let mut words = StartWords { path: Some(galera::path(&self.layout)), ..StartWords::default() };
        if self.servers().any(|server| server.role() != role && server.pid().is_some()) {
            return Ok(words);
        }
        galera::allow_bootstrap(&self.layout.data(role))?;
        words.argument = Some("--wsrep-new-cluster");
        Ok(words)
    }

    /// Every node is in the cluster, and has the lab's accounts.
    pub(crate) fn connect_nodes(&self, wait: Duration, progress: &mut dyn Progress) -> Result<()> {
        match self.state.cluster {
            Some(Cluster::GroupReplication(_)) => self.form_group(wait, progress),
            _ => {
                for role in self.roles() {
                    self.await_member(role, wait)?;
                    progress.step(&Step::Joined(role));
                }
                self.make_accounts(self.primary().role(), Binlog::On)
            }
        }
    }

    /// The node, which answers, is in its cluster again; it begins one when no other node is in one.
    pub(crate) fn rejoin(&self, role: Role, wait: Duration) -> Result<()> {
        match self.state.cluster {
            Some(Cluster::GroupReplication(_)) if self.is_in(role)? => Ok(()),
            Some(Cluster::GroupReplication(_)) if self.some_member()?.is_some() => {
                self.join_group(role, wait)
            }
            Some(Cluster::GroupReplication(_)) => self.begin_group(role, wait),
            _ => self.await_member(role, wait),
        }
    }

    /// What the server says of its cluster, if the lab is one.
    pub(crate) fn member(&self, client: &Client) -> Option<Member> {
        match self.state.cluster? {
            Cluster::Galera(_) => galera::member(client),
            Cluster::GroupReplication(_) => group::member(client),
        }
    }

    /// Waits until the node is in its cluster.
    fn await_member(&self, role: Role, wait: Duration) -> Result<()> {
        let client = self.client(self.server_state(role)?)?;
        let mut seen = None;
        let mut look = || {
            seen = self.member(&client);
            seen.as_ref().is_some_and(Member::is_in).then_some(())
        };
        Deadline::after(wait).poll(&mut look).ok_or_else(|| LabError::Replication {
            role,
            reason: seen.map_or_else(
                || "it does not say how it is in its cluster".into(),
                |seen| format!("it is {} ({}) and sees {}", seen.state, seen.role, seen.size),
            ),
        })
    }

    fn is_in(&self, role: Role) -> Result<bool> {
        let server = self.server_state(role)?;
        if !server.process.as_ref().is_some_and(ProcessMark::is_alive) {
            return Ok(false);
        }
        Ok(self.member(&self.client(server)?).as_ref().is_some_and(Member::is_in))
    }

    /// One that is in the group, the primary before others.
    fn some_member(&self) -> Result<Option<Role>> {
        let mut found = None;
        for role in self.roles() {
            if self.is_in(role)? {
                let client = self.client(self.server_state(role)?)?;
                if self.member(&client).is_some_and(|member| member.role == "PRIMARY") {
                    return Ok(Some(role));
                }
                found = Some(role);
            }
        }
        Ok(found)
    }

    fn form_group(&self, wait: Duration, progress: &mut dyn Progress) -> Result<()> {
        match self.some_member()? {
            Some(member) => self.make_accounts(member, Binlog::On)?,
            None => self.begin_with_furthest(wait)?,
        }
        for role in self.roles() {
            self.rejoin(role, wait)?;
            progress.step(&Step::Joined(role));
        }
        Ok(())
    }

    fn begin_with_furthest(&self, wait: Duration) -> Result<()> {
        for role in self.roles() {
            self.make_accounts(role, Binlog::Off)?;
        }
        self.begin_group(self.furthest_member()?, wait)
    }

    fn begin_group(&self, role: Role, wait: Duration) -> Result<()> {
        let server = self.server(role)?;
        server.query(group::LEAVE)?;
        server.query(&group::recover_as(&self.login_for(Duty::Replication)?))?;
        let begun = server.query(group::BEGIN);
        server.query(group::BEGUN)?;
        begun?;
        self.await_member(role, wait)
    }

    fn join_group(&self, role: Role, wait: Duration) -> Result<()> {
        let server = self.server(role)?;
        server.query(group::LEAVE)?;
        server.query(&group::join(&self.login_for(Duty::Replication)?))?;
        self.await_member(role, wait)
    }

    /// The member that has all that others have; the first of several.
    fn furthest_member(&self) -> Result<Role> {
        let position = |role: Role| -> Result<String> {
            let rows = self.server(role)?.query(self.dialect().position())?;
            Ok(rows.first().unwrap_or_default().to_owned())
        };
        let first = self.primary();
        let mut furthest = (first.role(), position(first.role())?);
        for role in self.roles() {
            let own = position(role)?;
            if first.query(&group::is_beyond(&own, &furthest.1))?.first() == Some("1") {
                furthest = (role, own);
            }
        }
        Ok(furthest.0)
    }

    /// The node that had come furthest before all ended; `None` of nodes that have not run yet.
    fn furthest_node(&self) -> Result<Option<Role>> {
        let mut furthest = None;
        for role in self.roles() {
            let data = self.layout.data(role);
            if !data.join("grastate.dat").exists() {
                continue;
            }
            let position = match galera::noted_position(&data) {
                Some(position) => Some(position),
                None => self.recover_position(role)?,
            };
            if furthest.is_none_or(|(_, before)| position > before) {
                furthest = Some((role, position));
            }
        }
        Ok(furthest.map(|(role, _)| role))
    }

    /// Has a node that crashed find out how far it had come.
    fn recover_position(&self, role: Role) -> Result<Option<u64>> {
        let program = self.state.installation.find(self.state.installation.kind.server())?;
        let log = self.layout.server(role).join("recovery.log");
        let output = Command::new(&program)
            .arg(format!("--defaults-file={}", self.layout.server_config(role).display()))
            .args(["--wsrep-recover", "--skip-networking"])
            .arg(format!("--log-error={}", log.display()))
            .stdin(Stdio::null())
            .output();
        output.map_err(LabError::file("run", &program))?;
        let text = std::fs::read_to_string(&log).map_err(LabError::file("read", &log))?;
        Ok(galera::recovered_position(&text))
    }
}
