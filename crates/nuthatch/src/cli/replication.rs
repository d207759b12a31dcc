//! `nuthatch instance replicate`, `replication`: what is said to them.

use std::path::PathBuf;

use clap::Args;
use nuthatch_instance::InstanceName;

#[derive(Debug, Args)]
pub(crate) struct InstanceReplicateArguments {
    /// The instance that follows
    #[arg(value_name = "NAME")]
    pub(crate) name: InstanceName,

    /// Whom it is to follow: an instance of this host, or HOST:PORT
    #[arg(long, value_name = "NAME|HOST:PORT", required_unless_present_any = ["stop", "go_on", "forget"])]
    pub(crate) from: Option<String>,

    /// The account at a source that is not an instance of ours
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub(crate) user: Option<String>,

    /// The file whose first line is that account's password
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(crate) password_file: Option<PathBuf>,

    /// The authority of that source's certificate, in PEM; without it, whoever answers is believed
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(crate) ca: Option<PathBuf>,

    /// The host on which the source is an instance of ours, as ssh knows it
    #[arg(long, value_name = "[USER@]HOST", conflicts_with = "user")]
    pub(crate) ssh: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArguments,

    /// Clients may write to it too, as to the source
    #[arg(long)]
    pub(crate) both_writable: bool,

    /// Not over TLS
    #[arg(long)]
    pub(crate) no_tls: bool,

    #[command(flatten)]
    pub(crate) end: ReplicateEnd,
}

/// What is done to a replica that there is.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ReplicateEnd {
    /// Have it fetch and apply nothing for now
    #[arg(long, conflicts_with = "from")]
    pub(crate) stop: bool,

    /// Have it go on
    #[arg(long, conflicts_with = "from")]
    pub(crate) go_on: bool,

    /// Have it follow nobody any more
    #[arg(long, conflicts_with = "from")]
    pub(crate) forget: bool,
}

/// How another host's program is reached.
#[derive(Clone, Debug, Args)]
pub(crate) struct RemoteArguments {
    /// The root there [default: as there without one]
    #[arg(long, value_name = "DIR")]
    pub(crate) remote_root: Option<String>,

    /// The program there
    #[arg(long, value_name = "PATH", default_value = "nuthatch")]
    pub(crate) remote_program: String,

    /// An argument for ssh, such as -oPort=2222; repeatable
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub(crate) ssh_option: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InstanceReplicationArguments {
    /// With --repair: only these [default: all]
    #[arg(value_name = "NAME", requires = "repair")]
    pub(crate) names: Vec<InstanceName>,

    /// Tell what is wrong, and offer what mends it without a risk
    #[arg(long, conflicts_with = "json")]
    pub(crate) repair: bool,

    /// With --repair: do it without asking
    #[arg(long, requires = "repair")]
    pub(crate) yes: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InstancePairArguments {
    /// The other host, as ssh knows it
    #[arg(long, value_name = "[USER@]HOST")]
    pub(crate) with: String,

    /// Which instances of this host [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<InstanceName>,

    #[command(flatten)]
    pub(crate) remote: RemoteArguments,

    /// Clients may write to both sides
    #[arg(long)]
    pub(crate) both_writable: bool,

    /// Not over TLS
    #[arg(long)]
    pub(crate) no_tls: bool,

    /// Do it without asking
    #[arg(long)]
    pub(crate) yes: bool,
}
