//! `nuthatch lab`: real servers on this host.

use std::time::Duration;

use anyhow::Context;
use nuthatch_lab::{
    Cluster, Installation, Kind, Lab, LabError, Options, Password, Peers, QueryCache, Relays, SemiSync, Step,
};

use crate::cli::{
    LabArguments, LabCommand, LabCutArguments, LabNodeArguments, LabPartitionArguments, LabUpArguments,
};
use crate::log::print_line;
use crate::password_file;

/// How long a server may take to follow another.
const FOLLOW_WITHIN: Duration = Duration::from_secs(60);

pub(crate) fn run(command: &LabCommand) -> anyhow::Result<()> {
    match command {
        LabCommand::Up(arguments) => up(arguments),
        LabCommand::Status(arguments) => show(&Lab::open(&arguments.dir).map_err(failed)?, arguments),
        LabCommand::Down(arguments) => down(arguments),
        LabCommand::Kill(at) => open(at)?.kill(at.node).map_err(failed),
        LabCommand::Stop(at) => open(at)?.stop(at.node).map_err(failed),
        LabCommand::Start(at) => open(at)?.start(at.node).map_err(failed),
        LabCommand::Pause(at) => open(at)?.freeze(at.node).map_err(failed),
        LabCommand::Resume(at) => open(at)?.thaw(at.node).map_err(failed),
        LabCommand::Lag(lag) => open(&lag.node)?.set_lag(lag.node.node, lag.seconds).map_err(failed),
        LabCommand::Promote(at) => open(at)?.promote(at.node).map_err(failed),
        LabCommand::Follow(follow) => {
            open(&follow.node)?.follow(follow.node.node, follow.source, FOLLOW_WITHIN).map_err(failed)
        }
        LabCommand::Partition(partition) => self::partition(partition),
        LabCommand::Heal(at) => Lab::open(&at.dir).and_then(|lab| lab.heal()).map_err(failed),
        LabCommand::Cut(cut) => self::cut(cut),
        LabCommand::Relay(at) => nuthatch_lab::relay(&at.dir).map_err(failed),
    }
}

fn partition(arguments: &LabPartitionArguments) -> anyhow::Result<()> {
    let peers = arguments.from.unwrap_or(Peers::All);
    let lab = open(&arguments.node)?;
    lab.partition(arguments.node.node, peers, arguments.way.direction()).map_err(failed)
}

fn cut(arguments: &LabCutArguments) -> anyhow::Result<()> {
    let (lab, node) = (open(&arguments.node)?, arguments.node.node);
    match arguments.after {
        None => lab.cut(node),
        Some(bytes) => lab.cut_after(node, arguments.way.direction(), bytes),
    }
    .map_err(failed)
}

fn open(at: &LabNodeArguments) -> anyhow::Result<Lab> {
    Lab::open(&at.dir).map_err(failed)
}

fn up(arguments: &LabUpArguments) -> anyhow::Result<()> {
    let options = options(arguments)?;
    let common = &arguments.common;
    let lab = Lab::up_with(&common.dir, &options, &mut lines(common.json)).map_err(failed)?;
    show(&lab, common)
}

fn down(arguments: &LabArguments) -> anyhow::Result<()> {
    let mut lab = Lab::open(&arguments.dir).map_err(failed)?;
    lab.down_with(&mut lines(arguments.json)).map_err(failed)?;
    if arguments.json { show(&lab, arguments) } else { Ok(()) }
}

fn show(lab: &Lab, arguments: &LabArguments) -> anyhow::Result<()> {
    let status = lab.status().map_err(failed)?;
    if arguments.json {
        print_line(&serde_json::to_string_pretty(&status).context("cannot write the status as JSON")?)
    } else {
        print_line(&status.to_string())
    }
}

fn options(arguments: &LabUpArguments) -> anyhow::Result<Options> {
    let cluster =
        arguments.galera.map(Cluster::Galera).or(arguments.group_replication.map(Cluster::GroupReplication));
    let is_mysql = arguments.server == "mysql" || arguments.group_replication.is_some();
    let kind = if is_mysql { Kind::MySql } else { Kind::MariaDb };
    // Servers run in directories of their own.
    let root = match &arguments.root {
        Some(root) => {
            std::path::absolute(root).with_context(|| format!("cannot tell where {} is", root.display()))?
        }
        None => "/".into(),
    };
    let password = match &arguments.password_file {
        Some(path) => Some(Password::new(password_file::read(path, "")?).map_err(failed)?),
        None => None,
    };
    Ok(Options {
        installation: Installation { kind, root },
        replicas: arguments.replicas,
        cluster,
        semi_sync: if arguments.semi_sync { SemiSync::AfterSync } else { SemiSync::Off },
        relays: if arguments.relays { Relays::Program(own_program()?) } else { Relays::Off },
        buffer_pool_mib: arguments.buffer_pool,
        query_cache: arguments.query_cache.map_or(QueryCache::Off, QueryCache::OnMib),
        connections_max: arguments.max_connections,
        user: arguments.user.clone(),
        password,
        ..Options::default()
    })
}

fn own_program() -> anyhow::Result<std::path::PathBuf> {
    std::env::current_exe().context("cannot tell which program this is")
}

/// One line for each step, nothing when the output is for a script.
fn lines(is_quiet: bool) -> impl FnMut(&Step) {
    move |step| {
        if !is_quiet {
            // A closed pipe must not keep the lab from its work.
            drop(print_line(&step.to_string()));
        }
    }
}

fn failed(error: impl Into<LabError>) -> anyhow::Error {
    anyhow::Error::new(error.into()).context("failed to work on the lab")
}
