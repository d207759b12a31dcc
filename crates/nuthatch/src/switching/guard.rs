//! Watches over the primaries of pairs: one that the monitor does not reach is replaced, if that is configured and proven to be right.
//!
//! It trusts no old evidence: each try looks anew, and what the monitor has told is forgotten if this process stood still.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::HostgroupId;
use nuthatch_failover::{Outcome, Report};
use nuthatch_monitor::Lookout;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::crew::Crew;
use super::{Suspicions, Switching};

/// It looks this often whether there is something to do, news or none.
const TICK: Duration = Duration::from_millis(200);

/// It has stood still that wakes so much too late.
const STANDSTILL: Duration = Duration::from_secs(1);

/// Between two tries: a little longer each time, for servers that are asked have something else to do.
const PAUSE_MIN: Duration = Duration::from_millis(150);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The same where replicas were told to connect anew.
const PAUSE_DISTURBED: Duration = Duration::from_secs(15);

/// The tries for one pair.
#[derive(Debug)]
struct Tries {
    not_before: Option<Instant>,
    pause: Duration,
    /// What was told last, so that it is told once.
    told: String,
}

/// Guards until `stop`.
pub(crate) async fn keep(
    switching: Switching,
    suspicions: Suspicions,
    lookout: Lookout,
    stop: CancellationToken,
) {
    let mut tries = HashMap::new();
    let mut crew = Crew::new(&switching.tasks);
    loop {
        let began = Instant::now();
        tokio::select! {
            () = stop.cancelled() => return,
            () = suspicions.news() => {}
            () = sleep(TICK) => {}
        }
        let stood = began.elapsed();
        if stood > TICK + STANDSTILL {
            tracing::warn!(
                ms = stood.as_millis(),
                "this proxy stood still: what it has seen of servers is old"
            );
            suspicions.forget_all();
            tries.clear();
            continue;
        }
        look(&switching, &suspicions, &lookout, &mut tries, &mut crew);
    }
}

/// Begins what is due. Many pairs may have lost their primaries at once, with the host of them all.
fn look(
    switching: &Switching,
    suspicions: &Suspicions,
    lookout: &Lookout,
    tries: &mut HashMap<HostgroupId, Arc<Mutex<Tries>>>,
    crew: &mut Crew<HostgroupId>,
) {
    let guarded = switching.guarded();
    tries.retain(|hostgroup, _| {
        guarded.iter().any(|(known, primary)| known == hostgroup && suspicions.of(primary).is_some())
    });
    for (hostgroup, primary) in guarded {
        let Some(silence) = suspicions.of(&primary) else { continue };
        let known = Arc::clone(tries.entry(hostgroup).or_default());
        if crew.is_at_work(&hostgroup) || known.lock().not_before.is_some_and(|then| then > Instant::now()) {
            continue;
        }
        let (switching, lookout) = (switching.clone(), lookout.clone());
        crew.begin(hostgroup, async move {
            let report = switching.fail_over_alone(hostgroup, silence).await;
            let mut known = known.lock();
            known.pause(report.as_ref().is_ok_and(|report| report.has_disturbed));
            if let Some(why) = refusal(report).filter(|why| *why != known.told) {
                tracing::warn!(hostgroup = hostgroup.0, %primary, why, "no failover: the primary is not replaced");
                known.told = why;
            }
            // Somebody else may have done it: who writes is to be known at once.
            switching.servers_of(hostgroup).iter().for_each(|server| lookout.look_at(server));
        });
    }
}

impl Default for Tries {
    fn default() -> Self {
        Self { not_before: None, pause: PAUSE_MIN, told: String::new() }
    }
}

impl Tries {
    fn pause(&mut self, has_disturbed: bool) {
        // Two proxies that hinder each other are not to do so again.
        let by_chance = Duration::from_millis(RandomState::new().hash_one(0) % 100);
        let pause = if has_disturbed { PAUSE_DISTURBED } else { self.pause + by_chance };
        self.not_before = Some(Instant::now() + pause);
        self.pause = (self.pause * 5 / 4).min(PAUSE_MAX);
    }
}

/// Why nothing was done; none if something was.
fn refusal(report: Result<Report, String>) -> Option<String> {
    match report {
        Ok(Report { outcome: outcome @ Outcome::Refused(_), .. }) => outcome.why(),
        Ok(_) => None,
        Err(why) => Some(why),
    }
}
