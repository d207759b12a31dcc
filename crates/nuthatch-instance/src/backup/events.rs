//! The events of a server that is to follow a source: they run there, and what they write comes here by replication.

use nuthatch_server::Kind;

use crate::ask::{PATIENTLY, Session, quoted};
use crate::error::InstanceError;
use crate::life::check::{Series, series};

/// An event, and whose rights it has, as they stand in a statement.
pub(crate) struct Event {
    name: String,
    definer: String,
}

/// Those of a server that run.
pub(crate) async fn enabled(session: &mut Session) -> Result<Vec<Event>, InstanceError> {
    const ENABLED: &str =
        "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER FROM information_schema.EVENTS WHERE STATUS = 'ENABLED'";
    let enabled = session.ask(ENABLED, PATIENTLY).await?;
    let event = |[schema, name, definer]: [String; 3]| {
        let (user, host) = definer.rsplit_once('@').unwrap_or((&definer, "%"));
        Event {
            name: format!("{}.{}", quoted(&schema), quoted(&name)),
            definer: format!("{}@{}", quoted(user), quoted(host)),
        }
    };
    Ok(enabled.texts().map(event).collect())
}

/// None of them runs any more until somebody enables it, as events are that arrive by replication. Nothing of it is in the binlog.
pub(crate) async fn disable(
    session: &mut Session,
    kind: Kind,
    events: &[Event],
) -> Result<(), InstanceError> {
    let word = word(kind, session.version());
    alter(session, events, word).await
}

/// They run again.
pub(crate) async fn enable(session: &mut Session, events: &[Event]) -> Result<(), InstanceError> {
    alter(session, events, "ENABLE").await
}

async fn alter(session: &mut Session, events: &[Event], to: &str) -> Result<(), InstanceError> {
    if events.is_empty() {
        return Ok(());
    }
    session.ask("SET SESSION sql_log_bin = 0", PATIENTLY).await?;
    // Past this fence of MySQL's nobody alters an event; the other one, read_only, stays meanwhile.
    let is_fenced = session.in_force("super_read_only").await.is_some_and(|value| value == "1");
    if is_fenced {
        session.ask("SET GLOBAL super_read_only = OFF", PATIENTLY).await?;
    }
    let mut altered = Ok(());
    for Event { name, definer } in events {
        // Without a definer, it would be whose this session is.
        let sql = format!("ALTER DEFINER = {definer} EVENT {name} {to}");
        altered = altered.and(session.ask(&sql, PATIENTLY).await.map(drop));
    }
    if is_fenced {
        session.ask("SET GLOBAL super_read_only = ON", PATIENTLY).await?;
    }
    altered
}

/// MySQL has given it another name.
fn word(kind: Kind, version: &str) -> &'static str {
    if kind == Kind::MySql && series(version) >= Some(Series(8, 2)) {
        "DISABLE ON REPLICA"
    } else {
        "DISABLE ON SLAVE"
    }
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
