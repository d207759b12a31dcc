//! The `mysql-*` variables.

use super::{
    define::variables,
    kind::{Effect, Kind, Value, Variable, VariableFault},
};
use crate::secret::Secret;

variables! {
    /// The `mysql-*` variables, named as ProxySQL names them, in lower case.
    pub struct MysqlVariables = "mysql";

    // Cache.
    threshold_resultset_size: count(1_024..=1_073_741_824) = 4_194_304, Acts, "Bytes of a result beyond which it is not cached.";
    query_cache_size_mb as "query_cache_size_MB": count(0..=10_485_760) = 256, Acts, "MiB that the query cache may take, all counted; a hard limit.";
    query_cache_stores_empty_result: flag = true, Acts, "Cache results without rows where the rule does not say.";
    monitor_password: secret = "monitor", Stored, "Password of the monitor's account on the backends.";
    max_connections: count(1..=1_000_000) = 10_000, Acts, "Client connections; one more gets error 1040.";
    query_processor_iterations: count(0..=1_000_000) = 0, Acts, "How often a flagOUT may start the rules again from the first.";
    server_version: text = "", Acts, "Version in the greeting; empty: the backend's.";
}
