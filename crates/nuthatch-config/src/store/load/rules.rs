//! `mysql_query_rules` into [`Rules`].

use rusqlite::Connection;
use serde_json::{Map, Value};

use super::rows::{read_rows, table};
use super::{StoreError, Warnings};
use crate::{
    rules::{CacheMode, Rule, RuleModifiers, Rules},
    server::HostgroupId,
    store::row::{ColumnFault, RowReader},
};

pub(super) fn read(
    connection: &Connection,
    restarts_max: u64,
    warnings: &mut Warnings,
) -> Result<Rules, StoreError> {
    let rows = read_rows(connection, table("mysql_query_rules"), "rule_id", name, rule, warnings)?;
    for (rule, unsaid) in &rows {
        for what in unsaid {
            warnings.push(format!("rule {}: {what}", rule.rule_id));
        }
    }
    let (rules, faults) = Rules::compile(rows.into_iter().map(|(rule, _)| rule), restarts_max);
    for fault in faults {
        connection
            .execute("DELETE FROM main.runtime_mysql_query_rules WHERE rule_id = ?1", [fault.rule_id()])?;
        warnings.push(format!("{fault}; the rule is left out"));
    }
    Ok(rules)
}

fn name(row: &RowReader<'_>) -> String {
    format!("rule {}", row.text("rule_id").unwrap_or_default())
}

/// The rule, and what in it means nothing.
fn rule(row: &RowReader<'_>) -> Result<(Rule, Vec<String>), ColumnFault> {
    let modifiers = row.text_or_null("re_modifiers")?.unwrap_or_default();
    let (re_modifiers, unknown) = RuleModifiers::parse(&modifiers);
    let mut unsaid: Vec<_> = unknown
        .into_iter()
        .map(|word| format!("column \"re_modifiers\": \"{word}\" is unknown and ignored"))
        .collect();
    let mut attributes = Attributes::default();
    match keys(&row.text_or_null("attributes")?.unwrap_or_default()) {
        Ok(keys) => {
            for (key, value) in &keys {
                if let Err(why) = attributes.take(key, value) {
                    unsaid.push(format!("column \"attributes\": \"{key}\" {why}"));
                }
            }
        }
        Err(_not_an_object) => unsaid.push("column \"attributes\": is no JSON object".to_owned()),
    }
    let rule = Rule {
        rule_id: row.number("rule_id")?,
        active: row.flag("active")?,
        username: row.text_or_null("username")?,
        schemaname: row.text_or_null("schemaname")?,
        flag_in: row.number("flagIN")?,
        client_addr: row.text_or_null("client_addr")?,
        proxy_addr: row.text_or_null("proxy_addr")?,
        proxy_port: row.number_or_null("proxy_port")?,
        digest: row.text_or_null("digest")?,
        match_digest: row.text_or_null("match_digest")?,
        match_pattern: row.text_or_null("match_pattern")?,
        negate_match_pattern: row.flag("negate_match_pattern")?,
        re_modifiers,
        flag_out: row.number_or_null("flagOUT")?,
        destination_hostgroup: hostgroup(row, "destination_hostgroup")?,
        gtid_from_hostgroup: hostgroup(row, "gtid_from_hostgroup")?,
        cache_ttl_ms: row.number_or_null("cache_ttl")?,
        cache_empty_result: row.number_or_null("cache_empty_result")?.map(|number: i64| number != 0),
        cache_mode: attributes.cache_mode,
        cache_timeout_ms: row.number_or_null("cache_timeout")?,
        cache_stale_if_error_ms: attributes.cache_stale_if_error_ms,
        timeout_ms: row.number_or_null("timeout")?,
        retries: row.number_or_null("retries")?,
        delay_ms: row.number_or_null("delay")?,
        error_msg: row.text_or_null("error_msg")?,
        ok_msg: row.text_or_null("OK_msg")?,
        multiplex: row.number_or_null("multiplex")?,
        next_query_flag_in: row.number_or_null("next_query_flagIN")?,
        apply: row.flag("apply")?,
    };
    if rule.cache_stale_if_error_ms.is_some() && rule.cache_mode.is_some_and(CacheMode::is_exact) {
        unsaid.push(
            "column \"attributes\": \"cache_stale_if_error_ms\" does not act beside \"cache\" = \"exact\" or \"both\""
                .to_owned(),
        );
    }
    if matches!(rule.cache_mode, Some(CacheMode::Ttl | CacheMode::Both))
        && rule.cache_ttl_ms.is_none_or(|ttl_ms| ttl_ms == 0)
    {
        unsaid.push(
            "column \"attributes\": \"cache\" speaks of a time, and this rule's column \"cache_ttl\" gives none"
                .to_owned(),
        );
    }
    Ok((rule, unsaid))
}

fn keys(attributes: &str) -> serde_json::Result<Map<String, Value>> {
    if attributes.is_empty() { Ok(Map::new()) } else { serde_json::from_str(attributes) }
}

/// What a rule's attributes say of the cache.
#[derive(Default)]
struct Attributes {
    cache_mode: Option<CacheMode>,
    cache_stale_if_error_ms: Option<u32>,
}

impl Attributes {
    /// Takes what that key says, or tells why it says nothing.
    fn take(&mut self, key: &str, value: &Value) -> Result<(), &'static str> {
        match key {
            "cache" => {
                let mode = value.as_str().and_then(CacheMode::parse);
                self.cache_mode =
                    Some(mode.ok_or("takes \"exact\", \"ttl\", \"both\" or \"off\"; it is ignored")?);
            }
            "cache_stale_if_error_ms" => {
                let milliseconds = value.as_u64().and_then(|number| u32::try_from(number).ok());
                self.cache_stale_if_error_ms =
                    Some(milliseconds.ok_or("takes milliseconds, 0 to 4294967295; it is ignored")?);
            }
            _ => return Err("is stored and does not act"),
        }
        Ok(())
    }
}

/// A negative number says as little as NULL, as in ProxySQL.
fn hostgroup(row: &RowReader<'_>, column: &'static str) -> Result<Option<HostgroupId>, ColumnFault> {
    match row.number_or_null::<i64>(column)? {
        Some(number) if number >= 0 => Ok(Some(HostgroupId(row.number(column)?))),
        _ => Ok(None),
    }
}
