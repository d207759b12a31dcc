//! All configuration as one validated immutable snapshot, and the SQLite layers it comes from.
//!
//! The data plane holds a [`Snapshot`] behind one atomic pointer and never sees SQLite. The admin thread owns the
//! layers (disk, memory, runtime), runs `LOAD` and `SAVE` on them, and publishes the snapshot that comes out.
//!
//! Every setting is defined once (a row of [`MysqlVariables`] or [`AdminVariables`], a column of a table in the store):
//! parsing, ranges, defaults, rows shown to an admin and documentation all come from that definition.
//! Nothing here listens, connects or reads a clock.

mod attributes;
mod clusters;
mod follow;
mod health_limits;
mod loss_max;
mod password;
mod placement;
mod pool_settings;
mod private_file;
mod query_cache;
mod rules;
mod secret;
mod server;
mod snapshot;
mod store;
mod stripes;
mod tables;
mod tls;
mod tls_settings;
mod user;
mod variables;
mod verb;
mod warming;

pub use attributes::{HostgroupAttributes, MultiplexDelays, OwnWarming};
pub use clusters::{
    CheckType, Cluster, ClusterKind, Clusters, ReplicationPair, UnknownCheckType, WritersRead,
};
pub use follow::Follow;
pub use health_limits::HealthLimits;
pub use loss_max::LossMax;
pub use password::Password;
pub use placement::{Access, AccessFinding, Finding, Findings, Member, Placed, Placement, Placer, Role};
pub use pool_settings::PoolSettings;
pub use private_file::replace_private_file;
pub use query_cache::{QueryCacheSize, QueryCacheType};
pub use rules::{
    CacheMode, PatternError, Rule, RuleFault, RuleHits, RuleInput, RuleModifiers, Rules, Verdict,
};
pub use secret::Secret;
pub use server::{HostgroupId, Hostgroups, Server, ServerName, ServerStatus, UnknownStatus};
pub use snapshot::{Epoch, Snapshot};
pub use store::{Datadir, Layers, Outcome, Seed, SeedRow, SeedValue, StoreError, Warnings};
pub use stripes::Stripes;
pub use tables::{Column, ColumnDefault, TABLES, Table, table};
pub use tls::{SslParams, SslVerify, TlsVersionList, UnknownTlsVersion};
pub use tls_settings::TlsSettings;
pub use user::{DuplicateUser, User, Users};
pub use variables::{
    AdminVariables, Effect, Kind, MysqlVariables, Variable, VariableFault, variables_markdown,
};
pub use verb::{Direction, Module, Verb};
pub use warming::Warming;
