//! Where a statement goes: rules, weights, the state of servers, what is done when one fails.

mod aftermath;
mod causal;
mod clusters;
mod failover;
mod failure;
mod holding;
mod limits;
mod lines;
mod lost;
mod monitor;
mod pair;
mod pool;
mod refusals;
mod relay;
mod replay;
mod roles;
mod rules;
mod status;
mod switchover;
mod time;
mod warm;
mod weights;

use crate::stage::Stage;

/// The answer to this names the server: 1 is the primary, 2 the replica.
const WHO: &str = "SELECT @@server_id";

/// Puts both servers into hostgroup 5, where the user's statements go by default.
fn both_in_one_hostgroup(stage: &Stage) {
    stage.administer([
        "DELETE FROM mysql_servers WHERE hostgroup_id = 5",
        "INSERT INTO mysql_servers (hostgroup_id, hostname, port) SELECT 5, hostname, port FROM mysql_servers",
        "LOAD MYSQL SERVERS TO RUNTIME",
        "UPDATE mysql_users SET default_hostgroup = 5",
        "LOAD MYSQL USERS TO RUNTIME",
    ]);
    stage.replica();
}
