//! Where the sessions of one worker wait for their clients, and what the worker's thread does.
//!
//! A session that waits for a command is no task: it has a *seat*. The worker's thread asks its [`Watch`] which clients
//! have sent something. What the cache answers is answered on the spot, from the seat. A plain statement is sent to a server from
//! there, and the session told, still on its seat, of its turn in line and of the answer. For anything else the session rises, and runs
//! as a task until its client has nothing more for it. So neither a hit nor most misses cost a wake-up or a task switch, and an idle
//! client no task.
//!
//! Sessions that have risen are polled by the [`Executor`], and what they wait for is a socket of the same watch. While nothing
//! on the worker needs Tokio, its thread sleeps in the watch itself; while something does, it sleeps in Tokio's runtime, for
//! which the watch is one source among others. Hence whatever waits for Tokio is counted ([`Worker::is_occupied`]).

use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nuthatch_net::{Arrival, IdleStream, Readiness, Stream, Watch, WatchedSocket};
use parking_lot::Mutex;
use slab::Slab;

use crate::clock::{Clock, Now};
use crate::floor::posts::{Post, Posts};
use crate::roster::{Entry, Roster, SessionHandle};
use crate::session::{self, Attended, Memo, Ran, Session, attend, fall, may_sit_at, run};
use crate::worker::Worker;
use crate::worker::executor::{Executor, Room};

/// Bytes that one read from a client can take at most.
const READ_BYTES: usize = 32 * 1024;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Lobby {
    pub(crate) worker: Arc<Worker>,
    /// What its sessions remember of statements.
    pub(crate) memo: Arc<Memo>,
    seats: Mutex<Slab<Seat>>,
    /// Tasks that wait for a session.
    posts: Posts<Box<Guest>>,
    executor: Executor,
    /// Places that are taken, also by clients who are not logged in yet.
    taken: AtomicUsize,
    is_closing: AtomicBool,
}

/// One for each client that is connected, whether its session sits on it or runs.
#[derive(Debug)]
struct Seat {
    readiness: Arc<Readiness>,
    guest: Option<Box<Guest>>,
}

/// A client's place on a worker. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) lobby: Arc<Lobby>,
    /// Where the session waits. In four bytes, as idle sessions are many.
    seat: Option<u32>,
    entry: Option<Entry>,
    /// It counts among those that are.
    is_taken: bool,
}

/// A session with its place, which is freed last.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) session: Session,
    pub(crate) place: Place,
}

/// Thousands wait, each in room of its own: one byte more takes the allocator's next size, 896.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Guest>() <= 768);

impl Place {
    /// Takes one.
    pub(crate) fn take(lobby: &Arc<Lobby>) -> Self {
        lobby.taken.fetch_add(1, Ordering::AcqRel);
        let mut place = Self::beside(lobby);
        place.is_taken = true;
        place
    }

    /// One for a client that is to be refused.
    pub(crate) fn beside(lobby: &Arc<Lobby>) -> Self {
        Self { lobby: Arc::clone(lobby), seat: None, entry: None, is_taken: false }
    }

    fn seat(&self) -> Option<usize> {
        self.seat.map(|seat| seat as usize)
    }

    /// Whether it is one for a client to stay.
    pub(crate) const fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// Watches the client's socket, on the worker's own thread.
    pub(crate) fn admit(&mut self, stream: IdleStream) -> io::Result<Stream> {
        let (stream, seat) = self.lobby.admit(stream)?;
        self.seat = Some(u32::try_from(seat).map_err(io::Error::other)?);
        Ok(stream)
    }

    /// Makes the session known under its number.
    pub(crate) fn register(&mut self, roster: &Arc<Roster>, handle: &Arc<SessionHandle>) {
        self.entry = Some(roster.enter(self.lobby.worker.id, handle));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(seat) = self.seat() {
            self.lobby.vacate(seat);
        }
        self.entry = None;
        if self.is_taken {
            self.lobby.taken.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Lobby {
    pub(crate) fn new(worker: Arc<Worker>) -> Self {
        Self {
            executor: Executor::new(Arc::clone(worker.slumber())),
            worker,
            memo: Arc::default(),
            seats: Mutex::default(),
            posts: Posts::default(),
            taken: AtomicUsize::new(0),
            is_closing: AtomicBool::new(false),
        }
    }

    /// How many places are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }

    /// Makes a task of a session, on the worker's own thread.
    pub(crate) fn run(self: &Arc<Self>, guest: Box<Guest>) {
        if let Some(first) = self.posts.take_on(guest) {
            self.executor.spawn(Arc::clone(self).run_many(first));
        }
    }

    /// Runs a session until it may sit down again or has ended, then others, for as long as there is a post to wait at. One that panics
    /// takes this task along, and nothing else.
    async fn run_many(self: Arc<Self>, mut guest: Box<Guest>) {
        let post = Arc::new(Post::default());
        loop {
            match run(&mut guest.session).await {
                Ran::MaySit => self.seat(guest),
                Ran::Ended => drop(guest),
            }
            if !self.posts.wait(&post) {
                return;
            }
            guest = post.next().await;
        }
    }

    /// Has a session wait on its seat; it runs on when it was told to end meanwhile.
    fn seat(self: &Arc<Self>, mut guest: Box<Guest>) {
        match guest.place.seat() {
            Some(seat) if may_sit_at(&mut guest.session, seat) => {
                if let Some(seat) = self.seats.lock().get_mut(seat) {
                    seat.guest = Some(guest);
                }
            }
            _ => self.run(guest),
        }
    }

    /// Takes a seat for a client that has connected, and its number.
    fn admit(&self, stream: IdleStream) -> io::Result<(Stream, usize)> {
        let readiness = Arc::new(Readiness::default());
        let number = self.seats.lock().insert(Seat { readiness: Arc::clone(&readiness), guest: None });
        match WatchedSocket::of_client(stream, number, readiness, self.worker.registrar()) {
            Ok(socket) => Ok((Stream::Watched(socket), number)),
            Err(error) => {
                self.vacate(number);
                Err(error)
            }
        }
    }

    /// Frees the seat of a client that is gone.
    fn vacate(&self, number: usize) {
        let seat = self.seats.lock().try_remove(number);
        drop(seat);
    }

    /// Ends [`Self::attend`]; whoever sits is sent away.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        self.worker.bell().ring();
    }

    /// Attends to clients, and polls the tasks of those that run, until [`Self::close`].
    pub(crate) async fn attend(self: &Arc<Self>, watch: Watch, clock: Clock) -> io::Result<()> {
        let executor = &self.executor;
        let mut watch = watch.into_source()?;
        let mut room = vec![MaybeUninit::uninit(); READ_BYTES].into_boxed_slice();
        let (mut risen, mut calls, mut ready) = (Vec::new(), Vec::new(), Room::default());
        let slumber = self.worker.slumber();
        while !self.is_closing.load(Ordering::Acquire) {
            let may_sleep = slumber.may_begin();
            if !self.worker.is_occupied() {
                let patience = (!may_sleep).then_some(Duration::ZERO);
                watch.get_mut().wait(patience, || slumber.end())?;
            } else if may_sleep {
                let mut source = watch.readable_mut().await?;
                if source.get_inner_mut().wait(Some(Duration::ZERO), || slumber.end())? {
                    tokio::task::yield_now().await;
                } else {
                    source.clear_ready();
                }
            } else {
                tokio::task::yield_now().await;
                watch.get_mut().wait(Some(Duration::ZERO), || slumber.end())?;
            }
            let watch = watch.get_ref();
            if watch.arrivals().next().is_some() || !watch.heard().is_empty() {
                let now = clock.now();
                let mut seats = self.seats.lock();
                if !watch.heard().is_empty() {
                    hear(&mut seats, watch.heard(), now, &mut room, &mut risen);
                }
                attend_to(&mut seats, watch.arrivals(), now, &mut room, &mut risen);
            }
            if !risen.is_empty() {
                risen.drain(..).for_each(|guest| self.run(guest));
            }
            if slumber.takes_news() {
                self.worker.take_calls(&mut calls);
                hear_calls(&mut self.seats.lock(), &mut calls, &mut risen);
                risen.drain(..).for_each(|guest| self.run(guest));
                executor.run_ready(&mut ready);
            }
        }
        let seats = std::mem::take(&mut *self.seats.lock());
        drop(seats);
        executor.clear();
        Ok(())
    }
}

/// Passes answers of servers on; the sessions that have more to do than that come into `risen`.
#[expect(clippy::vec_box, reason = "guests stay in their box from seat to task")]
fn hear(
    seats: &mut Slab<Seat>,
    heard: &[usize],
    now: Now,
    room: &mut [MaybeUninit<u8>],
    risen: &mut Vec<Box<Guest>>,
) {
    for number in heard {
        let Some(seat) = seats.get_mut(*number) else { continue };
        seat.rises_unless(risen, |session| session::hear(session, now, room));
    }
}

/// Answers what the cache answers, and asks servers; the other sessions come into `risen`.
#[expect(clippy::vec_box, reason = "guests stay in their box from seat to task")]
fn attend_to(
    seats: &mut Slab<Seat>,
    arrivals: impl Iterator<Item = Arrival>,
    now: Now,
    room: &mut [MaybeUninit<u8>],
    risen: &mut Vec<Box<Guest>>,
) {
    for arrival in arrivals {
        let Some(seat) = seats.get_mut(arrival.seat) else { continue };
        let Some(guest) = &mut seat.guest else {
            seat.readiness.tell(arrival);
            continue;
        };
        match unless_it_falls(&mut guest.session, |session| attend(session, arrival, now, room)) {
            Some(Attended::Stays) => {}
            Some(Attended::Later) => {
                seat.readiness.tell(arrival);
            }
            Some(Attended::Rises { reads_on }) => {
                if reads_on {
                    seat.readiness.tell(arrival);
                }
                risen.extend(seat.guest.take());
            }
            None => risen.extend(seat.guest.take()),
        }
    }
}

/// Has those go on whose turn in line has come; the others that were called come into `risen`.
#[expect(clippy::vec_box, reason = "guests stay in their box from seat to task")]
fn hear_calls(seats: &mut Slab<Seat>, calls: &mut Vec<usize>, risen: &mut Vec<Box<Guest>>) {
    for number in calls.drain(..) {
        let Some(seat) = seats.get_mut(number) else { continue };
        seat.rises_unless(risen, |session| session::take_turn_at(session, number));
    }
}

impl Seat {
    /// Has who sits here do what tells whether it stays; else it comes into `risen`.
    #[expect(clippy::vec_box, reason = "guests stay in their box from seat to task")]
    fn rises_unless(&mut self, risen: &mut Vec<Box<Guest>>, stays: impl FnOnce(&mut Session) -> bool) {
        if let Some(guest) = &mut self.guest
            && unless_it_falls(&mut guest.session, stays) != Some(true)
        {
            risen.extend(self.guest.take());
        }
    }
}

/// Has the session do that. A panic must not take the others along: then there is nothing, and the session is to run on as a task, and
/// falls there.
fn unless_it_falls<T>(session: &mut Session, act: impl FnOnce(&mut Session) -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(|| act(session)));
    if done.is_err() {
        fall(session);
    }
    done.ok()
}
