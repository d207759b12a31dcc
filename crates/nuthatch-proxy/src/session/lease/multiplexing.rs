//! Multiplexing turned off, for all hostgroups or for one: a session keeps each connection that it has had for a statement.
//!
//! It has one of each hostgroup that its statements go to. Nothing is on them, so they bind nothing, go back into the pool with the
//! session, and another takes the place of one that is lost. A rule's `multiplex` = 1 does not let go of them.

use nuthatch_config::{HostgroupId, Snapshot};

use crate::session::parts::{Ground, Hands};
use crate::stats::pins::Pins;

/// After another configuration came into force: what nothing else keeps is put back before the next statement.
pub(crate) fn take_over_multiplexing(ground: &Ground, hands: &mut Hands) {
    for held in &mut hands.held {
        let pin = pin_of(&ground.snapshot, held.hostgroup);
        held.unpin(Pins::MULTIPLEXING_OFF);
        held.pin(pin);
    }
}

fn pin_of(snapshot: &Snapshot, hostgroup: HostgroupId) -> Pins {
    if snapshot.multiplexes(hostgroup) { Pins::NONE } else { Pins::MULTIPLEXING_OFF }
}

/// Why a connection of the hostgroup is kept as soon as the session has it.
pub(crate) fn pin_of_hostgroup(ground: &Ground, hostgroup: HostgroupId) -> Pins {
    pin_of(&ground.snapshot, hostgroup)
}
