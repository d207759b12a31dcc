//! Several futures at once, on one task.

use std::future::poll_fn;
use std::task::Poll;

/// The outcomes of all of them, in their order, when the last has come to its end.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    poll_fn(move |cx| {
        let mut is_over = true;
        for (future, outcome) in running.iter_mut().filter(|(_, outcome)| outcome.is_none()) {
            match future.as_mut().poll(cx) {
                Poll::Ready(value) => *outcome = Some(value),
                Poll::Pending => is_over = false,
            }
        }
        match is_over {
            true => Poll::Ready(running.drain(..).filter_map(|(_, outcome)| outcome).collect()),
            false => Poll::Pending,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn outcomes_come_in_order_and_take_as_long_as_the_longest() {
        let began = Instant::now();
        let outcomes = all([30, 10, 20].map(|ms| async move {
            sleep(Duration::from_millis(ms)).await;
            ms
        }));
        assert_eq!(outcomes.await, [30, 10, 20]);
        assert_eq!(began.elapsed(), Duration::from_millis(30));
        assert_eq!(all(Vec::<std::future::Ready<()>>::new()).await, []);
    }
}
