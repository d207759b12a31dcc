//! The tasks that sessions run in.
//!
//! A session rises for one statement and sits down again, thousands of times a second; so tasks are kept. One that is done
//! with its session waits for the next, as long as not too many wait. A session that panics takes its task along, and
//! nothing else.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

use crate::session::Session;
use crate::worker::Worker;

/// Tasks of one worker that may wait for a session.
const WAITING_MAX: usize = 256;

/// The tasks of one worker that wait for a session.
#[derive(Debug, Default)]
pub(crate) struct Runners {
    waiting: Mutex<Vec<Arc<Post>>>,
}

/// Where a task finds its next session.
#[derive(Debug, Default)]
struct Post(Mutex<Posted>);

#[derive(Debug, Default)]
struct Posted {
    session: Option<Box<Session>>,
    waker: Option<Waker>,
}

impl Runners {
    /// Gives the session to a task that waits; gives it back when there is none.
    pub(crate) fn take_on(&self, session: Box<Session>) -> Option<Box<Session>> {
        let Some(post) = self.waiting.lock().pop() else { return Some(session) };
        let mut posted = post.0.lock();
        posted.session = Some(session);
        if let Some(waker) = &posted.waker {
            waker.wake_by_ref();
        }
        None
    }

    /// Lets a task wait at its post; `false` when enough wait.
    fn wait(&self, post: &Arc<Post>) -> bool {
        let mut waiting = self.waiting.lock();
        let has_room = waiting.len() < WAITING_MAX;
        if has_room {
            waiting.push(Arc::clone(post));
        }
        has_room
    }
}

impl Post {
    /// Waits for the next session.
    async fn next(&self) -> Box<Session> {
        poll_fn(|cx| {
            let mut posted = self.0.lock();
            if let Some(session) = posted.session.take() {
                return Poll::Ready(session);
            }
            if posted.waker.as_ref().is_none_or(|known| !known.will_wake(cx.waker())) {
                posted.waker = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

/// Runs `session`, then others, for as long as there is a post to wait at.
pub(crate) async fn run(worker: Arc<Worker>, mut session: Box<Session>) {
    let post = Arc::new(Post::default());
    loop {
        session.run().await;
        if !worker.runners().wait(&post) {
            return;
        }
        session = post.next().await;
    }
}
