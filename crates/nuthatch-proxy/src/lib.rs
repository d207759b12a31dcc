//! The data plane: listeners, sessions, routing, pools, statistics, the tee of answers into the cache.
//!
//! [`Proxy::start`] makes the workers, [`Listener`]s bring clients to them, [`keep_house`] does what time demands, and
//! [`Proxy::publish`] puts a configuration in force. Configuration comes as an immutable snapshot; the data plane never
//! waits for whoever makes it. The life of a statement is told in `session.rs`.

mod backend;
mod capability;
mod clock;
mod environment;
mod exact;
mod executor;
mod housekeeping;
mod keeper;
mod known_schemas;
mod listener;
mod lobby;
mod log_limit;
mod passwords;
mod proxy;
mod purge;
mod runner;
mod session;
mod state;
mod stats;
mod worker;

pub use backend::PoolRow;
pub use clock::Clock;
pub use exact::{
    Began, BufferPool, Domain, Domains, Evidence, ExactLevels, Isolation, Judge, Moment, NoDomain, Replaced,
    Replica, Source, SourceAccount, StoredCodes, Vouched,
};
pub use housekeeping::{keep_house, keep_lines, scout};
pub use keeper::{ConfigurationKeeper, Granting, Wish};
pub use listener::Listener;
pub use proxy::{Levels, ProcessRow, Proxy};
pub use purge::Purged;
pub use session::{ClientAddress, Finding};
pub use stats::{
    COMMAND_BUCKETS, CacheAdvice, CacheFigures, CachedEntryRow, CachedTableRow, CommandRow, DigestReading,
    DigestRow, ErrorRow, QueryCacheRow, Totals,
};
