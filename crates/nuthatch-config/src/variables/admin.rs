//! The `admin-*` variables.

use super::{
    define::variables,
    kind::{Effect, Kind, Value, Variable, VariableFault},
};
use crate::secret::Secret;

variables! {
    /// The `admin-*` variables, named as ProxySQL names them.
    pub struct AdminVariables = "admin";

    admin_credentials: secret = "admin:admin", Acts,
        "Accounts of the admin interface: name:password, separated by `;`.";
    stats_credentials: secret = "stats:stats", Acts,
        "Accounts that may only read the statistics.";
    mysql_ifaces: text = "127.0.0.1:6032", Stored,
        "Addresses of ProxySQL's admin interface, separated by `;`; here `--admin` says it.";
    read_only: flag = false, Stored,
        "Refuse changes of the configuration.";
    version: text = env!("CARGO_PKG_VERSION"), ReadOnly,
        "Version of the program.";
    refresh_interval: count(100..=100_000) = 2_000, Stored,
        "Milliseconds between ProxySQL's refreshes of its statistics; here they are made when asked for.";
    telnet_admin_ifaces: text = "", Stored, "Unused by ProxySQL.";
    telnet_stats_ifaces: text = "", Stored, "Unused by ProxySQL.";
    hash_passwords: flag = false, Stored, "Removed by ProxySQL; passwords stay as they were typed.";

    // History.
    stats_mysql_connections: count(0..=300) = 60, Stored,
        "Seconds between rows of the history of connections; 0: none.";
    stats_mysql_connection_pool: count(0..=300) = 60, Stored,
        "Seconds between rows of the history of the pool; 0: none.";
    stats_mysql_query_cache: count(0..=300) = 60, Stored,
        "Seconds between rows of the history of the query cache; 0: none.";
    stats_mysql_query_digest_to_disk: count(0..=86_400) = 0, Stored,
        "Seconds between dumps of the digest statistics to disk; 0: none.";
    stats_system_cpu: count(0..=600) = 60, Stored,
        "Seconds between rows of the history of CPU time; 0: none.";
    stats_system_memory: count(0..=600) = 60, Stored,
        "Seconds between rows of the history of memory; 0: none.";
    vacuum_stats: flag = true, Stored,
        "Give back the space of the statistics tables after they are read.";

    // Cluster.
    cluster_username: text = "", Stored, "Account for the other proxies of a cluster; empty: no cluster.";
    cluster_password: secret = "", Stored, "Password of that account.";
    cluster_check_interval_ms: count(10..=300_000) = 1_000, Stored,
        "Milliseconds between looks at the other proxies' checksums.";
    cluster_check_status_frequency: count(0..=10_000) = 10, Stored,
        "Looks between two checks of the other proxies' status.";
    cluster_mysql_query_rules_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the query rules are taken over; 0: never.";
    cluster_mysql_servers_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the servers are taken over; 0: never.";
    cluster_mysql_users_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the users are taken over; 0: never.";
    cluster_proxysql_servers_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the list of proxies is taken over; 0: never.";
    cluster_mysql_variables_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the mysql variables are taken over; 0: never.";
    cluster_admin_variables_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the admin variables are taken over; 0: never.";
    cluster_ldap_variables_diffs_before_sync: count(0..=1_000) = 3, Stored,
        "Differing looks before the LDAP variables are taken over; 0: never.";
    cluster_mysql_query_rules_save_to_disk: flag = true, Stored, "Save query rules that were taken over.";
    cluster_mysql_servers_save_to_disk: flag = true, Stored, "Save servers that were taken over.";
    cluster_mysql_users_save_to_disk: flag = true, Stored, "Save users that were taken over.";
    cluster_proxysql_servers_save_to_disk: flag = true, Stored, "Save a list of proxies that was taken over.";
    cluster_mysql_variables_save_to_disk: flag = true, Stored, "Save mysql variables that were taken over.";
    cluster_admin_variables_save_to_disk: flag = true, Stored, "Save admin variables that were taken over.";
    cluster_ldap_variables_save_to_disk: flag = true, Stored, "Save LDAP variables that were taken over.";
    cluster_mysql_servers_sync_algorithm: count(1..=3) = 1, Stored,
        "What is taken over of the servers: 1 runtime and configuration, 2 configuration, 3 runtime if alone.";
    checksum_mysql_query_rules: flag = true, Stored, "Make a checksum of the query rules.";
    checksum_mysql_servers: flag = true, Stored, "Make a checksum of the servers.";
    checksum_mysql_users: flag = true, Stored, "Make a checksum of the users.";
    checksum_mysql_variables: flag = true, Stored, "Make a checksum of the mysql variables.";
    checksum_admin_variables: flag = true, Stored, "Make a checksum of the admin variables.";
    checksum_ldap_variables: flag = true, Stored, "Make a checksum of the LDAP variables.";

    // Other faces.
    restapi_enabled: flag = false, Stored, "Serve the REST interface.";
    restapi_port: count(0..=65_535) = 6_070, Stored, "Port of the REST interface.";
    web_enabled: flag = false, Stored, "Serve the web pages.";
    web_port: count(0..=65_535) = 6_080, Stored, "Port of the web pages.";
    web_verbosity: count(0..=10) = 0, Stored, "How much the web pages log.";
    prometheus_memory_metrics_interval: count(1..=100_000) = 61, Stored,
        "Seconds between refreshes of the memory metrics.";
    coredump_generation_interval_ms: count(0..=500_000) = 30_000, Stored,
        "Milliseconds between two core dumps on demand.";
    coredump_generation_threshold: count(1..=500) = 10, Stored, "Core dumps on demand until it stops.";
    ssl_keylog_file: text = "", Stored, "File that the keys of TLS sessions are written to; empty: none.";
}
