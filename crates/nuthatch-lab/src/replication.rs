//! How replicas do, and waiting for them.

use std::time::Duration;

use nuthatch_server::{Deadline, ProcessMark};

use crate::client::{Client, Rows};
use crate::duty::Duty;
use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::role::Role;
use crate::server::Server;
use crate::state::ServerState;
use crate::status::{Liveness, Replication, ServerStatus, Thread};

/// How long a replica may take to begin anew with another delay.
const LAG_WITHIN: Duration = Duration::from_secs(60);

impl Lab {
    /// Every replica has applied all that the primary had executed when this was called.
    ///
    /// # Errors
    /// [`LabError::Replication`] when one has not after `wait` (whole seconds count), [`LabError::Statement`]
    /// when one does not answer.
    pub fn await_replicas(&self, wait: Duration) -> Result<()> {
        self.await_applied(Role::Primary, self.servers(), wait)
    }

    /// Every other server that runs has applied all that this one had executed when this was called.
    ///
    /// # Errors
    /// As [`await_replicas`](Self::await_replicas).
    pub fn await_followers(&self, source: Role, wait: Duration) -> Result<()> {
        let now = Self::open(self.dir())?;
        now.await_applied(source, now.servers().filter(|server| server.pid().is_some()), wait)
    }

    fn await_applied<'lab>(
        &self,
        source: Role,
        servers: impl Iterator<Item = Server<'lab>>,
        wait: Duration,
    ) -> Result<()> {
        let position = self.position(&self.client(self.server_state(source)?)?)?;
        let sql = self.dialect().wait_for(&position, wait.as_secs());
        for server in servers.filter(|server| server.role() != source) {
            if server.query(&sql)?.first() != Some("0") {
                let reason = format!("{position} was not applied within {} s", wait.as_secs());
                return Err(LabError::Replication { role: server.role(), reason });
            }
        }
        Ok(())
    }

    /// The server follows nobody any more and may be written to. What it has fetched and not applied is lost:
    /// see [`await_followers`](Self::await_followers). Nothing is done to the primary before it.
    ///
    /// # Errors
    /// [`LabError::Statement`].
    pub fn promote(&self, role: Role) -> Result<()> {
        self.server(role)?.query(self.dialect().promote())?;
        Ok(())
    }

    /// The server may not be written to any more and follows that one from what it has.
    ///
    /// # Errors
    /// [`LabError::Replication`] when it does not after `wait`, for one because it has what the source has not.
    pub fn follow(&self, role: Role, source: Role, wait: Duration) -> Result<()> {
        let port = self.server(source)?.port();
        let server = self.server(role)?;
        server.query(self.dialect().demote())?;
        server.query(&self.dialect().follow(port, &self.login_for(Duty::Replication)?))?;
        self.await_replication(role, wait)
    }

    /// The server follows the source that it was told of, if any, and if that can be reached.
    pub(crate) fn resume_replication(&self, role: Role, wait: Duration) -> Result<()> {
        let client = self.client(self.server_state(role)?)?;
        if self.replication(&client).is_none() {
            return Ok(());
        }
        client.run(self.dialect().resume())?;
        let follows = |seen: &Replication| {
            let cannot_reach = seen.io == Thread::Connecting && !seen.error.is_empty();
            seen.sql == Thread::Running && (seen.io == Thread::Running || cannot_reach)
        };
        self.await_threads(role, wait, follows)
    }

    /// The replica applies nothing that is younger than so many seconds; 0 ends that. Fetching goes on.
    ///
    /// # Errors
    /// [`LabError::BadOption`] where the server follows nobody, [`LabError::Statement`].
    pub fn set_lag(&self, role: Role, seconds: u32) -> Result<()> {
        let client = self.client(self.server_state(role)?)?;
        if matches!(role, Role::Node(_)) || self.replication(&client).is_none() {
            return Err(LabError::BadOption { what: format!("{role} follows nobody, or does not answer") });
        }
        self.server(role)?.query(&self.dialect().delay(seconds))?;
        self.resume_replication(role, LAG_WITHIN)
    }

    /// Waits until both threads of the replica run.
    pub(crate) fn await_replication(&self, role: Role, wait: Duration) -> Result<()> {
        self.await_threads(role, wait, Replication::is_running)
    }

    fn await_threads(
        &self,
        role: Role,
        wait: Duration,
        is_well: impl Fn(&Replication) -> bool,
    ) -> Result<()> {
        let client = self.client(self.server_state(role)?)?;
        let mut seen = None;
        let mut look = || {
            seen = self.replication(&client);
            seen.as_ref().is_some_and(&is_well).then_some(())
        };
        Deadline::after(wait).poll(&mut look).ok_or_else(|| LabError::Replication {
            role,
            reason: seen.map_or_else(
                || "it does not answer, or knows no primary".into(),
                |seen| format!("fetching is {:?}, applying is {:?} {}", seen.io, seen.sql, seen.error),
            ),
        })
    }

    /// How the server is now.
    pub(crate) fn server_status(&self, server: &ServerState) -> ServerStatus {
        let alive = server.process.as_ref().filter(|mark| mark.is_alive());
        let client = alive.and_then(|_| self.client(server).ok());
        let position = client.as_ref().and_then(|client| self.position(client).ok());
        let replication = match (&client, &position) {
            (Some(client), Some(_)) => self.replication(client),
            _ => None,
        };
        let answers = position.is_some();
        ServerStatus {
            role: server.role,
            state: match (alive, &position) {
                (None, _) => Liveness::Stopped,
                (Some(_), None) => Liveness::Mute,
                (Some(_), Some(_)) => Liveness::Running,
            },
            host: "127.0.0.1",
            port: server.public_port(),
            direct_port: server.port,
            socket: server.socket.clone(),
            pid: alive.map(ProcessMark::pid),
            version: server.version.clone(),
            position: position.unwrap_or_default(),
            read_only: self.is_read_only(client.as_ref().filter(|_| answers)),
            replication,
            member: client.as_ref().filter(|_| answers).and_then(|client| self.member(client)),
            error_log: self.layout.error_log(server.role),
        }
    }

    fn is_read_only(&self, client: Option<&Client>) -> Option<bool> {
        Some(client?.look("SELECT @@GLOBAL.read_only").ok()?.first()? != "0")
    }

    fn position(&self, client: &Client) -> Result<String> {
        Ok(client.look(self.dialect().position())?.first().unwrap_or_default().to_owned())
    }

    /// What the replica says of itself; `None` when it does not answer or was told of no primary.
    pub(crate) fn replication(&self, client: &Client) -> Option<Replication> {
        let rows = client.look(self.dialect().replica_status()).ok()?;
        let columns = self.dialect().replica_columns();
        let value = |rows: &Rows, name: &str| rows.value(name).unwrap_or_default().to_owned();
        let errors = columns.errors.map(|name| value(&rows, name));
        (!rows.rows.is_empty()).then(|| Replication {
            io: Thread::parse(&value(&rows, columns.io_running)),
            sql: Thread::parse(&value(&rows, columns.sql_running)),
            received: value(&rows, columns.received).replace('\n', ""),
            lag_s: value(&rows, columns.lag).parse().ok(),
            error: errors.join(" ").trim().to_owned(),
        })
    }
}
