//! How far a server has come: what it has written, and whether it shows what another has.
//!
//! By GTIDs, over a connection that stays. What a server *has written* ([`Progress::written`]) is all that it had acknowledged, and all that
//! its replicas had shown, when it was asked: MariaDB's position moves before a replica can read of a transaction; MySQL's set does when the
//! transaction is committed, so those that are about to be (`gtid_owned`) belong to it too, and are asked for first. What a server *shows*
//! ([`Progress::shows`]) is found by statements that wait for it: a replica of MariaDB, and any MySQL, has a transaction among its own when
//! others can read of it. The writer of MariaDB does not tell so by GTIDs, as its own move too early: there the end of its binlog is compared
//! with where its snapshots are, which is known to come late only for XA COMMIT.
//! (Measured on MariaDB 10.11, 11.8 and MySQL 9.7.)
//!
//! It reads no clock but to wait for a writer, and sets no time limit: dropping a future leaves the connection in the middle of an answer.

use std::time::Duration;

use nuthatch_net::{AnswerTable, AskError, Asker, NetError};
use nuthatch_sql::ServerFlavor;
use thiserror::Error;
use tokio::time::sleep;

use crate::target::Target;

/// No answer that is asked for is larger: sets of GTIDs of very old servers may be.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// For how long a server waits in one question.
const WAIT_S: f64 = 1.0;

/// Between two looks at the snapshots of a writer.
const PAUSE: Duration = Duration::from_millis(1);

/// How many such looks are one question.
const LOOKS: u32 = 1000;

const NO_GTIDS: &str = "its gtid_mode is not ON: it cannot be known what replicas show";
const NO_BINLOG: &str = "it has no binlog (log_bin): it cannot be known what replicas show";

/// Errors of a server that has no room or is going down, or whose thread was killed: `ER_CON_COUNT_ERROR`, `ER_OUT_OF_RESOURCES`,
/// `ER_SERVER_SHUTDOWN`, `ER_TOO_MANY_USER_CONNECTIONS`, `ER_USER_LIMIT_REACHED`, `ER_QUERY_INTERRUPTED`, MariaDB's `ER_CONNECTION_KILLED`.
const PASSING: [u16; 7] = [1040, 1041, 1053, 1203, 1226, 1317, 1927];

/// See the module's doc.
#[derive(Debug)]
pub struct Progress {
    asker: Asker,
    flavor: ServerFlavor,
}

/// Why it is not known how far a server has come, in words. No secret is in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unknown {
    /// It was not reached, took no more connections, or did not answer: it may when it is asked again.
    #[error("{0}")]
    Lost(String),
    /// It does not tell before somebody changes something there, or in the configuration.
    #[error("{0}")]
    Refused(String),
}

impl From<AskError> for Unknown {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Lost(error) => error.into(),
            AskError::Refused { code, .. } if PASSING.contains(&code) => Self::Lost(error.to_string()),
            AskError::Refused { .. } | AskError::NotUnderstood | AskError::TooLarge { .. } => {
                Self::Refused(error.to_string())
            }
        }
    }
}

impl From<NetError> for Unknown {
    fn from(error: NetError) -> Self {
        let passes = matches!(&error, NetError::Refused(answer) if PASSING.contains(&answer.code));
        match error.is_refusal() && !passes {
            true => Self::Refused(error.to_string()),
            false => Self::Lost(error.to_string()),
        }
    }
}

/// What a server had written when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    gtids: String,
    /// Where a MariaDB's binlog ended, if it tells.
    end: Option<(String, u64)>,
}

impl Progress {
    /// Over a new connection.
    ///
    /// # Errors
    /// Why there is none, in words. No secret is in it.
    pub async fn open(target: &Target) -> Result<Self, Unknown> {
        let login = target.login.as_ref().map_err(|why| Unknown::Refused(why.clone()))?;
        let asker = Asker::open(&target.address, login, ANSWER_BYTES_MAX).await?;
        let flavor = ServerFlavor::of_version(asker.version().as_bytes());
        Ok(Self { asker, flavor })
    }

    /// Whether the server has closed the connection meanwhile, as one that was not asked for long.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.asker.is_disturbed()
    }

    /// What it has written up to now: all at least that it had acknowledged, or its replicas had shown, before this was called.
    ///
    /// # Errors
    /// Why that is not known, in words.
    pub async fn written(&mut self) -> Result<Written, Unknown> {
        match self.flavor {
            ServerFlavor::MySql(_) => {
                let asked = "SELECT @@global.gtid_mode AS mode, @@global.gtid_owned AS owned, \
                             @@global.gtid_executed AS executed";
                let answer = self.ask(asked).await?;
                let text = |name| answer.text(name).unwrap_or_default();
                if !text("mode").eq_ignore_ascii_case("ON") {
                    return Err(Unknown::Refused(NO_GTIDS.to_owned()));
                }
                let gtids = format!("{},{}", without_owners(&text("owned")), text("executed"));
                Ok(Written { gtids: gtids.trim_matches(',').to_owned(), end: None })
            }
            ServerFlavor::MariaDb(_) => {
                let answer =
                    self.ask("SELECT @@global.log_bin AS log_bin, @@global.gtid_binlog_pos AS gtids").await?;
                if answer.text("log_bin").as_deref() != Some("1") {
                    return Err(Unknown::Refused(NO_BINLOG.to_owned()));
                }
                let gtids = answer.text("gtids").unwrap_or_default();
                // Who may not ask that (BINLOG MONITOR) does without.
                let end = self.asker.ask("SHOW MASTER STATUS").await;
                let end = match end {
                    Ok(status) => place(status.text("File"), status.text("Position")),
                    Err(AskError::Refused { code, .. }) if !PASSING.contains(&code) => None,
                    Err(error) => return Err(error.into()),
                };
                Ok(Written { gtids, end })
            }
        }
    }

    /// Whether it shows all of that, which another server has written. Waits for it, for a second or so.
    ///
    /// # Errors
    /// Why that is not known, in words.
    pub async fn shows(&mut self, written: &Written) -> Result<bool, Unknown> {
        let wait = self.flavor.wait_for_gtids(&written.gtids, WAIT_S);
        let answer = self.ask(&wait).await?;
        Ok(answer.text("waited").as_deref() == Some("0"))
    }

    /// The same of the server that has written it.
    ///
    /// # Errors
    /// Why that is not known, in words.
    pub async fn shows_its_own(&mut self, written: &Written) -> Result<bool, Unknown> {
        match (self.flavor, &written.end) {
            (ServerFlavor::MySql(_), _) => return self.shows(written).await,
            (ServerFlavor::MariaDb(_), None) => return Ok(true),
            (ServerFlavor::MariaDb(_), Some(end)) => {
                for _ in 0..LOOKS {
                    let answer = self.ask("SHOW STATUS LIKE 'binlog\\_snapshot\\_%'").await?;
                    let value = |name: &str| {
                        let mut rows = answer.texts::<2>();
                        rows.find(|[known, _]| known.eq_ignore_ascii_case(name)).map(|[_, value]| value)
                    };
                    let snapshot = place(value("binlog_snapshot_file"), value("binlog_snapshot_position"));
                    if snapshot.is_none_or(|snapshot| is_at_least(&snapshot, end)) {
                        return Ok(true);
                    }
                    sleep(PAUSE).await;
                }
            }
        }
        Ok(false)
    }

    async fn ask(&mut self, sql: &str) -> Result<AnswerTable, Unknown> {
        Ok(self.asker.ask(sql).await?)
    }
}

fn place(file: Option<String>, position: Option<String>) -> Option<(String, u64)> {
    Some((file.filter(|file| !file.is_empty())?, position?.parse().ok()?))
}

/// Of the same binlog: `name.000009`, `name.1000000`.
fn is_at_least((file, position): &(String, u64), (end_file, end): &(String, u64)) -> bool {
    let number = |name: &str| name.rsplit('.').next().and_then(|digits| digits.parse::<u64>().ok());
    (number(file), position) >= (number(end_file), end)
}

/// MySQL's `gtid_owned` (`uuid:7#12:8#13,uuid:…`, a GTID and the thread that has it) as a set.
fn without_owners(owned: &str) -> String {
    let mut set = String::with_capacity(owned.len());
    let mut is_owner = false;
    for letter in owned.chars() {
        is_owner = letter == '#' || is_owner && letter.is_ascii_digit();
        if !is_owner && !letter.is_whitespace() {
            set.push(letter);
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owned_gtids_become_a_set() {
        for (owned, expected) in [
            ("", ""),
            ("3e11fa47-71ca-11e1-9e33-c80aa9429562:7#12", "3e11fa47-71ca-11e1-9e33-c80aa9429562:7"),
            ("a:7#12:8#13,\nb:tag:1#2", "a:7:8,b:tag:1"),
        ] {
            assert_eq!(without_owners(owned), expected);
        }
    }

    #[test]
    fn places_in_a_binlog_are_compared_by_number_and_position() {
        let at = |file: &str, position| (file.to_owned(), position);
        assert!(is_at_least(&at("b.000009", 5), &at("b.000009", 5)));
        assert!(is_at_least(&at("b.1000000", 4), &at("b.999999", 900)));
        assert!(!is_at_least(&at("b.000009", 4), &at("b.000009", 5)));
        assert!(!is_at_least(&at("b.000008", 900), &at("b.000009", 5)));
    }
}
