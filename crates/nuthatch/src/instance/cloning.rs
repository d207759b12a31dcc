//! `nuthatch instance clone`: here, or to another host.

use anyhow::Context;
use nuthatch_instance::{
    End, InstanceName, Manner, Record, Root, SourceChoice, Ssh, Taking, Wanted, Which, Writable,
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
    for name in &those_that_run(root, arguments.name.as_slice(), arguments.all)? {
        let new = arguments.new.as_ref().unwrap_or(name);
        elsewhere(root, name, new, &there, arguments, &taking)?;
    }
    Ok(())
}

/// On this host.
fn beside(
    root: &Root,
    name: &InstanceName,
    new: &InstanceName,
    arguments: &InstanceCloneArguments,
    taking: &Taking,
) -> anyhow::Result<()> {
    let record = root.find(name).and_then(|place| place.record()).map_err(failed)?;
    let wanted = alike(record, new, arguments.port);
    let filled = nuthatch_instance::clone(root, name, &wanted, taking, &mut Bars::new()).map_err(failed)?;
    print_line(&format!("{new} has the data of {name}, GTID position {}", position(&filled)))?;
    if arguments.no_start {
        return Ok(());
    }
    start_one(root, new, WITHIN)?;
    if !arguments.follow.replicate {
        return Ok(());
    }
    let source = SourceChoice::Ours(End::Here(root.clone()), Which::Named(name.clone()));
    let manner = Manner { writable: Writable::Source, over_tls: !arguments.follow.no_tls };
    nuthatch_instance::replicate(root, new, &source, manner, &mut lines).map_err(failed)
}

/// On another host.
fn elsewhere(
    root: &Root,
    name: &InstanceName,
    new: &InstanceName,
    there: &Ssh,
    arguments: &InstanceCloneArguments,
    taking: &Taking,
) -> anyhow::Result<()> {
    let record = root.find(name).and_then(|place| place.record()).map_err(failed)?;
    let port = arguments.port.unwrap_or(record.port);
    let wanted = alike(record, new, Some(port));
    let mut bars = Bars::new();
    nuthatch_instance::clone_to(root, name, there, &wanted, taking, &mut bars).map_err(failed)?;
    print_line(&format!("{new} on {} has the data of {name}, and runs", there.host()))?;
    if !arguments.follow.replicate {
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
        enabled: true,
    }
}
