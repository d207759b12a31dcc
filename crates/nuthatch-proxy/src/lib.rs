//! The data plane: listeners, sessions, routing, pools, statistics, the tee of answers into the cache.
//!
//! [`Proxy::start`] makes the workers, [`Listener`]s bring clients to them, [`keep_house`] does what time demands, and
//! [`Proxy::publish`] puts a configuration in force. Configuration comes as an immutable snapshot; the data plane never
//! waits for whoever makes it. The life of a statement is told in `session.rs`.

mod answers;
mod backend;
mod capability;
mod clock;
mod configuration;
mod doors;
mod exact;
mod executor;
mod floor;
mod greetings;
mod housekeeping;
mod keeper;
mod listener;
mod lobby;
mod log_limit;
mod not_cached;
mod pins;
mod posts;
mod proxy;
mod purge;
mod roster;
mod session;
mod shared;
mod state;
mod stats;
mod worker;

pub use backend::PoolRow;
pub use clock::Clock;
pub use exact::{
    Began, BufferPool, Domain, Domains, Evidence, Exact, ExactLevels, Isolation, Judge, Moment, NoDomain,
    Replaced, Replica, StoredCodes, Vouched,
};
pub use housekeeping::{keep_house, keep_lines, scout};
pub use keeper::{ConfigurationKeeper, Granting, Wish};
pub use listener::Listener;
pub use proxy::{
    CacheAdvice, CachedEntryRow, CachedTableRow, Levels, ProcessRow, Proxy, QueryCacheRow, Source,
    SourceAccount,
};
pub use purge::Purged;
pub use roster::ClientAddress;
pub use session::Finding;
pub use stats::{COMMAND_BUCKETS, CacheFigures, CommandRow, DigestReading, DigestRow, ErrorRow, Totals};
