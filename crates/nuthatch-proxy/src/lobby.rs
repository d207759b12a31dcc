//! Where the sessions of one worker wait for their clients.
//!
//! A session that waits for a command is no task: it has a *seat*. The worker's thread asks its [`Watch`] which clients
//! have sent something. What the cache answers is answered on the spot, from the seat; for anything else the session
//! rises, and runs as a task until its client has nothing more for it. So a hit costs no wake-up, no task switch and few
//! cache lines, and an idle client no task.
//!
//! Sessions that have risen are polled by the worker's [`Executor`], and what they wait for is a socket of the same watch. While nothing
//! on the worker needs Tokio, its thread sleeps in the watch itself; while something does, it sleeps in Tokio's runtime, for
//! which the watch is one source among others. Hence whatever waits for Tokio is counted ([`Lobby::occupy`]).

use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nuthatch_net::{Arrival, Bell, IdleStream, Readiness, Registrar, Stream, Watch, WatchedSocket};
use parking_lot::Mutex;
use slab::Slab;

use crate::clock::Clock;
use crate::executor::Executor;
use crate::session::{Attended, Session};

/// Bytes that one read from a client can take at most.
pub(crate) const READ_BYTES: usize = 32 * 1024;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Lobby {
    seats: Mutex<Slab<Seat>>,
    registrar: Registrar,
    bell: Arc<Bell>,
    /// Seats whose sessions are wanted by others.
    called: Mutex<Vec<usize>>,
    /// What waits for Tokio.
    occupants: AtomicUsize,
    is_closing: AtomicBool,
}

/// One for each client that is connected, whether its session sits on it or runs.
#[derive(Debug)]
struct Seat {
    readiness: Arc<Readiness>,
    session: Option<Box<Session>>,
}

/// Something on Tokio, counted while this lives.
#[derive(Debug)]
pub(crate) struct Occupied(Arc<Lobby>);

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.occupants.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Lobby {
    pub(crate) fn new(watch: &Watch) -> Self {
        Self {
            seats: Mutex::default(),
            registrar: watch.registrar(),
            bell: watch.bell(),
            called: Mutex::default(),
            occupants: AtomicUsize::new(0),
            is_closing: AtomicBool::new(false),
        }
    }

    /// Takes a seat for a client that has connected, and its number.
    pub(crate) fn admit(&self, stream: IdleStream) -> io::Result<(Stream, usize)> {
        let readiness = Arc::new(Readiness::default());
        let number = self.seats.lock().insert(Seat { readiness: Arc::clone(&readiness), session: None });
        match WatchedSocket::of_client(stream, number, readiness, &self.registrar) {
            Ok(socket) => Ok((Stream::Watched(socket), number)),
            Err(error) => {
                self.vacate(number);
                Err(error)
            }
        }
    }

    /// For having the worker watch a server's socket.
    pub(crate) const fn registrar(&self) -> &Registrar {
        &self.registrar
    }

    /// Frees the seat of a client that is gone.
    pub(crate) fn vacate(&self, number: usize) {
        let seat = self.seats.lock().try_remove(number);
        drop(seat);
    }

    /// Lets a session wait on its seat.
    pub(crate) fn sit(&self, number: usize, session: Box<Session>) {
        if let Some(seat) = self.seats.lock().get_mut(number) {
            seat.session = Some(session);
        }
    }

    /// Has the session on a seat rise, from any thread: it is told to end.
    pub(crate) fn call(&self, number: usize) {
        self.called.lock().push(number);
        self.bell.ring();
    }

    /// Counts something that waits for Tokio: for a task on the worker's runtime, a timer, a socket of Tokio's.
    pub(crate) fn occupy(self: &Arc<Self>) -> Occupied {
        self.occupants.fetch_add(1, Ordering::AcqRel);
        Occupied(Arc::clone(self))
    }

    /// Ends the thread's wait: a task has come from another thread.
    pub(crate) fn ring(&self) {
        self.bell.ring();
    }

    /// Ends [`Self::attend`]; whoever sits is sent away.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        self.bell.ring();
    }

    /// Attends to clients, and polls the tasks of `executor`, until [`Self::close`]. `run` makes a task of a session.
    pub(crate) async fn attend(
        &self,
        watch: Watch,
        clock: Clock,
        executor: &Executor,
        run: impl Fn(Box<Session>),
    ) -> io::Result<()> {
        let mut watch = watch.into_source()?;
        let mut room = vec![MaybeUninit::uninit(); READ_BYTES].into_boxed_slice();
        let (mut risen, mut ready) = (Vec::new(), Vec::new());
        while !self.is_closing.load(Ordering::Acquire) {
            let may_sleep = executor.lies_down();
            if self.occupants.load(Ordering::Acquire) == 0 {
                watch.get_mut().wait((!may_sleep).then_some(Duration::ZERO))?;
            } else if may_sleep {
                let mut source = watch.readable_mut().await?;
                if source.get_inner_mut().wait(Some(Duration::ZERO))? {
                    tokio::task::yield_now().await;
                } else {
                    source.clear_ready();
                }
            } else {
                tokio::task::yield_now().await;
                watch.get_mut().wait(Some(Duration::ZERO))?;
            }
            executor.is_up();
            self.attend_to(watch.get_ref().arrivals(), clock.now_ms(), &mut room, &mut risen);
            risen.drain(..).for_each(&run);
            executor.run_ready(&mut ready);
        }
        let seats = std::mem::take(&mut *self.seats.lock());
        drop(seats);
        executor.clear();
        Ok(())
    }

    /// Answers what the cache answers; the other sessions, and those that were called, come into `risen`.
    #[expect(clippy::vec_box, reason = "sessions stay in their box from seat to task")]
    fn attend_to(
        &self,
        arrivals: impl Iterator<Item = Arrival>,
        now_ms: u64,
        room: &mut [MaybeUninit<u8>],
        risen: &mut Vec<Box<Session>>,
    ) {
        let mut seats = self.seats.lock();
        for arrival in arrivals {
            let Some(seat) = seats.get_mut(arrival.seat) else { continue };
            let Some(session) = &mut seat.session else {
                seat.readiness.tell(arrival);
                continue;
            };
            // A panic must not take the others along: the session runs on as a task, and falls there.
            match catch_unwind(AssertUnwindSafe(|| session.attend(arrival, now_ms, room))) {
                Ok(Attended::Answered) => {}
                Ok(Attended::Rises { reads_on }) => {
                    if reads_on {
                        seat.readiness.tell(arrival);
                    }
                    risen.extend(seat.session.take());
                }
                Err(_panic) => risen.extend(seat.session.take().map(Session::fallen)),
            }
        }
        for number in self.called.lock().drain(..) {
            risen.extend(seats.get_mut(number).and_then(|seat| seat.session.take()));
        }
    }
}
