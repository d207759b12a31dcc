//! The clerk: the one thread that owns SQLite and does what admin sessions ask, one request after the other.
//!
//! The data plane never waits for it. Requests come over a bounded channel. All sessions share one SQLite connection, that
//! of the configuration's layers, so a transaction that one session has open is everyone's: the clerk therefore holds
//! back what other sessions ask of the *configuration* until that transaction ends, for [`WAIT_MAX`] at most, and then
//! refuses it (1205). Statistics are answered meanwhile. A transaction whose session is gone is rolled back.
//!
//! (Connections of their own on a shared-cache database were the alternative: they lock by table without a wait that can
//! be bounded, and the layers' moves between schemas would still have to stand alone.)

mod desk;
mod execute;
mod functions;
mod scout;
mod watch;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::answer::Answer;
use crate::command::Command;
use crate::credentials::Rights;
use crate::error::AdminError;

pub(crate) use desk::Desk;

/// Requests that may wait for the clerk; more wait in their sessions.
const QUEUE_MAX: usize = 64;

/// How long a request waits for another session's transaction.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(10);

/// How often held requests are looked at while nothing else comes.
const HELD_INTERVAL: Duration = Duration::from_millis(20);

/// Who asks. It lives as long as the session: the clerk sees by that when a session is gone.
#[derive(Debug)]
pub(crate) struct Caller {
    /// `CONNECTION_ID()`.
    pub(crate) connection_id: u32,
    pub(crate) user: String,
    /// The client's address without a port.
    pub(crate) host: String,
    pub(crate) rights: Rights,
}

/// Something for the clerk to do.
pub(crate) struct Call {
    pub(crate) caller: Arc<Caller>,
    /// The session's schema.
    pub(crate) schema: String,
    pub(crate) command: Command,
}

/// Whether the session has a transaction open after its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionState {
    None,
    Open,
}

/// What came of a call.
pub(crate) struct Reply {
    pub(crate) result: Result<Answer, AdminError>,
    pub(crate) transaction: TransactionState,
}

/// Why a call is not done.
#[derive(Debug)]
enum Undone {
    /// Another session's transaction is in the way; nothing has happened yet.
    Held,
    Refused(AdminError),
}

impl<E: Into<AdminError>> From<E> for Undone {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

struct Request {
    call: Call,
    reply: oneshot::Sender<Reply>,
}

/// The sessions' end of the channel to the clerk. When the last one is dropped, the clerk's thread ends.
#[derive(Debug, Clone)]
pub(crate) struct ClerkHandle {
    requests: mpsc::Sender<Request>,
}

impl ClerkHandle {
    /// Starts the clerk's thread.
    pub(crate) fn start(desk: Desk) -> std::io::Result<Self> {
        let (requests, incoming) = mpsc::channel(QUEUE_MAX);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let clerk = Clerk { desk, held: VecDeque::new() };
        std::thread::Builder::new()
            .name("nuthatch-admin".to_owned())
            .spawn(move || runtime.block_on(clerk.work(incoming)))?;
        Ok(Self { requests })
    }

    /// Has the call done. Dropping the future before it is done leaves the call to be done or not.
    pub(crate) async fn call(&self, call: Call) -> Reply {
        let (reply, answer) = oneshot::channel();
        let sent = self.requests.send(Request { call, reply }).await;
        let stopping = || Reply { result: Err(AdminError::Stopping), transaction: TransactionState::None };
        match sent {
            Ok(()) => answer.await.unwrap_or_else(|_gone| stopping()),
            Err(_gone) => stopping(),
        }
    }
}

struct Held {
    request: Request,
    deadline: Instant,
}

struct Clerk {
    desk: Desk,
    held: VecDeque<Held>,
}

impl Clerk {
    async fn work(mut self, mut incoming: mpsc::Receiver<Request>) {
        loop {
            let request = if self.held.is_empty() {
                incoming.recv().await
            } else {
                match tokio::time::timeout(HELD_INTERVAL, incoming.recv()).await {
                    Ok(request) => request,
                    Err(_elapsed) => {
                        self.retry_held();
                        continue;
                    }
                }
            };
            let Some(request) = request else {
                return;
            };
            self.take(request, Instant::now() + WAIT_MAX);
            self.retry_held();
        }
    }

    /// Tries what was held, oldest first. Each is tried once.
    fn retry_held(&mut self) {
        for _ in 0..self.held.len() {
            if let Some(Held { request, deadline }) = self.held.pop_front() {
                self.take(request, deadline);
            }
        }
    }

    fn take(&mut self, request: Request, deadline: Instant) {
        if request.reply.is_closed() {
            return;
        }
        let result = match self.handle(&request.call) {
            Ok(answer) => Ok(answer),
            Err(Undone::Refused(error)) => Err(error),
            Err(Undone::Held) if Instant::now() < deadline => {
                self.held.push_back(Held { request, deadline });
                return;
            }
            Err(Undone::Held) => Err(AdminError::Busy(WAIT_MAX)),
        };
        let transaction = self.desk.transaction_of(&request.call.caller);
        // A session that left meanwhile wants no answer.
        drop(request.reply.send(Reply { result, transaction }));
    }

    /// A fault of the program in one statement refuses that statement; the clerk goes on for the others.
    fn handle(&mut self, call: &Call) -> Result<Answer, Undone> {
        let handled = catch_unwind(AssertUnwindSafe(|| self.desk.handle(call)));
        handled.unwrap_or_else(|_panic| {
            tracing::error!(user = call.caller.user, "an admin statement ended by a panic");
            Err(Undone::Refused(AdminError::Fault))
        })
    }
}
