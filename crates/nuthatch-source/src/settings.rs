//! What a server's global variables say of the sessions that begin there, and of its storage.

use nuthatch_sql::ServerFlavor;

use crate::question::{Question, Server};
use crate::variables::Variables;
use crate::{NotASource, PictureError};

/// The isolation has one of its two names, or both with the same value.
const VARIABLES: Question = Question {
    what: "global variables",
    sql: "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation', \
          'innodb_read_only', 'init_connect', 'sql_mode', 'sql_auto_is_null', \
          'innodb_buffer_pool_size', 'server_uuid', 'server_id', 'hostname', 'port', 'datadir', 'read_only', 'log_bin', 'binlog_format', \
          'gtid_mode', 'slave_skip_errors', 'replica_skip_errors', 'slave_exec_mode', 'replica_exec_mode', \
          'replicate_events_marked_for_skip', \
          'slave_run_triggers_for_rbr')",
};

/// How transactions see each other's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

/// Whether a statement of an `init_connect` sets no variable but what each login sets anew: DEFAULT would give any other not what a session
/// begins with, but the global value.
fn leaves_variables(statement: &[u8]) -> bool {
    const SETS: [&[u8]; 3] = [b"set names ", b"set autocommit=", b"set autocommit ="];
    let statement = statement.trim_ascii().to_ascii_lowercase();
    let sets_one = || !statement.contains(&b',') && SETS.iter().any(|set| statement.starts_with(set));
    statement.is_empty() || statement.starts_with(b"insert into ") || sets_one()
}

/// The variables that were asked for, as far as the server has them.
pub(crate) struct Settings(Variables);

impl Settings {
    /// Asks for all of them at once.
    ///
    /// # Errors
    /// When the server does not answer, or otherwise than expected.
    pub(crate) async fn read(server: &mut impl Server) -> Result<Self, PictureError> {
        Variables::read(server, VARIABLES).await.map(Self)
    }

    /// What sessions begin with.
    ///
    /// # Errors
    /// When the server does not say, or has another one than those of the standard.
    pub(crate) fn isolation(&self) -> Result<Isolation, PictureError> {
        match self.value("transaction_isolation").or(self.value("tx_isolation")) {
            Some(b"READ-UNCOMMITTED") => Ok(Isolation::ReadUncommitted),
            Some(b"READ-COMMITTED") => Ok(Isolation::ReadCommitted),
            Some(b"REPEATABLE-READ") => Ok(Isolation::RepeatableRead),
            Some(b"SERIALIZABLE") => Ok(Isolation::Serializable),
            _ => Err(PictureError::NotUnderstood("default isolation")),
        }
    }

    /// Whether its storage takes the writes of its clients, and its sessions begin as they seem to.
    ///
    /// # Errors
    /// Why its answers are not to be stored.
    pub(crate) fn suit(&self, flavor: ServerFlavor) -> Result<(), NotASource> {
        let is_off = |value: &[u8]| value.eq_ignore_ascii_case(b"OFF") || value == b"0";
        let init_connect = self.value("init_connect").unwrap_or_default();
        if !self.value("innodb_read_only").is_none_or(is_off) {
            return Err(NotASource::ReadOnlyStorage);
        }
        if !init_connect.split(|byte| *byte == b';').all(leaves_variables) {
            return Err(NotASource::InitConnect);
        }
        if !self.value("sql_auto_is_null").is_none_or(is_off) {
            return Err(NotASource::AutoIsNull);
        }
        match flavor {
            ServerFlavor::MySql(_) if self.has_ansi_quotes() => Err(NotASource::AnsiQuotes),
            _ => Ok(()),
        }
    }

    fn has_ansi_quotes(&self) -> bool {
        let mut modes = self.value("sql_mode").unwrap_or_default().split(|byte| *byte == b',');
        modes.any(|mode| [&b"ANSI_QUOTES"[..], b"ANSI"].iter().any(|ansi| mode.eq_ignore_ascii_case(ansi)))
    }

    /// Its value, if the server has it.
    pub(crate) fn value(&self, variable: &str) -> Option<&[u8]> {
        self.0.value(variable)
    }

    /// Of InnoDB, in bytes.
    pub(crate) fn buffer_pool_size(&self) -> Option<u64> {
        self.0.number("innodb_buffer_pool_size")
    }
}
