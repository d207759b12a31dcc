//! `nuthatch instance …`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use nuthatch_instance::{InstanceName, USUAL_TEMPLATE};

use super::replication::RemoteArguments;

use super::replication::{InstancePairArguments, InstanceReplicateArguments, InstanceReplicationArguments};

/// Add, configure, run and remove MariaDB and MySQL instances on this host.
///
/// Each has its own port, data, memory and life; what they have in common stands in templates.
#[derive(Debug, Args)]
pub(crate) struct InstanceArguments {
    /// The directory of this host's instances [default: /var/lib/nuthatch for root, else ~/.local/share/nuthatch]
    #[arg(long, value_name = "DIR", global = true, env = "NUTHATCH_INSTANCES")]
    pub(crate) root: Option<PathBuf>,

    #[command(subcommand)]
    pub(crate) command: InstanceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InstanceCommand {
    /// Show, or settle, what holds for the host: address, user, ports, memory
    Host(InstanceHostArguments),
    /// Show the templates
    Templates(InstanceJson),
    /// Add an instance and start it
    Add(InstanceAddArguments),
    /// Show all instances
    List(InstanceJson),
    /// Show one instance
    Show(InstanceShowArguments),
    /// Show which options are in force, and which file says so
    Config(InstanceShowArguments),
    /// Set options of an instance: at once where its server can, else at its next start
    Set(InstanceSetArguments),
    /// Give what a template says now to the instances that are made from it, after showing what that changes
    ApplyTemplate(InstanceApplyArguments),
    /// Start instances, each under a supervisor that brings it back when it crashes
    Start(InstanceNames),
    /// Stop instances as they stop when asked to; none is killed for taking long
    Stop(InstanceNames),
    /// Stop and start instances
    Restart(InstanceNames),
    /// Have instances start with the host
    Enable(InstanceNames),
    /// Have instances not start with the host
    Disable(InstanceNames),
    /// Start all enabled instances, as a host without systemd does at its start
    Boot(InstanceBootArguments),
    /// Remove an instance, which nobody may use; its data are kept unless that is refused
    Remove(InstanceRemoveArguments),
    /// Open the server's own command-line client on an instance, as its root
    Client(InstanceClientArguments),
    /// Print, or install, the unit of systemd for the instances
    Unit(InstanceUnitArguments),
    /// Take an instance out of the proxies' hostgroups, and bring it back
    Maintenance(InstanceMaintenanceArguments),
    /// Tell whether each instance is well, and if not why; fails if one is not
    Health(InstanceJson),
    /// Serve metrics and health of each instance over HTTP: /metrics, /health, /health/NAME
    Watch(InstanceWatchArguments),
    /// Have an instance follow a source, or not any more
    Replicate(Box<InstanceReplicateArguments>),
    /// Pair instances with those of the same names on another host, in both directions
    Pair(InstancePairArguments),
    /// Show how all instances replicate
    Replication(InstanceReplicationArguments),
    /// Print this host as one text, for `converge`
    Describe,
    /// Have this host be as a text says, after showing what that takes
    Converge(InstanceConvergeArguments),
    /// Take backups of instances that run, to a directory of backups or to standard output
    Backup(InstanceBackupArguments),
    /// Show the backups in a directory of backups
    Backups(InstanceBackupsArguments),
    /// Try a backup: unpack it, start a server on it, have that look at all tables
    Verify(InstanceVerifyArguments),
    /// Make an instance from a backup, or put a backup in the place of an instance's data
    Restore(InstanceRestoreArguments),
    /// Copy the binlogs of instances beside their backups, for coming back to any moment
    Archive(InstanceArchiveArguments),
    /// Make another instance of one that runs, with the same data
    Clone(InstanceCloneArguments),
    /// Give an instance a newer server, after trying that on a copy of its data; or go back
    Upgrade(InstanceUpgradeArguments),
    /// Look for what is wrong, and for what an earlier crash has left
    Doctor(InstanceDoctorArguments),
    /// Supervise an instance in the foreground, as `start` has it done in the background
    #[command(hide = true)]
    Supervise(InstanceOne),
    /// Answer what another host's nuthatch asks, in JSON on the standard streams
    #[command(hide = true)]
    Answer,
    /// Make an instance of what another host's nuthatch sends: what is wanted in JSON, and behind it the data
    #[command(hide = true)]
    Receive,
    /// Write the option file of an instance anew
    #[command(hide = true)]
    WriteOptions(InstanceOne),
}

#[derive(Debug, Args)]
pub(crate) struct InstanceJson {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceOne {
    /// The instance
    #[arg(value_name = "NAME")]
    pub(crate) name: InstanceName,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceShowArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    #[command(flatten)]
    pub(crate) output: InstanceJson,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceHostArguments {
    /// Where new instances listen
    #[arg(long, value_name = "IP")]
    pub(crate) address: Option<IpAddr>,

    /// Whose processes the servers are when root starts them
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// Which ports are given
    #[arg(long, value_name = "A-B", value_parser = parse_ports)]
    pub(crate) ports: Option<(u16, u16)>,

    /// How much of the host's memory is for instances, in percent
    #[arg(long, value_name = "N")]
    pub(crate) memory_pct: Option<u8>,

    /// Add the admin interface of a proxy that sends to servers of this host
    #[arg(long, value_name = "HOST:PORT", requires = "proxy_password_file")]
    pub(crate) proxy: Option<String>,

    /// An account of its `admin-admin_credentials`
    #[arg(long, value_name = "NAME", default_value = "admin")]
    pub(crate) proxy_user: String,

    /// The file whose first line is that account's password
    #[arg(long, value_name = "FILE")]
    pub(crate) proxy_password_file: Option<PathBuf>,

    /// Forget a proxy
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "proxy")]
    pub(crate) forget_proxy: Option<String>,

    #[command(flatten)]
    pub(crate) output: InstanceJson,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceMaintenanceArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// Bring it back
    #[arg(long)]
    pub(crate) over: bool,

    /// Also where a hostgroup has nobody else: its clients get errors
    #[arg(long, conflicts_with = "over")]
    pub(crate) last: bool,

    /// How long to wait for what still runs there
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) within: u64,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceWatchArguments {
    /// Where
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9106")]
    pub(crate) listen: std::net::SocketAddr,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceAddArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// What it is made from: see `nuthatch instance templates`
    #[arg(long, value_name = "TEMPLATE", default_value = USUAL_TEMPLATE)]
    pub(crate) template: String,

    /// An option of its own; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,

    /// Which server: mariadb or mysql for the system's, else the directory that holds usr/sbin, as tools/side-apt.sh makes it
    #[arg(long, value_name = "mariadb|mysql|PATH", default_value = "mariadb")]
    pub(crate) server: String,

    /// Its port [default: the first free one of the host's]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Its number in replication, where another host has taken the one that follows from address and port
    #[arg(long, value_name = "N")]
    pub(crate) server_id: Option<u32>,

    /// Do not start it with the host
    #[arg(long)]
    pub(crate) disabled: bool,

    /// Do not start it now
    #[arg(long)]
    pub(crate) no_start: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceSetArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// What to set
    #[arg(value_name = "NAME=VALUE", required_unless_present = "unset")]
    pub(crate) set: Vec<String>,

    /// An option of its own that is to be as the template or the host has it; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) unset: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceApplyArguments {
    /// The template
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: String,

    /// Only these, which are made from it from now on [default: all that are made from it]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<InstanceName>,

    /// Do it without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceNames {
    /// The instances
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub(crate) names: Vec<InstanceName>,

    /// All of the host
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,

    /// How long to wait for each
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) within: u64,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceBootArguments {
    /// Stay until SIGTERM or Ctrl-C, and stop them then: for the first process of a container
    #[arg(long)]
    pub(crate) foreground: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceRemoveArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// The name again, in the place of typing it
    #[arg(long, value_name = "NAME")]
    pub(crate) yes: Option<String>,

    /// Keep no copy of its data
    #[arg(long)]
    pub(crate) destroy_data: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceClientArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// What the client is given
    #[arg(value_name = "ARGUMENT", last = true)]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceUnitArguments {
    /// Write it to /etc/systemd/system, and enable what is enabled
    #[arg(long)]
    pub(crate) install: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceDoctorArguments {
    /// Mend what can be mended without a risk
    #[arg(long)]
    pub(crate) mend: bool,

    #[command(flatten)]
    pub(crate) output: InstanceJson,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceConvergeArguments {
    /// The text: see `nuthatch instance describe`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Only show what it takes; fails if something has to be done
    #[arg(long, conflicts_with = "yes")]
    pub(crate) plan: bool,

    /// Do it without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceSealArguments {
    /// Encrypt: a file with public keys of age(1) or SSH, one a line; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) recipients: Vec<PathBuf>,

    /// How hard zstd tries to make it small
    #[arg(long, value_name = "1-19", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..=19))]
    pub(crate) level: i32,
}

#[derive(Debug, Args)]
pub(crate) struct InstancePaceArguments {
    /// How many bytes a second may be read, all together: 50M
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) limit: Option<u64>,

    /// Which class of I/O priority: idle reads only while nobody else does
    #[arg(long, value_name = "CLASS", default_value = "low", value_parser = ["normal", "low", "idle"])]
    pub(crate) io: String,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceBackupArguments {
    /// The instances
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub(crate) names: Vec<InstanceName>,

    /// All of the host that run
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,

    /// The directory of backups; - for standard output (one instance then)
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,

    /// Only what has changed since the last backup there (MariaDB)
    #[arg(long)]
    pub(crate) incremental: bool,

    /// How many are taken at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) parallel: u8,

    /// Keep so many full backups of each, with what rests on them
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) keep: Option<usize>,

    /// Keep what is not older than so many days
    #[arg(long, value_name = "DAYS")]
    pub(crate) keep_days: Option<u64>,

    #[command(flatten)]
    pub(crate) seal: InstanceSealArguments,

    #[command(flatten)]
    pub(crate) pace: InstancePaceArguments,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceBackupsArguments {
    /// The directory of backups
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Only those of this instance
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<InstanceName>,

    #[command(flatten)]
    pub(crate) output: InstanceJson,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceIdentity {
    /// The file with the secret key, for what is encrypted
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceVerifyArguments {
    /// One backup; or a directory of backups, of which the last of each instance is tried
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,

    #[command(flatten)]
    pub(crate) identity: InstanceIdentity,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceRestoreArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// One backup; a directory of backups, for the last of this instance there; a file; - for standard input
    #[arg(long, value_name = "BACKUP")]
    pub(crate) from: PathBuf,

    #[command(flatten)]
    pub(crate) identity: InstanceIdentity,

    /// Go on to this moment by the archived binlogs: a time as date(1) reads it, a GTID of MariaDB, or `end`
    #[arg(long, value_name = "TIME|GTID|end")]
    pub(crate) until: Option<String>,

    /// The name again, in the place of typing it, where the instance is there already
    #[arg(long, value_name = "NAME")]
    pub(crate) yes: Option<String>,

    /// Keep no copy of the data that it has
    #[arg(long)]
    pub(crate) destroy_data: bool,

    /// Of a new instance: what it is made from [default: as in the backup]
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) template: Option<String>,

    /// Of a new instance: an option of its own; repeatable [default: as in the backup]
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,

    /// Of a new instance: which server [default: as in the backup]
    #[arg(long, value_name = "mariadb|mysql|PATH")]
    pub(crate) server: Option<String>,

    /// Of a new instance: its port [default: the first free one of the host's]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// It has to be a new instance
    #[arg(long)]
    pub(crate) another: bool,

    /// Of a new instance: do not start it now
    #[arg(long)]
    pub(crate) no_start: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceArchiveArguments {
    /// The instances
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub(crate) names: Vec<InstanceName>,

    /// All of the host that run
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,

    /// The directory of backups
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,

    /// Go on, and copy what is new every so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,

    #[command(flatten)]
    pub(crate) seal: InstanceSealArguments,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceFollowArguments {
    /// Have the new one replicate from the old one, read-only
    #[arg(long, conflicts_with = "no_start")]
    pub(crate) replicate: bool,

    /// With --replicate: not over TLS
    #[arg(long, requires = "replicate")]
    pub(crate) no_tls: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceCloneArguments {
    /// The instance that is there
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub(crate) name: Option<InstanceName>,

    /// The new one [default: the same name, on another host]
    #[arg(value_name = "NEW", required_unless_present_any = ["to", "all"])]
    pub(crate) new: Option<InstanceName>,

    /// All of this host that run, each under its own name and on its own port
    #[arg(long, conflicts_with = "name", requires = "to")]
    pub(crate) all: bool,

    /// Another host, as ssh knows it, on which the new one is to be
    #[arg(long, value_name = "[USER@]HOST")]
    pub(crate) to: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArguments,

    #[command(flatten)]
    pub(crate) follow: InstanceFollowArguments,

    /// Its port [default: on this host the first free one, on another host the same]
    #[arg(long, value_name = "PORT", conflicts_with = "all")]
    pub(crate) port: Option<u16>,

    /// Do not start it now
    #[arg(long, conflicts_with = "to")]
    pub(crate) no_start: bool,

    #[command(flatten)]
    pub(crate) pace: InstancePaceArguments,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceUpgradeArguments {
    #[command(flatten)]
    pub(crate) one: InstanceOne,

    /// The newer server: the directory that holds usr/sbin
    #[arg(long, value_name = "PATH", required_unless_present = "back")]
    pub(crate) server: Option<String>,

    /// Go back to the server and the data from before its upgrade; what was written since is put aside
    #[arg(long, conflicts_with = "server")]
    pub(crate) back: bool,

    /// With --back: the name again, in the place of typing it
    #[arg(long, value_name = "NAME", requires = "back")]
    pub(crate) yes: Option<String>,
}

fn parse_count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| format!("`{text}` is no number from 1 on"))
}

fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: use 500K, 50M or 1G");
    let (digits, unit) = match text.trim_end_matches(['b', 'B']).char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let count: u64 = digits.parse().map_err(|_bad| wrong())?;
    count.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

fn parse_ports(text: &str) -> Result<(u16, u16), String> {
    let wrong = || format!("`{text}` is no range of ports: use 3307-3999");
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    Ok((first.parse().map_err(|_bad| wrong())?, last.parse().map_err(|_bad| wrong())?))
}
