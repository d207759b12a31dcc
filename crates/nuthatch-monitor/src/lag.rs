//! How far a replica is behind its source: the question, in each server's words, and what its answer means.

use nuthatch_net::AnswerTable;
use nuthatch_sql::ServerFlavor;

/// How far a server is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    /// So many seconds: of several sources the farthest.
    Behind(u64),
    /// It replicates from one at least of which it does not know: a thread has stopped.
    Unknown,
    /// It replicates from nobody.
    NoReplica,
    /// Nobody looks any more.
    NotAsked,
}

/// What is asked of a server of that version. `heartbeat` is a table of pt-heartbeat, or empty.
pub(crate) fn question(version: &str, heartbeat: &str) -> String {
    match version {
        _ if !heartbeat.is_empty() => format!(
            "SELECT MAX(ROUND(TIMESTAMPDIFF(MICROSECOND, ts, SYSDATE(6)) / 1000000)) AS Seconds_Behind_Master FROM {}",
            quoted(heartbeat)
        ),
        version => ServerFlavor::of_version(version.as_bytes()).replica_status().to_owned(),
    }
}

/// The name, each of its parts in quotes.
fn quoted(name: &str) -> String {
    let part = |part: &str| format!("`{}`", part.trim_matches('`').replace('`', "``"));
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

/// What the answer says; none if it is none of such a question.
pub(crate) fn lag(answer: &AnswerTable) -> Option<Lag> {
    let is_it = |name: &&str| answer.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let column = ["Seconds_Behind_Source", "Seconds_Behind_Master"].into_iter().find(is_it)?;
    let place = answer.names.iter().position(|known| known.eq_ignore_ascii_case(column))?;
    let mut lag = Lag::NoReplica;
    for row in &answer.rows {
        let Some(Some(value)) = row.get(place) else { return Some(Lag::Unknown) };
        // That of pt-heartbeat may be below 0, by the clocks.
        let seconds: i64 = std::str::from_utf8(value).ok()?.split('.').next()?.parse().ok()?;
        let seconds = u64::try_from(seconds).unwrap_or(0);
        lag = match lag {
            Lag::Behind(other) => Lag::Behind(other.max(seconds)),
            _ => Lag::Behind(seconds),
        };
    }
    Some(lag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_asked_in_its_words() {
        for (version, question_) in [
            ("5.5.5-10.11.19-MariaDB-0+deb12u1-log", "SHOW ALL SLAVES STATUS"),
            ("11.8.3-MariaDB", "SHOW ALL SLAVES STATUS"),
            ("5.7.44-log", "SHOW SLAVE STATUS"),
            ("8.0.21", "SHOW SLAVE STATUS"),
            ("8.0.22", "SHOW REPLICA STATUS"),
            ("8.4.0", "SHOW REPLICA STATUS"),
            ("9.7.4-2", "SHOW REPLICA STATUS"),
        ] {
            assert_eq!(question(version, ""), question_, "{version}");
        }
        for (name, expected) in [
            ("percona.heartbeat", "FROM `percona`.`heartbeat`"),
            ("`a`.b`c", "FROM `a`.`b``c`"),
            ("h", "FROM `h`"),
        ] {
            assert!(question("9.7.4", name).ends_with(expected), "{}", question("9.7.4", name));
        }
    }

    #[test]
    fn several_sources_are_as_far_as_the_farthest_and_unknown_if_one_is() {
        let of = |name: &str, values: &[Option<&str>]| {
            let value = |value: &Option<&str>| vec![None, value.map(|value| value.as_bytes().to_vec())];
            let names = vec!["Source_Host".to_owned(), name.to_owned()];
            lag(&AnswerTable { names, rows: values.iter().map(value).collect() })
        };
        for name in ["Seconds_Behind_Source", "Seconds_Behind_Master", "seconds_behind_master"] {
            assert_eq!(of(name, &[]), Some(Lag::NoReplica));
            assert_eq!(of(name, &[Some("0")]), Some(Lag::Behind(0)));
            assert_eq!(of(name, &[Some("3"), Some("12"), Some("7")]), Some(Lag::Behind(12)));
            assert_eq!(of(name, &[Some("3"), None]), Some(Lag::Unknown));
            assert_eq!(of(name, &[Some("-1")]), Some(Lag::Behind(0)));
            assert_eq!(of(name, &[Some("7.0000")]), Some(Lag::Behind(7)));
            assert_eq!(of(name, &[Some("x")]), None);
        }
        assert_eq!(of("Lag", &[Some("3")]), None);
    }
}
