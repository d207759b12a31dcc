//! What a server has written and what it shows by now, asked over a connection of its own.
//!
//! A binlog is written before the engine commits: what stands in it may not be shown yet, and nobody else says when it is. What says so was
//! measured on MariaDB 10.11, 11.8 and MySQL 9.7: MySQL's `gtid_executed`, and where MariaDB's snapshots are (`binlog_snapshot_position`), which
//! comes too early for XA COMMIT only; of that `XA RECOVER` tells.

use nuthatch_net::{AnswerTable, Asker, BackendAddress};
use nuthatch_sql::{GtidPositions, GtidSet, ServerFlavor};

use super::{End, FollowError, Place, Shown, Start};
use crate::Login;

/// The largest answer that is read: sets of GTIDs of very old servers may be large.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The first version that knows SHOW BINARY LOG STATUS.
const BINARY_LOG_STATUS_SINCE: u32 = 80_200;

/// See the module's doc.
#[derive(Debug)]
pub struct Prover {
    asker: Asker,
    flavor: ServerFlavor,
}

impl Prover {
    /// Over a new connection.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn open(server: &BackendAddress, login: &Login) -> Result<Self, FollowError> {
        let asker = Asker::open(server, login, ANSWER_BYTES_MAX).await?;
        let flavor = ServerFlavor::of_version(asker.version().as_bytes());
        Ok(Self { asker, flavor })
    }

    /// Who it is, by its greeting.
    #[must_use]
    pub const fn flavor(&self) -> ServerFlavor {
        self.flavor
    }

    /// From where its binlog is to be followed, so that nothing is missed that is not shown by now.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn start(&mut self) -> Result<Start, FollowError> {
        match self.flavor {
            ServerFlavor::MySql(_) => self.executed().await.map(Start::Set),
            ServerFlavor::MariaDb(_) => {
                let (text, position) = self.binlog_position().await?;
                Ok(Start::Position(text, position))
            }
        }
    }

    /// Where its binlog ends: behind all that anybody was shown, or acknowledged, before this was asked.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn end(&mut self) -> Result<End, FollowError> {
        match self.flavor {
            ServerFlavor::MySql(_) => {
                let status = self.binlog_status().await?;
                place(status.value("File"), status.text("Position")).map(End::Place)
            }
            ServerFlavor::MariaDb(_) => {
                self.binlog_position().await.map(|(_, position)| End::Position(position))
            }
        }
    }

    /// What it shows.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn shown(&mut self) -> Result<Shown, FollowError> {
        match self.flavor {
            ServerFlavor::MySql(_) => self.executed().await.map(Shown::Set),
            ServerFlavor::MariaDb(_) => {
                let status = self.asker.ask("SHOW STATUS LIKE 'binlog_snapshot_%'").await?;
                let file = row(&status, "binlog_snapshot_file");
                let offset = row(&status, "binlog_snapshot_position");
                let offset = offset.map(|offset| String::from_utf8_lossy(offset).into_owned());
                place(file, offset).map(Shown::UpTo)
            }
        }
    }

    /// The transactions that are prepared by XA: of each its format, its global part, its branch.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn prepared(&mut self) -> Result<Vec<(i64, Vec<u8>, Vec<u8>)>, FollowError> {
        let answer = self.asker.ask("XA RECOVER").await?;
        let number =
            |value: &Option<Vec<u8>>| std::str::from_utf8(value.as_deref()?).ok()?.parse::<i64>().ok();
        let of_row = |row: &Vec<Option<Vec<u8>>>| match row.as_slice() {
            [format, first, _second, data] => {
                let (global, branch) =
                    data.as_deref()?.split_at_checked(usize::try_from(number(first)?).ok()?)?;
                Some((number(format)?, global.to_vec(), branch.to_vec()))
            }
            _ => None,
        };
        answer.rows.iter().map(of_row).collect::<Option<_>>().ok_or_else(not_understood)
    }

    /// The whole answer to a question.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub(super) async fn ask(&mut self, question: &str) -> Result<AnswerTable, FollowError> {
        Ok(self.asker.ask(question).await?)
    }

    /// What the server says of the binlog that it writes.
    pub(super) async fn binlog_status(&mut self) -> Result<AnswerTable, FollowError> {
        let question = match self.flavor {
            ServerFlavor::MySql(BINARY_LOG_STATUS_SINCE..) => "SHOW BINARY LOG STATUS",
            _ => "SHOW MASTER STATUS",
        };
        self.ask(question).await
    }

    async fn executed(&mut self) -> Result<GtidSet, FollowError> {
        let answer = self.asker.ask("SELECT @@global.gtid_executed AS executed").await?;
        answer.text("executed").and_then(|text| GtidSet::parse(&text)).ok_or_else(not_understood)
    }

    async fn binlog_position(&mut self) -> Result<(String, GtidPositions), FollowError> {
        let answer = self.asker.ask("SELECT @@global.gtid_binlog_pos AS position").await?;
        let text = answer.text("position").ok_or_else(not_understood)?;
        let position = GtidPositions::parse(&text).ok_or_else(not_understood)?;
        Ok((text, position))
    }
}

/// The value of that name in rows of names and values.
pub(super) fn row<'a>(table: &'a AnswerTable, name: &str) -> Option<&'a [u8]> {
    let is_it = |row: &&Vec<Option<Vec<u8>>>| {
        row.first()
            .and_then(Option::as_deref)
            .is_some_and(|known| known.eq_ignore_ascii_case(name.as_bytes()))
    };
    table.rows.iter().find(is_it)?.get(1)?.as_deref()
}

fn place(file: Option<&[u8]>, offset: Option<String>) -> Result<Place, FollowError> {
    let offset = offset.and_then(|offset| offset.trim().parse().ok());
    file.zip(offset).and_then(|(file, offset)| Place::of(file, offset)).ok_or_else(not_understood)
}

fn not_understood() -> FollowError {
    FollowError::Refused("where its binlog is is not understood".to_owned())
}
