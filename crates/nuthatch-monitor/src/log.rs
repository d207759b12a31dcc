//! What checks came to: ProxySQL's tables of the `monitor` schema.

use std::collections::VecDeque;
use std::time::Duration;

use nuthatch_config::ServerName;
use parking_lot::Mutex;

use crate::check::Outcome;

/// More results of one kind are not kept, however long the history is to be.
const RECORDS_MAX: usize = 100_000;

/// Which table a result is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckKind {
    /// `mysql_server_connect_log`.
    Connect,
    /// `mysql_server_ping_log`.
    Ping,
    /// `mysql_server_replication_lag_log`.
    Lag,
    /// `mysql_server_read_only_log`.
    Access,
    /// `mysql_server_group_replication_log`.
    GroupReplication,
    /// `mysql_server_galera_log`.
    Galera,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Of whom.
    pub server: ServerName,
    /// When it began, in microseconds since 1970.
    pub began_us: u64,
    /// Microseconds that it took; none where it failed.
    pub took_us: Option<u64>,
    /// Why it failed.
    pub error: Option<String>,
    /// What it found, in the order of the table's own columns.
    pub found: Vec<Option<String>>,
}

/// See the module's doc.
#[derive(Debug, Default)]
pub struct Log([Mutex<VecDeque<Record>>; CheckKind::Galera as usize + 1]);

impl Record {
    pub(crate) fn of(server: &ServerName, began_us: u64, outcome: &Outcome) -> Self {
        let (took_us, error) = match outcome {
            Outcome::Done { took } => (u64::try_from(took.as_micros()).ok(), None),
            Outcome::NotLetIn { why, .. }
            | Outcome::Refused { why }
            | Outcome::Failed { why, .. }
            | Outcome::NotAsked { why } => (None, Some(why.clone())),
        };
        Self { server: server.clone(), began_us, took_us, error, found: Vec::new() }
    }
}

impl Log {
    /// The results that are kept, the oldest first.
    #[must_use]
    pub fn records(&self, kind: CheckKind) -> Vec<Record> {
        self.of(kind).lock().iter().cloned().collect()
    }

    /// Keeps one more, and none that began longer ago than `history` before it.
    pub(crate) fn add(&self, kind: CheckKind, record: Record, history: Duration) {
        let history_us = u64::try_from(history.as_micros()).unwrap_or(u64::MAX);
        let oldest_us = record.began_us.saturating_sub(history_us);
        let mut records = self.of(kind).lock();
        records.push_back(record);
        while records.front().is_some_and(|first| first.began_us < oldest_us) || records.len() > RECORDS_MAX {
            records.pop_front();
        }
    }

    const fn of(&self, kind: CheckKind) -> &Mutex<VecDeque<Record>> {
        &self.0[kind as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(began_us: u64) -> Record {
        let server = ServerName { host: "a".to_owned(), port: 1 };
        Record::of(&server, began_us, &Outcome::Done { took: Duration::from_micros(7) })
    }

    #[test]
    fn log_keeps_what_is_young_enough_of_its_kind() {
        let log = Log::default();
        for began_us in [1_000_000, 2_000_000, 3_000_001] {
            log.add(CheckKind::Ping, record(began_us), Duration::from_secs(1));
        }
        let began: Vec<_> = log.records(CheckKind::Ping).iter().map(|record| record.began_us).collect();
        assert_eq!(began, [3_000_001], "one that began more than a second before is gone");
        assert!(log.records(CheckKind::Connect).is_empty());
        log.add(CheckKind::Ping, record(4_000_001), Duration::from_secs(1));
        assert_eq!(log.records(CheckKind::Ping).len(), 2);
    }

    #[test]
    fn log_keeps_no_more_than_its_limit() {
        let log = Log::default();
        for began_us in 0..RECORDS_MAX as u64 + 5 {
            log.add(CheckKind::Connect, record(began_us), Duration::from_hours(1));
        }
        let records = log.records(CheckKind::Connect);
        assert_eq!((records.len(), records[0].began_us), (RECORDS_MAX, 5));
    }

    #[test]
    fn record_tells_how_long_it_took_or_why_it_failed() {
        let server = ServerName { host: "a".to_owned(), port: 1 };
        for (outcome, took_us, error) in [
            (Outcome::Done { took: Duration::from_millis(3) }, Some(3_000), None),
            (Outcome::Refused { why: "no".to_owned() }, None, Some("no".to_owned())),
            (
                Outcome::Failed { why: "gone".to_owned(), how: crate::check::Absence::Gone },
                None,
                Some("gone".to_owned()),
            ),
        ] {
            let record = Record::of(&server, 5, &outcome);
            assert_eq!((record.began_us, record.took_us, record.error), (5, took_us, error));
        }
    }
}
