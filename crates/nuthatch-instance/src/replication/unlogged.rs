//! Which tables of an instance are not made by what its binlogs hold: a replica that begins with nothing would never have them.
//!
//! So are those that are older than the binlogs (RESET MASTER; `log_bin` was off), and those that somebody made past them (`sql_log_bin`). Rows
//! that were written past the binlogs into a table that is in them are not found: nobody but a comparison of all rows would. What cannot be
//! read (encrypted, compressed) proves nothing. Cost: the binlogs are read from header to header.

mod made;
mod statements;

use std::collections::BTreeMap;

use crate::ask::{PATIENTLY, SOON, Session, wait_for};
use crate::backup::archive::binlog_dir;
use crate::error::InstanceError;
use crate::replication::unlogged::made::made;
use crate::replication::unlogged::statements::statements;
use crate::root::Place;

/// Seconds by which a table may seem older than the statement that has made it.
const SLACK_S: u64 = 1;

/// All tables but the server's own, and when each was made, in seconds since 1970; 0 where that is not told.
const TABLES: &str = "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), COALESCE(UNIX_TIMESTAMP(CREATE_TIME), 0) FROM information_schema.TABLES \
     WHERE TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW', 'TEMPORARY', 'LOCAL TEMPORARY') \
     AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')";

/// The instance's tables, `schema.table` each.
pub(crate) fn tables(place: &Place) -> Result<Vec<String>, InstanceError> {
    wait_for(async { Ok(made_when(&mut Session::open(place).await?).await?.into_keys().collect()) })
}

/// Those of them that its binlogs do not make.
pub(crate) fn unlogged(place: &Place) -> Result<Vec<String>, InstanceError> {
    wait_for(async {
        let mut session = Session::open(place).await?;
        let missing = look(&mut session, place).await?;
        if missing.is_empty() {
            return Ok(missing);
        }
        // One that was just being made is not seen twice.
        let again = look(&mut session, place).await?;
        Ok(again.into_iter().filter(|table| missing.contains(table)).collect())
    })
}

async fn made_when(session: &mut Session) -> Result<BTreeMap<String, u64>, InstanceError> {
    session.ask("SET SESSION time_zone = '+00:00'", SOON).await?;
    let tables = session.ask(TABLES, PATIENTLY).await?;
    let second = |text: &str| text.split('.').next().and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(tables.texts().map(|[name, made]: [String; 2]| (name, second(&made))).collect())
}

async fn look(session: &mut Session, place: &Place) -> Result<Vec<String>, InstanceError> {
    let mut missing = made_when(session).await?;
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let folded: BTreeMap<String, String> =
        missing.keys().map(|table| (table.to_lowercase(), table.clone())).collect();
    let (dir, logs) = (binlog_dir(session, place).await?, session.ask("SHOW BINARY LOGS", PATIENTLY).await?);
    for [log] in logs.texts() {
        statements(&dir.join(log), |when_s, schema, text| {
            for one in made(text, schema) {
                let Some(table) = folded.get(&one.table) else { continue };
                // Where it was there before, this has made nothing.
                let was_there = missing
                    .get(table)
                    .is_some_and(|made| *made != 0 && made.saturating_add(SLACK_S) < u64::from(when_s));
                if !(one.only_if_missing && was_there) {
                    missing.remove(table);
                }
            }
        })?;
    }
    Ok(missing.into_keys().collect())
}
