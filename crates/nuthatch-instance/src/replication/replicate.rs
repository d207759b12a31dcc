//! Having an instance follow a source, and ending that: what is looked at, made, and taken back, at both ends.

use std::net::IpAddr;

use nuthatch_server::{Kind, Password};

use crate::ask::wait_for;
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::record::Record;
use crate::replication::account::user_of;
use crate::replication::end::End;
use crate::replication::fitness::{self, BothWays, Looked, judge};
use crate::replication::foreign::Login;
use crate::replication::link::{Link, Via};
use crate::replication::request::{Account, Known, Order, Request, Secret, Trust, Which};
use crate::replication::standing::Standing;
use crate::root::Root;

/// Whom an instance is to follow.
#[derive(Clone, Debug)]
pub enum SourceChoice {
    /// An instance of a host whose instances are ours.
    Ours(End, Which),
    /// Any other server, with an account that somebody has made.
    Foreign(ForeignSource),
}

/// A server that is not ours.
#[derive(Clone, Debug)]
pub struct ForeignSource {
    /// Name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The account.
    pub user: String,
    /// Its password.
    pub password: Password,
    /// The authority of its certificate, in PEM; without, whoever answers is believed.
    pub authority: Option<String>,
}

/// Who may write where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writable {
    /// The source alone: the replica is read-only.
    Source,
    /// Both.
    Both,
}

/// How it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Who may write.
    pub writable: Writable,
    /// Whether over TLS.
    pub over_tls: bool,
}

/// One end as it was found.
pub(crate) struct Found<'a> {
    pub(crate) end: &'a End,
    pub(crate) known: &'a Known,
}

/// The instance follows the source.
///
/// # Errors
/// [`InstanceError::Refused`] before anything is touched; else what kept it from that, and all is as it was.
pub fn replicate(
    root: &Root,
    name: &InstanceName,
    from: &SourceChoice,
    manner: Manner,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let here = End::Here(root.clone());
    let known = here.look(Which::Named(name.clone()))?;
    let replica = Found { end: &here, known: &known };
    match from {
        SourceChoice::Ours(end, which) => {
            let source = end.look(which.clone())?;
            refuse_circle(end, &source, &known)?;
            let options = options_of(&known, &source.standing, manner.writable)?;
            let both_ways =
                if manner.writable == Writable::Both { BothWays::Wanted } else { BothWays::Refused };
            let via = match end {
                End::Here(_) => Via::Here(source.name.clone()),
                End::There(ssh) => Via::There(ssh.clone(), source.name.clone()),
            };
            let bond = Bond { via, both_ways, over_tls: manner.over_tls, options };
            connect(&replica, &Found { end, known: &source }, bond, progress)
        }
        SourceChoice::Foreign(foreign) => follow_foreign(&replica, foreign, manner, progress),
    }
}

/// What is decided of a replication before it is made.
pub(crate) struct Bond {
    pub(crate) via: Via,
    pub(crate) both_ways: BothWays,
    pub(crate) over_tls: bool,
    pub(crate) options: Vec<String>,
}

/// The replica follows the source, both ours, by an account that is made for it.
pub(crate) fn connect(
    replica: &Found<'_>,
    source: &Found<'_>,
    bond: Bond,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let (own, other) = (replica.known, source.known);
    let (own_address, address) = (own.address(), other.address());
    let again = follows(own, &address)?;
    if again && !own.standing.login_fails {
        progress.step(&Step::Already(own.name.clone(), "follows it"));
        return Ok(());
    }
    refuse_same_address(replica, source)?;
    let other_name = format!("{} at {address}", other.name);
    let near = Looked { name: own.name.as_str(), address: &own_address, standing: &own.standing };
    let far = Looked { name: &other_name, address: &address, standing: &other.standing };
    let beginning = judge(near, far, bond.both_ways)?;
    let trust = trust_in(other, bond.over_tls)?;
    let host = other.host.to_string();
    let from = replica.end.reach(&host, other.port)?;
    let account = account_of(&own.standing, from, bond.over_tls);
    let password = Password::fresh()?;
    let make = Request::MakeAccount {
        name: other.name.clone(),
        account: account.clone(),
        password: Secret::from(&password),
    };
    source.end.tell(&make)?;
    let link = Link { source: address.clone(), user: account.user, over_tls: bond.over_tls, via: bond.via };
    let order = Order {
        name: own.name.clone(),
        host,
        port: other.port,
        password: Secret::from(&password),
        trust,
        beginning,
        options: bond.options,
        link,
        is_mutual: fitness::follows(far, near),
        again,
    };
    let user = order.link.user.clone();
    let followed = replica.end.tell(&Request::Follow(Box::new(order)));
    if followed.is_err() && !again {
        // What has failed says more.
        drop(source.end.tell(&Request::DropAccount { name: other.name.clone(), user }));
    }
    followed?;
    say_begun(own, &address, bond.over_tls, progress);
    Ok(())
}

/// Whether the replica follows that one already; one that follows another is refused.
pub(crate) fn follows(own: &Known, address: &str) -> Result<bool, InstanceError> {
    match own.standing.sources.as_slice() {
        [] => Ok(false),
        [one] if one == address => Ok(true),
        others => Err(InstanceError::Refused(format!(
            "replicate {0} from {address}: it follows {1} (nuthatch instance replicate {0} --forget ends that)",
            own.name,
            others.join(" and ")
        ))),
    }
}

/// Two hosts whose instances listen on one address take each other for themselves.
fn refuse_same_address(replica: &Found<'_>, source: &Found<'_>) -> Result<(), InstanceError> {
    let is_one_host = matches!((replica.end, source.end), (End::Here(_), End::Here(_)));
    if is_one_host || replica.known.host != source.known.host {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "replicate {} from {}: the instances of both hosts listen on {}; each host needs an address that the other reaches (nuthatch instance \
         host --address IP, before instances are added)",
        replica.known.name, source.known.name, replica.known.host
    )))
}

/// A source that follows the replica over others would make a circle, which nobody has asked for.
fn refuse_circle(end: &End, source: &Known, own: &Known) -> Result<(), InstanceError> {
    let instances = end.survey()?.instances;
    let (mut at, mut passed) = (source.clone(), vec![source.name.clone()]);
    while let Some(followed) = at.standing.sources.first().cloned() {
        if followed == own.address() && passed.len() > 1 {
            let over: Vec<&str> = passed.iter().map(InstanceName::as_str).collect();
            return Err(InstanceError::Refused(format!(
                "replicate {} from {}: that would be a circle ({} follow it)",
                own.name,
                source.name,
                over.join(" and ")
            )));
        }
        let is_it = |record: &Record| format!("{}:{}", record.address, record.port) == followed;
        let Some((name, _)) = instances.iter().find(|(_, record)| is_it(record)) else { break };
        // A pair of them, or one that does not run.
        if passed.contains(name) {
            break;
        }
        passed.push(name.clone());
        let Ok(known) = end.look(Which::Named(name.clone())) else { break };
        at = known;
    }
    Ok(())
}

/// How the source is known to be who it is.
fn trust_in(source: &Known, over_tls: bool) -> Result<Trust, InstanceError> {
    let (name, refuse) = (&source.name, |what: String| {
        InstanceError::Refused(format!("replicate from {} over TLS: {what}", source.name))
    });
    match (over_tls, &source.authority) {
        (false, _) => Ok(Trust::Clear),
        (true, _) if !source.standing.has_tls => Err(refuse(format!(
            "its server has a certificate from its next start on (nuthatch instance restart {name}); or say --no-tls"
        ))),
        (true, Some(authority)) => Ok(Trust::Authority(authority.clone())),
        (true, None) => Err(refuse("it names no authority that vouches for its certificate (ssl_ca)".into())),
    }
}

/// The account that a replica has at its source.
pub(crate) fn account_of(replica: &Standing, from: IpAddr, over_tls: bool) -> Account {
    Account { user: user_of(replica.server_id), host: from, over_tls }
}

fn say_begun(own: &Known, source: &str, over_tls: bool, progress: &mut dyn Progress) {
    let how = if over_tls { " over TLS" } else { ", not encrypted" };
    progress.step(&Step::Note(format!("{} at {} replicates from {source}{how}", own.name, own.address())));
}

/// The options that a replica gets.
pub(crate) fn options_of(
    replica: &Known,
    source: &Standing,
    writable: Writable,
) -> Result<Vec<String>, InstanceError> {
    let own = &replica.standing;
    let mut options = Vec::new();
    if own.kind == Kind::MariaDb && (own.domain == 0 || own.domain == source.domain) {
        options.push(format!("gtid_domain_id={}", own.server_id));
    }
    match writable {
        Writable::Source => options.push("read_only=ON".into()),
        Writable::Both => {
            if own.read_only {
                options.push("read_only=OFF".into());
            }
            let (step, offset) = source.auto_increment;
            if step < 2 {
                return Err(InstanceError::Refused(format!(
                    "replicate {0} with both writable: its source numbers new rows by {step}, so both would give the same numbers; there first: \
                     auto_increment_increment=2 auto_increment_offset=1",
                    replica.name
                )));
            }
            if replica.clients > 0 && own.auto_increment.0 != step {
                return Err(InstanceError::Refused(format!(
                    "replicate {} with both writable: {} clients are connected to it, and keep counting rows by {} until they leave",
                    replica.name, replica.clients, own.auto_increment.0
                )));
            }
            options.push(format!("auto_increment_increment={step}"));
            if own.auto_increment.1 == offset {
                options.push(format!("auto_increment_offset={}", offset % step + 1));
            }
        }
    }
    Ok(options)
}

/// The replica follows a server that is not ours.
fn follow_foreign(
    replica: &Found<'_>,
    foreign: &ForeignSource,
    manner: Manner,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let own = replica.known;
    let address = format!("{}:{}", foreign.host, foreign.port);
    let again = follows(own, &address)?;
    if again && !own.standing.login_fails {
        progress.step(&Step::Already(own.name.clone(), "follows it"));
        return Ok(());
    }
    let trust = match (&foreign.authority, manner.over_tls) {
        (_, false) => Trust::Clear,
        (Some(authority), true) => Trust::Authority(authority.clone()),
        (None, true) => Trust::Encrypted,
    };
    let login = Login {
        host: &foreign.host,
        port: foreign.port,
        user: &foreign.user,
        password: &foreign.password,
        trust: &trust,
    };
    let source = wait_for(async { Standing::of(&mut login.open().await?).await })?;
    let both_ways = if manner.writable == Writable::Both { BothWays::Wanted } else { BothWays::Refused };
    let own_address = own.address();
    let near = Looked { name: own.name.as_str(), address: &own_address, standing: &own.standing };
    let far = Looked { name: &address, address: &address, standing: &source };
    let beginning = judge(near, far, both_ways)?;
    let link = Link {
        source: address.clone(),
        user: foreign.user.clone(),
        over_tls: manner.over_tls,
        via: Via::Foreign,
    };
    let order = Order {
        name: own.name.clone(),
        host: foreign.host.clone(),
        port: foreign.port,
        password: Secret::from(&foreign.password),
        trust,
        beginning,
        options: options_of(own, &source, manner.writable)?,
        link,
        is_mutual: fitness::follows(far, near),
        again,
    };
    replica.end.tell(&Request::Follow(Box::new(order)))?;
    if manner.over_tls && foreign.authority.is_none() {
        let note = "nobody vouches for its certificate: say --ca FILE to have it verified";
        progress.step(&Step::Note(note.into()));
    }
    say_begun(own, &address, manner.over_tls, progress);
    Ok(())
}
