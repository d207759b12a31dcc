//! The part of a session that others can reach: to list it, to end it.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use nuthatch_net::Readiness;
use parking_lot::Mutex;
use pin_project_lite::pin_project;

use crate::backend::Borrower;
use crate::roster::view::{Running, TimeLimit};
use crate::roster::{ClientAddress, EndReason, SessionEnd, View};
use crate::worker::Worker;

/// Where a session is.
#[derive(Debug, Default)]
enum Whereabouts {
    /// Nowhere yet.
    #[default]
    Unknown,
    /// In the task that this wakes.
    Runs(Waker),
    /// On its seat.
    Sits { worker: Arc<Worker>, seat: usize },
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
    pub(crate) started_ms: u64,
    /// When the last command came, or was done if it took more than a look at the cache.
    pub(crate) last_active_ms: AtomicU64,
    /// Since when its transaction is open; 0 when there is none.
    pub(crate) transaction_since_ms: AtomicU64,
    /// When it lets go of a connection that it keeps for a while; 0 when there is none.
    pub(crate) delay_ends_ms: AtomicU64,
    /// 1 while it has a transaction or a statement open, so that a drain leaves it alone.
    pub(crate) busy: AtomicU8,
    pub(crate) view: Mutex<View>,
}

impl SessionHandle {
    /// The session has been let in, and waits for its first command.
    pub(crate) fn show_login(&self, user: &Arc<str>, schema: &[u8]) {
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
            transaction_since_ms: AtomicU64::new(0),
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

    /// Whether the time of its statement is over; then the session sees it out, and the server is to be told.
    pub(crate) fn look_at_time(&self, now_ms: u64) -> TimeLimit {
        if self.busy.load(Ordering::Acquire) == 0 {
            return TimeLimit::None;
        }
        let limit = {
            // Under the lock: the session takes the connection out of the view before it looks whether it may give it back.
            let view = self.view.lock();
            view.time_limit(now_ms)
        };
        if let TimeLimit::Over(_) = limit {
            self.rouse();
        }
        limit
    }

    /// The statement has its answer: what is still asked for it has no limit.
    pub(crate) fn lift_time_limit(&self) {
        self.view.lock().limit_ms = 0;
    }

    /// Has the session look at what it was told, wherever it is.
    fn rouse(&self) {
        match &*self.whereabouts.lock() {
            Whereabouts::Unknown => {}
            Whereabouts::Runs(waker) => waker.wake_by_ref(),
            Whereabouts::Sits { worker, seat } => worker.call(*seat),
        }
    }

    /// What rouses the session.
    pub(crate) fn rouser(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }

    /// Has the session rise, if it sits.
    fn rise(&self) {
        if let Whereabouts::Sits { worker, seat } = &*self.whereabouts.lock() {
            worker.call(*seat);
        }
    }

    /// Has the session look whether a delay is over.
    pub(crate) fn look_at_delay(&self, now_ms: u64) {
        let ends_ms = self.delay_ends_ms.load(Ordering::Relaxed);
        if ends_ms > 0 && now_ms >= ends_ms {
            self.rise();
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
    pub(crate) fn sits(&self, worker: &Arc<Worker>, seat: usize) -> bool {
        // In this order: who tells it to end after the look finds it on its seat.
        *self.whereabouts.lock() = Whereabouts::Sits { worker: Arc::clone(worker), seat };
        self.ending().is_none()
    }

    /// Why it is to end, if it is.
    pub(crate) fn ending(&self) -> Option<EndReason> {
        EndReason::of(self.end.load(Ordering::Relaxed))
    }

    /// Whether its client has hung up; the task is woken once it does.
    pub(crate) fn has_lost_client(&self, cx: &Context<'_>) -> bool {
        self.client.get().is_some_and(|client| client.is_closed_or_wakes(cx))
    }

    /// Runs `future`, unless the session is told to end, or its client hangs up, before it is done.
    pub(crate) const fn while_client_waits<F: Future>(&self, future: F) -> WhileClientWaits<'_, F> {
        WhileClientWaits { handle: self, future }
    }

    /// Runs `future`, unless the session is told to end before it is done.
    ///
    /// All awaits of a session go through here, or through [`Self::while_client_waits`]. Cost: one load for each poll.
    pub(crate) const fn unless_ended<F: Future>(&self, future: F) -> UnlessEnded<'_, F> {
        UnlessEnded { handle: self, future }
    }
}

pin_project! {
    /// See [`SessionHandle::unless_ended`]. A type of its own: an `async fn` would have room for its argument twice.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct UnlessEnded<'a, F> {
        handle: &'a SessionHandle,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for UnlessEnded<'_, F> {
    type Output = Result<F::Output, EndReason>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.handle.ending() {
            Some(reason) => Poll::Ready(Err(reason)),
            None => this.future.poll(cx).map(Ok),
        }
    }
}

pin_project! {
    /// See [`SessionHandle::while_client_waits`].
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct WhileClientWaits<'a, F> {
        handle: &'a SessionHandle,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for WhileClientWaits<'_, F> {
    type Output = Result<F::Output, SessionEnd>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(reason) = this.handle.ending() {
            return Poll::Ready(Err(reason.into()));
        }
        match this.future.poll(cx) {
            Poll::Pending if this.handle.has_lost_client(cx) => Poll::Ready(Err(SessionEnd::Gone)),
            polled => polled.map(Ok),
        }
    }
}

impl Borrower for SessionHandle {
    fn look_at_connection(&self) {
        self.rouse();
    }

    fn number(&self) -> u32 {
        self.id
    }
}

impl Wake for SessionHandle {
    fn wake(self: Arc<Self>) {
        self.rouse();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rouse();
    }
}
