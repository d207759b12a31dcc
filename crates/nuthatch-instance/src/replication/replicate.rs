//! Having an instance follow a source, and ending that: what is looked at, made, and taken back, at both ends.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::{IpAddr, ToSocketAddrs};

use nuthatch_server::{Kind, Password, ServerError, lock, make_private_dir};

use crate::ask::wait_for;
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::{Progress, Step};
use crate::record::Record;
use crate::replication::account::user_of;
use crate::replication::already::{is_as_wanted, refuse_other_writers, tell_already};
use crate::replication::end::End;
use crate::replication::fitness::{self, Beginning, BothWays, Looked, judge};
use crate::replication::foreign::Login;
use crate::replication::link::{Link, Via};
use crate::replication::request::{Account, Known, Order, Request, Secret, Trust, Which};
use crate::replication::ssh::Ssh;
use crate::replication::standing::Standing;
use crate::root::Root;

/// Whom an instance is to follow.
#[derive(Clone, Debug)]
pub enum SourceChoice {
    /// An instance of a host whose instances are ours.
    Ours(End, Which),
    /// The one of another host that is to be at that address: of this name or address, on this port.
    At(Ssh, String, u16),
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

impl Manner {
    /// Whether the source may follow the replica too.
    fn both_ways(self) -> BothWays {
        if self.writable == Writable::Both { BothWays::Wanted } else { BothWays::Refused }
    }
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
            follow_ours(&replica, end, &end.look(which.clone())?, manner, progress)
        }
        SourceChoice::At(ssh, host, port) => {
            let end = End::There(ssh.clone());
            let source = end.look(Which::OnPort(*port))?;
            refuse_other_host(name, &source, ssh, host)?;
            follow_ours(&replica, &end, &source, manner, progress)
        }
        SourceChoice::Foreign(foreign) => follow_foreign(&replica, foreign, manner, progress),
    }
}

/// The replica follows an instance of a host whose instances are ours.
fn follow_ours(
    replica: &Found<'_>,
    end: &End,
    source: &Known,
    manner: Manner,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let known = replica.known;
    refuse_circle(end, source, known)?;
    let (address, options) = (source.address(), options_of(known, &source.standing, manner.writable)?);
    if follows(known, &address)? {
        refuse_other_writers(known, &address, manner.both_ways(), &options)?;
    }
    let via = match end {
        End::Here(_) => Via::Here(source.name.clone()),
        End::There(ssh) => Via::There(ssh.clone(), source.name.clone()),
    };
    let bond = Bond { via, both_ways: manner.both_ways(), over_tls: manner.over_tls, options };
    connect(replica, &Found { end, known: source }, bond, progress)
}

/// Whoever names an address means the server that is there, not one of the same port on the host that ssh comes to.
fn refuse_other_host(
    replica: &InstanceName,
    source: &Known,
    ssh: &Ssh,
    host: &str,
) -> Result<(), InstanceError> {
    let addresses_of = |host: &str| -> Vec<IpAddr> {
        let found = (host, source.port).to_socket_addrs().into_iter().flatten();
        found.map(|address| address.ip()).collect()
    };
    let reached = ssh.host().rsplit_once('@').map_or(ssh.host(), |(_user, host)| host);
    let meant = addresses_of(host);
    let is_it = host == reached
        || meant.contains(&source.host)
        || addresses_of(reached).iter().any(|address| meant.contains(address));
    if is_it {
        return Ok(());
    }
    Err(InstanceError::Refused(format!(
        "replicate {replica} from {host}:{0}: {reached}, which ssh comes to, is another host, whose {1} listens on {2}; say --from {2} if that is meant",
        source.port,
        source.name,
        source.address()
    )))
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
    // Of two commands the second sees what the first has done, and changes no password of it.
    let _lock = lock_here(&[replica.end, source.end])?;
    let own = replica.end.look(Which::Named(replica.known.name.clone()))?;
    let replica = &Found { end: replica.end, known: &own };
    let address = source.known.address();
    let again = follows(&own, &address)?;
    if again && is_as_wanted(&own, bond.over_tls) {
        return tell_already(replica.end, &own.name, &address, progress);
    }
    refuse_same_address(replica, source)?;
    let (mut order, account) = prepare(replica, source, bond, again)?;
    let name = source.known.name.clone();
    let (over_tls, user, from) = (account.over_tls, account.user.clone(), Some(account.host));
    let make = Request::MakeAccount { name: name.clone(), account, password: order.password.clone() };
    source.end.tell(&make)?;
    if let Err(error) = replica.end.tell(&Request::Follow(Box::new(order.clone()))) {
        // What has failed says more than what cannot be taken back behind it.
        let now = replica.end.look(Which::Named(own.name.clone())).map(|own| own.standing.sources);
        match now {
            // A command on another host was faster, or ssh was cut behind it: its account has this password now.
            Ok(sources) if !again && sources.contains(&address) => {
                order.again = true;
                replica.end.tell(&Request::Follow(Box::new(order)))?;
            }
            Ok(_) if !again => {
                drop(source.end.tell(&Request::DropAccount { name, user, from }));
                return Err(error);
            }
            // It may be in use.
            _ => return Err(error),
        }
    }
    say_begun(&own, &address, over_tls, progress);
    Ok(())
}

/// How the replica is to follow the source, and by which account there, if nothing is in the way.
fn prepare(
    replica: &Found<'_>,
    source: &Found<'_>,
    bond: Bond,
    again: bool,
) -> Result<(Order, Account), InstanceError> {
    let (own, other) = (replica.known, source.known);
    let (own_address, address) = (own.address(), other.address());
    let other_name = format!("{} at {address}", other.name);
    let near = Looked { name: own.name.as_str(), address: &own_address, standing: &own.standing };
    let far = Looked { name: &other_name, address: &address, standing: &other.standing };
    // Where it begins was decided when it began.
    let beginning = match again {
        true => Beginning::AsItStands,
        false => {
            let beginning = judge(near, far, bond.both_ways)?;
            refuse_unlogged(replica, source)?;
            beginning
        }
    };
    let trust = trust_in(other, bond.over_tls)?;
    let host = other.host.to_string();
    let account = account_of(&own.standing, replica.end.reach(&host, other.port)?, bond.over_tls);
    let link = Link {
        source: address.clone(),
        user: account.user.clone(),
        from: Some(account.host),
        over_tls: bond.over_tls,
        via: bond.via,
    };
    let order = Order {
        name: own.name.clone(),
        host,
        port: other.port,
        password: Secret::from(&Password::fresh()?),
        trust,
        beginning,
        options: bond.options,
        link,
        is_mutual: fitness::follows(far, near),
        again,
    };
    Ok((order, account))
}

/// Held by one command of this host at a time.
fn lock_here(ends: &[&End]) -> Result<Option<File>, InstanceError> {
    let root = ends.iter().find_map(|end| match end {
        End::Here(root) => Some(root),
        End::There(_) => None,
    });
    let Some(root) = root else { return Ok(None) };
    let dir = root.dir().join("links");
    make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    Ok(Some(lock(&dir.join("lock"))?))
}

/// Refuses a replica that begins with nothing where the source's binlogs do not make all of its tables: it would never have them.
pub(crate) fn refuse_unlogged(replica: &Found<'_>, source: &Found<'_>) -> Result<(), InstanceError> {
    const NAMED: usize = 3;
    let (own, other) = (replica.known, source.known);
    if !fitness::is_blank(&own.standing, &other.standing) {
        return Ok(());
    }
    let mut lacking = source.end.tables(&Request::Unlogged(other.name.clone()))?;
    if lacking.is_empty() {
        return Ok(());
    }
    let there: BTreeSet<String> =
        replica.end.tables(&Request::Tables(own.name.clone()))?.into_iter().collect();
    lacking.retain(|table| !there.contains(table));
    if lacking.is_empty() {
        return Ok(());
    }
    let some = lacking.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = lacking.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Err(InstanceError::Refused(format!(
        "replicate {0} from {1}: {1} has tables that its binlogs do not make, as they are older, or were made past them: {some}{more}; {0} would \
         never have them: have it begin as a copy (nuthatch instance clone)",
        own.name,
        other.address()
    )))
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
pub(crate) fn trust_in(source: &Known, over_tls: bool) -> Result<Trust, InstanceError> {
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
    let options = options_of(own, &source, manner.writable)?;
    if again {
        refuse_other_writers(own, &address, manner.both_ways(), &options)?;
        if is_as_wanted(own, manner.over_tls) {
            return tell_already(replica.end, &own.name, &address, progress);
        }
    }
    let own_address = own.address();
    let near = Looked { name: own.name.as_str(), address: &own_address, standing: &own.standing };
    let far = Looked { name: &address, address: &address, standing: &source };
    let beginning = match again {
        true => Beginning::AsItStands,
        false => judge(near, far, manner.both_ways())?,
    };
    let link = Link {
        source: address.clone(),
        user: foreign.user.clone(),
        from: None,
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
        options,
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
    if !again && fitness::is_blank(&own.standing, &source) {
        let note = "whether the source's binlogs hold all that it has cannot be told from here: compare the tables of both";
        progress.step(&Step::Note(note.into()));
    }
    Ok(())
}
