//! `docs/variables.md`, made from the tables.

use std::fmt::Write;

use crate::loss_max::LossMax;
use crate::query_cache::QueryCacheType;

use super::{AdminVariables, Effect, Kind, MysqlVariables, Variable};

/// The text of `docs/variables.md`: every variable with its default, what it takes, when it acts and what it does.
pub fn variables_markdown() -> String {
    let mut page = String::from(
        "# Variables\n\n\
         `SET mysql-x = …` or an `UPDATE` of `global_variables` changes memory; `LOAD MYSQL VARIABLES TO RUNTIME` and \
         `LOAD ADMIN VARIABLES TO RUNTIME` put it in force; `SAVE … TO DISK` keeps it. A value that a variable does \
         not take leaves the old one in force, with a warning.\n\n\
         *Acts*: **yes** (from the LOAD on), **start** (when the program starts), **no** (kept and shown for \
         compatibility; nothing looks at it yet), **tells** (read-only). *own*: ProxySQL has no such variable.\n\n\
         This page is made from the program's own table (`cargo run -p nuthatch-config --example variables_page`).\n",
    );
    section(&mut page, &MysqlVariables::default(), MysqlVariables::MODULE, MysqlVariables::TABLE);
    section(&mut page, &AdminVariables::default(), AdminVariables::MODULE, AdminVariables::TABLE);
    page
}

fn section<T>(page: &mut String, defaults: &T, module: &str, table: &[Variable<T>]) {
    let head = format!("\n## {module}-*\n\n| name | default | takes | acts | |\n|---|---|---|---|---|\n");
    page.push_str(&head);
    let mut rows: Vec<_> = table.iter().collect();
    rows.sort_by_key(|variable| variable.name);
    for variable in rows {
        let default = default_cell(variable, &(variable.text)(defaults));
        let own = if variable.own { " *own*" } else { "" };
        let (takes, acts) = (takes(variable.kind), acts(variable.effect));
        writeln!(
            page,
            "| {module}-{}{own} | {default} | {takes} | {acts} | {} |",
            variable.name, variable.doc
        )
        .expect("a String takes what is written");
    }
}

fn default_cell<T>(variable: &Variable<T>, default: &str) -> String {
    match (variable.effect, default) {
        (Effect::ReadOnly, _) => String::new(),
        (_, "") => "(empty)".to_owned(),
        (_, text) => format!("`{text}`"),
    }
}

fn takes(kind: Kind) -> String {
    match kind {
        Kind::Flag => "true, false".to_owned(),
        Kind::Count { min, max } => format!("{min} to {max}"),
        Kind::Text | Kind::Secret => "text".to_owned(),
        Kind::Choice(words) => words.join(", "),
        Kind::CacheType => QueryCacheType::SPELLINGS.join(", "),
        Kind::CacheSize { mib_max } => format!("0 to {mib_max}"),
        Kind::LossMax => LossMax::SPELLING.to_owned(),
    }
}

fn acts(effect: Effect) -> &'static str {
    match effect {
        Effect::Acts => "yes",
        Effect::AtStart => "start",
        Effect::Stored => "no",
        Effect::ReadOnly => "tells",
    }
}
