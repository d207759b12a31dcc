//! All configuration as one validated immutable snapshot, and the SQLite layers it comes from.
