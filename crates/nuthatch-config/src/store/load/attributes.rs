//! `mysql_hostgroup_attributes` into [`HostgroupAttributes`].

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::{Map, Value};

use super::rows::{read_rows, table};
use super::{StoreError, Warnings};
use crate::{
    attributes::{HostgroupAttributes, MultiplexDelays, OwnWarming},
    follow::Follow,
    server::HostgroupId,
    store::row::{ColumnFault, RowReader, fault},
    tls::SslVerify,
};

/// The key for [`HostgroupAttributes::lag_when_null_s`], and its largest value, as that of the variable.
const LAG_WHEN_NULL: &str = "monitor_slave_lag_when_null";
const LAG_WHEN_NULL_S_MAX: u64 = 604_800;

/// The key for [`HostgroupAttributes::growth_interval_ms`], and its largest value, as that of the variable.
const GROWTH_INTERVAL: &str = "connection_growth_interval_ms";
const GROWTH_INTERVAL_MS_MAX: u64 = 60_000;

/// The key for [`HostgroupAttributes::follow`].
const FOLLOW: &str = "query_cache_follow";

pub(super) fn read(
    connection: &Connection,
    warnings: &mut Warnings,
) -> Result<BTreeMap<HostgroupId, HostgroupAttributes>, StoreError> {
    let table = table("mysql_hostgroup_attributes");
    let rows = read_rows(connection, table, "hostgroup_id", name, row_of, warnings)?;
    let of_hostgroup =
        |(hostgroup, columns, settings): (HostgroupId, HostgroupAttributes, Map<String, Value>)| {
            let mut warn = |what: String| {
                warnings.push(format!(
                    "attributes of hostgroup {hostgroup}: column \"hostgroup_settings\": {what}"
                ));
            };
            (hostgroup, attributes(columns, &settings, &mut warn))
        };
    Ok(rows.into_iter().map(of_hostgroup).collect())
}

fn name(row: &RowReader<'_>) -> String {
    format!("attributes of hostgroup {}", row.text("hostgroup_id").unwrap_or_default())
}

fn row_of(
    row: &RowReader<'_>,
) -> Result<(HostgroupId, HostgroupAttributes, Map<String, Value>), ColumnFault> {
    let columns = HostgroupAttributes {
        free_connections_pct: Some(row.number::<u32>("free_connections_pct")?.into()),
        connection_warming: Some(row.flag("connection_warming")?),
        throttle_connections_per_sec: Some(row.number::<u32>("throttle_connections_per_sec")?.into()),
        is_not_multiplexed: !row.flag("multiplex")?,
        init_connect: Some(row.text("init_connect")?).filter(|statements| !statements.is_empty()),
        ..HostgroupAttributes::default()
    };
    let text = row.text("hostgroup_settings")?;
    let settings = match text.is_empty() {
        true => Map::new(),
        false => serde_json::from_str(&text)
            .map_err(|_not_json| fault("hostgroup_settings", "is no JSON object"))?,
    };
    Ok((HostgroupId(row.number("hostgroup_id")?), columns, settings))
}

fn attributes(
    mut attributes: HostgroupAttributes,
    settings: &Map<String, Value>,
    warn: &mut impl FnMut(String),
) -> HostgroupAttributes {
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
            FOLLOW => {
                let follow = value.as_str().and_then(Follow::of_word);
                if follow.is_none() {
                    warn(format!("\"{FOLLOW}\" takes one of: off, bounded, exact; it does not count"));
                }
                attributes.follow = follow.or(attributes.follow);
            }
            GROWTH_INTERVAL => {
                let interval_ms = take_number(key, value, GROWTH_INTERVAL_MS_MAX, warn);
                attributes.growth_interval_ms = interval_ms.or(attributes.growth_interval_ms);
            }
            LAG_WHEN_NULL => {
                let lag_s = take_number(key, value, LAG_WHEN_NULL_S_MAX, warn);
                attributes.lag_when_null_s = lag_s.or(attributes.lag_when_null_s);
            }
            key => match OwnWarming::KEYS.iter().find(|(known, _)| *known == key) {
                Some((_, max)) => {
                    if let Some(number) = take_number(key, value, *max, warn) {
                        attributes.warming.take(key, number);
                    }
                }
                None => take_delay(&mut attributes.delays, key, value, warn),
            },
        }
    }
    attributes
}

/// Takes a key of [`MultiplexDelays`]; others do not act.
pub(super) fn take_delay(
    delays: &mut MultiplexDelays,
    key: &str,
    value: &Value,
    warn: &mut impl FnMut(String),
) {
    let Some((_, max)) = MultiplexDelays::KEYS.iter().find(|(known, _)| *known == key) else {
        return warn(format!("\"{key}\" is stored but does not act yet"));
    };
    if let Some(number) = take_number(key, value, *max, warn) {
        let is_known = delays.take(key, number);
        debug_assert!(is_known, "{key} is one of the keys");
    }
}

fn take_number(key: &str, value: &Value, max: u64, warn: &mut impl FnMut(String)) -> Option<u64> {
    let number = value.as_u64().filter(|number| *number <= max);
    if number.is_none() {
        warn(format!("\"{key}\" takes a number from 0 to {max}; it does not count"));
    }
    number
}
