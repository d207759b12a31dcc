//! How instances are shown: tables for people, JSON for scripts.

use std::path::Path;

use nuthatch_instance::{
    Backup, Changed, Finding, Host, InstanceName, Place, Replica, Settings, Summary, Template, When, line_of,
};
use serde_json::{Value, json};

use crate::log::print_line;

/// All instances.
pub(super) fn list(all: &[Summary], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return print_json(&serde_json::to_value(all)?);
    }
    if all.is_empty() {
        return print_line("no instances yet: nuthatch instance add NAME");
    }
    let head = ["NAME", "ADDRESS", "STATE", "SERVER", "TEMPLATE", "POOL", "PID", "PENDING"].map(String::from);
    let row = |one: &Summary| {
        [
            one.name.to_string(),
            format!("{}:{}", one.host, one.port),
            format!("{}{}", one.state, if one.enabled { "" } else { " (disabled)" }),
            if one.version.is_empty() { json_word(&one.server) } else { one.version.clone() },
            one.template.clone(),
            format!("{} MiB", one.buffer_pool_mib),
            one.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            if one.pending.is_empty() { "-".to_owned() } else { one.pending.join(",") },
        ]
    };
    table([head].into_iter().chain(all.iter().map(row)))
}

/// Backups, the oldest first.
pub(super) fn backups(all: &[Backup], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let values: Result<Vec<Value>, _> = all.iter().map(backup_value).collect();
        return print_json(&Value::Array(values?));
    }
    if all.is_empty() {
        return print_line("no backups yet: nuthatch instance backup NAME --to DIR");
    }
    let head = ["INSTANCE", "BACKUP", "SIZE", "SERVER", "GTID", "ENCRYPTED", "VERIFIED"].map(String::from);
    let row = |one: &Backup| {
        let manifest = &one.manifest;
        let stored = manifest.stored.as_ref();
        let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        [
            manifest.instance.to_string(),
            manifest.id.clone(),
            format!("{} MiB", stored.map_or(0, |stored| stored.bytes).div_ceil(1 << 20)),
            manifest.server_version.clone(),
            if manifest.gtid.is_empty() { "-".to_owned() } else { manifest.gtid.clone() },
            yes_no(stored.is_some_and(|stored| stored.encrypted)),
            yes_no(one.verified_s.is_some()),
        ]
    };
    table([head].into_iter().chain(all.iter().map(row)))
}

fn backup_value(backup: &Backup) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(&backup.manifest)?;
    if let Value::Object(fields) = &mut value {
        fields.insert("directory".into(), backup.dir.display().to_string().into());
        fields.insert("verified_s".into(), backup.verified_s.into());
        fields.insert("form".into(), backup.manifest.form().into());
    }
    Ok(value)
}

/// One backup that was just taken.
pub(super) fn backup_in_words(backup: &Backup) -> String {
    let manifest = &backup.manifest;
    let stored = manifest.stored.as_ref().map_or(0, |stored| stored.bytes);
    format!(
        "{} backup {} is whole: {} MiB, {} on the disk, {} s{}",
        manifest.form(),
        manifest.id,
        manifest.stream_bytes.div_ceil(1 << 20),
        stored.div_ceil(1 << 20),
        manifest.ended_s.saturating_sub(manifest.began_s),
        if manifest.gtid.is_empty() { String::new() } else { format!(", GTID position {}", manifest.gtid) },
    )
}

/// One instance.
pub(super) fn one(summary: &Summary, place: &Place, as_json: bool) -> anyhow::Result<()> {
    let mut value = serde_json::to_value(summary)?;
    let paths = [
        ("directory", place.dir().to_owned()),
        ("data", place.data()),
        ("option_file", place.option_file()),
        ("error_log", place.error_log()),
        ("password_file", place.password_file()),
    ];
    if let Value::Object(fields) = &mut value {
        fields.extend(paths.map(|(name, path)| (name.to_owned(), path.display().to_string().into())));
    }
    if as_json {
        return print_json(&value);
    }
    let Value::Object(fields) = &value else { return Ok(()) };
    let order = [
        "name",
        "state",
        "why",
        "since_s",
        "host",
        "port",
        "socket",
        "server",
        "version",
        "template",
        "buffer_pool_mib",
        "server_id",
        "enabled",
        "pid",
        "crashes",
        "last_backup_s",
        "pending",
        "directory",
        "data",
        "option_file",
        "error_log",
        "password_file",
    ];
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(all) if all.is_empty() => "-".to_owned(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    table(order.iter().filter_map(|name| Some([(*name).to_owned(), text(fields.get(*name)?)])))
}

/// The options in force, and who says so.
pub(super) fn config(settings: &Settings, pending: &[String], as_json: bool) -> anyhow::Result<()> {
    let is_pending = |name: &str| pending.iter().any(|pending| pending == name);
    if as_json {
        let row = |(name, setting): (&str, &nuthatch_instance::Setting)| json!({ "name": name, "value": setting.value, "from": setting.source.to_string(), "pending": is_pending(name) });
        return print_json(&settings.iter().map(row).collect());
    }
    table(settings.iter().map(|(name, setting)| {
        let note = if is_pending(name) { ", from its next start on" } else { "" };
        [line_of(name, setting.value.as_deref()), format!("{}{note}", setting.source)]
    }))
}

/// The templates.
pub(super) fn templates(all: &[Template], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let row = |template: &Template| json!({ "name": template.name, "file": template.file, "text": template.text });
        return print_json(&all.iter().map(row).collect());
    }
    for template in all {
        let place =
            template.file.as_ref().map_or_else(|| "built in".to_owned(), |file| file.display().to_string());
        print_line(&format!("== {} ({place})\n{}", template.name, template.text.trim_end()))?;
    }
    Ok(())
}

/// What holds for the host.
pub(super) fn host(host: &Host, file: &Path, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return print_json(&serde_json::to_value(host)?);
    }
    let note = if file.exists() { "" } else { " (not there yet: these are the defaults)" };
    print_line(&format!("# {}{note}\n{}", file.display(), toml::to_string(host)?.trim_end()))
}

/// What a change has come to.
pub(super) fn changed(name: &InstanceName, all: &[Changed]) -> anyhow::Result<()> {
    if all.is_empty() {
        return print_line(&format!("{name}: nothing differs"));
    }
    all.iter().try_for_each(|one| {
        let when = match one.when {
            When::Now => "in force now",
            When::AtStart => "in force at its start",
            When::AtNextStart => {
                "in force from its next start on: the server takes it from its option file only"
            }
        };
        let what = one.after.clone().unwrap_or_else(|| format!("{} as the server has it", one.name));
        print_line(&format!("{name}: {what}: {when}"))
    })
}

/// What a change would make different.
pub(super) fn difference(name: &InstanceName, all: &[Changed]) -> anyhow::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    print_line(&format!("--- {name}, as it runs\n+++ {name}, as it would be"))?;
    for one in all {
        for (sign, line) in [("-", &one.before), ("+", &one.after)] {
            if let Some(line) = line {
                print_line(&format!("{sign}{line}"))?;
            }
        }
    }
    Ok(())
}

/// What is wrong.
pub(super) fn findings(all: &[Finding], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let row = |finding: &Finding| json!({ "name": finding.name, "what": finding.what, "mended_by_doctor": finding.is_mended_here });
        return print_json(&all.iter().map(row).collect());
    }
    all.iter().try_for_each(|finding| {
        let whose = finding.name.as_ref().map_or("the host", InstanceName::as_str);
        let how = if finding.is_mended_here { " (doctor --mend removes it)" } else { "" };
        print_line(&format!("{whose}: {}{how}", finding.what))
    })
}

/// How all replicate.
pub(super) fn replicas(all: &[Replica], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return print_json(&serde_json::to_value(all)?);
    }
    if all.is_empty() {
        return print_line("no instances yet: nuthatch instance add NAME");
    }
    let head = ["NAME", "SOURCE", "STATE", "BEHIND", "WRITABLE", "TLS", "WHY"].map(String::from);
    let dash = || "-".to_owned();
    let yes = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
    let row = |one: &Replica| {
        [
            one.name.to_string(),
            one.source.clone().unwrap_or_else(dash),
            one.state.map_or_else(dash, |state| state.to_string()),
            behind(one),
            one.writable.map_or_else(dash, yes),
            one.source.as_ref().map_or_else(dash, |_| yes(one.over_tls)),
            one.why.clone().unwrap_or_else(dash),
        ]
    };
    table([head].into_iter().chain(all.iter().map(row)))
}

/// In seconds, and in transactions where there are any.
fn behind(one: &Replica) -> String {
    let seconds = one.behind_s.map(|seconds| format!("{seconds} s"));
    let unapplied = one.unapplied.filter(|count| *count > 0).map(|count| format!("{count} transactions"));
    let all: Vec<String> = seconds.into_iter().chain(unapplied).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

/// A word of ours as JSON has it, without its quotes.
fn json_word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn print_json(value: &Value) -> anyhow::Result<()> {
    print_line(&serde_json::to_string_pretty(value)?)
}

/// Columns below each other.
fn table<const COLUMNS: usize>(rows: impl Iterator<Item = [String; COLUMNS]>) -> anyhow::Result<()> {
    let rows: Vec<[String; COLUMNS]> = rows.collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    rows.iter().try_for_each(|row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        print_line(cells.collect::<Vec<_>>().join("  ").trim_end())
    })
}
