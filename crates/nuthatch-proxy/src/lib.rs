//! The data plane: listeners, sessions, routing, pools, statistics, the tee into the cache.
