//! Until nothing runs on the old primary any more.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::order::Limits;
use crate::steps::Steps;
use crate::traffic::{Holding, Traffic};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Sessions that were told to end have this long for it.
const TO_END: Duration = Duration::from_secs(2);

/// What is under way ends by itself, or is ended when its time is over. An error says what did not end.
pub(super) async fn until_finished(
    holding: &dyn Holding,
    traffic: &Arc<dyn Traffic>,
    limits: &Limits,
    steps: &mut Steps,
) -> Result<(), String> {
    let began = Instant::now();
    let last = limits.transactions.max(limits.pins) + TO_END;
    let mut ended = HashSet::new();
    loop {
        let work = holding.unfinished();
        if work.is_empty() && !holding.is_busy() {
            steps.took("nothing is under way any more".to_owned());
            return Ok(());
        }
        let waited = began.elapsed();
        if waited > last {
            let of = work.iter().map(|one| format!("'{}'", one.user)).collect::<HashSet<_>>();
            return Err(format!(
                "{} connections to the old primary are still in use, of {}",
                work.len().max(1),
                of.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
        for one in &work {
            let (limit, what) = match one.is_transaction() {
                true => (limits.transactions, "its transaction or statement"),
                false => (limits.pins, one.pins.as_str()),
            };
            if let Some(session) = one.session.filter(|session| waited >= limit && ended.insert(*session)) {
                steps.took(format!(
                    "session {session} of '{}' is ended: {what} did not end in time",
                    one.user
                ));
                traffic.end(session, &format!("{what} stood in the way of a switchover"));
            }
        }
        sleep(PAUSE).await;
    }
}
