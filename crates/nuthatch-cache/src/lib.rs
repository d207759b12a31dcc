//! Bounded store of query results: keys, entries, expiry, eviction.
