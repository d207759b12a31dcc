//! One who sends reads of others to a cold server, one by one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nuthatch_config::Snapshot;
use nuthatch_wire::{AnswerKind, Command};
use tokio::time::{Instant, timeout};

use crate::backend::check_out::connect;
use crate::backend::check_out::logging_in::login;
use crate::backend::mirror::{Intake, MirrorCounts, MirroredRead};
use crate::backend::{Connection, Hostgroups, Server, Wanted};
use crate::clock::Clock;
use crate::state::SessionState;
use crate::state::capability::SHAPE;
use crate::worker::Worker;

/// Connections that are kept, each of a user and character set.
const CONNECTIONS_MAX: usize = 4;

/// The server works no longer than so for one read, in milliseconds.
const READ_MS_MAX: u64 = 5_000;

/// What an answer may take beyond that.
const GRACE: Duration = Duration::from_secs(1);

/// For so long nobody connects as a user behind a connect that came to nothing.
const PAUSE: Duration = Duration::from_secs(5);

/// Users whose connects came to nothing that are remembered.
const FAILED_MAX: usize = 16;

/// See the module's doc.
pub(super) struct Lane {
    pub(super) server: Arc<Server>,
    pub(super) worker: Arc<Worker>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) hostgroups: Arc<Hostgroups>,
    pub(super) clock: Clock,
}

/// What a lane keeps between two reads.
#[derive(Default)]
struct Kept {
    /// The one that was used last at the end.
    connections: Vec<Connection>,
    /// As whom it could not connect, and when that was last.
    failed: Vec<(Arc<str>, Instant)>,
}

impl Kept {
    fn take(&mut self, read: &MirroredRead) -> Option<Connection> {
        self.connections.retain(|connection| !connection.is_too_old());
        let is_fit = |connection: &Connection| {
            // A schema can be changed for another, and not for none.
            let is_in_some = !read.schema.is_empty() || connection.state.schema.is_empty();
            *connection.user == *read.user && connection.state.charset == read.charset && is_in_some
        };
        let place = self.connections.iter().position(is_fit)?;
        Some(self.connections.remove(place))
    }

    fn put(&mut self, connection: Connection) {
        if self.connections.len() >= CONNECTIONS_MAX {
            self.connections.remove(0);
        }
        self.connections.push(connection);
    }

    /// Whether connects as that user may come to something.
    fn may_connect(&mut self, user: &str) -> bool {
        self.failed.retain(|(_, at)| at.elapsed() < PAUSE);
        self.failed.len() < FAILED_MAX && !self.failed.iter().any(|(failed, _)| **failed == *user)
    }
}

impl Lane {
    /// Sends what comes until nothing is to be sent any more.
    pub(super) async fn run(self, counts: Arc<MirrorCounts>, intake: Intake) {
        let Intake { mut reads, end } = intake;
        let sending = async {
            let mut kept = Kept::default();
            while let Some(read) = reads.recv().await {
                let count = match self.send(&read, &mut kept).await {
                    Some(()) => &counts.sent,
                    None => &counts.failed,
                };
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        end.run_until_cancelled(sending).await;
    }

    /// Sends it, and throws away what is answered. None if it came to nothing.
    async fn send(&self, read: &MirroredRead, kept: &mut Kept) -> Option<()> {
        let mut connection = match kept.take(read) {
            Some(connection) => connection,
            None if !kept.may_connect(&read.user) => return None,
            None => match self.open(read).await {
                Some(connection) => *connection,
                None => {
                    kept.failed.push((Arc::clone(&read.user), Instant::now()));
                    return None;
                }
            },
        };
        let patience = Duration::from_millis(READ_MS_MAX) + GRACE;
        let answered = timeout(patience, ask(&mut connection, read)).await.ok().flatten()?;
        kept.put(connection);
        answered.then_some(())
    }

    /// A connection that can only read.
    async fn open(&self, read: &MirroredRead) -> Option<Box<Connection>> {
        // The others are for those who wait for an answer.
        let slot = self.server.reserve_beside(self.server.connections_max() / 2)?;
        if !self.server.room.is_there_for(&read.user, self.clock.now_ms()) || self.server.is_urged() {
            return None;
        }
        let life = self.server.known.caught_up.life();
        let state = SessionState::new(read.schema.to_vec(), read.charset.clone());
        let wanted = Wanted::by(&read.user, Some(&read.password), SHAPE, &state, &self.worker);
        let login = login(&wanted, &self.snapshot.mysql, &self.server).ok()?;
        let mut connection = connect::open(slot, &self.worker, &login).await.ok()?;
        self.hostgroups.suspect_if_anew(&self.server, life, self.clock.now_ms());
        let mariadb = format!("SET SESSION max_statement_time = {}", READ_MS_MAX / 1000);
        let mysql = format!("SET SESSION max_execution_time = {READ_MS_MAX}");
        let charset = read.charset.statement();
        // Else a server that begins without it holds what the first read has touched.
        let autocommit = "SET SESSION autocommit = 1";
        let read_only = "SET SESSION TRANSACTION READ ONLY";
        let orders = [charset.as_deref().unwrap_or("DO 0"), autocommit, read_only, &mariadb, &mysql];
        let orders = orders.map(|order| (Command::Query, order.as_bytes(), AnswerKind::ResultSets));
        let said = timeout(login.timeout, connection.order_all(&orders)).await.ok()?.ok()?;
        // Of the time limits each server knows one.
        if said.iter().take(3).any(Result::is_err) || said.iter().skip(3).all(Result::is_err) {
            return None;
        }
        connection.state.charset = read.charset.clone();
        Some(connection)
    }
}

/// Whether it was answered, and not refused; none if the connection is of no use any more.
async fn ask(connection: &mut Connection, read: &MirroredRead) -> Option<bool> {
    if *connection.state.schema != *read.schema {
        let entered = connection.order(Command::InitDb, &read.schema, AnswerKind::Single).await.ok()?;
        if entered.is_err() {
            return Some(false);
        }
        connection.state.schema = read.schema.to_vec().into();
    }
    let answered = connection.order(Command::Query, &read.text, AnswerKind::ResultSets).await.ok()?;
    Some(answered.is_ok())
}
