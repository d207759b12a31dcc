//! `mysql_servers` into [`Hostgroups`].

use rusqlite::Connection;

use super::rows::{read_rows, table};
use super::{StoreError, Warnings};
use crate::{
    server::{HostgroupId, Hostgroups, Server, UnknownStatus},
    store::row::{ColumnFault, RowReader, fault},
};

pub(super) fn read(connection: &Connection, warnings: &mut Warnings) -> Result<Hostgroups, StoreError> {
    let rows = read_rows(connection, table("mysql_servers"), "hostgroup_id, rowid", name, server, warnings)?;
    Ok(Hostgroups::new(rows))
}

fn name(row: &RowReader<'_>) -> String {
    let column = |column| row.text(column).unwrap_or_default();
    format!("server {}:{} in hostgroup {}", column("hostname"), column("port"), column("hostgroup_id"))
}

fn server(row: &RowReader<'_>) -> Result<Server, ColumnFault> {
    let host = row.text("hostname")?;
    if host.is_empty() {
        return Err(fault("hostname", "is empty"));
    }
    Ok(Server {
        hostgroup: HostgroupId(row.number("hostgroup_id")?),
        host,
        port: row.number("port")?,
        gtid_port: row.number("gtid_port")?,
        status: row
            .text("status")?
            .parse()
            .map_err(|unknown: UnknownStatus| fault("status", &unknown.to_string()))?,
        weight: row.number("weight")?,
        compression: row.flag("compression")?,
        max_connections: row.number("max_connections")?,
        max_replication_lag: row.number("max_replication_lag")?,
        use_ssl: row.flag("use_ssl")?,
        max_latency_ms: row.number("max_latency_ms")?,
        comment: row.text("comment")?,
    })
}
