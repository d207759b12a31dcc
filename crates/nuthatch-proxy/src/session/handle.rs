//! The part of a session that others can reach: to list it, to end it.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Wake, Waker};

use nuthatch_net::Readiness;
use parking_lot::Mutex;

use crate::backend::{Control, Server};
use crate::lobby::Lobby;

use super::SessionEnd;

/// Why a session is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EndReason {
    /// An operator killed it.
    Killed = 1,
    /// `wait_timeout` ran out.
    Idle = 2,
    /// The proxy stops and the session has nothing open.
    Drained = 3,
    /// The proxy stops now.
    Stopped = 4,
    /// Its user is no longer active.
    UserGone = 5,
    /// A client's KILL; it is hung up on, as a server does it.
    KilledByClient = 6,
}

impl EndReason {
    const fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Killed),
            2 => Some(Self::Idle),
            3 => Some(Self::Drained),
            4 => Some(Self::Stopped),
            5 => Some(Self::UserGone),
            6 => Some(Self::KilledByClient),
            _ => None,
        }
    }
}

/// Where a client came from and where it arrived; the default is nowhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientAddress {
    /// The client's IP address as text; `localhost` over a Unix socket.
    pub host: Arc<str>,
    /// The client's TCP port; 0 over a Unix socket.
    pub port: u16,
    /// The proxy's address that the client connected to.
    pub proxy_host: Arc<str>,
    /// The proxy's port; 0 for a Unix socket.
    pub proxy_port: u16,
}

impl ClientAddress {
    /// A client over TCP. IPv4 addresses in IPv6 form are shown as IPv4.
    #[must_use]
    pub fn tcp(peer: std::net::SocketAddr, local: std::net::SocketAddr) -> Self {
        let text = |ip: IpAddr| Arc::from(ip.to_canonical().to_string());
        Self {
            host: text(peer.ip()),
            port: peer.port(),
            proxy_host: text(local.ip()),
            proxy_port: local.port(),
        }
    }

    /// A client over a Unix socket.
    #[must_use]
    pub fn unix(path: &std::path::Path) -> Self {
        Self {
            host: Arc::from("localhost"),
            port: 0,
            proxy_host: Arc::from(path.to_string_lossy()),
            proxy_port: 0,
        }
    }
}

/// What `stats_mysql_processlist` shows of a session; changed on the slow path only.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) user: Option<Arc<str>>,
    pub(crate) schema: Vec<u8>,
    pub(crate) command: &'static str,
    pub(crate) since_ms: u64,
    /// The statement at hand, or the one before it: `has_info` tells.
    pub(crate) info: Vec<u8>,
    pub(crate) has_info: bool,
    pub(crate) hostgroup: Option<u32>,
    /// Server, its port, and our own address and port towards it.
    pub(crate) server: Option<Arc<Server>>,
    /// The connection that works for it at the moment.
    pub(crate) running: Option<Running>,
    /// The first connection that it holds between statements: its server, and its number there.
    pub(crate) holds: Option<(Arc<Server>, u32)>,
    pub(crate) pins: String,
}

/// A connection with a statement of the session on it.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) control: Arc<Control>,
    pub(crate) server: Arc<Server>,
    /// `CONNECTION_ID()` on the server.
    pub(crate) thread_id: u32,
}

impl View {
    /// Whether the connection of that number works for the session, or is held by it.
    pub(crate) fn has_connection(&self, server: &Server, thread_id: u32) -> bool {
        let is_it = |other: &Server, number| number == thread_id && other.is_same_as(server);
        self.running.as_ref().is_some_and(|running| is_it(&running.server, running.thread_id))
            || self.holds.as_ref().is_some_and(|(other, number)| is_it(other, *number))
    }

    /// The statement at hand as others may see it.
    pub(crate) fn shown_info(&self) -> Option<Vec<u8>> {
        self.has_info.then(|| shown(&self.info).to_vec())
    }
}

/// Where a session is.
#[derive(Debug, Default)]
enum Whereabouts {
    /// Nowhere yet.
    #[default]
    Unknown,
    /// In the task that this wakes.
    Runs(Waker),
    /// On its seat.
    Sits { lobby: Arc<Lobby>, seat: usize },
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct SessionHandle {
    /// `CONNECTION_ID()` of the session.
    pub(crate) id: u32,
    address: ClientAddress,
    /// The client that a balancer speaks for.
    proxied: OnceLock<ClientAddress>,
    /// What is known of the client's socket.
    client: OnceLock<Arc<Readiness>>,
    end: AtomicU8,
    whereabouts: Mutex<Whereabouts>,
    /// Milliseconds of idleness after which its client is gone by its own SET; 0 for none.
    wait_timeout_ms: AtomicU64,
    /// When the client came.
    pub(super) started_ms: u64,
    /// When the last command came.
    pub(crate) last_active_ms: AtomicU64,
    /// When it lets go of a connection that it keeps for a while; 0 when there is none.
    pub(super) delay_ends_ms: AtomicU64,
    /// 1 while it has a transaction or a statement open, so that a drain leaves it alone.
    pub(crate) busy: AtomicU8,
    pub(crate) view: Mutex<View>,
}

impl SessionHandle {
    /// The session has been let in, and waits for its first command.
    pub(super) fn show_login(&self, user: &Arc<str>, schema: &[u8]) {
        {
            let mut view = self.view.lock();
            view.user = Some(Arc::clone(user));
            view.schema = schema.to_vec();
            view.command = "Sleep";
        }
        self.busy.store(0, Ordering::Release);
    }

    pub(crate) fn new(id: u32, address: ClientAddress, now_ms: u64) -> Self {
        Self {
            id,
            address,
            proxied: OnceLock::new(),
            client: OnceLock::new(),
            end: AtomicU8::new(0),
            whereabouts: Mutex::default(),
            wait_timeout_ms: AtomicU64::new(0),
            started_ms: now_ms,
            last_active_ms: AtomicU64::new(now_ms),
            delay_ends_ms: AtomicU64::new(0),
            busy: AtomicU8::new(1),
            view: Mutex::new(View { command: "Connect", since_ms: now_ms, ..View::default() }),
        }
    }

    /// Where the client came from; what a trusted balancer says of it goes before what the socket says.
    pub(crate) fn address(&self) -> &ClientAddress {
        self.proxied.get().unwrap_or(&self.address)
    }

    /// A balancer speaks for a client of that address.
    pub(crate) fn speaks_for(&self, address: ClientAddress) {
        let _first = self.proxied.set(address);
    }

    /// The session has set its `wait_timeout`, or goes back to that of all.
    pub(crate) fn set_wait_timeout(&self, seconds: Option<u64>) {
        self.wait_timeout_ms.store(seconds.unwrap_or(0).saturating_mul(1000), Ordering::Relaxed);
    }

    /// After which idleness it is to end, where others end after `wait_timeout_ms`; 0 for never.
    pub(crate) fn patience_ms(&self, wait_timeout_ms: u64) -> u64 {
        match (self.wait_timeout_ms.load(Ordering::Relaxed), wait_timeout_ms) {
            (0, of_all) => of_all,
            (own, 0) => own,
            (own, of_all) => own.min(of_all),
        }
    }

    /// The client hangs up where this tells.
    pub(crate) fn watches_client(&self, readiness: Arc<Readiness>) {
        let _first = self.client.set(readiness);
    }

    /// Ends the session at its next await; the first reason counts.
    pub(crate) fn end(&self, reason: EndReason) {
        if self.end.compare_exchange(0, reason as u8, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.rouse();
        }
    }

    /// What works for it at the moment, held back from other sessions until the kill is done.
    pub(crate) fn running_for_kill(&self) -> Option<Running> {
        // Under the lock: the session takes the connection out of the view before it looks whether it may give it back.
        let view = self.view.lock();
        let running = view.running.clone()?;
        running.control.expect_kill();
        Some(running)
    }

    /// Has the session look at what it was told, wherever it is.
    fn rouse(&self) {
        match &*self.whereabouts.lock() {
            Whereabouts::Unknown => {}
            Whereabouts::Runs(waker) => waker.wake_by_ref(),
            Whereabouts::Sits { lobby, seat } => lobby.call(*seat),
        }
    }

    /// What rouses the session.
    pub(crate) fn rouser(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::new(Rouser(Arc::clone(self))))
    }

    /// Has the session rise, if it sits.
    pub(super) fn rise(&self) {
        if let Whereabouts::Sits { lobby, seat } = &*self.whereabouts.lock() {
            lobby.call(*seat);
        }
    }

    /// Wakes the session's task, if it runs.
    pub(crate) fn wake(&self) {
        if let Whereabouts::Runs(waker) = &*self.whereabouts.lock() {
            waker.wake_by_ref();
        }
    }

    /// The session is the current task from now on.
    pub(crate) async fn runs(&self) {
        poll_fn(|cx| {
            *self.whereabouts.lock() = Whereabouts::Runs(cx.waker().clone());
            Poll::Ready(())
        })
        .await;
    }

    /// The session sits down now; `false` when it was told to end, and must not.
    pub(crate) fn sits(&self, lobby: &Arc<Lobby>, seat: usize) -> bool {
        // In this order: who tells it to end after the look finds it on its seat.
        *self.whereabouts.lock() = Whereabouts::Sits { lobby: Arc::clone(lobby), seat };
        self.ending().is_none()
    }

    /// Why it is to end, if it is.
    pub(crate) fn ending(&self) -> Option<EndReason> {
        EndReason::of(self.end.load(Ordering::Relaxed))
    }

    /// Runs `future`, unless the session is told to end, or its client hangs up, before it is done.
    pub(crate) async fn while_client_waits<F: Future>(&self, future: F) -> Result<F::Output, SessionEnd> {
        let mut future = pin!(future);
        poll_fn(|cx| match self.ending() {
            Some(reason) => Poll::Ready(Err(reason.into())),
            None => match future.as_mut().poll(cx) {
                Poll::Pending if self.client.get().is_some_and(|client| client.is_closed_or_wakes(cx)) => {
                    Poll::Ready(Err(SessionEnd::Gone))
                }
                polled => polled.map(Ok),
            },
        })
        .await
    }

    /// Runs `future`, unless the session is told to end before it is done.
    ///
    /// All awaits of a session go through here, or through [`Self::while_client_waits`]. Cost: one load for each poll.
    pub(crate) async fn unless_ended<F: Future>(&self, future: F) -> Result<F::Output, EndReason> {
        let mut future = pin!(future);
        poll_fn(|cx| match self.ending() {
            Some(reason) => Poll::Ready(Err(reason)),
            None => future.as_mut().poll(cx).map(Ok),
        })
        .await
    }
}

struct Rouser(Arc<SessionHandle>);

impl Wake for Rouser {
    fn wake(self: Arc<Self>) {
        self.0.rouse();
    }
}

/// What others may see of a statement: not one that may hold a password.
fn shown(text: &[u8]) -> &[u8] {
    if may_hold_password(text) { HIDDEN } else { text }
}

/// What stands where a statement's text would, or what quotes it.
pub(super) const HIDDEN: &[u8] = b"(hidden: the statement may hold a password)";

/// Whether nobody else may see the statement.
pub(super) fn may_hold_password(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 2] = [b"identified", b"password"];
    let names_one = |mark: &[u8]| text.windows(mark.len()).any(|window| window.eq_ignore_ascii_case(mark));
    MARKS.into_iter().any(names_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_passwords_are_not_shown() {
        for secret in
            ["ALTER USER a IDENTIFIED BY 's3cret'", "SET Password = 's3cret'", "SELECT PASSWORD('s3cret')"]
        {
            assert!(!String::from_utf8_lossy(shown(secret.as_bytes())).contains("s3cret"), "{secret}");
        }
        assert_eq!(shown(b"SELECT 1"), b"SELECT 1");
    }
}
