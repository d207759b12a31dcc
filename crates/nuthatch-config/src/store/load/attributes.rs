//! `mysql_hostgroup_attributes` into [`HostgroupAttributes`]. Of its columns `hostgroup_settings` acts, by the key `ssl_verify`.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::{Map, Value};

use super::{StoreError, Warnings, read_rows, table};
use crate::{
    server::HostgroupId,
    store::row::{ColumnFault, RowReader, fault},
    tls::{HostgroupAttributes, SslVerify},
};

pub(super) fn read(
    connection: &Connection,
    warnings: &mut Warnings,
) -> Result<BTreeMap<HostgroupId, HostgroupAttributes>, StoreError> {
    let table = table("mysql_hostgroup_attributes");
    let rows = read_rows(connection, table, "hostgroup_id", name, settings, warnings)?;
    let of_hostgroup = |(hostgroup, settings): (HostgroupId, Map<String, Value>)| {
        let mut warn = |what: String| {
            warnings
                .push(format!("attributes of hostgroup {hostgroup}: column \"hostgroup_settings\": {what}"));
        };
        (hostgroup, attributes(&settings, &mut warn))
    };
    Ok(rows.into_iter().map(of_hostgroup).collect())
}

fn name(row: &RowReader<'_>) -> String {
    format!("attributes of hostgroup {}", row.text("hostgroup_id").unwrap_or_default())
}

fn settings(row: &RowReader<'_>) -> Result<(HostgroupId, Map<String, Value>), ColumnFault> {
    let text = row.text("hostgroup_settings")?;
    let settings = match text.is_empty() {
        true => Map::new(),
        false => serde_json::from_str(&text)
            .map_err(|_not_json| fault("hostgroup_settings", "is no JSON object"))?,
    };
    Ok((HostgroupId(row.number("hostgroup_id")?), settings))
}

fn attributes(settings: &Map<String, Value>, warn: &mut impl FnMut(String)) -> HostgroupAttributes {
    let mut attributes = HostgroupAttributes::default();
    for (key, value) in settings {
        match key.as_str() {
            "ssl_verify" => {
                let verify = value.as_str().and_then(SslVerify::parse);
                if verify.is_none() {
                    warn(
                        "\"ssl_verify\" takes one of: hostname, ca, off; it is taken for hostname".to_owned(),
                    );
                }
                attributes.ssl_verify = Some(verify.unwrap_or(SslVerify::Hostname));
            }
            key => warn(format!("\"{key}\" is stored but does not act yet")),
        }
    }
    attributes
}
