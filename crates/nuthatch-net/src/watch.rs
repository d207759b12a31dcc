//! Watches the sockets of one worker, beside the runtime's own reactor.
//!
//! Whoever runs the worker asks the [`Watch`] which clients' sockets have something, and may answer at once, without waking a
//! task. Other sockets, and a client's while a task waits on it, are told through their [`Readiness`]: to a task, or to who sits on a
//! seat and waits for one of them.
//!
//! Events are edge-triggered: one tells that bytes *have arrived* since the last. A read that brings less than there was
//! room for has brought all, so nothing is asked of the kernel twice.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Registry, Token};
use parking_lot::Mutex;
use slab::Slab;
use tokio::io::unix::AsyncFd;

/// Events that are taken from the kernel at a time, so that what is told of time and other work is not old.
const BATCH: usize = 128;

/// Names the [`Bell`] among sockets.
const BELL: Token = Token(usize::MAX);

/// Set in the names of sockets that belong to tasks; the rest is their place in [`Registrar::told`].
const TOLD: usize = 1 << (usize::BITS - 1);

/// Reads that a task makes of one socket without a pause, at most; then others have their turn.
const READS_MAX: u8 = 32;

/// The sockets of one worker. See the module's doc.
#[derive(Debug)]
pub struct Watch {
    poll: mio::Poll,
    events: Events,
    registrar: Registrar,
    bell: Arc<Bell>,
    /// Seats for whose sake sockets of others were waited on that have something now.
    heard: Vec<usize>,
}

/// Registers sockets with a [`Watch`]. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Registrar {
    registry: Arc<Registry>,
    /// What is told to the tasks that wait on sockets.
    told: Arc<Mutex<Slab<Arc<Readiness>>>>,
}

/// A socket's place on a [`Watch`]. It ends with the socket.
#[derive(Debug)]
pub(crate) struct Registration {
    token: Token,
    readiness: Arc<Readiness>,
    registrar: Registrar,
}

/// Ends the wait of a [`Watch`] from any thread.
#[derive(Debug)]
pub struct Bell(mio::Waker);

/// That something came for a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The seat that the socket was registered for.
    pub seat: usize,
    is_closed: bool,
    is_readable: bool,
    is_writable: bool,
}

/// What is known of one socket, and the task that waits for it.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Bytes may have come that were not read.
    is_readable: bool,
    /// The peer will send nothing more, or the socket failed: a read says what. It stays so.
    is_closed: bool,
    /// Reads since the reader waited last.
    reads: u8,
    reader: Option<Reader>,
    writer: Option<Waker>,
    /// Waits only for the peer to be gone.
    mourner: Option<Waker>,
}

/// Who waits for something to read.
#[derive(Debug)]
enum Reader {
    Task(Waker),
    /// Who sits there.
    Seat(usize),
}

impl Watch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// When the operating system gives no file descriptors.
    pub fn new() -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let registry = Arc::new(poll.registry().try_clone()?);
        let registrar = Registrar { registry, told: Arc::default() };
        let bell = Arc::new(Bell(mio::Waker::new(poll.registry(), BELL)?));
        Ok(Self { poll, events: Events::with_capacity(BATCH), registrar, bell, heard: Vec::new() })
    }

    /// For registering sockets.
    #[must_use]
    pub fn registrar(&self) -> Registrar {
        self.registrar.clone()
    }

    /// For ending a wait.
    #[must_use]
    pub fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Takes what has arrived, waiting for something up to `patience`; without end if there is none. Tasks that wait on a
    /// socket are told, after `is_up` was called: nobody need rouse the thread for them. Returns whether there may be more at once.
    ///
    /// # Errors
    /// As the operating system says. A signal is no error: nothing has arrived then.
    pub fn wait(&mut self, patience: Option<Duration>, is_up: impl FnOnce()) -> io::Result<bool> {
        match self.poll.poll(&mut self.events, patience) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.events.clear(),
            waited => waited?,
        }
        is_up();
        self.tell();
        Ok(self.events.iter().count() == BATCH)
    }

    fn tell(&mut self) {
        self.heard.clear();
        let mut told = None;
        for event in self.events.iter().filter(|event| event.token().0 & TOLD != 0 && event.token() != BELL) {
            let told = told.get_or_insert_with(|| self.registrar.told.lock());
            if let Some(readiness) = told.get(event.token().0 & !TOLD) {
                self.heard.extend(readiness.tell(Arrival::of(event)));
            }
        }
    }

    /// The seats that waited for a socket ([`Readiness::await_on_seat`]) which has something since the last wait.
    #[must_use]
    pub fn heard(&self) -> &[usize] {
        &self.heard
    }

    /// Makes it a source of the current runtime: readable while something has arrived.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn into_source(self) -> io::Result<AsyncFd<Self>> {
        // SAFETY: `as_raw_fd` always gives the one descriptor that `poll` owns; it is open for as long as the watch lives,
        // and nothing outside closes it.
        #[expect(unsafe_code, reason = "Tokio cannot see that the descriptor stays the same and open")]
        let source = unsafe { AsyncFd::register_with_interest(self, tokio::io::Interest::READABLE) };
        Ok(source?)
    }

    /// What the last wait brought to those who sit.
    pub fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        self.events.iter().filter(|event| event.token().0 & TOLD == 0).map(Arrival::of)
    }
}

impl AsRawFd for Watch {
    fn as_raw_fd(&self) -> RawFd {
        self.poll.as_raw_fd()
    }
}

impl Bell {
    /// The wait under way, or the next one, ends.
    pub fn ring(&self) {
        if let Err(error) = self.0.wake() {
            // It can only fail for want of memory in the kernel; the next event on any socket ends the wait as well.
            debug_assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
        }
    }
}

impl Arrival {
    fn of(event: &Event) -> Self {
        Self {
            seat: event.token().0,
            is_closed: event.is_read_closed() || event.is_error(),
            is_readable: event.is_readable(),
            is_writable: event.is_writable() || event.is_error(),
        }
    }

    /// Whether the peer will send nothing after what has arrived.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.is_closed
    }
}

impl Registrar {
    /// Registers a socket whose arrivals are for a seat.
    pub(crate) fn add_seat(
        &self,
        fd: RawFd,
        seat: usize,
        readiness: Arc<Readiness>,
    ) -> io::Result<Registration> {
        self.register(fd, Token(seat), readiness)
    }

    /// Registers a socket whose arrivals are told to tasks.
    pub(crate) fn add(&self, fd: RawFd) -> io::Result<Registration> {
        let readiness = Arc::new(Readiness::default());
        let place = self.told.lock().insert(Arc::clone(&readiness));
        self.register(fd, Token(place | TOLD), readiness)
    }

    fn register(&self, fd: RawFd, token: Token, readiness: Arc<Readiness>) -> io::Result<Registration> {
        let registration = Registration { token, readiness, registrar: self.clone() };
        self.registry.register(&mut SourceFd(&fd), token, Interest::READABLE)?;
        Ok(registration)
    }
}

impl Registration {
    pub(crate) const fn readiness(&self) -> &Arc<Readiness> {
        &self.readiness
    }

    /// Also watches for room to write, or no longer.
    pub(crate) fn watch_writing(&self, fd: RawFd, watches: bool) -> io::Result<()> {
        let interest = if watches { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.registrar.registry.reregister(&mut SourceFd(&fd), self.token, interest)
    }

    /// Watches the socket no longer, though it stays open.
    pub(crate) fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.registrar.registry.deregister(&mut SourceFd(&fd))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if self.token.0 & TOLD != 0 {
            let told = self.registrar.told.lock().try_remove(self.token.0 & !TOLD);
            drop(told);
        }
    }
}

impl Readiness {
    /// Takes note of `arrival` and wakes whoever waits for it. Returns the seat of who waited for something to read, if it was no task.
    pub fn tell(&self, arrival: Arrival) -> Option<usize> {
        let mut state = self.0.lock();
        state.is_readable |= arrival.is_readable;
        state.is_closed |= arrival.is_closed;
        let reader = (arrival.is_readable || arrival.is_closed).then(|| state.reader.take()).flatten();
        let writer = (arrival.is_writable || arrival.is_closed).then(|| state.writer.take()).flatten();
        let mourner = arrival.is_closed.then(|| state.mourner.take()).flatten();
        drop(state);
        [writer, mourner].into_iter().flatten().for_each(Waker::wake);
        match reader? {
            Reader::Seat(seat) => Some(seat),
            Reader::Task(waker) => {
                waker.wake();
                None
            }
        }
    }

    /// Has the watch name the seat ([`Watch::heard`]) once there is something to read; `false` when there may be already, and nothing
    /// is named then. A task that waits to read takes its place.
    #[must_use]
    pub fn await_on_seat(&self, seat: usize) -> bool {
        let mut state = self.0.lock();
        let must_wait = !state.is_readable && !state.is_closed;
        if must_wait {
            state.reads = 0;
            state.reader = Some(Reader::Seat(seat));
        }
        must_wait
    }

    /// Whether the peer will send nothing more; if not, the task is woken when that is so.
    #[must_use]
    pub fn is_closed_or_wakes(&self, cx: &Context<'_>) -> bool {
        let mut state = self.0.lock();
        if !state.is_closed && state.mourner.as_ref().is_none_or(|known| !known.will_wake(cx.waker())) {
            state.mourner = Some(cx.waker().clone());
        }
        state.is_closed
    }

    /// Wakes `mourner` once the peer will send nothing more, which has not happened yet; `None` for nobody any more.
    pub fn mourn(&self, mourner: Option<Waker>) {
        let before = std::mem::replace(&mut self.0.lock().mourner, mourner);
        drop(before);
    }

    /// Whether a read may bring something.
    #[must_use]
    pub fn may_read(&self) -> bool {
        let state = self.0.lock();
        state.is_readable || state.is_closed
    }

    /// Waits for [`Self::may_read`]. A reader that never had to wait gives way to other tasks now and then.
    pub(crate) fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if !state.is_readable && !state.is_closed {
            state.reads = 0;
            state.reader = Some(Reader::Task(cx.waker().clone()));
            return Poll::Pending;
        }
        if state.reads < READS_MAX {
            state.reads += 1;
            return Poll::Ready(());
        }
        state.reads = 0;
        drop(state);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// A read has brought all that had come.
    pub fn drained(&self) {
        self.0.lock().is_readable = false;
    }

    /// A read has found nothing after all.
    pub(crate) fn found_nothing(&self) {
        let mut state = self.0.lock();
        state.is_readable = false;
        state.is_closed = false;
    }

    /// The next arrival of room wakes the task.
    pub(crate) fn await_room(&self, cx: &Context<'_>) {
        self.0.lock().writer = Some(cx.waker().clone());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn tasks_are_told_by_a_thread_that_is_up() {
        #[derive(Default)]
        struct Asleep(AtomicUsize, AtomicUsize);
        impl Wake for Asleep {
            fn wake(self: Arc<Self>) {
                self.1.fetch_add(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
        }
        let mut watch = Watch::new().unwrap();
        let (own, mut peer) = UnixStream::pair().unwrap();
        let registration = watch.registrar().add(own.as_raw_fd()).unwrap();
        let seen = Arc::new(Asleep::default());
        let waker = Waker::from(Arc::clone(&seen));
        assert!(registration.readiness().poll_readable(&Context::from_waker(&waker)).is_pending());
        peer.write_all(b"x").unwrap();
        seen.0.store(1, Ordering::Relaxed);
        watch.wait(None, || seen.0.store(0, Ordering::Relaxed)).unwrap();
        assert_eq!(seen.1.load(Ordering::Relaxed), 1, "woken once, when it was up");
    }

    #[test]
    fn reader_that_never_waits_gives_way_and_is_woken_at_once() {
        let (readiness, wakes) = (Readiness::default(), Arc::new(Wakes::default()));
        let waker = Waker::from(Arc::clone(&wakes));
        let cx = Context::from_waker(&waker);
        readiness.tell(Arrival { seat: 0, is_closed: false, is_readable: true, is_writable: false });
        for round in 1..=3 {
            assert!((0..READS_MAX).all(|_| readiness.poll_readable(&cx).is_ready()));
            assert!(readiness.poll_readable(&cx).is_pending());
            assert_eq!(wakes.0.load(Ordering::Relaxed), round);
        }
        readiness.drained();
        assert!(readiness.poll_readable(&cx).is_pending());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 3, "there is something to wait for");
    }

    #[test]
    fn seat_that_waits_for_a_socket_is_named_once_and_not_when_a_task_reads_instead() {
        let mut watch = Watch::new().unwrap();
        let (own, mut peer) = UnixStream::pair().unwrap();
        let registration = watch.registrar().add(own.as_raw_fd()).unwrap();
        let readiness = registration.readiness();
        let mut hear = |bytes: &[u8]| {
            peer.write_all(bytes).unwrap();
            watch.wait(Some(Duration::from_secs(5)), || ()).unwrap();
            watch.heard().to_vec()
        };
        assert!(readiness.await_on_seat(7));
        assert_eq!(hear(b"x"), [7]);
        assert_eq!(hear(b"x"), [] as [usize; 0], "nobody waits any more");
        assert!(!readiness.await_on_seat(7), "there is something");
        readiness.drained();
        assert!(readiness.await_on_seat(8));
        let wakes = Arc::new(Wakes::default());
        assert!(readiness.poll_readable(&Context::from_waker(&Waker::from(Arc::clone(&wakes)))).is_pending());
        assert_eq!((hear(b"x"), wakes.0.load(Ordering::Relaxed)), (vec![], 1));
    }
}
