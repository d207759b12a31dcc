//! The events of a copy that is to follow a source: they run there, and what they write comes here by replication.

use nuthatch_server::Kind;

use crate::error::InstanceError;
use crate::scratch::Scratch;

/// No event of the data runs any more until somebody enables it, as events are that arrive by replication. Nothing of it is in the binlog.
pub(crate) fn disable(scratch: &Scratch, kind: Kind) -> Result<(), InstanceError> {
    let enabled = scratch.ask(
        "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER FROM information_schema.EVENTS WHERE STATUS = 'ENABLED'",
    )?;
    let statements = enabled.texts().map(|[schema, event, definer]| {
        let (user, host) = definer.rsplit_once('@').unwrap_or((&definer, "%"));
        // Without a definer, it would be whose this session is.
        format!(
            "ALTER DEFINER = {}@{} EVENT {}.{} {}",
            quoted(user),
            quoted(host),
            quoted(&schema),
            quoted(&event),
            word(kind, scratch.version())
        )
    });
    let statements: Vec<String> =
        std::iter::once("SET SESSION sql_log_bin = 0".to_owned()).chain(statements).collect();
    scratch.ask_all(&statements)
}

/// MySQL has given it another name.
fn word(kind: Kind, version: &str) -> &'static str {
    let mut numbers = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0_u32));
    let series = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if kind == Kind::MySql && series >= (8, 2) { "DISABLE ON REPLICA" } else { "DISABLE ON SLAVE" }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_told_in_its_words() {
        for (kind, version, wanted) in [
            (Kind::MariaDb, "10.11.14-MariaDB", "DISABLE ON SLAVE"),
            (Kind::MySql, "8.0.36", "DISABLE ON SLAVE"),
            (Kind::MySql, "9.7.4", "DISABLE ON REPLICA"),
        ] {
            assert_eq!(word(kind, version), wanted, "{version}");
        }
    }
}
