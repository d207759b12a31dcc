//! `nuthatch instance replicate`, `replication` and what another host asks.

use std::io::Read;

use anyhow::{Context, bail};
use nuthatch_instance::{
    Answer, End, Figures, ForeignSource, Manner, Replica, Request, Root, SourceChoice, Ssh, Which, Writable,
};
use nuthatch_server::Password;

use super::ask_person::confirm;
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
        (Some((_, Ok(port))), Some(ssh), _) => Ok(SourceChoice::Ours(End::There(ssh), Which::OnPort(port))),
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

/// Tells what is wrong and mends what may be mended, each with a yes.
fn repair(root: &Root, arguments: &InstanceReplicationArguments) -> anyhow::Result<()> {
    let names = match arguments.names.as_slice() {
        [] => root.names().map_err(failed)?,
        names => names.to_vec(),
    };
    let mut left = 0;
    for name in &names {
        let ailments = nuthatch_instance::ailments(root, name).unwrap_or_else(|error| {
            crate::log::say_error(&failed(error));
            left += 1;
            Vec::new()
        });
        for ailment in ailments {
            print_line(&format!("{name}: {}", ailment.what))?;
            let Some(remedy) = ailment.remedy else {
                left += 1;
                continue;
            };
            if !arguments.yes {
                confirm(&format!("{name}: {remedy}?"))?;
            }
            nuthatch_instance::heal(root, &ailment, &mut lines).map_err(failed)?;
        }
    }
    match left {
        0 => Ok(()),
        1 => bail!("one replica needs a decision that is not made here"),
        several => bail!("{several} replicas need decisions that are not made here"),
    }
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

/// An error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
