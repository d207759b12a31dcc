//! Looks again and again at what the primaries of pairs have in their binlogs, while they are there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_config::{HostgroupId, ServerName};
use nuthatch_failover::Sighting;
use tokio::sync::Mutex;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Switching;
use super::crew::Crew;

/// Between two looks: what is committed later than the last one is told when the old primary is back, if it is.
const PAUSE: Duration = Duration::from_millis(100);

/// How long one may take.
const ANSWER: Duration = Duration::from_secs(1);

/// A primary that is looked at, of that pair.
type Primary = (HostgroupId, ServerName);

/// The looks at one, and what was told of them last.
type Looks = (Sighting, String);

/// Looks at them until `stop`, as long as somebody may replace them: one that hangs makes no other wait.
pub(crate) async fn keep(switching: Switching, stop: CancellationToken) {
    let mut sightings: HashMap<Primary, Arc<Mutex<Looks>>> = HashMap::new();
    let mut crew = Crew::new(&switching.tasks);
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        let primaries = switching.replaceable();
        switching.memory.seen.keep_to(&primaries);
        sightings.retain(|known, _| primaries.contains(known));
        for key in primaries {
            let sighting = Arc::clone(sightings.entry(key.clone()).or_default());
            let switching = switching.clone();
            crew.begin(key.clone(), async move { look(&switching, &key, &mut *sighting.lock().await).await });
        }
    }
}

async fn look(switching: &Switching, (hostgroup, primary): &Primary, (sighting, told): &mut Looks) {
    let Some(server) = switching.server(*hostgroup, primary) else { return };
    match sighting.look(&server, ANSWER).await {
        Ok(Some(seen)) => {
            told.clear();
            switching.memory.seen.note(primary, seen);
        }
        Ok(None) => {}
        // It is to be known before the primary is gone.
        Err(why) if *told != why => {
            tracing::error!(
                hostgroup = hostgroup.0,
                why,
                "there will be no failover: the account of mysql-failover_username cannot do what it takes"
            );
            *told = why;
        }
        Err(_) => {}
    }
}
