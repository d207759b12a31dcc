//! `runtime_mysql_servers` as it is right now: servers are moved between the hostgroups of their clusters while they run.

use std::sync::Arc;

use rusqlite::Connection;

use super::StoreError;
use crate::server::{Server, ServerStatus};

/// The twin has these rows afterwards, in their order where they are new.
pub(super) fn servers(
    connection: &Connection,
    servers: &[(Arc<Server>, ServerStatus)],
) -> Result<(), StoreError> {
    let mut update = connection.prepare(
        "UPDATE main.runtime_mysql_servers SET status = ?4 WHERE hostgroup_id = ?1 AND hostname = ?2 AND port = ?3",
    )?;
    let mut insert = connection.prepare(
        "INSERT INTO main.runtime_mysql_servers (hostgroup_id, hostname, port, gtid_port, status, weight, compression, \
         max_connections, max_replication_lag, use_ssl, max_latency_ms, comment) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for (server, status) in servers {
        let Server { hostgroup, host, port, .. } = &**server;
        if update.execute((hostgroup.0, host, port, status.as_str()))? == 0 {
            insert.execute((
                hostgroup.0,
                host,
                port,
                server.gtid_port,
                status.as_str(),
                server.weight,
                server.compression,
                server.max_connections,
                server.max_replication_lag,
                server.use_ssl,
                server.max_latency_ms,
                &server.comment,
            ))?;
        }
    }
    remove_others(connection, servers)
}

fn remove_others(connection: &Connection, servers: &[(Arc<Server>, ServerStatus)]) -> Result<(), StoreError> {
    let mut select =
        connection.prepare("SELECT hostgroup_id, hostname, port FROM main.runtime_mysql_servers")?;
    let shown = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let shown: Vec<(u32, String, u16)> = shown.collect::<Result<_, _>>()?;
    let mut delete = connection.prepare(
        "DELETE FROM main.runtime_mysql_servers WHERE hostgroup_id = ?1 AND hostname = ?2 AND port = ?3",
    )?;
    for (hostgroup, host, port) in shown {
        let is_it =
            |server: &Server| (server.hostgroup.0, &server.host, server.port) == (hostgroup, &host, port);
        if !servers.iter().any(|(server, _)| is_it(server)) {
            delete.execute((hostgroup, &host, port))?;
        }
    }
    Ok(())
}
