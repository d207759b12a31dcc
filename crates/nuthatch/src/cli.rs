//! The command line. Every flag of `serve` has a key of the same name in the configuration file, but for what is for one start
//! only.

mod instance;
mod replication;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use nuthatch_lab::{Direction, Peers, Role};
use nuthatch_net::ListenAddress;

pub(crate) use self::instance::*;
pub(crate) use self::replication::*;
use crate::faults::Faults;

/// A MySQL/MariaDB proxy with a query cache.
///
/// Applications connect to it as to the server. It multiplexes their sessions over few backend connections, routes by
/// query rules, and answers repeated SELECTs from memory.
#[derive(Debug, Parser)]
#[command(name = "nuthatch", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the proxy in the foreground until SIGTERM or Ctrl-C
    Serve(Box<ServeArguments>),
    /// Have another server of a replication pair take the writes, without an error for any client
    Switchover(SwitchoverArguments),
    Failover(FailoverArguments),
    /// Add, configure, run and remove MariaDB and MySQL instances on this host
    Instance(InstanceArguments),
    /// Bring up, look at and stop real servers on this host, to try things on
    #[command(subcommand)]
    Lab(LabCommand),
}

/// Run the proxy in the foreground until SIGTERM or Ctrl-C.
///
/// A first start needs only --backend and --user. Servers, users, rules and variables are then changed in the admin
/// interface (a MySQL client to the --admin address, user and password `admin` until changed there) and kept with
/// SAVE ... TO DISK in --datadir. What was saved there is used at the next start; flags given explicitly change it.
///
/// The first SIGTERM or Ctrl-C lets sessions finish what they have open, the second stops at once.
#[derive(Debug, Args, Default)]
pub(crate) struct ServeArguments {
    /// TOML file with the same settings; flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Directory for what SAVE ... TO DISK keeps; without it nothing is kept
    #[arg(long, value_name = "DIR")]
    pub(crate) datadir: Option<PathBuf>,

    /// File with the key under which passwords are kept in --datadir; made if it is not there. Without it nobody can
    /// read them, so keep a copy [default: nuthatch-secrets.key in --datadir]
    #[arg(long, value_name = "FILE")]
    pub(crate) secrets_key: Option<PathBuf>,

    /// Start although the key of the passwords in --datadir is lost: their users are locked, secret variables go back
    /// to their defaults. For one start, on the command line only
    #[arg(long)]
    pub(crate) forget_lost_secrets: bool,

    /// Where MySQL clients connect: HOST:PORT, or the path of a Unix socket [default: 0.0.0.0:6033]
    #[arg(long, value_name = "ADDR")]
    pub(crate) mysql: Vec<ListenAddress>,

    /// Permission bits of Unix sockets, octal [default: 777]
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    pub(crate) mysql_socket_mode: Option<u32>,

    /// Where operators connect with a MySQL client [default: 127.0.0.1:6032]
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin: Option<ListenAddress>,

    /// Where to serve metrics over HTTP (GET /metrics); off by default
    #[arg(long, value_name = "ADDR")]
    pub(crate) metrics: Option<ListenAddress>,

    /// A server for hostgroup 0: HOST:PORT, or the path of a Unix socket; repeatable
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) backend: Vec<String>,

    /// A user, for clients and for logging in to servers; repeatable. NAME:@FILE takes the password from the file's
    /// first line, NAME alone from the variable NUTHATCH_PASSWORD_NAME. NAME:PASSWORD works too, but everybody on this
    /// host can read a command line
    #[arg(long, value_name = "NAME:@FILE")]
    pub(crate) user: Vec<String>,

    /// Worker threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,

    /// How long a stop waits for open transactions and running statements [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) drain_seconds: Option<u64>,

    /// error, warn, info, debug or trace, or a filter by module [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,

    #[command(flatten)]
    pub(crate) faults: Faults,
}

/// Where a running proxy is told what to do.
#[derive(Debug, Args)]
pub(crate) struct AdminArguments {
    /// The proxy's admin interface
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:6032")]
    pub(crate) admin: String,

    /// An account of `admin-admin_credentials`
    #[arg(long, value_name = "NAME", default_value = "admin")]
    pub(crate) user: String,

    /// Its password, from this file's first line [default: the variable NUTHATCH_ADMIN_PASSWORD, else `admin`]
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
}

/// Whose primary, and how it is told.
#[derive(Debug, Args)]
pub(crate) struct PairArguments {
    /// The writer hostgroup, as in mysql_replication_hostgroups
    #[arg(long, value_name = "N")]
    pub(crate) hostgroup: u32,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) admin: AdminArguments,
}

/// Have another server of a replication pair take the writes.
///
/// Statements wait meanwhile. Until the new primary takes writes, every failure leaves the old one as it was.
#[derive(Debug, Args)]
pub(crate) struct SwitchoverArguments {
    #[command(flatten)]
    pub(crate) of: PairArguments,

    /// Who is to take the writes
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: String,

    /// Only say what would hinder it
    #[arg(long)]
    pub(crate) check: bool,
}

/// Put another server in the place of a primary that is gone.
///
/// It is refused as long as the primary answers, or a replica is connected to it.
#[derive(Debug, Args)]
pub(crate) struct FailoverArguments {
    #[command(flatten)]
    pub(crate) of: PairArguments,

    /// Who is to take the writes [default: the replica that has received most]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: Option<String>,

    /// Only say what would be done, and what would hinder it
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Start a primary and its replicas, or a cluster, on free ports
    Up(LabUpArguments),
    /// Show the servers, their ports and how replication is
    Status(LabArguments),
    /// Stop the servers; their data stays in the directory
    Down(LabArguments),
    /// Kill a server (SIGKILL), as in a crash
    Kill(LabNodeArguments),
    /// Stop a server as it stops when asked to
    Stop(LabNodeArguments),
    /// Start a server again, with its port and data; one that followed another follows it again
    Start(LabNodeArguments),
    /// Let a server run no further (SIGSTOP): what is connected to it hangs, as with a host that went away
    Pause(LabNodeArguments),
    /// Let a paused server go on
    Resume(LabNodeArguments),
    /// Have a replica apply nothing that is younger than so many seconds
    Lag(LabLagArguments),
    /// Let a replica follow nobody any more, and be written to; nothing is done to the primary before it
    Promote(LabNodeArguments),
    /// Have a server follow another from what it has, and not be written to
    Follow(LabFollowArguments),
    /// Hold back what passes between a server and others, without closing anything, until `lab heal`
    ///
    /// As if packets were dropped: what was sent meanwhile arrives afterwards. For a lab made with --relays.
    Partition(LabPartitionArguments),
    /// End all partitions
    Heal(LabArguments),
    /// Reset the connections to a server: all now, or one after so many more bytes
    Cut(LabCutArguments),
    /// Run the relays of a lab in the foreground, as `lab up --relays` does in the background
    #[command(hide = true)]
    Relay(LabArguments),
}

#[derive(Debug, Args)]
pub(crate) struct LabFollowArguments {
    #[command(flatten)]
    pub(crate) node: LabNodeArguments,

    /// Whom it follows
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Role,
}

#[derive(Debug, Args)]
pub(crate) struct LabPartitionArguments {
    #[command(flatten)]
    pub(crate) node: LabNodeArguments,

    /// From this server only; `outside` is clients and proxies [default: from everybody]
    #[arg(long, value_name = "NODE", value_parser = parse_peers)]
    pub(crate) from: Option<Peers>,

    #[command(flatten)]
    pub(crate) way: LabWay,
}

#[derive(Debug, Args)]
pub(crate) struct LabCutArguments {
    #[command(flatten)]
    pub(crate) node: LabNodeArguments,

    /// Not now, but the first connection that passes so many bytes from now on
    #[arg(long, value_name = "BYTES")]
    pub(crate) after: Option<u64>,

    #[command(flatten)]
    pub(crate) way: LabWay,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct LabWay {
    /// What goes to the server
    #[arg(long = "in")]
    to_server: bool,

    /// What comes from the server
    #[arg(long = "out")]
    from_server: bool,

    /// Both, which is the default
    #[arg(long = "both")]
    both: bool,
}

impl LabWay {
    pub(crate) fn direction(&self) -> Direction {
        match (self.to_server, self.from_server) {
            (true, _) => Direction::In,
            (_, true) => Direction::Out,
            _ => Direction::Both,
        }
    }
}

/// A server of a lab, or everybody else.
fn parse_peers(text: &str) -> Result<Peers, String> {
    if text == "outside" { Ok(Peers::Outside) } else { text.parse().map(Peers::One) }
}

#[derive(Debug, Args)]
pub(crate) struct LabNodeArguments {
    /// The lab's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// The server, as `lab status` names it: primary, replica-1, node-1
    #[arg(value_name = "NODE")]
    pub(crate) node: Role,
}

#[derive(Debug, Args)]
pub(crate) struct LabLagArguments {
    #[command(flatten)]
    pub(crate) node: LabNodeArguments,

    /// How many seconds; 0 ends it
    #[arg(value_name = "SECONDS")]
    pub(crate) seconds: u32,
}

#[derive(Debug, Args)]
pub(crate) struct LabArguments {
    /// The lab's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabUpArguments {
    #[command(flatten)]
    pub(crate) common: LabArguments,

    /// How many replicas follow the primary
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) replicas: u16,

    /// N nodes of Galera instead, each of which takes writes (MariaDB; needs Debian's galera-4)
    #[arg(long, value_name = "N", conflicts_with_all = ["replicas", "semi_sync", "group_replication"])]
    pub(crate) galera: Option<u16>,

    /// N members of a group instead, one of which takes writes (MySQL)
    #[arg(long, value_name = "N", conflicts_with_all = ["replicas", "semi_sync"])]
    pub(crate) group_replication: Option<u16>,

    /// A commit waits until a replica has it, before others see it (semi-synchronous, AFTER_SYNC)
    #[arg(long)]
    pub(crate) semi_sync: bool,

    /// Put a relay before each server, at the port that clients use, for partition and cut
    #[arg(long)]
    pub(crate) relays: bool,

    /// Which server: mariadb is Debian's; mysql needs --root, unless one is installed
    #[arg(long, value_name = "KIND", default_value = "mariadb", value_parser = ["mariadb", "mysql"])]
    pub(crate) server: String,

    /// Where the server's packages are unpacked, if not in the system; "tools/side-apt.sh DIR sid mysql-server-core
    /// mysql-client-core" does that for MySQL
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Name of the account with all privileges
    #[arg(long, value_name = "NAME", default_value = "nuthatch")]
    pub(crate) user: String,

    /// Its password, from this file's first line; generated if not given
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

    /// max_connections of each server
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_connections: u32,

    /// InnoDB buffer pool of each server in MiB
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    pub(crate) buffer_pool: u32,

    /// Give MariaDB's own query cache this many MiB; off by default, since it would hide what the proxy does
    #[arg(long, value_name = "MIB")]
    pub(crate) query_cache: Option<u32>,
}

/// Permission bits as octal digits.
pub(crate) fn parse_mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text.trim_start_matches("0o"), 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| format!("`{text}` is no permission mode: use octal digits up to 777"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(parse_mode("0660"), Ok(0o660));
        assert!(parse_mode("999").is_err() && parse_mode("7777").is_err());
    }
}
