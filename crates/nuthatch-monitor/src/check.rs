//! One check of one server: what is done, and what it came to.

use std::io;
use std::time::Duration;

use nuthatch_net::{AnswerTable, AskError, Asker, NetError};
use tokio::time::{Instant, timeout};

use crate::target::Target;

/// No answer that is asked for is larger.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server answered as asked after so long.
    Done { took: Duration },
    /// It does not let the monitor in, be it for its account: it is there.
    NotLetIn { why: String, is_account: bool },
    /// It refused what it was asked: it is there.
    Refused { why: String },
    /// It did not answer.
    Failed { why: String, how: Absence },
    /// It could not be asked, for a reason on this side: nothing is known of it.
    NotAsked { why: String },
}

/// How a server does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// Nothing came, or not in time: whether it is there is not known.
    NoAnswer,
    /// Its host said that nobody is there, or somebody was and is gone.
    Gone,
}

impl Outcome {
    fn of(error: &NetError) -> Self {
        match error {
            NetError::Closed => Self::Failed { why: error.to_string(), how: Absence::Gone },
            NetError::Io(cause) => match absence(cause) {
                Some(how) => Self::Failed { why: cause.to_string(), how },
                None => Self::NotAsked { why: cause.to_string() },
            },
            NetError::Wire(cause) => Self::NotLetIn { why: format!("{error}: {cause}"), is_account: false },
            NetError::Refused(refusal) => {
                Self::NotLetIn { why: error.to_string(), is_account: OF_ACCOUNT.contains(&refusal.code) }
            }
            NetError::UnsupportedPlugin(_)
            | NetError::UnknownPassword(_)
            | NetError::ClearPasswordRefused(_) => {
                Self::NotLetIn { why: error.to_string(), is_account: true }
            }
            _ => Self::NotLetIn { why: error.to_string(), is_account: false },
        }
    }
}

/// Errors by which a server refuses an account: not known or a wrong password, without a password, locked or expired.
const OF_ACCOUNT: [u16; 5] = [1045, 1698, 1862, 3118, 4151];

/// How it shows that nobody is at the other end of a socket; none where what fails is on this side: a name, a file descriptor.
fn absence(error: &io::Error) -> Option<Absence> {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable,
        NetworkUnreachable, NotFound, TimedOut, UnexpectedEof,
    };
    match error.kind() {
        BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | NotFound | UnexpectedEof => {
            Some(Absence::Gone)
        }
        HostUnreachable | NetworkUnreachable | TimedOut => Some(Absence::NoAnswer),
        _ => None,
    }
}

/// ER_SERVER_SHUTDOWN: it says so itself that it goes.
const SHUTDOWN: u16 = 1053;

/// What is asked over a connection that stays.
enum Question<'a> {
    Ping,
    /// In the words of a server of that version.
    Sql(&'a (dyn Fn(&str) -> String + Sync)),
}

impl Question<'_> {
    /// The answer; an empty one to a ping.
    async fn ask(&self, asker: &mut Asker) -> Result<AnswerTable, AskError> {
        match self {
            Self::Ping => asker.ping().await.map(|()| AnswerTable::default()),
            Self::Sql(sql) => {
                let sql = sql(asker.version());
                asker.ask(&sql).await
            }
        }
    }
}

/// Logs in and says goodbye.
pub(crate) async fn connect(target: &Target, patience: Duration) -> Outcome {
    let began = Instant::now();
    match open(target, patience).await {
        Ok(asker) => {
            let took = began.elapsed();
            let _unheard = timeout(patience, asker.close()).await;
            Outcome::Done { took }
        }
        Err(outcome) => outcome,
    }
}

/// Pings over the connection that is kept, or a new one. It is kept unless it failed.
pub(crate) async fn ping(target: &Target, patience: Duration, kept: &mut Option<Asker>) -> Outcome {
    let asked = over_kept(target, patience, kept, Question::Ping).await;
    asked.map_or_else(|outcome| outcome, |(_, took)| Outcome::Done { took })
}

/// Asks a question, in the words of a server of the version that it is given, over the connection that is kept, or a new one. It is kept
/// unless it failed. Returns also what `read` makes of the answer, which makes nothing of one to another question.
pub(crate) async fn ask<T>(
    target: &Target,
    patience: Duration,
    kept: &mut Option<Asker>,
    question: &(dyn Fn(&str) -> String + Sync),
    read: impl FnOnce(&AnswerTable) -> Option<T>,
) -> (Outcome, Option<T>) {
    let (answer, took) = match over_kept(target, patience, kept, Question::Sql(question)).await {
        Ok(asked) => asked,
        Err(outcome) => return (outcome, None),
    };
    match read(&answer) {
        Some(told) => (Outcome::Done { took }, Some(told)),
        None => (Outcome::Refused { why: "its answer is not what was asked for".to_owned() }, None),
    }
}

/// Asks over the connection that is kept, or a new one; over a new one too if the server has closed the kept one meanwhile. Returns the
/// answer, and how long it took.
async fn over_kept(
    target: &Target,
    patience: Duration,
    kept: &mut Option<Asker>,
    question: Question<'_>,
) -> Result<(AnswerTable, Duration), Outcome> {
    loop {
        let (mut asker, was_kept) = match kept.take().filter(|asker| !asker.is_disturbed()) {
            Some(asker) => (asker, true),
            None => (open(target, patience).await?, false),
        };
        let began = Instant::now();
        match timeout(patience, question.ask(&mut asker)).await {
            Ok(Ok(answer)) => {
                *kept = Some(asker);
                return Ok((answer, began.elapsed()));
            }
            Ok(Err(AskError::Lost(_))) if was_kept => {}
            Ok(Err(AskError::Lost(error))) => return Err(Outcome::of(&error)),
            Ok(Err(error @ AskError::Refused { code: SHUTDOWN, .. })) => {
                return Err(Outcome::Failed { why: error.to_string(), how: Absence::Gone });
            }
            Ok(Err(error)) => {
                *kept = Some(asker);
                return Err(Outcome::Refused { why: error.to_string() });
            }
            Err(_elapsed) => return Err(no_answer(patience)),
        }
    }
}

async fn open(target: &Target, patience: Duration) -> Result<Asker, Outcome> {
    let login =
        target.login.as_ref().map_err(|why| Outcome::NotLetIn { why: why.clone(), is_account: false })?;
    match timeout(patience, Asker::open(&target.address, login, ANSWER_BYTES_MAX)).await {
        Ok(opened) => opened.map_err(|error| Outcome::of(&error)),
        Err(_elapsed) => Err(no_answer(patience)),
    }
}

fn no_answer(patience: Duration) -> Outcome {
    let why = format!("no answer within {} ms", patience.as_millis());
    Outcome::Failed { why, how: Absence::NoAnswer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_is_not_there_has_failed() {
        let io = |kind| NetError::Io(io::Error::from(kind));
        let is_failed = |error: &NetError| matches!(Outcome::of(error), Outcome::Failed { .. });
        for kind in
            [io::ErrorKind::ConnectionRefused, io::ErrorKind::ConnectionReset, io::ErrorKind::HostUnreachable]
        {
            assert!(is_failed(&io(kind)), "{kind}");
        }
        assert!(is_failed(&NetError::Closed));
        for error in [NetError::NoTls, NetError::Tls(io::Error::other("certificate expired"))] {
            assert!(matches!(Outcome::of(&error), Outcome::NotLetIn { is_account: false, .. }), "{error}");
        }
        let of_account = Outcome::of(&NetError::UnsupportedPlugin("x".to_owned()));
        assert!(matches!(of_account, Outcome::NotLetIn { is_account: true, .. }), "{of_account:?}");
        let local = Outcome::of(&io(io::ErrorKind::Other));
        assert!(matches!(local, Outcome::NotAsked { .. }), "{local:?}");
        let Outcome::Failed { why, how: Absence::Gone } = Outcome::of(&io(io::ErrorKind::ConnectionRefused))
        else {
            panic!()
        };
        assert!(why.contains("refused"), "{why}");
    }
}
