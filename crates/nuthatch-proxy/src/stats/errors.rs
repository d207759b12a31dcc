//! Errors of servers, by where and whose they were, of statements and of connects: `stats_mysql_errors`.
//!
//! Errors of connects have no client: connections are shared. A library's number (2003, 2013, 2026, …) stands where the server has said
//! none. Bounded; past the bound new kinds are not kept, and known ones still counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use parking_lot::Mutex;

/// Kinds that are kept.
const KINDS_MAX: usize = 1000;

/// Bytes of a message that are kept.
const MESSAGE_BYTES_MAX: usize = 512;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Errors(Mutex<HashMap<Kind, Seen>>);

/// One error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence<'a> {
    pub(crate) hostgroup: u32,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) user: &'a str,
    /// Empty for none.
    pub(crate) client: &'a str,
    pub(crate) schema: &'a [u8],
    pub(crate) number: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    hostgroup: u32,
    host: String,
    port: u16,
    user: String,
    client: String,
    schema: Vec<u8>,
    number: u16,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    count: u64,
    first_ms: u64,
    last_ms: u64,
    message: Vec<u8>,
}

/// A row of `stats_mysql_errors`; times in milliseconds of the proxy's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of ProxySQL's table under their names")]
pub struct ErrorRow {
    pub hostgroup: u32,
    pub hostname: String,
    pub port: u16,
    pub username: String,
    pub client_address: String,
    pub schemaname: Vec<u8>,
    pub errno: u16,
    pub count_star: u64,
    pub first_seen_ms: u64,
    pub last_seen_ms: u64,
    pub last_error: Vec<u8>,
}

impl Kind {
    fn of(error: &Occurrence<'_>) -> Self {
        Self {
            hostgroup: error.hostgroup,
            host: error.host.to_owned(),
            port: error.port,
            user: error.user.to_owned(),
            client: error.client.to_owned(),
            schema: error.schema.to_vec(),
            number: error.number,
        }
    }
}

impl Errors {
    /// Counts an error.
    pub(crate) fn note(&self, error: &Occurrence<'_>, message: &[u8], now_ms: u64) {
        let mut kinds = self.0.lock();
        let is_full = kinds.len() >= KINDS_MAX;
        let seen = match kinds.entry(Kind::of(error)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if is_full => return,
            Entry::Vacant(new) => new.insert(Seen { first_ms: now_ms, ..Seen::default() }),
        };
        seen.count += 1;
        seen.last_ms = now_ms;
        seen.message.clear();
        seen.message.extend(message.iter().take(MESSAGE_BYTES_MAX));
    }

    /// All kinds, in no order.
    pub(crate) fn rows(&self) -> Vec<ErrorRow> {
        self.0.lock().iter().map(|(kind, seen)| row(kind.clone(), seen.clone())).collect()
    }

    /// The same; they are forgotten.
    pub(crate) fn take_rows(&self) -> Vec<ErrorRow> {
        std::mem::take(&mut *self.0.lock()).into_iter().map(|(kind, seen)| row(kind, seen)).collect()
    }
}

fn row(kind: Kind, seen: Seen) -> ErrorRow {
    ErrorRow {
        hostgroup: kind.hostgroup,
        hostname: kind.host,
        port: kind.port,
        username: kind.user,
        client_address: kind.client,
        schemaname: kind.schema,
        errno: kind.number,
        count_star: seen.count,
        first_seen_ms: seen.first_ms,
        last_seen_ms: seen.last_ms,
        last_error: seen.message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: Occurrence<'_> = Occurrence {
        hostgroup: 1,
        host: "db",
        port: 3306,
        user: "app",
        client: "",
        schema: b"shop",
        number: 1040,
    };

    #[test]
    fn errors_of_one_kind_are_one_row_until_it_is_taken() {
        let errors = Errors::default();
        errors.note(&ERROR, b"first", 5);
        errors.note(&ERROR, b"second", 9);
        errors.note(&Occurrence { number: 2003, ..ERROR }, b"refused", 9);
        let mut rows = errors.rows();
        rows.sort_by_key(|row| row.errno);
        assert_eq!(
            (rows.len(), rows[0].count_star, rows[0].first_seen_ms, rows[0].last_seen_ms),
            (2, 2, 5, 9)
        );
        assert_eq!(rows[0].last_error, b"second");
        assert_eq!(errors.take_rows().len(), 2);
        assert!(errors.rows().is_empty());
    }

    #[test]
    fn kinds_past_the_bound_are_not_kept() {
        let errors = Errors::default();
        let of = |port| Occurrence { port, ..ERROR };
        (0..2000).for_each(|port| errors.note(&of(port), b"", 1));
        errors.note(&of(5), b"", 2);
        let rows = errors.rows();
        assert_eq!(rows.len(), KINDS_MAX);
        assert!(rows.iter().any(|row| row.port == 5 && row.count_star == 2));
    }
}
