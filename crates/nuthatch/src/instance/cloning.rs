//! `nuthatch instance clone`: here, or to another host.

use anyhow::Context;
use nuthatch_instance::{
    End, InstanceName, Manner, Record, Role, Root, SourceChoice, Ssh, Taking, Wanted, Which, Writable,
};

use super::backups::{pace, position, those_that_run};
use super::bars::Bars;
use super::replicating::ssh;
use super::said::{failed, lines};
use super::starting::{WITHIN, start_one};
use crate::cli::InstanceCloneArguments;
use crate::log::print_line;

/// `nuthatch instance clone`.
pub(super) fn clone(root: &Root, arguments: &InstanceCloneArguments) -> anyhow::Result<()> {
    let taking = Taking { pace: pace(&arguments.pace), ..Taking::for_a_copy() };
    let Some(host) = &arguments.to else {
        let name = arguments.name.as_ref().context("whom to clone is wanted")?;
        let new = arguments.new.as_ref().context("the name of the new one is wanted")?;
        return beside(root, name, new, arguments, &taking);
    };
    let there = ssh(host, &arguments.remote)?;
    let mut all = Vec::new();
    // Each is looked at before any is copied.
    for name in those_that_run(root, arguments.name.as_slice(), arguments.all)? {
        let wanted = there_wanted(root, &name, &there, arguments)?;
        all.push((name, wanted));
    }
    for (name, wanted) in &all {
        elsewhere(root, name, wanted, &there, arguments, &taking)?;
    }
    Ok(())
}

/// What it is to be.
fn role(arguments: &InstanceCloneArguments) -> Role {
    if arguments.follow.replicate { Role::Replica } else { Role::Alone }
}

/// On this host.
fn beside(
    root: &Root,
    name: &InstanceName,
    new: &InstanceName,
    arguments: &InstanceCloneArguments,
    taking: &Taking,
) -> anyhow::Result<()> {
    let (record, role) = (root.find(name).and_then(|place| place.record()).map_err(failed)?, role(arguments));
    let wanted = alike(record, new, arguments.port);
    if role == Role::Replica {
        nuthatch_instance::check_beside(root, name, !arguments.follow.no_tls).map_err(failed)?;
    }
    let filled =
        nuthatch_instance::clone(root, name, (&wanted, role), taking, &mut Bars::new()).map_err(failed)?;
    print_line(&format!("{new} has the data of {name}, GTID position {}", position(&filled)))?;
    if arguments.no_start {
        return Ok(());
    }
    start_one(root, new, WITHIN)?;
    if role == Role::Alone {
        return Ok(());
    }
    let source = SourceChoice::Ours(End::Here(root.clone()), Which::Named(name.clone()));
    let manner = Manner { writable: Writable::Source, over_tls: !arguments.follow.no_tls };
    nuthatch_instance::replicate(root, new, &source, manner, &mut lines).map_err(failed)
}

/// As it is to be on another host, if nothing is in the way.
fn there_wanted(
    root: &Root,
    name: &InstanceName,
    there: &Ssh,
    arguments: &InstanceCloneArguments,
) -> anyhow::Result<Wanted> {
    let record = root.find(name).and_then(|place| place.record()).map_err(failed)?;
    let (new, port) = (arguments.new.as_ref().unwrap_or(name), arguments.port.unwrap_or(record.port));
    let over_tls = arguments.follow.replicate.then_some(!arguments.follow.no_tls);
    let wanted = alike(record, new, Some(port));
    nuthatch_instance::check_there(root, name, there, wanted, over_tls).map_err(failed)
}

/// On another host.
fn elsewhere(
    root: &Root,
    name: &InstanceName,
    wanted: &Wanted,
    there: &Ssh,
    arguments: &InstanceCloneArguments,
    taking: &Taking,
) -> anyhow::Result<()> {
    let (new, mut bars) = (&wanted.name, Bars::new());
    let role = role(arguments);
    nuthatch_instance::clone_to(root, name, there, (wanted, role), taking, &mut bars).map_err(failed)?;
    print_line(&format!("{new} on {} has the data of {name}, and runs", there.host()))?;
    if role == Role::Alone {
        return Ok(());
    }
    nuthatch_instance::follow_from(root, name, there, new, !arguments.follow.no_tls, &mut bars)
        .map_err(failed)
}

fn alike(record: Record, new: &InstanceName, port: Option<u16>) -> Wanted {
    Wanted {
        name: new.clone(),
        server: record.server,
        template: record.template,
        own: record.own.iter().map(|(option, value)| format!("{option}={value}")).collect(),
        port,
        server_id: None,
        enabled: true,
    }
}
