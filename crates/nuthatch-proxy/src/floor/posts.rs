//! Where tasks wait for something to do.
//!
//! A session rises for one statement and sits down again, thousands of times a second; so tasks are kept. One that is done
//! with its session waits at a post for the next, as long as not too many wait.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

/// Tasks that may wait.
const WAITING_MAX: usize = 256;

/// The posts at which tasks wait.
#[derive(Debug)]
pub(crate) struct Posts<T>(Mutex<Vec<Arc<Post<T>>>>);

/// Where a task finds what it is to do next.
#[derive(Debug)]
pub(crate) struct Post<T>(Mutex<Posted<T>>);

#[derive(Debug)]
struct Posted<T> {
    work: Option<T>,
    waker: Option<Waker>,
}

impl<T> Default for Posts<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Posts<T> {
    /// Gives the work to a task that waits; gives it back when there is none.
    pub(crate) fn take_on(&self, work: T) -> Option<T> {
        let Some(post) = self.0.lock().pop() else { return Some(work) };
        let mut posted = post.0.lock();
        posted.work = Some(work);
        if let Some(waker) = &posted.waker {
            waker.wake_by_ref();
        }
        None
    }

    /// Lets a task wait at its post; `false` when enough wait.
    pub(crate) fn wait(&self, post: &Arc<Post<T>>) -> bool {
        let mut waiting = self.0.lock();
        let has_room = waiting.len() < WAITING_MAX;
        if has_room {
            waiting.push(Arc::clone(post));
        }
        has_room
    }
}

impl<T> Default for Post<T> {
    fn default() -> Self {
        Self(Mutex::new(Posted { work: None, waker: None }))
    }
}

impl<T> Post<T> {
    /// Waits for what is next.
    pub(crate) async fn next(&self) -> T {
        poll_fn(|cx| {
            let mut posted = self.0.lock();
            if let Some(work) = posted.work.take() {
                return Poll::Ready(work);
            }
            if posted.waker.as_ref().is_none_or(|known| !known.will_wake(cx.waker())) {
                posted.waker = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_to_a_task_that_waits_and_so_many_may_wait() {
        let posts = Posts::default();
        assert_eq!(posts.take_on(1), Some(1));
        let post = Arc::new(Post::default());
        assert!(posts.wait(&post));
        assert_eq!(posts.take_on(2), None);
        assert_eq!(post.0.lock().work.take(), Some(2));
        let waiting = (0..=WAITING_MAX).filter(|_| posts.wait(&Arc::default())).count();
        assert_eq!(waiting, WAITING_MAX);
    }
}
