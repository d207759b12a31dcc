//! `SHOW …` and `DESCRIBE …`: what is asked for, and the SELECT that answers it.

mod select;

use super::Command;
use super::shown::{Filter, InfoLength, Show, VariableScope, WithType};
use super::words::Words;

pub(crate) use select::Select;

/// Parses what follows the word SHOW.
pub(super) fn parse(mut words: Words<'_>) -> Command {
    if words.take_all("WARNINGS") || words.take("WARNINGS LIMIT") || words.take_all("ERRORS") {
        return Command::Warnings;
    }
    if words.take_all("COUNT ( * ) WARNINGS") {
        return Command::WarningCount;
    }
    if words.take_all("PROMETHEUS METRICS") {
        return Command::PrometheusMetrics;
    }
    let shown = words.rest().to_owned();
    match show(&mut words) {
        Some(show) if words.is_end() => Command::Show(show),
        _ => Command::Malformed(format!("SHOW does not know {shown}")),
    }
}

/// Parses what follows DESC or DESCRIBE.
pub(super) fn parse_describe(mut words: Words<'_>) -> Command {
    match words.take_qualified() {
        Some((schema, table)) if words.is_end() => {
            Command::Show(Show::Columns { schema, table, filter: Filter::None })
        }
        _ => Command::Malformed("DESCRIBE takes the name of one table".to_owned()),
    }
}

fn show(words: &mut Words<'_>) -> Option<Show> {
    if words.take("DATABASES") || words.take("SCHEMAS") {
        return Some(Show::Databases(filter(words)?));
    }
    if words.take("CREATE TABLE") {
        let (schema, table) = words.take_qualified()?;
        return Some(Show::CreateTable { schema, table });
    }
    if words.take("TABLE STATUS") {
        return Some(Show::TableStatus { schema: schema(words)?, filter: filter(words)? });
    }
    if words.take("MYSQL SERVERS") {
        return Some(Show::Servers);
    }
    if words.take("MYSQL USERS") {
        return Some(Show::Users);
    }
    if words.take("CHARSET") || words.take("CHARACTER SET") {
        return Some(Show::Charsets(filter(words)?));
    }
    if words.take("COLLATION") {
        return Some(Show::Collations(filter(words)?));
    }
    if words.take("ENGINES") || words.take("STORAGE ENGINES") {
        return Some(Show::Engines);
    }
    if words.take("INDEX") || words.take("INDEXES") || words.take("KEYS") {
        in_table(words)?;
        return Some(Show::Indexes);
    }
    scoped(words)
}

/// The forms that may have a word such as FULL or GLOBAL in front.
fn scoped(words: &mut Words<'_>) -> Option<Show> {
    if words.take("MYSQL VARIABLES") {
        return Some(Show::Variables { scope: VariableScope::Mysql, filter: filter(words)? });
    }
    if words.take("ADMIN VARIABLES") {
        return Some(Show::Variables { scope: VariableScope::Admin, filter: filter(words)? });
    }
    let is_full = words.take("FULL");
    for scope in ["GLOBAL", "SESSION", "LOCAL", "ALL", "MYSQL"] {
        if words.take(scope) {
            break;
        }
    }
    if words.take("VARIABLES") {
        return Some(Show::Variables { scope: VariableScope::All, filter: filter(words)? });
    }
    if words.take("STATUS") {
        return Some(Show::Status(filter(words)?));
    }
    if words.take("PROCESSLIST") {
        return Some(Show::Processlist(if is_full { InfoLength::Full } else { InfoLength::First100 }));
    }
    if words.take("TABLES") {
        let with_type = if is_full { WithType::Yes } else { WithType::No };
        return Some(Show::Tables { schema: schema(words)?, with_type, filter: filter(words)? });
    }
    if words.take("COLUMNS") || words.take("FIELDS") {
        let (schema, table) = in_table(words)?;
        return Some(Show::Columns { schema, table, filter: filter(words)? });
    }
    None
}

/// `FROM table [FROM schema]`.
fn in_table(words: &mut Words<'_>) -> Option<(Option<String>, String)> {
    if !words.take("FROM") && !words.take("IN") {
        return None;
    }
    let (inner, table) = words.take_qualified()?;
    let outer = schema(words)?;
    Some((outer.or(inner), table))
}

/// `[FROM schema]`; `None` where FROM has no name behind it.
fn schema(words: &mut Words<'_>) -> Option<Option<String>> {
    if words.take("FROM") || words.take("IN") {
        return words.take_name().map(Some);
    }
    Some(None)
}

/// `[LIKE 'pattern' | WHERE expression]`; `None` where LIKE has no pattern behind it.
fn filter(words: &mut Words<'_>) -> Option<Filter> {
    if words.take("LIKE") {
        return words.take_literal().map(Filter::Like);
    }
    if words.take("WHERE") {
        let expression = words.rest().to_owned();
        while words.take_any().is_some() {}
        return (!expression.is_empty()).then_some(Filter::Where(expression));
    }
    Some(Filter::None)
}
