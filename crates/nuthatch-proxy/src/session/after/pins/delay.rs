//! ProxySQL's delays: a session keeps its connection for some time, or for some statements, though nothing keeps it there.
//!
//! Nothing here needs them: a session knows its own last insert id. They are for those who rely on them, and off by default. Time runs
//! out in steps of half a second while the client is silent: housekeeping tells.

use std::sync::atomic::Ordering;

use nuthatch_config::{HostgroupId, MultiplexDelays};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::parts::{Account, Ground, Held};
use crate::stats::pins::Pins;

/// After a statement: whether its connection is kept for a while.
pub(crate) fn learn_delay(ground: &Ground, account: &Account, end: &AnswerEnd, held: &mut Held) {
    let was_delayed = ground.handle.delay_ends_ms.load(Ordering::Relaxed) != 0 || held.delay().is_on();
    if !was_delayed && held.doubts().is_empty() && !may_delay(ground, account) {
        return;
    }
    let delays = delays(ground, account, held.hostgroup);
    let now_ms = ground.latest_us / 1000;
    let delay = held.delay_mut();
    delay.count_statement();
    let statements = delays.auto_increment_statements.unwrap_or(0);
    if statements > 0 && end.ending == Ending::Ok && end.ok.insert_id > 0 && end.ok.affected_rows > 0 {
        let ends_ms = match delays.auto_increment_timeout_ms.unwrap_or(0) {
            0 => u64::MAX,
            timeout_ms => now_ms + timeout_ms,
        };
        delay.last_for_statements(statements, ends_ms);
    }
    delay.last_until(now_ms + delays.connection_ms.unwrap_or(0));
    let lasts = delay.lasts(now_ms);
    if lasts {
        held.pin(Pins::DELAY);
    } else {
        held.unpin(Pins::DELAY);
    }
    let ends_ms = match lasts {
        true => held.delay().ends_ms(),
        false if held.doubts().is_empty() => 0,
        false => now_ms + 1,
    };
    if ground.handle.delay_ends_ms.load(Ordering::Relaxed) != ends_ms {
        ground.handle.delay_ends_ms.store(ends_ms, Ordering::Relaxed);
    }
}

/// Whether anything that is configured may delay.
fn may_delay(ground: &Ground, account: &Account) -> bool {
    let variables = &ground.snapshot.mysql;
    variables.auto_increment_delay_multiplex > 0
        || variables.connection_delay_multiplex_ms > 0
        || !ground.snapshot.hostgroup_attributes.is_empty()
        || account.user().delays != MultiplexDelays::default()
}

/// What the user says goes before what the hostgroup says, and that before the variables.
fn delays(ground: &Ground, account: &Account, hostgroup: HostgroupId) -> MultiplexDelays {
    let variables = &ground.snapshot.mysql;
    let of_hostgroup = ground.snapshot.hostgroup_attributes.get(&hostgroup);
    account.user().delays.or(of_hostgroup.map(|own| own.delays).unwrap_or_default()).or(MultiplexDelays {
        auto_increment_statements: Some(variables.auto_increment_delay_multiplex),
        auto_increment_timeout_ms: Some(variables.auto_increment_delay_multiplex_timeout_ms),
        connection_ms: Some(variables.connection_delay_multiplex_ms),
    })
}
