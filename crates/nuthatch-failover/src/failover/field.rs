//! The servers of a pair but its old primary, asked all at once: one that hangs makes no other wait.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nuthatch_config::ServerName;
use nuthatch_net::{Asker, NetError};
use tokio::time::{Instant, sleep, timeout};

use super::demand::Demand;
use super::evidence::{Look, Primary, View};
use crate::at_once;
use crate::dialect;
use crate::link::{Failure, Link};
use crate::order::KnownServer;
use crate::survey::Survey;

/// How long a replica may take to be connected anew, where its source answers.
const TO_CONNECT: Duration = Duration::from_secs(1);

/// After which the next one is told, if none is connected yet: a source that waits for an acknowledgement is to have somebody else.
const STAGGER: Duration = Duration::from_millis(300);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a replica may take to stop receiving. A semi-synchronous one of MariaDB first tells its source so over another connection, and
/// waits `rpl_semi_sync_slave_kill_conn_timeout` (5 s) for one that hangs. Servers leave
/// voting connections open for longer (`votes.rs`).
const TO_STOP: Duration = Duration::from_secs(8);

/// Nothing that a look asks for is larger.
const ANSWER_BYTES_MAX: usize = 1 << 16;

/// See the module's doc.
pub(crate) struct Field {
    pub(crate) asked: Vec<(Link, Survey)>,
    /// Those that could not be asked, and why.
    pub(crate) missing: Vec<(ServerName, String)>,
}

/// Looks at the old primary.
pub(crate) async fn look(server: &KnownServer, patience: Duration) -> Look {
    let (_, address, login) = server;
    let login = match login {
        Ok(login) => login,
        Err(why) => return Look::Failed(why.clone()),
    };
    match timeout(patience, Asker::open(address, login, ANSWER_BYTES_MAX)).await {
        Ok(Ok(asker)) => {
            let _unheard = timeout(patience, asker.close()).await;
            Look::Answers
        }
        Ok(Err(NetError::Closed)) => Look::Gone(NetError::Closed.to_string()),
        Ok(Err(NetError::Io(error))) => of_socket(&error),
        // It is there, and does not let us in.
        Ok(Err(_)) => Look::Answers,
        Err(_elapsed) => Look::Silent(format!("no answer within {} ms", patience.as_millis())),
    }
}

fn of_socket(error: &io::Error) -> Look {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable,
        NetworkUnreachable, NotFound, TimedOut, UnexpectedEof,
    };
    match error.kind() {
        BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | NotFound | UnexpectedEof => {
            Look::Gone(error.to_string())
        }
        HostUnreachable | NetworkUnreachable | TimedOut => Look::Silent(error.to_string()),
        _ => Look::Failed(error.to_string()),
    }
}

impl Field {
    /// All have answered, or had their time.
    pub(crate) async fn ask(demand: &Demand, old: &ServerName) -> Self {
        let servers = demand.cluster.servers.iter().filter(|(name, ..)| name != old);
        let asking =
            servers.map(|server| async move { (&server.0, Survey::at(server, demand.answer).await) });
        let mut field = Self { asked: Vec::new(), missing: Vec::new() };
        for (name, asked) in at_once::all(asking).await {
            match asked {
                Ok(one) => field.asked.push(one),
                Err(failure) => field.missing.push((name.clone(), failure.to_string())),
            }
        }
        field
    }

    /// What they say now. Who does not answer any more is missing from now on.
    pub(crate) async fn ask_again(&mut self) {
        let asking = self.asked.drain(..).map(|(mut link, _)| async move {
            let asked = Survey::of(&mut link).await;
            (link, asked)
        });
        for (link, asked) in at_once::all(asking).await {
            match asked {
                Ok(survey) => self.asked.push((link, survey)),
                Err(failure) => self.missing.push((link.name.clone(), failure.to_string())),
            }
        }
    }

    pub(crate) fn surveys(&self) -> Vec<&Survey> {
        self.asked.iter().map(|(_, survey)| survey).collect()
    }

    /// What each says of the old primary.
    pub(crate) fn views(&self, old: &ServerName) -> Vec<(ServerName, View)> {
        let surveys = self.surveys();
        let old = self.primary(old, &surveys);
        surveys.iter().map(|survey| (survey.name.clone(), View::of(survey, &old))).collect()
    }

    /// The old primary, as they know it.
    pub(crate) fn primary<'a>(&self, old: &'a ServerName, surveys: &'a [&'a Survey]) -> Primary<'a> {
        Primary { name: old, present: self.missing.is_empty().then_some(surveys) }
    }

    /// These connect to their source anew, each a little after the other, until one of them is connected: who has not heard of it for a while
    /// has noticed then whether it is there. Both threads of none are stopped at a time: MariaDB's would lose what they have not applied.
    pub(crate) async fn connect_anew(&mut self, names: &[ServerName]) -> Result<(), Failure> {
        let is_one_connected = AtomicBool::new(false);
        let named = self.asked.iter_mut().filter(|(link, _)| names.contains(&link.name));
        let connecting = named.enumerate().map(|(place, (link, survey))| {
            let (before, is_one_connected) =
                (STAGGER.saturating_mul(u32::try_from(place).unwrap_or(u32::MAX)), &is_one_connected);
            async move {
                sleep(before).await;
                match &survey.follows[..] {
                    [channel] if channel.applies == "Yes" && !is_one_connected.load(Ordering::Relaxed) => {
                        connect_anew(link, &channel.name, is_one_connected).await
                    }
                    _ => Ok(()),
                }
            }
        });
        let connected: Result<Vec<()>, Failure> = at_once::all(connecting).await.into_iter().collect();
        connected.map(drop)
    }
}

/// A replica receives what its source sends from now on, or nothing more of it.
pub(super) async fn receive(link: &mut Link, channel: &str, does: bool) -> Result<(), Failure> {
    let sql = dialect::receive(link.flavor, channel, does);
    link.ask_within(&sql, TO_STOP, &sql).await.map(drop)
}

/// A replica connects to its source anew, and is watched until it is connected or has had its time.
async fn connect_anew(link: &mut Link, channel: &str, is_connected: &AtomicBool) -> Result<(), Failure> {
    receive(link, channel, false).await?;
    receive(link, channel, true).await?;
    let began = Instant::now();
    while began.elapsed() < TO_CONNECT {
        sleep(PAUSE).await;
        if Survey::of(link).await?.follows.first().is_some_and(|channel| channel.fetches == "Yes") {
            is_connected.store(true, Ordering::Relaxed);
            return Ok(());
        }
    }
    Ok(())
}
