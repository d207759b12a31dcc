//! Runs the tasks of a worker that are woken by its own sockets.
//!
//! A statement that goes to a server waits for one thing, the server's socket, which the worker [watches](crate::floor::lobby) as it
//! watches its clients. So a session's task needs nothing of Tokio but a place to be polled, and this is one: the thread
//! asks its watch what has arrived, polls the tasks that were told, and asks again. Tokio, with its own epoll and wheel of
//! timers, has a turn only while something is on it ([`Worker::is_occupied`](crate::worker::Worker::is_occupied)): a login, a
//! connect, a wait with a time limit.
//!
//! A task that panics takes nobody along. One that always finds something to do must [give way](give_way) by itself: nothing
//! interrupts it.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;
use slab::Slab;

use crate::worker::slumber::Slumber;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks of one worker. See the module's doc.
#[derive(Debug)]
pub(crate) struct Executor {
    tasks: Mutex<Slab<Arc<Task>>>,
    ready: Arc<Ready>,
}

/// A task, which is its own waker.
struct Task {
    number: usize,
    is_queued: AtomicBool,
    ready: Arc<Ready>,
    /// Locked while it is polled, which nobody else wants to; none once it is over.
    work: Mutex<Option<Work>>,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The tasks that are to be polled.
#[derive(Debug)]
struct Ready {
    tasks: Mutex<Vec<Arc<Task>>>,
    slumber: Arc<Slumber>,
}

/// Room for the tasks at hand.
#[derive(Debug, Default)]
pub(crate) struct Room(Vec<Arc<Task>>);

impl Executor {
    /// Without tasks. Who wakes one disturbs the thread.
    pub(crate) fn new(slumber: Arc<Slumber>) -> Self {
        let ready = Ready { tasks: Mutex::default(), slumber };
        Self { tasks: Mutex::default(), ready: Arc::new(ready) }
    }

    /// Adds a task; it is polled by the next [`Self::run_ready`].
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work: Work = Box::pin(work);
        let mut tasks = self.tasks.lock();
        let entry = tasks.vacant_entry();
        let task = Arc::new(Task {
            number: entry.key(),
            is_queued: AtomicBool::new(false),
            ready: Arc::clone(&self.ready),
            work: Mutex::new(Some(work)),
        });
        entry.insert(Arc::clone(&task));
        drop(tasks);
        task.queue();
    }

    /// Polls each task that was woken, once.
    pub(crate) fn run_ready(&self, room: &mut Room) {
        debug_assert!(room.0.is_empty(), "tasks of an earlier run");
        {
            let mut ready = self.ready.tasks.lock();
            if ready.is_empty() {
                return;
            }
            std::mem::swap(&mut *ready, &mut room.0);
        }
        for task in room.0.drain(..) {
            self.run(task);
        }
    }

    fn run(&self, task: Arc<Task>) {
        let waker = Waker::from(Arc::clone(&task));
        let mut work = task.work.lock();
        // A waker may outlive its task.
        let Some(future) = work.as_mut() else { return };
        // Before the poll: who wakes it during the poll means the next one.
        // It is a barrier as well: what was told without a lock before a wake that found it queued is seen by this poll.
        let _was_queued = task.is_queued.swap(false, Ordering::AcqRel);
        let polled =
            catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        if let Ok(Poll::Pending) = polled {
            return;
        }
        let work = work.take();
        // What it held may panic as well.
        drop(catch_unwind(AssertUnwindSafe(|| drop(work))));
        let ended = self.tasks.lock().try_remove(task.number);
        drop(ended);
    }

    /// Whether there are no tasks.
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.tasks.lock().is_empty()
    }

    /// Ends all tasks where they are.
    pub(crate) fn clear(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        let end = |task: &Task| {
            let work = task.work.lock().take();
            drop(catch_unwind(AssertUnwindSafe(|| drop(work))));
        };
        tasks.iter().for_each(|(_, task)| end(task));
    }
}

impl Task {
    fn queue(self: Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let ready = Arc::clone(&self.ready);
        ready.tasks.lock().push(self);
        ready.slumber.disturb();
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.queue();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Arc::clone(self).queue();
    }
}

/// Lets the worker's other tasks, and the clients on their seats, have a turn. Unlike Tokio's, it needs nothing of Tokio.
pub(crate) async fn give_way() {
    let mut has_given_way = false;
    poll_fn(|cx| match std::mem::replace(&mut has_given_way, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use nuthatch_net::Watch;

    use super::*;

    fn executor() -> (Executor, Watch) {
        let watch = Watch::new().unwrap();
        (Executor::new(Arc::new(Slumber::new(watch.bell()))), watch)
    }

    /// A task that counts its polls in `polls` and ends after `last`.
    fn counting(polls: &Arc<AtomicUsize>, last: usize) -> impl Future<Output = ()> + Send + use<> {
        let polls = Arc::clone(polls);
        poll_fn(move |cx| {
            if polls.fetch_add(1, Ordering::Relaxed) + 1 == last {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[test]
    fn task_that_wakes_itself_is_polled_once_a_run_until_it_ends() {
        let (executor, _watch) = executor();
        let polls = Arc::default();
        executor.spawn(counting(&polls, 3));
        let mut room = Room::default();
        for expected in [1, 2, 3, 3] {
            executor.run_ready(&mut room);
            assert_eq!(polls.load(Ordering::Relaxed), expected);
        }
        assert!(executor.is_empty());
    }

    #[test]
    fn task_that_gives_way_goes_on_after_the_others() {
        let (executor, _watch) = executor();
        let told = Arc::new(Mutex::new(Vec::new()));
        for name in ["first", "second"] {
            let told = Arc::clone(&told);
            executor.spawn(async move {
                told.lock().push(name);
                give_way().await;
                told.lock().push(name);
            });
        }
        let mut room = Room::default();
        executor.run_ready(&mut room);
        executor.run_ready(&mut room);
        assert_eq!(*told.lock(), ["first", "second", "first", "second"]);
        assert!(executor.is_empty());
    }

    #[test]
    fn panic_ends_its_task_only() {
        let (executor, _watch) = executor();
        executor.spawn(async { panic!("on purpose") });
        let polls = Arc::default();
        executor.spawn(counting(&polls, 2));
        let mut room = Room::default();
        executor.run_ready(&mut room);
        executor.run_ready(&mut room);
        assert_eq!(polls.load(Ordering::Relaxed), 2);
        assert!(executor.is_empty());
    }

    #[test]
    fn waking_from_another_thread_ends_the_sleep() {
        let (executor, mut watch) = executor();
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let kept = Arc::clone(&waker);
        let mut polls = 0;
        executor.spawn(poll_fn(move |cx| {
            polls += 1;
            *kept.lock() = Some(cx.waker().clone());
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        }));
        let mut room = Room::default();
        let slumber = &executor.ready.slumber;
        assert!(slumber.takes_news(), "of the task");
        executor.run_ready(&mut room);
        let thread = std::thread::spawn(move || waker.lock().take().unwrap().wake());
        while slumber.may_begin() {
            watch.wait(None, || slumber.end()).unwrap();
        }
        executor.run_ready(&mut room);
        thread.join().unwrap();
        assert!(executor.is_empty());
    }
}
