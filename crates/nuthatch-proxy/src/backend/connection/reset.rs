//! Resetting a connection: it comes back as it was after its login, but for the schema.
//!
//! COM_RESET_CONNECTION forgets user and session variables, temporary tables, prepared statements, locks of every kind, handlers, the
//! last insert id (`tests/drivers/server_resets.py` holds that against MariaDB and MySQL). It stays in the schema, and forgets the schema's
//! character set (`@@character_set_database`), so the schema is chosen again. It does not forget the role, and
//! runs no `init_connect`; what the proxy itself sets at first (`initialize`) is set again. MySQL goes back to its own character set, MariaDB to that of the login; here it is always that
//! of the login. Open transactions are not for this: whoever has one closes the connection.
//!
//! COM_CHANGE_USER forgets the same, and the schema too: behind it `SELECT DATABASE()` is NULL, and error 1046 is given. The thread keeps its
//! number, and MariaDB the role; no server runs its `init_connect` (measured on MariaDB 10.11 and MySQL 9.7).

use std::sync::Arc;

use nuthatch_net::{BackendLogin, BackendPassword, ClearPasswords, NetError, change_user};
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerKind, CapabilityFlags, Command, ErrPacket, StatusFlags};

use crate::backend::Connection;
use crate::backend::connection::prepared::{NamedStatements, PreparedStatements};
use crate::state::{Charset, ConnectionState, Schema, is_read_alike};

/// Has a row if the server does something at a login that it does not at a reset.
const LOGINS_DO_MORE: &[u8] = b"SELECT 1 FROM DUAL WHERE @@GLOBAL.init_connect <> ''";

/// Has it read names as they are kept here.
pub(crate) const READ_UTF8: &[u8] = b"SET NAMES utf8mb4";

/// Has the server tell of changes that statements do not show.
const TRACK: &[u8] = b"SET SESSION session_track_state_change = ON";

/// The same of a MySQL that is also to tell what was committed.
const TRACK_GTIDS: &[u8] = b"SET SESSION session_track_state_change = ON, session_track_gtids = OWN_GTID";

/// The same of a MariaDB.
const TRACK_LAST_GTID: &[u8] =
    b"SET SESSION session_track_state_change = ON, session_track_system_variables = \
    CONCAT_WS(',', NULLIF(@@session_track_system_variables, ''), 'last_gtid')";

/// What became of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    /// The connection is as after its login.
    Done,
    /// It is not certain that it is.
    Doubtful,
}

impl Connection {
    /// Whether a reset makes it as it was after its login: a server puts `IGNORE_SPACE` into the SQL mode at the login only.
    pub(crate) const fn can_be_reset(&self) -> bool {
        !self.shape.contains(CapabilityFlags::CLIENT_IGNORE_SPACE)
    }

    /// Whether a new login makes it as it was after the first one, but for the schema.
    pub(crate) fn can_log_in_anew(&self) -> bool {
        self.can_be_reset() && self.server().takes_new_logins()
    }

    /// Resets it. It must wait for a command, without an open transaction.
    ///
    /// # Errors
    /// When the connection fails; it must be closed then, and where the outcome is doubtful.
    pub(crate) async fn reset(&mut self) -> Result<Reset, NetError> {
        let schema = std::mem::take(&mut self.state.schema);
        self.begin_anew(&[(Command::ResetConnection, b"", AnswerKind::Single)], schema).await
    }

    /// Logs in anew over it, as the same user and without a schema, which is the only way out of one. What a reset forgets is forgotten.
    ///
    /// # Errors
    /// As [`Self::reset`].
    pub(crate) async fn log_in_anew(
        &mut self,
        password: &BackendPassword,
        clear_passwords: ClearPasswords,
    ) -> Result<Reset, NetError> {
        let server = Arc::clone(self.server());
        let tls = server.tls_of(&self.user)?;
        let login = BackendLogin {
            user: &self.user,
            password,
            schema: None,
            collation: self.login_collation,
            capabilities: CapabilityFlags::empty(),
            max_packet_bytes: 0,
            tls: tls.as_ref().map(|tls| (tls, server.host.as_str())),
            clear_passwords,
        };
        change_user(&mut self.framed, &login).await?;
        self.state.schema.clear();
        self.begin_anew(&[], Schema::default()).await
    }

    /// Sends `first` and then what makes the connection one of the pool again, in that schema.
    async fn begin_anew(
        &mut self,
        first: &[(Command, &[u8], AnswerKind)],
        schema: Schema,
    ) -> Result<Reset, NetError> {
        let charset = Charset::Collation(self.login_collation);
        let Some(set_names) = charset.statement() else { return Ok(Reset::Doubtful) };
        let mut orders = first.to_vec();
        orders.push((Command::Query, LOGINS_DO_MORE, AnswerKind::ResultSets));
        if !schema.is_empty() {
            if !is_read_alike(&schema) {
                orders.push((Command::Query, READ_UTF8, AnswerKind::ResultSets));
            }
            orders.push((Command::InitDb, &schema, AnswerKind::Single));
        }
        orders.push((Command::Query, set_names.as_bytes(), AnswerKind::ResultSets));
        let answers = self.order_all(&orders).await?;
        if self.server().defaults.may_have_changed_since(&self.era) {
            // It gives the connection what sessions begin with now.
            return Ok(Reset::Doubtful);
        }
        let answers: Vec<_> = answers.into_iter().filter_map(Result::ok).collect();
        let (Some(more), Some(last)) = (answers.get(first.len()), answers.last()) else {
            return Ok(Reset::Doubtful);
        };
        let is_open = last.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS);
        if answers.len() < orders.len() || more.rows > 0 || is_open {
            return Ok(Reset::Doubtful);
        }
        self.prepared = PreparedStatements::default();
        self.named = NamedStatements::default();
        self.insert_id = Some(0);
        let commits = last.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT);
        let role = self.state.role.take();
        self.state = ConnectionState { role, ..ConnectionState::new(schema, charset, commits) };
        Ok(if self.initialize().await?.is_ok() { Reset::Done } else { Reset::Doubtful })
    }

    /// Has the server tell of changes, and of what was committed, if it is to. Returns whether it does.
    async fn has_gtids_told(&mut self) -> Result<bool, NetError> {
        if !self.tells_gtids {
            return Ok(false);
        }
        let order = match self.server().flavor() {
            Some(ServerFlavor::MariaDb(_)) => TRACK_LAST_GTID,
            Some(ServerFlavor::MySql(_)) | None => TRACK_GTIDS,
        };
        let does = self.order(Command::Query, order, AnswerKind::Single).await?.is_ok();
        if does {
            self.server().known.acknowledged.is_told();
        }
        Ok(does)
    }

    /// Has the server tell of changes, and sends what `mysql-init_connect` says, if anything: several statements may stand there. The character set is that of the
    /// login afterwards, whatever they say of it, and autocommit what they make it.
    ///
    /// # Errors
    /// When the connection fails; an ERR packet of the server is returned as such. It must be closed in both cases.
    pub(in crate::backend) async fn initialize(&mut self) -> Result<Result<(), ErrPacket>, NetError> {
        if self.is_told_of_changes {
            self.is_told_of_changes = self.has_gtids_told().await?
                || self.order(Command::Query, TRACK, AnswerKind::Single).await?.is_ok();
        }
        if self.init_connect.is_empty() {
            return Ok(Ok(()));
        }
        let statements = Arc::clone(&self.init_connect);
        let takes_several = self.shape.contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS);
        let set_names = Charset::Collation(self.login_collation).statement();
        let mut commands: Vec<(Command, &[u8], AnswerKind)> = Vec::new();
        if !takes_several {
            commands.push((Command::SetOption, &[0, 0], AnswerKind::Single));
        }
        commands.push((Command::Query, statements.as_bytes(), AnswerKind::ResultSets));
        if !takes_several {
            commands.push((Command::SetOption, &[1, 0], AnswerKind::Single));
        }
        if let Some(set_names) = &set_names {
            commands.push((Command::Query, set_names.as_bytes(), AnswerKind::ResultSets));
        }
        for answer in self.order_all(&commands).await? {
            match answer {
                Err(refusal) => return Ok(Err(refusal)),
                Ok(end) => {
                    self.state.autocommit = Some(end.status.contains(StatusFlags::SERVER_STATUS_AUTOCOMMIT));
                }
            }
        }
        Ok(Ok(()))
    }
}
