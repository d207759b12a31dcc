//! A primary and one of its replicas, side by side, over connections that stay: what the one has written and the other has applied.
//!
//! A proof has four steps, each awaited before the next: the primary's position ([`Witness::target`]), which has all that was acknowledged
//! before it was asked; the replica is there ([`Witness::wait`]); its own position, and how it replicates; and the primary's once more
//! ([`Witness::applied`]). It holds if the replica has all of the first, and nothing that is not in the last: a replica with transactions
//! of its own, or a primary whose numbers begin anew (RESET MASTER), proves nothing. So a read that begins on the replica after that finds
//! all that was acknowledged before the first step.
//!
//! Both servers must be the ones that were looked at, by their [`Identity`]. As long as its connection stands, the replica is the same
//! process, so what it has applied it keeps.
//!
//! It reads no clock and sets no time limit: dropping the future ends the witness, whose connections may be in the middle of an answer.

use nuthatch_net::BackendAddress;
use nuthatch_sql::{GtidPositions, GtidSet, ServerFlavor};
use thiserror::Error;

use crate::connection::Connection;
use crate::replication::{Family, as_replica, is_off};
use crate::settings::Settings;
use crate::standing::replica_status;
use crate::{Identity, Login, NoEvidence, PictureError};

/// For how long a server waits for its replica thread in one question.
const WAIT_S: f64 = 1.0;

/// See the module's doc.
pub struct Witness {
    primary: Side,
    replica: Side,
    flavor: ServerFlavor,
    /// Of the replica, when the witness was called.
    settings: Settings,
}

/// What the primary had written at one moment.
#[derive(Debug)]
pub struct Target {
    text: String,
    position: Position,
}

/// How far the replica is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It has applied all of the target.
    All,
    /// Not yet.
    NotAll,
}

/// Why a witness cannot say anything any more. As text a clause: "the answers of replicas are not stored: …".
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum WitnessError {
    #[error("could not {0}")]
    Lost(#[from] PictureError),
    #[error("under its address, or its primary's, another server answers than before")]
    OtherServer,
    #[error("it and its primary are not of one family")]
    OtherFamily,
    #[error("{0}")]
    NoEvidence(NoEvidence),
    #[error("it has executed transactions that its primary has not: {0}")]
    OwnTransactions(String),
    #[error("its position, or its primary's, is not understood")]
    NotUnderstood,
}

struct Side {
    connection: Connection,
    identity: Identity,
}

/// What one server says of itself.
struct Statement {
    is_read_only: bool,
    text: String,
    position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Position {
    MySql(GtidSet),
    MariaDb {
        /// What it has written, or applied, last in each domain.
        last: GtidPositions,
        /// What it has in its binlog of each domain and server.
        logged: GtidPositions,
    },
}

#[derive(Clone, Copy)]
enum Role {
    Primary,
    Replica,
}

impl Witness {
    /// Connects to both.
    ///
    /// # Errors
    /// When one cannot be reached, or is not who it should be.
    pub async fn call(
        primary: (&BackendAddress, &Login, &Identity),
        replica: (&BackendAddress, &Login, &Identity),
    ) -> Result<Self, WitnessError> {
        let (primary, _) = Side::open(primary).await?;
        let (mut replica, flavor) = Side::open(replica).await?;
        if primary.identity.family() != replica.identity.family() {
            return Err(WitnessError::OtherFamily);
        }
        let settings = Settings::read(&mut replica.connection).await?;
        Ok(Self { primary, replica, flavor, settings })
    }

    /// What the primary has written up to now: all at least that it has acknowledged before this was called.
    ///
    /// # Errors
    /// When nothing can be proven any more.
    pub async fn target(&mut self) -> Result<Target, WitnessError> {
        let Statement { is_read_only, text, position } = self.primary.ask(Role::Primary).await?;
        match is_read_only {
            true => Err(WitnessError::NoEvidence(NoEvidence::PrimaryReadOnly)),
            false => Ok(Target { text, position }),
        }
    }

    /// Returns when the replica has applied the target, or after a second.
    ///
    /// # Errors
    /// When nothing can be proven any more.
    pub async fn wait(&mut self, target: &Target) -> Result<(), WitnessError> {
        let wait = self.flavor.wait_for_gtids(&target.text, WAIT_S);
        self.replica.connection.ask_text("a wait for the replica", &wait).await?;
        Ok(())
    }

    /// Whether the replica has applied the target. What it says is what it was at some moment after this was called.
    ///
    /// # Errors
    /// When nothing can be proven any more.
    pub async fn applied(&mut self, target: &Target) -> Result<Applied, WitnessError> {
        let replica = self.replica.ask(Role::Replica).await?;
        let status = replica_status(&mut self.replica.connection, self.flavor).await?;
        as_replica(self.flavor, &status, &self.settings, Ok(())).map_err(WitnessError::NoEvidence)?;
        if !replica.is_read_only {
            return Err(WitnessError::NoEvidence(NoEvidence::Writable));
        }
        let primary = self.primary.ask(Role::Primary).await?;
        if !replica.position.is_within(&primary.position) {
            return Err(WitnessError::OwnTransactions(replica.text));
        }
        Ok(if replica.position.has(&target.position) { Applied::All } else { Applied::NotAll })
    }
}

impl Side {
    async fn open(
        (server, login, identity): (&BackendAddress, &Login, &Identity),
    ) -> Result<(Self, ServerFlavor), WitnessError> {
        let (connection, flavor) = Connection::open(server, login).await?;
        Ok((Self { connection, identity: identity.clone() }, flavor))
    }

    async fn ask(&mut self, role: Role) -> Result<Statement, WitnessError> {
        let family = self.identity.family();
        let positions = match (family, role) {
            (Family::MySql, _) => "@@global.gtid_executed, ''",
            (Family::MariaDb, Role::Primary) => "@@global.gtid_binlog_pos, @@global.gtid_binlog_state",
            (Family::MariaDb, Role::Replica) => "@@global.gtid_slave_pos, @@global.gtid_binlog_state",
        };
        let question = format!("SELECT {}, @@global.read_only, {positions}", family.identity());
        let found = self.connection.ask_text("its position", &question).await?;
        let row = found.first().map(Vec::as_slice);
        let Some([identity, read_only, last, logged]) = row else { return Err(WitnessError::NotUnderstood) };
        if identity.as_slice() != self.identity.as_str().as_bytes() {
            return Err(WitnessError::OtherServer);
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let (last, logged) = text(last).zip(text(logged)).ok_or(WitnessError::NotUnderstood)?;
        let position = Position::parse(family, &last, &logged).ok_or(WitnessError::NotUnderstood)?;
        Ok(Statement { is_read_only: !is_off(read_only), text: last, position })
    }
}

impl Position {
    fn parse(family: Family, last: &str, logged: &str) -> Option<Self> {
        Some(match family {
            Family::MySql => Self::MySql(GtidSet::parse(last)?),
            Family::MariaDb => {
                Self::MariaDb { last: GtidPositions::parse(last)?, logged: GtidPositions::parse(logged)? }
            }
        })
    }

    /// Whether a replica of this position has applied what a primary of that one has written.
    fn has(&self, target: &Self) -> bool {
        match (self, target) {
            (Self::MySql(own), Self::MySql(target)) => own.contains(target),
            (Self::MariaDb { last: own, .. }, Self::MariaDb { last: target, .. }) => own.reaches(target),
            _ => false,
        }
    }

    /// Whether a replica of this position has executed nothing that its primary, of that one, has not.
    fn is_within(&self, primary: &Self) -> bool {
        match (self, primary) {
            (Self::MySql(own), Self::MySql(primary)) => primary.contains(own),
            (Self::MariaDb { last, logged: own }, Self::MariaDb { logged, .. }) => {
                last.is_known_in(logged) && own.is_known_in(logged)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_that_begins_anew_and_replica_that_writes_itself_prove_nothing() {
        let mariadb = |last, logged| Position::parse(Family::MariaDb, last, logged).expect("a position");
        let primary = mariadb("0-1-7", "0-1-7,0-3-4");
        assert!(mariadb("0-1-7", "").is_within(&primary) && mariadb("0-1-7", "").has(&primary));
        assert!(mariadb("0-1-6", "0-1-6,0-3-4").is_within(&primary) && !mariadb("0-1-6", "").has(&primary));
        assert!(!mariadb("0-1-7", "0-2-8").is_within(&primary), "it has written itself");
        assert!(!mariadb("0-1-900", "").is_within(&primary), "its primary's numbers have begun anew");
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        let mysql =
            |numbers| Position::parse(Family::MySql, &format!("{uuid}:{numbers}"), "").expect("a set");
        assert!(mysql("1-5").has(&mysql("2")) && mysql("1-5").is_within(&mysql("1-6")));
        assert!(!mysql("1-900").is_within(&mysql("1-6")) && !mysql("1:3").has(&mysql("2")));
        assert!(!mysql("1").has(&primary) && !primary.is_within(&mysql("1")));
    }
}
