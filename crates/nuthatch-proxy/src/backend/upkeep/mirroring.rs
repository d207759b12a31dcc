//! One who sends reads of others to a cold server, one by one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nuthatch_config::Snapshot;
use nuthatch_wire::{AnswerKind, Command};
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};

use crate::backend::check_out::connect;
use crate::backend::check_out::logging_in::login;
use crate::backend::mirror::{MirrorCounts, MirroredRead};
use crate::backend::{Connection, Server, Wanted};
use crate::state::SessionState;
use crate::state::capability::SHAPE;
use crate::worker::Worker;

/// Connections that are kept, each of a user and character set.
const CONNECTIONS_MAX: usize = 4;

/// The server works no longer than so for one read, in milliseconds.
const READ_MS_MAX: u64 = 5_000;

/// The pause behind a connect that came to nothing.
const PAUSE: Duration = Duration::from_secs(1);

/// See the module's doc.
pub(super) struct Lane {
    server: Arc<Server>,
    worker: Arc<Worker>,
    snapshot: Arc<Snapshot>,
    /// The one that was used last at the end.
    connections: Vec<Connection>,
}

impl Lane {
    pub(super) fn new(server: &Arc<Server>, worker: &Arc<Worker>, snapshot: &Arc<Snapshot>) -> Self {
        let (server, worker, snapshot) = (Arc::clone(server), Arc::clone(worker), Arc::clone(snapshot));
        Self { server, worker, snapshot, connections: Vec::new() }
    }

    /// Sends what comes until nothing can come any more.
    pub(super) async fn run(mut self, counts: Arc<MirrorCounts>, mut reads: Receiver<MirroredRead>) {
        while let Some(read) = reads.recv().await {
            let count = match self.send(&read).await {
                Some(()) => &counts.sent,
                None => &counts.failed,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends it, and throws away what is answered. None if it came to nothing.
    async fn send(&mut self, read: &MirroredRead) -> Option<()> {
        let is_fit = |connection: &Connection| {
            *connection.user == *read.user && connection.state.charset == read.charset
        };
        let mut connection = match self.connections.iter().position(is_fit) {
            Some(place) => self.connections.remove(place),
            None => match self.open(read).await {
                Some(connection) => *connection,
                None => {
                    sleep(PAUSE).await;
                    return None;
                }
            },
        };
        let patience = Duration::from_millis(READ_MS_MAX) + PAUSE;
        let answered = timeout(patience, ask(&mut connection, read)).await.ok().flatten();
        if answered.is_some() {
            if self.connections.len() >= CONNECTIONS_MAX {
                self.connections.remove(0);
            }
            self.connections.push(connection);
        }
        answered.filter(|is_answered| *is_answered).map(drop)
    }

    /// A connection that can only read.
    async fn open(&self, read: &MirroredRead) -> Option<Box<Connection>> {
        let slot = self.server.reserve()?;
        let state = SessionState::new(read.schema.to_vec(), read.charset.clone());
        let wanted = Wanted::by(&read.user, Some(&read.password), SHAPE, &state, &self.worker);
        let login = login(&wanted, &self.snapshot.mysql, &self.server).ok()?;
        let mut connection = connect::open(slot, &self.worker, &login).await.ok()?;
        let mariadb = format!("SET SESSION max_statement_time = {}", READ_MS_MAX / 1000);
        let mysql = format!("SET SESSION max_execution_time = {READ_MS_MAX}");
        let charset = read.charset.statement();
        let orders =
            [charset.as_deref().unwrap_or("DO 0"), "SET SESSION TRANSACTION READ ONLY", &mariadb, &mysql];
        let orders = orders.map(|order| (Command::Query, order.as_bytes(), AnswerKind::ResultSets));
        let said = timeout(login.timeout, connection.order_all(&orders)).await.ok()?.ok()?;
        // Of the time limits each server knows one.
        if said.iter().take(2).any(Result::is_err) || said.iter().skip(2).all(Result::is_err) {
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
