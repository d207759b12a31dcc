//! `mysql_query_rules` into [`Rules`].

use rusqlite::Connection;

use super::{StoreError, Warnings, read_rows, table};
use crate::{
    rules::{Rule, RuleModifiers, Rules},
    server::HostgroupId,
    store::row::{ColumnFault, RowReader},
};

pub(super) fn read(
    connection: &Connection,
    restarts_max: u64,
    warnings: &mut Warnings,
) -> Result<Rules, StoreError> {
    let rows = read_rows(connection, table("mysql_query_rules"), "rule_id", name, rule, warnings)?;
    for (rule, unknown) in &rows {
        for word in unknown {
            warnings.push(format!(
                "rule {}: column \"re_modifiers\": \"{word}\" is unknown and ignored",
                rule.rule_id
            ));
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

/// The rule, and words of `re_modifiers` that mean nothing.
fn rule(row: &RowReader<'_>) -> Result<(Rule, Vec<String>), ColumnFault> {
    let modifiers = row.text_or_null("re_modifiers")?.unwrap_or_default();
    let (re_modifiers, unknown) = RuleModifiers::parse(&modifiers);
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
        destination_hostgroup: destination_hostgroup(row)?,
        cache_ttl_ms: row.number_or_null("cache_ttl")?,
        cache_empty_result: row.number_or_null("cache_empty_result")?.map(|number: i64| number != 0),
        error_msg: row.text_or_null("error_msg")?,
        ok_msg: row.text_or_null("OK_msg")?,
        multiplex: row.number_or_null("multiplex")?,
        next_query_flag_in: row.number_or_null("next_query_flagIN")?,
        apply: row.flag("apply")?,
    };
    Ok((rule, unknown.into_iter().map(str::to_owned).collect()))
}

/// A negative number says as little as NULL, as in ProxySQL.
fn destination_hostgroup(row: &RowReader<'_>) -> Result<Option<HostgroupId>, ColumnFault> {
    match row.number_or_null::<i64>("destination_hostgroup")? {
        Some(number) if number >= 0 => Ok(Some(HostgroupId(row.number("destination_hostgroup")?))),
        _ => Ok(None),
    }
}
