//! Whether a server's binlog tells of all that is written there.

use std::fmt;

use nuthatch_sql::ServerFlavor;

use super::prover::row;
use super::{FollowError, Prover};

/// Why a binlog is not followed. As text a clause for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum Unfit {
    NoBinlog,
    NoGtids,
    Statements,
    Filters,
    HidesFilters(ServerFlavor),
    Galera,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoBinlog => "the server has no binlog (log_bin)",
            Self::NoGtids => "the server's gtid_mode is not ON",
            Self::Statements => {
                "the server's binlog_format is STATEMENT, of which it cannot be told what it wrote: set it to ROW"
            }
            Self::Filters => "the server leaves schemas out of its binlog (binlog_do_db, binlog_ignore_db)",
            Self::HidesFilters(ServerFlavor::MariaDb(_)) => {
                "it is not known whether the server leaves schemas out of its binlog, as the account may not ask (BINLOG MONITOR)"
            }
            Self::HidesFilters(ServerFlavor::MySql(_)) => {
                "it is not known whether the server leaves schemas out of its binlog, as the account may not ask (REPLICATION CLIENT)"
            }
            Self::Galera => {
                "the server is a node of Galera: what is written on others comes into its binlog when it has been shown"
            }
        })
    }
}

impl Unfit {
    /// Asks the server; none if its binlog tells of all that is written.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn of(server: &mut Prover) -> Result<Option<Self>, FollowError> {
        let question = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'gtid_mode', 'binlog_format', \
                        'wsrep_on', 'binlog_do_db', 'binlog_ignore_db')";
        let variables = server.ask(question).await?;
        let is = |name, word: &str| {
            row(&variables, name).is_some_and(|value| value.eq_ignore_ascii_case(word.as_bytes()))
        };
        let names_some = |name| row(&variables, name).is_some_and(|value| !value.is_empty());
        let is_mysql = matches!(server.flavor(), ServerFlavor::MySql(_));
        let tells_filters = row(&variables, "binlog_ignore_db").is_some();
        let filters = match tells_filters {
            true => (names_some("binlog_do_db") || names_some("binlog_ignore_db")).then_some(Self::Filters),
            false => filters_in_status(server).await?,
        };
        Ok(match () {
            () if !is("log_bin", "ON") => Some(Self::NoBinlog),
            () if is("wsrep_on", "ON") => Some(Self::Galera),
            () if is_mysql && !is("gtid_mode", "ON") => Some(Self::NoGtids),
            // A variable that a server has no more says nothing.
            () if is("binlog_format", "STATEMENT") => Some(Self::Statements),
            () => filters,
        })
    }
}

/// What stands in the way by the filters that the server tells of with its status.
async fn filters_in_status(server: &mut Prover) -> Result<Option<Unfit>, FollowError> {
    match server.binlog_status().await {
        Ok(status) => {
            let names_some = |name| status.value(name).is_some_and(|value| !value.is_empty());
            Ok((names_some("Binlog_Do_DB") || names_some("Binlog_Ignore_DB")).then_some(Unfit::Filters))
        }
        Err(FollowError::Refused(_)) => Ok(Some(Unfit::HidesFilters(server.flavor()))),
        Err(lost) => Err(lost),
    }
}
