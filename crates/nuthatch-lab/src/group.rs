//! How MySQL's members form a group, one of which takes writes.

use crate::client::Client;
use crate::duty::Login;
use crate::state::{ServerState, State};
use crate::status::Member;

/// Any name that is a UUID; a lab's group is by its ports.
const GROUP: &str = "6e757468-6174-6368-2d6c-61622d677270";

const STATUS: &str = "SELECT MEMBER_STATE, MEMBER_ROLE, \
    (SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE') AS size \
    FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid";

/// Begins a group that this member is alone in.
pub(crate) const BEGIN: &str = "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION";

/// So that a later start does not begin another one.
pub(crate) const BEGUN: &str = "SET GLOBAL group_replication_bootstrap_group = OFF";

/// Ends the membership of one that is not in its group, so that it may join anew.
pub(crate) const LEAVE: &str = "STOP GROUP_REPLICATION";

/// Options of one member. Its checks look into the performance schema.
pub(crate) fn option_lines(state: &State, server: &ServerState) -> Vec<String> {
    let address = |server: &ServerState| {
        server.cluster_ports.map(|(port, _)| format!("127.0.0.1:{port}")).unwrap_or_default()
    };
    let seeds: Vec<String> = state.servers.iter().map(address).collect();
    vec![
        "performance_schema=ON".into(),
        "plugin_load_add=group_replication.so".into(),
        format!("group_replication_group_name={GROUP}"),
        format!("group_replication_local_address={}", address(server)),
        format!("group_replication_group_seeds={}", seeds.join(",")),
        "group_replication_ip_allowlist=127.0.0.1".into(),
        "group_replication_start_on_boot=OFF".into(),
        "group_replication_single_primary_mode=ON".into(),
        "group_replication_recovery_get_public_key=ON".into(),
    ]
}

/// Has a member that is not in the group join it.
pub(crate) fn join(login: &Login) -> String {
    format!("{}; START GROUP_REPLICATION", recover_as(login))
}

/// The account by which a member catches up, from whichever other.
pub(crate) fn recover_as(login: &Login) -> String {
    format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_USER = '{}', SOURCE_PASSWORD = {} \
         FOR CHANNEL 'group_replication_recovery'",
        login.user,
        login.password.to_sql()
    )
}

/// Whether one that has `position` has all of `other` and more: `1` or `0`.
pub(crate) fn is_beyond(position: &str, other: &str) -> String {
    format!("SELECT GTID_SUBSET('{other}', '{position}') AND NOT GTID_SUBSET('{position}', '{other}')")
}

/// What the member says of its group.
pub(crate) fn member(client: &Client) -> Option<Member> {
    let rows = client.look(STATUS).ok()?;
    Some(Member {
        state: rows.value("MEMBER_STATE")?.into(),
        role: rows.value("MEMBER_ROLE")?.into(),
        size: rows.value("size")?.parse().ok()?,
    })
}
