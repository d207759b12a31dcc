//! The data plane: listeners, sessions, routing, pools, statistics, the tee of answers into the cache.
//!
//! [`Proxy::start`] makes the workers, [`Listener`]s bring clients to them, [`keep_house`] does what time demands, and
//! [`Proxy::publish`] puts a configuration in force. Configuration comes as an immutable snapshot; the data plane never
//! waits for whoever makes it. The life of a statement is told in `session.rs`.

mod backend;
mod clock;
mod configuration;
mod exact;
mod floor;
mod housekeeping;
mod listener;
mod log_limit;
mod proxy;
mod roster;
mod session;
mod shared;
mod state;
mod stats;
mod worker;

pub use backend::{CatchUp, Hold, LagOutcome, LentConnection, LineRow, PingOutcome, PoolOutcome, PoolRow};
pub use clock::{Clock, boottime_ns};
pub use configuration::keeper::{ConfigurationKeeper, Granting, Wish};
pub use exact::{
    Began, BufferPool, Carried, Deed, DelayFigures, Domain, Domains, Evidence, Exact, ExactLevels, FollowRow,
    Followed, Horizon, Isolation, Judge, KeyPlace, LearntFigures, LearntPlaces, Logged, Moment, NoDomain,
    Places, Prepared, Replaced, Replica, Standing, StoredCodes, Told, Vouched, Written,
};
pub use housekeeping::{keep_house, keep_lines, keep_time, scout};
pub use listener::Listener;
pub use proxy::{
    CacheAdvice, CachedEntryRow, CachedTableRow, CausalCluster, Levels, MonitoredServer, Pair, PlacedServer,
    ProcessRow, Proxy, QueryCacheRow, Source, SourceAccount, WarmingFigures, Warmth,
};
pub use roster::ClientAddress;
pub use session::Finding;
pub use shared::answers::CaptureUsage;
pub use shared::purge::Purged;
pub use stats::{COMMAND_BUCKETS, CacheFigures, CommandRow, DigestReading, DigestRow, ErrorRow, Totals};
