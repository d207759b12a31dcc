//! What pairing comes to: what is on both sides, what is added, which options change, who is written to. Nothing is touched for it.

use std::collections::BTreeSet;
use std::fmt;

use crate::add::Wanted;
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::record::{Record, free_server_id};
use crate::replication::dialect::OF_PAIRS;
use crate::replication::end::End;
use crate::replication::fitness::{BothWays, Looked, are_alike, judge};
use crate::replication::pair::options::{Side, missing, refuse_old_sessions};
use crate::replication::replicate::{Found, Manner, Writable, follows, refuse_unlogged};
use crate::replication::request::{Known, Request, Survey, Which};
use crate::replication::route;
use crate::replication::ssh::Ssh;
use crate::replication::standing::Standing;
use crate::root::Root;

/// All pairs with one other host. `Display` is for people.
#[derive(Debug)]
pub struct Plan {
    pub(crate) here: End,
    pub(crate) there: End,
    pub(crate) writable: Writable,
    pub(crate) over_tls: bool,
    pub(crate) pairings: Vec<Pairing>,
}

/// One instance here and its like there.
#[derive(Debug)]
pub(crate) struct Pairing {
    pub(crate) here: Known,
    pub(crate) there: Other,
    /// Whether the one here is read-only, where one is.
    pub(crate) is_second_here: bool,
    pub(crate) is_done: bool,
    lines: Vec<String>,
}

/// The instance of the other host.
#[derive(Debug)]
pub(crate) enum Other {
    There(Box<Known>),
    /// As it would be added, from where it has its data, and which version its server is.
    Missing(Box<Wanted>, Seed, String),
}

/// From where one that is added has what the one here holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seed {
    /// The binlogs here hold all of it.
    Binlogs,
    /// It begins as a copy, which is taken while the one here runs.
    Copy,
}

impl Plan {
    /// For these instances, or for all of this host.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] with what is in the way.
    pub fn make(
        root: &Root,
        with: Ssh,
        names: &[InstanceName],
        manner: Manner,
    ) -> Result<Self, InstanceError> {
        let mut plan = Self {
            here: End::Here(root.clone()),
            there: End::There(with),
            writable: manner.writable,
            over_tls: manner.over_tls,
            pairings: Vec::new(),
        };
        let (own, others) = (plan.here.survey()?, plan.there.survey()?);
        let mut server_ids = own.server_ids().chain(others.server_ids()).collect();
        let all: Vec<InstanceName> = own.instances.keys().cloned().collect();
        for name in if names.is_empty() { &all } else { names } {
            let place = root.find(name)?;
            let pairing = plan.look_at(name, &place.record()?, (&own, &others), &mut server_ids)?;
            plan.pairings.push(pairing);
        }
        if plan.pairings.is_empty() {
            return Err(plan.refuse("there is no instance here"));
        }
        Ok(plan)
    }

    /// Whether nothing is to be done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.pairings.iter().all(|pairing| pairing.is_done)
    }

    /// The other host, as it is called.
    #[must_use]
    pub fn with(&self) -> &str {
        self.there.name()
    }

    fn refuse(&self, what: &str) -> InstanceError {
        InstanceError::Refused(format!("pair with {}: {what}", self.there.name()))
    }

    fn look_at(
        &self,
        name: &InstanceName,
        record: &Record,
        (own, others): (&Survey, &Survey),
        server_ids: &mut BTreeSet<u32>,
    ) -> Result<Pairing, InstanceError> {
        let refuse = |what: String| self.refuse(&what);
        let other = others.instances.get(name);
        let there = other.map_or(others.address, |other| other.address);
        route::between(record.address, there).map_err(refuse)?;
        let here = self.here.look(Which::Named(name.clone()))?;
        let from = self.there.reach(&here.host.to_string(), here.port)?;
        route::is_another(here.host, from).map_err(refuse)?;
        route::reaches(there, record.port).map_err(refuse)?;
        let there = match other {
            Some(other) => {
                self.are_alike(name, record, other)?;
                let known = self.there.look(Which::Named(name.clone()))?;
                if known.standing.sources.is_empty() {
                    let (replica, source) =
                        (Found { end: &self.there, known: &known }, Found { end: &self.here, known: &here });
                    refuse_unlogged(&replica, &source)?;
                }
                Other::There(Box::new(known))
            }
            None => self.missing_one(&here, record, (own, others), server_ids)?,
        };
        self.judge(here, there)
    }

    /// One that is to be added there, with a number that nobody has.
    fn missing_one(
        &self,
        here: &Known,
        record: &Record,
        (own, others): (&Survey, &Survey),
        server_ids: &mut BTreeSet<u32>,
    ) -> Result<Other, InstanceError> {
        let seed = seed_of(&self.here, here)?;
        let mut wanted = self.can_be_added(&here.name, record, own, others)?;
        let version = self.there.version_of(&wanted.server)?;
        let server_id = free_server_id(others.address, record.port, server_ids);
        server_ids.insert(server_id);
        wanted.server_id = Some(server_id);
        if seed == Seed::Copy || self.writable == Writable::Source {
            // Nobody writes to it between its start and its following.
            wanted.own.push("read_only=ON".to_owned());
        }
        Ok(Other::Missing(Box::new(wanted), seed, version))
    }

    fn are_alike(&self, name: &InstanceName, here: &Record, there: &Record) -> Result<(), InstanceError> {
        if here.server.kind != there.server.kind {
            return Err(self.refuse(&format!("{name} is of another kind there; both have to be of one")));
        }
        if here.port != there.port {
            return Err(self.refuse(&format!(
                "{name} has port {} here and {} there; a pair has one port",
                here.port, there.port
            )));
        }
        Ok(())
    }

    /// As it would be added there, if nothing is in the way that can be seen from here.
    fn can_be_added(
        &self,
        name: &InstanceName,
        record: &Record,
        own: &Survey,
        others: &Survey,
    ) -> Result<Wanted, InstanceError> {
        let port = record.port;
        if let Some((other, _)) = others.instances.iter().find(|(_, other)| other.port == port) {
            return Err(self.refuse(&format!("port {port} of {name} is that of {other} there")));
        }
        let template = &record.template;
        if own.templates.get(template) != others.templates.get(template) {
            return Err(self.refuse(&format!(
                "the template {template} of {name} is another one there, or missing: copy templates/{template}.cnf first"
            )));
        }
        let own = record.own.iter().filter(|(option, _)| !OF_PAIRS.contains(&option.as_str()));
        Ok(Wanted {
            name: name.clone(),
            server: record.server.clone(),
            template: template.clone(),
            own: own.map(|(option, value)| format!("{option}={value}")).collect(),
            port: Some(port),
            server_id: None,
            enabled: record.enabled,
        })
    }

    /// Whether both can follow each other, and what that takes.
    fn judge(&self, here: Known, there: Other) -> Result<Pairing, InstanceError> {
        let both_writable = self.writable == Writable::Both;
        let known = there.known(&here);
        let follow_each_other = self.judge_both(&here, &there, &known)?;
        for (one, follows) in [(&here, follow_each_other.1), (&known, follow_each_other.0)] {
            self.refuse_other_secrecy(one, follows)?;
        }
        let is_second_here =
            here.standing.read_only && matches!(&there, Other::There(known) if !known.standing.read_only);
        let (near, far) = (
            Side { of: &here, with: &known, is_second: is_second_here },
            Side { of: &known, with: &here, is_second: !is_second_here },
        );
        let near_options = missing(&here, near.options(both_writable));
        let far_options = missing(&known, far.options(both_writable));
        if both_writable && !(near_options.is_empty() && far_options.is_empty()) {
            refuse_old_sessions(&here)?;
            refuse_old_sessions(&known)?;
        }
        let mut lines = self.lines_of("here", &here, &near_options);
        if let Other::Missing(_, seed, _) = &there {
            let how = if *seed == Seed::Copy { ", as a copy of the one here" } else { "" };
            lines.push(format!("{}: added{how}, port {}", self.there.name(), here.port));
        }
        lines.extend(self.lines_of(self.there.name(), &known, &far_options));
        let log_in = !here.standing.login_fails && !known.standing.login_fails;
        let is_done =
            follow_each_other == (true, true) && log_in && near_options.is_empty() && far_options.is_empty();
        Ok(Pairing { here, there, is_second_here, is_done, lines })
    }

    /// Whether the one there follows the one here, and the other way round; refused where one that does not could not.
    fn judge_both(&self, here: &Known, there: &Other, known: &Known) -> Result<(bool, bool), InstanceError> {
        let address = here.address();
        let looked = |known: &'_ Known| format!("{} at {}", known.name, known.address());
        let here_name = looked(here);
        let near = Looked { name: &here_name, address: &address, standing: &here.standing };
        let (there_name, there_address) = match &there {
            Other::There(known) => (looked(known), known.address()),
            Other::Missing(..) => (format!("{} on {}", here.name, self.there.name()), String::new()),
        };
        let far = Looked { name: &there_name, address: &there_address, standing: &known.standing };
        let follow_each_other = (follows(known, &address)?, follows(here, &there_address)?);
        if !follow_each_other.0 {
            if has_no_transactions(&here.standing) && !has_no_transactions(&known.standing) {
                return Err(self.refuse(&format!(
                    "{here_name} has no transactions, and {there_name} has: say it there (nuthatch instance pair, on {}), so that the one here \
                     gets what it has",
                    self.there.name()
                )));
            }
            judge(far, near, BothWays::Wanted)?;
        }
        if !follow_each_other.1 {
            are_alike(near, far).map_err(|what| self.refuse(&what))?;
        }
        Ok(follow_each_other)
    }

    /// What replicates already is as it was told to be; and nobody is stopped who could not start again.
    fn refuse_other_secrecy(&self, known: &Known, follows: bool) -> Result<(), InstanceError> {
        let whose = format!("{} at {}", known.name, known.address());
        if let Some(option) = known.lacks.as_ref().filter(|_| self.over_tls && !known.standing.has_tls) {
            return Err(self.refuse(&format!(
                "{whose} has TLS from a restart on, and would not start: the file of {option} is not there; put it there, unset that, or say \
                 --no-tls"
            )));
        }
        let Some(now) = known.standing.following.as_ref().filter(|_| follows) else { return Ok(()) };
        let (is_so, but) = match (now.over_tls, self.over_tls) {
            (true, false) => ("over TLS", "say it without --no-tls"),
            (false, true) => ("not encrypted", "say --no-tls"),
            _ => return Ok(()),
        };
        Err(self.refuse(&format!(
            "{whose} replicates already, {is_so}: {but}; for another way end that first (nuthatch instance replicate {} --forget, on both hosts)",
            known.name
        )))
    }

    fn lines_of(&self, whose: &str, known: &Known, options: &[String]) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(now) = known.standing.following.as_ref().filter(|_| !known.is_running()) {
            lines.push(format!("{whose}: does not replicate now: {now}"));
        }
        if self.over_tls && !known.standing.has_tls {
            lines.push(format!("{whose}: restarted, for its certificate"));
        }
        if !options.is_empty() {
            lines.push(format!("{whose}: {}", options.join(", ")));
        }
        lines
    }
}

impl Other {
    /// What it says of itself, or would say.
    pub(crate) fn known(&self, beside: &Known) -> Known {
        match self {
            Self::There(known) => (**known).clone(),
            Self::Missing(wanted, seed, version) => {
                let begun = begun(beside, *seed);
                let server_id = wanted.server_id.unwrap_or(begun.standing.server_id);
                let standing = Standing { server_id, version: version.clone(), ..begun.standing };
                Known { standing, ..begun }
            }
        }
    }
}

/// Of its own or of others.
fn has_no_transactions(standing: &Standing) -> bool {
    standing.executed.is_empty() && standing.known.is_empty()
}

/// From where one that is added beside it could have what it holds.
fn seed_of(end: &End, here: &Known) -> Result<Seed, InstanceError> {
    let (address, blank) = (here.address(), begun(here, Seed::Binlogs));
    let looked = |standing, address| Looked { name: "", address, standing };
    let judged = judge(looked(&blank.standing, ""), looked(&here.standing, &address), BothWays::Wanted);
    let holds_all = judged.is_ok() && end.tables(&Request::Unlogged(here.name.clone()))?.is_empty();
    Ok(if holds_all { Seed::Binlogs } else { Seed::Copy })
}

/// What one would say of itself that has just been added beside it.
fn begun(beside: &Known, seed: Seed) -> Known {
    let standing = &beside.standing;
    let held = |what: &String| if seed == Seed::Copy { what.clone() } else { String::new() };
    Known {
        own: std::collections::BTreeMap::new(),
        clients: 0,
        lacks: None,
        standing: Standing {
            server_id: standing.server_id.wrapping_add(1),
            uuid: String::new(),
            domain: 0,
            misfits: Vec::new(),
            executed: held(&standing.executed),
            replicated: held(&standing.executed),
            known: held(&standing.known),
            purged: Some(held(&standing.executed)),
            read_only: false,
            has_tls: true,
            auto_increment: (1, 1),
            sources: Vec::new(),
            login_fails: false,
            following: None,
            ..standing.clone()
        },
        ..beside.clone()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.there.name();
        for (number, pairing) in self.pairings.iter().enumerate() {
            let written = match (self.writable, pairing.is_second_here) {
                (Writable::Both, _) => "both are written to",
                (Writable::Source, false) => "the one here is written to",
                (Writable::Source, true) => "the one there is written to",
            };
            let how = if self.over_tls { "over TLS" } else { "not encrypted" };
            let line_end = if number == 0 { "" } else { "\n" };
            write!(f, "{line_end}{} here and on {there}, both ways, {how}; {written}", pairing.here.name)?;
            if pairing.is_done {
                write!(f, ": as it is")?;
            }
            for line in &pairing.lines {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}
