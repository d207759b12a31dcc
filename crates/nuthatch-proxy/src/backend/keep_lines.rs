//! Rings for those who stand first in the lines of hostgroups.

use std::time::Duration;

use tokio::time::sleep;

use crate::backend::hostgroup::Hostgroups;
use crate::backend::server::shortage::RunQueue;
use crate::clock::Clock;

/// How often the first in line is rung for without a reason.
const TICK: Duration = Duration::from_millis(1);

/// Keeps the lines until it is dropped: rings for the first of each once in a while, as long as anybody waits.
pub(crate) async fn keep_lines(hostgroups: &Hostgroups, clock: &Clock) {
    loop {
        hostgroups.keeper().notified().await;
        let mut run_queue = RunQueue::new(clock.now_us());
        loop {
            sleep(TICK).await;
            let groups = hostgroups.all_groups();
            let mut waiting = groups.iter().filter(|group| !group.line.is_empty()).peekable();
            if waiting.peek().is_none() {
                hostgroups.shortage().tell(false);
                break;
            }
            let now_us = clock.now_us();
            if let Some(is_short) = run_queue.look(now_us) {
                hostgroups.shortage().tell(is_short);
            }
            waiting.for_each(|group| {
                if group.is_named {
                    group.look_for_servers(now_us);
                }
                group.line.tick(now_us);
            });
        }
    }
}
