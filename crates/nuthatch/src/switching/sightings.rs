//! Looks again and again at what the primaries of pairs have in their binlogs, while they are there.

use std::collections::HashMap;
use std::time::Duration;

use nuthatch_config::HostgroupId;
use nuthatch_failover::Sighting;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Switching;

/// Between two looks: what is committed later than the last one is told when the old primary is back, if it is.
const PAUSE: Duration = Duration::from_millis(100);

/// How long one may take.
const ANSWER: Duration = Duration::from_secs(1);

/// Looks at them until `stop`, as long as somebody may replace them.
pub(crate) async fn keep(switching: Switching, stop: CancellationToken) {
    let mut sightings: HashMap<HostgroupId, Sighting> = HashMap::new();
    while stop.run_until_cancelled(sleep(PAUSE)).await.is_some() {
        let primaries = switching.replaceable();
        switching.seen.keep_to(&primaries);
        sightings.retain(|hostgroup, _| primaries.iter().any(|(known, _)| known == hostgroup));
        for (hostgroup, primary) in primaries {
            let Some(server) = switching.server(hostgroup, &primary) else { continue };
            let sighting = sightings.entry(hostgroup).or_default();
            if let Some(seen) = sighting.look(&server, ANSWER).await {
                switching.seen.note(&primary, seen);
            }
        }
    }
}
