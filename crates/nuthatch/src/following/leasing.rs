//! Keeps the lease: time and again a marker is written, whose acknowledgement proves that the server waits for the proxy.

use nuthatch_config::Follow;
use nuthatch_proxy::boottime_ns;
use nuthatch_source::follow::{FollowError, Lease, NotWaited, Prover};
use tokio::time::{Duration, Instant, sleep};

use crate::following::aim::{Aim, Waited};
use crate::following::carry::Carry;
use crate::following::patience::in_time;

/// A lease is renewed so many times within its time.
const TIMES_WITHIN_LEASE: u64 = 4;

/// Between two markers at least.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// Between two tries while the server does not wait.
const PAUSE: Duration = Duration::from_millis(200);

/// For so long a server may take to count the proxy among its replicas.
const ARRIVAL: Duration = Duration::from_secs(2);

/// For how long the marker is not answered, when the one before was answered before the server waited for that. On a busy machine a server begins
/// to wait milliseconds after it has sent what it waits for: every other marker was answered sooner, and four in a row came within seconds.
const RESTS: [Duration; 4] = [
    Duration::from_millis(1),
    Duration::from_millis(4),
    Duration::from_millis(16),
    Duration::from_millis(64),
];

/// Goes on until something is wrong.
pub(super) async fn lease(prover: &mut Prover, waited: &Waited, carry: &Carry, aim: &Aim) -> FollowError {
    let begun = Instant::now();
    let (mut is_prepared, mut in_a_row) = (false, 0);
    loop {
        let mut markers = carry.markers();
        let leased = in_time(async {
            if !is_prepared {
                prover.prepare(&waited.marker).await?;
                // Its making is no marker.
                markers = carry.markers();
            }
            prover.lease(&waited.marker, waited.timeout_max_ms, boottime_ns).await
        })
        .await;
        // Where its row is gone nothing is written, and so nothing waited for: it is made again.
        is_prepared = matches!(leased, Ok(Ok(_))) && carry.markers() != markers;
        let pause = match leased {
            // Whom the server has waited for, and that it has written anything, only the marker's coming tells.
            Ok(Ok(_)) if !is_prepared => {
                aim.fall("the server has acknowledged the marker, and it did not come in its binlog");
                PAUSE
            }
            Ok(Ok(lease)) => {
                in_a_row = 0;
                carry.rest_before_the_marker(Duration::ZERO);
                hold(lease, waited, aim)
            }
            // Our answer may have been there before it began to wait: the next one comes later.
            Ok(Err(NotWaited::Answered(_))) if in_a_row < RESTS.len() => {
                carry.rest_before_the_marker(RESTS[in_a_row]);
                in_a_row += 1;
                PAUSE_MIN
            }
            Ok(Err(why)) => {
                if must_leave(&why) && begun.elapsed() > ARRIVAL {
                    aim.fall(&why.to_string());
                    return FollowError::Anew(why.to_string());
                }
                aim.fall(&why.to_string());
                PAUSE
            }
            Err(FollowError::Refused(why)) => {
                aim.fall(&format!(
                    "the marker could not be written: {why}; the account needs: {}",
                    waited.grants
                ));
                PAUSE * 5
            }
            Err(lost) => {
                aim.fall(&lost.to_string());
                return lost;
            }
        };
        sleep(pause).await;
        if !aim.may_try() {
            return FollowError::Anew("it fell from exact too often".to_owned());
        }
    }
}

/// Whether the proxy must not stay a semi-synchronous replica: its answers would count in the place of others', or writes would wait for it
/// longer than they may.
fn must_leave(why: &NotWaited) -> bool {
    !matches!(why, NotWaited::NotThere | NotWaited::Off | NotWaited::GivenUp | NotWaited::Answered(_))
}

/// Returns when it is to be renewed.
fn hold(lease: Lease, waited: &Waited, aim: &Aim) -> Duration {
    let lasts_ns = lease.lasts_ns.min(waited.lease_max_ns);
    let until_ns = lease.since_ns.saturating_add(lasts_ns);
    if until_ns > boottime_ns() {
        aim.leased_until_ns.set(until_ns);
        aim.followed.horizon().extend(until_ns, true);
        aim.why_not_exact.borrow_mut().clear();
        aim.stand(Follow::Exact, "");
    }
    Duration::from_nanos(lasts_ns / TIMES_WITHIN_LEASE).max(PAUSE_MIN)
}
