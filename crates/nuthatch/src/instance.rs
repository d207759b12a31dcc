//! `nuthatch instance …`: what the library does, with words for people and JSON for scripts.

mod ask_person;
mod backups;
mod bars;
mod cloning;
mod pairing;
mod replicating;
mod said;
mod shown;
mod starting;
mod watching;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use nuthatch_instance::{
    Change, Data, Described, Host, InstanceName, Last, Life, Plan, ProxyAdmin, Root, Summary, Template,
    UNIT_FILE, Wanted,
};
use nuthatch_server::Installation;

use self::ask_person::{confirm, named_again};
use self::bars::Bars;
use self::said::{failed, lines};
use self::starting::{WITHIN, start_one};
use self::watching::runtime;
use crate::cli::{
    InstanceAddArguments, InstanceApplyArguments, InstanceArguments, InstanceBootArguments,
    InstanceClientArguments, InstanceCommand, InstanceConvergeArguments, InstanceDoctorArguments,
    InstanceHostArguments, InstanceMaintenanceArguments, InstanceNames, InstanceRemoveArguments,
    InstanceSetArguments, InstanceUnitArguments, InstanceUpgradeArguments,
};
use crate::log::print_line;
use crate::signals::Signals;

/// `nuthatch instance`.
pub(crate) fn run(arguments: &InstanceArguments) -> anyhow::Result<()> {
    let dir = match &arguments.root {
        Some(dir) => dir.clone(),
        None => default_root()?,
    };
    let root = Root::open(&dir).map_err(failed)?;
    match &arguments.command {
        InstanceCommand::Host(arguments) => host(&root, arguments),
        InstanceCommand::Templates(output) => {
            shown::templates(&Template::all(&root).map_err(failed)?, output.json)
        }
        InstanceCommand::Add(arguments) => add(&root, arguments),
        InstanceCommand::List(output) => shown::list(&Summary::all(&root).map_err(failed)?, output.json),
        InstanceCommand::Show(arguments) => {
            let place = root.find(&arguments.one.name).map_err(failed)?;
            shown::one(&Summary::of(&root, &place).map_err(failed)?, &place, arguments.output.json)
        }
        InstanceCommand::Config(arguments) => {
            let place = root.find(&arguments.one.name).map_err(failed)?;
            let settings = nuthatch_instance::settings_of(&root, &place).map_err(failed)?;
            let summary = Summary::of(&root, &place).map_err(failed)?;
            shown::config(&settings, &summary.pending, arguments.output.json)
        }
        InstanceCommand::Set(arguments) => set(&root, arguments),
        InstanceCommand::ApplyTemplate(arguments) => apply_template(&root, arguments),
        InstanceCommand::Start(names) => start(&root, names),
        InstanceCommand::Stop(names) => stop(&root, names),
        InstanceCommand::Restart(names) => restart(&root, names),
        InstanceCommand::Enable(names) => enable(&root, names, true),
        InstanceCommand::Disable(names) => enable(&root, names, false),
        InstanceCommand::Boot(arguments) => boot(&root, arguments),
        InstanceCommand::Remove(arguments) => remove(&root, arguments),
        InstanceCommand::Client(arguments) => client(&root, arguments),
        InstanceCommand::Unit(arguments) => unit(&root, arguments),
        InstanceCommand::Maintenance(arguments) => maintenance(&root, arguments),
        InstanceCommand::Health(output) => watching::health(&root, output.json),
        InstanceCommand::Watch(arguments) => watching::watch(&root, arguments.listen),
        InstanceCommand::Describe => {
            let described = Described::of(&root).and_then(|described| described.to_text()).map_err(failed)?;
            print_line(described.trim_end())
        }
        InstanceCommand::Converge(arguments) => converge(&root, arguments),
        InstanceCommand::Backup(arguments) => backups::backup(&root, arguments),
        InstanceCommand::Backups(arguments) => backups::list(arguments),
        InstanceCommand::Verify(arguments) => backups::verify(&root, arguments),
        InstanceCommand::Restore(arguments) => backups::restore(&root, arguments),
        InstanceCommand::Archive(arguments) => backups::archive(&root, arguments),
        InstanceCommand::Clone(arguments) => cloning::clone(&root, arguments),
        InstanceCommand::Upgrade(arguments) => upgrade(&root, arguments),
        InstanceCommand::Doctor(arguments) => doctor(&root, arguments),
        InstanceCommand::Replicate(arguments) => replicating::replicate(&root, arguments),
        InstanceCommand::Pair(arguments) => pairing::pair(&root, arguments),
        InstanceCommand::Replication(arguments) => replicating::replication(&root, arguments),
        InstanceCommand::Answer => replicating::answer(&root),
        InstanceCommand::Receive => replicating::receive(&root),
        InstanceCommand::Supervise(one) => supervise(&root, &one.name),
        InstanceCommand::WriteOptions(one) => {
            let place = root.find(&one.name).map_err(failed)?;
            nuthatch_instance::write_options(&root, &place).map_err(failed)
        }
    }
}

fn default_root() -> anyhow::Result<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Ok("/var/lib/nuthatch".into());
    }
    let home = std::env::home_dir().context("no home directory: say --root DIR")?;
    Ok(home.join(".local/share/nuthatch"))
}

fn host(root: &Root, arguments: &InstanceHostArguments) -> anyhow::Result<()> {
    let before = root.host().map_err(failed)?;
    let mut host = before.clone();
    host.address = arguments.address.unwrap_or(host.address);
    host.memory_pct = arguments.memory_pct.unwrap_or(host.memory_pct);
    if let Some(user) = &arguments.user {
        host.user.clone_from(user);
    }
    if let Some(ports) = arguments.ports {
        (host.port_first, host.port_last) = ports;
    }
    if let (Some(admin), Some(file)) = (&arguments.proxy, &arguments.proxy_password_file) {
        let file = std::path::absolute(file).context("cannot tell where the proxy's password is")?;
        host.proxies.retain(|proxy| proxy.admin != *admin);
        host.proxies.push(ProxyAdmin {
            admin: admin.clone(),
            user: arguments.proxy_user.clone(),
            password_file: file,
        });
    }
    if let Some(admin) = &arguments.forget_proxy {
        host.proxies.retain(|proxy| proxy.admin != *admin);
    }
    if host != before {
        Root::create(root.dir()).map_err(failed)?;
        root.settle_host(&host).map_err(failed)?;
    }
    shown::host(&host, &root.host_file(), arguments.output.json)
}

fn add(root: &Root, arguments: &InstanceAddArguments) -> anyhow::Result<()> {
    let server = Installation::named(&arguments.server).map_err(failed)?;
    server.find(server.kind.server()).map_err(failed)?;
    Root::create(root.dir()).map_err(failed)?;
    let wanted = Wanted {
        name: arguments.one.name.clone(),
        server,
        template: arguments.template.clone(),
        own: arguments.set.clone(),
        port: arguments.port,
        server_id: arguments.server_id,
        enabled: !arguments.disabled,
    };
    nuthatch_instance::add(root, &wanted, &mut lines).map_err(failed)?;
    if arguments.no_start {
        return print_line(&format!("{} is added: nuthatch instance start {0}", wanted.name));
    }
    start_one(root, &wanted.name, WITHIN)
}

fn set(root: &Root, arguments: &InstanceSetArguments) -> anyhow::Result<()> {
    let place = root.find(&arguments.one.name).map_err(failed)?;
    let change = Change { set: arguments.set.clone(), unset: arguments.unset.clone(), template: None };
    let changed = nuthatch_instance::change(root, &place, &change).map_err(failed)?;
    shown::changed(&arguments.one.name, &changed)
}

fn apply_template(root: &Root, arguments: &InstanceApplyArguments) -> anyhow::Result<()> {
    Template::find(root, &arguments.template).map_err(failed)?;
    let mut names = arguments.names.clone();
    if names.is_empty() {
        let all = Summary::all(root).map_err(failed)?;
        let made = all.into_iter().filter(|summary| summary.template == arguments.template);
        names = made.map(|summary| summary.name).collect();
    }
    let change = Change { template: Some(arguments.template.clone()), ..Change::default() };
    let mut is_any = false;
    for name in &names {
        let place = root.find(name).map_err(failed)?;
        let changed = nuthatch_instance::preview(root, &place, &change).map_err(failed)?;
        is_any |= !changed.is_empty();
        shown::difference(name, &changed)?;
    }
    if !is_any {
        return print_line("nothing differs");
    }
    if !arguments.yes {
        confirm(&format!("apply the template {} to {}?", arguments.template, listed(&names)))?;
    }
    for name in &names {
        let place = root.find(name).map_err(failed)?;
        shown::changed(name, &nuthatch_instance::change(root, &place, &change).map_err(failed)?)?;
    }
    Ok(())
}

fn start(root: &Root, names: &InstanceNames) -> anyhow::Result<()> {
    each(root, names, |name| start_one(root, name, Duration::from_secs(names.within)))
}

fn stop(root: &Root, names: &InstanceNames) -> anyhow::Result<()> {
    let within = Duration::from_secs(names.within);
    each(root, names, |name| nuthatch_instance::stop(root, name, within, &mut lines).map_err(failed))
}

/// What could not be started again is not stopped.
fn restart(root: &Root, names: &InstanceNames) -> anyhow::Result<()> {
    each(root, names, |name| nuthatch_instance::check_options(root, name).map_err(failed))?;
    stop(root, names)?;
    start(root, names)
}

fn enable(root: &Root, names: &InstanceNames, enabled: bool) -> anyhow::Result<()> {
    each(root, names, |name| {
        nuthatch_instance::enable(root, name, enabled).map_err(failed)?;
        print_line(&format!("{name} {} with the host", if enabled { "starts" } else { "does not start" }))
    })
}

/// Does it to each at the same time; what fails for one keeps no other from it.
fn each(
    root: &Root,
    names: &InstanceNames,
    one: impl Fn(&InstanceName) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let names = if names.all { root.names().map_err(failed)? } else { names.names.clone() };
    let errors: Vec<anyhow::Error> = std::thread::scope(|scope| {
        let threads: Vec<_> = names.iter().map(|name| scope.spawn(|| one(name))).collect();
        let outcomes = threads.into_iter().map(|thread| match thread.join() {
            Ok(outcome) => outcome,
            Err(_panic) => Err(anyhow::anyhow!("a thread of ours panicked")),
        });
        outcomes.filter_map(Result::err).collect()
    });
    let mut errors = errors.into_iter();
    let Some(first) = errors.next() else { return Ok(()) };
    if names.len() == 1 {
        return Err(first);
    }
    errors.for_each(|error| crate::log::say_error(&error));
    Err(first)
}

fn boot(root: &Root, arguments: &InstanceBootArguments) -> anyhow::Result<()> {
    let all = Summary::all(root).map_err(failed)?;
    let names: Vec<InstanceName> =
        all.into_iter().filter(|summary| summary.enabled).map(|summary| summary.name).collect();
    let names = InstanceNames { names, all: false, within: WITHIN.as_secs() };
    if !arguments.foreground {
        return start(root, &names);
    }
    // What comes while they start is heard when they have.
    let runtime = runtime()?;
    let mut signals = runtime.block_on(async { Signals::listen() })?;
    if let Err(error) = start(root, &names) {
        crate::log::say_error(&error);
    }
    runtime.block_on(signals.next());
    stop(root, &names)
}

fn remove(root: &Root, arguments: &InstanceRemoveArguments) -> anyhow::Result<()> {
    let name = &arguments.one.name;
    root.find(name).map_err(failed)?;
    named_again(arguments.yes.as_deref(), "removes", name)?;
    let data = if arguments.destroy_data { Data::Destroy } else { Data::Keep };
    if let Some(kept) = nuthatch_instance::remove(root, name, data, WITHIN, &mut lines).map_err(failed)? {
        print_line(&format!("its data are in {}", kept.display()))?;
    }
    Ok(())
}

/// This process becomes the client.
fn client(root: &Root, arguments: &InstanceClientArguments) -> anyhow::Result<()> {
    let place = root.find(&arguments.one.name).map_err(failed)?;
    let record = place.record().map_err(failed)?;
    let program = record.server.find(record.server.kind.client()).map_err(failed)?;
    let error = std::process::Command::new(&program)
        .arg(format!("--defaults-extra-file={}", place.client_file().display()))
        .args(&arguments.arguments)
        .exec();
    Err(error).with_context(|| format!("cannot run {}", program.display()))
}

fn unit(root: &Root, arguments: &InstanceUnitArguments) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let host: Host = root.host().map_err(failed)?;
    let text = nuthatch_instance::unit(root, &host, &program);
    if !arguments.install {
        return print_line(text.trim_end());
    }
    std::fs::write(UNIT_FILE, text).with_context(|| format!("cannot write {UNIT_FILE}"))?;
    print_line(&format!(
        "{UNIT_FILE} is written: systemctl daemon-reload, then nuthatch instance enable --all"
    ))
}

fn maintenance(root: &Root, arguments: &InstanceMaintenanceArguments) -> anyhow::Result<()> {
    let name = &arguments.one.name;
    if arguments.over {
        return nuthatch_instance::end_maintenance(root, name, &mut lines).map_err(failed);
    }
    let last = if arguments.last { Last::Take } else { Last::Refuse };
    let within = Duration::from_secs(arguments.within);
    nuthatch_instance::begin_maintenance(root, name, last, within, &mut lines).map_err(failed)
}

fn doctor(root: &Root, arguments: &InstanceDoctorArguments) -> anyhow::Result<()> {
    if arguments.mend {
        let mended = nuthatch_instance::mend(root).map_err(failed)?;
        shown::findings(&mended, arguments.output.json)?;
    }
    let findings = nuthatch_instance::examine(root).map_err(failed)?;
    shown::findings(&findings, arguments.output.json)?;
    match findings.len() {
        0 => Ok(()),
        1 => bail!("one thing is not as it should be"),
        several => bail!("{several} things are not as they should be"),
    }
}

fn supervise(root: &Root, name: &InstanceName) -> anyhow::Result<()> {
    crate::log::start("info")?;
    let place = root.find(name).map_err(failed)?;
    let notify = std::env::var_os("NOTIFY_SOCKET");
    runtime()?.block_on(nuthatch_instance::supervise(root, &place, notify.as_deref())).map_err(failed)
}

fn converge(root: &Root, arguments: &InstanceConvergeArguments) -> anyhow::Result<()> {
    let path = &arguments.file;
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let wanted = Described::parse(&text, path).map_err(failed)?;
    let plan = Plan::make(root, wanted).map_err(failed)?;
    for name in &plan.left_alone {
        print_line(&format!(
            "{name} is not in {}, and is left alone (nuthatch instance remove)",
            path.display()
        ))?;
    }
    for kept in &plan.kept {
        print_line(kept)?;
    }
    if plan.actions.is_empty() {
        return print_line("nothing has to be done");
    }
    for action in &plan.actions {
        print_line(&action.to_string())?;
    }
    match (plan.actions.len(), arguments.plan) {
        (1, true) => bail!("one thing has to be done"),
        (several, true) => bail!("{several} things have to be done"),
        _ if arguments.yes => {}
        _ => confirm("do that?")?,
    }
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    plan.carry_out(root, &program, WITHIN, &mut lines).map_err(failed)
}

fn upgrade(root: &Root, arguments: &InstanceUpgradeArguments) -> anyhow::Result<()> {
    let name = &arguments.one.name;
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let life = Life { program: &program, within: WITHIN };
    let Some(server) = &arguments.server else {
        let before = nuthatch_instance::before_upgrade(root, name).map_err(failed)?;
        if let Some(before) = &before {
            print_line(&format!(
                "{name} goes back to {} and to the data that it had then: what was written since is put aside",
                before.version
            ))?;
            named_again(arguments.yes.as_deref(), "goes back with", name)?;
        }
        let kept = nuthatch_instance::downgrade(root, name, &life, &mut Bars::new()).map_err(failed)?;
        return print_line(&format!("the data of since are in {}", kept.display()));
    };
    let server = Installation::named(server).map_err(failed)?;
    let kept = nuthatch_instance::upgrade(root, name, &server, &life, &mut Bars::new()).map_err(failed)?;
    print_line(&format!(
        "{name} is upgraded; its data from before are in {}: upgrade {name} --back goes back to them",
        kept.display()
    ))
}

fn listed(names: &[InstanceName]) -> String {
    names.iter().map(InstanceName::as_str).collect::<Vec<_>>().join(", ")
}
