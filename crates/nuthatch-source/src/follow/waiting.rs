//! Whether a server waits for its semi-synchronous replica before anybody can see what is written, and until when that is sure.
//!
//! Nothing that a server says of itself proves it: it may have given its replica up a moment ago. A *marker* does: a commit of our own
//! between two looks that are alike. Answers count for all that was written before, so the marker's OK says that everything before it was
//! answered and nothing given up; and what is written later began to wait later, and is given up no sooner than the server's time-out
//! after that. So from before the marker until the time-out behind that moment nothing is shown that the replica has not answered. It must
//! have waited for the marker at all: an answer that was on its way when the binlog began anew is of a place far ahead, and then a server
//! waits for nobody (measured on MySQL 9.7; MariaDB 10.11 does not let it count).
//!
//! That holds if the server waits *before* it commits (`AFTER_SYNC`), waits also while no replica is there, and for nobody else's answer in
//! the place of ours.

use std::fmt;

use nuthatch_net::AnswerTable;
use nuthatch_sql::ServerFlavor;

use super::prover::row;
use super::{FollowError, Prover};

/// The table in which a proxy writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    schema: String,
    table: String,
}

/// How a server waits for its replicas.
#[expect(clippy::struct_excessive_bools, reason = "each is a variable of the server's")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    is_enabled: bool,
    is_on: bool,
    waits_after_sync: bool,
    waits_for_nobody: bool,
    timeout_ms: u64,
    clients: u64,
    /// How many of them must answer; MariaDB waits for one.
    answers: u64,
    /// How often it has given them up, and how many transactions nobody answered.
    given_up: (u64, u64),
    /// How often it has waited for an answer.
    waits: u64,
}

/// Until when it is sure that a server waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// From before the marker was sent.
    pub since_ns: u64,
    /// For so long.
    pub lasts_ns: u64,
}

/// Why a server does not wait so that it counts. As text a clause, with the statement that mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum NotWaited {
    NoPlugin(ServerFlavor),
    Disabled(ServerFlavor),
    AfterCommit(ServerFlavor),
    GivesUpAlone(ServerFlavor),
    TooPatient { timeout_ms: u64, timeout_max_ms: u64, flavor: ServerFlavor },
    NotThere,
    NotAlone { clients: u64 },
    FewerThanAll { clients: u64, answers: u64, flavor: ServerFlavor },
    Off,
    GivenUp,
    Answered(ServerFlavor),
}

impl Marker {
    /// `schema.table`, both plain names.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (schema, table) = name.split_once('.')?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$')
        };
        (is_name(schema) && is_name(table))
            .then(|| Self { schema: schema.to_owned(), table: table.to_owned() })
    }

    /// Its schema and table.
    #[must_use]
    pub fn names(&self) -> (&str, &str) {
        (&self.schema, &self.table)
    }

    /// Whether it is the table of that name, in any case.
    #[must_use]
    pub fn is(&self, schema: &[u8], table: &[u8]) -> bool {
        schema.eq_ignore_ascii_case(self.schema.as_bytes())
            && table.eq_ignore_ascii_case(self.table.as_bytes())
    }

    /// What the statement begins with that writes it.
    #[must_use]
    pub fn beginning(&self) -> String {
        format!("UPDATE {} SET at = ", self.name())
    }

    pub(super) fn name(&self) -> String {
        format!("`{}`.`{}`", self.schema, self.table)
    }

    pub(super) fn definition(&self) -> String {
        format!(
            "CREATE DATABASE IF NOT EXISTS `{}`; CREATE TABLE IF NOT EXISTS {} (id INT UNSIGNED PRIMARY KEY, at BIGINT \
             UNSIGNED NOT NULL) ENGINE=InnoDB;",
            self.schema,
            self.name()
        )
    }

    /// Makes the row, if it is not there.
    fn preparation(&self) -> String {
        format!("INSERT IGNORE INTO {} (id, at) VALUES (1, 0)", self.name())
    }

    /// Changes the one row. Where several proxies do, each waits until the other's is answered. With a condition it would need SELECT.
    fn statement(&self, at: u64) -> String {
        format!("{}{at}", self.beginning())
    }
}

impl Waiting {
    /// Asks the server.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn of(server: &mut Prover) -> Result<Option<Self>, FollowError> {
        let variables = server.ask("SHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync_%'").await?;
        let status = server.ask("SHOW GLOBAL STATUS LIKE 'rpl_semi_sync_%'").await?;
        Ok(Self::read(&variables, &status))
    }

    fn read(variables: &AnswerTable, status: &AnswerTable) -> Option<Self> {
        let of = |table: &AnswerTable, names: [&str; 2]| {
            let value = names.iter().find_map(|name| row(table, &format!("rpl_semi_sync_{name}")));
            value.map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let is_on = |value: Option<String>| {
            value.is_some_and(|value| matches!(&*value.to_ascii_uppercase(), "ON" | "1"))
        };
        let number = |value: Option<String>| value.and_then(|value| value.parse().ok());
        let after_sync = of(variables, ["source_wait_point", "master_wait_point"])?;
        Some(Self {
            is_enabled: is_on(of(variables, ["source_enabled", "master_enabled"])),
            is_on: is_on(of(status, ["source_status", "master_status"])),
            waits_after_sync: after_sync.eq_ignore_ascii_case("AFTER_SYNC"),
            waits_for_nobody: is_on(of(variables, ["source_wait_no_replica", "master_wait_no_slave"])),
            timeout_ms: number(of(variables, ["source_timeout", "master_timeout"]))?,
            clients: number(of(status, ["source_clients", "master_clients"]))?,
            answers: number(of(variables, ["source_wait_for_replica_count", "master_wait_for_slave_count"]))
                .unwrap_or(1),
            given_up: (
                number(of(status, ["source_no_times", "master_no_times"]))?,
                number(of(status, ["source_no_tx", "master_no_tx"]))?,
            ),
            waits: number(of(status, ["source_tx_waits", "master_tx_waits"]))?,
        })
    }

    /// # Errors
    /// Why it does not count that it waits, before anything else is tried.
    fn suits(&self, flavor: ServerFlavor, timeout_max_ms: u64) -> Result<(), NotWaited> {
        let Self { timeout_ms, .. } = *self;
        match () {
            // In the order in which they are to be set: it is to wait for long at no time.
            () if timeout_ms > timeout_max_ms => {
                Err(NotWaited::TooPatient { timeout_ms, timeout_max_ms, flavor })
            }
            () if !self.waits_after_sync => Err(NotWaited::AfterCommit(flavor)),
            () if !self.waits_for_nobody => Err(NotWaited::GivesUpAlone(flavor)),
            () if !self.is_enabled => Err(NotWaited::Disabled(flavor)),
            () => Ok(()),
        }
    }

    /// For how long the server waits for its replicas; 0 if it does not.
    #[must_use]
    pub const fn timeout_ns(&self) -> u64 {
        if self.is_enabled { self.timeout_ms.saturating_mul(1_000_000) } else { 0 }
    }

    /// # Errors
    /// Why the proxy must not become one more replica for whose answer it waits.
    pub fn may_be_joined(&self, flavor: ServerFlavor, timeout_max_ms: u64) -> Result<(), NotWaited> {
        self.suits(flavor, timeout_max_ms)?;
        let clients = self.clients + 1;
        match flavor {
            ServerFlavor::MariaDb(_) if clients > 1 => Err(NotWaited::NotAlone { clients }),
            ServerFlavor::MySql(_) if self.answers < clients => {
                Err(NotWaited::FewerThanAll { clients, answers: self.answers, flavor })
            }
            _ => Ok(()),
        }
    }

    /// # Errors
    /// Why what was written between the two was not waited for.
    fn has_waited_since(&self, before: &Self, flavor: ServerFlavor) -> Result<(), NotWaited> {
        match () {
            () if (Self { waits: before.waits, ..self.clone() }) != *before => Err(NotWaited::GivenUp),
            // An answer that was on its way when the binlog began anew is of a place that is far ahead: then it waits for nobody.
            () if self.waits == before.waits => Err(NotWaited::Answered(flavor)),
            () => Ok(()),
        }
    }

    /// # Errors
    /// Why it does not count that it waits, once our connection is there.
    fn counts(&self, flavor: ServerFlavor) -> Result<(), NotWaited> {
        let Self { clients, answers, .. } = *self;
        match () {
            () if clients == 0 => Err(NotWaited::NotThere),
            () if clients != 1 && matches!(flavor, ServerFlavor::MariaDb(_)) => {
                Err(NotWaited::NotAlone { clients })
            }
            () if answers < clients => Err(NotWaited::FewerThanAll { clients, answers, flavor }),
            () if !self.is_on => Err(NotWaited::Off),
            () => Ok(()),
        }
    }
}

impl Prover {
    /// Makes the row that is written, if it is not there.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn prepare(&mut self, marker: &Marker) -> Result<(), FollowError> {
        self.ask(&marker.preparation()).await.map(drop)
    }

    /// Writes the marker, which must be answered over the [`super::Feed`] meanwhile, and finds until when it is sure that the server waits.
    /// `now_ns` is a clock that runs on while this process is stopped.
    ///
    /// # Errors
    /// See [`FollowError`]; inside, why the server does not wait.
    pub async fn lease(
        &mut self,
        marker: &Marker,
        timeout_max_ms: u64,
        now_ns: impl Fn() -> u64,
    ) -> Result<Result<Lease, NotWaited>, FollowError> {
        let flavor = self.flavor();
        let Some(before) = Waiting::of(self).await? else { return Ok(Err(NotWaited::NoPlugin(flavor))) };
        if let Err(why) = before.suits(flavor, timeout_max_ms).and_then(|()| before.counts(flavor)) {
            // It waits again when the last that was written is answered.
            if why == NotWaited::Off {
                self.ask(&marker.statement(now_ns())).await?;
            }
            return Ok(Err(why));
        }
        let since_ns = now_ns();
        self.ask(&marker.statement(since_ns)).await?;
        Ok(match Waiting::of(self).await? {
            // Clocks of two machines run apart, by less than a hundredth.
            Some(after) => after
                .has_waited_since(&before, flavor)
                .map(|()| Lease { since_ns, lasts_ns: before.timeout_ms * 990_000 }),
            None => Err(NotWaited::GivenUp),
        })
    }
}

impl fmt::Display for NotWaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |flavor: &ServerFlavor| match flavor {
            ServerFlavor::MariaDb(_) => "master",
            ServerFlavor::MySql(_) => "source",
        };
        match self {
            Self::NoPlugin(_) => f.write_str(
                "the server has no semi-synchronous replication: INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'",
            ),
            Self::Disabled(flavor) => {
                write!(f, "the server does not wait for replicas: SET GLOBAL rpl_semi_sync_{}_enabled = ON", side(flavor))
            }
            Self::AfterCommit(flavor) => write!(
                f,
                "the server waits for replicas behind its commit: SET GLOBAL rpl_semi_sync_{}_wait_point = AFTER_SYNC",
                side(flavor)
            ),
            Self::GivesUpAlone(flavor) => {
                let name = match flavor {
                    ServerFlavor::MariaDb(_) => "master_wait_no_slave",
                    ServerFlavor::MySql(_) => "source_wait_no_replica",
                };
                write!(f, "the server does not wait while no replica is there: SET GLOBAL rpl_semi_sync_{name} = ON")
            }
            Self::TooPatient { timeout_ms, timeout_max_ms, flavor } => write!(
                f,
                "the server would wait {timeout_ms} ms for a proxy that died, more than mysql-query_cache_follow_timeout_max_ms: \
                 SET GLOBAL rpl_semi_sync_{}_timeout = {timeout_max_ms}",
                side(flavor)
            ),
            Self::NotThere => f.write_str("the server does not count the proxy among its semi-synchronous replicas (yet)"),
            Self::NotAlone { clients } => write!(
                f,
                "the server has {clients} semi-synchronous replicas and waits for any one of them: on MariaDB the proxy must be the only one"
            ),
            Self::FewerThanAll { clients, answers, flavor } => write!(
                f,
                "the server waits for {answers} of its {clients} semi-synchronous replicas: SET GLOBAL \
                 rpl_semi_sync_{}_wait_for_replica_count = {clients}",
                side(flavor)
            ),
            Self::Off => f.write_str("the server has given its replicas up and does not wait for them now"),
            Self::GivenUp => f.write_str("the server has just given a replica up, or was set otherwise"),
            Self::Answered(flavor) => write!(
                f,
                "the server did not wait for an answer: one of before RESET MASTER may count for all: SET GLOBAL \
                 rpl_semi_sync_{side}_enabled = OFF, and a second later = ON",
                side = side(flavor)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, &str)]) -> AnswerTable {
        let value = |text: &str| Some(text.as_bytes().to_vec());
        AnswerTable {
            names: vec!["Variable_name".to_owned(), "Value".to_owned()],
            rows: rows.iter().map(|(name, text)| vec![value(name), value(text)]).collect(),
        }
    }

    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_100);
    const MYSQL: ServerFlavor = ServerFlavor::MySql(90_700);

    fn waiting(changes: &[(&str, &str)]) -> Waiting {
        let all = [
            ("rpl_semi_sync_master_enabled", "ON"),
            ("rpl_semi_sync_master_timeout", "1000"),
            ("rpl_semi_sync_master_wait_no_slave", "ON"),
            ("rpl_semi_sync_master_wait_point", "AFTER_SYNC"),
            ("Rpl_semi_sync_master_clients", "1"),
            ("Rpl_semi_sync_master_no_times", "3"),
            ("Rpl_semi_sync_master_no_tx", "4"),
            ("Rpl_semi_sync_master_status", "ON"),
            ("Rpl_semi_sync_master_tx_waits", "5"),
        ];
        let changed: Vec<_> = changes.iter().chain(&all).copied().collect();
        Waiting::read(&table(&changed), &table(&changed)).expect("all is there")
    }

    #[test]
    fn each_setting_that_does_not_suit_is_told() {
        let said = |changes: &[(&str, &str)], flavor| {
            let waiting = waiting(changes);
            waiting.suits(flavor, 2000).and_then(|()| waiting.counts(flavor)).err()
        };
        assert_eq!(said(&[], MARIADB), None);
        for (changes, flavor, expected) in [
            (&[("rpl_semi_sync_master_enabled", "OFF")][..], MARIADB, NotWaited::Disabled(MARIADB)),
            (
                &[("rpl_semi_sync_master_wait_point", "AFTER_COMMIT")],
                MARIADB,
                NotWaited::AfterCommit(MARIADB),
            ),
            (&[("rpl_semi_sync_master_wait_no_slave", "OFF")], MARIADB, NotWaited::GivesUpAlone(MARIADB)),
            (
                &[("rpl_semi_sync_master_timeout", "10000")],
                MARIADB,
                NotWaited::TooPatient { timeout_ms: 10_000, timeout_max_ms: 2000, flavor: MARIADB },
            ),
            (&[("Rpl_semi_sync_master_clients", "0")], MARIADB, NotWaited::NotThere),
            (&[("Rpl_semi_sync_master_clients", "2")], MARIADB, NotWaited::NotAlone { clients: 2 }),
            (
                &[("Rpl_semi_sync_source_clients", "2")],
                MYSQL,
                NotWaited::FewerThanAll { clients: 2, answers: 1, flavor: MYSQL },
            ),
            (&[("Rpl_semi_sync_master_status", "OFF")], MARIADB, NotWaited::Off),
        ] {
            assert_eq!(said(changes, flavor), Some(expected), "{changes:?}");
        }
        let both =
            [("rpl_semi_sync_source_wait_for_replica_count", "2"), ("rpl_semi_sync_source_clients", "2")];
        assert_eq!(said(&both, MYSQL), None);
    }

    #[test]
    fn a_marker_that_was_not_waited_for_proves_nothing() {
        let since = |changes: &[(&str, &str)]| waiting(changes).has_waited_since(&waiting(&[]), MARIADB);
        let waits = ("Rpl_semi_sync_master_tx_waits", "6");
        assert_eq!(since(&[waits]), Ok(()));
        assert_eq!(since(&[]), Err(NotWaited::Answered(MARIADB)));
        let given_up = ("Rpl_semi_sync_master_no_times", "4");
        assert_eq!(since(&[waits, given_up]), Err(NotWaited::GivenUp));
    }

    #[test]
    fn a_marker_is_a_plain_name() {
        assert!(Marker::parse("a.b").is_some());
        for name in ["a", "a.", ".b", "a.b.c", "a.`b", "a b.c"] {
            assert_eq!(Marker::parse(name), None, "{name}");
        }
    }
}
