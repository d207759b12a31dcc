//! Many MariaDB and MySQL instances on one host, each with its own port, data, memory and life.
//!
//! A [`Root`] is the directory of a host's instances. [`add`] makes one from a [`Template`], [`start`] and [`stop`] run its server under a
//! [supervisor](supervise), [`change`] sets options at once where the server can, [`remove`] ends it while nobody uses it and keeps its data.
//! [`Summary`] tells how each is, [`Figures`] what its server says, [`Health`] whether it is well, [`examine`] what is wrong with the host.
//! [`replicate`] and [`pair`] have them follow others, [`ailments`] tells what is wrong with that, [`heal`] does what is safe.
//!
//! Whatever is refused is refused before anything is touched, in one sentence. What is made is made beside and renamed; a crash in the middle
//! leaves nothing that looks like an instance. Commands on one instance wait for each other, and so do those that choose ports or memory.
//!
//! Calls block, but for [`supervise`] and [`Figures::all`]. Statements go over the server's Unix socket as its root, whose password is in a file of the instance.

mod account;
mod add;
mod ask;
mod backup;
mod certificates;
mod change;
mod clock;
mod clone;
mod converge;
mod doctor;
mod error;
mod host;
mod life;
mod maintenance;
mod memory;
mod name;
mod options;
mod port;
mod progress;
mod proxies;
mod record;
mod remove;
mod replication;
mod root;
mod scratch;
mod settling;
mod summary;
mod template;
mod tool;
mod upgrade;
mod users;
mod watch;

pub use add::{Wanted, add};
pub use backup::archive::{ArchivedNow, archive};
pub use backup::fill::{Filled, Origin, Role, Using};
pub use backup::manifest::{Archive, Manifest, Stored};
pub use backup::pace::Pace;
pub use backup::replay::Until;
pub use backup::restore::{Life, restore_new, restore_over};
pub use backup::sealed::Seal;
pub use backup::store::{Backup, Retention, Store};
pub use backup::take::{Taking, take, take_to_pipe};
pub use backup::verify::{Verified, verify};
pub use change::{Change, Changed, When, change, preview};
pub use clone::{check_beside, check_there, clone, clone_to, follow_from};
pub use converge::described::{Described, DescribedInstance};
pub use converge::plan::{Action, Plan};
pub use doctor::{Finding, examine, mend};
pub use error::InstanceError;
pub use host::{Host, ProxyAdmin};
pub use life::start::{check_options, enable, start, write_options};
pub use life::state::Doing;
pub use life::stop::stop;
pub use life::supervise::supervise;
pub use life::systemd::{UNIT_FILE, unit};
pub use maintenance::{Last, begin_maintenance, end_maintenance};
pub use name::{BadName, InstanceName};
pub use options::built_in::USUAL as USUAL_TEMPLATE;
pub use options::layers::{Setting, Settings, Source};
pub use options::option_file::line_of;
pub use progress::{Moved, Progress, Step};
pub use record::{Before, Record};
pub use remove::{Data, remove};
pub use replication::answer::answer;
pub use replication::copy::receive;
pub use replication::end::End;
pub use replication::ending::{forget_source, go_on, pause};
pub use replication::pair::pair;
pub use replication::pair::plan::Plan as PairPlan;
pub use replication::repair::remedy::Remedy;
pub use replication::repair::{Ailment, ailments, heal};
pub use replication::replicate::{ForeignSource, Manner, SourceChoice, Writable, replicate};
pub use replication::request::{Answer, Request, Which};
pub use replication::ssh::Ssh;
pub use replication::status::Following;
pub use root::{Leftover, Place, Root};
pub use settling::settings_of;
pub use summary::Summary;
pub use template::Template;
pub use upgrade::{before_upgrade, downgrade, upgrade};
pub use watch::exposition::metrics;
pub use watch::figures::{Figures, Live, Source as ReplicationSource};
pub use watch::health::Health;
pub use watch::replicas::Replica;
