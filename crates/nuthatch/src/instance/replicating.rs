//! `nuthatch instance replicate`, `replication` and what another host asks.

use std::io::Read;

use anyhow::{Context, bail};
use nuthatch_instance::{
    Answer, End, Figures, ForeignSource, InstanceName, Manner, Replica, Request, Root, SourceChoice, Ssh,
    Which, Writable,
};
use nuthatch_server::Password;

use super::ask_person::agrees;
use super::said::{failed, lines};
use super::shown;
use super::watching::runtime;
use crate::cli::{InstanceReplicateArguments, InstanceReplicationArguments, RemoteArguments};
use crate::log::print_line;

/// A request is never longer, in bytes.
const REQUEST_BYTES_MAX: u64 = 1 << 20;

/// `nuthatch instance replicate`.
pub(super) fn replicate(root: &Root, arguments: &InstanceReplicateArguments) -> anyhow::Result<()> {
    let name = &arguments.name;
    let Some(from) = &arguments.from else {
        let done = match &arguments.end {
            end if end.stop => nuthatch_instance::pause(root, name, &mut lines),
            end if end.go_on => nuthatch_instance::go_on(root, name, &mut lines),
            _ => nuthatch_instance::forget_source(root, name, &mut lines),
        };
        return done.map_err(failed);
    };
    let manner = Manner {
        writable: if arguments.both_writable { Writable::Both } else { Writable::Source },
        over_tls: !arguments.no_tls,
    };
    let source = source(root, from, arguments)?;
    nuthatch_instance::replicate(root, name, &source, manner, &mut lines).map_err(failed)
}

/// Whom the words name.
fn source(root: &Root, from: &str, arguments: &InstanceReplicateArguments) -> anyhow::Result<SourceChoice> {
    let place =
        from.rsplit_once(':').map(|(host, port)| (host.trim_matches(['[', ']']), port.parse::<u16>()));
    let ssh = arguments.ssh.as_deref().map(|host| ssh(host, &arguments.remote)).transpose()?;
    match (place, ssh, &arguments.user) {
        (None, None, None) => {
            let name = from
                .parse()
                .with_context(|| format!("`{from}` is neither an instance of this host nor HOST:PORT"))?;
            Ok(SourceChoice::Ours(End::Here(root.clone()), Which::Named(name)))
        }
        (None, Some(ssh), _) => {
            let name =
                from.parse().with_context(|| format!("`{from}` is neither an instance nor HOST:PORT"))?;
            Ok(SourceChoice::Ours(End::There(ssh), Which::Named(name)))
        }
        (Some(("", Ok(port))), Some(ssh), _) => Ok(SourceChoice::Ours(End::There(ssh), Which::OnPort(port))),
        (Some((host, Ok(port))), Some(ssh), _) => Ok(SourceChoice::At(ssh, host.to_owned(), port)),
        (Some((host, Ok(port))), None, Some(user)) if !host.is_empty() => {
            foreign(host, port, user, arguments).map(SourceChoice::Foreign)
        }
        (Some((host, Ok(_))), None, None) if !host.is_empty() => bail!(
            "{from} is a server that is not known here: say --ssh {host} where it is an instance of ours there, or --user and \
             --password-file with an account that may replicate"
        ),
        _ => bail!("`{from}` is no HOST:PORT"),
    }
}

fn foreign(
    host: &str,
    port: u16,
    user: &str,
    arguments: &InstanceReplicateArguments,
) -> anyhow::Result<ForeignSource> {
    let read = |path: &std::path::Path| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    let file = arguments.password_file.as_deref().context("--password-file is wanted")?;
    let password = Password::new(read(file)?.lines().next().unwrap_or_default()).map_err(failed)?;
    let authority = arguments.ca.as_deref().map(read).transpose()?;
    Ok(ForeignSource { host: host.to_owned(), port, user: user.to_owned(), password, authority })
}

/// Another host.
pub(super) fn ssh(host: &str, remote: &RemoteArguments) -> anyhow::Result<Ssh> {
    Ssh::new(host, remote.ssh_option.clone(), &remote.remote_program, remote.remote_root.clone())
        .map_err(failed)
}

/// `nuthatch instance replication`.
pub(super) fn replication(root: &Root, arguments: &InstanceReplicationArguments) -> anyhow::Result<()> {
    if arguments.repair {
        return repair(root, arguments);
    }
    let all = runtime()?.block_on(Figures::all(root)).map_err(failed)?;
    shown::replicas(&Replica::of(&all), arguments.json)
}

/// Tells what is wrong and mends what may be mended, each with a yes; what is not mended keeps none of the others from it.
fn repair(root: &Root, arguments: &InstanceReplicationArguments) -> anyhow::Result<()> {
    let names = match arguments.names.as_slice() {
        [] => root.names().map_err(failed)?,
        names => names.to_vec(),
    };
    let mut left = 0;
    for name in &names {
        left += repair_one(root, name, arguments)?;
    }
    match left {
        0 => Ok(()),
        1 => bail!("one of them is left as it was"),
        several => bail!("{several} of them are left as they were"),
    }
}

/// How much of what is wrong with one is left.
fn repair_one(
    root: &Root,
    name: &InstanceName,
    arguments: &InstanceReplicationArguments,
) -> anyhow::Result<usize> {
    let ailments = match nuthatch_instance::ailments(root, name) {
        Ok(Some(ailments)) => ailments,
        Ok(None) if arguments.names.is_empty() => return Ok(0),
        Ok(None) => {
            print_line(&format!("{name}: it does not run: nuthatch instance start {name}"))?;
            return Ok(1);
        }
        Err(error) => {
            crate::log::say_error(&failed(error));
            return Ok(1);
        }
    };
    let mut left = 0;
    for ailment in ailments {
        print_line(&format!("{name}: {}", ailment.what))?;
        let is_wanted = match ailment.remedy {
            None => false,
            Some(_) if arguments.yes => true,
            Some(remedy) => agrees(&format!("{name}: {remedy}?"))?,
        };
        if !is_wanted {
            left += 1;
        } else if let Err(error) = nuthatch_instance::heal(root, &ailment, &mut lines) {
            crate::log::say_error(&failed(error));
            left += 1;
        }
    }
    Ok(left)
}

/// `nuthatch instance answer`: one request of another host's, whose answer may be a refusal.
pub(super) fn answer(root: &Root) -> anyhow::Result<()> {
    let mut text = String::new();
    let input = std::io::stdin().lock().take(REQUEST_BYTES_MAX);
    std::io::BufReader::new(input).read_to_string(&mut text).context("cannot read the request")?;
    // What is wrong with it is not told: it may hold a password.
    let request: Request = serde_json::from_str(&text).map_err(|_bad| {
        anyhow::anyhow!("the request is not understood: are both hosts of the same version?")
    })?;
    let answer =
        nuthatch_instance::answer(root, &request).unwrap_or_else(|error| Answer::Refused(told(&error)));
    print_line(&serde_json::to_string(&answer)?)
}

/// `nuthatch instance receive`: one instance of another host's, which is told what has become of it.
pub(super) fn receive(root: &Root) -> anyhow::Result<()> {
    let received = nuthatch_instance::receive(root, Box::new(std::io::stdin()));
    let answer = received.unwrap_or_else(|error| Answer::Refused(told(&error)));
    print_line(&serde_json::to_string(&answer)?)
}

/// An error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
