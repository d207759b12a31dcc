//! A connection to one server, on which each question has a time limit.

use std::time::Duration;

use nuthatch_config::ServerName;
use nuthatch_net::{AnswerTable, AskError, Asker, AskerLogin, BackendAddress, NetError};
use nuthatch_sql::ServerFlavor;
use thiserror::Error;
use tokio::time::{sleep, timeout};

use crate::dialect;
use crate::gtid::Gtids;
use crate::order::KnownServer;

const ANSWER_BYTES_MAX: usize = 4 << 20;

/// ER_NO_SUCH_THREAD.
const UNKNOWN_THREAD: u16 = 1094;

/// How often, and how fast, it is looked whether a thread has ended.
const LOOKS_MAX: u32 = 200;
const LOOKS_PAUSE: Duration = Duration::from_millis(25);

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: ServerName,
    pub(crate) flavor: ServerFlavor,
    /// Its number on the server.
    pub(crate) thread_id: u64,
    asker: Asker,
    /// Where the server is, and who logs in.
    way: (BackendAddress, AskerLogin),
    patience: Duration,
    /// The answer to something did not come: the next one to come may be that.
    is_lost: bool,
}

/// Why a server did not do what it was told.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It cannot be reached, or could not any more: whether it has done it is not known.
    #[error("{server}: {why}")]
    Lost {
        /// Who.
        server: ServerName,
        /// In words.
        why: String,
    },
    /// It does not let the account in.
    #[error("{server} cannot be logged in to as '{user}': {why}")]
    NotLetIn {
        /// Who.
        server: ServerName,
        /// As whom.
        user: String,
        /// In words.
        why: String,
    },
    /// It said no: it has not done it.
    #[error("{server} refused `{sql}`: {why}")]
    Refused {
        /// Who.
        server: ServerName,
        /// What; nothing secret.
        sql: String,
        /// In words.
        why: String,
        /// The error's number.
        code: u16,
    },
}

/// Errors by which an account may not do what it is told: then it is told which grants it takes.
const OF_RIGHTS: [u16; 4] = [1044, 1045, 1142, 1227];

/// Errors by which a server lets an account in never, as it is: also 1130 (its host), 1698, 3118 (locked), 4151.
const OF_LOGINS: [u16; 6] = [1044, 1045, 1130, 1698, 3118, 4151];

impl Failure {
    /// Whether the server is there, and does not let the account in or do as it says.
    pub(crate) fn is_of_account(&self) -> bool {
        match self {
            Self::Lost { .. } => false,
            Self::NotLetIn { .. } => true,
            Self::Refused { code, .. } => OF_RIGHTS.contains(code),
        }
    }
}

impl Link {
    pub(crate) async fn open(
        name: &ServerName,
        address: &BackendAddress,
        login: &AskerLogin,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let lost = |why: String| Failure::Lost { server: name.clone(), why };
        let opened = timeout(patience, Asker::open(address, login, ANSWER_BYTES_MAX)).await;
        let asker =
            opened.map_err(|_elapsed| lost("it does not answer".to_owned()))?.map_err(
                |error| match error {
                    NetError::Refused(refusal) if OF_LOGINS.contains(&refusal.code) => Failure::NotLetIn {
                        server: name.clone(),
                        user: login.user.clone(),
                        why: NetError::Refused(refusal).to_string(),
                    },
                    error => lost(format!("it cannot be logged in to as '{}': {error}", login.user)),
                },
            )?;
        let flavor = ServerFlavor::of_version(asker.version().as_bytes());
        let way = (address.clone(), login.clone());
        let mut link =
            Self { name: name.clone(), flavor, thread_id: 0, asker, way, patience, is_lost: false };
        let answer = link.ask("SELECT CONNECTION_ID() AS id").await?;
        let id = answer.value("id").and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
        link.thread_id = id.ok_or_else(|| lost("it does not tell the connection's number".to_owned()))?;
        Ok(link)
    }

    /// The same with a server as it is known.
    pub(crate) async fn to(
        (name, address, login): &KnownServer,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let no_way = |why: &String| Failure::Lost { server: name.clone(), why: why.clone() };
        let login = login.as_ref().map_err(no_way)?;
        Self::open(name, address, login, patience).await
    }

    /// Another connection in the place of this one, which is lost: what it was told last is over.
    pub(crate) async fn relinked(&self) -> Result<Self, Failure> {
        let (address, login) = &self.way;
        let mut fresh = Self::open(&self.name, address, login, self.patience).await?;
        fresh.end_thread(self.thread_id).await?;
        Ok(fresh)
    }

    /// What another connection was told, and nobody knows whether it has been done, has been done or will not be when this returns.
    pub(crate) async fn end_thread(&mut self, id: u64) -> Result<(), Failure> {
        match self.ask(&format!("KILL {id}")).await {
            Ok(_) | Err(Failure::Refused { code: UNKNOWN_THREAD, .. }) => {}
            Err(failure) => return Err(failure),
        }
        let sql = format!("SELECT COUNT(*) AS alive FROM information_schema.PROCESSLIST WHERE ID = {id}");
        for _ in 0..LOOKS_MAX {
            if self.ask(&sql).await?.value("alive") == Some(b"0") {
                return Ok(());
            }
            sleep(LOOKS_PAUSE).await;
        }
        let why = format!("its thread {id} does not end");
        Err(Failure::Lost { server: self.name.clone(), why })
    }

    /// The answer to a question, or to an order.
    pub(crate) async fn ask(&mut self, sql: &str) -> Result<AnswerTable, Failure> {
        self.ask_within(sql, self.patience, sql).await
    }

    /// The same with a time limit of its own; `shown` stands where it is told of: a password may be in what is asked.
    pub(crate) async fn ask_within(
        &mut self,
        sql: &str,
        patience: Duration,
        shown: &str,
    ) -> Result<AnswerTable, Failure> {
        let name = self.name.clone();
        let server = || name.clone();
        if self.is_lost {
            return Err(Failure::Lost { server: server(), why: "the connection was lost before".to_owned() });
        }
        // Until the answer is there.
        self.is_lost = true;
        let asked = timeout(patience, self.asker.ask(sql)).await;
        self.is_lost = !matches!(asked, Ok(Ok(_) | Err(AskError::Refused { .. })));
        match asked {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(AskError::Refused { code, message })) => {
                let grants = match OF_RIGHTS.contains(&code) {
                    true => format!("; {}", dialect::grants(self.flavor, &self.way.1.user)),
                    false => String::new(),
                };
                let why = format!("error {code}: {message}{grants}");
                Err(Failure::Refused { server: server(), sql: shown.to_owned(), why, code })
            }
            Ok(Err(error)) => Err(Failure::Lost { server: server(), why: error.to_string() }),
            Err(_elapsed) => {
                let why = format!("no answer to `{shown}` within {} ms", patience.as_millis());
                Err(Failure::Lost { server: server(), why })
            }
        }
    }

    /// Whether the server has applied all of that, within so much time.
    pub(crate) async fn has_applied(&mut self, gtids: &Gtids, within: Duration) -> Result<bool, Failure> {
        let sql = self.flavor.wait_for_gtids(&gtids.to_string(), within.as_secs_f64());
        let answer = self.ask_within(&sql, within + self.patience, &sql).await?;
        Ok(answer.value("waited") == Some(b"0"))
    }

    /// The server takes writes from now on, or none any more (MySQL: of nobody).
    pub(crate) async fn take_writes(&mut self, does: bool) -> Result<(), Failure> {
        for sql in dialect::take_writes(self.flavor, does) {
            self.ask(sql).await?;
        }
        Ok(())
    }

    /// Whether it is MariaDB.
    pub(crate) const fn is_mariadb(&self) -> bool {
        matches!(self.flavor, ServerFlavor::MariaDb(_))
    }
}
