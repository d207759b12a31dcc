//! The data plane: listeners, sessions, routing, pools, statistics, the tee of answers into the cache.
//!
//! [`Proxy::start`] makes the workers, [`Listener`]s bring clients to them, [`keep_house`] does what time demands, and
//! [`Proxy::publish`] puts a configuration in force. Configuration comes as an immutable snapshot; the data plane never
//! waits for whoever makes it. The life of a statement is told in `session.rs`.

mod backend;
mod capability;
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

pub use backend::PoolRow;
pub use clock::Clock;
pub use configuration::keeper::ConfigurationKeeper;
pub use configuration::keeper::Granting;
pub use configuration::keeper::Wish;
pub use exact::Began;
pub use exact::BufferPool;
pub use exact::Domain;
pub use exact::Domains;
pub use exact::Evidence;
pub use exact::Exact;
pub use exact::ExactLevels;
pub use exact::Isolation;
pub use exact::Judge;
pub use exact::Moment;
pub use exact::NoDomain;
pub use exact::Replaced;
pub use exact::Replica;
pub use exact::StoredCodes;
pub use exact::Vouched;
pub use housekeeping::keep_house;
pub use housekeeping::keep_lines;
pub use housekeeping::scout;
pub use listener::Listener;
pub use proxy::CacheAdvice;
pub use proxy::CachedEntryRow;
pub use proxy::CachedTableRow;
pub use proxy::Levels;
pub use proxy::ProcessRow;
pub use proxy::Proxy;
pub use proxy::QueryCacheRow;
pub use proxy::Source;
pub use proxy::SourceAccount;
pub use roster::ClientAddress;
pub use session::Finding;
pub use shared::purge::Purged;
pub use stats::COMMAND_BUCKETS;
pub use stats::CacheFigures;
pub use stats::CommandRow;
pub use stats::DigestReading;
pub use stats::DigestRow;
pub use stats::ErrorRow;
pub use stats::Totals;
